package report

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/weblog"
	"github.com/wirerate/wirerate/internal/weblog/latency"
)

// textColumns is how wide a terminal WeblogText reckons with. Only what a log says,
// and counts beyond 9 digits, make a line longer.
const textColumns = 80

// WeblogText prints the request times of a log, or their comparison with another log,
// for a terminal at least 80 columns wide.
func WeblogText(out io.Writer, r *weblog.Report) error {
	w := &logText{bufio.NewWriter(out)}
	if r.Comparison != nil {
		w.verdict(r.Comparison)
	}
	w.summary(r)
	if r.Requests > 0 {
		w.graph(r.Bins, r.Requests)
		w.bins(r)
		w.percentiles(r)
		w.logGraph(r)
		w.groups(r)
		w.rates(r)
		w.timeline(r)
	}
	if r.Comparison != nil {
		w.comparison(r.Comparison)
	}
	for _, n := range weblogNotes(r) {
		w.paragraph("      ", "note: "+n)
	}
	return w.Flush()
}

type logText struct{ *bufio.Writer }

func (w *logText) f(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// paragraph prints a text in lines of which all but the first begin with the indent.
func (w *logText) paragraph(indent, text string) { w.words(indent, strings.Split(text, " ")) }

// words prints words, which stay whole, like a paragraph.
func (w *logText) words(indent string, words []string) {
	column := 0
	for i, word := range words {
		width := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+width > textColumns:
			w.f("\n%s", indent)
			column = len(indent)
		default:
			w.f(" ")
			column++
		}
		w.f("%s", word)
		column += width
	}
	w.f("\n")
}

func (w *logText) summary(r *weblog.Report) {
	w.inputs(r.Inputs)
	if r.Requests+r.Filtered+r.Skipped == 0 &&
		!slices.ContainsFunc(r.Inputs, func(in weblog.InputReport) bool { return in.Error == "" }) {
		return // what the logs hold is said there
	}
	line := fmt.Sprintf("%s sent", units.Bytes(r.Bytes))
	if r.Filtered > 0 {
		line += fmt.Sprintf(", %s more filtered out", units.Count(r.Filtered))
	}
	if c := r.Clock; c != nil {
		from, to := c.Span()
		line += fmt.Sprintf(", %s to %s", from.Format("2006-01-02 15:04:05"), to.Format("2006-01-02 15:04:05 UTC"))
	}
	w.paragraph("  ", units.Plural(r.Requests, "request")+", "+line)
	w.skipped(r)
}

// namedInputs is how many lines say what was read without fault.
const namedInputs = 8

// inputs says what was read; logs of the same format share a line.
func (w *logText) inputs(inputs []weblog.InputReport) {
	lines, left := 0, 0
	type kind struct{ format, note string }
	same := map[kind]int{}
	for _, in := range inputs {
		if in.Error == "" {
			same[kind{in.Format, in.Note}]++
		}
	}
	for _, in := range inputs {
		k := kind{in.Format, in.Note}
		if in.Error != "" {
			w.paragraph("  ", in.Name+": "+in.Error)
			continue
		}
		if same[k] == 0 {
			continue
		}
		if lines++; lines > namedInputs {
			left += same[k]
			same[k] = 0
			continue
		}
		line := in.Name
		if same[k] > 1 {
			line += fmt.Sprintf(" and %s", units.Plural(uint64(same[k]-1), "more log"))
		}
		same[k] = 0
		if line += ": " + in.Format; in.Note != "" {
			line += "; " + in.Note
		}
		w.paragraph("  ", line)
	}
	if left > 0 {
		w.f("%s; --json names all\n", units.Plural(uint64(left), "more log"))
	}
}

func (w *logText) skipped(r *weblog.Report) {
	if r.Skipped == 0 {
		return
	}
	w.f("%s skipped (", units.Plural(r.Skipped, "line"))
	for i, k := range slices.Sorted(maps.Keys(r.SkippedFor)) {
		if i > 0 {
			w.f(", ")
		}
		w.f("%s %s", strings.ReplaceAll(k, "_", " "), units.Count(r.SkippedFor[k]))
	}
	w.f("); the first:\n")
	for _, e := range r.Examples {
		w.f("  %s line %d %s: %s\n", e.Input, e.Line, e.Reason, e.Text)
	}
}

