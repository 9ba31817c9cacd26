package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/stats"
)

// armClass and armShape tell arms apart.
func armClass(i int) string { return fmt.Sprintf("a%d", i%armShapes) }
func armShape(i int) int    { return i % armShapes }

// roofline draws the goodput ceilings as walls on a logarithmic axis, as found
// and with the plan, and below them the measured runs of every arm, whose
// medians reach up through the ceilings. It returns the drawing's height.
func roofline(c *canvas, r Result) float64 {
	const step, track = 42, 26
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
	a := newAxis(true, values...).widen(0.05)
	bottom := float64(step*(len(table)+len(r.Arms)) + 4)
	c.drawAxis(a, 0, bottom, shortBits)
	for i, arm := range r.Arms {
		if m := arm.Median.GoodputBPS; m > 0 {
			x := a.at(m)
			c.line("guide "+armClass(i), x, 0, x, float64(step*(len(table)+i)+track))
		}
	}
	y := 0.0
	for _, row := range table {
		rooflineRow(c, a, row, y)
		y += step
	}
	for i, arm := range r.Arms {
		c.text("t b halo", "start", 0, y+14, "measured: "+Clip(arm.Name, 24))
		c.text("t b halo", "end", 1, y+14, bits(arm.Median.GoodputBPS))
		c.line("track", 0, y+track, 1, y+track)
		drawRuns(c, a, arm, i, y+track)
		y += step
	}
	c.text("s", "middle", 0.5, bottom+32, "goodput in bit/s, logarithmic")
	return bottom + 38
}

// rooflineRow draws one ceiling: hollow as found, filled with the plan.
func rooflineRow(c *canvas, a axis, row row, y float64) {
	name, class := resourceWords(row.Resource), "t halo"
	switch {
	case row.Binds && row.BindsA:
		name, class = name+" (binds)", "t b halo"
	case row.Binds:
		name, class = name+" (binds as found)", "t b halo"
	case row.BindsA:
		name, class = name+" (binds with the plan)", "t b halo"
	}
	before, after := known(row.Before), known(row.After)
	value := bits(after)
	switch {
	case after == 0:
		value = bits(before)
	case before > 0 && bits(before) != bits(after):
		value = bits(before) + " → " + bits(after)
	}
	c.line("track", 0, y+26, 1, y+26)
	if before > 0 && after > 0 {
		c.line("moved", a.at(before), y+26, a.at(after), y+26)
	}
	if after > 0 {
		c.marker("wall full", wall, a.at(after), y+26, "with the plan: "+bits(after))
	}
	if before > 0 && !(after > 0 && bits(before) == bits(after)) {
		c.marker("wall", wall, a.at(before), y+26, "as found: "+bits(before))
	}
	c.text(class, "start", 0, y+14, Clip(name, 40))
	c.text(class, "end", 1, y+14, value)
}

func known(c *diagnose.Ceiling) float64 {
	if c == nil || !c.Known {
		return 0
	}
	return c.Value
}

func goodputs(arm Arm) []float64 {
	var out []float64
	for _, run := range arm.Runs {
		if run.GoodputBPS > 0 {
			out = append(out, run.GoodputBPS)
		}
	}
	return out
}

// drawRuns puts every run of an arm on a line, and its median above them.
func drawRuns(c *canvas, a axis, arm Arm, index int, y float64) {
	for _, run := range arm.Runs {
		if run.GoodputBPS > 0 {
			x := a.at(run.GoodputBPS)
			c.line("dot "+armClass(index), x, y-7, x, y+7)
		}
	}
	if arm.Median.GoodputBPS > 0 {
		c.marker("mark "+armClass(index), armShape(index), a.at(arm.Median.GoodputBPS), y, arm.Name+", median: "+bits(arm.Median.GoodputBPS))
	}
}

