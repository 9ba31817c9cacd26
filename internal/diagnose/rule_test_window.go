package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// testWindow finds tests that were given a small socket buffer, or less than they asked for.
func testWindow() Rule {
	return Rule{
		ID: "window-of-test", Title: "A test was limited by its own socket buffer", Needs: []string{"transfers"},
		Severity: Warning,
		Because: "A buffer size set by the program (iperf -w) disables autotuning: at most one buffer is transferred per " +
			"round trip.",
		Confirm: "Without -w the test is faster.",
		Check: func(in Input) []Finding {
			for _, w := range in.Facts.TestWindows {
				const small = 64 << 10
				src := []facts.Source{w.Source}
				switch {
				case w.Got > 0 && w.Got < w.Asked:
					found := one("iperf", src, "it requested a buffer of %s and got %s: the kernel's limit is lower",
						units.Bytes(w.Asked), units.Bytes(w.Got))
					for _, name := range bufferLimits[string(in.Facts.System)] {
						found[0].Fix = append(found[0].Fix, Fix{Setting: name})
					}
					return do("omit -w: the kernel then autotunes the buffer beyond this size", found)
				case w.Got > 0 && w.Got < small:
					return do("omit -w: the kernel then autotunes the buffer", one("iperf", src, "its buffer was set to %s "+
						"(-w): with an RTT of 1 ms that is at most %s", units.Bytes(w.Got), rate(8000*float64(w.Got))))
				}
			}
			return nil
		},
		Fires: linuxExample("iperf3", "Client connecting to 192.0.2.7, TCP port 5001\n"+
			"TCP window size:  416 KByte (WARNING: requested 4.00 MByte)\n"),
		Quiet: linuxExample("iperf3", "Client connecting to 192.0.2.7, TCP port 5001\n"+
			"TCP window size:  512 KByte (WARNING: requested  256 KByte)\n"),
	}
}

// bufferLimits are the settings that bound the buffer a program may ask for.
var bufferLimits = map[string][]string{
	"linux":   {"net.core.wmem_max", "net.core.rmem_max"},
	"freebsd": {"kern.ipc.maxsockbuf"},
}
