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

// netplanLists are keys of netplan's interfaces whose values are not settings by themselves
// but say how the interfaces go together; each item of a list is an entry netplan:KEY.
var netplanLists = []string{"link", "interfaces", "addresses", "gateway4", "gateway6", "dhcp4", "dhcp6"}

// netplanLevel is a mapping that is open, and how far its keys are indented.
type netplanLevel struct {
	indent int
	key    string
}

// netplanReader walks over a file of netplan(5), in mappings of one key a line.
type netplanReader struct {
	s     *scanner
	open  []netplanLevel
	route *Entry // to all destinations, while its item lasts
	more  string // its metric and its table
}

// netplan reads netplan(5): the settings of interfaces, of the parameters of bonds and
// of routes, and how the interfaces go together. Each interface is an entry netplan:TYPE.
func (s *scanner) netplan() {
	r := &netplanReader{s: s}
	s.lines(textStart(s.src), len(s.src), 1, func(line, from, to int) bool {
		r.line(line, from, to)
		return true
	})
	r.endRoute()
}

func (r *netplanReader) line(line, from, to int) {
	s := r.s
	if i := strings.Index(s.src[from:to], " #"); i >= 0 {
		to = from + i
	}
	start := from
	from, to = s.trim(from, to)
	if from == to || s.src[from] == '#' {
		return
	}
	if i := strings.IndexByte(s.src[start:from], '\t'); i >= 0 {
		s.rejected(Reject{Line: line, Span: Span{start + i, start + i + 1}, Reason: "a tab indents this line",
			Because: "YAML does not allow one there, and netplan refuses the whole file."})
		return
	}
	item := false
	for to-from > 1 && s.src[from] == '-' && s.src[from+1] == ' ' {
		from, to = s.trim(from+1, to)
		item = true
	}
	for len(r.open) > 0 && r.open[len(r.open)-1].indent >= from-start {
		r.open = r.open[:len(r.open)-1]
	}
	if item || len(r.open) == 0 || r.open[len(r.open)-1].key != "routes" {
		r.endRoute()
	}
	y := &yamlReader{s: s}
	colon := strings.IndexByte(s.src[from:to], ':')
	if colon <= 0 || from+colon+1 < to && !isBlank(s.src[from+colon+1]) {
		if n := len(r.open) - 1; item && n >= 0 {
			level := r.open[n]
			r.open = r.open[:n]
			r.setting(word{text: level.key, line: line, span: Span{from, to}}, y.scalar(line, from, to))
			r.open = append(r.open, level)
		}
		return
	}
	key, value := y.scalar(line, from, from+colon), y.scalar(line, from+colon+1, to)
	opens := value.text == "" || strings.IndexByte("&!", value.text[0]) >= 0
	if at := r.group(); at >= 0 && len(r.open) == at+1 {
		s.emit(Entry{Key: key.text, Name: "netplan:" + r.open[at].key, Iface: key.text, Line: line, KeySpan: key.span,
			ValueSpan: key.span, Raw: s.wholeLines(key.span), style: styleFixed})
		opens = opens || value.text == "{}"
	}
	if key.text == "version" && len(r.open) == 1 {
		s.emit(Entry{Key: key.text, Name: "netplan:version", Value: value.text, Line: line, KeySpan: key.span, ValueSpan: value.span,
			Raw: s.wholeLines(key.span), style: styleFixed})
	}
	if opens && len(r.open) < maxLoop {
		r.open = append(r.open, netplanLevel{from - start, key.text})
		return
	}
	if n := len(value.text); n > 1 && value.text[0] == '[' && value.text[n-1] == ']' && slices.Contains(netplanLists, key.text) {
		r.inline(key, value)
		return
	}
	r.setting(key, value)
}

// inline takes the items of a list on one line.
func (r *netplanReader) inline(key, value word) {
	for from := value.span.Start + 1; from < value.span.End-1; {
		n := strings.IndexByte(r.s.src[from:value.span.End-1], ',')
		if n < 0 {
			n = value.span.End - 1 - from
		}
		item := (&yamlReader{s: r.s}).scalar(value.line, from, from+n)
		r.setting(word{text: key.text, line: value.line, span: item.span}, item)
		from += n + 1
	}
}

// group is where among the open mappings the type of the interface stands.
func (r *netplanReader) group() int {
	return slices.IndexFunc(r.open, func(l netplanLevel) bool { return slices.Contains(netplanTypes, l.key) })
}

// setting emits what a key of an interface sets; the mappings around it are network, the
// type, the interface and what may be below it.
func (r *netplanReader) setting(key, value word) {
	at := r.group()
	if at < 0 || len(r.open) < at+2 {
		return
	}
	path := key.text
	r.s.addressed(path, key.line, value.span)
	for i := len(r.open) - 1; i > at+1; i-- {
		path = r.open[i].key + "/" + path
	}
	e := Entry{Key: key.text, Name: netplanNames[path], Value: value.text, Iface: r.open[at+1].key, Line: key.line,
		KeySpan: key.span, ValueSpan: value.span, style: styleFixed,
		Raw: r.s.wholeLines(Span{key.span.Start, max(key.span.End, value.span.End)})}
	switch {
	case path == "routes/to" && slices.Contains([]string{"default", "0.0.0.0/0", "0/0", "::/0"}, value.text):
		e.Name = "netplan:default"
		r.route = &e
		return
	case path == "routes/metric" || path == "routes/table":
		r.more += path + value.text
		return
	case path == "routes/via" && strings.Contains(value.text, ":"):
		r.more += "IPv6"
		return
	case path == "routes/via":
		e.Name = "netplan:via"
	case slices.Contains(netplanLists, path) && value.text != "":
		e.Name = "netplan:" + path
	case key.text == "id" && r.open[at].key != "vlans":
		return
	}
	r.s.emit(e)
}

// endRoute emits the route to all destinations that ends, with what tells it from others.
func (r *netplanReader) endRoute() {
	if r.route != nil {
		if r.route.Value == "::/0" {
			r.more += "IPv6"
		}
		r.route.Value = r.more
		r.s.emit(*r.route)
	}
	r.route, r.more = nil, ""
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
			s.addressed(e.Key, e.Line, e.ValueSpan)
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
		if len(words) > 0 && !strings.HasPrefix(words[0].text, "-") { // as ifup does
			own := word{text: e.Iface, span: e.KeySpan, line: e.Line}
			words = append([]word{{text: "-s", span: e.KeySpan, line: e.Line}, own}, words...)
		}
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
