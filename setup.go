package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"unicode"

	"lastword/bot"
	"lastword/llm"
)

const setupUsage = `Usage:
  lastword init [--config FILE]

It asks for the bot's token and the model, tries each, and writes FILE, which is
config.yaml unless given. What a flag gives is tried and not asked for:

  --telegram-token TOKEN   from @BotFather
  --telegram-url URL       of a Bot API server of your own
  --llm-url URL            of any service that speaks OpenAI's chat completions
  --llm-key KEY            an empty one for a service that wants none
  --llm-model NAME         as the service calls it
  --yes                    ask nothing; end with an error instead

Others on the machine can see flags while the command runs. Secrets can also be
piped in, a line for each question.
`

// A setup makes a configuration file out of answers that were tried.
type setup struct {
	dialog  *dialog
	asking  bool // whether there is somebody to ask
	answers []*answer

	token, telegramURL *answer
	url, key, model    *answer

	good     string   // what the last try that went well has found
	username string   // of the bot
	models   []string // that the service lists
	public   bool     // it lists them for everybody, so that the list says nothing about the key
}

// An answer is one setting, from a flag or from somebody at the terminal.
type answer struct {
	setting string // dotted key
	flag    string
	value   string
	given   bool // otherwise it is asked for, and value is what Enter stands for
	secret  bool
	need    bool // --yes cannot do without it
	ask     func(context.Context) (string, error)
	try     func(context.Context) error
}

// setUp is the command init. It returns the exit status.
func setUp(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	s := newSetup(in, out)
	file, yes, err := s.flags(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, setupUsage)
		return 0
	case err != nil:
		fmt.Fprintf(errOut, "lastword init: %v\n%s", err, setupUsage)
		return 2
	}
	s.asking = !yes && slices.ContainsFunc(s.answers, func(a *answer) bool { return !a.given })
	if err := s.run(ctx, file); err != nil {
		fmt.Fprintln(errOut, err)
		return 1
	}
	return 0
}

func newSetup(in io.Reader, out io.Writer) *setup {
	s := &setup{dialog: newDialog(in, out)}
	example := defaultConfig()
	s.telegramURL = &answer{setting: "telegram.api_url", flag: "telegram-url", value: example.Telegram.APIURL, given: true}
	s.token = &answer{setting: "telegram.token", flag: "telegram-token", need: true, secret: true, ask: s.askToken, try: s.tryToken}
	s.url = &answer{setting: "llm.base_url", flag: "llm-url", value: example.LLM.BaseURL, ask: s.askURL, try: s.tryURL}
	s.key = &answer{setting: "llm.api_key", flag: "llm-key", secret: true, ask: s.askKey, try: s.tryKey}
	s.model = &answer{setting: "llm.model", flag: "llm-model", need: true, ask: s.askModel, try: s.tryModel}
	s.answers = []*answer{s.token, s.url, s.key, s.model}
	return s
}

// flags reads the command line. The texts of its errors are fixed: a word in
// the wrong place may be a secret.
func (s *setup) flags(args []string) (file string, yes bool, err error) {
	flags := flag.NewFlagSet("lastword init", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&file, "config", "config.yaml", "")
	flags.BoolVar(&yes, "yes", false, "")
	all := append([]*answer{s.telegramURL}, s.answers...)
	for _, a := range all {
		flags.Func(a.flag, "", func(value string) error {
			a.value, a.given = strings.TrimSpace(value), true
			return nil
		})
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return "", false, err
	} else if err != nil {
		return "", false, errors.New("there is an unknown flag, or one without its value")
	}
	if flags.NArg() > 0 {
		return "", false, errors.New("there is a word too many; put what has spaces in quotes")
	}
	for _, a := range s.answers {
		if yes && a.need && !a.given {
			return "", false, fmt.Errorf("--%s is missing; give it, or leave out --yes to be asked", a.flag)
		}
	}
	return file, yes, nil
}

// run asks and tries until all is well, and writes the file. That the file can
// be written is found out before anything is asked.
func (s *setup) run(ctx context.Context, file string) error {
	if err := writable(file); err != nil {
		return err
	}
	for at := 0; at < len(s.answers); {
		a := s.answers[at]
		if err := s.take(ctx, a); err != nil {
			return err
		}
		err := s.check(ctx, a)
		switch {
		case err == nil:
			at++
			continue
		case ctx.Err() != nil:
			return errInterrupted
		case !s.asking:
			return err
		}
		s.dialog.say("error", err.Error())
		at = s.blame(err, at)
	}
	text, err := s.text(file)
	if err != nil {
		return err
	}
	if err := writeNew(file, text); err != nil {
		return err
	}
	s.dialog.print(nextStep(file, s.username))
	return nil
}

