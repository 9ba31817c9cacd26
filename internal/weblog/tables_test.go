package weblog

import "testing"

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
