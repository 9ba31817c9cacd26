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
				return nil
			}
			return decisive(do("test with iperf3 3.16 or later, or with several iperf3 processes; the network is not the limit here",
				one("iperf3", []facts.Source{newer.Source, older.Source}, "iperf3 reached %s, another program %s: iperf3 itself was "+
					"the limit", newer.Rate, older.Rate)))
		},
		Fires: linuxExample("iperf3", programExample("36.1")),
		Quiet: linuxExample("iperf3", programExample("94.0")),
	}
}

func programExample(rate string) string {
	return "[SUM]  0.0-30.0 sec    338 GBytes  96.7 Gbits/sec\n" +
		"[SUM]   0.00-30.00  sec   126 GBytes  " + rate + " Gbits/sec    0             sender\n" +
		"[SUM]   0.00-30.00  sec   126 GBytes  " + rate + " Gbits/sec                  receiver\n"
}
