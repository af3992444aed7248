package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const wrongToken = "123456789:BBwrongSecretForTests-0123456789abc"

// initIn runs init in a folder of its own, with the Telegram of s and answers
// from a pipe, and returns the status, what was printed, and the folder.
func initIn(t *testing.T, s *services, answers string, args ...string) (code int, printed, dir string) {
	t.Helper()
	dir = t.TempDir()
	code, printed = initAt(t, s, filepath.Join(dir, "config.yaml"), answers, args...)
	return code, printed, dir
}

func initAt(t *testing.T, s *services, file, answers string, args ...string) (code int, printed string) {
	t.Helper()
	args = append([]string{"--telegram-url", s.telegram.URL, "--config", file}, args...)
	var out bytes.Buffer
	code = setUp(t.Context(), args, strings.NewReader(answers), &out, &out)
	for _, secret := range []string{testToken, "secretToken", testKey, wrongToken, "wrongSecret", "sk-wrong"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("I8: %q is printed:\n%s", secret, out.String())
		}
	}
	return code, out.String()
}

// wantOrder fails unless the text holds all pieces, one after the other.
func wantOrder(t *testing.T, text string, pieces ...string) {
	t.Helper()
	rest := text
	for _, p := range pieces {
		_, after, found := strings.Cut(rest, p)
		if !found {
			t.Errorf("no %q, or not in this place, in:\n%s", p, text)
			return
		}
		rest = after
	}
}

// wantOnly fails unless these are the files of a folder.
func wantOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, e := range entries {
		have = append(have, e.Name())
	}
	if !slices.Equal(have, names) {
		t.Errorf("the folder holds %q, want %q", have, names)
	}
}

func TestInitAsks(t *testing.T) {
	s := newServices(t)
	url := s.model.URL + "/v1"
	code, printed, dir := initIn(t, s, strings.Join([]string{
		"no token", wrongToken, testToken,
		testKey, // in the wrong place: it must not be offered as what Enter stands for
		"http://127.0.0.1:1/v1", url,
		"sk-wrong", testKey,
		"tset-model", "1",
	}, "\n"))
	if code != 0 {
		t.Fatalf("ended with %d:\n%s", code, printed)
	}
	wantOrder(t, printed,
		"error telegram.token: is not a bot token", "error telegram.token: Telegram refuses it", "ok    Telegram, as @l_bot",
		"[https://api.openai.com/v1]: ", "error llm.base_url: is not an absolute",
		"[https://api.openai.com/v1]: ", "error llm.base_url: the service cannot be reached", "ok    the service answers",
		"error llm.api_key: the key was refused", "ok    the key is taken",
		"1  test-model", "[test-model]", `error llm.model: the service has no model "tset-model"; near it are test-model`, "ok    model test-model",
		"is written", "lastword check --config", "@l_bot")
	wantOnly(t, dir, "config.yaml")

	file := filepath.Join(dir, "config.yaml")
	cfg, err := loadConfig(file)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Telegram.Token != testToken || string(cfg.LLM.APIKey) != testKey || cfg.LLM.BaseURL != url || cfg.LLM.Model != "test-model" {
		t.Error("the file does not hold the answers")
	}
	if info, _ := os.Stat(file); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	data, _ := os.ReadFile(file)
	for line := range strings.Lines(exampleConfig) {
		if strings.Contains(line, "#") && !bytes.Contains(data, []byte(line)) {
			t.Errorf("the file lacks %q", line)
		}
	}
	var out bytes.Buffer
	if code := check(t.Context(), file, &out); code != 0 {
		t.Errorf("check says\n%s", out.String())
	}
}

