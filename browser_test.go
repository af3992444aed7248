//go:build browser && unix

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestBrowserBurst(t *testing.T) {
	b := newBrowser(t, startDemo(t).link)
	b.say("apples")
	b.say("pears")
	b.say("plums")
	shown := b.answered(1)
	if !strings.Contains(shown[3], "3 lines") || !strings.Contains(shown[3], "plums") {
		t.Errorf("shown %q", shown)
	}
	if title := eval[string](b, `document.title`); title != "lastword" {
		t.Errorf("title %q", title)
	}
}

func TestBrowserMessageInMidAnswer(t *testing.T) {
	b := newBrowser(t, startDemo(t).link)
	b.say("slow")
	b.until("a draft", writing)
	b.say("and cherries")
	b.until("the page says that the answer is redone", `document.querySelector('.discarded')`)
	b.until("the page says so in words", `document.querySelector('#status').textContent.includes('redone')`)
	b.until("the inspector shows it", `document.querySelector('#inspector').innerText.includes('superseded')`)
	b.run(chromedp.Click("#stop"))
	b.until("it is stopped", `document.querySelector('#status').className !== 'generating'`)
}

func TestBrowserMessageIsBuffered(t *testing.T) {
	b := newBrowser(t, startDemo(t, "--finish").link)
	b.say("apples")
	b.until("a draft", writing)
	b.say("pears")
	b.say("plums")
	b.until("the place is shown", `[...document.querySelectorAll('.user .place')].some((e) => e.textContent.includes('· 2'))`)
	shown := b.answered(2)
	if !strings.Contains(shown[4], "2 lines") {
		t.Errorf("shown %q", shown)
	}
}

func TestBrowserRefreshInMidAnswer(t *testing.T) {
	b := newBrowser(t, startDemo(t).link)
	b.say("apples")
	b.until("a draft", writing)
	b.run(chromedp.Reload())
	b.until("the page is connected", `document.querySelector('#link').classList.contains('online')`)
	b.until("the draft goes on", writing)
	b.answered(1)
}

func TestBrowserSecondTab(t *testing.T) {
	d := startDemo(t)
	b := newBrowser(t, d.link)
	b.say("apples")
	o := b.another("http://" + d.address + "/")
	o.until("the second is told", `!document.querySelector('#elsewhere').hidden`)
	if !eval[bool](b, `document.querySelector('#elsewhere').hidden`) {
		t.Error("the first was closed without a reason")
	}
	o.run(chromedp.Click("#take"))
	o.until("the second goes on", `document.querySelector('#link').classList.contains('online')`)
	o.answered(1)
	b.until("the first is told", `!document.querySelector('#elsewhere').hidden`)
}

// The network is cut when the message has left and the acknowledgement has not
// come.
func TestBrowserCutBeforeTheAck(t *testing.T) {
	d := startDemo(t)
	p := newProxy(t, d.address)
	b := newBrowser(t, d.link, chromedp.Flag("host-resolver-rules", "MAP 127.0.0.1 "+p.listener.Addr().String()))
	p.deaf.Store(true)
	b.say("apples")
	time.Sleep(500 * time.Millisecond) // for the message to get through
	if n := eval[int](b, `document.querySelectorAll('.unsent').length`); n != 1 {
		t.Fatalf("%d messages wait for their acknowledgement", n)
	}
	p.down.Store(true)
	p.cut()
	b.until("the page says that it is offline", `document.querySelector('#status').className === 'offline'`)
	p.deaf.Store(false)
	p.down.Store(false)
	b.until("it is acknowledged", `document.querySelectorAll('.unsent').length === 0 && document.querySelectorAll('#log .user').length === 1`)
	if shown := b.answered(1); !strings.Contains(shown[1], "call no. 1") {
		t.Errorf("shown %q", shown)
	}
}

