package report

import (
	"fmt"
	"strconv"
	"time"

	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/watch"
)

// smokeColumns is how many parts a time is drawn in.
const smokeColumns = 240

// Smoke collects the probes of recorded states between two times for smoke plots, as
// smokeping draws them. What it holds is bounded, however many states there are.
type Smoke struct {
	from, to time.Time
	targets  []string
	columns  map[string][]smokeColumn
}

// smokeColumn is a part of the time.
type smokeColumn struct {
	sum  watch.Probe
	wide time.Duration // of what was recorded in longer steps than a column is
}

// NewSmoke collects from a time to a later one.
func NewSmoke(from, to time.Time) *Smoke {
	return &Smoke{from: from, to: to, columns: map[string][]smokeColumn{}}
}

// Add takes the probes of a state that lies in the time.
func (k *Smoke) Add(s watch.State) {
	total := k.to.Sub(k.from)
	if total <= 0 || s.Time.Before(k.from) || !s.Time.Before(k.to) {
		return
	}
	i := min(int(float64(s.Time.Sub(k.from))/float64(total)*smokeColumns), smokeColumns-1)
	for _, p := range s.Probes {
		if k.columns[p.Target] == nil {
			k.targets = append(k.targets, p.Target)
			k.columns[p.Target] = make([]smokeColumn, smokeColumns)
		}
		c := &k.columns[p.Target][i]
		c.sum.Merge(p)
		c.wide = max(c.wide, time.Duration(s.Resolution*float64(time.Second)))
	}
}

// SmokeChart is the drawing of one target.
type SmokeChart struct {
	Target string
	SVG    string // an element of a page
	Sum    watch.Probe
}

// Charts draws the targets in the order in which they came.
func (k *Smoke) Charts() []SmokeChart {
	var all []SmokeChart
	for _, target := range k.targets {
		chart := SmokeChart{Target: target, Sum: watch.Probe{Target: target}}
		for _, c := range k.columns[target] {
			chart.Sum.Merge(c.sum)
		}
		chart.SVG = k.draw(target, k.columns[target])
		all = append(all, chart)
	}
	return all
}

// The panels of a smoke plot: round trips above, and what was lost below.
const (
	smokeHeight = 180.0
	lossTop     = smokeHeight + 26
	lossHeight  = 30.0
)

// smokeBands are the shares of the answers between which smoke is drawn, each over
// the wider ones.
func smokeBands() [][2]float64 { return [][2]float64{{0.01, 0.99}, {0.1, 0.9}, {0.25, 0.75}} }

func (k *Smoke) draw(target string, columns []smokeColumn) string {
	var edges []float64
	for _, c := range columns {
		if c.sum.Answered > 0 {
			edges = append(edges, c.sum.Quantile(0.01), c.sum.Quantile(0.5), c.sum.Quantile(0.99))
		}
	}
	var c canvas
	y := newAxis(spread(edges), edges...).widen(0.1)
	down := func(ms float64) float64 { return smokeHeight * (1 - y.at(ms)) }
	for _, t := range y.ticks(func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) + " ms" }) {
		c.line("grid", 0, down(t.value), 1, down(t.value))
		c.text("s", "end", 1, down(t.value)-4, t.label)
	}
	c.text("s", "end", 1, lossTop-5, "lost, up to 100%")
	c.line("track", 0, lossTop+lossHeight, plotWidth, lossTop+lossHeight)
	total := k.to.Sub(k.from)
	for i, column := range columns {
		p := column.sum
		if p.Answered+p.Lost == 0 {
			continue
		}
		width := plotWidth * max(float64(column.wide)/float64(total), 1.0/smokeColumns)
		from := plotWidth * float64(i) / smokeColumns
		to := min(from+width, plotWidth)
		title := fmt.Sprintf("%s UTC: %s",
			k.from.Add(time.Duration(float64(total)*float64(i)/smokeColumns)).UTC().Format("2006-01-02 15:04:05"), smokeWords(p))
		if p.Answered > 0 {
			for _, b := range smokeBands() {
				top := down(p.Quantile(b[1]))
				c.bar("room", from, to, top, max(down(p.Quantile(b[0]))-top, 1))
			}
			c.titled("column "+lossClass(p.Loss()), from, to, down(p.Quantile(0.5))-1, 2.5, title)
		}
		if p.Lost > 0 {
			height := max(lossHeight*p.Loss(), 2)
			c.titled("column "+lossClass(p.Loss()), from, to, lossTop+lossHeight-height, height, title)
		}
	}
	k.timeLabels(&c, lossTop+lossHeight+16)
	c.text("s", "end", 1, lossTop+lossHeight+34, "UTC; line: median, smoke: half, 80% and 98% of the answers")
	return c.chart(lossTop+lossHeight+40, "round trips and losses of "+target+" over time")
}

// timeLabels writes when it was below a plot.
func (k *Smoke) timeLabels(c *canvas, y float64) {
	form := "15:04:05"
	if k.to.Sub(k.from) > 20*time.Hour {
		form = "2006-01-02 15:04"
	}
	for i, anchor := range []string{"start", "middle", "end"} {
		part := float64(i) / 2
		at := k.from.Add(time.Duration(part * float64(k.to.Sub(k.from)))).UTC().Format(form)
		c.text("s", anchor, plotWidth*part, y, at)
	}
}

// lossClass colors a median by the loss beside it.
func lossClass(loss float64) string {
	switch {
	case loss == 0:
		return armClass(1)
	case loss < 0.05:
		return armClass(4)
	}
	return armClass(0)
}

// smokeWords are what a column tells to those who point at it.
func smokeWords(p watch.Probe) string {
	text := fmt.Sprintf("%d answers", p.Answered)
	if p.Answered > 0 {
		text += fmt.Sprintf(", median %s ms, 1%% %s, 99%% %s",
			units.Digits(p.Quantile(0.5), 4), units.Digits(p.Quantile(0.01), 4), units.Digits(p.Quantile(0.99), 4))
	}
	if p.Lost > 0 {
		text += fmt.Sprintf("; %s%% lost (%s)", units.Digits(100*p.Loss(), 3), p.Error)
	}
	return text
}