const (
	graphRows = 16
	// labelledRows is the distance of the rows that carry a count.
	labelledRows = 3
)

// graph draws the counts by 100 ms as columns, the times to the right.
func (w *logText) graph(bins []weblog.Bin, requests uint64) {
	most := uint64(1)
	for _, b := range bins {
		most = max(most, b.Count)
	}
	w.f("\nrequests by 100 ms (%s in all)\n", units.Count(requests))
	for row := graphRows; row >= 1; row-- {
		fill := byte('.')
		if (row-1)%labelledRows == 0 {
			fill = '_'
			w.f("%10s |", units.Count(uint64(math.Ceil(float64(most)*float64(row)/graphRows))))
		} else {
			w.f("%10s |", "")
		}
		line := make([]byte, len(bins))
		for i, b := range bins {
			line[i] = fill
			// Any count shows in the lowest row.
			if b.Count*graphRows > most*uint64(row-1) {
				line[i] = '|'
			}
		}
		w.f("%s\n", line)
	}
	w.f("%10s  %s>\n", "time in s", strings.Repeat("^----", (len(bins)-1)/5))
	w.f("%10s  ", "")
	for i := 0; i < len(bins)-1; i += 10 {
		w.f("%-10s", digits(bins[i].From))
	}
	w.f("%s\n", digits(bins[len(bins)-1].From))
}

// bins lists the counts and shares, empty bins left out.
func (w *logText) bins(r *weblog.Report) {
	w.f("\n")
	column := 0
	for _, b := range r.Bins {
		if b.Count == 0 {
			continue
		}
		label := fmt.Sprintf("%.1f+ s", b.From)
		if b.To != nil {
			label = fmt.Sprintf("%.1f-%.1f s", b.From, *b.To)
		}
		cell := fmt.Sprintf(" %9s %8s %6s", label, units.Count(b.Count), hundredths(float64(b.Count)/float64(r.Requests)))
		if column += len(cell); column > textColumns {
			w.f("\n")
			column = len(cell)
		}
		w.f("%s", cell)
	}
	w.f("\n")
}

func (w *logText) percentiles(r *weblog.Report) {
	w.f("\npercentile   time  %s%% interval\n", digits(100*r.Confidence))
	open := false
	for _, k := range slices.SortedFunc(maps.Keys(r.Percentiles), byNumber) {
		e := r.Intervals[k]
		open = open || e.Low == nil || e.High == nil
		w.f("  p%-6s %8s  %s\n", k, shortSeconds(e.Value), interval(e, shortSeconds))
	}
	w.f("  mean    %8s  least %s, most %s\n", shortSeconds(r.Mean), shortSeconds(r.Min), shortSeconds(r.Max))
	for _, k := range slices.SortedFunc(maps.Keys(r.Under), byNumber) {
		w.f("  under %s s: %s  %s\n", k, hundredths(r.Under[k]), interval(r.UnderCI[k], hundredths))
	}
	if open {
		w.f("  ?: there are too few requests to say\n")
	}
}

// logGraph draws the distribution with bins that grow with the time. Empty bins in
// a row are drawn as one.
func (w *logText) logGraph(r *weblog.Report) {
	most := uint64(1)
	for _, b := range r.LogBins {
		most = max(most, b.Count)
	}
	w.f("\n%9s  %9s\n", "below", "requests")
	for i, b := range r.LogBins {
		if b.Count == 0 && i+1 < len(r.LogBins) && r.LogBins[i+1].Count == 0 {
			continue
		}
		line := fmt.Sprintf("%9s  %9s %7s %s", shortSeconds(*b.To), units.Count(b.Count),
			hundredths(float64(b.Count)/float64(r.Requests)), bar(b.Count, most, 44))
		w.f("%s\n", strings.TrimRight(line, " "))
	}
}

func bar(n, most uint64, width int) string {
	eighths := int(math.Round(float64(n) / float64(most) * float64(width) * 8))
	if n > 0 {
		eighths = max(eighths, 1)
	}
	full, part := eighths/8, eighths%8
	s := strings.Repeat("█", full)
	if part > 0 {
		s += string([]rune(" ▏▎▍▌▋▊▉")[part])
	}
	return s
}

