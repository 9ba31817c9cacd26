package report

import (
	"math"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/terminal"
)

// bars draws the metric that decides as one bar an arm, from 0, with the
// interval of its mean (geometric, Student's t of the logarithms). It returns the
// drawing's height; 0 where no arm has runs.
func bars(c *canvas, r Result) float64 {
	q := decides(r)
	means, most := make([]stats.Interval, len(r.Arms)), 0.0
	for i, arm := range r.Arms {
		values := q.values(arm)
		means[i] = meanOf(values)
		most = max(most, means[i].Ratio, capped(means[i].High, 1.5*means[i].Ratio))
	}
	if !(most > 0) {
		return 0
	}
	a := axis{max: most * 1.02}
	at := func(v float64) float64 { return min(1, max(0, v/a.max)) }
	bottom := rowStep * float64(len(r.Arms))
	for i, arm := range r.Arms {
		y, m := rowStep*float64(i), means[i]
		c.text("t b", "start", 0, y+rowText, armSign(i)+" "+terminal.Clip(arm.Name, armName))
		if !(m.Ratio > 0) {
			c.text("s", "end", 1, y+rowText, notKnown)
			continue
		}
		words := q.print(m.Ratio)
		title := arm.Name + ": " + words
		if m.Low > 0 && m.High > 0 {
			title += ", " + percent(m.Confidence) + " interval " + q.print(m.Low) + " to " + q.print(m.High)
		}
		c.text("t b", "end", 1, y+rowText, words)
		c.titled("column "+armClass(i), 0, at(m.Ratio), y+rowTrack-8, 18, title)
		if m.Low > 0 && m.High > 0 {
			y += rowTrack + 1
			c.line("whisker", at(m.Low), y, at(m.High), y)
			for _, end := range []float64{m.Low, m.High} {
				c.line("whisker", at(end), y-6, at(end), y+6)
			}
		}
	}
	c.text("s", "end", 1, bottom+18, "mean of the runs with its 95% interval")
	return bottom + 24
}

func capped(v, most float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(v, most)
}

// meanOf is the geometric mean of positive values with its 95% interval, which
// takes two.
func meanOf(values []float64) stats.Interval {
	var logs []float64
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			logs = append(logs, math.Log(v))
		}
	}
	if len(logs) == 0 {
		return stats.Interval{}
	}
	if i, err := stats.PairedRatio(logs, 0.95); err == nil && i.Low > 0 && !math.IsInf(i.High, 0) {
		return i
	}
	return stats.Interval{Ratio: math.Exp(stats.Median(logs))}
}

// barsChart is bars as a chart of a page.
func barsChart(r Result) string {
	if len(r.Arms) < 2 {
		return ""
	}
	var c canvas
	height := bars(&c, r)
	if height == 0 {
		return ""
	}
	return c.chart(height, decides(r).words+" of each arm with its interval")
}
