package report

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wirerate/wirerate/internal/weblog"
	"github.com/wirerate/wirerate/internal/weblog/latency"
)

// The page of a log shows the trial of the change beside it.
func TestWeblogTrialHTML(t *testing.T) {
	for name, trial := range samples() {
		var b bytes.Buffer
		if err := WeblogTrialHTML(&b, sampleComparison(t), trial); err != nil {
			t.Fatal(err)
		}
		page := unescaped(b.String())
		for _, want := range []string{headline(labelled(trial)), "The trial of the change", "Kolmogorov-Smirnov", "answered in less than"} {
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
	for _, want := range []string{"What was read: after", "What was read: before", "Lines skipped: shape 1", "does not match the format", "Bytes per second of single requests", "before and after: 1,500 requests were aborted", "By upstream"} {
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

// TestRatioEnds: the interval of a ratio holds 1 where that of the difference holds 0, and
// is narrow where both sides are known well.
func TestRatioEnds(t *testing.T) {
	estimate := func(value, low, high float64) latency.Estimate {
		return latency.Estimate{Value: value, Low: &low, High: &high}
	}
	if low, high := ratioEnds(estimate(0.1, 0.099, 0.101), estimate(10, 9, 11)); low < 0.0090 || low > 0.0092 || high < 0.0110 || high > 0.0113 {
		t.Errorf("0.1 (0.099 to 0.101) of 10 (9 to 11): %g to %g", low, high)
	}
	if low, high := ratioEnds(estimate(1, 0.9, 1.1), latency.Estimate{Value: 1}); low != 0 || high != 0 {
		t.Errorf("without an end: %g to %g", low, high)
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (e latency.Estimate) {
			e.Value = rapid.Float64Range(0.001, 100).Draw(t, name)
			low, high := e.Value*rapid.Float64Range(0.01, 1).Draw(t, "low"), e.Value*rapid.Float64Range(1, 5).Draw(t, "high")
			return estimate(e.Value, low, high)
		}
		a, b := draw("a"), draw("b")
		low, high := ratioEnds(a, b)
		ratio, change := a.Value/b.Value, a.Value-b.Value
		if low > ratio*(1+1e-9) || high < ratio*(1-1e-9) {
			t.Fatalf("%g is not within %g to %g", ratio, low, high)
		}
		down, up := math.Hypot(a.Value-*a.Low, *b.High-b.Value), math.Hypot(*a.High-a.Value, b.Value-*b.Low)
		if math.Abs(change-down) > 1e-6 && (low > 1) != (change > down) || math.Abs(change+up) > 1e-6 && (high < 1) != (change < -up) {
			t.Fatalf("ratio %g to %g, difference %g to %g", low, high, change-down, change+up)
		}
	})
}

// TestHeadlineIsOfTheVerdict: where few requests have a counterpart, both are of the
// requests as logged.
func TestHeadlineIsOfTheVerdict(t *testing.T) {
	c := sampleComparison(t).Comparison
	for _, share := range []float64{0.2, 0.9} {
		c.Matched.BeforeShare = share
		c.Shifts[3].After.Value, c.Matched.Shifts[3].After.Value = 7, 8
		want := map[float64]string{0.2: " to 7 s", 0.9: " to 8 s"}[share]
		if got := weblogHeadline(&weblog.Report{Requests: 1, Comparison: c}); !strings.HasSuffix(got, want) {
			t.Errorf("%.0f%% in common: %q, want %q", 100*share, got, want)
		}
	}
}
