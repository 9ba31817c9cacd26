package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/workload"
)

// armName is how many cells of an arm's name a chart has room for.
const armName = 18

// armClass and armShape tell arms apart.
func armClass(i int) string { return fmt.Sprintf("a%d", i%armShapes) }
func armShape(i int) int    { return i % armShapes }

// roofline draws the goodput ceilings as walls on a logarithmic axis, as found
// and with the plan, and below them the measured runs of every arm, whose
// medians reach up through the ceilings. It returns the drawing's height.
func roofline(c *canvas, r Result) float64 {
	var table []row
	var values []float64
	for _, row := range rows(r) {
		known := false
		for _, ceiling := range []*diagnose.Ceiling{row.Before, row.After} {
			if ceiling != nil && ceiling.Metric == diagnose.Goodput && ceiling.Known {
				values, known = append(values, ceiling.Value), true
			}
		}
		if known {
			table = append(table, row)
		}
	}
	for _, arm := range r.Arms {
		values = append(values, goodputs(arm)...)
	}
	if len(values) == 0 {
		return 0
	}
	values, cut := nearOnly(r, values)
	a := newAxis(true, values...).widen(0.05)
	lines := len(table)
	for i, arm := range r.Arms {
		if len(goodputs(arm)) > 0 {
			lines = len(table) + i + 1
		}
	}
	bands := tracks(lines)
	bottom := rowStep * float64(len(bands))
	c.drawAxis(a, bands, bottom, shortBits)
	for i, row := range table {
		rooflineRow(c, a, row, [2]string{beforeWords(r), afterWords(r)}, rowStep*float64(i))
	}
	for i, arm := range r.Arms {
		if m := arm.Median.GoodputBPS; m > 0 {
			c.through("guide "+armClass(i), a.at(m), bands[:len(table)+i])
		}
	}
	for i, arm := range r.Arms {
		if len(goodputs(arm)) == 0 {
			continue
		}
		y := rowStep * float64(len(table)+i)
		c.text("t b", "start", 0, y+rowText, "measured: "+terminal.Clip(arm.Name, armName))
		c.text("t b", "end", 1, y+rowText, bits(arm.Median.GoodputBPS))
		c.line("track", 0, y+rowTrack, 1, y+rowTrack)
		drawRuns(c, a, arm.Median.GoodputBPS, goodputs(arm), arm.Name, i, y+rowTrack)
	}
	words := "goodput in bit/s, logarithmic"
	if cut {
		words += "; →: far above, not to scale"
	}
	c.text("s", "end", 1, bottom+34, words)
	return bottom + 40
}

// nearOnly leaves out the ceilings far above what matters, which would squeeze the
// rest together: more than four times the highest run, the link and the lowest
// ceilings. They are drawn at the end of the axis.
func nearOnly(r Result, values []float64) (near []float64, cut bool) {
	most := r.LinkGoodput
	for _, ceilings := range [][]diagnose.Ceiling{r.Ceilings, r.After} {
		if lowest, ok := diagnose.Binding(ceilings); ok {
			most = max(most, lowest.Value)
		}
	}
	for _, arm := range r.Arms {
		for _, v := range goodputs(arm) {
			most = max(most, v)
		}
	}
	if !(most > 0) {
		return values, false
	}
	for _, v := range values {
		near, cut = append(near, min(v, 4*most)), cut || v > 4*most
	}
	return near, cut
}

