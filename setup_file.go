package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// exampleConfig is what a new configuration file is made of, so that the two
// cannot drift.
//
//go:embed config.example.yaml
var exampleConfig string

// exampleNodes are the values of the example by dotted key.
func exampleNodes() map[string]*yaml.Node {
	var root yaml.Node
	if err := yaml.Load([]byte(exampleConfig), &root); err != nil {
		panic(err) // embedded, and loaded by a test
	}
	found := map[string]*yaml.Node{}
	var walk func(n *yaml.Node, prefix string)
	walk = func(n *yaml.Node, prefix string) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			key := join(prefix, n.Content[i].Value)
			found[key] = n.Content[i+1]
			walk(n.Content[i+1], key)
		}
	}
	walk(root.Content[0], "")
	return found
}

func exampleValue(key string) string { return exampleNodes()[key].Value }

const setupHeader = "# Written by lastword init. It holds secrets: keep it to yourself.\n#\n"

// text is the example with the answers in their places. It is read back before
// anybody gets to see it: a file that does not say what was answered would be
// found out much later.
func (s *setup) text(file string) (string, error) {
	lines := strings.Split(exampleConfig, "\n")
	nodes := exampleNodes()
	for _, a := range append([]*answer{s.telegramURL}, s.answers...) {
		n := nodes[a.setting]
		line := &lines[n.Line-1]
		*line = (*line)[:n.Column-1] + quoted(a.value)
	}
	text := setupHeader + strings.Join(lines, "\n")
	got, err := decodeConfig(file, []byte(text),
		func(string) (string, bool) { return "", false },
		func(string) ([]byte, error) { return nil, fs.ErrNotExist })
	if err != nil {
		return "", err
	}
	if !reflect.DeepEqual(got, s.config()) {
		return "", fmt.Errorf("%s: an answer cannot be written as it is; copy config.example.yaml to it and fill in the token and the key", file)
	}
	return text, nil
}

// quoted is a text of one line as a value of the configuration file: neither
// YAML nor the decoder, which puts in ${NAME}s, sees anything in it.
func quoted(text string) string {
	return "'" + strings.NewReplacer("'", "''", "${", "$${").Replace(text) + "'"
}

// writable says why the file cannot be written, if it cannot. It leaves nothing.
func writable(path string) error {
	switch _, err := os.Lstat(path); {
	case err == nil:
		return errExists(path)
	case !errors.Is(err, fs.ErrNotExist):
		return errUnwritable(path, err)
	}
	temp, err := newTemp(path)
	if err != nil {
		return errUnwritable(path, err)
	}
	return errors.Join(temp.Close(), os.Remove(temp.Name()))
}

func errExists(path string) error {
	return fmt.Errorf("%s: is there already and stays as it is; move it away, or name another file with --config", path)
}

func errUnwritable(path string, err error) error {
	remedy := "name a file in a folder where you may write with --config"
	if errors.Is(err, fs.ErrNotExist) {
		remedy = "make its folder first, or name another file with --config"
	}
	return fmt.Errorf("%s: cannot be written: %s; %s", path, reason(err), remedy)
}

// newTemp creates a file beside another one, which only the owner may read.
func newTemp(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.new")
}

// writeNew writes a file that is not there yet, whole or not at all.
func writeNew(path, text string) error {
	temp, err := newTemp(path)
	if err != nil {
		return errUnwritable(path, err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString(text)
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return errUnwritable(path, err)
	}
	switch err := os.Link(temp.Name(), path); { // unlike a rename, never over a file that appeared meanwhile
	case errors.Is(err, fs.ErrExist):
		return errExists(path)
	case err != nil:
		return errUnwritable(path, err)
	}
	return nil
}

// nextStep is what to do with a file that was written.
func nextStep(file, username string) string {
	flag := ""
	if file != "config.yaml" {
		flag = " --config " + file
	}
	return fmt.Sprintf(`
%s is written, and only you can read it. Next:

    lastword check%s
    lastword%s

The first start prints a line like /start K7QM2XWD: send that to @%s and you
own it. The other settings are in the file, each with its reason.
`, file, flag, flag, username)
}
