package diagnose

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
	"github.com/wirerate/wirerate/internal/units"
)

// one returns a single finding.
func one(subject string, evidence []facts.Source, format string, args ...any) []Finding {
	return []Finding{{Subject: subject, Evidence: evidence, Summary: fmt.Sprintf(format, args...)}}
}

// with returns the findings with a severity.
func with(s Severity, all []Finding) []Finding {
	for i := range all {
		all[i].Severity = s
	}
	return all
}

// do returns the findings with an action that follows.
func do(action string, all []Finding) []Finding {
	for i := range all {
		all[i].Fix = append(all[i].Fix, Fix{Action: action})
	}
	return all
}

// logged returns the first and the last line of the kernel's log that hold all
// the words, in lower case, and how many lines do.
func logged(f *facts.Facts, words ...string) (found []facts.Source, lines int) {
	return logLines(f, func(line string) bool {
		lower := strings.ToLower(line)
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(lower, w) })
	})
}

// matching returns the first and the last line of the kernel's log that a pattern fits, and how many lines do.
func matching(f *facts.Facts, pattern *regexp.Regexp) (found []facts.Source, lines int) {
	return logLines(f, pattern.MatchString)
}

// logLines returns the first and the last line of the kernel's log that fit, and how many do.
func logLines(f *facts.Facts, fits func(line string) bool) (found []facts.Source, lines int) {
	var last facts.Source
	var hits []int
	all := f.Lines("dmesg")
	for i, line := range all {
		if fits(line) {
			hits = append(hits, i)
		}
	}
	// A title or a sentence of a post quotes the message as well: beside lines of a log they do not count.
	if slices.ContainsFunc(hits, func(i int) bool { return ofLog(all[i]) }) {
		hits = slices.DeleteFunc(hits, func(i int) bool { return !ofLog(all[i]) })
	}
	for _, i := range hits {
		here := f.Line("dmesg", i+1)
		if here.Text = around(here.Text, all[i], fits); here.Text == "" {
			continue
		}
		last = here
		if lines++; lines == 1 {
			found = append(found, last)
		}
	}
	if lines > 1 {
		found = append(found, last)
	}
	return found, lines
}

// ofLog reports whether a line begins as those of logs do: with a time, a level or a source.
func ofLog(line string) bool { return logStamp.MatchString(line) }

var logStamp = regexp.MustCompile(`^\W{0,4}\[|^<\d+>|^\W{0,4}\d{4}[-/]\d\d[-/]\d\d|^\W{0,4}\d\d:\d\d|` +
	`^\W{0,4}(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} +\d+ \d\d:\d\d|^\W{0,4}(?:\S+ +){0,6}kernel: |\[ *\d{1,9}\.\d+\]`)

// around is what is shown of a line: its beginning where that fits, else the passage that does, for a message may stand
// far behind in a sentence; empty where none does.
func around(shown, line string, fits func(string) bool) string {
	const size, step = 200, 60
	if fits(shown) {
		return shown
	}
	for at := 0; at < min(len(line), 1<<14); at += step {
		part := strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(line[at:min(at+size, len(line))], ""))
		if at > 0 {
			part = "... " + strings.TrimSpace(part) // no beginning of a line
		}
		if fits(part) {
			return part
		}
	}
	return ""
}

// counters returns those of the names that are above zero.
func counters(f *facts.Facts, names ...string) (found []facts.Counter) {
	for _, name := range names {
		if c, ok := f.Counters[name]; ok && c.Value > 0 {
			found = append(found, c)
		}
	}
	return found
}

func sources(cs []facts.Counter) (out []facts.Source) {
	for _, c := range cs {
		out = append(out, c.Source)
	}
	return out
}

// total is the value of a counter, 0 when it is not known.
func total(f *facts.Facts, name string) uint64 { return f.Counters[name].Value }

// nicCounters returns the counters above zero whose name is among the names.
func nicCounters(n *facts.NIC, names ...string) map[string]facts.Counter {
	found := map[string]facts.Counter{}
	for _, name := range names {
		if c, ok := n.Counters[name]; ok && c.Value > 0 {
			found[name] = c
		}
	}
	return found
}

// largest returns the largest of the counters.
func largest(cs map[string]facts.Counter) (name string, c facts.Counter) {
	for k, v := range cs {
		if v.Value > c.Value || v.Value == c.Value && k < name {
			name, c = k, v
		}
	}
	return name, c
}

// received is the number of packets an interface received.
func received(n *facts.NIC) uint64 {
	return receivedBy(n, func(c facts.Counter) uint64 { return c.Value })
}

// sinceEarlier is by how much a counter of lost packets grew between two readings, with what was received meanwhile, where
// both were read twice; else the totals.
func sinceEarlier(n *facts.NIC, c facts.Counter) (facts.Counter, uint64) {
	now, before := received(n), receivedBy(n, func(c facts.Counter) uint64 {
		if c.Earlier == nil {
			return 0
		}
		return c.Earlier.Value
	})
	if c.Earlier == nil || c.Value <= c.Earlier.Value || before == 0 || now <= before {
		return c, now
	}
	c.Value -= c.Earlier.Value
	c.Earlier = nil
	return c, now - before
}