// runsInTime draws every run in the order in which it was made, time downwards
// being the one direction with room on every screen.
func runsInTime(r Result) string {
	type point struct {
		Run
		arm int
	}
	var points []point
	var values []float64
	for i, arm := range r.Arms {
		for _, run := range arm.Runs {
			if run.GoodputBPS > 0 {
				points, values = append(points, point{run, i}), append(values, run.GoodputBPS)
			}
		}
	}
	if len(points) == 0 {
		return ""
	}
	slices.SortFunc(points, func(a, b point) int { return a.Order - b.Order })
	var c canvas
	a := newAxis(spread(values), values...).widen(0.08)
	step := max(8, min(18, 480/float64(len(points))))
	bottom := step*float64(len(points)) + 12
	c.drawAxis(a, 0, bottom, shortBits)
	for i, arm := range r.Arms {
		if m := arm.Median.GoodputBPS; m > 0 {
			c.line("guide "+armClass(i), a.at(m), 0, a.at(m), bottom)
		}
	}
	for i, p := range points {
		y := 12 + step*float64(i)
		title := fmt.Sprintf("run %d, pair %d, %s after the start, %s: %s", p.Order+1, p.Pair+1, seconds(p.At), r.Arms[p.arm].Name, bits(p.GoodputBPS))
		c.marker("mark "+armClass(p.arm), armShape(p.arm), a.at(p.GoodputBPS), y, title)
	}
	c.text("s", "middle", 0.5, bottom+32, axisTitle("goodput in bit/s", a))
	c.text("s", "start", 0, bottom+32, "↓ later")
	return c.chart(bottom+38, "goodput of each run in the order of the runs")
}

func axisTitle(what string, a axis) string {
	if a.log {
		return what + ", logarithmic"
	}
	return what + ", axis not from 0"
}

// distributions draws each arm's runs with the middle half as a box.
func distributions(r Result) string {
	var values []float64
	for _, arm := range r.Arms {
		values = append(values, goodputs(arm)...)
	}
	if len(values) == 0 {
		return ""
	}
	var c canvas
	a := newAxis(spread(values), values...).widen(0.08)
	const step = 46
	bottom := float64(step*len(r.Arms) + 4)
	c.drawAxis(a, 0, bottom, shortBits)
	for i, arm := range r.Arms {
		y := float64(step * i)
		g := goodputs(arm)
		c.text("t halo", "start", 0, y+14, Clip(arm.Name, 24))
		c.text("t halo", "end", 1, y+14, scatterWords(g))
		if len(g) > 1 {
			low, high := stats.Quantile(g, 0.25), stats.Quantile(g, 0.75)
			c.bar("box "+armClass(i), a.at(low), a.at(high), y+20, 20)
		}
		drawRuns(&c, a, arm, i, y+30)
	}
	c.text("s", "middle", 0.5, bottom+32, axisTitle("goodput in bit/s", a))
	return c.chart(bottom+38, "distribution of the runs of each arm")
}

// scatterWords says how far apart runs are.
func scatterWords(values []float64) string {
	if len(values) < 2 {
		return plural(len(values), "run", "runs")
	}
	return fmt.Sprintf("%s to %s", bits(slices.Min(values)), bits(slices.Max(values)))
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
	const step = 46
	values := []float64{1}
	if margin > 0 {
		values = append(values, 1+margin, 1/(1+margin))
	}
	for _, e := range estimates {
		values = append(append(values, e.ratio, e.low, e.high), e.points...)
	}
	var c canvas
	a := newAxis(true, values...).widen(0.06)
	bottom := float64(step*len(estimates) + 4)
	if margin > 0 {
		c.bar("margin", a.at(1/(1+margin)), a.at(1+margin), 0, bottom)
	}
	wide := a.max/a.min >= 4
	c.drawAxis(a, 0, bottom, func(v float64) string {
		if wide {
			return "×" + ratioTick(v)
		}
		return strings.Replace(strings.Replace(change(v), ".0%", "%", 1), "±", "", 1)
	})
	c.line("one", a.at(1), 0, a.at(1), bottom)
	for i, e := range estimates {
		y := float64(step * i)
		c.text("t halo", "start", 0, y+14, Clip(e.name, 44))
		c.text("t s halo", "end", 1, y+14, e.words)
		if !(e.ratio > 0) {
			continue
		}
		y += 30
		c.bar("share "+e.class, a.at(1), a.at(e.ratio), y-5, 10)
		for _, p := range e.points {
			if p > 0 {
				c.line("dot "+e.class, a.at(p), y-8, a.at(p), y+8)
			}
		}
		if e.low > 0 && e.high > 0 {
			c.line("interval "+e.class, a.at(e.low), y, a.at(e.high), y)
			c.line("interval "+e.class, a.at(e.low), y-5, a.at(e.low), y+5)
			c.line("interval "+e.class, a.at(e.high), y-5, a.at(e.high), y+5)
		}
		c.marker("mark "+e.class, e.shape, a.at(e.ratio), y, e.name+": "+e.words)
	}
	c.text("s", "middle", 0.5, bottom+32, label)
	return c.chart(bottom+38, label)
}

