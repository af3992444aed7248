//go:build browser && unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// shot takes a screenshot into the folder that LASTWORD_SHOTS names, if it does.
func (b *tab) shot(name string) {
	b.t.Helper()
	data, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if len(data) < 5000 {
		b.t.Errorf("the screenshot %s has %d bytes", name, len(data))
	}
	if dir := os.Getenv("LASTWORD_SHOTS"); dir != "" {
		if err = os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600); err != nil {
			b.t.Error(err)
		}
	}
}

func TestBrowserScreenshots(t *testing.T) {
	b := newBrowser(t, startDemo(t).link)
	b.say("markdown")
	b.answered(1)
	b.say("what about apples")
	b.say("and pears")
	b.answered(2)
	b.say("slow")
	b.until("a draft", writing)
	b.say("and one thing more")
	b.until("a new draft", `document.querySelector('#draft:not([hidden])') && document.querySelector('#inspector').innerText.includes('superseded')`)
	b.until("words in it", writing)
	for _, size := range []struct {
		name          string
		width, height int64
	}{{"desktop", 1280, 800}, {"phone", 390, 844}} {
		b.run(chromedp.EmulateViewport(size.width, size.height))
		for _, theme := range []string{"light", "dark"} {
			b.run(chromedp.Evaluate[chromedp.Void](`document.documentElement.dataset.theme = '` + theme + `'; document.querySelector('#inspector').hidden = innerWidth < 900`))
			b.shot(size.name + "-" + theme)
			if wide := eval[bool](b, `document.documentElement.scrollWidth > innerWidth`); wide {
				t.Errorf("at %s width the page scrolls sideways", size.name)
			}
		}
		b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('#inspector').hidden = false`))
		b.shot(size.name + "-inspector")
	}
}

func TestBrowserScreenshotsOfTrouble(t *testing.T) {
	d := startDemo(t)
	b := newBrowser(t, d.link)
	b.say("fail")
	b.until("it has failed", `document.querySelector('#log .notice')`)
	b.say("Почему?")
	b.answered(1)
	b.run(chromedp.SendKeys("#text", kb.ArrowUp))
	b.shot("desktop-editing")
	o := b.another("http://" + d.address + "/")
	o.run(chromedp.EmulateViewport(390, 844))
	o.until("it is told", `!document.querySelector('#elsewhere').hidden`)
	o.language("zh")
	o.shot("phone-elsewhere-zh")
	o.run(chromedp.Click("#take"))
	o.until("it goes on", `document.querySelector('#link').classList.contains('online')`)
	o.language("ru")
	o.say("stall")
	o.until("a draft", writing)
	o.shot("phone-draft-ru")
	d.kill()
	o.until("it is offline", `document.querySelector('#status').className === 'offline'`)
	o.say("Вы здесь?")
	o.shot("phone-offline-ru")
	if wide := eval[bool](o, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the page scrolls sideways")
	}
}

// language chooses one.
func (b *tab) language(code string) {
	b.t.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("(() => { const s = document.querySelector('#language'); s.value = %q; s.onchange(); })()", code)))
}
