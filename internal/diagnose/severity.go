package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

// The shares of what should have arrived from which on a loss is of each severity.
const (
	criticalShare = 0.01
	warningShare  = 1e-4
	infoShare     = 1e-6
)

// The numbers of a loss, and its rates per second, that make it a warning where nothing says of how many.
const (
	warningCount = 1000
	warningRate  = 1
	criticalRate = 1000
)

// SeverityRule is the rule of graded, as docs/rules.md says it.
const SeverityRule = `A counter of lost packets, connections or requests is judged by their share of the
total, by its rate, and by whether it still grows:

| lost | severity |
|---|---|
| 1% or more | error |
| 0.01% or more | warning |
| 1 in a million or more | info |
| less | listed as too few to matter |
| total not known, 1000 or more per second | error |
| total not known, 1 or more per second, or 1000 or more in all | warning |
| total not known, fewer | info |

A counter that did not grow while it was observed is an info at most, because it is in the past. Retransmitted requests of
NFS are a warning from 0.1% on, or where one or more per second was observed: a single reconnect resends what was under way. On a declared
path, an info becomes a warning where a loss of this share would hold one CUBIC connection below the rate of the path.
What is not a loss has the severity of its rule: error limits throughput or refuses connections now, warning did or
will under load, info is worth knowing; where nothing worse is found, an info that explains slowness or loss is the
possible cause. What only old lines of the kernel's log show counts one step lower. Findings are
ordered by severity, causes before their consequences, and losses of packets by their share. A message that the kernel
repeats is one finding with a count.
`

// ConfidenceRule is the rule of confidence, as docs/rules.md says it.
const ConfidenceRule = `A finding is certain if the quoted lines alone show the problem, or if a window (--for)
showed that it continues; likely if something else would confirm it, which it names under "confirmed if"; possible if
it is an info, or if only old lines of the kernel's log show it.
`

// lossShare is the part of all that a counter of losses took; 0 where it is not known.
func lossShare(c facts.Counter, carried uint64) float64 {
	if carried == 0 {
		return 0
	}
	return float64(c.Value) / (float64(carried) + float64(c.Value))
}

// graded is the severity of a counter of losses beside what was carried, by SeverityRule; it is at most worst, the
// severity of the same loss when it is heavy.
func graded(c facts.Counter, carried uint64, worst Severity) Severity {
	s := gradedShare(lossShare(c, carried))
	if carried == 0 {
		s = gradedCount(c)
	}
	if !still(c) && s.AtLeast(Warning) {
		s = Info
	}
	if s != trifling && !worst.AtLeast(s) {
		return worst
	}
	return s
}

func gradedShare(share float64) Severity {
	switch {
	case share >= criticalShare:
		return Critical
	case share >= warningShare:
		return Warning
	case share >= infoShare:
		return Info
	}
	return trifling
}

func gradedCount(c facts.Counter) Severity {
	switch {
	case c.Rate != nil && *c.Rate >= criticalRate:
		return Critical
	case c.Rate != nil && *c.Rate >= warningRate, c.Rate == nil && c.Value >= warningCount:
		return Warning
	}
	return Info
}

// lost returns the findings as a loss of packets: graded, and with the share that orders them.
func lost(c facts.Counter, carried uint64, all []Finding) []Finding {
	for i := range all {
		all[i].Severity, all[i].Share = graded(c, carried, Critical), lossShare(c, carried)
		all[i].past = !still(c)
	}
	return all
}

// atMost lowers findings that are graver.
func atMost(worst Severity, all []Finding) []Finding {
	for i := range all {
		if all[i].Severity != trifling && !worst.AtLeast(all[i].Severity) {
			all[i].Severity = worst
		}
	}
	return all
}

// repeated is a warning for what happened often, an info for less.
func repeated(times, often int) Severity {
	if times >= often {
		return Warning
	}
	return Info
}

// onPath raises an info about a loss of packets that matters on the path.
func (f *Finding) onPath(path netpath.Path) {
	if f.Severity != Info || f.Share <= 0 || path.RTT <= 0 || path.Rate <= 0 || f.past {
		return
	}
	path.Loss = f.Share
	if bound, ok := lossResponse("cubic", path); ok && bound < float64(path.Rate) {
		f.Severity = Warning
		f.Summary += fmt.Sprintf("; with this loss one CUBIC connection reaches %s on the path", rate(bound))
	}
}

// still tells whether a counter may be growing: false when a window, or a second reading, showed that it is not.
func still(c facts.Counter) bool {
	if c.Earlier != nil && c.Earlier.Value == c.Value {
		return false
	}
	return c.Rate == nil || *c.Rate > 0
}

// happened prints a counter: its total and since when, and its rate when there is one.
func happened(c facts.Counter) string {
	said := fmt.Sprintf("%d since boot", c.Value)
	switch {
	case c.Partial && c.Over > 0:
		said = fmt.Sprintf("%d in %s s", c.Value, units.Digits(c.Over, 3))
	case c.Partial:
		said = fmt.Sprintf("%d since an earlier reading", c.Value)
	}
	switch {
	case c.Rate != nil && *c.Rate == 0:
		said += ", not growing now"
	case c.Rate != nil:
		said += fmt.Sprintf(", %s/s now", units.Digits(*c.Rate, 3))
	case c.Earlier != nil && c.Earlier.Value < c.Value:
		said += fmt.Sprintf(", %d more than at the earlier reading", c.Value-c.Earlier.Value)
	case c.Earlier != nil:
		said += ", no more than at the earlier reading"
	}
	return said
}

// explaining are the rules whose infos say what makes a path slow or loses packets, where nothing worse is found, from
// which share of packets on; the infos of the others are only worth knowing.
var explaining = map[string]float64{"drops-alarmed": 1e-4, "interrupts-on-one-core": 0, "netem-left": 0, "one-busy-queue": 0,
	"qdisc-drops": 0.01, "receive-dropped": 0.01, "refusals-limited": 0, "send-ring-full": 0.01, "shaper-full": 0,
	"softnet-squeezed": 0, "unclosed-connections": 0, "wireless-slow": 0}

// explains reports whether an info says what makes a path slow.
func (f Finding) explains() bool {
	least, listed := explaining[f.Rule]
	return f.Severity == Info && listed && (f.Share == 0 || f.Share >= least)
}
