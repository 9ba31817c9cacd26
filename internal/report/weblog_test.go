package report

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/weblog"
)

// The page of a log shows the trial of the change beside it.
func TestWeblogTrialHTML(t *testing.T) {
	for name, trial := range samples() {
		var b bytes.Buffer
		if err := WeblogTrialHTML(&b, sampleComparison(t), trial); err != nil {
			t.Fatal(err)
		}
		page := unescaped(b.String())
		for _, want := range []string{headline(trial), "The trial of the change", "Kolmogorov-Smirnov", "answered in less than"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %q", name, want)
			}
		}
		for _, bad := range []string{"NaN", "Inf", "<script", "ZgotmplZ", "\x1b"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: %q occurs", name, bad)
			}
		}
	}
}

// hostileLog has a path, a name and lines that try to leave the page.
func hostileLog(t *testing.T) *weblog.Report {
	t.Helper()
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "192.0.2.1 - - [01/Mar/2024:%02d:%02d:%02d +0000] \"GET /<script>alert(1)</script>\"'\x1b]0;x\x07\u202e HTTP/1.1\" %d 4096 \"-\" \"x\" rt=0.%03d urt=0.001\n", i/3600, i/60%60, i%60, []int{200, 499}[i%2], i%1000)
	}
	text.WriteString("</code><script>alert(2)</script>\x1b[2J\n")
	name := filepath.Join(t.TempDir(), "<img src=x onerror=alert(3)>\u202e.log")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Skipf("no such names here: %v", err)
	}
	s, err := weblog.Read(context.Background(), []string{name}, nil, weblog.Options{Full: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := weblog.Compare(s, s, weblog.View{By: weblog.Groupings()}, weblog.Judgement{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWeblogPageIsSafe: nothing of a log or its name is part of the page's markup,
// and the page says what was read, what was not, and how fast bytes went.
func TestWeblogPageIsSafe(t *testing.T) {
	var b bytes.Buffer
	if err := WeblogHTML(&b, hostileLog(t)); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"<script", "<img", "\x1b", "\x07", "\u202e", "NaN", "ZgotmplZ"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q occurs", bad)
		}
	}
	for _, want := range []string{"What was read: after", "What was read: before", "Lines skipped: shape 1", "does not match the format", "Bytes per second of single requests", "before: 1,500 requests were aborted", "By upstream"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, "<rect"); n > 3*timelineParts {
		t.Errorf("%d bars", n)
	}
}

// TestTimeParts: columns hold every request of a timeline, whatever its gaps.
func TestTimeParts(t *testing.T) {
	for _, points := range [][]int64{{0, 1}, {5, 6, 7, 1000}, {0, 86400 * 400}, {100, 339, 340}} {
		line := weblog.Timeline{Step: 1}
		for _, at := range points {
			line.Points = append(line.Points, weblog.Point{At: at, Requests: 3, Mean: 0.5})
		}
		parts, length := timeParts(&line)
		var n uint64
		for _, p := range parts {
			n += p.requests
		}
		if len(parts) > timelineParts || n != uint64(3*len(points)) || int64(len(parts))*length < points[len(points)-1]-points[0] {
			t.Errorf("%v: %d parts of %d s with %d requests", points, len(parts), length, n)
		}
	}
}