func TestInitByFlags(t *testing.T) {
	s := newServices(t)
	url, token, key := "--llm-url="+s.model.URL+"/v1", "--telegram-token="+testToken, "--llm-key="+testKey
	for _, x := range []struct {
		name    string
		args    []string
		answers string
		code    int
		want    []string
		asked   bool
	}{
		{"all of them", []string{token, url, key, "--llm-model=test-model"}, "", 0, []string{"is written"}, false},
		{"yes", []string{"--yes", token, url, key, "--llm-model=test-model"}, "", 0, []string{"is written"}, false},
		{"one is missing", []string{token, url, key}, "\n", 0, []string{"Model, by name or number [test-model]: ", "is written"}, true},
		{"one does not work", []string{token, url, "--llm-key=sk-wrong"}, testKey + "\n\n", 0, []string{"error llm.api_key", "Key", "is written"}, true},
		{"yes, no token", []string{"--yes", url, key, "--llm-model=test-model"}, "", 2, []string{"--telegram-token is missing", "Usage"}, false},
		{"yes, no model", []string{"--yes", token, url, key}, "", 2, []string{"--llm-model is missing", "Usage"}, false},
		{"yes, wrong token", []string{"--yes", "--telegram-token=" + wrongToken, url, key, "--llm-model=test-model"}, "", 1, []string{"telegram.token: Telegram refuses it"}, false},
		{"yes, no key", []string{"--yes", token, url, "--llm-model=test-model"}, "", 1, []string{"llm.api_key: the key was refused"}, false},
		{"all, wrong model", []string{token, url, key, "--llm-model=x"}, "", 1, []string{"llm.model: the service has no model"}, false},
		{"all, line breaks", []string{token, url, key, "--llm-model=a\nb"}, "", 1, []string{"llm.model: has characters"}, false},
		{"help", []string{"--help"}, "", 0, []string{"Usage"}, false},
		{"secret as a word", []string{"--yes", testKey}, "", 2, []string{"a word too many", "Usage"}, false},
		{"secret as a flag", []string{"--" + testKey}, "", 2, []string{"unknown flag", "Usage"}, false},
		{"secret as a truth", []string{"--yes=" + testKey}, "", 2, []string{"unknown flag", "Usage"}, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			code, printed, dir := initIn(t, s, x.answers, x.args...)
			if code != x.code {
				t.Errorf("ended with %d, want %d", code, x.code)
			}
			wantOrder(t, printed, x.want...)
			if asked := strings.Contains(printed, ": \n"); asked != x.asked {
				t.Errorf("asked: %v\n%s", asked, printed)
			}
			if strings.Contains(printed, "is written") {
				wantOnly(t, dir, "config.yaml")
			} else {
				wantOnly(t, dir)
			}
		})
	}
}

func TestInitLeavesFilesAlone(t *testing.T) {
	s := newServices(t)
	s.telegram.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("something was tried") })
	file := filepath.Join(t.TempDir(), "config.yaml")
	write(t, file, "mine", 0o600)
	code, printed := initAt(t, s, file, testToken+"\n")
	if code != 1 || printed != file+": is there already and stays as it is; move it away, or name another file with --config\n" {
		t.Errorf("ended with %d and %q", code, printed)
	}
	if data, _ := os.ReadFile(file); string(data) != "mine" {
		t.Error("the file has changed")
	}

	missing := filepath.Join(t.TempDir(), "no", "config.yaml")
	if code, printed := initAt(t, s, missing, ""); code != 1 || !strings.Contains(printed, missing+": cannot be written: ") || !strings.Contains(printed, "make its folder first") {
		t.Errorf("no folder: ended with %d and %q", code, printed)
	}
}

func TestInitInAReadOnlyFolder(t *testing.T) {
	s := newServices(t)
	locked := t.TempDir()
	if err := os.Chmod(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	if os.WriteFile(filepath.Join(locked, "x"), nil, 0o600) == nil {
		t.Skip("folders cannot be made read-only for whoever runs this test")
	}
	if code, printed := initAt(t, s, filepath.Join(locked, "config.yaml"), ""); code != 1 || !strings.Contains(printed, "config.yaml: cannot be written: permission denied; name a file") {
		t.Errorf("a read-only folder: ended with %d and %q", code, printed)
	}
}

// A file that appears while questions are asked is not overwritten either.
func TestInitLosesARace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	write(t, file, "mine", 0o600)
	if err := writeNew(file, "ours"); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("got %v", err)
	}
	if data, _ := os.ReadFile(file); string(data) != "mine" {
		t.Error("the file has changed")
	}
	wantOnly(t, dir, "config.yaml")
}

