package llm

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzStream feeds any bytes to a call. Whatever they are it must not panic; an
// answer must have visible text and have shown an end, and must be the same
// however the bytes come in; and no error repeats them.
func FuzzStream(f *testing.F) {
	for _, s := range streams {
		if len(s.body) < 4096 {
			f.Add([]byte(s.body))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		read := func(r io.Reader) (string, error) {
			client := New(testConfig(), nil, transport(func(req *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Body: io.NopCloser(r), Request: req}, nil
			}))
			got, err := client.Generate(t.Context(), hello, nil)
			return got.Text, err
		}
		text, err := read(bytes.NewReader(body))
		again, errAgain := read(&single{bytes.NewReader(body)})
		if text != again || kindOf(err) != kindOf(errAgain) {
			t.Fatalf("got %q, %v and %q, %v", text, err, again, errAgain)
		}
		if err != nil {
			if kind := string(kindOf(err)); strings.HasPrefix(kind, "not a") {
				t.Fatal(kind)
			}
			return
		}
		if !strings.ContainsFunc(text, visible) || !utf8.ValidString(text) {
			t.Fatalf("got the text %q", text)
		}
		// Keys match in any case, and strings may be escaped, so this looks only
		// for what must be there: a mark of the end, or a document.
		low := bytes.ToLower(body)
		if !bytes.Contains(body, []byte("[DONE]")) && !bytes.Contains(low, []byte("finish")) &&
			!bytes.Contains(low, []byte("message")) && !bytes.Contains(body, []byte(`\u`)) {
			t.Fatalf("got the text %q without an end", text)
		}
	})
}