func receivedBy(n *facts.NIC, value func(facts.Counter) uint64) uint64 {
	var byKind uint64
	for _, kinds := range [][]string{{"rx_ucast_packets", "rx_mcast_packets", "rx_bcast_packets"},
		{"ucast pkts rx", "mcast pkts rx", "bcast pkts rx"}, {"rx_pkts"}, {"rx_unicast", "rx_multicast", "rx_broadcast"},
		{"port.rx_unicast", "port.rx_multicast", "port.rx_broadcast"}, {"rx_ucast_frames", "rx_mcast_frames", "rx_bcast_frames"},
		{"rx_ucast_pkts", "rx_mcast_pkts", "rx_bcast_pkts"},
		{"RXUnicast", "RxMulti", "RxBroad"}, {"RxUnicast", "RxMulticast", "RxBroadcast"}} { // of a switch's port: qca8k, mt7530
		var sum uint64
		for _, name := range kinds {
			sum += value(n.Counters[name])
		}
		byKind = max(byKind, sum)
	}
	most := byKind
	good := value(n.Counters["mac_stats.good_pkts_recvd"])
	for _, name := range []string{"link.rx_packets", "netstat.Ipkts", "rx_packets", "rx_packets_phy", "rx_pkts_nic",
		"rx_packets_nic", "port_rx_packets", "rx_total_frames", "rx_good_pkts", "rx_frames_ok", "rx_frames",
		"InPackets", "mmc_rx_framecount_gb", "mac_stats.good_pkts_recvd", "mac_stats.total_pkts_recvd",
		"good_frames_received", "rx_good_packets_rcvd"} {
		if name == "mac_stats.total_pkts_recvd" && good > 0 {
			continue // it counts what was missed as well
		}
		most = max(most, value(n.Counters[name]))
	}
	return most
}

// physical reports whether an interface is a network card, real or virtual,
// rather than something built on others.
func physical(n *facts.NIC) bool {
	return n.Kind == "ethernet" && n.Driver != "veth" && n.Driver != "tun" && n.Driver != "bridge" &&
		n.Driver != "bonding" && n.Driver != "dummy"
}

// forwards reports whether the host forwards packets, with the line that
// shows it.
func forwards(f *facts.Facts) (facts.Source, bool) {
	name := map[system.System]string{"linux": "net.ipv4.ip_forward", "freebsd": "net.inet.ip.forwarding",
		"openbsd": "net.inet.ip.forwarding"}[f.System]
	if v, ok := f.Integer(name); !ok || v == 0 {
		return facts.Source{}, false
	}
	return f.Settings[name].Source, true
}

// reallyForwards also wants that a good part of what arrives is forwarded: a
// container host has forwarding on and is no router.
func reallyForwards(f *facts.Facts, role string) (facts.Source, bool) {
	if src, is := firewall(f); is {
		return src, true
	}
	src, on := forwards(f)
	if !on || role == "router" {
		return src, on
	}
	in, out := total(f, "Ip.InReceives"), total(f, "Ip.ForwDatagrams")
	if f.System != "linux" {
		in, out = total(f, "ip.total_packet_received"), total(f, "ip.packet_forwarded")
	}
	if in == 0 { // not counted here: two cards with addresses are what a router has
		return src, addressed(f) > 1
	}
	return src, float64(out) > 0.3*float64(in)
}

// addressed counts the cards that are up and have an address.
func addressed(f *facts.Facts) (cards int) {
	for i := range f.NICs {
		if n := &f.NICs[i]; physical(n) && n.Up && len(n.Addrs) > 0 {
			cards++
		}
	}
	return cards
}

// firewall reports whether a FreeBSD host of which nothing says that it forwards
// is one all the same: a distribution made for it, or two cards beside the
// packet filter's own interfaces.
func firewall(f *facts.Facts) (facts.Source, bool) {
	forwarding, known := f.Integer("net.inet.ip.forwarding")
	if f.System != "freebsd" || known && forwarding == 0 {
		return facts.Source{}, false
	}
	if known || f.DistributionSource.Text != "" {
		return f.DistributionSource, f.DistributionSource.Text != ""
	}
	filter := facts.Source{}
	for i := range f.NICs {
		n := &f.NICs[i]
		if n.Kind == "pflog" || n.Kind == "pfsync" {
			filter = n.Source
		}
	}
	return filter, filter.Text != "" && addressed(f) > 1
}

// counted prints a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// setting returns a switch's value and its line.
func setting(f *facts.Facts, name string) (int64, facts.Source, bool) {
	v, ok := f.Integer(name)
	return v, f.Settings[name].Source, ok
}

// firstSetting is the first of several settings that is known: one under the names of several releases.
func firstSetting(f *facts.Facts, names ...string) (int64, facts.Source, bool) {
	for _, name := range names {
		if v, src, ok := setting(f, name); ok {
			return v, src, true
		}
	}
	return 0, facts.Source{}, false
}

