package link

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// String prints the link so that Parse gives it back, shortest first:
// fields that both directions share, then those of one.
func (l Link) String() string {
	var out []string
	if l.Up.Delay == l.Down.Delay && l.Up.Delay > 0 {
		out = append(out, "rtt="+l.RTT().String())
		l.Up.Delay, l.Down.Delay = 0, 0
	}
	up, down := l.Up.fields(), l.Down.fields()
	for i := range up {
		switch {
		case up[i].value == down[i].value:
			if up[i].value != "" {
				out = append(out, up[i].key+"="+up[i].value)
			}
		default:
			out = appendSide(out, "up:", up[i])
			out = appendSide(out, "down:", down[i])
		}
	}
	if l.MTU != 0 {
		out = append(out, fmt.Sprintf("mtu=%d", l.MTU))
	}
	if l.Framing == FramingIP {
		out = append(out, "framing=ip")
	}
	if l.Backend != User {
		out = append(out, "backend="+string(l.Backend))
	}
	if l.Seed != 0 {
		out = append(out, fmt.Sprintf("seed=%d", l.Seed))
	}
	if len(out) == 0 {
		return "rate=none"
	}
	return strings.Join(out, ",")
}

func appendSide(out []string, side string, f linkField) []string {
	if f.value == "" {
		return out
	}
	return append(out, side+f.key+"="+f.value)
}

// fields lists every field of a direction in a fixed order, "" where unset.
func (d Direction) fields() []linkField {
	rate := ""
	if d.Rate != 0 {
		rate = exactRate(int64(d.Rate))
	}
	pause := ""
	if d.Pause {
		pause = "pause"
	}
	return []linkField{
		{key: "rate", value: rate},
		{key: "trace", value: d.Trace},
		{key: "delay", value: printDuration(d.Delay)},
		{key: "jitter", value: d.Jitter.String()},
		{key: "queue", value: d.Queue.String()},
		{key: "full", value: pause},
		{key: "aqm", value: d.CoDel.String()},
		{key: "ecn", value: d.ECN.String()},
		{key: "loss", value: d.Loss.String()},
		{key: "mark", value: d.Mark.String()},
		{key: "duplicate", value: d.Duplicate.String()},
		{key: "corrupt", value: d.Corrupt.String()},
		{key: "reorder", value: d.Reorder.String()},
		{key: "hold", value: printDuration(d.Hold)},
	}
}

// exactRate prints a rate without rounding, which units.Rate.String may do.
func exactRate(bps int64) string {
	for _, s := range []struct {
		factor int64
		suffix string
	}{{1e12, "tbit"}, {1e9, "gbit"}, {1e6, "mbit"}, {1e3, "kbit"}} {
		if bps%s.factor == 0 {
			return strconv.FormatInt(bps/s.factor, 10) + s.suffix
		}
	}
	return strconv.FormatInt(bps, 10) + "bit"
}

func printDuration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// String prints the pattern as Parse reads it; "" for Never.
func (p Pattern) String() string {
	switch p.Kind {
	case Random:
		return number(p.P)
	case Every:
		return fmt.Sprintf("every:%d", p.N)
	case Bursts:
		return "burst:" + number(p.P) + "," + number(p.R)
	}
	return ""
}

// String prints the jitter as Parse reads it; "" for none.
func (j Jitter) String() string {
	if j.Spread == 0 {
		return ""
	}
	s := j.Spread.String()
	if j.Shape != "" && j.Shape != Uniform {
		s += ":" + string(j.Shape)
	}
	if j.Overtake {
		s += ":overtake"
	}
	return s
}

// String prints the queue as Parse reads it; "" for the default.
func (q Queue) String() string {
	switch q.Unit {
	case QueueBDP:
		return number(q.Size) + "bdp"
	case QueuePackets:
		return strconv.FormatFloat(q.Size, 'f', -1, 64) + "packets"
	case QueueTime:
		return time.Duration(q.Size).String()
	case QueueBytes:
		return strconv.FormatFloat(q.Size, 'f', -1, 64) + "B"
	}
	return ""
}

// String prints the parameters as Parse reads them; "" for tail drop.
func (c CoDel) String() string {
	switch {
	case c.Target == 0:
		return ""
	case c == DefaultCoDel():
		return "codel"
	}
	return "codel:" + c.Target.String() + ":" + c.Interval.String()
}

// String prints the marking as Parse reads it; "" for off.
func (e ECN) String() string {
	if e.CoDel {
		return "on"
	}
	return e.Threshold.String()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
