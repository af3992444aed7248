package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// A decoder fills a struct from one YAML document and is strict about it: the
// document is walked node by node against the struct's yaml tags, because the
// YAML package's own errors stop at a line number and may quote values.
//
// No message of a decoder contains a value of the file: any of them may be a
// secret in the wrong place.
type decoder struct {
	file     string
	env      func(name string) (string, bool)
	readFile func(path string) ([]byte, error)

	secrets  map[string]string // dotted key that names a file → the key that gets its content
	known    []string          // every dotted key, in the order of the structs
	lines    map[string]int    // where a key stands
	problems []problem
}

// A problem is one thing that is wrong with the file.
type problem struct {
	line int      // 0 if it belongs to none
	key  string   // dotted; may be empty
	also []string // further keys that it explains, so that nothing else is said of them
	text string
}

// newDecoder prepares for documents of the shape of the struct that shape
// points to.
func newDecoder(file string, shape any, secrets map[string]string) *decoder {
	d := &decoder{file: file, secrets: secrets, lines: map[string]int{}}
	d.known = keysOf(reflect.TypeOf(shape).Elem(), "")
	for fileKey := range secrets {
		d.known = append(d.known, fileKey)
	}
	slices.Sort(d.known[len(d.known)-len(secrets):])
	return d
}

// keysOf lists the dotted keys of a struct, sections included.
func keysOf(t reflect.Type, prefix string) []string {
	var keys []string
	for f := range fields(t) {
		key := join(prefix, f.name)
		keys = append(keys, key)
		if f.Type.Kind() == reflect.Struct {
			keys = append(keys, keysOf(f.Type, key)...)
		}
	}
	return keys
}

// A field is a struct field that the file can set.
type field struct {
	reflect.StructField
	name string
}

// fields yields those fields of a struct that have a yaml tag.
func fields(t reflect.Type) func(yield func(field) bool) {
	return func(yield func(field) bool) {
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if name != "" && name != "-" && !yield(field{f, name}) {
				return
			}
		}
	}
}

// fieldNamed finds the field of a struct for a key.
func fieldNamed(v reflect.Value, name string) (reflect.Value, bool) {
	for f := range fields(v.Type()) {
		if f.name == name {
			return v.FieldByIndex(f.Index), true
		}
	}
	return reflect.Value{}, false
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

func (d *decoder) wrong(line int, key, text string, also ...string) {
	d.problems = append(d.problems, problem{line: line, key: key, also: also, text: text})
}

// document decodes data, which must be exactly one document, into the struct
// that into points to. It reports whether there is something to check further;
// not so with a file that is broken or empty, where all else follows from that.
func (d *decoder) document(data []byte, into any) bool {
	root, err := d.parse(data)
	switch {
	case err != nil:
		d.problems = append(d.problems, syntaxProblem(data, err))
		return false
	case root == nil || root.ShortTag() == "!!null":
		d.wrong(0, "", "the file is empty; copy config.example.yaml and fill in the token and the key")
		return false
	}
	d.section(root, "", reflect.ValueOf(into).Elem())
	return root.Kind == yaml.MappingNode
}

// parse returns the root of the first document, nil if there is none.
func (d *decoder) parse(data []byte) (*yaml.Node, error) {
	loader, err := yaml.NewLoader(strings.NewReader(string(data)))
	if err != nil {
		return nil, err
	}
	var first, second yaml.Node
	if err := loader.Load(&first); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := loader.Load(&second); err == nil {
		d.wrong(second.Line, "", "a second document begins here; the file must be a single one")
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if first.Kind == yaml.DocumentNode && len(first.Content) == 1 {
		return first.Content[0], nil
	}
	return &first, nil
}

// section decodes a mapping into a struct.
func (d *decoder) section(n *yaml.Node, prefix string, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.wrong(n.Line, prefix, "must be a section: keys with values")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		key := join(prefix, name.Value)
		target, known := fieldNamed(v, name.Value)
		secret, isFile := d.secrets[key]
		switch first, twice := d.lines[key]; {
		case name.Kind != yaml.ScalarNode || !known && !isFile:
			d.unknown(name, prefix)
			continue
		case twice:
			d.wrong(name.Line, key, fmt.Sprintf("given twice, first in line %d", first))
			continue
		}
		d.lines[key] = name.Line
		if isFile {
			target, _ = fieldNamed(v, strings.TrimPrefix(secret, prefix+"."))
			d.secretFile(value, key, secret, target)
			continue
		}
		d.value(value, key, target)
	}
	d.secretsGivenTwice(prefix)
}

// nameLike is what a key looks like. Anything else in a key's place may be a
// secret that somebody pasted, as a token in {123:ABC}, and is not shown.
var nameLike = regexp.MustCompile(`^[A-Za-z][A-Za-z_.-]{0,29}$`)

func (d *decoder) unknown(name *yaml.Node, prefix string) {
	switch {
	case name.Kind != yaml.ScalarNode || !nameLike.MatchString(name.Value):
		d.wrong(name.Line, prefix, "an unknown key; it does not look like a key and is not shown")
	case strings.Contains(name.Value, "."):
		d.wrong(name.Line, join(prefix, name.Value), "unknown key; a dot does not open a section, write the section and below it the key")
	default:
		text, also := "unknown key", []string(nil)
		if near := nearest(d.known, prefix, name.Value); near != "" {
			text, also = "unknown key; did you mean "+near+"?", []string{near}
		}
		d.wrong(name.Line, join(prefix, name.Value), text, also...)
	}
}

// value decodes a node into a field, which keeps its default if that fails.
func (d *decoder) value(n *yaml.Node, key string, v reflect.Value) {
	isNull := n.ShortTag() == "!!null"
	switch {
	case n.Kind == yaml.AliasNode:
		d.wrong(n.Line, key, "YAML aliases are not supported; write the value out")
	case v.Kind() == reflect.Pointer && isNull:
		v.SetZero()
	case v.Kind() == reflect.Pointer:
		elem := reflect.New(v.Type().Elem())
		d.value(n, key, elem.Elem())
		v.Set(elem)
	case v.Kind() == reflect.Struct && isNull, v.Kind() == reflect.Slice && isNull:
		// All keys below are commented out: the defaults hold.
	case v.Kind() == reflect.Struct:
		d.section(n, key, v)
	case v.Kind() == reflect.Slice:
		d.list(n, key, v)
	case isNull:
		d.wrong(n.Line, key, "has no value; give it one or remove the key")
	case n.Kind != yaml.ScalarNode:
		d.wrong(n.Line, key, "must be a single value, not a list or a section")
	default:
		d.scalar(n, key, v)
	}
}

func (d *decoder) list(n *yaml.Node, key string, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.wrong(n.Line, key, "must be a list, such as [1, 2]")
		return
	}
	items := reflect.Zero(v.Type()) // stays nil for an empty list
	for i, item := range n.Content {
		elem := reflect.New(v.Type().Elem()).Elem()
		d.value(item, fmt.Sprintf("%s[%d]", key, i), elem)
		items = reflect.Append(items, elem)
	}
	v.Set(items)
}