// take asks for what is not given yet.
func (s *setup) take(ctx context.Context, a *answer) error {
	if a.given || !s.asking {
		return nil
	}
	value, err := a.ask(ctx)
	if err != nil {
		return err
	}
	if value = strings.TrimSpace(value); value != "" {
		a.value = value
	}
	a.given = true
	return nil
}

// check tries an answer and says that it is good.
func (s *setup) check(ctx context.Context, a *answer) error {
	if strings.ContainsFunc(a.value, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return fmt.Errorf("%s: has characters that do not belong in it; copy it again, or type it", a.setting)
	}
	if err := a.try(ctx); err != nil {
		return err
	}
	s.dialog.say("ok", s.good)
	return nil
}

// blame finds the answers that an error is about and wants them anew: the one
// that was tried, or some before it. It returns the first of them.
func (s *setup) blame(err error, at int) int {
	settings, _, _ := strings.Cut(err.Error(), ": ")
	first := len(s.answers)
	for i, a := range s.answers[:at+1] {
		if !strings.Contains(settings, a.setting) {
			continue
		}
		a.given = false
		if a.secret {
			a.value = "" // Enter must not stand for what was refused
		}
		first = min(first, i)
	}
	if first == len(s.answers) {
		s.answers[at].given = false
		return at
	}
	return first
}

func (s *setup) askToken(ctx context.Context) (string, error) {
	return s.dialog.secret(ctx, "Token of the bot, from @BotFather"+again(s.token))
}

// again says what Enter does after a try that failed for another reason.
func again(a *answer) string {
	if a.value == "" {
		return ""
	}
	return "; Enter tries the same again"
}

func (s *setup) tryToken(ctx context.Context) error {
	telegram, err := bot.New(s.config().Telegram, bot.DefaultAccessConfig(), nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if s.username, err = telegram.Check(ctx); err != nil {
		return err
	}
	s.good = "Telegram, as @" + s.username
	return nil
}

func (s *setup) askURL(ctx context.Context) (string, error) {
	usual := s.url.value
	if strings.ContainsAny(usual, "?@") {
		usual = "the same again" // there may be a key in it
	}
	return s.dialog.ask(ctx, "URL of the model's service", usual)
}

// tryURL finds out whether a service is there, without showing it a key.
func (s *setup) tryURL(ctx context.Context) error {
	cfg := s.config().LLM
	cfg.APIKey, cfg.Model = "", "any"
	if err := cfg.Validate(); err != nil {
		s.url.value = llm.Default().BaseURL // what was answered may be a secret, and Enter's meaning is shown
		return err
	}
	models, err := s.list(ctx, cfg)
	s.public = len(models) > 0
	s.good = "the service answers"
	switch {
	case err != nil && strings.HasPrefix(err.Error(), s.url.setting), ctx.Err() != nil:
		return err
	case err == nil && len(models) == 0:
		s.good = "something answers, without a list of models; the URLs of most services end with /v1"
	}
	return nil // with an error it wants a key
}

func (s *setup) list(ctx context.Context, cfg llm.Config) ([]string, error) {
	client := llm.New(cfg, nil, nil)
	defer client.Close()
	return client.Models(ctx)
}

func (s *setup) askKey(ctx context.Context) (string, error) {
	if s.key.value != "" {
		return s.dialog.secret(ctx, "Key of the service"+again(s.key))
	}
	return s.dialog.secret(ctx, "Key of the service; Enter for none")
}

func (s *setup) tryKey(ctx context.Context) (err error) {
	cfg := s.config().LLM
	cfg.Model = "any"
	if err := cfg.Validate(); err != nil {
		return err
	}
	s.models, err = s.list(ctx, cfg)
	s.good = "the key is taken"
	switch {
	case cfg.APIKey == "":
		s.good = "no key"
	case len(s.models) == 0 || s.public:
		s.good = "the key will be tried together with the model"
	}
	return err
}

func (s *setup) tryModel(ctx context.Context) error {
	cfg := s.config().LLM
	if err := cfg.Validate(); err != nil {
		return err
	}
	client := llm.New(cfg, nil, nil)
	defer client.Close()
	s.good = "model " + cfg.Model
	if err := client.Check(ctx); err != nil || !s.public || cfg.APIKey == "" {
		return err
	}
	return client.Probe(ctx)
}

// config is the configuration so far.
func (s *setup) config() Config {
	c := defaultConfig()
	c.Telegram.Token, c.Telegram.APIURL = s.token.value, s.telegramURL.value
	c.LLM.BaseURL, c.LLM.APIKey, c.LLM.Model = s.url.value, llm.Secret(s.key.value), s.model.value
	return c
}
