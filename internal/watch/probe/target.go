package probe

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// Target is what is probed.
type Target struct {
	kind string // icmp, tcp, http
	host string // a name or an address
	port string
	url  *url.URL
}

// ErrTarget is wrapped for texts that are no target.
var ErrTarget = errors.New("icmp:ADDR, tcp:HOST:PORT or http://... is expected")

// Parse reads icmp:ADDR, tcp:HOST:PORT, http:URL, or an http or https URL.
func Parse(text string) (Target, error) {
	wrong := func(why string) (Target, error) {
		return Target{}, fmt.Errorf("probe %q: %s; %w", text, why, ErrTarget)
	}
	if len(text) > 512 {
		return Target{}, fmt.Errorf("probe: %d characters are no target; %w", len(text), ErrTarget)
	}
	kind, rest, _ := strings.Cut(text, ":")
	switch kind {
	case "icmp":
		if !hostName(rest) {
			return wrong("there is no address")
		}
		return Target{kind: kind, host: rest}, nil
	case "tcp":
		host, port, err := net.SplitHostPort(rest)
		if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 || !hostName(host) {
			return wrong("there is no HOST:PORT")
		}
		return Target{kind: kind, host: host, port: port}, nil
	case "http", "https":
		if strings.HasPrefix(rest, "//") {
			rest = text
		}
		u, err := url.Parse(rest)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !hostName(u.Hostname()) {
			return wrong("there is no http or https URL")
		}
		if u.User != nil {
			return wrong("a password would be shown and recorded")
		}
		return Target{kind: "http", host: u.Hostname(), url: u}, nil
	}
	return wrong("it has no kind")
}

// hostName reports whether a text can be a name or an address.
func hostName(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	return text != "" && len(text) <= 253 && strings.IndexFunc(text, func(r rune) bool {
		return r != '-' && r != '.' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) < 0
}

// String is the target as Parse reads it.
func (t Target) String() string {
	switch t.kind {
	case "tcp":
		return "tcp:" + net.JoinHostPort(t.host, t.port)
	case "http":
		return t.url.String()
	}
	return t.kind + ":" + t.host
}
