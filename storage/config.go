package storage

import "errors"

// Config is the section storage.
type Config struct {
	Path string `yaml:"path"` // of the database file; its folder is created
}

// DefaultConfig is what an empty section means.
func DefaultConfig() Config { return Config{Path: "lastword.db"} }

// Validate reports what is wrong with the section.
func (c Config) Validate() error {
	if c.Path == "" {
		return errors.New("storage.path: is empty; name a file on a local disk, such as lastword.db")
	}
	return nil
}
