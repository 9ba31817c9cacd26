package conffile

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// vyosConfig is what a configuration of VyOS or EdgeOS says, whose lines act together.
type vyosConfig struct {
	mtus   map[string]word   // by interface
	pppoe  map[string]string // the interface below each one
	clamps []vyosClamp
	rules  map[string]*vyosRule // of the firewall, by name and number
}

// vyosClamp is a segment size that is written into connections over an interface, "" for all of PPPoE.
type vyosClamp struct {
	iface   string
	size    word
	headers int
}

// vyosRule is a rule of the firewall.
type vyosRule struct {
	accepts, established bool
	rare                 bool // switched off, or for a few packets
	log                  word
}

// maxVyos bounds what is remembered of each, vyosDepth how deep the sections of a file are, and vyosWords their heads.
const (
	maxVyos   = 1000
	vyosDepth = 30
	vyosWords = 4
)

// vyosSet is a command of VyOS or EdgeOS that sets something of the network, and vyosBlock a section of config.boot.
var (
	vyosSet = regexp.MustCompile(`^set[ \t]+(?:interfaces[ \t]+(?:ethernet|bonding|bridge|pppoe|wireguard|vti|tunnel|dummy|openvpn|switch|vxlan|wireless)[ \t]|` +
		`system[ \t]+(?:sysctl|conntrack|offload)[ \t]|firewall[ \t]+(?:name|ipv6-name|ipv4|ipv6|options|conntrack-)|nat[ \t]+source[ \t])`)
	vyosBlock = regexp.MustCompile(`(?m)^interfaces \{[ \t\r]*\n(?:[ \t]+[^\n]*\n)*?[ \t]+(?:ethernet|bonding|pppoe) [a-z]+[0-9]+ \{`)
)

// vyosFile reads config.boot: sections in braces, a leaf in each other line.
func (s *scanner) vyosFile() {
	var above [][]word
	s.lines(textStart(s.src), len(s.src), 1, func(line, from, to int) bool {
		from, to = s.trim(from, to)
		text := s.src[from:to]
		switch {
		case text == "" || strings.HasPrefix(text, "/*") || strings.HasPrefix(text, "//"):
		case text == "}":
			above = above[:max(len(above)-1, 0)]
		case strings.HasSuffix(text, "{") && len(above) < vyosDepth:
			head := s.fields(from, to-1, line)
			above = append(above, head[:min(len(head), vyosWords)])
		default:
			words := slices.Concat(above...)
			words = append(words, s.fields(from, to, line)...)
			for i := range words {
				words[i].text = strings.Trim(words[i].text, `"'`)
			}
			s.vyosPath(words, Entry{Line: line, Raw: Span{from, to}})
		}
		return true
	})
	s.vyos.conclude(s)
}

// vyosPath takes one leaf of the configuration with the nodes above it.
func (s *scanner) vyosPath(words []word, base Entry) {
	if s.vyos == nil {
		s.vyos = &vyosConfig{mtus: map[string]word{}, pppoe: map[string]string{}, rules: map[string]*vyosRule{}}
	}
	base.style = styleFixed
	text := func(i int) string {
		if i < len(words) {
			return words[i].text
		}
		return ""
	}
	last := len(words) - 1
	switch {
	case last < 2:
	case text(0) == "interfaces" && last >= 4:
		s.vyosInterface(text(1), text(2), words[3:], base)
	case text(0) == "system" && text(1) == "sysctl" && (text(2) == "parameter" || text(2) == "custom" || text(2) == "all") && text(4) == "value" && last == 5:
		e := base
		e.Key, e.Line, e.KeySpan = text(3), words[3].line, words[3].span
		s.sysctlValue(e, text(5), words[5])
	case text(0) == "system" && text(1) == "conntrack" && text(2) == "table-size", text(0) == "firewall" && text(1) == "conntrack-table-size":
		s.vyosEmit(words[last-1], words[last], base, "net.netfilter.nf_conntrack_max")
	case text(0) == "firewall" && text(1) == "options" && text(2) == "mss-clamp" && text(3) == "mss" && len(s.vyos.clamps) < maxVyos:
		s.vyos.clamps = append(s.vyos.clamps, vyosClamp{size: words[last], headers: tcpHeaders})
	case text(0) == "firewall":
		s.vyos.rule(words[1:])
	}
}

