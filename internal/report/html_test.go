package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"html"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/weblog"
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

// pages are all kinds of pages by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, r := range samples() {
		out[name], _ = written(t, name, r)
	}
	out["hostile"], _ = written(t, "hostile", sampleHostile())
	for name, write := range map[string]func(io.Writer) error{
		"inspect":         func(w io.Writer) error { return InspectHTML(w, sampleInspection("eth0")) },
		"inspect-hostile": func(w io.Writer) error { return InspectHTML(w, sampleInspection(evil)) },
		"inspect-empty":   func(w io.Writer) error { return InspectHTML(w, Inspection{}) },
		"weblog":          func(w io.Writer) error { return WeblogHTML(w, sampleLog(t)) },
		"weblog-compared": func(w io.Writer) error { return WeblogHTML(w, sampleComparison(t)) },
		"weblog-empty":    func(w io.Writer) error { return WeblogHTML(w, &weblog.Report{}) },
		"weblog-hostile": func(w io.Writer) error {
			r := *sampleComparison(t)
			r.Inputs = []weblog.InputReport{{Name: evil}}
			r.Notes = []string{evil}
			r.Groups = []weblog.Group{{By: evil, Name: evil}}
			return WeblogHTML(w, &r)
		},
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if *keep != "" {
			if err := os.WriteFile(filepath.Join(*keep, name+".html"), b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		out[name] = b.String()
	}
	return out
}

// Nothing that pages show comes from elsewhere or was computed from nothing.
func TestPagesAreClean(t *testing.T) {
	for name, page := range pages(t) {
		for _, bad := range []string{"NaN", "Inf", "<script", "<img", "http-equiv=\"refresh", "@import", "url(", "<no value>", "ZgotmplZ", "\x1b", "\u202e", `href="javascript`} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: %q occurs", name, bad)
			}
		}
		if strings.Contains(name, "hostile") && !strings.Contains(page, "&lt;script&gt;") {
			t.Errorf("%s: the hostile text is missing: it should be shown, escaped", name)
		}
	}
}

func TestSamplePages(t *testing.T) {
	for name, r := range samples() {
		t.Run(name, func(t *testing.T) {
			page, picture := written(t, name, r)
			for _, text := range []string{headline(labelled(r)), "Method and limits"} {
				if !strings.Contains(unescaped(page), text) {
					t.Errorf("the page lacks %q", text)
				}
			}
			for _, bad := range []string{"NaN", "Inf", "<script", "url("} {
				if strings.Contains(picture, bad) {
					t.Errorf("%q occurs in the picture", bad)
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

// Whatever hosts, files and people put into a result stays text in the picture.
func TestHostileInputInPicture(t *testing.T) {
	_, picture := written(t, "hostile", sampleHostile())
	wellFormed(t, picture)
	for _, bad := range []string{"<script", "<img", "\x1b", "\u202e"} {
		if strings.Contains(picture, bad) {
			t.Errorf("%q got through", bad)
		}
	}
	if !strings.Contains(picture, "&lt;script&gt;") {
		t.Error("the hostile text is missing: it should be shown, escaped")
	}
}

// TestDiskIsNoPath: what is said of one host's disk is in its own words.
func TestDiskIsNoPath(t *testing.T) {
	var page, mark, text bytes.Buffer
	if err := errors.Join(HTML(&page, sampleDisk()), Markdown(&mark, sampleDisk())); err != nil {
		t.Fatal(err)
	}
	Text(&text, sampleDisk())
	_, body, _ := strings.Cut(html.UnescapeString(page.String()), "<main>")
	for form, s := range map[string]string{"HTML": body, "Markdown": mark.String(), "text": text.String()} {
		for _, not := range []string{"client", "both hosts", "these hosts", "link goodput", "path not known", "<dt>path", "full queues", "latency", "of a destination", "ceiling"} {
			if i := strings.Index(s, not); i >= 0 {
				t.Errorf("%s: speaks of %q: %.80s", form, not, s[max(0, i-20):])
			}
		}
	}
	if !strings.Contains(body, "resampled pairs +24.0% to +38.0%") {
		t.Error("the cross-check is not shown")
	}
}

// Whether an emulator kept up is yes, no or unknown, in the page as in JSON.
func TestEmulatorIsSaid(t *testing.T) {
	r := sampleHelps()
	for _, c := range []struct {
		emulator   Emulator
		page, json string
	}{
		{Emulator{KeptUp: lab.Yes, WorstLateness: new(0.0004)}, "<dd>kept up with", `"kept_up":true,"worst_lateness_s":0.0004`},
		{Emulator{KeptUp: lab.No, WorstLateness: new(0.0)}, "<dd>did not keep up with", `"kept_up":false,"worst_lateness_s":0`},
		{Emulator{}, "<dd>whether it kept up is not known, with", `"kept_up":null,"worst_lateness_s":null`},
	} {
		r.Emulator = &c.emulator
		var page bytes.Buffer
		if err := HTML(&page, r); err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(page.String(), "<dt>emulator</dt>")
		if shown, _, _ := strings.Cut(rest, "</dd>"); !strings.HasPrefix(shown, c.page) || strings.Contains(shown, "behind its time") != (c.emulator.WorstLateness != nil) {
			t.Errorf("%+v: the page has %s", c.emulator, shown)
		}
		if text, err := json.Marshal(r); err != nil || !strings.Contains(string(text), c.json) {
			t.Errorf("%+v: %v, no %s in JSON", c.emulator, err, c.json)
		}
	}
}

// The head of a page is one line of at most twelve words; the sentence with its numbers stands below it.
func TestHeadlinesAreShort(t *testing.T) {
	for _, r := range diagnose.Rules() {
		in := Inspection{Verdict: "likely cause: " + strings.Repeat("word ", 30),
			Findings: []diagnose.Finding{{Rule: r.ID, Severity: diagnose.Warning}}}
		if said := inspectHeadline(in); len(strings.Fields(said)) > 12 {
			t.Errorf("%s: %q has more than twelve words", r.ID, said)
		}
	}
	in := Inspection{Verdict: "no problem found in what was read; the lowest known limit is the link at 941 Mbit/s"}
	if said := inspectHeadline(in); said != "No problem found in what was read" {
		t.Error(said)
	}
}
