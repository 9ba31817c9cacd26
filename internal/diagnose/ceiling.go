// Package diagnose says what limits a host on a path, and what is wrong with
// it: ceilings computed from facts, and rules that quote the lines that prove
// their findings.
package diagnose

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
)

// The metrics of a ceiling.
const (
	Goodput     = "goodput_bps" // TCP payload, bit/s
	PacketRate  = "rate_pps"    // packets/s
	ConnectRate = "conn_per_s"  // new connections/s
)

// Ceiling is an upper bound that one resource sets.
type Ceiling struct {
	// Resource names what sets the bound: link, send-window, receive-window,
	// window-scale, bus, loss-response, cpu, netisr, ports, accept-queue, ...
	Resource string
	// Metric is one of Goodput, PacketRate and ConnectRate.
	Metric string
	// Value is in the metric's unit; it means nothing unless Known.
	Value float64
	Known bool
	// Because is the formula in words with its numbers, or why the ceiling
	// is not known.
	Because string
	// Inputs are the numbers that went in, in base units.
	Inputs map[string]any
	// Sources are the documents and kernel files that prove the formula.
	Sources []string
	// Host is the host whose resource it is, empty for the path.
	Host string
}

// MarshalJSON prints the ceiling with its value also under the metric's name;
// both are null when it is not known.
func (c Ceiling) MarshalJSON() ([]byte, error) {
	var value any
	if c.Known {
		value = c.Value
	}
	out := map[string]any{"resource": c.Resource, "metric": c.Metric, "value": value, c.Metric: value,
		"because": c.Because, "inputs": c.Inputs, "sources": c.Sources, "host": c.Host}
	if c.Inputs == nil {
		out["inputs"] = map[string]any{}
	}
	if c.Sources == nil {
		out["sources"] = []string{}
	}
	return json.Marshal(out)
}

// unknown returns the ceiling as not known.
func (c Ceiling) unknown(format string, args ...any) Ceiling {
	c.Known, c.Value = false, 0
	c.Because = "unknown, because " + fmt.Sprintf(format, args...)
	return c
}

// known returns the ceiling with its value; a value that no resource can have
// makes it unknown.
func (c Ceiling) known(value float64, inputs map[string]any, format string, args ...any) Ceiling {
	if !(value > 0 && value < 1e18) {
		return c.unknown("%g is not a possible value", value)
	}
	c.Known, c.Value, c.Inputs = true, value, maps.Clone(inputs)
	c.Because = fmt.Sprintf(format, args...)
	return c
}

// Ceilings computes every ceiling of the path from sender to receiver. Either
// host may be nil (not inspected), and both may be the same: one inspected
// host, seen as sender and as receiver. A path of zero values is one that
// nobody declared: what depends on it is unknown.
func Ceilings(path netpath.Path, sender, receiver *facts.Facts) []Ceiling {
	return ceilings(path, sender, receiver, "")
}

// ceilings knows the role as well: a disk bounds only what is about files.
func ceilings(path netpath.Path, sender, receiver *facts.Facts, role string) []Ceiling {
	out := []Ceiling{link(path, sender, receiver), sendWindow(path, sender), receiveWindow(path, receiver),
		windowScale(path, sender, receiver), lossCeiling(path, sender)}
	ends := []*facts.Facts{sender, receiver}
	if sender == receiver || receiver == nil {
		ends = ends[:1]
	}
	for _, f := range ends {
		if f == nil {
			continue
		}
		out = append(out, bus(path, f), socketMemory(path, f), packetRate(f), disk(f, role))
		if f.System == "freebsd" {
			out = append(out, netisr(f))
		}
		out = append(out, acceptQueue(f), synQueue(path, f), localPorts(f))
	}
	return out
}

// Binding returns the lowest known goodput ceiling, and false when none is
// known.
func Binding(all []Ceiling) (Ceiling, bool) {
	var best Ceiling
	for _, c := range all {
		if c.Known && c.Metric == Goodput && (!best.Known || c.Value < best.Value) {
			best = c
		}
	}
	return best, best.Known
}

func hostName(f *facts.Facts) string {
	if f == nil {
		return ""
	}
	return f.Host
}