// vyosEmit emits the value of a leaf.
func (s *scanner) vyosEmit(key, value word, base Entry, name string) {
	e := base
	e.Key, e.Name, e.Value, e.Line, e.KeySpan, e.ValueSpan = key.text, name, value.text, key.line, key.span, value.span
	if value.expands {
		e.Flags |= Expands
	}
	s.emit(e)
}

// Leaves of interfaces, and of bonds, by the catalog's names.
var (
	vyosLinks = map[string]string{"mtu": "link:mtu", "hash-policy": "link:bond-xmit_hash_policy", "mode": "link:bond-mode",
		"mii-mon-interval": "link:bond-miimon", "lacp-rate": "link:bond-lacp_rate"}
	vyosOffloads = []string{"gro", "gso", "lro", "sg", "tso"}
)

// vyosInterface takes a leaf of an interface: words are what stands behind its name.
func (s *scanner) vyosInterface(kind, name string, words []word, base Entry) {
	for len(words) > 2 && (words[0].text == "vif" || words[0].text == "vif-s") {
		name, words = name+"."+words[1].text, words[2:]
	}
	if len(words) > 2 && words[0].text == "pppoe" { // of EdgeOS
		below := name
		name, words = "pppoe"+words[1].text, words[2:]
		s.vyos.over(name, below)
	}
	if len(words) < 2 {
		return
	}
	base.Iface = name
	leaf, value := words[0], words[1]
	switch {
	case leaf.text == "source-interface" && kind == "pppoe":
		s.vyos.over(name, value.text)
	case leaf.text == "mtu":
		if len(s.vyos.mtus) < maxVyos {
			s.vyos.mtus[name] = value
		}
		if !strings.HasPrefix(name, "pppoe") { // whose default is another one
			s.vyosEmit(leaf, value, base, "link:mtu")
		}
	case vyosLinks[leaf.text] != "" && kind == "bonding":
		s.vyosEmit(leaf, value, base, vyosLinks[leaf.text])
	case leaf.text == "ring-buffer" && len(words) == 3:
		s.vyosEmit(value, words[2], base, "ethtool:ring/"+value.text)
	case leaf.text == "offload" && len(words) == 2 && slices.Contains(vyosOffloads, value.text):
		on := value
		on.text = "on"
		s.vyosEmit(value, on, base, "ethtool:features/"+value.text)
	case (leaf.text == "ip" || leaf.text == "ipv6") && value.text == "adjust-mss" && len(words) == 3 && len(s.vyos.clamps) < maxVyos:
		headers := tcpHeaders
		if leaf.text == "ipv6" {
			headers = tcpHeaders6
		}
		s.vyos.clamps = append(s.vyos.clamps, vyosClamp{name, words[2], headers})
	}
	if _, known := s.vyos.mtus[name]; !known && len(s.vyos.mtus) < maxVyos {
		s.vyos.mtus[name] = word{} // which it leaves as it is
	}
}

// over remembers the interface below one of PPPoE.
func (v *vyosConfig) over(name, below string) {
	if len(v.pppoe) < maxVyos {
		v.pppoe[name] = below
	}
}

