package facts

import (
	"slices"
	"strconv"
	"strings"
)

// readLinks reads ip -s -d link show.
func (f *Facts) readLinks(t text) error {
	if nics := ipLinks(t); len(nics) > 0 {
		f.NICs = nics
		for i := range nics {
			f.useLink(&nics[i])
		}
		return nil
	}
	return errNothing
}

// ipLinks reads what ip link prints, with -j or without.
func ipLinks(t text) []NIC {
	nics := parseIPLink(t)
	if len(nics) > 0 {
		return nics
	}
	for _, l := range jsonRows[jsonLink](t) {
		if plainName(l.Name) && len(nics) < linkLimit {
			nics = append(nics, l.nic(t.from))
		}
	}
	return nics
}

// parseIPLink reads ip -s -d link show (iproute2 ip/ipaddress.c): a line
// "2: eth0: <FLAGS> mtu ...", indented lines of details, and pairs of a line
// of headings (RX:, TX:) and one of numbers. Headings vary over versions.
func parseIPLink(t text) []NIC {
	var nics []NIC
	lines := t.lines()
	of := "link." // what the counters that follow are of: the link, or one of its virtual functions
	for i := 0; i < len(lines); i++ {
		words := strings.Fields(lines[i])
		if len(words) == 0 {
			continue
		}
		if n, ok := ipLinkHead(words); ok {
			if len(nics) >= linkLimit {
				return nics
			}
			n.Source = Source{From: t.from, Line: i + 1, Text: shorten(lines[i])}
			n.Shown = map[string]Source{"mtu": n.Source, "up": n.Source}
			nics, of = append(nics, n), "link."
			continue
		}
		if len(nics) == 0 || !indented(lines[i]) && !ipLinkDetails(words[0]) {
			continue
		}
		n := &nics[len(nics)-1]
		if (words[0] == "RX:" || words[0] == "TX:" || (words[0] == "RX" || words[0] == "TX") && len(words) > 1 &&
			words[1] == "errors:") && i+1 < len(lines) {
			ipLinkCounters(n, of, t.from, i+2, words, lines[i+1])
			i++
			continue
		}
		if len(words) > 2 && words[0] == "vf" && smallNumber(words[1]) < 1<<12 {
			of = "vf" + decimal(smallNumber(words[1])) + "."
			continue
		}
		ipLinkDetail(n, words)
	}
	return nics
}

func indented(line string) bool { return line[0] == ' ' || line[0] == '\t' }

// ipLinkDetails are the first words of details that are one's too where a page took the indentation away.
func ipLinkDetails(word string) bool {
	return slices.Contains([]string{"RX:", "TX:", "RX", "TX"}, word) || strings.HasPrefix(word, "link/")
}

func ipLinkHead(words []string) (NIC, bool) {
	if len(words) < 3 || !strings.HasSuffix(words[0], ":") || !strings.HasSuffix(words[1], ":") ||
		!strings.HasPrefix(words[2], "<") {
		return NIC{}, false
	}
	if _, ok := count(strings.TrimSuffix(words[0], ":")); !ok {
		return NIC{}, false
	}
	name, _, _ := strings.Cut(strings.TrimSuffix(words[1], ":"), "@")
	flags := strings.Split(strings.Trim(words[2], "<>"), ",")
	n := NIC{Name: name, Kind: kindByName(name), Counters: map[string]Counter{}}
	n.ipFlags(flags)
	for key, value := range pairs(words[3:]) {
		switch key {
		case "mtu":
			n.MTU = wholeMTU(value)
		case "qlen":
			n.TXQueue = smallNumber(value)
		case "master":
			n.Master = value
		}
	}
	return n, true
}

func (n *NIC) ipFlags(flags []string) {
	carrier := slices.Contains(flags, "LOWER_UP") ||
		slices.Contains(flags, "10000") // as an iproute2 before the name printed it
	n.Up = slices.Contains(flags, "UP") && carrier && !slices.Contains(flags, "NO-CARRIER")
	if slices.Contains(flags, "LOOPBACK") {
		n.Kind = "loopback"
	}
}

// ipLinkDetail reads an indented line: link/ether and the address, or the
// kind of a virtual interface with its attributes.
func ipLinkDetail(n *NIC, words []string) {
	if kind, ok := strings.CutPrefix(words[0], "link/"); ok {
		if len(words) > 1 && kind == "ether" {
			n.MAC = words[1]
		}
		if n.Kind == "ethernet" && kind != "ether" {
			n.Kind = kind
		}
	}
	if linkKinds[words[0]] && n.Kind != "loopback" {
		n.Kind = words[0]
	}
	for key, value := range pairs(words) {
		switch key {
		case "numtxqueues":
			n.Queues.TX = smallNumber(value)
		case "numrxqueues":
			n.Queues.RX = smallNumber(value)
		case "xmit_hash_policy":
			n.Hash = value
		case "parentdev":
			n.Device = value
		}
	}
}

// linkKinds are the kinds of virtual interfaces (Linux drivers/net,
// rtnl_link_ops); a kind begins its line. The word "vlan" stands in lines of
// virtual functions too.
var linkKinds = map[string]bool{"vlan": true, "bridge": true, "bond": true, "veth": true, "tun": true, "vxlan": true,
	"macvlan": true, "macvtap": true, "ipvlan": true,
	"ipvtap": true, "geneve": true, "wireguard": true, "dummy": true, "ifb": true, "team": true, "gre": true,
	"gretap": true, "ip6gre": true, "ip6gretap": true,
	"ipip": true, "ip6tnl": true, "sit": true, "vti": true, "vti6": true, "xfrm": true, "erspan": true, "vrf": true,
	"macsec": true, "hsr": true, "openvswitch": true,
	"nlmon": true, "can": true, "vcan": true, "bareudp": true, "netdevsim": true}