// flowLine quotes of a connection its addresses and the fields that matter: a
// line of ss is longer than a screen. With a window the line is that of the
// second sample, whose numbers are quoted as they were understood.
func flowLine(f *facts.Facts, fl facts.Flow, fields ...string) facts.Source {
	const short = 160
	src := fl.Source
	if len(src.Text) < short {
		return src
	}
	raw := ""
	if lines := f.Lines(src.From); f.Window == 0 && src.Line >= 1 && src.Line <= len(lines) {
		raw = lines[src.Line-1]
		for _, more := range lines[src.Line:] { // its details, indented
			if more == "" || more[0] != ' ' && more[0] != '\t' {
				break
			}
			raw += " " + more
		}
	}
	var text []string
	for _, w := range strings.Fields(src.Text) {
		if len(text) > 5 || strings.Contains(w, ":(") {
			break
		}
		text = append(text, w)
	}
	for _, name := range fields {
		word := ""
		if v, ok := fl.Values[name]; ok {
			word = fmt.Sprintf("%s:%s", name, units.Digits(v, 6))
		}
		for _, w := range strings.Fields(raw) {
			if strings.HasPrefix(w, name+":") {
				word = w
			}
		}
		if word != "" {
			text = append(text, word)
		}
	}
	src.Text = strings.Join(text, " ")
	return src
}

// loopback reports whether a flow stays on the host.
func loopback(fl *facts.Flow) bool {
	h, _, err := net.SplitHostPort(fl.Peer)
	if err != nil {
		h = fl.Peer
	}
	h, _, _ = strings.Cut(strings.Trim(h, "[]"), "%")
	ip := net.ParseIP(h)
	return ip != nil && ip.IsLoopback() || strings.HasPrefix(fl.Peer, "127.")
}

// hasWord reports whether a word stands between spaces in a line.
func hasWord(line, word string) bool { return slices.Contains(strings.Fields(line), word) }

// sample keeps at most three pieces of evidence.
func sample(all []facts.Source) []facts.Source { return all[:min(len(all), 3)] }

// The systems of rules.
func onLinux() []string   { return []string{"linux"} }
func onFreeBSD() []string { return []string{"freebsd"} }
func onBSD() []string     { return []string{"freebsd", "openbsd"} }

// Identities for examples.
const (
	unameLinux   = "Linux a 6.12.9 #1 SMP x86_64 GNU/Linux\n"
	unameFreeBSD = "FreeBSD a 14.2-RELEASE FreeBSD 14.2-RELEASE GENERIC amd64\n"
	unameOpenBSD = "OpenBSD a 7.8 GENERIC.MP#1 amd64\n"
)

// linuxExample, freebsdExample and openbsdExample make an example of pairs of
// a source's name and its text.
func linuxExample(pairs ...string) Example   { return example(unameLinux, pairs) }
func freebsdExample(pairs ...string) Example { return example(unameFreeBSD, pairs) }
func openbsdExample(pairs ...string) Example { return example(unameOpenBSD, pairs) }

func example(uname string, pairs []string) Example {
	e := Example{Texts: map[string]string{"uname -a": uname}}
	for i := 0; i+1 < len(pairs); i += 2 {
		e.Texts[pairs[i]] = pairs[i+1]
		if pairs[i] == "second sample" {
			e.Window = time.Second
		}
	}
	return e
}

// on returns the example on a path.
func (e Example) on(p netpath.Path) Example { e.Path = p; return e }

// as returns the example in a role.
func (e Example) as(role string) Example { e.Role = role; return e }

// ipLink is ip -s -d link's answer for one interface.
func ipLink(name string, mtu int, rxPackets, rxErrors, rxDropped, rxMissed uint64) string {
	return fmt.Sprintf("2: %s: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu %d qdisc mq state UP mode DEFAULT group "+
		"default qlen 1000\n"+
		"    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 numtxqueues 8 numrxqueues 8\n"+
		"    RX:  bytes packets errors dropped  missed   mcast\n    %d %d %d %d %d 0\n"+
		"    TX:  bytes packets errors dropped carrier collsns\n    1000 10 0 0 0 0\n",
		name, mtu, rxPackets*1000, rxPackets, rxErrors, rxDropped, rxMissed)
}

// decisive returns the findings as such that say what limits, even where they are infos.
func decisive(all []Finding) []Finding {
	for i := range all {
		all[i].decides = true
	}
	return all
}

// withFix returns the findings with one more remedy.
func withFix(fix Fix, all []Finding) []Finding {
	for i := range all {
		all[i].Fix = append(all[i].Fix, fix)
	}
	return all
}

// peerSource is a line of the other end, with the name of that end where its file does not tell it.
func peerSource(peer *facts.Facts, s facts.Source) facts.Source {
	if s = peer.Posted(s); s.Output == "" && s.Text != "" {
		s.From += " of " + peer.Host
	}
	return s
}
