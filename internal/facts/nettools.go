package facts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// sentences are what netstat -s of Linux's net-tools says for a counter of
// /proc (net-tools statistics.c), by the words without the number.
var sentences = map[string]string{
	"times the listen queue of a socket overflowed":                            "TcpExt.ListenOverflows",
	"SYNs to LISTEN sockets dropped":                                           "TcpExt.ListenDrops",
	"SYNs to LISTEN sockets ignored":                                           "TcpExt.ListenDrops",
	"SYN cookies sent":                                                         "TcpExt.SyncookiesSent",
	"SYN cookies received":                                                     "TcpExt.SyncookiesRecv",
	"invalid SYN cookies received":                                             "TcpExt.SyncookiesFailed",
	"packets pruned from receive queue because of socket buffer overrun":       "TcpExt.PruneCalled",
	"packets pruned from receive queue":                                        "TcpExt.RcvPruned",
	"packets dropped from out-of-order queue because of socket buffer overrun": "TcpExt.OfoPruned",
	"packets collapsed in receive queue due to low socket buffer":              "TcpExt.TCPRcvCollapsed",
	"packets collapsed in receive queue due to low socket buffers":             "TcpExt.TCPRcvCollapsed",
	"TCP sockets finished time wait in fast timer":                             "TcpExt.TW",
	"TCP sockets finished time wait in slow timer":                             "TcpExt.TWKilled",
	"delayed acks sent":                                                        "TcpExt.DelayedACKs",
	"times recovered from packet loss due to fast retransmit":                  "TcpExt.TCPRenoRecovery",
	"times recovered from packet loss due to SACK data":                        "TcpExt.TCPSackRecovery",
	"times recovered from packet loss by selective acknowledgements":           "TcpExt.TCPSackRecovery",
	"times using SACK":                                                         "TcpExt.TCPSACKReorder",
	"times using FACK":                                                         "TcpExt.TCPFACKReorder",
	"times using time stamp":                                                   "TcpExt.TCPTSReorder",
	"times using reno fast retransmit":                                         "TcpExt.TCPRenoReorder",
	"fast retransmits":                                                         "TcpExt.TCPFastRetrans",
	"forward retransmits":                                                      "TcpExt.TCPForwardRetrans",
	"retransmits in slow start":                                                "TcpExt.TCPSlowStartRetrans",
	"retransmits lost":                                                         "TcpExt.TCPLostRetransmit",
	"other TCP timeouts":                                                       "TcpExt.TCPTimeouts",
	"DSACKs sent for old packets":                                              "TcpExt.TCPDSACKOldSent",
	"DSACKs sent for out of order packets":                                     "TcpExt.TCPDSACKOfoSent",
	"DSACKs received":                                                          "TcpExt.TCPDSACKRecv",
	"DSACKs for out of order packets received":                                 "TcpExt.TCPDSACKOfoRecv",
	"connections aborted due to memory pressure":                               "TcpExt.TCPAbortOnMemory",
	"connections aborted due to timeout":                                       "TcpExt.TCPAbortOnTimeout",
	"times TCP ran low on memory":                                              "TcpExt.TCPMemoryPressures",
	"TCP ran low on memory times":                                              "TcpExt.TCPMemoryPressures",
	"segments retransmited":                                                    "Tcp.RetransSegs",
	"segments retransmitted":                                                   "Tcp.RetransSegs",
	"segments send out":                                                        "Tcp.OutSegs",
	"segments sent out":                                                        "Tcp.OutSegs",
	"segments received":                                                        "Tcp.InSegs",
	"bad segments received":                                                    "Tcp.InErrs",
	"resets sent":                                                              "Tcp.OutRsts",
	"failed connection attempts":                                               "Tcp.AttemptFails",
	"connection resets received":                                               "Tcp.EstabResets",
	"connections established":                                                  "Tcp.CurrEstab",
	"passive opens":                                                            "Tcp.PassiveOpens",
	"passive connection openings":                                              "Tcp.PassiveOpens",
	"passive connections openings":                                             "Tcp.PassiveOpens",
	"active opens":                                                             "Tcp.ActiveOpens",
	"active connection openings":                                               "Tcp.ActiveOpens",
	"active connections openings":                                              "Tcp.ActiveOpens",
	"receive buffer errors":                                                    "Udp.RcvbufErrors",
	"send buffer errors":                                                       "Udp.SndbufErrors",
	"packet receive errors":                                                    "Udp.InErrors",
	"packets received":                                                         "Udp.InDatagrams",
	"packets sent":                                                             "Udp.OutDatagrams",
	"packets send":                                                             "Udp.OutDatagrams",
	"packets to unknown port received":                                         "Udp.NoPorts",
	"total packets received":                                                   "Ip.InReceives",
	"forwarded":                                                                "Ip.ForwDatagrams",
	"incoming packets discarded":                                               "Ip.InDiscards",
	"incoming packets delivered":                                               "Ip.InDelivers",
	"requests sent out":                                                        "Ip.OutRequests",
	"outgoing packets dropped":                                                 "Ip.OutDiscards",
	"dropped because of missing route":                                         "Ip.OutNoRoutes",
	"fragments dropped after timeout":                                          "Ip.ReasmTimeout",
	"reassemblies required":                                                    "Ip.ReasmReqds",
	"packets reassembled ok":                                                   "Ip.ReasmOKs",
	"packet reassembles failed":                                                "Ip.ReasmFails",
	"packet reassemblies failed":                                               "Ip.ReasmFails",
	"fragments failed":                                                         "Ip.FragFails",
}

