package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// testProgram finds a test of iperf3 that reached much less than one of iperf 2 on the same path.
func testProgram() Rule {
	return Rule{
		ID: "test-program-limited", Title: "iperf3 itself limited a test", Needs: []string{"transfers"},
		Severity: Info,
		Because: "Before 3.16, iperf3 handles all streams of a test in one thread, so one core is its limit; iperf 2 uses a " +
			"thread per stream. The path carries what the faster program moved.",
		Confirm: "top -H shows iperf3 at 100% of one core; several iperf3 processes on different ports, or release 3.16 or " +
			"later, reach more.",
		Check: func(in Input) []Finding {
			var older, newer facts.TransferEnd
			for _, end := range in.Facts.TransferEnds {
				switch {
				case end.Stream != "SUM" || end.Datagrams > 0 || end.Seconds < 3:
				case end.Role == "total" && end.Rate > older.Rate:
					older = end
				case end.Role == "receiver" && end.Rate > newer.Rate:
					newer = end
				}
			}
			const worth = 5 * units.Gbit // below it one thread is enough
			if newer.Rate < worth || float64(newer.Rate) > 0.7*float64(older.Rate) {
				return append(fullTestCore(in.Facts), usualDatagrams(in.Facts)...)
			}
			return decisive(do("test with iperf3 3.16 or later, or with several iperf3 processes; the network is not the limit here",
				one("iperf3", []facts.Source{newer.Source, older.Source}, "iperf3 reached %s, another program %s: iperf3 itself was "+
					"the limit", newer.Rate, older.Rate)))
		},
		Fires: linuxExample("iperf3", programExample("36.1")),
		Quiet: linuxExample("iperf3", programExample("94.0")+"CPU Utilization: local/sender 31.2% (1.2%u/30.0%s), "+
			"remote/receiver 58.1% (5.8%u/52.3%s)\n"),
	}
}

// fullTestCore finds a test of which one end used a whole core. Before 3.16 iperf3 has one thread; since then a test of
// several streams can use more.
func fullTestCore(f *facts.Facts) []Finding {
	const full, more = 0.95, 1.05
	for _, p := range f.TestProcessors {
		if p.Share < full || p.Share > more {
			continue
		}
		found := do("reduce the CPU cost per packet or spread the load: enable segmentation offloads (ethtool -K "+
			"NAME tso on gso on gro on), use an MTU of 9000 if the whole path supports it, or run several iperf3 "+
			"processes on different ports", one("iperf3",
			[]facts.Source{p.Source}, "the %s %s used %.3g%% of one core: a single core limits this test", p.End, p.Role, 100*p.Share))
		found[0].Because = "A stream runs in one thread, and one core has to handle each of its packets: small " +
			"packets and missing offloads raise the CPU cost of the same rate."
		found[0].Confirm = "Several processes at once reach a higher total rate."
		return decisive(found)
	}
	return nil
}

// usualDatagrams finds a test with UDP at the rate that iperf sends where none is given (DEFAULT UDP rate of iperf3's
// iperf_api.h and of iperf 2: 1 Mbit/s of 2^20 bits).
func usualDatagrams(f *facts.Facts) []Finding {
	const least, most = 1.00e6, 1.06e6
	for _, end := range f.TransferEnds {
		if end.Datagrams <= 0 || end.Seconds < 3 || float64(end.Rate) < least || float64(end.Rate) > most || 50*end.Lost > end.Datagrams {
			continue
		}
		found := one("iperf3", []facts.Source{end.Source}, "a UDP test sent %s, the rate that iperf uses without -b", end.Rate)
		found[0].Because = "With UDP, iperf sends at a fixed rate, 1 Mbit/s unless -b sets another: the result says nothing about " +
			"what the path carries."
		found[0].Confirm = "With -b the rate is higher."
		return decisive(do("test with TCP, or with UDP at the rate in question: iperf3 -u -b 100M -c SERVER", found))
	}
	return nil
}

func programExample(rate string) string {
	return "[SUM]  0.0-30.0 sec    338 GBytes  96.7 Gbits/sec\n" +
		"[SUM]   0.00-30.00  sec   126 GBytes  " + rate + " Gbits/sec    0             sender\n" +
		"[SUM]   0.00-30.00  sec   126 GBytes  " + rate + " Gbits/sec                  receiver\n"
}
