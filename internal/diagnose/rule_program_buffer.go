package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// programBuffer finds programs whose configuration fixes a small buffer for their sockets.
func programBuffer() Rule {
	return Rule{
		ID: "program-buffer", Title: "A program's configuration fixes a small socket buffer", Needs: []string{"program buffers"},
		Severity: Warning,
		Because: "A buffer size set by a program disables autotuning (tcp(7), SO_RCVBUF): at most this much is in flight per " +
			"round trip, whatever the sysctls allow.",
		Confirm: "Without the line, ss -tm shows growing buffers (rb, tb), and the transfer is faster.",
		Check: func(in Input) []Finding {
			const small = 256 << 10 // 10 Gbit/s over 0.2 ms
			var least facts.ProgramBuffer
			for _, b := range in.Facts.ProgramBuffers {
				if b.Bytes > 0 && b.Bytes < small && (least.Bytes == 0 || b.Bytes < least.Bytes) {
					least = b
				}
			}
			if least.Bytes == 0 {
				return nil
			}
			return do("delete the line and restart the program: the kernel then autotunes the buffer",
				one(least.Program, []facts.Source{least.Source}, "a socket buffer fixed at %s allows %s over an "+
					"RTT of 1 ms, %s over 20 ms", units.Bytes(least.Bytes), rate(8000*least.Bytes), rate(400*least.Bytes)))
		},
		Fires: linuxExample("testparm", "\tsocket options = TCP_NODELAY SO_RCVBUF=16384\n"),
		Quiet: linuxExample("testparm", "\tsocket options = TCP_NODELAY\n\tsocket options = SO_SNDBUF=4194304\n"),
	}
}
