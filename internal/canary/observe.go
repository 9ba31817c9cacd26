package canary

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/weblog/latency"
)

// Point is one sample of a series.
type Point struct {
	At    time.Time
	Value float64
	times *latency.Hist // of which Value is a percentile; nil of another query
}

// Series is one series of a query's answer.
type Series struct {
	Labels map[string]string
	Points []Point
	// quantile is what a time's value is of the merged times of its points, and step
	// their resolution in us; 0: it is their mean.
	quantile float64
	step     uint64
}

// Source answers queries over time, by its own clock.
type Source interface {
	Now(ctx context.Context) (time.Time, error)
	Range(ctx context.Context, query string, from, to time.Time, step time.Duration) ([]Series, error)
}

// ErrSource says that the metrics cannot be had now.
var ErrSource = errors.New("the metrics cannot be read")

// ErrQuery says that a query does not give one value per host.
var ErrQuery = errors.New("the query cannot be used")

// coverage is the share of its samples that a host needs to be counted.
const coverage = 0.5

// observed are the samples of hosts over a window.
type observed struct {
	points   [][]Point // by host; without those that are no number
	series   []Series  // by host, as it came, for percentiles
	expected int       // samples of a host that was there all the time
	strange  int       // series of hosts that are not in the inventory
}

// observe asks for the series of the hosts, of which each has one.
func observe(ctx context.Context, src Source, query, label string, hosts []Host, from, to time.Time,
	step time.Duration) (observed, error) {
	o := observed{points: make([][]Point, len(hosts)), series: make([]Series, len(hosts)),
		expected: int(to.Sub(from) / step)}
	all, err := src.Range(ctx, query, from, to, step)
	if err != nil {
		return o, fmt.Errorf("query %s: %w", query, err)
	}
	if len(all) == 0 {
		return o, fmt.Errorf("%w: %s gives nothing between %s and %s; try it in Prometheus", ErrQuery, query,
			from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
	}
	index, owner := map[string]int{}, map[int]Series{}
	for i, h := range hosts {
		index[h.Name] = i
	}
	unlabelled := 0
	for _, s := range all {
		name := s.Labels[label]
		if name == "" {
			unlabelled++
			continue
		}
		i, ok := hostOf(index, name)
		if !ok {
			o.strange++
			continue
		}
		if first, twice := owner[i]; twice {
			return o, fmt.Errorf("%w: %s gives several series for host %s, which differ in %s; aggregate "+
				"them, like sum by (%s) (...)",
				ErrQuery, query, hosts[i].Name, differing(first.Labels, s.Labels), label)
		}
		owner[i] = s
		o.points[i], o.series[i] = numbers(s.Points, from, to), s
	}
	if len(owner) == 0 {
		why := fmt.Sprintf("none of its %d series has a host of the inventory in its label %q", len(all), label)
		if unlabelled == len(all) {
			why = fmt.Sprintf("its series have no label %q; keep it, like sum by (%s) (...), or name another label",
				label, label)
		}
		return o, fmt.Errorf("%w: %s: %s", ErrQuery, query, why)
	}
	return o, o.isCounter(query)
}

// hostOf finds a host by the value of a label, with or without its port.
func hostOf(index map[string]int, name string) (int, bool) {
	i, ok := index[name]
	if !ok {
		if host, _, err := net.SplitHostPort(name); err == nil {
			i, ok = index[host]
		}
	}
	return i, ok
}

func numbers(points []Point, from, to time.Time) []Point {
	return slices.DeleteFunc(slices.Clone(points), func(p Point) bool {
		return math.IsNaN(p.Value) || math.IsInf(p.Value, 0) || p.At.Before(from) || p.At.After(to)
	})
}

// dropZeros leaves out samples that are not above 0: where a metric of which less is
// better was always above 0, such as a time, there was nothing to measure.
func (o observed) dropZeros() {
	for i := range o.points {
		o.points[i] = slices.DeleteFunc(o.points[i], func(p Point) bool { return p.Value <= 0 })
	}
}

// positive tells whether there is no sample that is not above 0.
func (o observed) positive() bool {
	for _, points := range o.points {
		if slices.ContainsFunc(points, func(p Point) bool { return p.Value <= 0 }) {
			return false
		}
	}
	return true
}

func differing(a, b map[string]string) string {
	var names []string
	for name, v := range a {
		if b[name] != v {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "the port of their hosts' names"
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// isCounter is the error of a query whose values hardly ever fall on any host: a
// counter, whose mean says how long a host has been up.
func (o observed) isCounter(query string) error {
	hosts, rising := 0, 0
	for _, points := range o.points {
		if len(points) < 12 {
			continue
		}
		hosts++
		up, down := 0, 0
		for i := range points[1:] {
			switch d := points[i+1].Value - points[i].Value; {
			case d > 0:
				up++
			case d < 0:
				down++
			}
		}
		if up >= len(points)/2 && down <= len(points)/100 {
			rising++
		}
	}
	if hosts > 0 && rising > hosts*9/10 {
		return fmt.Errorf("%w: %s only rises, as a counter does; compare its rate, like rate(...[5m])", ErrQuery, query)
	}
	return nil
}

// mean is a host's mean over the samples that keep holds for, or the percentile of
// all that they count, and whether there are enough of them.
func (o observed) mean(i, expected int, keep func(time.Time) bool) (float64, bool) {
	sum, n := 0.0, 0
	times := new(latency.Hist)
	for _, p := range o.points[i] {
		if keep == nil || keep(p.At) {
			sum += p.Value
			times.Merge(p.times)
			n++
		}
	}
	if n == 0 || float64(n) < coverage*float64(expected) {
		return 0, false
	}
	if times.N > 0 {
		v, err := o.series[i].percentile(times)
		return v, err == nil
	}
	return sum / float64(n), true
}

// between keeps the samples of a span of time.
func between(from, to time.Time) func(time.Time) bool {
	return func(at time.Time) bool { return !at.Before(from) && at.Before(to) }
}