func TestBrowserKilledInMidAnswer(t *testing.T) {
	d := startDemo(t)
	b := newBrowser(t, d.link)
	b.say("apples")
	b.say("pears")
	b.until("a draft", writing)
	d.kill()
	b.until("the page says that it is offline", `document.querySelector('#status').className === 'offline'`)
	b.say("plums, while nobody is there")
	d.start()
	b.until("the page is connected", `document.querySelector('#link').classList.contains('online')`)
	b.until("everything is answered", `document.querySelector('#log').innerText.includes('3 lines')`)
	shown := b.answered(1)
	if count(shown, "user") != 3 {
		t.Errorf("shown %q", shown)
	}
	b.run(chromedp.Reload())
	if again := b.answered(1); strings.Join(again, "|") != strings.Join(shown, "|") {
		t.Errorf("before %q, after a reload %q", shown, again)
	}
}

func TestBrowserOrderAfterReload(t *testing.T) {
	b := newBrowser(t, startDemo(t).link)
	for i := range 3 {
		b.say(fmt.Sprintf("number %d", i))
		b.answered(i + 1)
	}
	before := b.shown()
	b.run(chromedp.Reload())
	if after := b.answered(3); strings.Join(after, "|") != strings.Join(before, "|") || count(after, "user") != 3 {
		t.Errorf("before %q, after %q", before, after)
	}
}