var leadingNumber = regexp.MustCompile(`^(?:Detected reordering |)(\d+)\s+(.+)$`)

// lowMemory is the sentence that has its number at the end.
var lowMemory = regexp.MustCompile(`^TCP ran low on memory (\d+) times`)

// readNetToolsNetstat reads netstat -s of Linux: sections named after a table
// of /proc with indented lines, "NUMBER words" or "NAME: NUMBER" for counters
// that net-tools does not know.
func (f *Facts) readNetToolsNetstat(t text) error {
	section := ""
	found := false
	sentencesRead, sentencesKnown, foreign := 0, 0, 0
	keep := func(name string, v uint64, line int) {
		if name == "" {
			return
		}
		found = true
		if _, have := f.Counters[name]; !have {
			f.Counters[name] = Counter{Value: v, Source: f.Line(t.from, line)}
		}
	}
	for i, line := range t.lines() {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			continue
		}
		if title, ok := strings.CutSuffix(trimmed, ":"); ok && !strings.Contains(title, " ") {
			section = title
			continue
		}
		if name, value, ok := strings.Cut(trimmed, ": "); ok && !strings.Contains(name, " ") {
			if v, number := count(value); number {
				keep(section+"."+name, v, i+1)
			}
			continue
		}
		if m := lowMemory.FindStringSubmatch(trimmed); m != nil {
			trimmed = m[1] + " times TCP ran low on memory"
		}
		m := leadingNumber.FindStringSubmatch(trimmed)
		if m == nil {
			continue
		}
		name := sentences[strings.TrimRight(strings.TrimSpace(m[2]), ".")]
		if sentencesRead++; name != "" {
			sentencesKnown++
		} else if foreign == 0 {
			foreign = i + 1
		}
		// "packets received" is said of UDP and of ICMP alike; without a
		// heading (grep took it) only what is said once counts.
		if v, ok := count(m[1]); ok && (strings.HasPrefix(name, section+".") || section == "" && strings.HasPrefix(name, "TcpExt.")) {
			keep(name, v, i+1)
		}
	}
	switch {
	case sentencesKnown == 0 && sentencesRead > 4:
		return atLine(foreign, "none of its %d sentences is known; is it in another language?", sentencesRead)
	case !found:
		return errNothing
	}
	return nil
}

// nstatTables are the tables whose names nstat puts in front of a counter.
var nstatTables = []string{"IcmpMsg", "TcpExt", "MPTcpExt", "IpExt", "UdpLite", "Icmp", "Tcp", "Udp", "Ip"}

// readNstat reads nstat -az (iproute2 misc/nstat.c): "TcpExtListenOverflows  12
// 0.0".
func (f *Facts) readNstat(t text) error {
	found := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		if v, ok := count(words[1]); ok && f.nstatCounter(words[0], Counter{Value: v, Source: f.Line(t.from, i+1)}) {
			found = true
		}
	}
	var tables map[string]map[string]uint64 // of nstat -j
	if json.NewDecoder(bytes.NewReader(t.data)).Decode(&tables) == nil {
		for _, counters := range tables {
			for name, v := range counters {
				src := Source{From: t.from, Line: 1, Text: shorten(fmt.Sprintf("%s %d", name, v))}
				found = f.nstatCounter(name, Counter{Value: v, Source: src}) || found
			}
		}
	}
	if !found {
		return errNothing
	}
	return nil
}

