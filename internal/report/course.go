package report

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/workload"
)

// course is the median goodput of an arm's runs in each of their seconds, as
// long as every run has one.
func course(arm Arm) []float64 {
	var out []float64
	for second := 0; ; second++ {
		var values []float64
		for _, run := range arm.Runs {
			if second >= len(run.IntervalsBPS) {
				return out
			}
			values = append(values, run.IntervalsBPS[second])
		}
		if len(values) == 0 {
			return out
		}
		out = append(out, stats.Median(values))
	}
}

// courseChart draws how the goodput went within a run.
func courseChart(r Result) string {
	var all []float64
	longest := 0
	for _, arm := range r.Arms {
		seconds := course(arm)
		all, longest = append(all, seconds...), max(longest, len(seconds))
	}
	if longest < 3 {
		return ""
	}
	const height = 180.0
	var c canvas
	y := newAxis(spread(all), all...).widen(0.1)
	down := func(v float64) float64 { return height * (1 - y.at(v)) }
	for _, t := range y.ticks(shortBits) {
		c.line("grid", 0, down(t.value), 1, down(t.value))
		c.text("s", "start", 0, down(t.value)-4, t.label)
	}
	at := func(second int) float64 { return 0.12 + 0.85*float64(second)/float64(longest-1) }
	for i, arm := range r.Arms {
		seconds := course(arm)
		for k := 1; k < len(seconds); k++ {
			c.line("curve "+armClass(i), at(k-1), down(seconds[k-1]), at(k), down(seconds[k]))
		}
		if n := len(seconds); n > 0 {
			c.marker("mark "+armClass(i), armShape(i), at(n-1), down(seconds[n-1]), arm.Name)
		}
	}
	for k := 0; k < longest; k += max(1, (longest+5)/6) {
		c.text("s", "middle", at(k), height+16, fmt.Sprintf("%d s", k+1))
	}
	c.text("s", "end", 1, height+34, "second of a run; up: goodput in bit/s, median of the runs")
	return c.chart(height+40, "goodput within a run, second by second")
}

// latencyAxes are what the latency chart shows: the rate that decides, else the
// goodput, against the most telling latency that the runs have.
func latencyAxes(r Result) (rate, latency quantity) {
	rate = decides(r)
	if rate.unit == "s" || rate.unit == "share" {
		rate = quantityIn(r, workload.Goodput)
		for _, name := range []string{workload.Transactions, workload.Connections, workload.Requests} {
			if q := quantityIn(r, name); len(r.Arms) > 0 && q.of(r.Arms[0].Median) > 0 {
				rate = q
			}
		}
	}
	for _, name := range []string{workload.LatencyP99, workload.LatencyP50, workload.LatencyMean} {
		if q := quantityIn(r, name); len(r.Arms) > 0 && q.of(r.Arms[0].Median) > 0 {
			return rate, q
		}
	}
	latency = quantityIn(r, workload.MeanRTT)
	latency.words = "mean round-trip time"
	return rate, latency
}

func latencyTitle(r Result) string {
	rate, latency := latencyAxes(r)
	return upper(latency.words) + " against " + rate.words
}

// latencyChart draws a rate against a latency, run by run.
func latencyChart(r Result) string {
	rate, latency := latencyAxes(r)
	var times, rates []float64
	for _, arm := range r.Arms {
		for _, run := range arm.Runs {
			if t, v := latency.of(run.Metrics), rate.of(run.Metrics); t > 0 && v > 0 {
				times, rates = append(times, t), append(rates, v)
			}
		}
	}
	if len(times) < 2 {
		return ""
	}
	var c canvas
	const height = 220
	x, y := newAxis(spread(rates), rates...).widen(0.08), newAxis(spread(times), times...).widen(0.15)
	c.drawAxis(x, []band{{0, height}}, height, rate.tick)
	down := func(v float64) float64 { return height * (1 - y.at(v)) }
	for _, t := range y.ticks(seconds) {
		c.line("grid", 0, down(t.value), 1, down(t.value))
		c.text("s", "start", 0, down(t.value)-4, t.label)
	}
	for i, arm := range r.Arms {
		for _, run := range arm.Runs {
			if t, v := latency.of(run.Metrics), rate.of(run.Metrics); t > 0 && v > 0 {
				c.marker("mark "+armClass(i), armShape(i), x.at(v), down(t), fmt.Sprintf("%s: %s at %s",
					arm.Name, rate.print(v), seconds(t)))
			}
		}
	}
	c.text("s", "end", 1, height+34, "→ "+rate.title()+"   ↑ "+latency.words)
	return c.chart(height+40, latency.words+" against "+rate.words+" of each run")
}