func TestBrowserHostileOrigin(t *testing.T) {
	d := startDemo(t)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<!doctype html><span id=link class=online></span><script>
			const s = new WebSocket('ws://%s/socket');
			s.onopen = () => { document.title = 'open'; };
			s.onclose = (e) => { document.title = 'closed ' + e.code; };
		</script>`, d.address)
	}))
	defer evil.Close()
	b := newBrowser(t, evil.URL)
	b.until("it is refused", `document.title === 'closed 1006'`)
}

func TestBrowserOversizeMessage(t *testing.T) {
	b := newBrowser(t, startDemo(t).link)
	long := strings.Repeat("x", 8001)
	b.fill(long)
	b.run(chromedp.Click("#send"))
	b.until("the page says so", `document.querySelector('#toast').textContent.includes('8000')`)
	// Past the page's own check, the server says the same, and goes on.
	b.run(chromedp.Evaluate[chromedp.Void](`localStorage.setItem('lastword.unsent', JSON.stringify([{type: 'message', client_msg_id: 'long', text: 'x'.repeat(8001)}]))`))
	b.run(chromedp.Reload())
	b.until("the server says so", `document.querySelector('#toast').textContent.includes('8000')`)
	b.fill("")
	b.say("short")
	b.answered(1)
}

func TestBrowserHTMLIsText(t *testing.T) {
	b := newBrowser(t, startDemo(t).link)
	b.say("html")
	shown := b.answered(1)
	if !strings.Contains(shown[1], "<script>document.title = 'owned'</script>") || !strings.Contains(shown[1], "<b>not bold</b>") {
		t.Errorf("shown %q", shown)
	}
	if n := eval[int](b, `document.querySelectorAll('#log script, #log img, #log b, #log a[href^="javascript"]').length`); n != 0 {
		t.Errorf("%d elements of the model's", n)
	}
	if title := eval[string](b, `document.title`); title != "lastword" {
		t.Errorf("title %q", title)
	}
}

func TestBrowserEditAndRegenerateAndReset(t *testing.T) {
	b := newBrowser(t, startDemo(t).link)
	b.say("apples")
	b.answered(1)
	b.run(chromedp.SendKeys("#text", kb.ArrowUp)) // with the keyboard
	b.until("it is being edited", `document.querySelector('#text').value === 'apples'`)
	b.fill("")
	b.say("oranges")
	b.until("the answer is rewritten", `document.querySelector('#log .bot').innerText.includes('oranges')`)
	if shown := b.answered(1); len(shown) != 2 || shown[0] != "user: oranges" {
		t.Errorf("shown %q", shown)
	}
	b.run(chromedp.Click(".tool.regenerate"))
	b.until("there is another answer", `document.querySelector('#log .bot').innerText.includes('call no. 3')`)
	b.answered(1)
	b.run(chromedp.Click("#reset"))
	b.until("it is confirmed", `document.querySelector('#log .notice')`)
	b.say("pears")
	b.answered(2)
}

func TestBrowserStop(t *testing.T) {
	b := newBrowser(t, startDemo(t).link)
	b.say("slow")
	b.until("a draft", writing)
	b.run(chromedp.KeyEvent(kb.Escape))
	if shown := b.answered(1); !strings.Contains(shown[1], "⏹") {
		t.Errorf("shown %q", shown)
	}
}

func TestBrowserLanguages(t *testing.T) {
	b := newBrowser(t, startDemo(t).link)
	for language, hint := range map[string]string{"ru": "Сообщение", "zh": "消息", "en": "Message"} {
		b.language(language)
		if got := eval[string](b, `document.querySelector('#text').placeholder`); got != hint {
			t.Errorf("%s: %q", language, got)
		}
	}
	// Each button and box has a name for a screen reader.
	nameless := eval[[]string](b, `[...document.querySelectorAll('button, textarea, select, aside, ol[role]')]
		.filter((e) => !e.getAttribute('aria-label') && !e.innerText.trim()).map((e) => e.outerHTML)`)
	if len(nameless) > 0 {
		t.Errorf("without a name: %q", nameless)
	}
}

// Enter sends, and Shift and Enter is a new line.
func TestBrowserEnter(t *testing.T) {
	b := newBrowser(t, startDemo(t).link)
	b.enter("one", 8) // shift
	b.enter("two", 0)
	b.until("it is sent, without what Enter would add", `document.querySelector('#log .user .body')?.textContent === 'one\ntwo' && document.querySelector('#text').value === ''`)
}

// enter types a text and Enter, as a keyboard does: a key that the page handles
// itself adds nothing to the text.
func (b *tab) enter(text string, modifiers int64) {
	b.t.Helper()
	b.run(chromedp.SendKeys("#text", text))
	b.run(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		down := input.DispatchKeyEventParams{Type: "keyDown", Key: "Enter", Code: "Enter", Text: "\r", WindowsVirtualKeyCode: 13, Modifiers: modifiers}
		up := down
		up.Type, up.Text = "keyUp", ""
		_, err := cdp.Call(ctx, target, input.DispatchKeyEvent, down)
		if err == nil {
			_, err = cdp.Call(ctx, target, input.DispatchKeyEvent, up)
		}
		return err
	}))
}

// The chat on another site, which the configuration allows.
func TestBrowserWidget(t *testing.T) {
	s := newServices(t)
	var chat string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>a shop</title><h1>A shop</h1><span id=link class=online></span><script src="http://%s/widget.js" data-open="true" async></script>`, chat)
	}))
	defer site.Close()
	d := startDemo(t) // for a free port
	chat = d.address
	d.kill()
	dir := t.TempDir()
	file := s.config(dir, testKey)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data) + fmt.Sprintf("web: {listen: %q, origins: [%q, %q]}\n", chat, "http://"+chat, site.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := process(file, os.Stderr)
	defer stop()
	b := newBrowser(t, site.URL)
	b.until("the widget is there", `document.querySelector('iframe')?.src.endsWith('/embed')`)
	b.until("the page is drawn", `document.readyState === 'complete'`)
	at := eval[struct{ X, Y float64 }](b, `(({left, bottom, width}) => ({X: left + width / 3, Y: bottom - 36}))(document.querySelector('iframe').getBoundingClientRect())`)
	time.Sleep(time.Second) // a page within a page cannot be looked into from here
	b.run(chromedp.MouseClickXY(at.X, at.Y), chromedp.KeyEvent("hello from the shop"))
	b.run(chromedp.KeyEvent(kb.Enter))
	if got := receive(t, s.asked); got != "hello from the shop" {
		t.Errorf("the model was asked %q", got)
	}
	time.Sleep(time.Second)
	b.shot("widget")
}
