package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestDemo goes from nothing to the first merged answer with one command, and
// finds it there again after a start anew.
func TestDemo(t *testing.T) {
	dir := t.TempDir()
	end := demoRun(t, dir)
	jar, _ := cookiejar.New(nil)
	p := openDemo(t, end.link, jar)
	p.send(map[string]any{"type": "inspect", "on": true})
	p.send(map[string]any{"type": "message", "client_msg_id": "a", "text": "a private question"})
	p.send(map[string]any{"type": "message", "client_msg_id": "b", "text": "and one more"})
	answer := p.wait(func(f string) bool { return strings.Contains(f, `"from":"bot"`) })
	if !strings.Contains(answer, "2 lines") {
		t.Errorf("answered %s", answer)
	}
	p.wait(func(f string) bool {
		return strings.Contains(f, `"type":"inspect"`) && strings.Contains(f, `"outcome":"sent"`)
	})
	for _, f := range p.all {
		isInspection := strings.Contains(f, `"type":"inspect"`)
		if strings.Contains(f, "incarnation") || isInspection && (strings.Contains(f, "owner") || strings.Contains(f, "question")) {
			t.Errorf("I8: a frame holds a secret: %s", f)
		}
	}
	p.socket.CloseNow()
	end.stop()

	again := demoRun(t, dir)
	defer again.stop()
	if again.address() != end.address() {
		t.Errorf("the address was %s and is %s", end.address(), again.address())
	}
	stranger, _ := cookiejar.New(nil)
	if q := openDemo(t, again.link[:strings.Index(again.link, "/owner")]+"/", stranger); strings.Contains(q.wait(isWelcome), `"inspector":true`) {
		t.Error("a stranger may inspect")
	} else {
		q.socket.CloseNow()
	}
	q := openDemo(t, again.link[:strings.Index(again.link, "/owner")]+"/", jar)
	defer q.socket.CloseNow()
	if w := q.wait(isWelcome); !strings.Contains(w, `"inspector":true`) {
		t.Errorf("the owner's page is welcomed with %s", w)
	}
	if h := q.wait(func(f string) bool { return strings.Contains(f, `"type":"history"`) }); strings.Count(h, `"from":"bot"`) != 1 || strings.Count(h, `"from":"user"`) != 2 {
		t.Errorf("I7: after a start anew: %s", h)
	}
}

func isWelcome(f string) bool { return strings.Contains(f, `"type":"welcome"`) }

type runningDemo struct {
	link string
	stop func()
}

func (d runningDemo) address() string {
	u, _ := url.Parse(d.link)
	return u.Host
}

// demoRun runs the command until it is stopped.
func demoRun(t *testing.T, dir string) runningDemo {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, done := &safeBuffer{}, make(chan int, 1)
	go func() { done <- command(ctx, []string{"demo", "--no-browser", "--dir", dir}, out, out) }()
	link := regexp.MustCompile(`http://\S+/owner\?code=\S+`)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if l := link.FindString(out.text()); l != "" {
			return runningDemo{l, func() {
				cancel()
				if code := <-done; code != 0 {
					t.Errorf("the demo ended with %d:\n%s", code, out.text())
				}
			}}
		}
		if time.Now().After(end) {
			cancel()
			t.Fatalf("no address:\n%s", out.text())
		}
	}
}

// demoPage is a client with the cookies of a browser.
type demoPage struct {
	t      *testing.T
	socket *websocket.Conn
	all    []string
}

func openDemo(t *testing.T, link string, jar http.CookieJar) *demoPage {
	t.Helper()
	client := &http.Client{Jar: jar, Timeout: 20 * time.Second}
	r, err := client.Get(link) // follows to the page
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	origin := "http://" + r.Request.URL.Host
	socket, _, err := websocket.Dial(t.Context(), origin+"/socket", &websocket.DialOptions{
		HTTPClient: &http.Client{Jar: jar}, HTTPHeader: http.Header{"Origin": {origin}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &demoPage{t: t, socket: socket}
	p.send(map[string]any{"type": "hello"})
	return p
}

func (p *demoPage) send(f map[string]any) {
	p.t.Helper()
	f["v"] = 1
	data, _ := json.Marshal(f)
	if err := p.socket.Write(p.t.Context(), websocket.MessageText, data); err != nil {
		p.t.Fatal(err)
	}
}

// wait reads frames until one is what is wanted.
func (p *demoPage) wait(wanted func(string) bool) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	for {
		_, data, err := p.socket.Read(ctx)
		if err != nil {
			p.t.Fatal(err)
		}
		p.all = append(p.all, string(data))
		if wanted(string(data)) {
			return string(data)
		}
	}
}

func TestDemoUsage(t *testing.T) {
	for args, want := range map[string]int{"--help": 0, "--unknown": 2, "extra": 2, "--listen nonsense --no-browser": 1, "--telegram nonsense --no-browser": 1} {
		out := &safeBuffer{}
		if code := command(t.Context(), append([]string{"demo", "--dir", t.TempDir()}, strings.Fields(args)...), out, out); code != want || out.text() == "" {
			t.Errorf("lastword demo %s ended with %d, want %d:\n%s", args, code, want, out.text())
		}
	}
}