// nstatCounter keeps a counter under its table's name; that of /proc counts before it.
func (f *Facts) nstatCounter(name string, c Counter) bool {
	key := ""
	if strings.Contains(name, "6") && !strings.HasPrefix(name, "IcmpMsg") && !strings.HasPrefix(name, "Tcp") {
		key = "Snmp6." + name
	} else if i := slices.IndexFunc(nstatTables, func(t string) bool { return len(name) > len(t) && strings.HasPrefix(name, t) }); i >= 0 {
		key = nstatTables[i] + "." + name[len(nstatTables[i]):]
	}
	if key != "" && f.Counters[key].Source.Text == "" {
		f.Counters[key] = c
	}
	return key != ""
}

var (
	oldIfconfig = regexp.MustCompile(`^(\S+)\s+Link encap:(\S+)`)
	newIfconfig = regexp.MustCompile(`^(\S+): flags=\d+<([^>]*)>\s+mtu (\d+)`)
	linkNumber  = regexp.MustCompile(`(packets|errors|dropped|overruns|frame|bytes|carrier)[: ](\d+)`)
)

// readLinuxIfconfig reads ifconfig of Linux's net-tools, old ("eth0  Link
// encap:Ethernet", "RX packets:1 errors:0 dropped:0 overruns:0") and new
// ("eth0: flags=4163<UP,...>  mtu 1500", "RX errors 0  dropped 0 ..."), for
// interfaces that ip did not show.
func (f *Facts) readLinuxIfconfig(t text) error {
	var n *NIC
	found := false
	for i, line := range t.lines() {
		src := f.Line(t.from, i+1)
		if m := oldIfconfig.FindStringSubmatch(line); m != nil {
			n, found = f.linuxLink(m[1], src), true
			continue
		}
		if m := newIfconfig.FindStringSubmatch(line); m != nil {
			n, found = f.linuxLink(strings.TrimSuffix(m[1], ":"), src), true
			n.MTU = smallNumber(m[3])
			n.Up = strings.Contains(m[2]+",", "UP,") && strings.Contains(m[2]+",", "RUNNING,")
			continue
		}
		words := strings.Fields(line)
		if n == nil || len(words) == 0 {
			continue
		}
		if strings.Contains(line, "MTU:") { // "UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1"
			n.Up = words[0] == "UP" && strings.Contains(line, " RUNNING ")
			_, rest, _ := strings.Cut(line, "MTU:")
			n.MTU = smallNumber(strings.Fields(rest + " 0")[0])
		}
		if prefix := strings.ToLower(words[0]); prefix == "rx" || prefix == "tx" {
			for _, m := range linkNumber.FindAllStringSubmatch(line, -1) {
				v, ok := count(m[2])
				name := fmt.Sprintf("link.%s_%s", prefix, strings.TrimSuffix(m[1], "s")+plural(m[1]))
				if m[1] == "overruns" {
					name = "link." + prefix + "_overrun"
				}
				if _, have := n.Counters[name]; ok && !have {
					n.Counters[name] = Counter{Value: v, Source: src}
				}
			}
		}
	}
	if !found {
		return errNothing
	}
	return nil
}

// plural keeps the names that ip uses: packets, errors, dropped.
func plural(word string) string {
	if strings.HasSuffix(word, "s") {
		return "s"
	}
	return ""
}

func (f *Facts) linuxLink(name string, src Source) *NIC {
	if n := f.NIC(name); n != nil {
		if n.Counters == nil {
			n.Counters = map[string]Counter{}
		}
		return n
	}
	n := NIC{Name: name, Kind: "ethernet", Counters: map[string]Counter{}, Source: src, Shown: map[string]Source{"mtu": src}}
	if name == "lo" {
		n.Kind = "loopback"
	}
	if len(f.NICs) >= linkLimit {
		return &NIC{Counters: map[string]Counter{}} // counted nowhere
	}
	f.NICs = append(f.NICs, n)
	return &f.NICs[len(f.NICs)-1]
}

