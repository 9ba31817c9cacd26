package diagnose

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
	"github.com/wirerate/wirerate/internal/units"
)

// windowBelowPath finds buffers that hold less than the declared path.
func windowBelowPath() Rule {
	return Rule{
		ID: "window-below-path", Title: "A connection's window cannot fill this path", Needs: []string{"settings|transfers"},
		Severity: Warning,
		Because: "A sender transfers at most one window per round trip: a window below the bandwidth-delay product limits a " +
			"connection, whatever the link rate.",
		Confirm: "Several connections together are faster than one.",
		Check: func(in Input) (out []Finding) {
			f := in.Facts
			if out = steadyWindows(f); len(out) > 0 {
				return out
			}
			if out = in.smallBuffers(); len(out) > 0 {
				return out
			}
			if out = measuredWindows(f); len(out) > 0 {
				return out
			}
			if out = unscaledWindow(f); len(out) > 0 {
				return out
			}
			if out = severalAreFaster(f); len(out) > 0 {
				return out
			}
			return in.losslessTest()
		},
		Fires: windowExample("4096\t16384\t65536"),
		Quiet: windowExample("4096\t16384\t67108864"),
	}
}

// smallBuffers finds buffers that hold less than the path, where it is known.
func (in Input) smallBuffers() (out []Finding) {
	f := in.Facts
	// window-scaling-off says where it is the reason.
	if on, known := windowScaling(f); in.Path.Rate == 0 || in.Path.RTT == 0 || known && !on {
		return nil
	}
	want, held := linkGoodput(in.Path, f), heldAt(in)
	for _, end := range []struct {
		ceiling Ceiling
		what    string
	}{{sendWindow(in.Path, f), "sends"}, {receiveWindow(in.Path, f), "receives"}} {
		name, _ := end.ceiling.Inputs["setting"].(string)
		src := f.Settings[plainSetting(name)].Source
		fix := Fix{Setting: plainSetting(name)}
		if f.System == "openbsd" { // a constant of the kernel
			src = f.Line("uname -a", 1)
			fix = Fix{Action: "use several parallel connections: no setting on this system raises it"}
		}
		if !end.ceiling.Known || end.ceiling.Value >= 0.8*want || src.Text == "" {
			continue
		}
		found := one(plainSetting(name), []facts.Source{src}, "one connection %s at most %s over %s, but the link carries "+
			"%s: %s",
			end.what, units.Rate(end.ceiling.Value), units.Duration(in.Path.RTT), units.Rate(want), end.ceiling.Because)
		found[0].Fix = append([]Fix{fix}, in.besideBuffer(fix.Setting, end.what == "sends")...)
		if in.PathFrom != "" {
			found[0].Summary += "; this path is " + in.PathFrom
		}
		if held > 0 && held < 0.5*end.ceiling.Value {
			found[0].Summary += fmt.Sprintf("; loss limits first, to %s", rate(held))
			found = with(Info, found)
		} else if end.ceiling.Value < 0.2*want {
			found = with(Critical, found)
		}
		out = append(out, found...)
	}
	return out
}

// besideBuffer is the other of the two settings of FreeBSD that bound a buffer, where the plan raises it too or it is not
// known: to raise one alone has no effect where the other is the same.
func (in Input) besideBuffer(name string, sending bool) []Fix {
	if in.Facts.System != "freebsd" {
		return nil
	}
	other := "kern.ipc.maxsockbuf"
	switch {
	case name != other:
	case sending:
		other = "net.inet.tcp.sendbuf_max"
	default:
		other = "net.inet.tcp.recvbuf_max"
	}
	if _, known := in.Facts.Settings[other]; known && in.Proposed[other] == "" {
		return nil
	}
	return []Fix{{Setting: other}}
}

// steadyWindows finds tests whose window stood still without a loss, and held just what the measured round trip makes
// of their rate: neither the network nor the sender's program held them back.
func steadyWindows(f *facts.Facts) []Finding {
	for _, tr := range f.Transfers {
		if tr.Steady < 3 || tr.SteadySeconds <= 0 || tr.SteadyBytes == 0 {
			continue
		}
		got := 8 * tr.SteadyBytes / tr.SteadySeconds
		p, known := roundTrip(f, tr.Peer)
		if !known || p.Avg < 0.001 || fillsLink(f, got) {
			continue
		}
		if could := 8 * tr.Window / p.Avg; got < 0.7*could || got > 1.3*could {
			continue
		}
		found := one(cmp.Or(tr.Peer, p.Peer), []facts.Source{tr.SteadySource, p.Source},
			"a constant window of %s with an RTT of %s ms allows %s: the test reached %s without loss",
			units.Bytes(tr.Window), units.Digits(1000*p.Avg, 3), rate(8*tr.Window/p.Avg), rate(got))
		return raisedWindows(f, "set the same buffer at the other end, which may have the smaller one; do not fix the window in the "+
			"program (iperf3 -w)", found)
	}
	return nil
}