func TestInitThatIsCutShort(t *testing.T) {
	s := newServices(t)
	whole := []string{testToken, s.model.URL + "/v1", testKey, "test-model"}
	for n := range whole {
		code, printed, dir := initIn(t, s, strings.Join(whole[:n], "\n"))
		if code != 1 || !strings.Contains(printed, "the input ended before everything was answered; nothing was written") {
			t.Errorf("%d answers: ended with %d and\n%s", n, code, printed)
		}
		wantOnly(t, dir)
	}
	if code, printed, _ := initIn(t, s, strings.Repeat("x\n", 1000)); code != 1 || !strings.Contains(printed, "too many answers") {
		t.Errorf("no end of answers: ended with %d and\n%s", code, printed)
	}
	if code, printed, _ := initIn(t, s, strings.Repeat("x", 1<<20)); code != 1 || !strings.Contains(printed, "far too long") {
		t.Errorf("no end of an answer: ended with %d and\n%s", code, printed)
	}

	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	var out bytes.Buffer
	file := filepath.Join(t.TempDir(), "config.yaml")
	code := setUp(ctx, []string{"--config", file}, readerFunc(func(p []byte) (int, error) { cancel(); return r.Read(p) }), &out, &out)
	if code != 1 || !strings.Contains(out.String(), "interrupted; nothing was written") {
		t.Errorf("interrupted: ended with %d and %q", code, out.String())
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// anyModel is a service that takes every model and one key. public says whether
// it lists its models for everybody.
func anyModel(t *testing.T, key string, public bool, names ...string) string {
	list := `{"data":[`
	for i, n := range names {
		list += fmt.Sprintf(`%s{"id":%q}`, []string{"", ","}[min(i, 1)], n)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isList := strings.HasSuffix(r.URL.Path, "/models")
		switch {
		case r.Header.Get("Authorization") != strings.TrimSuffix("Bearer "+key, "Bearer ") && !(public && isList):
			w.WriteHeader(http.StatusUnauthorized)
		case isList && len(names) == 0:
			w.WriteHeader(http.StatusNotFound)
		case isList:
			fmt.Fprint(w, list+"]}")
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// Whatever an answer looks like to YAML and to the decoder, it is what the file
// says.
func TestInitWritesAnyValue(t *testing.T) {
	s := newServices(t)
	t.Setenv("HOME", "elsewhere")
	for _, value := range []string{
		"it's", `say"it`, "a: b", "#x", "x #y", "${HOME}", "$${HOME}", "$$${HOME}", "${", "$", "{a}", "[a", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "-", "- a", "?",
		"null", "~", "true", "5", "1e3", "a\\nb", `\`, "'", "''", "'${HOME}'", "---", "größer, 模型",
	} {
		key := strings.Map(func(r rune) rune {
			if r <= ' ' || r > '~' {
				return '_'
			}
			return r
		}, value)
		code, printed, dir := initIn(t, s, strings.Join([]string{testToken, anyModel(t, key, false), key, value}, "\n"))
		if code != 0 {
			t.Errorf("%q: ended with %d:\n%s", value, code, printed)
			continue
		}
		cfg, err := loadConfig(filepath.Join(dir, "config.yaml"))
		if err != nil || string(cfg.LLM.APIKey) != key || cfg.LLM.Model != value {
			t.Errorf("%q: the file says %q, %q, %v", value, string(cfg.LLM.APIKey), cfg.LLM.Model, err)
		}
	}
}

// A list that everybody gets says nothing about the key: the model is asked.
func TestInitTriesTheKeyOfAPublicList(t *testing.T) {
	s := newServices(t)
	url := anyModel(t, testKey, true, "m")
	code, printed, _ := initIn(t, s, strings.Join([]string{testToken, url, "sk-wrong", "m", testKey}, "\n"))
	if code != 0 {
		t.Errorf("ended with %d", code)
	}
	wantOrder(t, printed, "ok    the key will be tried together with the model", "error llm.api_key: the key was refused", "ok    model m")
}

func TestInitWithoutAKey(t *testing.T) {
	s := newServices(t)
	code, printed, dir := initIn(t, s, strings.Join([]string{testToken, anyModel(t, "", true, "llama:latest", "qwen"), "", "", "llama"}, "\n"))
	if code != 0 {
		t.Errorf("ended with %d", code)
	}
	wantOrder(t, printed, "ok    no key", "1  llama:latest", "2  qwen", "Model, by name or number: ", "error llm.model: is missing", "ok    model llama")
	if cfg, err := loadConfig(filepath.Join(dir, "config.yaml")); err != nil || cfg.LLM.APIKey != "" {
		t.Errorf("the file says otherwise: %v", err)
	}
}

func TestInitWithALongList(t *testing.T) {
	s := newServices(t)
	names := []string{"gpt-4o-mini", "other/a", "other/b"}
	for i := range 40 {
		names = append(names, fmt.Sprintf("maker/model-%02d", i))
	}
	url := anyModel(t, testKey, false, names...)
	code, printed, dir := initIn(t, s, strings.Join([]string{testToken, url, testKey, "maker", "OTHER", "2"}, "\n"))
	if code != 0 {
		t.Errorf("ended with %d", code)
	}
	wantOrder(t, printed, "Model, of 43;", "[gpt-4o-mini]: ", "Model, of 40;", "1  other/a", "2  other/b", "ok    model other/b")
	if cfg, err := loadConfig(filepath.Join(dir, "config.yaml")); err != nil || cfg.LLM.Model != "other/b" {
		t.Errorf("the file says %q, %v", cfg.LLM.Model, err)
	}
}
