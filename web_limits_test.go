package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestWebLimits(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		p.say("long", strings.Repeat("я", w.config.MaxMessage+1))
		p.say("blank", " \n")
		p.say("not an id!", "x")
		p.say("ok", "#1")
		p.wantAcks("ok", "long too_long", "blank empty", " bad_request")
		for i := range 30 {
			p.say("fast"+strings.Repeat("x", i), "#2")
		}
		if n := p.of("message_nack"); n[len(n)-1].Code != "too_fast" {
			t.Errorf("the last of 30 at once: %+v", n[len(n)-1])
		}
		if p.code() != -1 {
			t.Errorf("closed with %d", p.code())
		}
		go func() { // 10 MB in one frame; the server stops reading on the way
			_ = p.socket.Write(w.t.Context(), websocket.MessageText, make([]byte, 10<<20))
		}()
		w.after(15 * time.Second)
		if p.code() != websocket.StatusMessageTooBig {
			t.Errorf("10 MB: closed with %d, %v", p.code(), p.closed)
		}
	})
}

func TestWebHostileOrigin(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		for _, origin := range []string{"http://evil.example", "http://127.0.0.1:8081", "https://127.0.0.1:8080", "http://127.0.0.1:8080.evil.example", "null", ""} {
			_, response, _, err := w.dialPage(origin)
			if err == nil || response == nil || response.StatusCode != http.StatusForbidden {
				t.Errorf("origin %q: %v", origin, err)
			}
		}
	})
}

func TestWebSillyFrames(t *testing.T) {
	for _, data := range []string{"", "{}", `{"v":2,"type":"hello"}`, `{"v":1,"type":"message"}`, `[1]`, `{"v":1,"type":"hello","after":-1}`} {
		inWebWorld(t, func(t *testing.T, w *webWorld) {
			socket, _, raw, err := w.dialPage(webOrigin)
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			_ = socket.Write(t.Context(), websocket.MessageText, []byte(data))
			if _, _, err := socket.Read(t.Context()); websocket.CloseStatus(err) != 4000 {
				t.Errorf("%q: %v", data, err)
			}
		})
	}
}

func TestWebTooManyConnections(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		w.stop()
		w.config.MaxConnections = 1
		w.start()
		w.open(0, false)
		_, response, _, err := w.dialPage(webOrigin)
		if err == nil || response == nil || response.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("one too many: %v", err)
		}
	})
}

func TestWebTooManyFrames(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		for range 300 {
			p.trySend(map[string]any{"type": "ping"})
		}
		w.after(time.Second)
		if p.code() != 4008 {
			t.Errorf("closed with %d", p.code())
		}
	})
}

func TestWebPages(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		r, _ := w.get("/")
		cookies := r.Cookies()
		if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode || len(cookies[0].Value) != 43 {
			t.Errorf("cookies %v", cookies)
		}
		if policy := r.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("policy %q", policy)
		}
		if r, _ := w.get("/", cookies[0]); len(r.Cookies()) != 0 {
			t.Error("a second visit changes the secret")
		}
		if r, _ := w.get("/embed"); !strings.Contains(r.Header.Get("Content-Security-Policy"), "frame-ancestors 'self' "+webOrigin) {
			t.Errorf("policy of the widget %q", r.Header.Get("Content-Security-Policy"))
		}
		for _, path := range []string{"/owner", "/owner?code=", "/index.html", "/nothing"} {
			if r, _ := w.get(path); r.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %s", path, r.Status)
			}
		}
	})
}
