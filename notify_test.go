package main

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A listener is a supervisor that writes down what it hears and when.
type listener struct {
	mu    sync.Mutex
	start time.Time
	heard []string
}

func (l *listener) tell(state string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, state+" "+time.Since(l.start).String())
	return nil
}

func TestSupervisorHears(t *testing.T) {
	works := func(context.Context) error { return nil }
	var never chan struct{} // nil: one from outside a bubble would stop its clock
	connected := make(chan struct{})
	close(connected)
	for _, x := range []struct {
		name      string
		every     time.Duration
		beat      func(context.Context) error
		connected chan struct{}
		want      []string // within 70 s
	}{
		{"all is well", 60 * time.Second, works, connected, []string{"READY=1 0s", "WATCHDOG=1 0s", "WATCHDOG=1 30s", "WATCHDOG=1 1m0s", "STOPPING=1 1m10s"}},
		{"no watchdog", 0, works, connected, []string{"READY=1 0s", "STOPPING=1 1m10s"}},
		{"no Telegram", 60 * time.Second, works, never, []string{"READY=1 30s", "WATCHDOG=1 30s", "WATCHDOG=1 1m0s", "STOPPING=1 1m10s"}},
		{"an engine that never starts", 60 * time.Second, until(never), connected, []string{"STOPPING=1 1m10s"}},
		{"an engine that hangs after a while", 20 * time.Second, after(25*time.Second, until(never)), connected,
			[]string{"READY=1 0s", "WATCHDOG=1 0s", "WATCHDOG=1 10s", "WATCHDOG=1 20s", "STOPPING=1 1m10s"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 70*time.Second)
				defer cancel()
				l := &listener{start: time.Now()}
				s := &supervisor{tell: l.tell, every: x.every, log: slog.New(slog.DiscardHandler)}
				s.inform(ctx, x.beat, x.connected)
				if !slices.Equal(l.heard, x.want) {
					t.Errorf("heard %q, want %q", l.heard, x.want)
				}
			})
		})
	}
}

// until is a beat that waits for a channel.
func until(c chan struct{}) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-c:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// after is a beat that works at once, until some time has passed.
func after(d time.Duration, beat func(context.Context) error) func(context.Context) error {
	var start time.Time
	return func(ctx context.Context) error {
		if start.IsZero() {
			start = time.Now()
		}
		if time.Since(start) < d {
			return nil
		}
		return beat(ctx)
	}
}

// The whole process tells a real socket, by path or by an abstract name.
func TestProcessTellsItsSupervisor(t *testing.T) {
	dir, err := os.MkdirTemp("", "n") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	addresses := []string{filepath.Join(dir, "notify")}
	if runtime.GOOS == "linux" {
		addresses = append(addresses, "@lastword-test-"+filepath.Base(dir))
	}
	for _, address := range addresses {
		socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
		if err != nil {
			t.Skip("no such sockets here:", err)
		}
		t.Cleanup(func() { socket.Close() })
		t.Setenv("NOTIFY_SOCKET", address)
		t.Setenv("WATCHDOG_USEC", "2000")
		hear := func() string {
			t.Helper()
			_ = socket.SetReadDeadline(time.Now().Add(30 * time.Second))
			data := make([]byte, 100)
			n, err := socket.Read(data)
			if err != nil {
				t.Fatal(err)
			}
			return string(data[:n])
		}
		s := newServices(t)
		stop := process(s.config(t.TempDir(), testKey), &safeBuffer{})
		for _, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1"} {
			if got := hear(); got != want {
				t.Errorf("heard %q, want %q", got, want)
			}
		}
		ended := make(chan int, 1)
		go func() { ended <- stop() }()
		for got := hear(); got != "STOPPING=1"; got = hear() {
			if got != "WATCHDOG=1" {
				t.Errorf("heard %q", got)
			}
		}
		if code := <-ended; code != 0 {
			t.Errorf("ended with %d", code)
		}
	}
}

// A start that fails is not reported as one that went well.
func TestRefusedStartIsNotReady(t *testing.T) {
	address := filepath.Join(t.TempDir(), "gone") // nobody listens: it costs a warning, no more
	t.Setenv("NOTIFY_SOCKET", address)
	s := newServices(t)
	file := s.config(t.TempDir(), testKey)
	data, _ := os.ReadFile(file)
	write(t, file, strings.ReplaceAll(string(data), "AAsecret", "BBsecret"), 0o600)
	var out bytes.Buffer
	if code := command(t.Context(), []string{"--config", file}, &out, &out); code != 1 {
		t.Errorf("ended with %d", code)
	}
	if strings.Contains(out.String(), "READY=1") || !strings.Contains(out.String(), "STOPPING=1") {
		t.Errorf("the log says\n%s", out.String())
	}
}
