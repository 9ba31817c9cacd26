package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
	"github.com/wirerate/wirerate/internal/units"
)

// udpBuffer finds datagrams dropped because the socket's buffer was full.
func udpBuffer() Rule {
	return Rule{
		ID: "udp-buffer", Title: "A socket buffer is full, or smaller than the program requested",
		Needs: []string{"linux:protocols|listeners|socket table|datagram table|messages",
			"freebsd:counters|protocol rates|socket table|messages", "openbsd:counters|socket table|messages"},
		Severity: Warning,
		Because: "Datagrams that arrive while the buffer is full are lost. The program reads too slowly, its " +
			"buffer is smaller than a burst, or the kernel refused it a larger one.",
		Confirm: "The counter grows while the program is busy; a larger SO_RCVBUF stops it.",
		Check: func(in Input) []Finding {
			f := in.Facts
			found := counters(f, "Udp.RcvbufErrors", "Snmp6.Udp6RcvbufErrors", "udp.dropped_due_to_full_socket_buffer")
			full := fullSockets(f)
			if len(found) == 0 {
				full = append(full, uncountedBuffers(f)...)
				return append(full, refusedBuffers(f)...)
			}
			// Linux counts here what programs got, FreeBSD all that arrived.
			arrived := total(f, "Udp.InDatagrams") + total(f, "Snmp6.Udp6InDatagrams")
			if all := total(f, "udp.datagram_received"); all > found[0].Value {
				arrived = all - found[0].Value
			}
			out := lost(found[0], arrived, one("udp", sources(found), "datagrams dropped for "+
				"full socket buffers: %s%s", happened(found[0]), ofArrived(found[0], arrived)))
			if f.System == "linux" {
				out[0].Fix = findsProgram()
			} else {
				out[0].Fix = []Fix{{Setting: "net.inet.udp.recvspace"}}
			}
			if share := lossShare(found[0], arrived); arrived > 0 && share > steadyExcess {
				out[0].Fix = []Fix{{Action: fmt.Sprintf("find out why the program does not read: it reads only %s "+
					"of what arrives, and a larger buffer does not help", percent(1-share))}}
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

// uncountedBuffers finds datagrams that a Linux without a counter of full buffers counts among its errors, or of which
// a grep left only those.
func uncountedBuffers(f *facts.Facts) []Finding {
	if _, known := f.Counters["Udp.RcvbufErrors"]; known || f.System != "linux" {
		return nil
	}
	c := f.Counters["Udp.InErrors"]
	if c.Value <= f.Counters["Udp.InCsumErrors"].Value {
		return nil
	}
	arrived := total(f, "Udp.InDatagrams")
	out := lost(c, arrived, one("udp", []facts.Source{c.Source}, "datagrams received with errors: %s%s", happened(c),
		ofArrived(c, arrived)))
	out[0].Because = "This counts full socket buffers and, rarely, bad checksums: a program reads too slowly, or a " +
		"burst is larger than its buffer."
	out[0].Confirm = "nstat -az shows how many of them are UdpRcvbufErrors."
	out[0].Fix = findsProgram()
	return out
}

// findsProgram is what is done on Linux about buffers of which it is not known whose they are.
func findsProgram() []Fix {
	return []Fix{{Action: "find the program: ss -uanmp shows each socket's drops (d in skmem) and buffer (rb); " +
		"rmem_max limits what a program may request, rmem_default applies if it requests nothing"},
		{Setting: "net.core.rmem_max"}, {Setting: "net.core.rmem_default"}}
}

// ofArrived says of how many datagrams a counter of lost ones is.
func ofArrived(c facts.Counter, arrived uint64) string {
	if arrived == 0 {
		return ""
	}
	return ", " + percent(lossShare(c, arrived)) + " of what arrived"
}

// steadyExcess is the share of what arrives above which a loss is no burst that a buffer could hold.
const steadyExcess = 0.9

// fullSockets finds UDP sockets whose buffer is full now: as large as the
// default, or with no room for one more datagram.
func fullSockets(f *facts.Facts) []Finding {
	if i := slices.IndexFunc(f.Datagrams, func(s facts.DatagramSocket) bool { return s.Drops > 0 }); i >= 0 {
		return droppingSockets(f)
	}
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
	program := "the program that owns it"
	if worst.Program != "" {
		program = worst.Program
	}
	if known {
		evidence = append(sample(evidence), f.Settings[map[bool]string{true: "net.core.rmem_default",
			false: "net.inet.udp.recvspace"}[f.System == "linux"]].Source)
	}
	return do("find out why "+program+" does not read: a larger buffer only delays the loss", one("udp "+worst.Local, evidence,
		"%s are unread: the buffer is full and further datagrams are dropped", units.Bytes(worst.Unread)))
}

// droppingSockets finds sockets that count what they had no room for, the one with the most first.
func droppingSockets(f *facts.Facts) (out []Finding) {
	worst := slices.MaxFunc(f.Datagrams, func(a, b facts.DatagramSocket) int { return cmp.Compare(a.Drops, b.Drops) })
	c := facts.Counter{Value: worst.Drops, Source: worst.Source}
	waiting := ""
	if worst.Unread > 0 {
		waiting = fmt.Sprintf("; %s are unread now", units.Bytes(worst.Unread))
	}
	out = lost(c, 0, one("udp "+worst.Local, []facts.Source{worst.Source},
		"%d datagrams dropped because of its full buffer since it was opened%s", worst.Drops, waiting))
	if worst.Program != "" {
		out[0].Summary += " (" + worst.Program + ")"
	}
	out[0].Fix = []Fix{{Action: "find out why the program that owns " + worst.Local + " reads slowly, or set a " +
		"larger buffer in it (SO_RCVBUF), up to:"}, {Setting: "net.core.rmem_max"}}
	return out
}

// refusedBuffers finds what programs say when the kernel gave them less buffer than they asked for: quic-go, unbound
// and syslog-ng. They name the size in KiB, in bytes, or as an option.
func refusedBuffers(f *facts.Facts) []Finding {
	for i, line := range f.Lines("dmesg") {
		m := refusedBuffer.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		_, n := matching(f, refusedBuffer)
		wanted, got, unit := m[2]+m[4]+m[6]+m[8], m[3]+m[5]+m[7], 1.0
		if m[2] != "" {
			unit = 1024
		}
		size, _ := strconv.ParseFloat(wanted, 64)
		had, _ := strconv.ParseFloat(got, 64)
		setting := map[bool]string{true: "net.core.rmem_max", false: "kern.ipc.maxsockbuf"}[f.System == "linux"]
		if (m[1] == "send" || strings.HasPrefix(m[0], "so-snd")) && f.System == "linux" {
			setting = "net.core.wmem_max"
		}
		found := one("udp", []facts.Source{f.Line("dmesg", i+1), f.Settings[setting].Source},
			"a program requested a buffer of %s and got %s (%s)", units.Bytes(size*unit), units.Bytes(had*unit),
			counted(n, "message"))
		if m[8] != "" { // the BSDs grant all of it or nothing
			found[0].Summary = fmt.Sprintf("a program requested a buffer of %s and was refused", units.Bytes(size))
		}
		found[0].Because = "A burst larger than the buffer is lost when receiving and blocks the program when " +
			"sending: QUIC and similar transfers slow down."
		found[0].Confirm = refusalEnds
		if f.System != system.Linux && (m[8] != "" || strings.HasPrefix(m[0], "so-snd")) { // TCP's too, and those for sending
			found[0].Subject, found[0].Because = "sockets", wholeOrNone
		}
		needed := size * unit
		switch f.System {
		case system.OpenBSD:
			found[0].Fix = []Fix{{Action: smallerBuffer}}
			return found
		case system.FreeBSD:
			needed = math.Ceil(needed * mbufOverhead)
		}
		found[0].Fix = []Fix{{Setting: setting, Value: fmt.Sprintf("%.0f", needed)}}
		if now, known := f.Integer(setting); known && float64(now) >= needed {
			found[0].Fix = []Fix{{Action: fmt.Sprintf("restart the program: %s is now %d, and the program sets its "+
				"buffer only at startup",
				setting, now)}}
		}
		return found
	}
	return refusedUnsized(f)
}

// refusedUnsized finds buffers that a BSD refused to programs which do not say how large they were.
func refusedUnsized(f *facts.Facts) []Finding {
	lines, n := matching(f, unsizedRefusal)
	if n == 0 || f.System == "linux" {
		return nil
	}
	const setting = "kern.ipc.maxsockbuf"
	found := one("sockets", append(lines, f.Settings[setting].Source), "a program was refused the socket buffer "+
		"size it requested (%s)", counted(n, "message"))
	found[0].Because, found[0].Confirm = wholeOrNone, refusalEnds
	found[0].Fix = []Fix{{Action: "raise " + setting + " to 9/8 of what the program requests, or configure the program to request less"},
		{Setting: setting}}
	if _, known := f.Integer(setting); !known {
		found[0].Fix[1].Value = "16777216"
		found[0].Fix[1].ValueFor = "a starting point, for buffers of up to 14 MiB; it reserves no memory"
	}
	if f.System == system.OpenBSD {
		found[0].Fix = []Fix{{Action: smallerBuffer}}
	}
	return found
}

const (
	wholeOrNone = "The BSD kernel grants the requested size in full or not at all; the program continues with the " +
		"default size, or exits."
	refusalEnds = "The message is gone after the program is restarted."
)

// mbufOverhead is by how much kern.ipc.maxsockbuf is larger than the largest buffer that is granted: each cluster of
// 2048 bytes counts with an mbuf of 256 (sb_max_adj in sys/kern/uipc_sockbuf.c).
const mbufOverhead = 2304.0 / 2048

const smallerBuffer = "configure the program to request less: OpenBSD's limit is fixed (SB_MAX in sys/socketvar.h)"

// unsizedRefusal is ENOBUFS of setsockopt(2), as programs say it.
var unsizedRefusal = regexp.MustCompile(`(?i)(?:setsockopt|SO_(?:SND|RCV)BUF|(?:send|` +
	`receive) buffer size)\b.*no buffer space available`)

var refusedBuffer = regexp.MustCompile(`(?i:failed to sufficiently increase (receive|` +
	`send) buffer size\W+was: \d+ kiB,\s+` +
	`wanted: (\d+) kiB,\s+got: (\d+) kiB)|so-(?:rcv|snd)buf (\d+) was not granted\. Got (\d+)|` +
	`so_rcvbuf='(\d+)', so_rcvbuf_set='(\d+)'|SO_(?:SND|RCV)BUF\b.*?\b(\d{5,10})\b.*No buffer space available`)
