package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// An arrow is an import: from a file of a package to another package.
type arrow struct {
	file   string // slash-separated, from the root
	target string // import path
}

// dir is the folder of the importing file, "." for main.
func (a arrow) dir() string { return path.Dir(a.file) }

// inTest reports whether the arrow starts in code that is not in the binary:
// a test file, or a package whose name ends in test.
func (a arrow) inTest() bool {
	return strings.HasSuffix(a.file, "_test.go") || isTestPackage(a.dir())
}

// isTestPackage goes by the name, as the standard library's do: httptest,
// iotest, conversationtest.
func isTestPackage(dir string) bool {
	return dir != "." && strings.HasSuffix(path.Base(dir), "test")
}

// part is the part of the program that a path belongs to: bot for lastword/bot
// and lastword/bot/markup; empty for other modules and for main.
func part(importPath string) string {
	rest, ours := strings.CutPrefix(importPath, "lastword/")
	if !ours {
		return ""
	}
	first, _, _ := strings.Cut(rest, "/")
	return first
}

func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return first != "lastword" && !strings.Contains(first, ".")
}

// A rule forbids arrows, for a reason.
type rule struct {
	forbids func(a arrow) bool
	because string
}

var rules = []rule{
	{func(a arrow) bool {
		return a.dir() == "conversation" && !a.inTest() && !isStandard(a.target)
	}, "conversation imports the standard library only: the engine is read, tested and simulated alone, and no library decides what it can promise"},

	{func(a arrow) bool {
		return part("lastword/"+a.dir()) == "conversation" && (a.target == "net/http" || strings.HasPrefix(a.target, "net/http/"))
	}, "conversation does no network I/O, tests included: it knows Channel and Model, and its time is that of a synctest bubble, which sockets do not obey"},

	{func(a arrow) bool {
		allowed := isStandard(a.target) || isTestLibrary(a.target) || part(a.target) == "conversation" || a.target == "lastword/storage"
		return a.dir() == "conversation" && a.inTest() && !allowed
	}, "the engine's tests use fakes, rapid, goleak and the real store, nothing else: a failure must be the engine's"},

	{func(a arrow) bool {
		allowed := isStandard(a.target) || isTestLibrary(a.target) || part(a.target) == "conversation"
		return a.dir() == "conversation/conversationtest" && !allowed
	}, "the fakes and the suite know no implementation: every store, model and channel has to pass the same"},

	{func(a arrow) bool {
		from, to := part("lastword/"+a.dir()), part(a.target)
		return isAdapter(from) && isAdapter(to) && from != to
	}, "bot, llm, storage and web never import one another: each can be replaced alone, they meet in main only"},

	{func(a arrow) bool {
		test := isTestPackage(a.target) || isTestLibrary(a.target) || a.target == "testing" || strings.HasPrefix(a.target, "testing/")
		return !a.inTest() && test
	}, "fakes and test libraries stay out of the binary: what they register and weigh is for tests"},

	{func(a arrow) bool {
		return a.target == "lastword"
	}, "nothing imports main: it wires the others together, so all would depend on all"},
}

func isTestLibrary(importPath string) bool {
	return importPath == "pgregory.net/rapid" || importPath == "go.uber.org/goleak" || strings.HasPrefix(importPath, "github.com/chromedp/")
}

// isAdapter reports whether a part connects the engine to the outside world.
// All parts do but the engine.
func isAdapter(part string) bool { return part != "" && part != "." && part != "conversation" }

func TestArrows(t *testing.T) {
	all := arrows(t)
	if len(all) == 0 {
		t.Fatal("no imports found")
	}
	for _, a := range all {
		for _, because := range broken(a) {
			t.Errorf("%s imports %s, but %s", a.file, a.target, because)
		}
	}
}

// broken lists the reasons why an arrow must not be.
func broken(a arrow) []string {
	var reasons []string
	for _, r := range rules {
		if r.forbids(a) {
			reasons = append(reasons, r.because)
		}
	}
	return reasons
}

// arrows lists the imports of all Go files, whatever their build tags.
func arrows(t *testing.T) []arrow {
	var all []arrow
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "vendor") {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(base) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			all = append(all, arrow{filepath.ToSlash(name), target})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A rule that forbids nothing would pass as well.
func TestArrowRules(t *testing.T) {
	for _, x := range []struct {
		file, target string
		rules        int // that it breaks
	}{
		{"conversation/engine.go", "time", 0},
		{"conversation/engine.go", "net/http", 1},
		{"conversation/engine.go", "lastword/llm", 1},
		{"conversation/engine.go", "go.etcd.io/bbolt", 1},
		{"conversation/engine.go", "lastword/conversation/conversationtest", 2},
		{"conversation/engine.go", "testing", 1},
		{"conversation/walk_test.go", "lastword/storage", 0},
		{"conversation/walk_test.go", "pgregory.net/rapid", 0},
		{"conversation/walk_test.go", "lastword/conversation/conversationtest", 0},
		{"conversation/walk_test.go", "lastword/llm", 1},
		{"conversation/walk_test.go", "net/http/httptest", 1},
		{"conversation/conversationtest/store.go", "testing", 0},
		{"conversation/conversationtest/store.go", "lastword/storage", 1},
		{"bot/send.go", "lastword/bot/markup", 0},
		{"bot/send.go", "lastword/conversation", 0},
		{"bot/markup/render.go", "lastword/storage", 1},
		{"llm/client_test.go", "lastword/bot", 1},
		{"llm/client_test.go", "net/http/httptest", 0},
		{"storage/bolt.go", "lastword/llm", 1},
		{"web/outbound.go", "lastword/conversation", 0},
		{"web/outbound.go", "lastword/bot", 1},
		{"web/outbound_test.go", "lastword/storage", 1},
		{"storage/bolt.go", "go.uber.org/goleak", 1},
		{"storage/bolt_test.go", "lastword/conversation/conversationtest", 0},
		{"main.go", "lastword/storage", 0},
		{"main.go", "lastword/conversation/conversationtest", 1},
		{"bot/send.go", "lastword", 1},
	} {
		if got := broken(arrow{x.file, x.target}); len(got) != x.rules {
			t.Errorf("%s → %s breaks %d rules, want %d: %q", x.file, x.target, len(got), x.rules, got)
		}
	}
}