// scalar decodes a single value by the type of the field and never by what
// the text happens to look like.
func (d *decoder) scalar(n *yaml.Node, key string, v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		d.duration(n, key, v)
	case v.Kind() == reflect.String:
		if text, ok := d.text(n, key); ok {
			v.SetString(text)
		}
	case v.Kind() == reflect.Bool:
		on, err := strconv.ParseBool(strings.ToLower(n.Value))
		if n.ShortTag() != "!!bool" || err != nil {
			d.wrong(n.Line, key, "must be true or false")
			return
		}
		v.SetBool(on)
	case v.CanInt():
		i, err := strconv.ParseInt(n.Value, 10, v.Type().Bits())
		if d.number(n, key, err, "whole number", "!!int") {
			v.SetInt(i)
		}
	case v.CanFloat():
		f, err := strconv.ParseFloat(n.Value, v.Type().Bits())
		if err == nil && (math.IsInf(f, 0) || math.IsNaN(f)) {
			err = strconv.ErrSyntax
		}
		if d.number(n, key, err, "number", "!!int", "!!float") {
			v.SetFloat(f)
		}
	default:
		panic(fmt.Sprintf("config: the type %s of %s is not supported", v.Type(), key))
	}
}

// number reports whether n is a number of one of the tags, which parsed with
// err.
func (d *decoder) number(n *yaml.Node, key string, err error, kind string, tags ...string) bool {
	switch {
	case n.ShortTag() == "!!str" && variable.MatchString(n.Value):
		d.wrong(n.Line, key, "must be a "+kind+"; ${…} works in texts and durations only")
	case n.ShortTag() == "!!str":
		d.wrong(n.Line, key, "must be a "+kind+", without quotes")
	case errors.Is(err, strconv.ErrRange):
		d.wrong(n.Line, key, "is out of range")
	case err != nil || !slices.Contains(tags, n.ShortTag()):
		d.wrong(n.Line, key, "must be a "+kind)
	default:
		return true
	}
	return false
}

func (d *decoder) duration(n *yaml.Node, key string, v reflect.Value) {
	text := n.Value
	if n.ShortTag() == "!!str" {
		var ok bool
		if text, ok = d.text(n, key); !ok {
			return
		}
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		d.wrong(n.Line, key, "a duration needs a unit, such as 3s")
		return
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		d.wrong(n.Line, key, "must be a duration, such as 500ms, 3s or 1h30m")
		return
	}
	v.SetInt(int64(length))
}

// variable matches what expand replaces.
var variable = regexp.MustCompile(`\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// text reads a string and puts in its ${NAME}s. That happens to the parsed
// value, so what a variable holds cannot become YAML.
func (d *decoder) text(n *yaml.Node, key string) (string, bool) {
	if n.ShortTag() != "!!str" {
		d.wrong(n.Line, key, "must be a text; put it in quotes")
		return "", false
	}
	ok := true
	text := variable.ReplaceAllStringFunc(n.Value, func(match string) string {
		if match == "$${" {
			return "${"
		}
		name := match[2 : len(match)-1]
		value, isSet := d.env(name)
		if !isSet {
			d.wrong(n.Line, key, "the environment variable "+name+" is not set")
			ok = false
		}
		return value
	})
	return text, ok
}