// groupName is the width of the names of groups; a longer name has a line of its own.
const groupName = 30

func (w *logText) groups(r *weblog.Report) {
	by := ""
	for _, g := range r.Groups {
		if g.By != by {
			by = g.By
			w.groupRow("\nby "+by, groupName+1, "requests", "share", "mean", "p50", "p95", "<"+underLabel(g))
		}
		name := terminal.Clip(g.Name, textColumns-1)
		if utf8.RuneCountInString(name) > groupName {
			w.f("%s\n", name)
			name = ""
		}
		w.groupRow(name, groupName, units.Count(g.Requests), hundredths(g.Share), shortSeconds(g.Mean),
			optional(g.Percentiles, "50"), optional(g.Percentiles, "95"), hundredths(g.Under[firstKey(g.Under)]))
	}
}

func (w *logText) groupRow(name string, width int, requests, share, mean, p50, p95, under string) {
	w.f("%-*s %9s %7s %7s %7s %7s %7s\n", width, name, requests, share, mean, p50, p95, under)
}

func underLabel(g weblog.Group) string { return firstKey(g.Under) + " s" }

func firstKey(m map[string]float64) string {
	if k := slices.SortedFunc(maps.Keys(m), byNumber); len(k) > 0 {
		return k[0]
	}
	return ""
}

func optional(m map[string]float64, key string) string {
	if v, ok := m[key]; ok {
		return shortSeconds(v)
	}
	return "-"
}

func (w *logText) rates(r *weblog.Report) {
	if r.Rate != nil {
		fast := ""
		if r.Rate.Instant > 0 {
			fast = "; " + units.Count(r.Rate.Instant) + " more were too fast to tell"
		}
		w.f("\nbytes per second of single requests (%s%s)\n", units.Count(r.Rate.Requests), fast)
		if r.Rate.Requests > 0 {
			w.quantiles("", r.Rate.Percentiles, func(v float64) string { return units.Bytes(v).String() + "/s" })
		}
	}
	if u := r.Upstream; u != nil {
		w.f("\n%s with an upstream time\n", units.Plural(u.Requests, "request"))
		w.quantiles("upstream  ", u.Behind, shortSeconds)
		w.quantiles("outside it", u.Outside, shortSeconds)
	}
}

// quantiles prints percentiles in a row.
func (w *logText) quantiles(name string, p map[string]float64, format func(float64) string) {
	words := []string{fmt.Sprintf(" %s", name)}
	for _, k := range slices.SortedFunc(maps.Keys(p), byNumber) {
		words = append(words, "p"+k+" "+format(p[k]))
	}
	w.words("    ", words)
}

// timelineColumns is the width of the timeline's picture.
const timelineColumns = 48

// timeline draws requests and slow requests over time as two rows of bars.
func (w *logText) timeline(r *weblog.Report) {
	t := r.Timeline
	if t == nil || len(t.Points) < 2 {
		return
	}
	first := t.Points[0].At
	steps := (t.Points[len(t.Points)-1].At-first)/t.Step + 1
	each := (steps + timelineColumns - 1) / timelineColumns // steps to a column
	length := each * t.Step                                 // in s
	load, slow := make([]float64, (steps+each-1)/each), make([]float64, (steps+each-1)/each)
	for _, p := range t.Points {
		i := (p.At - first) / length
		load[i] += float64(p.Requests)
		slow[i] += float64(p.Requests) * (1 - p.Under)
	}
	for i := range slow {
		if load[i] > 0 {
			slow[i] /= load[i]
		}
		load[i] /= float64(min(length, (steps-int64(i)*each)*t.Step)) // the last column is short
	}
	w.f("\nover time, %s a column\n  requests      %s most %s/s\n  over 100 ms   %s most %s\n",
		units.Duration(time.Duration(length)*time.Second),
		spark(load), digits(math.Round(10*slices.Max(load))/10), spark(slow), hundredths(slices.Max(slow)))
}