// rooflineRow draws one ceiling: hollow as found, filled with the arm that
// changes it, as when names them.
func rooflineRow(c *canvas, a axis, row row, when [2]string, y float64) {
	name, class := terminal.Clip(row.Name, 18), "t"
	switch {
	case row.Binds && (row.BindsA || row.After == nil):
		name, class = name+" · binds", "t b"
	case row.Binds:
		name, class = name+" · bound", "t b"
	case row.BindsA:
		name, class = name+" · binds now", "t b"
	}
	before, after := known(row.Before), known(row.After)
	c.text(class, "start", 0, y+rowText, name)
	far := ""
	if max(before, after) > a.max {
		far = " →"
	}
	c.text(class, "end", 1, y+rowText, move(before, after)+far)
	y += rowTrack
	c.bar("room", 0, a.at(max(before, after)), y-5, 10)
	if before > 0 {
		c.bar("room", 0, a.at(before), y-5, 10)
	}
	if after > 0 {
		c.marker("wall full", wall, a.at(after), y, when[1]+": "+bits(after))
	}
	if before > 0 && !(after > 0 && bits(before) == bits(after)) {
		c.marker("wall", wall, a.at(before), y, when[0]+": "+bits(before))
	}
}

// move prints a rate before and after in one unit; 0 is not known.
func move(before, after float64) string {
	was, is := bits(before), bits(after)
	switch {
	case after == 0:
		return was
	case before == 0 || was == is:
		return is
	}
	_, unit, _ := strings.Cut(bits(max(before, after)), " ")
	number := func(v float64) string {
		scale := map[byte]float64{'k': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12}[unit[0]]
		return strconv.FormatFloat(v/max(1, scale), 'g', 3, 64)
	}
	return number(before) + " → " + number(after) + " " + unit
}

func known(c *diagnose.Ceiling) float64 {
	if c == nil || !c.Known {
		return 0
	}
	return c.Value
}

func goodputs(arm Arm) []float64 { return quantityOf(workload.Goodput).values(arm) }

// drawRuns puts runs on a line, and their median among them.
func drawRuns(c *canvas, a axis, median float64, values []float64, name string, index int, y float64) {
	for _, v := range values {
		c.add(`<line class="dot %s" x1="%s" y1="%g" x2="%s" y2="%g"><title>%s</title></line>`, armClass(index),
			at(a.at(v)), y-8, at(a.at(v)), y+8, html.EscapeString(terminal.Clean(name+", a run")))
	}
	if median > 0 {
		c.marker("mark "+armClass(index), armShape(index), a.at(median), y, name+", median")
	}
}

// scaled is what a chart of runs shows: the metric that decides, or, when the arms
// are too far apart for one axis, each run against its own arm's median.
type scaled struct {
	of       quantity
	arms     [][]float64 // by arm and run; 0 for a run without a value
	medians  []float64
	relative bool
	axis     axis
}

func scaleRuns(r Result) (scaled, bool) {
	s := scaled{of: decides(r)}
	var all []float64
	for _, arm := range r.Arms {
		all = append(all, s.of.values(arm)...)
		s.medians = append(s.medians, s.of.of(arm.Median))
	}
	s.relative = spread(all)
	var shown []float64
	for i, arm := range r.Arms {
		var values []float64
		for _, run := range arm.Runs {
			v := max(0, s.of.of(run.Metrics))
			if s.relative {
				v /= s.medians[i]
			}
			if math.IsNaN(v) || math.IsInf(v, 0) {
				v = 0
			}
			values = append(values, v)
		}
		s.arms, shown = append(s.arms, values), append(shown, values...)
	}
	s.axis = newAxis(spread(shown), shown...).widen(0.08)
	return s, len(all) > 0
}

func (s scaled) label(v float64) string {
	if s.relative {
		return strings.TrimPrefix(strings.Replace(change(v), ".0%", "%", 1), "±")
	}
	return s.of.tick(v)
}

// note says how to read a chart of runs in time order.
func (s scaled) note() string {
	if s.relative {
		return "The arms are too far apart for one axis, so each run is shown against the median of its own arm."
	}
	return "The broken lines are the arms' medians."
}

func (s scaled) title() string {
	if s.relative {
		return s.of.words + " of a run against the median of its arm"
	}
	return axisTitle(s.of.title(), s.axis)
}

