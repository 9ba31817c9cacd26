package packets

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/flow"
	"github.com/wirerate/wirerate/internal/units"
)

// judge writes the sentence, what would help, and what else is to be known.
func (l *Life) judge(d flow.Direction) {
	if len(l.Limits) == 0 {
		l.Verdict = "no data was seen"
		return
	}
	top := l.Limits[0]
	l.Limit = top.Limit
	limited, why, _ := strings.Cut(l.sentence(top.Limit, d), ": ")
	l.Verdict = fmt.Sprintf("%s for %s of its time", limited, percent(top.Share))
	if why != "" {
		l.Verdict += ": " + why
	}
	if len(l.Limits) > 1 && l.Limits[1].Share >= 0.15 {
		l.Verdict += fmt.Sprintf("; then %s, for %s", phrase(l.Limits[1].Limit), percent(l.Limits[1].Share))
	}
	if l.Reset != "" {
		l.Verdict += "; reset by " + l.Reset
	}
	l.Fix = l.fixes(top.Limit, d)
	l.notes(d)
}

func percent(share float64) string {
	if share > 0.99 {
		return "all"
	}
	return fmt.Sprintf("%.0f%%", share*100)
}

// phrases name limits within a sentence.
var phrases = map[flow.Limit]string{flow.Program: "the sending program", flow.SendBuffer: "the send buffer",
	flow.PeerWindow: "the peer's receive window", flow.SlowReader: "the receiving program", flow.SlowStart: "slow start",
	flow.Congestion: "the congestion window after losses", flow.Path: "the path's rate", flow.Policer: "a policer",
	flow.BlackHole: "an MTU black hole", flow.Nagle: "Nagle's algorithm and delayed acknowledgements",
	flow.Silly: "a silly window", flow.Timeout: "retransmission timeouts"}

func phrase(l flow.Limit) string { return cmp.Or(phrases[l], "unknown limits") }

// sentence says what limited, with the numbers that show it.
func (l *Life) sentence(limit flow.Limit, d flow.Direction) string {
	flight, window, rtt := units.Bytes(d.Flight).String(), units.Bytes(d.Window).String(), "unknown length"
	if d.RTT > 0 {
		rtt = units.Duration(d.RTT)
	}
	switch limit {
	case flow.Program:
		return "limited by the sending program: it had nothing to send"
	case flow.SendBuffer:
		return fmt.Sprintf("limited by the send buffer: never more than %s under way in a round trip of %s, "+
			"with room in the window and no loss that explains it", flight, rtt)
	case flow.PeerWindow:
		return fmt.Sprintf("limited by the peer's receive window: it offers at most %s, which fill up "+
			"within a round trip of %s", window, rtt)
	case flow.SlowReader:
		return fmt.Sprintf("limited by the receiving program: it reads slowly, and its window closes (%d times to zero)",
			l.ZeroWin)
	case flow.SlowStart:
		return fmt.Sprintf("limited by slow start: the congestion window was still opening, round trip of %s", rtt)
	case flow.Congestion:
		if l.Again == 0 {
			return "limited by the congestion window: it grows, without a loss in this capture"
		}
		return fmt.Sprintf("limited by the congestion window: %d of %d segments were sent again in %d loss events, "+
			"and the path was not full", l.Again, l.Segments, l.Events)
	case flow.Path:
		said := "limited by the path's rate: it delivered about " + units.Rate(d.Capacity).String()
		if queue := d.Typical - d.RTT; queue > d.RTT/6 && queue > 2*time.Millisecond {
			said += fmt.Sprintf(", with a queue of %s on top of a round trip of %s", units.Duration(queue), rtt)
		}
		return said
	case flow.Policer:
		return fmt.Sprintf("limited by a policer: losses whenever more than about %s is sent, without a queue before them",
			units.Rate(l.Goodput).String())
	case flow.BlackHole:
		return fmt.Sprintf("limited by an MTU black hole: segments of %d bytes never arrive", d.MSS)
	case flow.Nagle:
		return "limited by Nagle's algorithm: short segments wait for delayed acknowledgements"
	case flow.Silly:
		return "limited by a silly window: it opens by a few bytes, and tiny segments fill it"
	case flow.Timeout:
		return fmt.Sprintf("limited by retransmission timeouts: nothing was sent while a timer ran, %d times", l.Timer)
	}
	if d.Unanswered {
		return "limited by what cannot be told: nothing that the receiver sent is in the capture"
	}
	if l.Unseen > l.Bytes/20 {
		return fmt.Sprintf("limited by what cannot be told: %s of the data are not in the capture",
			units.Bytes(l.Unseen).String())
	}
	return "limited by what cannot be told from this capture"
}

// buffer is the bandwidth-delay product that a buffer must hold, with as much
// again for the kernel's own accounting.
func (l *Life) buffer(d flow.Direction) (bytes int64, known bool) {
	rate := max(d.Capacity, l.Goodput)
	if d.RTT <= 0 || rate <= 0 {
		return 0, false
	}
	need := 2 * rate / 8 * d.RTT.Seconds()
	return int64(math.Pow(2, math.Ceil(math.Log2(max(need, 1<<16))))), true
}