func ratioTick(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".")
}

// effectChart draws the effect with the ratio of every pair.
func effectChart(r Result) string {
	if r.Effect == nil {
		return ""
	}
	e := estimate{name: "plan against default", words: shareWords(Share{Ratio: r.Effect.Ratio, Low: r.Effect.Low, High: r.Effect.High}),
		ratio: r.Effect.Ratio, low: r.Effect.Low, high: r.Effect.High, class: armClass(1), shape: armShape(1), points: pairRatios(r)}
	return forest(metricWords(r)+" of the plan over the default's; thin lines are single pairs", r.Margin, []estimate{e})
}

// pairRatios are the ratios of the second arm to the first, pair by pair.
func pairRatios(r Result) []float64 {
	if len(r.Arms) != 2 {
		return nil
	}
	reference := map[int]float64{}
	for _, run := range r.Arms[0].Runs {
		reference[run.Pair] = run.GoodputBPS
	}
	var out []float64
	for _, run := range r.Arms[1].Runs {
		if ratio := run.GoodputBPS / reference[run.Pair]; ratio > 0 && !math.IsInf(ratio, 0) {
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
		if s.measured() {
			e.ratio, e.low, e.high = s.Ratio, s.Low, s.High
		}
		rows = append(rows, e)
	}
	if len(rows) == 0 {
		return ""
	}
	return forest(metricWords(r)+" with the setting over "+metricWords(r)+" without it", r.Margin, rows)
}

// latencyChart draws goodput against round-trip time, run by run.
func latencyChart(r Result) string {
	var rtts, rates []float64
	for _, arm := range r.Arms {
		for _, run := range arm.Runs {
			if run.MeanRTT > 0 && run.GoodputBPS > 0 {
				rtts, rates = append(rtts, run.MeanRTT), append(rates, run.GoodputBPS)
			}
		}
	}
	if len(rtts) < 2 {
		return ""
	}
	var c canvas
	const height = 220
	x, y := newAxis(spread(rates), rates...).widen(0.08), newAxis(spread(rtts), rtts...).widen(0.15)
	c.drawAxis(x, 0, height, shortBits)
	down := func(v float64) float64 { return height * (1 - y.at(v)) }
	for _, t := range y.ticks(seconds) {
		c.line("grid", 0, down(t.value), 1, down(t.value))
		c.text("s halo", "start", 0, down(t.value)-4, t.label)
	}
	for i, arm := range r.Arms {
		for _, run := range arm.Runs {
			if run.MeanRTT > 0 && run.GoodputBPS > 0 {
				c.marker("mark "+armClass(i), armShape(i), x.at(run.GoodputBPS), down(run.MeanRTT),
					fmt.Sprintf("%s: %s at %s", arm.Name, bits(run.GoodputBPS), seconds(run.MeanRTT)))
			}
		}
	}
	c.text("s", "middle", 0.5, height+32, axisTitle("goodput in bit/s", x)+"; up: mean round-trip time")
	return c.chart(height+38, "mean round-trip time against goodput of each run")
}
