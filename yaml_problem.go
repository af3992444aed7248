package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A configError is everything that is wrong with a configuration file, a line
// each, in the order of the file.
type configError struct {
	file     string
	problems []problem
}

func (e *configError) Error() string {
	lines := make([]string, len(e.problems))
	for i, p := range e.problems {
		where := e.file
		if p.line > 0 {
			where = fmt.Sprintf("%s:%d", e.file, p.line)
		}
		if p.key != "" {
			where += ": " + p.key
		}
		lines[i] = where + ": " + p.text
	}
	return strings.Join(lines, "\n")
}

// err is nil if there is no problem.
func (d *decoder) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(d.problems, func(a, b problem) int {
		if a.line == 0 || b.line == 0 {
			return cmp.Compare(b.line, a.line) // those without a line go last
		}
		return cmp.Compare(a.line, b.line)
	})
	return &configError{file: d.file, problems: d.problems}
}

// invalid adds what the checks of the decoded values found, lines of the form
// "section.key: text". Left out is what a problem of the file has caused: a
// key that could not be read must not be called missing as well.
func (d *decoder) invalid(found error) {
	if found == nil {
		return
	}
	var explained []string
	for _, p := range d.problems {
		key, _, _ := strings.Cut(p.key, "[") // of an item, the list
		explained = append(append(explained, key), p.also...)
	}
	for text := range strings.SplitSeq(found.Error(), "\n") {
		if slices.ContainsFunc(explained, func(key string) bool { return mentions(text, key) }) {
			continue
		}
		key, rest, _ := strings.Cut(text, ": ")
		if !slices.Contains(d.known, key) {
			key, rest = "", text
		}
		d.wrong(d.lineOf(key), key, rest)
	}
}

// lineOf says where a key stands, or its section if the key is not given.
func (d *decoder) lineOf(key string) int {
	if line, given := d.lines[key]; given {
		return line
	}
	section, _, _ := strings.Cut(key, ".")
	return d.lines[section]
}

// mentions reports whether a text speaks of a key, or of one in that section.
func mentions(text, key string) bool {
	if key == "" {
		return false
	}
	inName := func(c byte) bool { return c == '_' || c == '.' || c >= 'a' && c <= 'z' }
	for from := 0; ; {
		at := strings.Index(text[from:], key)
		if at < 0 {
			return false
		}
		at += from
		from = at + len(key)
		begins := at == 0 || !inName(text[at-1])
		isSection := !strings.Contains(key, ".")
		ends := from == len(text) || !inName(text[from]) ||
			text[from] == '.' && (isSection || from+1 == len(text) || !inName(text[from+1]))
		if begins && ends && (!isSection || strings.HasPrefix(text[from:], ".")) {
			return true
		}
	}
}

// plainer translates those complaints of the YAML parser that people meet
// most. Nothing else of its errors is shown, as some quote the file.
var plainer = map[string]string{
	"found character that cannot start any token":    "a tab or a special character begins a value; indent with spaces and put texts in quotes",
	"mapping values are not allowed in this context": "a colon that makes no sense here; check the indentation, and put texts with colons in quotes",
	"found unexpected end of stream":                 "a quote is opened and never closed",
	"did not find expected ',' or ']'":               "a [ is not closed, or a comma is missing",
	"did not find expected ',' or '}'":               "a { is not closed, or a comma is missing",
	"did not find expected key":                      "a key was expected; check the indentation",
	"did not find expected node content":             "a value was expected; something is left out or not closed",
}

// syntaxProblem says where data stops being YAML and, in fixed words, why.
func syntaxProblem(data []byte, err error) problem {
	p := problem{text: "this is not valid YAML; check indentation, colons and quotes here and in the lines above"}
	var at *yaml.LoadError
	if !errors.As(err, &at) {
		return p
	}
	p.line = at.Mark.Line
	if text, ok := plainer[at.Message]; ok {
		p.text = text
	}
	if at.Stage == yaml.ReaderStage { // knows the byte, not the line
		p.line = 1 + bytes.Count(data[:min(at.Mark.Index, len(data))], []byte("\n"))
		p.text = "a character that does not belong in a text file; save the file as UTF-8"
	}
	closes := strings.Contains(at.ContextMsg, "quoted") || strings.Contains(at.ContextMsg, "flow")
	if begin := at.ContextMark.Line; closes && begin > 0 && begin < p.line {
		p.text += fmt.Sprintf(" (it begins in line %d)", begin)
	}
	return p
}

// nearest finds the key that somebody may have meant by name in the section
// prefix; it is empty if none is near. Keys of the same section are preferred.
func nearest(known []string, prefix, name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	limit := max(1, len(name)/3)
	best, bestScore := "", 2*limit+2
	for _, key := range known {
		section, leaf := "", key
		if i := strings.LastIndexByte(key, '.'); i >= 0 {
			section, leaf = key[:i], key[i+1:]
		}
		steps := distance(name, leaf)
		if strings.HasSuffix(name, "_"+leaf) || strings.HasSuffix(leaf, "_"+name) {
			steps = 1 // bot_token for token, key for api_key
		}
		score := 2 * steps
		if section != prefix {
			score++
		}
		if steps <= limit && score < bestScore {
			best, bestScore = key, score
		}
	}
	return best
}

// distance is the number of letters to insert, remove, change or swap with the
// next one to get from a to b.
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range b {
		d[0][j+1] = j + 1
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := d[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			d[i][j] = min(change, d[i-1][j]+1, d[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
