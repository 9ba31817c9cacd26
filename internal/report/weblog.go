package report

import (
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/weblog"
	"github.com/wirerate/wirerate/internal/weblog/latency"
)

type weblogView struct {
	*weblog.Report
	Headline, Follow                            string
	Percentiles, Matched                        []percentileRow
	Groups                                      []groupTable
	Span                                        string
	Cumulative, Histogram, ShiftChart, Timeline template.HTML
	Shares                                      []shareRow
	Differ                                      string // where the two distributions differ most
	Upstream                                    []upstreamRow
	Rates                                       []rateRow
	Read                                        []readTable
	AllNotes                                    []string
	Open                                        bool // an interval has no end
	Trial                                       *view
}

// shareRow is the share of the requests below a time, before and after where
// there are two.
type shareRow struct{ Under, Before, After, Change string }

type rateRow struct{ Name, Rate string }

// readTable is what was read of the logs of one side.
type readTable struct {
	Title   string
	Inputs  []weblog.InputReport
	Skipped []weblog.Skip
	Why     []string
}

type upstreamRow struct{ Name, Behind, Outside string }

// percentileRow is a percentile's time, before and after where there are two.
type percentileRow struct{ Name, Before, After, Change, Verdict string }

type groupTable struct {
	By   string
	Rows []groupRow
}

type groupRow struct{ Name, Requests, Share, Mean, P50, P95 string }

// WeblogHTML writes the request times of a log, or their comparison with
// another log, as one page.
func WeblogHTML(w io.Writer, r *weblog.Report) error { return weblogPage(w, r, nil) }

// WeblogTrialHTML is WeblogHTML with what a trial of the change found beside it.
func WeblogTrialHTML(w io.Writer, r *weblog.Report, trial Result) error {
	v := newView(trial)
	return weblogPage(w, r, &v)
}

func weblogPage(w io.Writer, r *weblog.Report, trial *view) error {
	v := weblogView{Report: r, Headline: weblogHeadline(r), Groups: groupTables(r.Groups), Trial: trial,
		Shares: shareRows(r), Upstream: upstreamRows(r.Upstream),
		Rates: rateRows(r.Rate), Read: readTables(r), AllNotes: weblogNotes(r),
		Cumulative: template.HTML(cumulativeChart(r)), Histogram: template.HTML(histogramChart(r)), Timeline: template.HTML(timelineChart(r))}
	if r.Clock != nil {
		from, to := r.Clock.Span()
		v.Span = from.Format("2006-01-02 15:04") + " to " + to.Format("2006-01-02 15:04 MST")
	}
	c := r.Comparison
	if c == nil {
		for _, p := range slices.SortedFunc(maps.Keys(r.Intervals), byNumber) {
			e := r.Intervals[p]
			v.Open = v.Open || e.Low == nil || e.High == nil
			v.Percentiles = append(v.Percentiles, percentileRow{Name: "p" + p, After: estimateWords(e)})
		}
		return writePage(w, "weblog", v)
	}
	v.Follow = fmt.Sprintf("Percentile %s decides; a change of %s or more counts as worthwhile.",
		c.Judge, percent(c.Margin))
	v.Differ = fmt.Sprintf("The two distributions differ most at %s, by %s of the requests (Kolmogorov-Smirnov, %s).",
		longSeconds(c.KS.At), percent(c.KS.D), chance(c.KS.P))
	v.Percentiles, v.ShiftChart = shiftRows(c.Shifts), template.HTML(shiftChart(c.Shifts, c.Margin))
	if c.Matched != nil {
		v.Matched, v.ShiftChart = shiftRows(c.Matched.Shifts), template.HTML(shiftChart(c.Matched.Shifts, c.Margin))
	}
	return writePage(w, "weblog", v)
}

