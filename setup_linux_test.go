package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// openTerminal returns both ends of a pseudo-terminal: what a person sees and
// types, and what the program reads.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	t.Cleanup(func() { person.Close() })
	var number, unlock int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Skip("no pseudo-terminals here:", errno)
		}
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// At a terminal the secrets do not appear, and the rest does.
func TestInitAtATerminal(t *testing.T) {
	s := newServices(t)
	person, program := openTerminal(t)
	file := filepath.Join(t.TempDir(), "config.yaml")
	code := make(chan int, 1)
	go func() {
		code <- setUp(t.Context(), []string{"--telegram-url", s.telegram.URL, "--config", file}, program, program, program)
		fmt.Fprintln(program, "END")
	}()
	seen := ""
	until := func(text string) {
		t.Helper()
		piece := make([]byte, 1000)
		for from := len(seen); !strings.Contains(seen[from:], text); {
			n, err := person.Read(piece)
			if err != nil {
				t.Fatalf("no %q after\n%s\n%v", text, seen, err)
			}
			seen += string(piece[:n])
		}
	}
	for _, x := range []struct{ question, answer string }{
		{"@BotFather (stays invisible): ", testToken},
		{"/v1]: ", s.model.URL + "/v1"},
		{"Enter for none (stays invisible): ", testKey},
		{"[test-model]: ", "test-model"},
	} {
		until(x.question)
		if _, err := io.WriteString(person, x.answer+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	until("END")
	if c := <-code; c != 0 {
		t.Errorf("ended with %d", c)
	}
	if strings.Contains(seen, testToken) || strings.Contains(seen, testKey) || !strings.Contains(seen, s.model.URL) {
		t.Errorf("I8: at the terminal was seen\n%s", seen)
	}
	if _, err := loadConfig(file); err != nil {
		t.Error(err)
	}
}
