package weblog

import (
	"strings"
	"testing"
	"time"
)

// TestFilters counts what filters let through of a small log.
func TestFilters(t *testing.T) {
	const log = `192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] "GET /static/a.css HTTP/1.1" 200 500 "-" "x" rt=0.100 urt=-
192.0.2.2 - - [01/Mar/2024:00:00:01 +0000] "POST /api/[x]?q=1 HTTP/2.0" 201 1500 "-" "x" rt=0.100 urt=0.090
198.51.100.1 - - [01/Mar/2024:00:00:02 +0000] "GET /api/y HTTP/1.1" 499 0 "-" "x" rt=0.100 urt=0.010
2001:db8::1 - - [01/Mar/2024:00:00:03 +0000] "HEAD / HTTP/1.0" 404 - "-" "x" rt=0.000 urt=0.000
2001:db9::1 - - [01/Mar/2024:00:00:04 +0000] "PURGE /static/b/c.js HTTP/1.1" 000 99 "-" "x" rt=0.200 urt=0.100, 0.050
`
	for _, c := range []struct {
		spec FilterSpec
		want uint64
	}{
		{FilterSpec{}, 5},
		{FilterSpec{Status: "2xx"}, 2},
		{FilterSpec{Status: "!499,!000"}, 3},
		{FilterSpec{Status: "2xx !201"}, 1},
		{FilterSpec{Status: "000"}, 1},
		{FilterSpec{Method: "get,Purge"}, 3},
		{FilterSpec{Method: "!GET"}, 3},
		{FilterSpec{Path: "/static/*"}, 2},
		{FilterSpec{Path: "!/static/*"}, 3},
		{FilterSpec{Path: "/static/*.css"}, 1},
		{FilterSpec{Path: "/api/?"}, 1},
		{FilterSpec{Path: "/api/[a-z]"}, 1},
		{FilterSpec{Path: `/api/\[x]`}, 1},
		{FilterSpec{Path: "/api/[^y]*"}, 1},
		{FilterSpec{Path: "~^/(api|static)/"}, 4},
		{FilterSpec{Path: "!~^/api"}, 3},
		{FilterSpec{Path: "static"}, 0},
		{FilterSpec{Size: "1kB-"}, 1},
		{FilterSpec{Size: "-99"}, 2},
		{FilterSpec{Protocol: "http/1.1,h2"}, 4},
		{FilterSpec{Protocol: "!HTTP/1.1"}, 2},
		{FilterSpec{Client: "192.0.2.0/24,2001:db8::/32"}, 3},
		{FilterSpec{Client: "!192.0.2.1"}, 4},
		{FilterSpec{Client: "::/0,!2001:db8::/32"}, 1},
		{FilterSpec{Upstream: "none"}, 1},
		{FilterSpec{Upstream: "90%-"}, 2}, // 0 of 0 s is all of it
		{FilterSpec{Upstream: "-10%"}, 1},
		{FilterSpec{Upstream: "50%-80%"}, 1},
		{FilterSpec{Since: time.Unix(1709251201, 0), Until: time.Unix(1709251203, 0)}, 2},
		{FilterSpec{Status: "2xx,499", Path: "/api/*", Method: "!POST", Client: "198.51.100.0/24", Protocol: "HTTP/1.1", Upstream: "-50%"}, 1},
	} {
		f, err := ParseFilter(c.spec)
		if err != nil {
			t.Errorf("%+v: %v", c.spec, err)
			continue
		}
		s := readText(t, log, Options{Filter: f})
		if s.Requests != c.want || s.Requests+s.Filtered != 5 {
			t.Errorf("%+v: %d requests and %d filtered out, want %d of 5", c.spec, s.Requests, s.Filtered, c.want)
		}
	}
}

func TestFilterErrors(t *testing.T) {
	for _, c := range []struct {
		spec FilterSpec
		want string
	}{
		{FilterSpec{Status: ","}, `status "," names none`},
		{FilterSpec{Status: "2x"}, "neither a code"},
		{FilterSpec{Status: "!"}, "neither a code"},
		{FilterSpec{Status: "9xx"}, "a class (1xx to 5xx)"},
		{FilterSpec{Status: "0xx"}, "a class (1xx to 5xx)"},
		{FilterSpec{Status: "2xx,42"}, `status "42" is neither`},
		{FilterSpec{Method: "G/T"}, "not a word"},
		{FilterSpec{Method: "!"}, "not a word"},
		{FilterSpec{Path: "["}, "not closed"},
		{FilterSpec{Path: "~("}, "missing closing"},
		{FilterSpec{Path: "!"}, "empty"},
		{FilterSpec{Path: "~"}, "empty"},
		{FilterSpec{Size: "9kB-1kB"}, "empty"},
		{FilterSpec{Protocol: "spdy"}, "unknown protocol"},
		{FilterSpec{Client: "10.0.0.0/99"}, "neither an address"},
		{FilterSpec{Upstream: "half"}, "not FROM-TO"},
		{FilterSpec{Upstream: "0.5-"}, "not a share"},
		{FilterSpec{Upstream: "90%-10%"}, "empty"},
		{FilterSpec{Since: time.Unix(2, 0), Until: time.Unix(1, 0)}, "no time is since"},
	} {
		if _, err := ParseFilter(c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.spec, err, c.want)
		}
	}
}

// TestUpstreamGroups: requests by the share of their time in the server behind.
func TestUpstreamGroups(t *testing.T) {
	s := readText(t, strings.Repeat(`192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 500 "-" "x" rt=0.100 urt=0.005
192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 500 "-" "x" rt=0.200 urt=0.100
192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 500 "-" "x" rt=0.300 urt=0.300
192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 500 "-" "x" rt=0.400 urt=-
`, 3), Options{Full: true})
	var names []string
	for _, g := range Summarize(s, View{By: []string{"upstream"}}).Groups {
		if g.Requests != 3 {
			t.Errorf("%s: %d requests, want 3", g.Name, g.Requests)
		}
		names = append(names, g.Name)
	}
	if got, want := strings.Join(names, "; "), "under 10% of the time; 50% to 90%; 90% of the time and more"; got != want {
		t.Errorf("groups %q, want %q", got, want)
	}
}
