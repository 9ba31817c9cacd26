package period

import (
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/stats"
)

// Comparison is what was different before and after a mark. Nothing was
// randomised: whatever else changed at that time counts as the mark's effect.
type Comparison struct {
	Mark  Mark     `json:"mark"`
	Lines []Effect `json:"effects"`
}

// Effect is one metric of one host before and after.
type Effect struct {
	Host       string        `json:"host"`
	Metric     string        `json:"metric"` // goodput, rtt or loss
	Before     float64       `json:"before"` // means: bit/s, ms, share
	After      float64       `json:"after"`
	Ratio      float64       `json:"ratio"` // 0 where it is not known
	Low        float64       `json:"low"`
	High       float64       `json:"high"`
	Confidence float64       `json:"confidence"`
	Blocks     int           `json:"blocks"` // stretches of time that do not resemble each other, of the side that has fewer
	Verdict    stats.Verdict `json:"verdict"`
	// Drifts says that it changed as much before the mark already.
	Drifts bool   `json:"drifts,omitempty"`
	Why    string `json:"why,omitempty"` // there is no ratio
}

const (
	confidence = 0.95
	worthwhile = 0.05 // the margin of a verdict
	settles    = 5 * time.Second
	sideLimit  = 1000 // values of a side; more are averaged
)

// Compare sets the time before a mark beside that after it, of which the first
// seconds are left out.
func (b *Builder) Compare(r *Report, m Mark) {
	c := &Comparison{Mark: m, Lines: []Effect{}}
	for i := range r.Hosts {
		h := b.hosts[r.Hosts[i].Name]
		for _, metric := range []struct {
			name   string
			values []value
			higher bool
		}{{"goodput", h.goodputs, true}, {"rtt", h.rtts, false}, {"loss", h.losses, false}} {
			before, after := split(metric.values, m.At)
			if len(before)+len(after) > 0 {
				c.Lines = append(c.Lines, effect(h.Name, metric.name, before, after, metric.higher))
			}
		}
	}
	r.Comparison = c
}

// split takes the values of either side of a moment.
func split(all []value, at time.Time) (before, after []float64) {
	for _, v := range all {
		switch {
		case v.at.Before(at):
			before = append(before, v.v)
		case v.at.After(at.Add(settles)):
			after = append(after, v.v)
		}
	}
	return thinned(before), thinned(after)
}

// thinned are means of so many neighbours that few are left.
func thinned(values []float64) []float64 {
	each := (len(values) + sideLimit - 1) / sideLimit
	if each < 2 {
		return values
	}
	var out []float64
	for ; len(values) >= each; values = values[each:] {
		out = append(out, mean(values[:each]))
	}
	return out
}

func effect(host, metric string, before, after []float64, higher bool) Effect {
	e := Effect{Host: host, Metric: metric, Before: mean(before), After: mean(after), Confidence: confidence,
		Verdict: stats.NotEnough}
	i, err := stats.SeriesRatio(before, after, confidence, 1)
	if err != nil {
		e.Why = fmt.Sprint(err)
		return e
	}
	e.Ratio, e.Low, e.High, e.Blocks = i.Ratio, i.Low, i.High, i.Pairs
	e.Verdict = stats.Judge(i, worthwhile, higher)
	half := len(before) / 2
	if d, err := stats.SeriesRatio(before[:half], before[half:], confidence, 1); err == nil {
		e.Drifts = e.Verdict.Decided() && stats.Judge(d, worthwhile, higher) == e.Verdict
	}
	return e
}

func mean(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total / float64(max(len(values), 1))
}
