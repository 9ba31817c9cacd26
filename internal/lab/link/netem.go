package link

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Backend is what emulates a link.
type Backend string

const (
	// User is the emulator of this package, the default.
	User Backend = ""
	// Netem is the kernel's queueing discipline of that name on both ends of a
	// veth pair: a second opinion, where the kernel has it. GSO is off, because
	// netem loses and counts what it is given, whole GSO packets too. It knows
	// a queue in packets only, delay included, and no periodic loss.
	Netem Backend = "netem"
)

// NetemArgs returns the arguments of tc-netem(8) for one direction, or says
// what of it netem does not have.
func (l Link) NetemArgs(d Direction) ([]string, error) {
	for what, asked := range map[string]bool{
		"a trace": d.Trace != "", "flow control": d.Pause, "CoDel": d.CoDel.Target > 0,
		"an ECN threshold": d.ECN.Threshold.Unit != "",
		"marks":            d.Mark.Kind != Never, "periodic loss": d.Loss.Kind == Every,
		"jitter that keeps the order (write overtake)": d.Jitter.Spread > 0 && !d.Jitter.Overtake,
		"duplication other than random":                d.Duplicate.Kind != Never && d.Duplicate.Kind != Random,
		"corruption other than random":                 d.Corrupt.Kind != Never && d.Corrupt.Kind != Random,
		"reordering (a segment is sent at once there)": d.Reorder.Kind != Never,
	} {
		if asked {
			return nil, fmt.Errorf("backend=netem does not have %s", what)
		}
	}
	args := []string{"limit", strconv.FormatInt(l.netemLimit(d), 10)}
	if d.Delay > 0 || d.Jitter.Spread > 0 {
		args = append(args, "delay", microseconds(d.Delay))
	}
	if d.Jitter.Spread > 0 {
		args = append(args, microseconds(d.Jitter.Spread))
		if d.Jitter.Shape == Normal || d.Jitter.Shape == Pareto { // uniform is netem's default
			args = append(args, "distribution", string(d.Jitter.Shape))
		}
	}
	percent := func(p float64) string { return strconv.FormatFloat(p*100, 'g', 8, 64) + "%" }
	switch d.Loss.Kind {
	case Random:
		args = append(args, "loss", "random", percent(d.Loss.P))
	case Bursts:
		args = append(args, "loss", "gemodel", percent(d.Loss.P), percent(d.Loss.R))
	}
	if d.Duplicate.Kind == Random {
		args = append(args, "duplicate", percent(d.Duplicate.P))
	}
	if d.Corrupt.Kind == Random {
		args = append(args, "corrupt", percent(d.Corrupt.P))
	}
	if d.Rate > 0 {
		// netem counts the Ethernet header, 14 bytes; the rest of the framing
		// is its packet overhead, which may be negative.
		overhead := l.Framing.Cost(1500) - 1500 - 14
		args = append(args, "rate", fmt.Sprintf("%dbit", d.Rate), strconv.Itoa(overhead))
	}
	return args, nil
}

// microseconds prints a time as every version of tc reads it.
func microseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/1e3, 'f', -1, 64) + "us"
}

// netemLimit returns how many packets netem may hold: those of the queue and
// those that are delayed. Without a rate nothing may be dropped for it.
func (l Link) netemLimit(d Direction) int64 {
	if d.Rate == 0 {
		return 1_000_000
	}
	full := float64(l.Framing.Cost(l.PathMTU()))
	bytes, packets := l.Limits(d, d.Queue)
	queue := min(float64(bytes)/full, float64(packets))
	delayed := d.Rate.BytesPerSecond() * d.Delay.Seconds() / full
	return int64(math.Ceil(queue + delayed))
}
