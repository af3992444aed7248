//go:build browser && unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Browser tests drive a real Chromium against the real program, which they kill
// and start again. They need one of these; where there is none they are
// skipped.
var browsers = []string{"chromium", "chromium-browser", "google-chrome"}

// patience bounds what a test waits for.
const patience = 40 * time.Second

// demoProcess is a running "lastword demo".
type demoProcess struct {
	t       *testing.T
	dir     string
	args    []string
	command *exec.Cmd
	link    string // as it is printed
	address string // host:port
}

func startDemo(t *testing.T, args ...string) *demoProcess {
	t.Helper()
	d := &demoProcess{t: t, dir: t.TempDir(), args: args}
	d.start()
	t.Cleanup(d.kill)
	return d
}

var printedLink = regexp.MustCompile(`http://(\S+?)/owner\?code=\S+`)

func (d *demoProcess) start() {
	d.t.Helper()
	d.command = exec.Command(os.Args[0], append([]string{"demo", "--no-browser", "--dir", d.dir}, d.args...)...)
	d.command.Env = append(os.Environ(), asProgram+"=1")
	d.command.Stderr = os.Stderr
	out, err := d.command.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.command.Start(); err != nil {
		d.t.Fatal(err)
	}
	scan := bufio.NewScanner(out)
	for scan.Scan() {
		if m := printedLink.FindStringSubmatch(scan.Text()); m != nil {
			d.link, d.address = m[0], m[1]
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return
		}
	}
	d.t.Fatal("the demo printed no address")
}

// kill is kill -9.
func (d *demoProcess) kill() {
	_ = d.command.Process.Kill()
	_ = d.command.Wait()
}

// tab is a page in a browser.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// newBrowser starts a browser with nothing in it and opens a page.
func newBrowser(t *testing.T, url string, options ...chromedp.ExecAllocatorOption) *tab {
	t.Helper()
	path := ""
	for _, name := range slices.Backward(browsers) {
		if found, err := exec.LookPath(name); err == nil {
			path = found
		}
	}
	if path == "" {
		t.Skip("skipped: no browser is installed (" + strings.Join(browsers, ", ") + ")")
	}
	flags := append([]chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("lang", "en"), chromedp.WindowSize(1280, 800),
	}, options...)
	allocated, cancel := chromedp.NewExecAllocator(context.Background(), flags...)
	t.Cleanup(cancel)
	ctx, cancelTab := chromedp.NewContext(allocated)
	t.Cleanup(cancelTab)
	b := &tab{t, ctx}
	b.run(chromedp.Navigate(url))
	b.until("the page is connected", `document.querySelector('#link')?.classList.contains('online')`)
	return b
}

// another opens another page in the same browser.
func (b *tab) another(url string) *tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	o := &tab{b.t, ctx}
	o.run(chromedp.Navigate(url))
	return o
}

func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx := b.ctx
	if chromedp.FromContext(b.ctx).Target != nil { // the context that starts a browser must outlive this call
		limited, cancel := context.WithTimeout(b.ctx, patience)
		defer cancel()
		ctx = limited
	}
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval evaluates an expression.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// until waits for an expression to be true.
func (b *tab) until(what, expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if eval[bool](b, "!!("+expression+")") {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("in vain: %s; the page shows %q", what, b.shown())
		}
	}
}

// say types a message and sends it.
func (b *tab) say(text string) {
	b.t.Helper()
	b.run(chromedp.SendKeys("#text", text), chromedp.Click("#send"))
}

// fill puts a text into the box.
func (b *tab) fill(text string) {
	b.t.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector('#text').value = %q", text)))
}

// shown lists the messages on the page: "user: text", "bot: text".
func (b *tab) shown() []string {
	b.t.Helper()
	return eval[[]string](b, `[...document.querySelectorAll('#log > .message')].map((e) =>
		[...e.classList].find((c) => ['user', 'bot', 'notice'].includes(c)) + ': ' + e.querySelector('.body').innerText)`)
}

// count counts the messages of somebody.
func count(shown []string, from string) (n int) {
	for _, s := range shown {
		if strings.HasPrefix(s, from+": ") {
			n++
		}
	}
	return n
}

// answered waits for so many answers and nothing under way.
func (b *tab) answered(n int) []string {
	b.t.Helper()
	b.until("answers", `document.querySelectorAll('#log > .bot').length >= `+itoa(n)+` && document.querySelector('#status').className === 'idle'`)
	shown := b.shown()
	if got := count(shown, "bot"); got != n {
		b.t.Errorf("%d answers, want %d: %q", got, n, shown)
	}
	return shown
}

func itoa(n int) string { return string(rune('0' + n)) }

const writing = `document.querySelector('#draft:not([hidden]) p')` // a draft with words in it

// proxy stands between a browser and the program, and can be a bad network.
type proxy struct {
	listener net.Listener
	to       string
	deaf     atomic.Bool // nothing comes back from the program
	down     atomic.Bool // nobody gets through

	mu    sync.Mutex
	conns []net.Conn
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, to: to}
	t.Cleanup(func() { l.Close(); p.cut() })
	go p.serve()
	return p
}

func (p *proxy) serve() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		s, err := net.Dial("tcp", p.to)
		if err != nil || p.down.Load() {
			c.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, c, s)
		p.mu.Unlock()
		go func() { _, _ = io.Copy(s, c); s.Close() }()
		go func() { _, _ = io.Copy(muffled{c, &p.deaf}, s); c.Close() }()
	}
}

// muffled swallows what is written while it is deaf.
type muffled struct {
	io.Writer
	deaf *atomic.Bool
}

func (m muffled) Write(b []byte) (int, error) {
	if m.deaf.Load() {
		return len(b), nil
	}
	return m.Writer.Write(b)
}

// cut ends all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}
