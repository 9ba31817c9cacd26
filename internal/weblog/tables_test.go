package weblog

import (
	"math/rand/v2"
	"testing"

	"github.com/wirerate/wirerate/internal/weblog/latency"
)

// TestPatterns: what of a path is an identifier.
func TestPatterns(t *testing.T) {
	for path, want := range map[string]string{
		"/":                        "/",
		"":                         "-",
		"/a/b?c=1":                 "/a/b",
		"/item/12345":              "/item/*",
		"/item/7":                  "/item/*",
		"/img/39.jpg":              "/img/*.jpg",
		"/img/4.jpeg":              "/img/*.jpeg",
		"/img/photo_123.jpg":       "/img/*.jpg",
		"/v2/x":                    "/v2/x",
		"/lib/jquery-3.js":         "/lib/jquery-3.js",
		"/a1.jp2":                  "/a1.jp2",
		"/2.0/x":                   "/2.0/x",
		"/1.2":                     "/1.2",
		"/12.a-long-name":          "/12.a-long-name",
		"/a/b/c/d/e/f":             "/a/b/c/d/**",
		"http://example.org/a/999": "/example.org/a/*",
	} {
		if got := string(appendPattern(nil, []byte(path), 4)); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// TestKnownPathsAgree compares the groups that paths are remembered for with their
// patterns. Most paths are another one with a byte changed, wherever it stands.
func TestKnownPathsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	seeds := []string{"/api/v1/users/list", "/api/v5/users/list", "/a/1", "/a/2?x", "/a/12", "/a/123", "/a/124?", "/b1/f123.mp3", "/b2/f124.mp4", "http://h1/1", "*", "",
		"/2/3/4/5/6/7/8/9", "/x1/y2/z3/a-long-segment-4/another-one-5/and-a-last-one-6.js", "/q?1=/2/3", "/1.2/3.4.5/6a7/8"}
	for depth := range maxDepth + 1 {
		known := new(knownPaths)
		patterns := map[*knownPath]string{}
		var paths [512]string
		for i := range paths {
			paths[i] = seeds[i%len(seeds)]
		}
		for range 200_000 {
			i := r.IntN(len(paths))
			path := append(make([]byte, 0, 200), paths[i]...)
			for range r.IntN(3) {
				if at := r.IntN(len(path) + 1); at == len(path) {
					path = append(path, "/?a0159./b"[r.IntN(10)])
				} else if r.IntN(8) == 0 {
					path = append(path[:at], path[at+1:]...)
				} else {
					path[at] = "/?a0159./b-~\x00\xff2345678"[r.IntN(21)]
				}
			}
			if len(path) > 70 {
				path = path[:1]
			}
			paths[i] = string(path)
			copy(path[len(path):cap(path)], " HTTP/1.1 with /more 123")
			p := known.find(path, depth)
			if p == nil {
				continue
			}
			pattern := string(appendPattern(nil, path, depth))
			if p.groups[0] == nil { // another path than was here before
				p.groups[0] = new(latency.Group)
				patterns[p] = pattern
			}
			if patterns[p] != pattern {
				t.Fatalf("%q at depth %d: %q is remembered, want %q", path, depth, patterns[p], pattern)
			}
		}
	}
}

// TestClientsHavePercentiles: a slow network among fast ones shows.
func TestClientsHavePercentiles(t *testing.T) {
	text := ""
	for i := range 40 {
		client, took := "192.0.2.7", "0.010"
		if i%4 == 0 {
			client, took = "198.51.100.9", "2.500"
		}
		text += client + ` - - [01/Mar/2024:00:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-" ` + took + "\n"
	}
	r := Summarize(readText(t, text, Options{Full: true}), View{By: []string{"client"}})
	if len(r.Groups) != 2 || r.Groups[0].Name != "192.0.2.0/24" || r.Groups[0].Percentiles["95"] != 0.010 ||
		r.Groups[1].Requests != 10 || r.Groups[1].Percentiles["50"] != 2.5 || r.Groups[1].Under["0.1"] != 0 {
		t.Errorf("%+v", r.Groups)
	}
}
