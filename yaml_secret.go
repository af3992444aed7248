package main

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// secretFiles are keys that name a file in place of a secret, as containers
// and systemd hand them out.
var secretFiles = map[string]string{
	"telegram.token_file": "telegram.token",
	"llm.api_key_file":    "llm.api_key",
}

// maxSecretFile bounds what is read of a secret's file in bytes: naming
// /dev/zero is a mistake, not a way to hang the start.
const maxSecretFile = 64 << 10

var errSecretSize = errors.New("it is too large for a secret")

// readSecret reads the file of a secret. Its mode is the owner's business: a
// secret mounted into a container is often readable by all inside.
func readSecret(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	if len(data) > maxSecretFile {
		return nil, errSecretSize
	}
	return data, err
}

// secretFile decodes the name of a file into the field that its content is
// for.
func (d *decoder) secretFile(n *yaml.Node, key, secret string, target reflect.Value) {
	var path string
	before := len(d.problems)
	d.value(n, key, reflect.ValueOf(&path).Elem())
	if len(d.problems) > before {
		d.problems[len(d.problems)-1].also = []string{secret}
		return
	}
	content, err := d.readFile(path)
	text := strings.TrimSpace(string(content))
	switch {
	case err != nil:
		d.wrong(n.Line, key, "cannot read "+shownPath(path)+": "+reason(err), secret)
	case text == "":
		d.wrong(n.Line, key, shownPath(path)+" is empty", secret)
	default:
		target.SetString(text)
	}
}

// shownPath is a path for a message. It hides what does not look like one,
// which may be the secret itself instead of the name of its file.
func shownPath(path string) string {
	for _, start := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(path, start) {
			return path
		}
	}
	return "the file (its name is not shown, as it does not start with / or ./)"
}

// reason is a reading error without the path, which the caller may have to hide.
func reason(err error) string {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		return pathErr.Err.Error()
	case errors.As(err, &linkErr):
		return linkErr.Err.Error()
	}
	return err.Error()
}

// secretsGivenTwice refuses a secret that a section gives in both ways: only
// one of them can be meant.
func (d *decoder) secretsGivenTwice(prefix string) {
	for _, fileKey := range slices.Sorted(maps.Keys(d.secrets)) {
		secret := d.secrets[fileKey]
		_, direct := d.lines[secret]
		if line, given := d.lines[fileKey]; given && direct && strings.HasPrefix(fileKey, prefix+".") {
			d.wrong(line, fileKey, "given together with "+secret+"; keep one of them", secret)
		}
	}
}