// rule takes a leaf of a rule of the firewall: [ipv4|ipv6] name NAME rule NUMBER ...
func (v *vyosConfig) rule(words []word) {
	i := slices.IndexFunc(words, func(w word) bool { return w.text == "rule" })
	if i < 1 || i+2 >= len(words) {
		return
	}
	name := ""
	for _, w := range words[:i+2] {
		name += w.text + " "
	}
	r := v.rules[name]
	if r == nil {
		if len(v.rules) >= maxVyos {
			return
		}
		r = &vyosRule{}
		v.rules[name] = r
	}
	value := words[len(words)-1].text
	switch leaf := words[i+2]; leaf.text {
	case "disable", "limit", "recent", "time":
		r.rare = true
	case "action":
		r.accepts = value == "accept"
	case "state":
		r.established = r.established || len(words) > i+3 && words[i+3].text == "established" && value != "disable"
	case "log":
		if value == "log" || value == "enable" {
			r.log = leaf
		}
	}
}

// size is the MTU of an interface that the configuration names, 0 where it is not told.
func (v *vyosConfig) size(name string, usual int) int {
	w, named := v.mtus[name]
	switch n, err := strconv.Atoi(w.text); {
	case named && err == nil:
		return n
	case named && w.text == "":
		return usual
	}
	return 0
}

// carries is the MTU of an interface below another one. A VLAN without one of its own may have that of its interface.
func (v *vyosConfig) carries(name string) int {
	own := v.size(name, ethernetSize)
	if parent, _, vlan := strings.Cut(name, "."); vlan && own > 0 && v.mtus[name].text == "" {
		return max(own, v.size(parent, ethernetSize))
	}
	return own
}

const (
	ethernetSize = 1500
	pppoeSize    = 1492
	pppoeHeader  = 8
	tcpHeaders   = 40 // and IPv4's
	tcpHeaders6  = 60 // and IPv6's
)

// conclude rejects what the lines of the configuration do together.
func (v *vyosConfig) conclude(s *scanner) {
	if v == nil {
		return
	}
	reject := func(w word, code, reason, because string) {
		s.rejected(Reject{Line: w.line, Span: w.span, Code: code, certain: true, Reason: reason, Because: because})
	}
	for _, name := range slices.Sorted(maps.Keys(v.mtus)) {
		below, _, vlan := strings.Cut(name, ".")
		if own, under := v.size(name, 0), v.size(below, ethernetSize); vlan && under > 0 && own > under {
			reject(v.mtus[name], "conflict", "mtu "+strconv.Itoa(own)+" of "+name+" is more than "+below+" has, "+strconv.Itoa(under),
				"The kernel refuses a VLAN that sends more than the interface below it; raise that one first.")
		}
	}
	largest := 0
	for _, name := range slices.Sorted(maps.Keys(v.pppoe)) {
		below := v.pppoe[name]
		own, under := v.size(name, pppoeSize), v.carries(below)
		largest = max(largest, own)
		if w := v.mtus[name]; w.text != "" && under > 0 && own > under-pppoeHeader {
			reject(w, "conflict", "mtu "+w.text+" of "+name+" needs "+strconv.Itoa(own+pppoeHeader)+" on "+below+", which has "+strconv.Itoa(under),
				"PPPoE adds 8 bytes to each packet (RFC 4638), so full packets do not fit and are lost.")
		}
	}
	for _, c := range v.clamps {
		mtu := largest
		if c.iface != "" {
			mtu = v.size(c.iface, 0)
		}
		if n, err := strconv.Atoi(c.size.text); err == nil && mtu > 0 && n > mtu-c.headers {
			reject(c.size, "no-effect", "a segment size of "+c.size.text+" does not fit into the MTU of "+strconv.Itoa(mtu)+": write "+strconv.Itoa(mtu-c.headers),
				"The headers of IP and TCP take "+strconv.Itoa(c.headers)+" bytes of each packet.")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.rules)) {
		if r := v.rules[name]; r.accepts && r.established && !r.rare && r.log.line > 0 {
			reject(r.log, "harmful", "this logs every packet of the connections that are established",
				"The processor writes a line for each packet that the rule accepts; log the packets that open a connection, or those that are dropped.")
		}
	}
}