// measuredWindows finds a test of one connection that reached just what a buffer's limit lets through in the round
// trips that ping measured.
func measuredWindows(f *facts.Facts) []Finding {
	var test facts.TransferEnd
	streams := map[string]bool{}
	for _, end := range f.TransferEnds {
		streams[end.Stream] = true
		if end.Lost < 0 && end.Seconds >= 3 {
			test = end
		}
	}
	p, known := roundTrip(f, "")
	if len(streams) != 1 || test.Rate == 0 || !known || p.Avg < 0.005 || fillsLink(f, float64(test.Rate)) {
		return nil
	}
	path := netpath.Path{RTT: time.Duration(p.Avg * float64(time.Second))}
	for _, c := range []Ceiling{sendWindow(path, f), receiveWindow(path, f)} {
		if !c.Known {
			c = halfOfReceiveBuffer(c, path, f)
		}
		name, _ := c.Inputs["setting"].(string)
		src := f.Settings[plainSetting(name)].Source
		if !c.Known || src.Text == "" || float64(test.Rate) < 0.75*c.Value || float64(test.Rate) > 1.1*c.Value {
			continue
		}
		found := one(plainSetting(name), []facts.Source{src, test.Source, p.Source}, "the test reached %s, and %s: %s",
			test.Rate, c.Because, rate(c.Value))
		found[0].Fix = []Fix{{Setting: plainSetting(name)}}
		return do("set the same at the other end", found)
	}
	return nil
}

// unscaledWindow finds a test over a long path that lost nothing and moved in each round trip just what a window without
// the window scale option holds (RFC 7323, section 2.2).
func unscaledWindow(f *facts.Facts) []Finding {
	const most, long = 65535, 0.01 // bytes, seconds
	above := 1.03
	if f.NoOutput != nil {
		above = 1.12 // people round
	}
	p, known := roundTrip(f, "")
	alone, _ := aloneAndTogether(f)
	if !known || p.Avg < long || alone.Rate == 0 || shareAgain(alone.Bytes, float64(max(alone.Retransmits, 0))) > 1e-4 {
		return nil
	}
	held := float64(alone.Rate) * p.Avg / 8
	if held < 0.85*most || held > above*most {
		return nil
	}
	found := decisive(with(Info, one("window scale", []facts.Source{alone.Source, p.Source}, "the test reached %s over an RTT of %s ms, "+
		"which is %s in flight: about what a window of 64 KiB without scaling allows", alone.Rate, units.Digits(1000*p.Avg, 3), units.Bytes(held))))
	found[0].Confirm = "ss -ti on the sender shows no wscale, or tcpdump shows a SYN or SYN-ACK without it."
	return do("check that window scaling is on at both ends and that no firewall between them removes the option, then whether the "+
		"program sets its own socket buffer (iperf3 -w)", found)
}

// severalAreFaster finds a test of one connection over a long path that lost nothing, beside one of several connections
// that together moved a multiple of it: what bounds the first is its own window.
func severalAreFaster(f *facts.Facts) []Finding {
	const multiple, long = 2.5, 0.005 // seconds
	p, known := roundTrip(f, "")
	if !known || p.Avg < long {
		return nil
	}
	alone, together := aloneAndTogether(f)
	if alone.Rate == 0 || float64(together.Rate) < multiple*float64(alone.Rate) || fillsLink(f, float64(alone.Rate)) ||
		shareAgain(alone.Bytes, float64(max(alone.Retransmits, 0))) > 1e-4 {
		return nil
	}
	found := one("one connection", []facts.Source{alone.Source, together.Source, p.Source}, "it moved %s, several "+
		"together %s: its window holds only %s over an RTT of %s ms", alone.Rate, together.Rate,
		units.Bytes(float64(alone.Rate)*p.Avg/8), units.Digits(1000*p.Avg, 3))
	return raisedWindows(f, otherEnd, found)
}

// losslessTest finds a test of one connection that lost nothing, had time to grow, and left most of a long path unused: the
// path did not hold it back.
func (in Input) losslessTest() []Finding {
	const long, grown = 0.01, 8 // seconds
	p, known := roundTrip(in.Facts, "")
	alone, _ := aloneAndTogether(in.Facts)
	lossless := slices.ContainsFunc(in.Facts.TransferEnds, func(end facts.TransferEnd) bool {
		return end.Retransmits == 0 && end.Lost < 0 && end.Stream == alone.Stream && end.Rate >= alone.Rate
	})
	if !known || p.Avg < long || !lossless || alone.Seconds < grown || float64(alone.Rate) > 0.6*in.Path.LinkGoodput() {
		return nil
	}
	found := decisive(with(Info, one("one connection", []facts.Source{alone.Source, p.Source}, "it retransmitted nothing and reached %s of "+
		"%s: %s in flight over an RTT of %s ms", alone.Rate, in.Path.Rate, units.Bytes(float64(alone.Rate)*p.Avg/8), units.Digits(1000*p.Avg, 3))))
	found[0].Because = "Where nothing is lost, the congestion window is not what limits: the buffer of one end is, or a program " +
		"that does not send or read faster."
	return raisedWindows(in.Facts, otherEnd, found)
}

