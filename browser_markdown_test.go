//go:build browser && unix

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// What a model writes, as the page shows it: elements of a short list, and
// nothing that runs.
func TestBrowserMarkdown(t *testing.T) {
	b := newBrowser(t, startDemo(t).link)
	b.run(chromedp.Evaluate[chromedp.Void](`import('/markdown.js').then((m) => {
		window.render = (text) => { const d = document.createElement('div'); d.append(m.markdown(text)); return d.innerHTML; };
	})`))
	b.until("the renderer is there", `window.render`)
	render := func(text string) string {
		t.Helper()
		quoted, _ := json.Marshal(text)
		return eval[string](b, "render("+string(quoted)+")")
	}
	for _, x := range []struct{ text, want string }{
		{"plain", "<p>plain</p>"},
		{"a\nb", "<p>a<br>b</p>"},
		{"a\n\nb", "<p>a</p><p>b</p>"},
		{"**b** *i* _i_ __b__ ~~d~~ `c`", "<p><strong>b</strong> <em>i</em> <em>i</em> <strong>b</strong> <del>d</del> <code>c</code></p>"},
		{"***both***", "<p><strong><em>both</em></strong></p>"},
		{"**a *b* c**", "<p><strong>a <em>b</em> c</strong></p>"},
		{"2 * 3 * 4 and snake_case_name", "<p>2 * 3 * 4 and snake_case_name</p>"},
		{"\\*no\\* `*c*`", "<p>*no* <code>*c*</code></p>"},
		{"# One\n## Two", "<h3>One</h3><h4>Two</h4>"},
		{"- a\n- b\n  - c\n- d", "<ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>"},
		{"3. a\n4. b", `<ol start="3"><li>a</li><li>b</li></ol>`},
		{"1. a\n\n2. b", "<ol><li>a</li><li>b</li></ol>"},
		{"- [ ] a\n- [x] b", "<ul><li>☐ a</li><li>☑ b</li></ul>"},
		{"> q\n> r", "<blockquote><p>q<br>r</p></blockquote>"},
		{"```go\na < b\n```\nc", `<pre data-language="go" tabindex="0"><code>a &lt; b</code></pre><p>c</p>`},
		{"```\nopen", `<pre tabindex="0"><code>open</code></pre>`},
		{"---", "<hr>"},
		{"| a | b |\n|---|--:|\n| 1 | 2 |", `<div class="table" tabindex="0"><table><thead><tr><th class="left">a</th><th class="right">b</th></tr></thead><tbody><tr><td class="left">1</td><td class="right">2</td></tr></tbody></table></div>`},
		{"[x](https://a.example/b_c)", `<p><a href="https://a.example/b_c" target="_blank" rel="noopener noreferrer nofollow">x</a></p>`},
		{"see https://a.example/x.", `<p>see <a href="https://a.example/x" target="_blank" rel="noopener noreferrer nofollow">https://a.example/x</a>.</p>`},
		{"![p](https://a.example/p.png)", `<p><a href="https://a.example/p.png" target="_blank" rel="noopener noreferrer nofollow">p</a></p>`},
		{"[x](javascript:alert(1))", "<p>x (javascript:alert(1))</p>"},
		{"[x](JaVaScRiPt:a)", "<p>x (JaVaScRiPt:a)</p>"},
		{"[x](data:text/html,a)", "<p>x (data:text/html,a)</p>"},
		{"<script>a</script>", "<p>&lt;script&gt;a&lt;/script&gt;</p>"},
		{"**<img src=x onerror=a>**", "<p><strong>&lt;img src=x onerror=a&gt;</strong></p>"},
		{`[x](https://a.example/"onmouseover="a)`, `<p><a href="https://a.example/%22onmouseover=%22a" target="_blank" rel="noopener noreferrer nofollow">x</a></p>`},
	} {
		if got := render(x.text); got != x.want {
			t.Errorf("%q:\n got %s\nwant %s", x.text, got, x.want)
		}
	}
	// No text takes long, whatever it is made of: a part has up to 48 KiB.
	for _, piece := range []string{"*", "**", "_", "__a", "~~", "`", "[", "[a](", "![", "<http://", "> ", "- ", "| ", "|-", "\\", "*a ", "**a ", "_a ", "a|b\n", "``` ", "1. ", " ", "\n", "((", "https://(", "a_b*"} {
		text, _ := json.Marshal(strings.Repeat(piece, 48<<10/len(piece)))
		if took := eval[float64](b, "(() => { const t = performance.now(); render("+string(text)+"); return performance.now() - t; })()"); took > 500 {
			t.Errorf("48 KiB of %q take %.0f ms", piece, took)
		}
	}
}