// readTables say what was read and what was not.
func readTables(r *weblog.Report) []readTable {
	table := func(title string, r *weblog.Report) readTable {
		t := readTable{Title: title, Inputs: r.Inputs, Skipped: r.Examples}
		for _, why := range slices.Sorted(maps.Keys(r.SkippedFor)) {
			t.Why = append(t.Why, strings.ReplaceAll(why, "_", " ")+" "+units.Count(r.SkippedFor[why]))
		}
		return t
	}
	if r.Comparison == nil {
		return []readTable{table("What was read", r)}
	}
	return []readTable{table("What was read: after", r), table("What was read: before", r.Comparison.Before)}
}

func rateRows(r *weblog.Rate) []rateRow {
	if r == nil {
		return nil
	}
	var out []rateRow
	for _, p := range slices.SortedFunc(maps.Keys(r.Percentiles), byNumber) {
		out = append(out, rateRow{"p" + p, sizeOf(r.Percentiles[p]) + "/s"})
	}
	return out
}

// chance prints a probability.
func chance(p float64) string {
	if p < 0.0001 {
		return "p < 0.0001"
	}
	return "p " + significant(p)
}

func shareRows(r *weblog.Report) []shareRow {
	var out []shareRow
	words := func(e latency.Estimate, form func(float64) string) string {
		if e.Low == nil || e.High == nil {
			return form(e.Value)
		}
		return fmt.Sprintf("%s (%s to %s)", form(e.Value), form(*e.Low), form(*e.High))
	}
	if c := r.Comparison; c != nil {
		for _, u := range c.Under {
			out = append(out, shareRow{longSeconds(u.Under), hundredths(u.Before), hundredths(u.After),
				words(u.Change, points) + " points"})
		}
		return out
	}
	for _, k := range slices.SortedFunc(maps.Keys(r.UnderCI), byNumber) {
		if t, err := strconv.ParseFloat(k, 64); err == nil {
			out = append(out, shareRow{Under: longSeconds(t), After: words(r.UnderCI[k], hundredths)})
		}
	}
	return out
}

func upstreamRows(u *weblog.Upstream) []upstreamRow {
	if u == nil {
		return nil
	}
	var out []upstreamRow
	for _, p := range slices.SortedFunc(maps.Keys(u.Behind), byNumber) {
		out = append(out, upstreamRow{"p" + p, longSeconds(u.Behind[p]), longSeconds(u.Outside[p])})
	}
	return out
}

// weblogNotes are those of both sides of a comparison, each with its side.
func weblogNotes(r *weblog.Report) []string {
	c := r.Comparison
	if c == nil {
		return r.Notes
	}
	var all []string
	for _, n := range r.Notes {
		side := "after: "
		if slices.Contains(c.Before.Notes, n) {
			side = "before and after: "
		}
		all = append(all, side+n)
	}
	for _, n := range c.Before.Notes {
		if !slices.Contains(r.Notes, n) {
			all = append(all, "before: "+n)
		}
	}
	return append(all, c.Notes...)
}

func weblogHeadline(r *weblog.Report) string {
	switch c := r.Comparison; {
	case r.Requests == 0 && r.Filtered > 0:
		return "No request passes the filters"
	case r.Requests == 0:
		return "No request was read"
	case r.Requests == 1 && c == nil:
		return fmt.Sprintf("One request took %s", longSeconds(r.Percentiles["95"]))
	case c == nil:
		return fmt.Sprintf("95%% of %s requests took at most %s", units.Count(r.Requests), longSeconds(r.Percentiles["95"]))
	default:
		head := map[stats.Verdict]string{stats.Helps: "Requests got faster", stats.Hurts: "Requests got slower",
			stats.NoDifference: "No worthwhile difference", stats.NotEnough: "Not enough evidence"}[c.Verdict]
		for _, s := range c.Decisive() {
			if s.Percentile == c.Judge {
				return fmt.Sprintf("%s: p%s went from %s to %s", head, c.Judge, longSeconds(s.Before.Value),
					longSeconds(s.After.Value))
			}
		}
		return head
	}
}

// longSeconds prints a request time, for which 0 is a value.
func longSeconds(s float64) string {
	if s == 0 {
		return "0 s"
	}
	return seconds(s)
}