// aloneAndTogether finds the best test of one stream, and the best sum of several. A sum follows the streams that it
// adds up; those of another test have the same numbers again.
// Without outputs they are those that the words of a post tell.
func aloneAndTogether(f *facts.Facts) (alone, together facts.TransferEnd) {
	if f.NoOutput != nil {
		return f.Told.Alone, f.Told.Together
	}
	const least = 3 // seconds
	streams := map[string]bool{}
	var last facts.TransferEnd
	single := func() {
		if len(streams) == 1 && last.Rate > alone.Rate {
			alone = last
		}
		clear(streams)
	}
	for _, end := range f.TransferEnds {
		switch {
		case end.Lost >= 0 || end.Seconds < least:
		case end.Stream == "SUM":
			single()
			if end.Rate > together.Rate {
				together = end
			}
		default:
			if streams[end.Stream] && end.Role == "sender" {
				single()
			}
			streams[end.Stream], last = true, end
		}
	}
	single()
	return alone, together
}

// halfOfReceiveBuffer is the receive window of a Linux whose release is not known: the half that tcp_adv_win_scale left
// before 6.6, and about what full-sized packets leave since.
func halfOfReceiveBuffer(c Ceiling, path netpath.Path, f *facts.Facts) Ceiling {
	rmem, ok := f.Triple("net.ipv4.tcp_rmem")
	if c.Resource != "receive-window" || !ok || f.System != system.Linux {
		return c
	}
	window := float64(rmem[2]) / 2
	return c.known(8*window/path.RTT.Seconds(), map[string]any{"setting": "net.ipv4.tcp_rmem[2]"},
		"net.ipv4.tcp_rmem[2] %s holds about %s of payload, one window per %s", units.Bytes(rmem[2]), units.Bytes(window),
		units.Duration(path.RTT.Round(time.Microsecond)))
}

// windowSettings bound the windows of a connection that is sent here and received there.
var windowSettings = map[system.System][]string{system.Linux: {"net.ipv4.tcp_wmem", "net.ipv4.tcp_rmem"},
	system.FreeBSD: {"kern.ipc.maxsockbuf", "net.inet.tcp.sendbuf_max", "net.inet.tcp.recvbuf_max"}}

// raisedWindows returns the findings with the settings that bound a window, and what is to be done at the other end.
func raisedWindows(f *facts.Facts, there string, found []Finding) []Finding {
	for _, name := range windowSettings[f.System] {
		found[0].Fix = append(found[0].Fix, Fix{Setting: name})
	}
	return do(there, found)
}

const otherEnd = "set the same at the other end, whose limit may be the smaller one"

// roundTrip finds what ping says of a peer; where it was asked of one host alone, this one is meant.
func roundTrip(f *facts.Facts, peer string) (facts.Ping, bool) {
	address := peer[:max(strings.LastIndexByte(peer, ':'), 0)]
	for _, p := range f.Pings {
		if p.Peer == address && p.Source.Text != "" {
			return p, true
		}
	}
	if len(f.Pings) == 1 && f.Pings[0].Source.Text != "" && !testedOther(f, f.Pings[0].Peer) {
		return f.Pings[0], true
	}
	if len(f.Pings) == 0 && f.Told.RTT > 0 { // the words of the post tell it
		return facts.Ping{Avg: f.Told.RTT.Seconds(), Source: f.Told.RTTSource}, true
	}
	for _, end := range f.TransferEnds {
		if len(f.Pings) == 0 && end.RTT > 0 {
			return facts.Ping{Avg: end.RTT, Source: end.Source}, true
		}
	}
	return facts.Ping{}, false
}

// testedOther reports whether iperf names the addresses that it tested, and another one was pinged.
func testedOther(f *facts.Facts, pinged string) bool {
	if _, err := netip.ParseAddr(pinged); err != nil {
		return false
	}
	named := false
	for _, line := range f.Lines("iperf3") {
		if to, err := netip.ParseAddr(firstGroup(testedHost, line)); err != nil {
			continue
		} else if named = true; to.String() == pinged {
			return false
		}
	}
	return named
}

// testedHost is how iperf 2 and 3 name the other end.
var testedHost = regexp.MustCompile(`^(?:Connecting to host|Client connecting to) ([0-9a-f.:]+),|\bconnected (?:to|with) ([0-9a-f.:]+) port `)

// plainSetting is a setting's name without the field that a ceiling names.
func plainSetting(s string) string {
	for i, r := range s {
		if r == '[' || r == ' ' {
			return s[:i]
		}
	}
	return s
}

func windowExample(wmem string) Example {
	return linuxExample("sysctl -a", "net.ipv4.tcp_wmem = "+wmem+"\n").on(netpath.Path{Rate: units.Gbit, RTT: 50e6,
		MTU: 1500})
}