func spark(v []float64) string {
	levels := []rune(" ▁▂▃▄▅▆▇█")
	most := slices.Max(v)
	out := make([]rune, len(v))
	for i, x := range v {
		out[i] = levels[0]
		if x > 0 {
			out[i] = levels[max(1, int(math.Round(x/most*float64(len(levels)-1))))]
		}
	}
	return string(out)
}

func (w *logText) comparison(c *weblog.Comparison) {
	w.f("\nagainst %s before\n", units.Plural(c.Before.Requests, "request"))
	w.summary(c.Before)
	w.shifts("as logged", c.Shifts)
	if m := c.Matched; m != nil {
		w.shifts(fmt.Sprintf("same objects and sizes: %s, %s before, %s after", units.Plural(uint64(m.Classes), "class"),
			hundredths(m.BeforeShare), hundredths(m.AfterShare)), m.Shifts)
	}
	w.f("\n")
	for _, u := range c.Under {
		w.f("under %s s: %s before, %s after: %+.2f points %s\n", digits(u.Under), hundredths(u.Before),
			hundredths(u.After), 100*u.Change.Value, interval(u.Change, points))
	}
	w.paragraph("  ", kolmogorovWords(c.KS))
}

// kolmogorovWords say where two distributions differ most.
func kolmogorovWords(t weblog.KolmogorovTest) string {
	if t.D == 0 {
		return "Kolmogorov-Smirnov: the distributions do not differ"
	}
	return fmt.Sprintf("Kolmogorov-Smirnov: the distributions differ most below %s, by %s of the requests, p %s",
		shortSeconds(t.At), hundredths(t.D), probability(t.P))
}

// verdict is the answer, before what it was made of.
func (w *logText) verdict(c *weblog.Comparison) {
	w.f("verdict at p%s, for changes of %s or more: %s\n", c.Judge, hundredths(c.Margin), c.Verdict.Words())
	for _, s := range c.Decisive() {
		if s.Percentile == c.Judge {
			w.f("  %s before, %s after: %s %s\n", shortSeconds(s.Before.Value), shortSeconds(s.After.Value),
				signed(s.Change.Value), interval(s.Change, signed))
		}
	}
	w.f("\n")
}

func (w *logText) shifts(title string, shifts []weblog.Shift) {
	tested := slices.ContainsFunc(shifts, func(s weblog.Shift) bool { return s.P != nil })
	header := ""
	if tested {
		header = fmt.Sprintf(" %6s", "p")
	}
	w.f("\n%s\n %6s %7s %7s %8s %-19s%s\n", title, "", "before", "after", "change", "interval", header)
	for _, s := range shifts {
		p := ""
		if s.P != nil {
			p = probability(*s.P)
		}
		if tested {
			p = fmt.Sprintf(" %6s", p)
		}
		verdict := strings.Replace(s.Verdict.Words(), "difference", "diff.", 1) // to fit
		w.f(" %6s %7s %7s %8s %-19s%s %s\n", "p"+s.Percentile, shortSeconds(s.Before.Value), shortSeconds(s.After.Value),
			signed(s.Change.Value), interval(s.Change, signed), p, verdict)
	}
}

func probability(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

func points(v float64) string { return fmt.Sprintf("%+.2f", 100*v) }

func interval(e latency.Estimate, format func(float64) string) string {
	lo, hi := "?", "?"
	if e.Low != nil {
		lo = format(*e.Low)
	}
	if e.High != nil {
		hi = format(*e.High)
	}
	return "[" + lo + ", " + hi + "]"
}

// shortSeconds prints a time with at most three digits.
func shortSeconds(v float64) string {
	if v < 0 {
		return "-" + shortSeconds(-v)
	}
	if v == 0 {
		return "0 s"
	}
	if v >= 60 {
		return fmt.Sprintf("%.0f s", v)
	}
	step := math.Pow(10, math.Floor(math.Log10(v))-2)
	v = math.Round(v/step) * step
	return units.Duration(time.Duration(math.Round(v * 1e9)))
}

func signed(v float64) string {
	if v > 0 {
		return "+" + shortSeconds(v)
	}
	return shortSeconds(v)
}

// hundredths prints a part of 1 in percent with two digits behind the point.
func hundredths(v float64) string { return fmt.Sprintf("%.2f%%", 100*v) }

// digits prints v with as many digits as it has.
func digits(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
