package web

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// Config is the section web: a chat in the browser, beside Telegram or alone.
type Config struct {
	Listen         string      `yaml:"listen"`          // host:port; "" for no web chat
	Origins        []string    `yaml:"origins"`         // scheme://host[:port] of each page that may connect, its own first
	Connections    Connections `yaml:"connections"`     // of one session at a time
	MaxConnections int         `yaml:"max_connections"` // of all sessions together
	MaxMessage     int         `yaml:"max_message"`     // characters in a message
	Inspector      bool        `yaml:"inspector"`       // the owner sees what the engine does
}

// Connections is a policy.
type Connections string

// The policies of web.connections.
const (
	Exclusive Connections = "exclusive" // a session is open in one window; another takes it over
	Shared    Connections = "shared"    // all windows of a session show everything
)

// DefaultConfig is what an empty section means.
func DefaultConfig() Config {
	return Config{Connections: Exclusive, MaxConnections: 256, MaxMessage: 8000}
}

// mostMessage bounds web.max_message: a message has to fit into a frame in the
// longest form that JSON has for it, 12 bytes a character.
const mostMessage = 20_000

// Validate reports everything that is wrong with the section, joined.
func (c Config) Validate() error {
	var errs []error
	wrong := func(bad bool, text string) {
		if bad {
			errs = append(errs, errors.New(text))
		}
	}
	host, port, err := net.SplitHostPort(c.Listen)
	wrong(c.Listen != "" && (err != nil || port == ""), "web.listen: must be host:port, such as 127.0.0.1:8080")
	wrong(c.Listen != "" && err == nil && port != "" && !loopback(host) && len(c.Origins) == 0,
		"web.origins: is needed when web.listen can be reached from elsewhere; the address that browsers show comes first")
	for i, o := range c.Origins {
		if canonical(o) != o || o == "" {
			errs = append(errs, fmt.Errorf("web.origins[%d]: must be scheme://host or scheme://host:port in lower case, nothing more, such as https://chat.example.com", i))
		}
	}
	wrong(c.Connections != Exclusive && c.Connections != Shared, "web.connections: must be exclusive or shared")
	wrong(c.MaxConnections < 1, "web.max_connections: must be positive; 256 is a good value")
	wrong(c.MaxMessage < 1 || c.MaxMessage > mostMessage, "web.max_message: must be from 1 to 20000; 8000 is a good value")
	return errors.Join(errs...)
}

// loopback reports whether only this machine reaches a host to listen on.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// canonical is an origin as browsers send it, "" if it is none: what is
// compared exactly has to be written exactly.
func canonical(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.HasSuffix(u.Host, ":") {
		return ""
	}
	host := u.Host
	if u.Scheme == "http" && u.Port() == "80" || u.Scheme == "https" && u.Port() == "443" {
		host = strings.TrimSuffix(host, ":"+u.Port())
	}
	return u.Scheme + "://" + strings.ToLower(host)
}

// origins are the pages that may connect to an address. Without a list these
// are the names that this machine has for itself.
func (c Config) origins(address string) []string {
	if len(c.Origins) > 0 {
		return slices.Clone(c.Origins)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	var out []string
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
		out = append(out, canonical("http://"+host+":"+port))
	}
	return out
}
