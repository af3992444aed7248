package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"lastword/bot"
	"lastword/conversation"
	"lastword/llm"
	"lastword/storage"
	"lastword/web"
)

// Config is the configuration file. Each section belongs to the package that
// it configures, defaults and checks included.
type Config struct {
	Telegram bot.Config          `yaml:"telegram"`
	Access   bot.AccessConfig    `yaml:"access"`
	Web      web.Config          `yaml:"web"`
	LLM      llm.Config          `yaml:"llm"`
	Turn     conversation.Config `yaml:"turn"`
	Storage  storage.Config      `yaml:"storage"`
	Log      LogConfig           `yaml:"log"`
}

// LogConfig is the section log.
type LogConfig struct {
	Level  string `yaml:"level"`  // the least important level that is written
	Format string `yaml:"format"` // text for people, json for machines
}

// defaultConfig is what an empty file would mean.
func defaultConfig() Config {
	return Config{
		Telegram: bot.DefaultConfig(),
		Access:   bot.DefaultAccessConfig(),
		Web:      web.DefaultConfig(),
		LLM:      llm.Default(),
		Turn:     conversation.DefaultConfig(),
		Storage:  storage.DefaultConfig(),
		Log:      LogConfig{Level: "info", Format: "text"},
	}
}

// loadConfig reads a configuration file. Its error has a line for each thing
// that is wrong and shows no values.
func loadConfig(path string) (Config, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, fmt.Errorf("%s: there is no such file; lastword init makes one", path)
	}
	if err != nil {
		return Config{}, fmt.Errorf("%s: the configuration cannot be read: %s", path, reason(err))
	}
	return decodeConfig(path, data, os.LookupEnv, readSecret)
}

// decodeConfig is loadConfig without the outside world.
func decodeConfig(file string, data []byte, env func(string) (string, bool), readFile func(string) ([]byte, error)) (Config, error) {
	c := defaultConfig()
	d := newDecoder(file, &c, secretFiles)
	d.env, d.readFile = env, readFile
	if d.document(data, &c) {
		d.invalid(c.Validate())
	}
	if err := d.err(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// Validate reports everything that is wrong with the values, a line each that
// begins with the dotted key.
func (c Config) Validate() error {
	var telegram error
	if c.onTelegram() {
		telegram = c.Telegram.Validate()
	}
	return errors.Join(
		telegram,
		c.Access.Validate(),
		c.Web.Validate(),
		c.LLM.Validate(),
		c.Turn.Validate(),
		c.Storage.Validate(),
		c.Log.Validate(),
	)
}

// onTelegram reports whether the bot talks on Telegram: always, unless it has no
// token and a web chat to talk in.
func (c Config) onTelegram() bool { return c.Telegram.Token != "" || c.Web.Listen == "" }

// logLevels are the values of log.level.
var logLevels = map[string]slog.Level{
	"debug": slog.LevelDebug,
	"info":  slog.LevelInfo,
	"warn":  slog.LevelWarn,
	"error": slog.LevelError,
}

// Validate reports what is wrong with the section.
func (c LogConfig) Validate() error {
	var errs []error
	if _, ok := logLevels[c.Level]; !ok {
		errs = append(errs, errors.New("log.level: must be debug, info, warn or error"))
	}
	if c.Format != "text" && c.Format != "json" {
		errs = append(errs, errors.New("log.format: must be text or json"))
	}
	return errors.Join(errs...)
}
