package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// udpBuffer finds datagrams dropped because the socket's buffer was full.
func udpBuffer() Rule {
	return Rule{
		ID: "udp-buffer", Title: "Datagrams were dropped for want of receive buffer",
		Needs: []string{"linux:protocols|listeners|socket table", "freebsd:counters|socket table",
			"openbsd:counters|socket table"}, Severity: Warning,
		Because: "A program that reads too slowly, or a burst larger than its buffer, loses datagrams.",
		Confirm: "The counter grows while the program is busy; a larger SO_RCVBUF stops it.",
		Check: func(in Input) []Finding {
			f := in.Facts
			found := counters(f, "Udp.RcvbufErrors", "Snmp6.Udp6RcvbufErrors", "udp.dropped_due_to_full_socket_buffer")
			full := fullSockets(f)
			if len(found) == 0 {
				return full
			}
			arrived := total(f, "Udp.InDatagrams") + total(f, "Udp.InErrors") + total(f, "udp.datagram_received")
			out := with(graded(found[0], arrived, 1e-4, Warning), one("udp", sources(found), "datagrams dropped for "+
				"full socket buffers: %s", happened(found[0])))
			if found[0].Value > 1000 && float64(found[0].Value) > 0.01*float64(arrived) && arrived > 0 && still(found[0]) {
				out = with(Critical, out)
			}
			if f.System == "linux" {
				out[0].Fix = []Fix{{Setting: "net.core.rmem_max"}, {Setting: "net.core.rmem_default"}}
			} else {
				out[0].Fix = []Fix{{Setting: "net.inet.udp.recvspace"}}
			}
			if len(full) > 0 { // it is known which program
				full[0].Evidence = append(full[0].Evidence, out[0].Evidence...)
				full[0].Summary += "; " + out[0].Summary
				return full
			}
			return out
		},
		Fires: linuxExample("/proc/net/snmp", "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors "+
			"SndbufErrors\nUdp: 100000 5 900 1000 900 0\n"),
		Quiet: freebsdExample("netstat -s", "udp:\n\t2527 datagrams received\n\t0 dropped due to full socket buffers\n"),
	}
}

// fullSockets finds UDP sockets whose buffer is full now: as large as the
// default, or with no room for one more datagram.
func fullSockets(f *facts.Facts) []Finding {
	limit, known := f.Integer("net.core.rmem_default")
	if f.System != "linux" {
		limit, known = f.Integer("net.inet.udp.recvspace")
	}
	if !known {
		limit = 212992 // net.core.rmem_default of Linux where nothing was set
	}
	var evidence []facts.Source
	var worst facts.DatagramSocket
	for _, s := range f.Datagrams {
		if float64(s.Unread) < 0.9*float64(limit) {
			continue
		}
		evidence = append(evidence, s.Source)
		if s.Unread > worst.Unread {
			worst = s
		}
	}
	if len(evidence) == 0 {
		return nil
	}
	program := "the program that holds it"
	if worst.Program != "" {
		program = worst.Program
	}
	if known {
		evidence = append(sample(evidence),
			f.Settings[map[bool]string{true: "net.core.rmem_default",
				false: "net.inet.udp.recvspace"}[f.System == "linux"]].Source)
	}
	return do("see why "+program+" does not read: a larger buffer only delays the loss", one("udp "+worst.Local, evidence,
		"%s wait unread: the buffer is full and what else arrives is dropped", units.Bytes(worst.Unread)))
}