// runsInTime draws every run in the order in which it was made, time downwards
// being the one direction with room on every screen.
func runsInTime(r Result) string {
	s, ok := scaleRuns(r)
	if !ok {
		return ""
	}
	total := 0
	for _, arm := range r.Arms {
		for _, run := range arm.Runs {
			total = max(total, run.Order+1)
		}
	}
	var c canvas
	step := max(4, min(18, 560/float64(total)))
	bottom := step*float64(total) + 12
	c.drawAxis(s.axis, []band{{0, bottom}}, bottom, s.label)
	for i, m := range s.medians {
		switch {
		case s.relative:
			c.line("one", s.axis.at(1), 0, s.axis.at(1), bottom)
		case m > 0:
			c.line("guide "+armClass(i), s.axis.at(m), 0, s.axis.at(m), bottom)
		}
	}
	for i, arm := range r.Arms {
		for k, run := range arm.Runs {
			if s.arms[i][k] > 0 && run.Order >= 0 {
				title := fmt.Sprintf("run %d, pair %d, %s after the start, %s: %s", run.Order+1, run.Pair+1, seconds(run.At),
					arm.Name, s.of.print(s.of.of(run.Metrics)))
				c.marker("mark "+armClass(i), armShape(i), s.axis.at(s.arms[i][k]), 12+step*float64(run.Order), title)
			}
		}
	}
	c.text("s", "start", 0, bottom+34, "↓ later")
	c.text("s", "end", 1, bottom+34, s.title())
	return c.chart(bottom+40, s.of.words+" of each run in the order of the runs")
}

func axisTitle(what string, a axis) string {
	if a.log {
		return what + ", logarithmic"
	}
	return what + ", axis not from 0"
}

// distributions draws each arm's runs with the middle half as a box.
func distributions(r Result) string {
	s, ok := scaleRuns(r)
	if !ok {
		return ""
	}
	var c canvas
	bands := tracks(len(r.Arms))
	bottom := rowStep * float64(len(r.Arms))
	c.drawAxis(s.axis, bands, bottom, s.label)
	for i, arm := range r.Arms {
		y := rowStep * float64(i)
		values := slices.DeleteFunc(slices.Clone(s.arms[i]), func(v float64) bool { return v <= 0 })
		c.text("t", "start", 0, y+rowText, terminal.Clip(arm.Name, armName))
		c.text("s", "end", 1, y+rowText, s.of.scatter(s.of.values(arm)))
		if len(values) == 0 {
			continue
		}
		c.bar("box "+armClass(i), s.axis.at(stats.Quantile(values, 0.25)), s.axis.at(stats.Quantile(values, 0.75)),
			y+rowTrack-9, 18)
		drawRuns(&c, s.axis, stats.Median(values), values, arm.Name, i, y+rowTrack)
	}
	c.text("s", "end", 1, bottom+34, s.title())
	return c.chart(bottom+40, "distribution of the runs of each arm")
}

// estimate is one row of a forest plot.
type estimate struct {
	name, words      string
	ratio, low, high float64
	class            string
	shape            int
	points           []float64 // single pairs
}

// forest draws ratios with their intervals against no change and the margin.
func forest(label string, margin float64, estimates []estimate) string {
	values := []float64{1}
	if margin > 0 {
		values = append(values, 1+margin, 1/(1+margin))
	}
	for _, e := range estimates {
		values = append(append(values, e.ratio), e.points...)
	}
	// An interval far wider than everything measured runs off the picture.
	reach := newAxis(true, values...)
	for _, e := range estimates {
		if e.low > 0 && e.high > 0 {
			values = append(values, max(e.low, reach.min/5), min(e.high, reach.max*5))
		}
	}
	var c canvas
	a := newAxis(true, values...).widen(0.06)
	bands := tracks(len(estimates))
	bottom := rowStep * float64(len(estimates))
	for _, b := range bands {
		if margin > 0 {
			c.bar("margin", a.at(1/(1+margin)), a.at(1+margin), b.top, b.bottom-b.top)
		}
	}
	wide := a.max/a.min >= 4
	c.drawAxis(a, bands, bottom, func(v float64) string {
		if wide {
			return "×" + ratioTick(v)
		}
		return strings.TrimPrefix(strings.Replace(change(v), ".0%", "%", 1), "±")
	})
	c.through("one", a.at(1), bands)
	for i, e := range estimates {
		drawEstimate(&c, a, e, rowStep*float64(i))
	}
	c.text("s", "end", 1, bottom+34, label)
	return c.chart(bottom+40, label)
}