func estimateWords(e latency.Estimate) string {
	end := func(v *float64) string {
		if v == nil {
			return "?"
		}
		return longSeconds(*v)
	}
	return fmt.Sprintf("%s (%s to %s)", longSeconds(e.Value), end(e.Low), end(e.High))
}

func shiftRows(shifts []weblog.Shift) []percentileRow {
	var out []percentileRow
	for _, s := range shifts {
		row := percentileRow{Name: "p" + s.Percentile, Before: longSeconds(s.Before.Value),
			After: longSeconds(s.After.Value), Verdict: s.Verdict.Words()}
		if e := shiftEstimate(s); e.ratio > 0 {
			row.Change = e.words
		}
		out = append(out, row)
	}
	return out
}

// shiftEstimate turns a change in seconds into a ratio with its interval.
func shiftEstimate(s weblog.Shift) estimate {
	e := estimate{name: "p" + s.Percentile, class: "drop"}
	if !(s.Before.Value > 0) {
		return e
	}
	e.ratio = s.After.Value / s.Before.Value
	e.low, e.high = ratioEnds(s.After, s.Before)
	e.words = times(e.ratio)
	if e.low > 0 {
		e.words += " (" + span(e.ratio, e.low, e.high) + ")"
	}
	switch s.Verdict {
	case stats.Helps:
		e.class, e.shape = armClass(1), 1
	case stats.Hurts:
		e.class, e.shape = armClass(0), 3
	}
	return e
}

// ratioEnds is the interval of a ratio that the intervals of its two sides give (Donner and
// Zou, Stat. Methods Med. Res. 21 (2012), 347). It holds 1 where that of their difference
// holds 0. Without an end on either side it is 0, 0.
func ratioEnds(a, b latency.Estimate) (low, high float64) {
	if a.Low == nil || a.High == nil || b.Low == nil || b.High == nil || *b.Low <= 0 {
		return 0, 0
	}
	mid := a.Value * b.Value
	end := func(above, below float64) float64 { return math.Sqrt(max(0, mid*mid-above*below)) }
	above, below := *a.Low*(2*a.Value-*a.Low), *b.High*(2*b.Value-*b.High)
	low = above / (mid + end(above, below))
	above, below = *a.High*(2*a.Value-*a.High), *b.Low*(2*b.Value-*b.Low)
	return low, (mid + end(above, below)) / below
}

func shiftChart(shifts []weblog.Shift, margin float64) string {
	var rows []estimate
	for _, s := range shifts {
		if e := shiftEstimate(s); e.ratio > 0 {
			rows = append(rows, e)
		}
	}
	if len(rows) == 0 {
		return ""
	}
	return forest("request time after over before; left is faster", margin, rows)
}

// logs are the reports that a chart draws, the reference first.
func logs(r *weblog.Report) []*weblog.Report {
	if r.Comparison != nil && r.Comparison.Before != nil {
		return []*weblog.Report{r.Comparison.Before, r}
	}
	return []*weblog.Report{r}
}

// logClass keeps the colours of the arms: before is the default's.
func logClass(i, n int) string { return armClass(i + 2 - n) }

const chartHeight = 200.0

// cumulativeChart draws the share of requests answered within a time.
func cumulativeChart(r *weblog.Report) string {
	all := logs(r)
	var edges []float64
	for _, log := range all {
		for _, b := range log.LogBins {
			if b.To != nil {
				edges = append(edges, b.From, *b.To)
			}
		}
	}
	if len(edges) == 0 {
		return ""
	}
	var c canvas
	a := newAxis(true, edges...)
	c.drawAxis(a, []band{{0, chartHeight}}, chartHeight, seconds)
	down := func(share float64) float64 { return chartHeight * (1 - share) }
	for _, share := range []float64{0, 0.25, 0.5, 0.75, 0.95} {
		c.line("grid", 0, down(share), 1, down(share))
		c.text("s", "start", 0, down(share)-3, percent(share))
	}
	for i, log := range all {
		class, x, sum := "curve "+logClass(i, len(all)), a.at(a.min), uint64(0)
		for _, b := range log.LogBins {
			if b.To == nil {
				continue
			}
			next := a.at(max(*b.To, a.min))
			before := float64(sum) / float64(max(1, log.Requests))
			sum += b.Count
			after := float64(sum) / float64(max(1, log.Requests))
			c.line(class, x, down(before), next, down(after))
			x = next
		}
	}
	c.text("s", "end", 1, chartHeight+34, "request time, logarithmic; up: share answered within it")
	return c.chart(chartHeight+40, "share of the requests answered within a time")
}

