package report

import (
	"fmt"
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

// timelineChart draws the mean request time and the number of requests.
func timelineChart(r *weblog.Report) string {
	t := r.Timeline
	if t == nil || len(t.Points) < 2 {
		return ""
	}
	cols, length := timeParts(t)
	most, slowest := uint64(1), 0.0
	for _, p := range cols {
		if p.requests > 0 {
			most, slowest = max(most, p.requests), max(slowest, p.sum/float64(p.requests))
		}
	}
	high := slowest
	if high == 0 {
		high = 1
	}
	const half, gap = 90.0, 26.0
	var c canvas
	c.text("t", "start", 0, 14, "mean request time")
	c.text("s", "end", 1, 14, "at most "+longSeconds(slowest))
	c.text("t", "start", 0, gap+half+gap, fmt.Sprintf("requests in %s", units.Duration(time.Duration(length)*time.Second)))
	c.text("s", "end", 1, gap+half+gap, "at most "+units.Count(most))
	bottom := 2*(gap+half) + 14
	for i, p := range cols {
		if p.requests == 0 {
			continue
		}
		from, to := float64(i)/float64(len(cols)), (float64(i)+0.9)/float64(len(cols))
		h := half * p.sum / float64(p.requests) / high
		c.bar("column a1", from, to, gap+half-h, h)
		h = half * float64(p.requests) / float64(most)
		c.bar("column a2", from, to, bottom-h, h)
	}
	c.line("track", 0, gap+half, 1, gap+half)
	c.line("track", 0, bottom, 1, bottom)
	stamp := func(at int64) string { return time.Unix(at, 0).UTC().Format("2006-01-02 15:04") }
	c.text("s", "start", 0, bottom+16, stamp(t.Points[0].At))
	c.text("s", "end", 1, bottom+16, stamp(t.Points[0].At+length*int64(len(cols)))+" UTC")
	return c.chart(bottom+24, "mean request time and requests over time")
}
