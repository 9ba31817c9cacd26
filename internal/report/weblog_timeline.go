package report

import (
	"strconv"
	"time"

	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/weblog"
)

// timelineParts is how many columns a timeline has at most.
const timelineParts = 240

// timePart is a column of a timeline.
type timePart struct {
	requests uint64
	sum      float64 // of the request times, s
}

// timeParts puts the points of a timeline into columns of the same length, in s.
func timeParts(t *weblog.Timeline) (out []timePart, length int64) {
	first, last := t.Points[0].At, t.Points[len(t.Points)-1].At+t.Step
	steps := (last - first) / t.Step
	each := (steps + timelineParts - 1) / timelineParts
	length = each * t.Step
	out = make([]timePart, (steps+each-1)/each)
	for _, p := range t.Points {
		c := &out[(p.At-first)/length]
		c.requests += p.Requests
		c.sum += p.Mean * float64(p.Requests)
	}
	return out, length
}

// timelineChart draws the mean request time and the number of requests of the
// log, and behind them those of the log that it is compared with, each from its
// own beginning.
func timelineChart(r *weblog.Report) string {
	if r.Timeline == nil || len(r.Timeline.Points) < 2 {
		return ""
	}
	all := logs(r)
	parts, lengths := make([][]timePart, len(all)), make([]int64, len(all))
	longest, slowest, busiest := int64(1), 0.0, 0.0
	for i, log := range all {
		if log.Timeline == nil || len(log.Timeline.Points) < 2 {
			continue
		}
		parts[i], lengths[i] = timeParts(log.Timeline)
		longest = max(longest, lengths[i]*int64(len(parts[i])))
		for _, p := range parts[i] {
			if p.requests > 0 {
				slowest, busiest = max(slowest, p.mean()), max(busiest, float64(p.requests)/float64(lengths[i]))
			}
		}
	}
	const half, gap = 100.0, 30.0
	var c canvas
	top := gap
	for _, panel := range []struct {
		title string
		most  float64
		tick  func(float64) string
		of    func(p timePart, length int64) float64
	}{
		{"mean request time", slowest, secondsTick, func(p timePart, _ int64) float64 { return p.mean() }},
		{"requests a second", busiest, func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) },
			func(p timePart, length int64) float64 { return float64(p.requests) / float64(length) }},
	} {
		timePanel(&c, top, half, panel.title, panel.most, panel.tick)
		for i := range all {
			heights := make([]float64, len(parts[i]))
			for k, p := range parts[i] {
				if p.requests > 0 && panel.most > 0 {
					heights[k] = half * panel.of(p, lengths[i]) / panel.most
				}
			}
			width := plotWidth * float64(lengths[i]) / float64(longest)
			timeSeries(&c, heights, width, top+half, logClass(i, len(all)))
		}
		top += half + gap
	}
	bottom := top - gap
	c.text("s", "start", 0, bottom+16, "0")
	for step, at := clockStep(longest), clockStep(longest); at <= longest; at += step {
		c.text("s", "middle", plotWidth*float64(at)/float64(longest), bottom+16,
			units.Duration(time.Duration(at)*time.Second))
	}
	first := time.Unix(r.Timeline.Points[0].At, 0).UTC().Format("2006-01-02 15:04")
	c.text("s", "end", 1, bottom+34, "time since the beginning, "+first+" UTC")
	return c.chart(bottom+40, "mean request time and requests over time")
}

// clockStep is the distance of an axis' times, in seconds: at most four in a span, and none that a clock's face does
// not have.
func clockStep(span int64) int64 {
	const minute, hour, day = 60, 3600, 86400
	for _, step := range []int64{1, 2, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute,
		15 * minute, 30 * minute,
		hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day, 28 * day} {
		if span/step <= 4 {
			return step
		}
	}
	return max(1, span/4/day*day)
}

// plotWidth is the part of the width that a timeline has beside its axis.
const plotWidth = 0.9

func (p timePart) mean() float64 { return p.sum / float64(p.requests) }

// timePanel draws the title and the axis of one half of a timeline.
func timePanel(c *canvas, top, height float64, title string, most float64, tick func(float64) string) {
	c.text("t", "start", 0, top-14, title)
	if !(most > 0) {
		c.line("track", 0, top+height, 1, top+height)
		return
	}
	step := niceStep(most / 3)
	for v := 0.0; v <= most; v += step {
		y := top + height*(1-v/most)
		c.line("grid", 0, y, 1, y)
		if v > 0 {
			c.text("s", "end", 1, y-3, tick(v))
		}
	}
}

// timeSeries draws one log: columns for the one that is judged, a broken line for
// the one before.
func timeSeries(c *canvas, heights []float64, width, bottom float64, class string) {
	last := 0.0
	for k, h := range heights {
		from, to := width*float64(k), width*float64(k+1)
		if class == armClass(1) {
			if h > 0 {
				c.bar("column "+class, from, from+0.9*width, bottom-h, h)
			}
			continue
		}
		c.line("curve "+class, from, bottom-last, from, bottom-h)
		c.line("curve "+class, from, bottom-h, to, bottom-h)
		last = h
	}
}
