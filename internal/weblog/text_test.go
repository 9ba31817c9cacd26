package weblog

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wirerate/wirerate/internal/weblog/latency"
)

// awkward makes a log with long paths, upstream times, aborted requests, three
// zones and lines that are none.
func awkward(n int, seed uint64, factor float64) string {
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
func TestTextFitsTerminal(t *testing.T) {
	for _, n := range []int{1, 12, 6000} {
		after, before := readText(t, awkward(n, 1, 1), Options{Full: true}), readText(t, awkward(n, 2, 1.5), Options{Full: true})
		r, err := Compare(after, before, View{By: Groupings(), Under: []float64{0.1, 2.5}}, Judgement{Percentile: 99.99})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := r.WriteText(&b); err != nil {
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
			tl := &Timeline{Step: step}
			for at := range seconds {
				tl.Points = append(tl.Points, Point{At: at * step, Requests: uint64(step), Under: 1})
			}
			var b strings.Builder
			w := &text{bufio.NewWriter(&b)}
			w.timeline(&Report{Timeline: tl})
			w.Flush()
			row := strings.Split(b.String(), "\n")[2]
			if bars := strings.Count(row, "█"); !strings.HasSuffix(row, "█ most 1/s") || bars > timelineColumns || int64(bars)*3 < min(seconds, timelineColumns) {
				t.Errorf("%d steps of %d s: %q", seconds, step, row)
			}
		}
	}
}

// TestLogBinsHoldTimes: where times are whole milliseconds, no step is drawn that
// cannot hold one, and every request is in a step.
func TestLogBinsHoldTimes(t *testing.T) {
	var h latency.Hist
	for ms := range uint64(2000) {
		h.Add(ms * 1000)
	}
	var sum uint64
	last := 0.0
	for _, b := range logBins(&h, 1000) {
		if b.Count == 0 {
			t.Errorf("nothing between %g and %g s", b.From, *b.To)
		}
		if b.From != last {
			t.Errorf("a step begins at %g s, the one before ends at %g s", b.From, last)
		}
		last = *b.To
		sum += b.Count
	}
	if sum != 2000 {
		t.Errorf("%d requests in all steps, want 2000", sum)
	}
}

func TestPlural(t *testing.T) {
	for want, got := range map[string]string{"1 request": plural(1, "request"), "0 requests": plural(0, "request"), "1,000 classes": plural(1000, "class"), "1 class": plural(1, "class"), "1 line was": were(1, "line"), "2 lines were": were(2, "line")} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestLogBinsBegin: a log without quick requests has an empty bin for what is
// quicker, so that no drawing spreads the first requests from 0 on.
func TestLogBinsBegin(t *testing.T) {
	for _, c := range []struct {
		value uint64
		from  float64
	}{{900_000, 0.8}, {1_000_000, 1}, {0, 0}, {1000, 0.001}} {
		var h latency.Hist
		h.Add(c.value)
		bins := logBins(&h, 1000)
		last := bins[len(bins)-1]
		if last.From != c.from || last.Count != 1 || bins[0].From != 0 || len(bins) > 2 || len(bins) == 2 && (bins[0].Count != 0 || *bins[0].To != c.from) {
			t.Errorf("%d us: %+v, want one request from %g s", c.value, bins, c.from)
		}
	}
}
