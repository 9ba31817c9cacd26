package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/workload"
)

// quantity is one metric of runs and how it is printed.
type quantity struct {
	name, words, unit string
	lower             bool // whether less of it is better
}

func quantityOf(name string) quantity {
	switch name {
	case experiment.ClientCPUPerGbit:
		return quantity{name: name, words: "client's processor time per Gbit", unit: "s", lower: true}
	case experiment.ServerCPUPerGbit:
		return quantity{name: name, words: "server's processor time per Gbit", unit: "s", lower: true}
	}
	m := workload.MetricOf("", name)
	return quantity{name: name, words: metricName(name), unit: m.Unit, lower: m.Lower}
}

// decides is the metric that decided the trial.
func decides(r Result) quantity {
	name := r.Metric
	if r.Effect != nil {
		name = cmp.Or(r.Effect.Metric, name)
	}
	return quantityIn(r, cmp.Or(name, workload.Goodput))
}

// quantityIn is a metric in the words of the result's workload.
func quantityIn(r Result, name string) quantity {
	q := quantityOf(name)
	if !r.Alone() {
		return q
	}
	if rest, ok := strings.CutPrefix(q.words, "latency "); ok {
		q.words = "sync write, " + rest
	}
	if name == workload.ClientCPU {
		q.words = "processors busy"
	}
	return q
}

// sideIn names an end: one host alone is no client.
func sideIn(r Result, name string) string {
	if r.Alone() {
		return "host"
	}
	return name
}

// metricName says a metric's name in words, without its unit.
func metricName(name string) string {
	if name == workload.RPM {
		return "round trips per minute under load"
	}
	s := strings.TrimSuffix(strings.TrimSuffix(name, "_bps"), "_pps")
	if rest, ok := strings.CutSuffix(s, "_per_s"); ok {
		s = rest + " per second"
	}
	words := strings.ReplaceAll(strings.TrimSuffix(s, "_s"), "_", " ")
	if rest, ok := strings.CutSuffix(words, " rtt"); ok {
		words = rest + " round-trip time"
	}
	return words
}

func (q quantity) goodput() bool { return q.name == workload.Goodput }

// of is the quantity's value in a run; 0 when it is not known.
func (q quantity) of(m Metrics) float64 {
	switch q.name {
	case workload.Goodput:
		return m.GoodputBPS
	case workload.Retransmits:
		return max(0, m.Retransmits)
	case workload.MeanRTT:
		return m.MeanRTT
	case workload.ClientCPU:
		return m.ClientCPU
	case workload.ServerCPU:
		return m.ServerCPU
	}
	return m.Values[q.name]
}

// values are those of an arm's runs that have one.
func (q quantity) values(arm Arm) []float64 {
	var out []float64
	for _, run := range arm.Runs {
		if v := q.of(run.Metrics); v > 0 {
			out = append(out, v)
		}
	}
	return out
}

// print writes a value with its unit.
func (q quantity) print(v float64) string {
	switch q.unit {
	case "bit/s":
		return bits(v)
	case "s":
		return seconds(v)
	case "share":
		if !(v > 0) {
			return notKnown
		}
		return percent(v)
	case "1/s":
		return prefixed(v, "/s")
	case "1/min":
		return prefixed(v, "/min")
	case "B/s":
		return prefixed(v, "B/s")
	}
	return prefixed(v, "")
}

// tick writes a value for an axis whose title has the unit.
func (q quantity) tick(v float64) string {
	switch q.unit {
	case "bit/s":
		return shortBits(v)
	case "s":
		return seconds(v)
	case "share":
		return percent(v)
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(q.print(v), "/s"), "/min"))
}

// title names the quantity for an axis.
func (q quantity) title() string {
	if q.unit == "bit/s" {
		return q.words + " in bit/s"
	}
	return q.words
}

// scatter says how far apart values are.
func (q quantity) scatter(values []float64) string {
	if len(values) < 2 {
		return plural(len(values), "run", "runs")
	}
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	return fmt.Sprintf("%s to %s", q.print(low), q.print(high))
}

// others are the workload's further metrics that any arm has, in the order of
// their names.
func others(r Result) []quantity {
	decided := decides(r)
	var out []quantity
	seen := map[string]bool{decided.name: true, workload.Goodput: true}
	for _, arm := range r.Arms {
		for _, name := range sortedNames(arm.Median.Values) {
			if !seen[name] {
				seen[name] = true
				out = append(out, quantityIn(r, name))
			}
		}
	}
	return out
}

func sortedNames(values map[string]float64) []string { return slices.Sorted(maps.Keys(values)) }
