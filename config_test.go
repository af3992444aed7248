package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

// minimal has what is required and nothing else.
const minimal = "telegram: {token: '1:A'}\nllm: {model: m}\n"

// decode decodes a text as the file c.yaml, with one variable set, one empty
// and one secret's file.
func decode(text string) (Config, error) {
	env := map[string]string{"SET": "from: {env}", "EMPTY": "", "WAIT": "7s"}
	files := map[string]string{"/token": " 2:B\n", "/blank": " \n"}
	return decodeConfig("c.yaml", []byte(text),
		func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		func(path string) ([]byte, error) {
			if content, ok := files[path]; ok {
				return []byte(content), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		})
}

func TestMinimalConfigIsTheDefaults(t *testing.T) {
	got, err := decode(minimal)
	if err != nil {
		t.Fatal(err)
	}
	want := defaultConfig()
	want.Telegram.Token, want.LLM.Model = "1:A", "m"
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestConfigValues(t *testing.T) {
	c, err := decode(`
telegram: {token_file: /token}
access: {users: [1, 2], groups: [-1001234567890]}
llm:
  model: "${SET}"
  system_prompt: "a ${SET} b $${SET} c ${ d ${x-y} ${EMPTY}e"
  temperature: 0.5
turn: {debounce: "${WAIT}", max_wait: 1h30m, on_new_message: finish}
log:   # all below is commented out
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ got, want any }{
		{c.Telegram.Token, "2:B"},
		{fmt.Sprint(c.Access.Users), "[1 2]"},
		{fmt.Sprint(c.Access.Groups), "[-1001234567890]"},
		{c.LLM.Model, "from: {env}"},
		{c.LLM.SystemPrompt, "a from: {env} b ${SET} c ${ d ${x-y} e"},
		{fmt.Sprint(*c.LLM.Temperature), "0.5"},
		{c.Turn.Debounce, 7 * time.Second},
		{c.Turn.MaxWait, 90 * time.Minute},
		{string(c.Turn.OnNewMessage), "finish"},
		{c.Log, defaultConfig().Log},
	} {
		if x.got != x.want {
			t.Errorf("got %v, want %v", x.got, x.want)
		}
	}
	if c, err = decode(minimal + "access: {open: true}\n"); err != nil || !c.Access.Open {
		t.Errorf("open: %v, %v", c.Access.Open, err)
	}
}

// wrongConfigs are files with what is said of them, c.yaml left out.
var wrongConfigs = []struct{ name, file, want string }{
	{"empty", "", ": the file is empty; copy config.example.yaml and fill in the token and the key"},
	{"only a comment", "# telegram: {}\n", ": the file is empty; copy config.example.yaml and fill in the token and the key"},
	{"empty document", "---\n", ": the file is empty; copy config.example.yaml and fill in the token and the key"},
	{"a list", "- a\n", ":1: must be a section: keys with values"},
	{"second document", minimal + "---\nturn: {}\n", ":3: a second document begins here; the file must be a single one"},
	{"empty second document", minimal + "---\n", ":3: a second document begins here; the file must be a single one"},
	{"broken second document", minimal + "---\n[", ":5: a value was expected; something is left out or not closed"},

	{"misspelt", minimal + "turn:\n  # why\n  debounse: 3s\n", ":5: turn.debounse: unknown key; did you mean turn.debounce?"},
	{"other case", minimal + "turn: {Max-Wait: 3s}\n", ":3: turn.Max-Wait: unknown key; did you mean turn.max_wait?"},
	{"misspelt section", minimal + "trun: {debounce: 3s}\n", ":3: trun: unknown key; did you mean turn?"},
	{"in no section", minimal + "debounce: 3s\n", ":3: debounce: unknown key; did you mean turn.debounce?"},
	{"in another section", "telegram: {token: '1:A'}\nllm: {model: m, debounce: 3s}\n", ":2: llm.debounce: unknown key; did you mean turn.debounce?"},
	{"part of a name", "telegram: {bot_token: '1:A'}\nllm: {model: m, key: k}\n",
		":1: telegram.bot_token: unknown key; did you mean telegram.token?\n:2: llm.key: unknown key; did you mean llm.api_key?"},
	{"like nothing", minimal + "turn: {elephant: 3s}\n", ":3: turn.elephant: unknown key"},
	{"dotted", minimal + "turn.debounce: 3s\n", ":3: turn.debounce: unknown key; a dot does not open a section, write the section and below it the key"},
	{"a value for a key", "telegram: {token: '1:A', 123:ABC}\nllm: {model: m}\n", ":1: telegram: an unknown key; it does not look like a key and is not shown"},
	{"a list for a key", minimal + "? [a]\n: b\n", ":3: an unknown key; it does not look like a key and is not shown"},
	{"twice", minimal + "turn:\n  debounce: 1s\n  debounce: 2s\n", ":5: turn.debounce: given twice, first in line 4"},
	{"section twice", minimal + "turn: {}\nturn: {debounce: 1s}\n", ":4: turn: given twice, first in line 3"},

	{"number for a duration", minimal + "turn: {debounce: 3}\n", ":3: turn.debounce: a duration needs a unit, such as 3s"},
	{"no unit", minimal + "turn: {debounce: '3'}\n", ":3: turn.debounce: a duration needs a unit, such as 3s"},
	{"no duration", minimal + "turn: {debounce: soon}\n", ":3: turn.debounce: must be a duration, such as 500ms, 3s or 1h30m"},
	{"no value", minimal + "turn: {debounce: }\n", ":3: turn.debounce: has no value; give it one or remove the key"},
	{"a section for a value", minimal + "turn: {debounce: {a: b}}\n", ":3: turn.debounce: must be a single value, not a list or a section"},
	{"a value for a section", minimal + "turn: 3s\n", ":3: turn: must be a section: keys with values"},
	{"a value for a list", minimal + "access: {users: 3}\n", ":3: access.users: must be a list, such as [1, 2]"},
	{"in a list", minimal + "access:\n  users:\n    - 3\n    - x\n", ":6: access.users[1]: must be a whole number, without quotes"},
	{"variable for a number", minimal + "access: {users: ['${SET}']}\n", ":3: access.users[0]: must be a whole number; ${…} works in texts and durations only"},
	{"not whole", minimal + "turn: {max_restarts: 1.5}\n", ":3: turn.max_restarts: must be a whole number"},
	{"too large", minimal + "turn: {max_restarts: 99999999999999999999}\n", ":3: turn.max_restarts: is out of range"},
	{"not a number", "telegram: {token: '1:A'}\nllm: {model: m, temperature: .nan}\n", ":2: llm.temperature: must be a number"},
	{"not a text", "telegram: {token: '1:A'}\nllm: {model: 5}\n", ":2: llm.model: must be a text; put it in quotes"},
	{"binary", "telegram: {token: '1:A'}\nllm: {model: !!binary YQ==}\n", ":2: llm.model: must be a text; put it in quotes"},
	{"yes", minimal + "access: {open: yes}\n", ":3: access.open: must be true or false"},
	{"quoted bool", minimal + "access: {open: 'true'}\n", ":3: access.open: must be true or false"},
	{"alias", "telegram: {token: &a '1:A'}\nllm: {model: *a}\n", ":2: llm.model: YAML aliases are not supported; write the value out"},

	{"unset variable", "telegram: {token: '${NO_TOKEN}'}\nllm: {model: m}\n", ":1: telegram.token: the environment variable NO_TOKEN is not set"},
	{"two unset variables", minimal + "storage: {path: '${A}/${B}'}\n",
		":3: storage.path: the environment variable A is not set\n:3: storage.path: the environment variable B is not set"},
	{"secret twice", "telegram:\n  token: '1:A'\n  token_file: /token\nllm: {model: m}\n", ":3: telegram.token_file: given together with telegram.token; keep one of them"},
	{"no such secret", "telegram:\n  token_file: /nowhere\nllm: {model: m}\n", ":2: telegram.token_file: cannot read /nowhere: file does not exist"},
	{"secret for its file", "telegram:\n  token_file: '1:A'\nllm: {model: m}\n",
		":2: telegram.token_file: cannot read the file (its name is not shown, as it does not start with / or ./): file does not exist"},
	{"blank secret", "telegram: {token_file: /blank}\nllm: {model: m}\n", ":1: telegram.token_file: /blank is empty"},
	{"secret's file unset", "telegram: {token_file: '${NO_FILE}'}\nllm: {model: m}\n", ":1: telegram.token_file: the environment variable NO_FILE is not set"},

	{"contradiction", minimal + "turn:\n  max_wait: 2s\n  debounce: 5s\n",
		":4: turn.max_wait: is shorter than turn.debounce, so no turn would ever wait for its debounce; raise turn.max_wait or lower turn.debounce"},
	{"choice", minimal + "turn: {on_new_message: stop}\n", ":3: turn.on_new_message: must be restart or finish"},
	{"log", minimal + "log: {level: loud, format: xml}\n", ":3: log.level: must be debug, info, warn or error\n:3: log.format: must be text or json"},
	{"all at once", "telegram: {token: '1:A'}\nturn:\n  debounse: 50s\n  max_wait: -1s\n  max_restarts: x\nllm: {model: m, retries: -1}\nlgo: {}\n",
		":3: turn.debounse: unknown key; did you mean turn.debounce?\n" +
			":4: turn.max_wait: must be positive; 10s is a good value\n" +
			":5: turn.max_restarts: must be a whole number, without quotes\n" +
			":6: llm.retries: must not be negative; 0 means that a failed call is not tried again\n" +
			":7: lgo: unknown key; did you mean log?"},

	{"open quote", minimal + "log: {level: \"info}\n", ":4: a quote is opened and never closed (it begins in line 3)"},
	{"open list", minimal + "access: {users: [1\n", ":4: a [ is not closed, or a comma is missing (it begins in line 3)"},
	{"tab", minimal + "log:\n\tlevel: info\n", ":4: a tab or a special character begins a value; indent with spaces and put texts in quotes"},
	{"unknown alias", "telegram: *secret\n", ":1: this is not valid YAML; check indentation, colons and quotes here and in the lines above"},
	{"indentation", minimal + "log:\n    level: info\n  format: text\n", ":5: a key was expected; check the indentation"},
	{"not UTF-8", minimal + "log: {level: \xff}\n", ":3: a character that does not belong in a text file; save the file as UTF-8"},
}

func TestWrongConfig(t *testing.T) {
	for _, test := range wrongConfigs {
		t.Run(test.name, func(t *testing.T) {
			c, err := decode(test.file)
			if err == nil {
				t.Fatalf("no error")
			}
			want := "c.yaml" + strings.ReplaceAll(test.want, "\n", "\nc.yaml")
			if err.Error() != want {
				t.Errorf("got\n%s\nwant\n%s", err, want)
			}
			if !reflect.DeepEqual(c, Config{}) {
				t.Errorf("a configuration is returned together with the error")
			}
		})
	}
}

// What is required is said to be missing at the line of its section, if that
// is there. The wording belongs to the packages.
func TestMissingKeys(t *testing.T) {
	for file, want := range map[string][]string{
		"log: {}\n":                                 {"c.yaml: telegram.token: ", "c.yaml: llm.model: "},
		"log: {}\ntelegram: {}\nllm: {}\n":          {"c.yaml:2: telegram.token: ", "c.yaml:3: llm.model: "},
		"telegram:\n  token: ''\nllm: {model: m}\n": {"c.yaml:2: telegram.token: "},
		"telegram: {token: \"${EMPTY}\"}\nllm: {}":  {"c.yaml:1: telegram.token: ", "c.yaml:2: llm.model: "},
	} {
		_, err := decode(file)
		if err == nil {
			t.Fatalf("%q: no error", file)
		}
		lines := strings.Split(err.Error(), "\n")
		if !slices.EqualFunc(lines, want, strings.HasPrefix) {
			t.Errorf("%q: got\n%s\nwant %q", file, err, want)
		}
	}
}

func TestLoadConfig(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	_, err := loadConfig(path)
	if err == nil || err.Error() != path+": there is no such file; lastword init makes one" {
		t.Errorf("missing file: %v", err)
	}
	if _, err = loadConfig(dir); err == nil || !strings.HasPrefix(err.Error(), dir+": the configuration cannot be read: ") {
		t.Errorf("a folder: %v", err)
	}

	secret := filepath.Join(dir, "token")
	write(t, secret, "3:C\n", 0o644) // readable by all, as mounted secrets are
	write(t, path, "telegram: {token_file: "+secret+"}\nllm: {model: m}\n", 0o600)
	c, err := loadConfig(path)
	if err != nil || c.Telegram.Token != "3:C" {
		t.Errorf("token from a file: %v", err)
	}

	write(t, secret, strings.Repeat("3", maxSecretFile+1), 0o600)
	_, err = loadConfig(path)
	if err == nil || err.Error() != path+":1: telegram.token_file: cannot read "+secret+": it is too large for a secret" {
		t.Errorf("a huge secret: %v", err)
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// The example is the reference of the settings: each key, each default.
func TestExampleConfig(t *testing.T) {
	t.Setenv("TELEGRAM_TOKEN", "1:A")
	t.Setenv("LLM_API_KEY", "k")
	got, err := loadConfig("config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := defaultConfig()
	want.Telegram.Token, want.LLM.APIKey, want.LLM.Model = "1:A", "k", got.LLM.Model
	if !reflect.DeepEqual(got, want) {
		t.Errorf("config.example.yaml does not give the defaults:\ngot  %+v\nwant %+v", got, want)
	}

	data, err := os.ReadFile("config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var root yaml.Node
	if err := yaml.Load(data, &root); err != nil {
		t.Fatal(err)
	}
	var inFile []string
	walkKeys(root.Content[0], "", func(key string, name, _ *yaml.Node) {
		inFile = append(inFile, key)
		if strings.Contains(key, ".") && name.HeadComment == "" {
			t.Errorf("config.example.yaml: %s has no line that says why it exists", key)
		}
	})
	keys := keysOf(reflect.TypeFor[Config](), "")
	slices.Sort(keys)
	slices.Sort(inFile)
	if !slices.Equal(keys, inFile) {
		t.Errorf("keys of Config\n%v\nkeys of config.example.yaml\n%v", keys, inFile)
	}
	for key := range secretFiles {
		if _, leaf, _ := strings.Cut(key, "."); !strings.Contains(string(data), "# "+leaf+": ") {
			t.Errorf("config.example.yaml does not mention %s", key)
		}
	}
}

// walkKeys visits all keys of a document with what they hold.
func walkKeys(n *yaml.Node, prefix string, visit func(key string, name, value *yaml.Node)) {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key := join(prefix, n.Content[i].Value)
		visit(key, n.Content[i], n.Content[i+1])
		walkKeys(n.Content[i+1], key, visit)
	}
}

// sentinel is a secret in the wrong place. It has the signs of a token, a key
// and a URL with a password.
const sentinel = "https://7654:AAF-s3cret@x/%zz"

// No value is shown, whatever key it was put under, however it is quoted, and
// whatever else is wrong (I8).
func TestErrorsShowNoValues(t *testing.T) {
	keys := append(keysOf(reflect.TypeFor[Config](), ""), "telegram.token_file", "llm.api_key_file", "nonsense", "turn.nonsense")
	values := []string{sentinel, "'" + sentinel + "'", "[" + sentinel + "]", "{" + sentinel + "}", "{'" + sentinel + "': x}",
		"{a: " + sentinel + "}", "!!int " + sentinel, "!!binary " + sentinel, "!<" + sentinel + "> x", "&" + sentinel + " x", "*" + sentinel,
		"'" + sentinel, "\t" + sentinel, "[" + sentinel, "x: " + sentinel, "|\n " + sentinel, "'${SECRET}'", "'${SECRET}s'", "'\n${SECRET}'", "%" + sentinel, "/content"}
	for _, key := range keys {
		for _, value := range values {
			section, leaf, nested := strings.Cut(key, ".")
			text := section + ": " + value + "\n"
			if nested {
				text = section + ":\n  " + leaf + ": " + value + "\n"
			}
			for _, text := range []string{text, text + "log: {level: loud}\n", value + "\n" + text, text + "---\n" + value} {
				checkSilent(t, text)
			}
		}
	}
}

// checkSilent decodes a text and fails if the error shows the sentinel.
func checkSilent(t *testing.T, text string) {
	t.Helper()
	_, err := decodeConfig("c.yaml", []byte(text),
		func(name string) (string, bool) { return sentinel, name == "SECRET" },
		func(path string) ([]byte, error) {
			if strings.Contains(path, "content") {
				return []byte(sentinel), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		})
	if err == nil {
		return
	}
	for line := range strings.Lines(err.Error()) {
		isPath := strings.Contains(line, "_file: cannot read ") && !strings.Contains(line, "read https:")
		if strings.Contains(line, "s3cret") && !isPath {
			t.Errorf("the error shows a value: %s\nof the file\n%s", line, text)
		}
	}
	var wrong *configError
	if !errors.As(err, &wrong) || len(wrong.problems) == 0 {
		t.Errorf("an error of another kind: %T", err)
	}
}

func FuzzConfig(f *testing.F) {
	example, err := os.ReadFile("config.example.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	for _, seed := range []string{"", minimal, minimal + "---\n", "telegram: {token_file: /content, token: " + sentinel + "}",
		"llm: {api_key: &a ${SECRET}, model: *a, <<: {}}", "? [a]\n: " + sentinel, "turn:\n  debounce: !!int 3\n", "access: {users: [-1, x, 1e3]}",
		"a: &a [*a]", "%YAML 1.2\n---\n{}\n...\n", "\ufefflog: |\n x", "llm: {temperature: [.inf, 0x1p-2]}", "log: {level: >-\n  info\n  }"} {
		f.Add(seed)
	}
	f.Fuzz(checkSilent)
}

func TestNearest(t *testing.T) {
	known := []string{"a", "a.token", "a.wait", "b", "b.wait", "b.max_wait"}
	for _, x := range []struct{ prefix, name, want string }{
		{"a", "tokne", "a.token"},
		{"a", "otkne", ""}, // two steps in five letters are too many
		{"a", "tokn", "a.token"},
		{"b", "wiat", "b.wait"},
		{"b", "wai", "b.wait"},
		{"", "wait", "a.wait"},
		{"a", "max-wait", "b.max_wait"},
		{"", "elephant", ""},
	} {
		if got := nearest(known, x.prefix, x.name); got != x.want {
			t.Errorf("nearest to %s in %q: got %q, want %q", x.name, x.prefix, got, x.want)
		}
	}
}

func TestMentions(t *testing.T) {
	for _, x := range []struct {
		text, key string
		want      bool
	}{
		{"turn.max_wait: is shorter than turn.debounce, so", "turn.debounce", true},
		{"turn.max_wait: is shorter than turn.debounce.", "turn.debounce", true},
		{"turn.max_wait: is", "turn.max", false},
		{"turn.max_wait: is", "max_wait", false},
		{"turn.max_wait: is", "turn", true},
		{"llm.max_tokens: say whose turn it is", "turn", false},
		{"telegram.token_file: is", "telegram.token", false},
		{"anything", "", false},
	} {
		if got := mentions(x.text, x.key); got != x.want {
			t.Errorf("%q mentions %q: got %v", x.text, x.key, got)
		}
	}
}
