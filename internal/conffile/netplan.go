package conffile

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// isNetplan tells a file of netplan.
var isNetplan = regexp.MustCompile(`(?m)^network:[ \t]*(?:#.*)?$`)

// netplanTypes are the groups of interfaces of netplan(5).
var netplanTypes = []string{"ethernets", "bonds", "bridges", "vlans", "wifis", "modems", "tunnels", "dummy-devices", "vrfs"}

// netplanNames are keys of netplan's interfaces, of their bonds' parameters and of routes,
// with the settings that they are.
var netplanNames = map[string]string{
	"mtu":                       "link:mtu",
	"receive-checksum-offload":  "ethtool:features/rx",
	"transmit-checksum-offload": "ethtool:features/tx", "tcp-segmentation-offload": "ethtool:features/tso",
	"generic-segmentation-offload": "ethtool:features/gso", "generic-receive-offload": "ethtool:features/gro",
	"large-receive-offload": "ethtool:features/lro",
	"parameters/mode":       "link:bond-mode", "parameters/lacp-rate": "link:bond-lacp_rate",
	"parameters/mii-monitor-interval": "link:bond-miimon", "parameters/arp-interval": "link:bond-arp_interval",
	"parameters/transmit-hash-policy": "link:bond-xmit_hash_policy",
	"routes/mtu":                      "route:mtu", "routes/congestion-window": "route:initcwnd",
	"routes/advertised-receive-window": "route:initrwnd", "id": "link:vlan-id",
}

// netplanLevel is a mapping that is open, and how far its keys are indented.
type netplanLevel struct {
	indent int
	key    string
}

// netplan reads netplan(5): the settings of interfaces, of the parameters of bonds and
// of routes, in mappings of one key a line.
func (s *scanner) netplan() {
	var open []netplanLevel
	s.lines(textStart(s.src), len(s.src), 1, func(line, from, to int) bool {
		if i := strings.Index(s.src[from:to], " #"); i >= 0 {
			to = from + i
		}
		start := from
		from, to = s.trim(from, to)
		for to-from > 1 && s.src[from] == '-' && s.src[from+1] == ' ' {
			from, to = s.trim(from+1, to)
		}
		colon := strings.IndexByte(s.src[from:to], ':')
		if colon <= 0 || s.src[from] == '#' || from+colon+1 < to && !isBlank(s.src[from+colon+1]) {
			return true
		}
		for len(open) > 0 && open[len(open)-1].indent >= from-start {
			open = open[:len(open)-1]
		}
		y := &yamlReader{s: s}
		key, value := y.scalar(line, from, from+colon), y.scalar(line, from+colon+1, to)
		if value.text == "" && len(open) < maxLoop {
			open = append(open, netplanLevel{from - start, key.text})
			return true
		}
		s.netplanSetting(open, key, value)
		return true
	})
}

// netplanSetting emits what a key of an interface sets; the mappings around it are
// network, the type, the interface and what may be below it.
func (s *scanner) netplanSetting(open []netplanLevel, key, value word) {
	at := slices.IndexFunc(open, func(l netplanLevel) bool { return slices.Contains(netplanTypes, l.key) })
	if at < 0 || len(open) < at+2 {
		return
	}
	path := key.text
	for i := len(open) - 1; i > at+1; i-- {
		path = open[i].key + "/" + path
	}
	name := netplanNames[path]
	if name == "" || key.text == "id" && open[at].key != "vlans" {
		return
	}
	s.emit(Entry{Key: key.text, Name: name, Value: value.text, Iface: open[at+1].key, Line: key.line, KeySpan: key.span,
		ValueSpan: value.span, Raw: s.wholeLines(Span{key.span.Start, value.span.End}), style: styleFixed})
}

// ifcfg reads the files of the interfaces of Red Hat's and SUSE's network scripts, shell
// assignments: the MTU, the words of ethtool and the options of a bond.
func (s *scanner) ifcfg() {
	iface := s.path[strings.LastIndexByte(s.path, '/')+1:]
	iface = strings.TrimPrefix(iface, "ifcfg-")
	s.shell(textStart(s.src), len(s.src), 1, func(c *command) {
		for _, w := range c.words {
			e, ok := s.assignment(w)
			if !ok {
				continue
			}
			e.Raw, e.Iface = c.raw, iface
			switch e.Key {
			case "MTU":
				e.Name = "link:mtu"
				s.emit(e)
			case "ETHTOOL_OPTS", "ETHTOOL_OFFLOAD":
				s.ifcfgEthtool(e)
			case "BONDING_OPTS", "BONDING_MODULE_OPTS":
				s.bondWords(s.valueWords(e), Entry{Raw: e.Raw, Iface: iface})
			}
		}
	})
}

// ifcfgEthtool reads command lines of ethtool, separated by semicolons.
func (s *scanner) ifcfgEthtool(e Entry) {
	var words []word
	flush := func() {
		s.ethtoolCommand(words, Entry{Raw: e.Raw, style: styleFixed})
		words = nil
	}
	for _, w := range s.valueWords(e) {
		text, ends := strings.CutSuffix(w.text, ";")
		if w.text = text; text != "" {
			words = append(words, w)
		}
		if ends {
			flush()
		}
	}
	flush()
}

// bondWords emits option=value words of a bond.
func (s *scanner) bondWords(words []word, base Entry) {
	for _, w := range words {
		key, value, ok := strings.Cut(w.text, "=")
		if !ok {
			continue
		}
		e := base
		e.Key, e.Name, e.Value, e.Line, e.style = key, "link:bond-"+key, value, w.line, styleFixed
		e.KeySpan, e.ValueSpan = w.span, w.span
		s.emit(e)
	}
}
