package diagnose

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// noBuffers finds packets that could not be sent for lack of buffers.
func noBuffers() Rule {
	return Rule{
		ID: "output-no-buffers", Title: "Packets could not be sent: no buffer space",
		Needs: []string{"freebsd:counters|protocol rates|round trips|messages", "openbsd:counters|round trips|messages",
			"linux:round trips|messages"}, Severity: Warning,
		Because: "An interface's send queue, or network memory, was full; UDP programs lose those packets, TCP retransmits them.",
		Check: func(in Input) []Finding {
			found := counters(in.Facts, "ip.output_packet_dropped_due_to_no_buf_etc")
			if len(found) == 0 {
				return refusedToSend(in.Facts)
			}
			return with(graded(found[0], total(in.Facts, "ip.packet_sent_from_this_host")+total(in.Facts,
				"ip.packet_forwarded"), Warning),
				one("ip", sources(found), "output packets dropped: %s", happened(found[0])))
		},
		Fires: freebsdExample("netstat -s", "ip:\n\t54487 packets sent from this host\n\t92 output packets dropped "+
			"due to no bufs, etc.\n"),
		Quiet: freebsdExample("netstat -s", "ip:\n\t54487 packets sent from this host\n\t0 output packets dropped "+
			"due to no bufs, etc.\n"),
	}
}

// refusedToSend finds what programs say when sendto(2) fails with ENOBUFS.
func refusedToSend(f *facts.Facts) []Finding {
	lines, n := logLines(f, func(line string) bool {
		return noBufferSpace.MatchString(line) && !unsizedRefusal.MatchString(line) && !toKernel.MatchString(line)
	})
	if m, refused := f.Message("sendto", "no buffer space available"); refused {
		lines, n = []facts.Source{m.Source}, 1
	}
	if n == 0 {
		return nil
	}
	next := "find out which with netstat -id and netstat -m: an interface whose send queue does not drain (no link, hung " +
		"card: check dmesg), or exhausted network memory"
	if memorySuffices(f) && f.System != "linux" {
		next = "netstat -m shows no denied requests, so it is an interface's send queue: find it with netstat -id, and send " +
			"no faster than its link carries (a pf queue, a rate limit in the program)"
	}
	if f.System == "linux" {
		next = "send more slowly, or lengthen the interface's send queue (ip link set dev NAME txqueuelen 10000); ip -s link " +
			"and tc -s qdisc show which interface drops"
	}
	return do(next, one("ip", lines, "the kernel refuses to send: no buffer space"))
}

// memorySuffices reports whether netstat -m was read and no request for network memory was denied.
func memorySuffices(f *facts.Facts) bool {
	if slices.ContainsFunc(f.Memories, func(p facts.Pool) bool { return p.Denied > 0 }) {
		return false
	}
	return slices.ContainsFunc(f.Lines("netstat -m"), func(line string) bool {
		return strings.Contains(line, "requests for mbufs denied") || strings.Contains(line, "requests for memory denied")
	})
}

// toKernel is what programs say of messages to the kernel, which no interface sends.
var toKernel = regexp.MustCompile(`(?i)netlink|\bconntrackd\b`)

// noBufferSpace is what programs say of ENOBUFS: by its words, by its number of FreeBSD (dpinger), or by what named
// makes of it; of a UDP socket that does not wait, EAGAIN is the same.
var noBufferSpace = regexp.MustCompile(`(?i)\b(?:send(?:to|msg|ing)?|write to .* socket)\b.*no buffer space available|` +
	`\bwrite UDP\S*: no buffer space|sendto \S+ failed: resource temporarily unavailable|` +
	`dpinger.*: sendto error: 55\b|error sending response: not enough free resources`)