func drawEstimate(c *canvas, a axis, e estimate, y float64) {
	c.text("t", "start", 0, y+rowText, terminal.Clip(e.name, 42))
	c.text("s wide", "end", 1, y+rowText, e.words)
	if !(e.ratio > 0) {
		return
	}
	y += rowTrack
	c.bar("share "+e.class, a.at(1), a.at(e.ratio), y-5, 10)
	for _, p := range e.points {
		if p > 0 {
			c.line("dot "+e.class, a.at(p), y-8, a.at(p), y+8)
		}
	}
	if e.low > 0 && e.high > 0 {
		c.line("interval "+e.class, a.at(e.low), y, a.at(e.high), y)
		for _, end := range []float64{e.low, e.high} {
			if end >= a.min && end <= a.max {
				c.line("interval "+e.class, a.at(end), y-5, a.at(end), y+5)
			}
		}
	}
	c.marker("mark "+e.class, e.shape, a.at(e.ratio), y, e.name+": "+e.words)
}

func ratioTick(v float64) string {
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// effectChart draws the effect of every arm with the ratio of every pair.
func effectChart(r Result) string {
	comparisons := r.Comparisons
	if len(comparisons) == 0 {
		comparisons = []Comparison{{Arm: strings.TrimPrefix(candidate(r), "the "), Verdict: r.Verdict, Effect: r.Effect}}
	}
	var rows []estimate
	for i, c := range comparisons {
		if c.Effect != nil {
			rows = append(rows, estimate{name: c.Arm,
				words: shareWords(Share{Ratio: c.Effect.Ratio, Interval: c.Effect.Interval}),
				ratio: c.Effect.Ratio, low: c.Effect.Low, high: c.Effect.High, class: armClass(i + 1), shape: armShape(i + 1),
				points: pairRatios(r, i+1)})
		}
	}
	if len(rows) == 0 {
		return ""
	}
	return forest(metricWords(r)+" over "+terminal.Clip(strings.TrimPrefix(reference(r), "the "), armName), r.Margin, rows)
}

// pairRatios are the ratios of an arm to the first, pair by pair.
func pairRatios(r Result, arm int) []float64 {
	if arm >= len(r.Arms) {
		return nil
	}
	q, reference := decides(r), map[int]float64{}
	for _, run := range r.Arms[0].Runs {
		reference[run.Pair] = q.of(run.Metrics)
	}
	var out []float64
	for _, run := range r.Arms[arm].Runs {
		if ratio := q.of(run.Metrics) / reference[run.Pair]; ratio > 0 && !math.IsInf(ratio, 0) {
			out = append(out, ratio)
		}
	}
	return out
}

// sharesChart draws what each setting contributes.
func sharesChart(r Result) string {
	var rows []estimate
	for _, s := range sortedShares(r.Shares) {
		e := estimate{name: s.Setting, words: keptWord(s.Kept) + ": " + shareWords(s), class: "drop", shape: 0}
		if s.Kept {
			e.name, e.class, e.shape = "✓ "+s.Setting, armClass(1), 1
		}
		if s.Measured() {
			e.ratio, e.low, e.high = s.Ratio, s.Low, s.High
		}
		rows = append(rows, e)
	}
	if len(rows) == 0 {
		return ""
	}
	return forest(metricWords(r)+" with the setting over that without it", r.Margin, rows)
}
