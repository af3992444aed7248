// Lastword is a Telegram bot that talks through any OpenAI-compatible model and
// gets turn-taking right. README.md says how to run it, the package comment of
// conversation how it works.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"lastword/llm"
	"lastword/storage"
)

const usage = `Usage:
  lastword init --config FILE    ask for the token and the model, try them, and write the file
  lastword --config FILE         run the bot
  lastword demo                  a chat in the browser that needs no account, no key and no file; see demo --help
  lastword check --config FILE   say what is wrong with the file, the token, the model and the data file
  lastword version               say which version this is

FILE is config.yaml unless given; see config.example.yaml.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// command runs one command and returns the exit status: 2 for a usage that
// makes no sense, 1 for whatever else went wrong.
func command(ctx context.Context, args []string, out, errOut io.Writer) int {
	name := "run"
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		name, args = args[0], args[1:]
	}
	if name == "demo" {
		return demoCommand(ctx, args, out, errOut)
	}
	if name == "init" {
		return setUp(ctx, args, os.Stdin, out, errOut)
	}
	flags := flag.NewFlagSet("lastword", flag.ContinueOnError)
	flags.SetOutput(errOut)
	flags.Usage = func() { fmt.Fprint(errOut, usage) }
	file := flags.String("config", "config.yaml", "")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(errOut, "lastword: %q is one word too many\n%s", flags.Arg(0), usage)
		return 2
	}
	switch name {
	case "run":
		return status(errOut, run(ctx, *file, out, errOut))
	case "check":
		return check(ctx, *file, out)
	case "version":
		fmt.Fprintln(out, "lastword", version())
		return 0
	case "help":
		fmt.Fprint(out, usage)
		return 0
	}
	fmt.Fprintf(errOut, "lastword: there is no command %q\n%s", name, usage)
	return 2
}

func status(errOut io.Writer, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(errOut, err)
	return 1
}

// version is that of the module, or of the commit where it was built.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && info.Main.Version == "(devel)" {
			return s.Value
		}
	}
	return info.Main.Version
}

// run wires the parts together, in the order in which they need each other,
// and works until ctx ends. The store comes first: a second process on the same
// file must end before it touches Telegram.
func run(ctx context.Context, file string, out, errOut io.Writer) error {
	cfg, err := loadConfig(file)
	if err != nil {
		return err
	}
	log := cfg.Log.logger(errOut)
	store, err := storage.Open(cfg.Storage.Path)
	if err != nil {
		return err
	}
	defer store.Close()
	model := llm.New(cfg.LLM, log, nil)
	defer model.Close()
	house := house{config: cfg, store: store, model: model, log: log, out: out}
	services, err := house.services()
	if err != nil {
		return err
	}
	log.Info("started", "version", version(), "store", cfg.Storage.Path)
	err = serve(ctx, services, log)
	if err == nil {
		log.Info("stopped")
	}
	return err
}

// logger writes what the section says, and never a text of users or models: no
// package hands one to it.
func (c LogConfig) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: logLevels[c.Level]}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