// readMpstat reads mpstat -P ALL (sysstat): a heading that names the columns,
// and a line for each CPU. The last block counts.
func (f *Facts) readMpstat(t text) error {
	var heads []string
	found := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		at := -1
		for j, w := range words {
			if w == "CPU" {
				at = j
			}
		}
		if at >= 0 && strings.Contains(line, "%") {
			heads = words[at:]
			continue
		}
		if len(heads) < 4 || len(words) < len(heads) {
			continue
		}
		row := words[len(words)-len(heads):]
		id, ok := count(row[0])
		if !ok || id >= maxProcessors {
			continue
		}
		p := Processor{ID: int(id), Sampled: true, Source: f.Line(t.from, i+1)}
		good := true
		for j, head := range heads[1:] {
			if head[0] != '%' { // intr/s of old releases
				continue
			}
			v, ok := positive(strings.ReplaceAll(row[j+1], ",", "."))
			good = good && ok && v <= 100.5
			p.add(strings.TrimPrefix(head, "%"), v/100)
		}
		if good {
			found = true
			p.Softnet, p.NetRX = f.processor(p.ID).Softnet, f.processor(p.ID).NetRX
			*f.processor(p.ID) = p
		}
	}
	if !found {
		return errNothing
	}
	return nil
}

var (
	topLine  = regexp.MustCompile(`^\s*(?:CPU ?|%?Cpu)(\d+)(?: states)?\s*:`)
	topShare = regexp.MustCompile(`([0-9]+(?:[.,][0-9]+)?)\s?%?\s?([a-z]+)`)
)

// readTop reads the lines of processors of FreeBSD's top -P ("CPU 0:  0.4%
// user, ..."), OpenBSD's top -1 ("CPU0 states:  0.1% user, ...") and Linux's ("%Cpu0
// :  1.0 us, ..."); the last ones count.
func (f *Facts) readTop(t text) error {
	defer func() {
		if len(f.Threads) > 0 {
			f.Parts["threads"] = Part{From: t.from, State: Read}
		}
	}()
	found := false
	for i, line := range t.lines() {
		if m := topThread.FindStringSubmatch(line); m != nil {
			if v, ok := positive(m[1] + m[3]); ok && v <= 105 && len(f.Threads) < rowLimit {
				f.Threads = append(f.Threads, Thread{Name: strings.TrimRight(m[2]+m[4], " ]"), Share: v / 100, Source: f.Line(t.from, i+1)})
				found = true
			}
			continue
		}
		if m := topWhole.FindString(line); m != "" && f.AllProcessors == nil {
			p := Processor{Sampled: true, Source: f.Line(t.from, i+1)}
			if p.shares(topShare.FindAllStringSubmatch(line[len(m):], -1)) {
				f.AllProcessors, found = &p, true
				f.Parts["all processors"] = Part{From: t.from, State: Read}
			}
			continue
		}
		m := topLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		id, ok := count(m[1])
		shares := topShare.FindAllStringSubmatch(line[len(m[0]):], -1)
		if !ok || id >= maxProcessors || len(shares) < 4 {
			continue
		}
		p := Processor{ID: int(id), Sampled: true, Source: f.Line(t.from, i+1)}
		if !p.shares(shares) {
			continue
		}
		found = true
		p.Softnet = f.processor(p.ID).Softnet
		p.NetRX = f.processor(p.ID).NetRX
		*f.processor(p.ID) = p
	}
	if !found {
		return errNothing
	}
	return nil
}

// topThread finds the threads of the kernel in top's list: of FreeBSD
// "... 9:30 93.65% kernel{em1 taskq}", of Linux "... 99.3 0.0 10:11.11 ksoftirqd/3".
var topThread = regexp.MustCompile(`^ *\d+ root .* (\d+\.\d+)% \[?((?:kernel|intr)\{[^}]*\}?)|^ *\d+ root .* [RSD] +(\d+[.,]\d) +\d+[.,]\d +\d+:\S+ (ksoftirqd/\d+)`)

// topWhole begins top's line of all processors together.
var topWhole = regexp.MustCompile(`^(?:CPU:|%?Cpu\(s\):) +`)

// shares takes the pairs of a percentage and its name; false when they cannot
// be.
func (p *Processor) shares(pairs [][]string) bool {
	for _, s := range pairs {
		v, ok := positive(strings.ReplaceAll(s[1], ",", "."))
		if !ok || v > 100.5 {
			return false
		}
		p.add(s[2], v/100)
	}
	return len(pairs) >= 4
}
