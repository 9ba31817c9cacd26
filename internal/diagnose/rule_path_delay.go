package diagnose

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// What makes a delay one of queues: seconds above the shortest round trip, in the mean.
const (
	tracedDelay = 0.05
	pingedDelay = 0.1
)

// pathDelay finds probes of ping, mtr and gateway monitors that come back late, though the path is short.
func pathDelay() Rule {
	return Rule{
		ID: "path-delay", Title: "Probes come back much later than the path needs", Needs: []string{"linux:path|round trips|messages",
			"freebsd:round trips|messages", "openbsd:round trips|messages"}, Severity: Warning,
		Because: "The shortest round trip is what the path needs; what is above it was spent in queues, or in repeated sends " +
			"of a wireless link. Everything that shares the path is delayed.",
		Confirm: "The round trip is short again as soon as nothing is transferred.",
		Check: func(in Input) []Finding {
			for _, t := range in.Facts.Traces {
				if found := delayedTrace(t); found != nil {
					return found
				}
			}
			for _, p := range in.Facts.Pings {
				if p.Answered >= enoughProbes && p.Avg-p.Min >= pingedDelay && p.Avg >= 3*p.Min && p.Min > 0 {
					return do("find where: mtr -rwc 100 to the same host, while it is slow and while it is not",
						one(cmp.Or(p.Peer, "ping"), []facts.Source{p.Source}, "%d pings took %s in the mean, the fastest %s, the slowest %s",
							p.Answered, milliseconds(p.Avg), milliseconds(p.Min), milliseconds(p.Max)))
				}
			}
			return delayedGateway(in.Facts)
		},
		Fires: linuxExample("mtr", delayExample("160.4", "20.4")),
		Quiet: linuxExample("mtr", delayExample("21.4", "20.4")),
	}
}

func milliseconds(s float64) string { return fmt.Sprintf("%.3g ms", 1000*s) }

// delayedTrace finds the hop from which on all answer late. Routers that answer late themselves, and hops behind them do
// not, delay nothing.
func delayedTrace(t facts.Trace) []Finding {
	var hops []facts.Hop
	for _, h := range t.Hops {
		if h.Mean > 0 && h.Loss < 0.5 {
			hops = append(hops, h)
		}
	}
	if len(hops) == 0 {
		return nil
	}
	end := hops[len(hops)-1]
	extra := end.Mean - end.Best
	if end.Sent < enoughProbes || extra < tracedDelay || end.Mean < 2*end.Best {
		return nil
	}
	first := len(hops) - 1
	for first > 0 && hops[first-1].Mean-hops[first-1].Best >= extra/4 {
		first--
	}
	from := hops[first]
	evidence := []facts.Source{from.Source}
	if first < len(hops)-1 {
		evidence = append(evidence, end.Source)
	}
	found := one(end.Name, evidence, "%s in the mean where the path needs %s; the delay begins at hop %d (%s: %s, at best %s)",
		milliseconds(end.Mean), milliseconds(end.Best), from.Number, from.Name, milliseconds(from.Mean), milliseconds(from.Best))
	if from.Number <= 1 {
		return do("the delay arises on the own network: its Wi-Fi, or a full queue in this host or the first router", found)
	}
	return do(fmt.Sprintf("look at the link before hop %d: shape a little below its rate (fq_codel, cake) where it is yours",
		from.Number), found)
}

// delayedGateway finds a gateway that the monitor of a firewall finds slow, without the loss of which path-loss speaks.
func delayedGateway(f *facts.Facts) []Finding {
	const least, lossy, often = 200000, 10, 2 // microseconds, percent, alarms
	worst, address := 0, ""
	lines, n := logLines(f, func(line string) bool {
		m := slowGateway.FindStringSubmatch(line)
		if m == nil {
			return false
		}
		us, _ := strconv.Atoi(m[2])
		lost, _ := strconv.Atoi(m[3])
		if us >= least && lost < lossy && us > worst {
			worst, address = us, m[1]
		}
		return us >= least && lost < lossy
	})
	if n < often {
		return nil
	}
	return do("look at what the line carries meanwhile: a full upload fills the queue of the modem; shape a little below "+
		"its rate (fq_codel, cake)",
		one("gateway "+address, lines, "its monitor waited %s for answers (alarms in %s)", milliseconds(float64(worst)/1e6),
			counted(n, "line")))
}

// slowGateway is what dpinger of pfSense and OPNsense logs.
var slowGateway = regexp.MustCompile(`dpinger.* (\S+): Alarm latency (\d{1,9})us stddev \S+ loss (\d{1,3})%`)

func delayExample(mean, best string) string {
	return "HOST: a                          Loss%   Snt   Last   Avg  Best  Wrst StDev\n" +
		"  1.|-- 192.0.2.1                  0.0%   200    0.5   0.6   0.4   1.0   0.1\n" +
		"  2.|-- 198.51.100.2               0.0%   200  120.5 " + mean + "  " + best + " 700.0  90.1\n"
}
