package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"lastword/conversation"
	"lastword/demo"
	"lastword/llm"
	"lastword/storage"
)

const demoUsage = `Usage:
  lastword demo [flags]   a chat in the browser, with what the engine does beside it

Without flags it needs nothing: no account, no key, no file.

  --dir FOLDER       keep the chat in this folder, and find it there again
  --listen ADDRESS   host:port; a free port of this machine unless given
  --model URL        talk to a real model: where its service is, as llm.base_url
  --name MODEL       what that service calls the model; gpt-4o-mini unless given
  --key KEY          what the service wants, if it wants one; or set LLM_API_KEY
  --telegram TOKEN   talk on Telegram, too; or set TELEGRAM_TOKEN and give "env"
  --finish           deliver a running answer before newer input is answered
  --no-browser       do not open one
`

// demoFlags are the flags of the command demo.
type demoFlags struct {
	dir, listen, model, name, key, telegram string
	finish, noBrowser                       bool
}

// demoCommand runs the command demo and returns the exit status.
func demoCommand(ctx context.Context, args []string, out, errOut io.Writer) int {
	var f demoFlags
	flags := flag.NewFlagSet("lastword demo", flag.ContinueOnError)
	flags.SetOutput(errOut)
	flags.Usage = func() { fmt.Fprint(errOut, demoUsage) }
	flags.StringVar(&f.dir, "dir", "", "")
	flags.StringVar(&f.listen, "listen", "", "")
	flags.StringVar(&f.model, "model", "", "")
	flags.StringVar(&f.name, "name", "gpt-4o-mini", "")
	flags.StringVar(&f.key, "key", os.Getenv("LLM_API_KEY"), "")
	flags.StringVar(&f.telegram, "telegram", "", "")
	flags.BoolVar(&f.finish, "finish", false, "")
	flags.BoolVar(&f.noBrowser, "no-browser", false, "")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(errOut, "lastword demo: %q is one word too many\n%s", flags.Arg(0), demoUsage)
		return 2
	}
	return status(errOut, f.run(ctx, out, errOut))
}

// run is the command: the same parts as ever, with a folder of their own.
func (f demoFlags) run(ctx context.Context, out, errOut io.Writer) error {
	var err error
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp("", "lastword-demo-"); err != nil {
			return err
		}
	} else if err = os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	cfg, err := f.config()
	if err != nil {
		return err
	}
	log := cfg.Log.logger(errOut)
	store, err := storage.Open(cfg.Storage.Path)
	if err != nil {
		return err
	}
	defer store.Close()
	h := house{config: cfg, store: store, log: log, out: io.Discard}
	if cfg.onTelegram() {
		h.out = out
	}
	h.model = &demo.Model{}
	if f.model != "" {
		client := llm.New(cfg.LLM, log, nil)
		defer client.Close()
		h.model = client
	}
	chat, err := h.openWeb()
	if err != nil {
		return err
	}
	all := []service{chat.service}
	if cfg.onTelegram() {
		telegram, err := h.telegram()
		if err != nil {
			return errors.Join(err, chat.listener.Close())
		}
		all = append(all, telegram)
	}
	f.remember(chat.listener.Addr().String())
	f.announce(out, chat.address)
	return serve(ctx, all, h.log)
}

// config is what the flags mean, with defaults that can be watched.
func (f demoFlags) config() (Config, error) {
	c := defaultConfig()
	c.Web.Listen = cmp.Or(f.listen, f.remembered(), "127.0.0.1:0")
	c.Web.Inspector = true
	c.Storage.Path = filepath.Join(f.dir, "demo.db")
	c.Log.Level = "warn"
	c.LLM.Model = f.name
	if f.model != "" {
		c.LLM.BaseURL, c.LLM.APIKey = f.model, llm.Secret(f.key)
	}
	if f.finish {
		c.Turn.OnNewMessage = conversation.Finish
	}
	c.Telegram.Token = f.telegram
	if f.telegram == "env" {
		c.Telegram.Token = os.Getenv("TELEGRAM_TOKEN")
	}
	return c, c.Validate()
}

// addressFile is where a folder remembers its address, so that a page that is
// open finds the process that is started again.
func (f demoFlags) addressFile() string { return filepath.Join(f.dir, "address") }

func (f demoFlags) remembered() string {
	data, err := os.ReadFile(f.addressFile())
	if err != nil {
		return ""
	}
	address := strings.TrimSpace(string(data))
	l, err := net.Listen("tcp", address) // somebody else may have it by now
	if err != nil {
		return ""
	}
	_ = l.Close()
	return address
}

func (f demoFlags) remember(address string) {
	_ = os.WriteFile(f.addressFile(), []byte(address+"\n"), 0o600) // without it, the next start has another
}

// announce says where the chat is.
func (f demoFlags) announce(out io.Writer, address string) {
	fmt.Fprintf(out, `The chat is open, for this machine only:

    %s

Write three lines, fast; then one more while the answer is written; edit one;
close the page and open it again. To see it survive kill -9, start it again with

    lastword demo --dir %s

`, address, f.dir)
	if !f.noBrowser {
		browse(address)
	}
}

// browse opens a browser where there is a desktop. That there is none is no
// error: the address is printed.
func browse(address string) {
	var name string
	var args []string
	switch {
	case runtime.GOOS == "darwin":
		name = "open"
	case runtime.GOOS == "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler"}
	case os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "":
		name = "xdg-open"
	default:
		return
	}
	command := exec.Command(name, append(args, address)...)
	if command.Start() == nil {
		go func() { _ = command.Wait() }()
	}
}