// histogramChart draws the requests by steps of 100 ms on a logarithmic height.
func histogramChart(r *weblog.Report) string {
	all := logs(r)
	lowest, bins := 1.0, 0
	for _, log := range all {
		for k, b := range log.Bins {
			if b.Count > 0 {
				bins = max(bins, k+1)
				lowest = min(lowest, float64(b.Count)/float64(log.Requests))
			}
		}
	}
	if bins == 0 || r.Requests == 0 {
		return ""
	}
	floor := math.Floor(math.Log10(lowest) - 0.1)
	up := func(share float64) float64 {
		if share <= 0 {
			return 0
		}
		return chartHeight * (1 - math.Log10(share)/floor)
	}
	var c canvas
	for e := 0.0; e > floor; e-- {
		c.line("grid", 0, chartHeight-up(math.Pow(10, e)), 1, chartHeight-up(math.Pow(10, e)))
		if e < 0 {
			c.text("s", "end", 1, chartHeight-up(math.Pow(10, e))-3, percentTick(math.Pow(10, e)))
		}
	}
	for i, log := range all {
		class := logClass(i, len(all))
		last := 0.0
		for k, b := range log.Bins[:min(bins, len(log.Bins))] {
			h := up(float64(b.Count) / float64(max(1, log.Requests)))
			x := float64(k) / float64(bins)
			if class == armClass(1) {
				c.titled("column "+class, x, x+0.9/float64(bins), chartHeight-h, h, fmt.Sprintf("from %s: %s requests",
					secondsTick(b.From), units.Count(b.Count)))
			} else {
				c.line("curve "+class, x, chartHeight-last, x, chartHeight-h)
				c.line("curve "+class, x, chartHeight-h, float64(k+1)/float64(bins), chartHeight-h)
			}
			last = h
		}
	}
	for k := 0; k < bins; k += max(1, (bins+7)/8) {
		c.text("s", "start", float64(k)/float64(bins), chartHeight+16, secondsTick(all[len(all)-1].Bins[k].From))
	}
	c.text("s", "end", 1, chartHeight+34, "request time by 100 ms; up: share, logarithmic")
	return c.chart(chartHeight+40, "requests by steps of 100 ms")
}

func percentTick(share float64) string { return strconv.FormatFloat(share*100, 'g', 2, 64) + "%" }
func secondsTick(s float64) string     { return strconv.FormatFloat(s, 'g', 3, 64) + " s" }

func groupTables(groups []weblog.Group) []groupTable {
	var out []groupTable
	for _, g := range groups {
		if len(out) == 0 || out[len(out)-1].By != g.By {
			out = append(out, groupTable{By: g.By})
		}
		row := groupRow{Name: g.Name, Requests: units.Count(g.Requests), Share: hundredths(g.Share),
			Mean: longSeconds(g.Mean), P50: "–", P95: "–"}
		if v, ok := g.Percentiles["50"]; ok {
			row.P50 = longSeconds(v)
		}
		if v, ok := g.Percentiles["95"]; ok {
			row.P95 = longSeconds(v)
		}
		last := &out[len(out)-1]
		last.Rows = append(last.Rows, row)
	}
	return out
}

// byNumber orders names of percentiles: 50, 75, 99, 99.9.
func byNumber(a, b string) int {
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	return int(math.Copysign(1, x-y))
}