// fixes are what would help with a limit.
func (l *Life) fixes(limit flow.Limit, d flow.Direction) []Fix {
	b, known := l.buffer(d)
	size := func(format string) string {
		if !known {
			return ""
		}
		return fmt.Sprintf(format, b)
	}
	switch limit {
	case flow.SendBuffer:
		return []Fix{
			{On: "sender", OS: "linux", Setting: "net.ipv4.tcp_wmem", Value: size("4096 16384 %d")},
			{On: "sender", OS: "freebsd", Setting: "net.inet.tcp.sendbuf_max", Value: size("%d")},
			{On: "program", Action: "a program that sets SO_SNDBUF itself must set more, or leave it"}}
	case flow.PeerWindow:
		fixes := []Fix{
			{On: "receiver", OS: "linux", Setting: "net.ipv4.tcp_rmem", Value: size("4096 131072 %d")},
			{On: "receiver", OS: "freebsd", Setting: "net.inet.tcp.recvbuf_max", Value: size("%d")},
			{On: "program", Action: "a program that sets SO_RCVBUF itself must set more, or leave it"}}
		if to := l.Opened.To; to != nil && to.Scale != nil &&
			float64(l.Window) >= 0.9*float64(int64(math.MaxUint16)<<*to.Scale) {
			fixes = append(fixes, Fix{On: "receiver", OS: "freebsd", Setting: "kern.ipc.maxsockbuf", Value: size("%d"),
				Action: "the window is as large as the handshake's window scale allows, which is chosen by this"})
		}
		if l.unscaled() {
			fixes = append([]Fix{{On: "path", Action: "find what takes window scaling out of the handshake: without it " +
				"no window exceeds 64 KiB"}}, fixes...)
		}
		return fixes
	case flow.SlowReader:
		return []Fix{{On: "program", Action: "see what the receiving program waits for (its disk, its " +
			"processor): no setting helps"}}
	case flow.Program:
		return []Fix{{On: "program", Action: "see what the sending program waits for (its disk, its peer, its processor): " +
			"no setting helps"}}
	case flow.SlowStart:
		return []Fix{{On: "program", Action: "keep connections open and use them again"},
			{On: "sender", OS: "linux", Setting: "net.ipv4.tcp_slow_start_after_idle", Value: "0",
				Action: "where pauses within a connection are what starts it again"}}
	case flow.Congestion:
		return []Fix{{On: "path", Action: "find and cure the loss: duplex, cabling, radio, a queue that is too short"},
			{On: "sender", OS: "linux", Setting: "net.ipv4.tcp_congestion_control", Value: "bbr"},
			{On: "sender", OS: "freebsd", Setting: "net.inet.tcp.functions_default", Value: "rack"}}
	case flow.Path:
		return []Fix{{On: "path", Action: "no setting of the hosts makes it faster; where the queue hurts others, " +
			"fq_codel or cake at the slowest link keeps it short"}}
	case flow.Policer:
		return []Fix{{On: "sender", Action: "shape to just below the policer's rate, or use pacing (fq, bbr)"}}
	case flow.BlackHole:
		return []Fix{{On: "path", Action: "let ICMP \"fragmentation needed\" and \"packet too big\" pass, or lower the MTU"},
			{On: "sender", OS: "linux", Setting: "net.ipv4.tcp_mtu_probing", Value: "1"},
			{On: "sender", OS: "freebsd", Setting: "net.inet.tcp.pmtud_blackhole_detection", Value: "1"}}
	case flow.Nagle:
		return []Fix{{On: "program", Action: "set TCP_NODELAY, or write each message at once"},
			{On: "receiver", OS: "freebsd", Setting: "net.inet.tcp.delayed_ack", Value: "0", Action: "costs packets"}}
	case flow.Silly:
		return []Fix{{On: "receiver", Action: "a larger receive buffer, and a program that reads more at once"}}
	case flow.Timeout:
		return []Fix{{On: "path", Action: "find and cure the loss; short flows have too little under way " +
			"for a fast retransmission"},
			{On: "sender", OS: "linux", Setting: "net.ipv4.tcp_sack", Value: "1"},
			{On: "sender", OS: "freebsd", Setting: "net.inet.tcp.functions_default", Value: "rack"}}
	}
	return []Fix{}
}

// unscaled tells that one end offered window scaling and the other's answer
// does not bear it.
func (l *Life) unscaled() bool {
	from, to := l.Opened.From, l.Opened.To
	return from != nil && to != nil && (from.Scale == nil || to.Scale == nil)
}

// notes are what a reader must know of the capture, and what was offered and
// not answered.
func (l *Life) notes(d flow.Direction) {
	say := func(format string, args ...any) { l.Notes = append(l.Notes, fmt.Sprintf(format, args...)) }
	from, to := l.Opened.From, l.Opened.To
	if from == nil || to == nil {
		say("the handshake is not in the capture, or its options are cut off: window scale and MSS are estimated")
	} else {
		var missing []string
		for _, o := range []struct {
			name   string
			one, b bool
		}{{"window scaling", from.Scale != nil, to.Scale != nil}, {"selective acknowledgements", from.SACK, to.SACK},
			{"timestamps", from.Timestamps, to.Timestamps}, {"ECN", from.ECN, to.ECN},
			{"accurate ECN", from.AccECN, to.AccECN}} {
			if o.one != o.b {
				missing = append(missing, o.name)
			}
		}
		if len(missing) > 0 {
			say("offered by one end only: %s", strings.Join(missing, ", "))
		}
		if from.Scale == nil && to.Scale == nil {
			say("no window scaling: windows end at 64 KiB")
		}
	}
	if d.Vantage == flow.Nowhere {
		say("one direction is missing in the capture, or too short: where it was made and the round trip are not known")
	}
	if l.Unseen > 0 && l.Unseen > l.Bytes/1000 {
		say("%s that were acknowledged are not in the capture: it dropped packets", units.Bytes(l.Unseen).String())
	}
	if l.Spurious > 0 {
		say("%d retransmissions were not needed: their data had arrived", l.Spurious)
	}
	if l.Reordered > 0 {
		say("%d segments were overtaken by later ones", l.Reordered)
	}
}
