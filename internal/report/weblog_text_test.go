package report

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wirerate/wirerate/internal/weblog"
)

// awkwardLog makes a log with long paths, upstream times, aborted requests, three
// zones and lines that are none.
func awkwardLog(n int, seed uint64, factor float64) string {
	r := rand.New(rand.NewPCG(seed, 3))
	var b strings.Builder
	for i := range n {
		s := factor * 0.08 * math.Exp(1.5*r.NormFloat64())
		fmt.Fprintf(&b, "192.0.%d.1 - - [01/Mar/2024:%02d:00:%02d %s] \"GET /%s/%d.html HTTP/1.1\" %s %d \"-\" \"-\" rt=%.3f urt=%.3f\n", r.IntN(40), i*20/n, i%60,
			[]string{"+0000", "+0130", "-0500"}[r.IntN(3)], strings.Repeat("section", r.IntN(6)), r.IntN(5), []string{"200", "304", "499", "000"}[r.IntN(4)], r.IntN(3_000_000), s, s*r.Float64())
		if i%500 == 7 {
			fmt.Fprintf(&b, "half a line %d\n", i)
		}
	}
	return b.String()
}

// TestTextFitsTerminal: a report is at most 80 columns wide, but for the lines that
// it quotes.
func TestWeblogTextFitsTerminal(t *testing.T) {
	for _, n := range []int{1, 12, 6000} {
		after, before := readText(t, awkwardLog(n, 1, 1)), readText(t, awkwardLog(n, 2, 1.5))
		r, err := weblog.Compare(after, before, weblog.View{By: weblog.Groupings(), Under: []float64{0.1, 2.5}}, weblog.Judgement{Percentile: 99.99})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := WeblogText(&b, r); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"by path", "over time", "same objects and sizes", "verdict at p99.99"} {
			if n > 1 && !strings.Contains(b.String(), want) {
				t.Errorf("%d requests: no %q in the report", n, want)
			}
		}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line) > textColumns && !strings.Contains(line, "does not match the format:") {
				t.Errorf("%d requests: %d columns: %s", n, utf8.RuneCountInString(line), line)
			}
		}
	}
}

// TestTimelineColumns: one request a second is 1/s in every column, however many
// seconds there are to a column, of which the last may have fewer.
func TestTimelineColumns(t *testing.T) {
	for _, seconds := range []int64{2, 48, 49, 60, 97, 5000} {
		for _, step := range []int64{1, 4} {
			tl := &weblog.Timeline{Step: step}
			for at := range seconds {
				tl.Points = append(tl.Points, weblog.Point{At: at * step, Requests: uint64(step), Under: 1})
			}
			var b strings.Builder
			w := &logText{bufio.NewWriter(&b)}
			w.timeline(&weblog.Report{Timeline: tl})
			w.Flush()
			row := strings.Split(b.String(), "\n")[2]
			if bars := strings.Count(row, "█"); !strings.HasSuffix(row, "█ most 1/s") || bars > timelineColumns || int64(bars)*3 < min(seconds, timelineColumns) {
				t.Errorf("%d steps of %d s: %q", seconds, step, row)
			}
		}
	}
}

func TestWeblogTextIsSafe(t *testing.T) {
	evil := "192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] \"GET /\x1b]0;owned\x07<script>\u202e\x9b HTTP/1.1\" 200 5 \"-\" \"-\" 0.001\n\x1b[2Jbroken\n"
	s := readText(t, strings.Repeat(evil, 3))
	r := weblog.Summarize(s, weblog.View{By: weblog.Groupings()})
	var b strings.Builder
	if err := WeblogText(&b, r); err != nil {
		t.Fatal(err)
	}
	if r.Requests != 3 || r.Skipped != 3 {
		t.Fatalf("%d requests, %d skipped, want 3 and 3", r.Requests, r.Skipped)
	}
	for _, c := range b.String() {
		if c < 0x20 && c != '\n' || c == 0x7f || c == 0x202e || c >= 0x80 && c < 0xa0 || c == 0xfffd {
			t.Fatalf("%q in the output:\n%q", c, b.String())
		}
	}
}
