package web

import (
	"context"
	"crypto/subtle"
	"embed"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"lastword/conversation"
)

//go:embed page
var embedded embed.FS

// Cookies. The one of the widget is another, as a browser keeps apart what it
// sends from within somebody else's page.
const (
	sessionCookie = "lastword"
	widgetCookie  = "lastword_widget"
	ownerCookie   = "lastword_owner"

	cookieAge = 400 * 24 * time.Hour // browsers keep none for longer
)

// Rates, for one connection: a person does not type that fast.
const (
	messagePause = 500 * time.Millisecond // between what has to be stored, in the long run
	messageBurst = 20
	framePause   = 50 * time.Millisecond
	frameBurst   = 100
)

// handler serves the page, what belongs to it, and the socket. Sockets end with
// ctx.
func (s *Server) handler(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { s.page(w, r, sessionCookie) })
	mux.HandleFunc("GET /embed", func(w http.ResponseWriter, r *http.Request) { s.page(w, r, widgetCookie) })
	mux.HandleFunc("GET /owner", s.own)
	mux.HandleFunc("GET /socket", func(w http.ResponseWriter, r *http.Request) { s.connect(ctx, w, r) })
	files, err := fs.Sub(embedded, "page")
	if err != nil {
		panic(err) // the folder is embedded under that name
	}
	mux.HandleFunc("GET /{file}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("file")
		data, err := fs.ReadFile(files, name)
		if err != nil || strings.HasSuffix(name, ".html") {
			http.NotFound(w, r)
			return
		}
		harden(w)
		if name == "widget.js" || name == "icon.svg" { // for other people's pages
			w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
		}
		w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		_, _ = w.Write(data) // that the browser went away is nothing to do about
	})
	return mux
}

// harden sets what every answer has.
func harden(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
}

// page serves the chat and sees to it that its browser has a secret. Nothing on
// it comes from a model, and the policy lets nothing run but its own script.
func (s *Server) page(w http.ResponseWriter, r *http.Request, cookie string) {
	data, err := embedded.ReadFile("page/index.html")
	if err != nil {
		http.NotFound(w, r)
		return
	}
	harden(w)
	frames := "'none'"
	if cookie == widgetCookie {
		frames = strings.Join(append([]string{"'self'"}, s.allowed...), " ")
		w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "+
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "+frames)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	s.secret(w, r, cookie)
	_, _ = w.Write(data)
}

// secret is that of the visitor's session; a visitor who has none gets one.
func (s *Server) secret(w http.ResponseWriter, r *http.Request, cookie string) string {
	if c, err := r.Cookie(cookie); err == nil && len(c.Value) == len(secret()) {
		return c.Value
	}
	c := &http.Cookie{
		Name: cookie, Value: secret(), Path: "/", MaxAge: int(cookieAge.Seconds()), HttpOnly: true,
		Secure: s.encrypted(r), SameSite: http.SameSiteLaxMode,
	}
	if cookie == widgetCookie && c.Secure {
		// Within another site's page a browser sends nothing less, and keeps
		// the cookie apart for each of those sites.
		c.SameSite, c.Partitioned = http.SameSiteNoneMode, true
	}
	http.SetCookie(w, c)
	return c.Value
}

// encrypted reports whether browsers reach the chat over TLS, which a proxy in
// front may take off: the list of origins knows.
func (s *Server) encrypted(r *http.Request) bool {
	return r.TLS != nil || slices.Contains(s.allowed, "https://"+strings.ToLower(r.Host))
}

// own makes whoever has the code the owner.
func (s *Server) own(w http.ResponseWriter, r *http.Request) {
	harden(w)
	code := r.URL.Query().Get("code")
	if s.code == "" || subtle.ConstantTimeCompare([]byte(code), []byte(s.code)) != 1 {
		http.NotFound(w, r)
		return
	}
	key := secret()
	err := s.store.Update(func(tx conversation.Tx) error { return tx.PutRecord("web/owner/"+hashed(key), []byte("{}")) })
	if err != nil {
		s.log.Error("an owner could not be stored", "err", err)
		http.Error(w, "try again later", http.StatusServiceUnavailable)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: ownerCookie, Value: key, Path: "/", MaxAge: int(cookieAge.Seconds()), HttpOnly: true,
		Secure: s.encrypted(r), SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// owner reports whether a request is the owner's, and there is something for
// owners.
func (s *Server) owner(r *http.Request) bool {
	c, err := r.Cookie(ownerCookie)
	if err != nil || !s.config.Inspector {
		return false
	}
	var known bool
	err = s.store.View(func(tx conversation.Tx) error {
		data, err := tx.Record("web/owner/" + hashed(c.Value))
		known = data != nil
		return err
	})
	return err == nil && known
}

// connect accepts a socket. The origin is compared exactly: a client that is no
// browser has to send an allowed one, too.
func (s *Server) connect(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	if !slices.Contains(s.allowed, r.Header.Get("Origin")) {
		http.Error(w, "this origin is not in web.origins", http.StatusForbidden)
		return
	}
	if !s.hub.enter(s.config.MaxConnections) {
		http.Error(w, "too many connections", http.StatusServiceUnavailable)
		return
	}
	defer s.hub.exit()
	cookie := sessionCookie
	if r.URL.Query().Has("widget") {
		cookie = widgetCookie
	}
	key := s.secret(w, r, cookie)
	s.serving.Add(1) // before the socket is not the HTTP server's any more
	defer s.serving.Done()
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // checked above, more strictly
	if err != nil {
		s.log.Debug("a socket was refused", "err", err)
		return
	}
	c := &conn{
		server: s, socket: socket, hash: hashed(key), id: secret()[:16], owner: s.owner(r), wake: make(chan struct{}, 1),
		frames:   rate.NewLimiter(rate.Every(framePause), frameBurst),
		messages: rate.NewLimiter(rate.Every(messagePause), messageBurst),
	}
	c.run(ctx)
}