// ipLinkCounters pairs headings and numbers: rx_bytes, rx_packets, rx_errors,
// rx_dropped, rx_missed or rx_overrun, rx_mcast; tx_carrier, tx_collsns.
func ipLinkCounters(n *NIC, of, from string, line int, heads []string, numbers string) {
	prefix := strings.ToLower(strings.TrimSuffix(heads[0], ":")) + "_"
	if len(heads) > 1 && heads[1] == "errors:" {
		prefix += "errors_"
		heads = heads[1:]
	}
	for i, w := range strings.Fields(numbers) {
		if v, ok := count(w); ok && i+1 < len(heads) {
			n.Counters[of+prefix+strings.TrimSuffix(heads[i+1], ":")] =
				Counter{Value: v, Source: Source{From: from, Line: line,
					Text: shorten(strings.Join(heads, " ") + " | " + strings.TrimSpace(numbers))}}
		}
	}
}

// pairs takes every two neighbouring words as a key and its value.
func pairs(words []string) map[string]string {
	m := make(map[string]string, len(words))
	for i := 0; i+1 < len(words); i++ {
		if _, seen := m[words[i]]; !seen {
			m[words[i]] = words[i+1]
		}
	}
	return m
}

// smallNumber parses a number that fits an int, else 0.
func smallNumber(s string) int {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int(n)
}

// readAddresses reads ip -o address show: "2: eth0    inet 192.0.2.2/24 ...",
// and what it prints without -o: the lines of ip link, with "inet 192.0.2.2/24"
// below them. Without a list of links that is one.
func (f *Facts) readAddresses(t text) error {
	if len(f.NICs) == 0 {
		f.NICs = ipLinks(t)
	}
	found := false
	var n *NIC
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		if slices.Contains(words, "dadfailed") && len(f.Messages) < messageLimit {
			f.Messages = append(f.Messages, Message{shorten(strings.TrimSpace(line)), f.Line(t.from, i+1)})
		}
		if line[0] != ' ' && strings.HasSuffix(words[0], ":") {
			name, _, _ := strings.Cut(strings.TrimSuffix(words[1], ":"), "@")
			n, found = f.NIC(name), true
			words = words[2:]
		}
		if n != nil && len(words) >= 2 && (words[0] == "inet" || words[0] == "inet6") {
			n.Addrs = append(n.Addrs, words[1])
		}
	}
	return nothingUnless(found)
}

// readIPRoute reads ip route show: "DEST [via GATEWAY] dev NAME ATTRIBUTES",
// or "DEST ATTRIBUTES" and a line "nexthop via GATEWAY dev NAME" for each way, of
// which the first is kept. Routes of other tables are left out.
func (f *Facts) readIPRoute(t text) error {
	lines := t.lines()
	for i, line := range lines {
		words := strings.Fields(line)
		if len(words) < 2 || line[0] == ' ' || line[0] == '\t' {
			continue
		}
		switch words[0] {
		case "broadcast", "local", "multicast", "unreachable", "blackhole", "prohibit", "throw", "anycast":
			continue
		}
		if i+1 < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i+1]), "nexthop ") {
			words = append(words, strings.Fields(lines[i+1])[1:]...)
		}
		values := pairs(words[1:])
		if table := values["table"]; table != "" && table != "main" {
			continue
		}
		if i+1 < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i+1]), "cache ") { // ip route get
			for key, v := range pairs(strings.Fields(lines[i+1])) {
				values[key] = v
			}
		}
		r := Route{Destination: words[0], Gateway: values["via"], Interface: values["dev"],
			Attributes: map[string]string{}, Source: Source{From: t.from, Line: i + 1, Text: shorten(line)}}
		for _, key := range []string{"mtu", "advmss", "initcwnd", "initrwnd", "rto_min", "congctl", "quickack", "window",
			"rtt", "cwnd", "metric", "expires"} {
			if v, ok := values[key]; ok {
				if v == "lock" { // "mtu lock 1400"
					v = values["lock"]
				}
				r.Attributes[key] = v
			}
		}
		if r.Interface != "" && len(f.Routes) < rowLimit {
			f.Routes = append(f.Routes, r)
		}
	}
	return nothingUnless(len(f.Routes) > 0)
}

// useLink notes the lines that say something of an interface, and numbers them behind those of an earlier paste.
func (f *Facts) useLink(n *NIC) {
	note := func(s Source) Source {
		if s.Line > 0 {
			f.use(s.From, s.Line)
			s.Line += f.before[s.From]
		}
		return s
	}
	n.Source = note(n.Source)
	for field, s := range n.Shown {
		n.Shown[field] = note(s)
	}
	for name, c := range n.Counters {
		c.Source = note(c.Source)
		n.Counters[name] = c
	}
}

// wholeMTU is an MTU; below that which IPv4 asks of every link the end of the number was cut off.
func wholeMTU(digits string) int {
	const least = 68
	if v := smallNumber(digits); v >= least {
		return v
	}
	return 0
}
