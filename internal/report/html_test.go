package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var keep = flag.String("keep", "", "write the sample pages and pictures to this `folder`, to look at")

// written returns a sample's page and picture.
func written(t *testing.T, name string, r Result) (page, picture string) {
	t.Helper()
	var html, svg bytes.Buffer
	if err := HTML(&html, r); err != nil {
		t.Fatal(err)
	}
	if err := SVG(&svg, r); err != nil {
		t.Fatal(err)
	}
	if *keep != "" {
		for file, data := range map[string][]byte{name + ".html": html.Bytes(), name + ".svg": svg.Bytes()} {
			if err := os.WriteFile(filepath.Join(*keep, file), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return html.String(), svg.String()
}

func TestSamplePages(t *testing.T) {
	for name, r := range samples() {
		t.Run(name, func(t *testing.T) {
			page, picture := written(t, name, r)
			for _, text := range []string{headline(r), "Method and limits"} {
				if !strings.Contains(unescaped(page), text) {
					t.Errorf("the page lacks %q", text)
				}
			}
			for _, drawn := range []string{page, picture} {
				for _, bad := range []string{"NaN", "Inf", "<script", "http-equiv=\"refresh", "@import", "url(", "<no value>", "ZgotmplZ"} {
					if strings.Contains(drawn, bad) {
						t.Errorf("%q occurs", bad)
					}
				}
			}
			wellFormed(t, picture)
		})
	}
}

func unescaped(page string) string {
	return strings.NewReplacer("&#39;", "'", "&#43;", "+", "&#34;", `"`, "&amp;", "&").Replace(page)
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the picture is not well-formed: %v", err)
		}
	}
}

// Whatever hosts, files and people put into a result stays text.
func TestHostileInputStaysText(t *testing.T) {
	page, picture := written(t, "hostile", sampleHostile())
	wellFormed(t, picture)
	for _, drawn := range []string{page, picture} {
		for _, bad := range []string{"<script", "<img", "</style></title>", "\x1b", "\u202e", `href="javascript`} {
			if strings.Contains(drawn, bad) {
				t.Errorf("%q got through", bad)
			}
		}
		if !strings.Contains(drawn, "&lt;script&gt;") {
			t.Error("the hostile text is missing: it should be shown, escaped")
		}
	}
}
