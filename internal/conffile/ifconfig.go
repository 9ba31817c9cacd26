package conffile

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/spelling"
)

// ifconfigSwitches are the options of ifconfig that are written NAME or -NAME
// and concern performance. FreeBSD: ifconfig(8); OpenBSD: tcplro, tso and the
// link flags.
var ifconfigSwitches = map[string]bool{
	"tso": true, "tso4": true, "tso6": true, "lro": true, "rxcsum": true, "txcsum": true,
	"rxcsum6": true, "txcsum6": true, "vlanhwtag": true, "vlanhwfilter": true, "vlanhwtso": true,
	"vlanhwcsum": true, "vlanmtu": true, "polling": true, "toe": true, "toe4": true, "toe6": true,
	"netmap": true, "txrtlmt": true, "txtls": true, "txtlsrtlmt": true, "mextpg": true, "rxtls": true,
	"wol": true, "promisc": true, "monitor": true, "use_flowid": true, "use_numa": true,
	"tcplro": true, "link0": true, "link1": true, "link2": true, "vxlanhwcsum": true, "vxlanhwtso": true,
}

// ifconfigValues are the options that take one argument. "-media" and the
// like do not exist for them, except -mediaopt.
var ifconfigValues = map[string]bool{
	"mtu": true, "media": true, "mediaopt": true, "-mediaopt": true, "txqueuelen": true,
	"laggproto": true, "lagghash": true, "trunkproto": true, "flowid_shift": true, "rr_limit": true,
	"maxaddr": true, "rxprio": true, "txprio": true, "llprio": true,
}

// ifconfigSkip are options whose argument could be taken for an option.
var ifconfigSkip = map[string]bool{
	"description": true, "descr": true, "name": true, "group": true, "nwid": true, "wpakey": true,
	"ssid": true, "vlandev": true, "parent": true, "laggport": true, "trunkport": true, "addm": true,
	"lladdr": true, "ether": true, "label": true, "fib": true, "rdomain": true, "rtlabel": true,
}

// ifconfigSpelt are options that a slip turns into none, and ifconfigNear those that
// only look like one.
var (
	ifconfigSpelt = []string{"netmask", "prefixlen", "broadcast", "alias", "laggproto", "laggport", "lagghash", "vlandev",
		"media", "mediaopt", "rxcsum", "txcsum", "vlanhwtag", "vlanhwfilter", "vlanhwtso", "polling", "description",
		"accept_rtadv", "trunkproto", "trunkport", "parent", "vnetid", "autoconf", "wpakey", "rdomain", "pppoedev",
		"authproto", "authname", "authkey", "SYNCDHCP", "carpdev", "advskew", "advbase", "syncdev", "wgendpoint"}
	ifconfigNear = []string{"wepkey", "parents", "vlandevs"}
)

// ifconfigMost are the largest numbers that options take (carp(4), vlan(4)).
var ifconfigMost = map[string]int{"vhid": 255, "advskew": 254, "advbase": 254, "vlan": 4094, "vnetid": 4094}

// outOfRange rejects the number of an option that is too large. Other interfaces than VLANs have larger vnetids.
func (s *scanner) outOfRange(option, value word, iface string, most int) {
	n, err := strconv.Atoi(value.text)
	if err != nil || n <= most || value.quoted || option.text == "vnetid" && !strings.Contains(iface, "vlan") {
		return
	}
	s.reject(value.line, value.span, option.text+" must be at most "+strconv.Itoa(most))
}

// isOption reports a word that ifconfig takes as it stands; it knows none in capitals.
func isOption(w string) bool {
	return w == "up" || w == "down" || w == "inet" || w == "inet6" || ifconfigValues[w] || ifconfigSkip[w] ||
		ifconfigSwitches[strings.TrimPrefix(w, "-")] || slices.Contains(ifconfigSpelt, w)
}

// misspeltDHCP are slips that leave the word a letter out of its place.
var misspeltDHCP = map[string]bool{"DCHP": true, "DHPC": true, "HDCP": true, "DHCPD": true, "DHC": true, "DCHCP": true}

// misspeltOption returns the option that a word is one slip away from, "" for none.
func misspeltOption(text string) string {
	if misspeltDHCP[text] {
		return "DHCP"
	}
	if len(text) < 5 || len(text) > 20 || slices.Contains(ifconfigSpelt, text) || slices.Contains(ifconfigNear, text) {
		return ""
	}
	for _, option := range ifconfigSpelt {
		if spelling.Slip(text, option) {
			return option
		}
	}
	return ""
}

// ifconfigOptions emits the options among the words of an ifconfig command
// line after the interface. base gives interface, lines and flags.
func (s *scanner) ifconfigOptions(words []word, base Entry) {
	prefix := "ifconfig:"
	if s.system == Linux {
		prefix = "link:"
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		e := Entry{Key: w.text, Line: w.line, KeySpan: w.span, Raw: base.Raw, Iface: base.Iface,
			Flags: base.Flags&(Conditional|Quoted) | Part}
		bare := strings.TrimPrefix(w.text, "-")
		switch {
		case ifconfigSwitches[bare] && !w.quoted:
			e.Name, e.Value, e.ValueSpan, e.style = prefix+bare, "on", w.span, styleSwitch
			if bare != w.text {
				e.Value = "off"
			}
		case w.text == "txqueuelen" && s.system != Linux:
			s.reject(w.line, w.span, "ifconfig has no option txqueuelen, which is one of Linux")
			continue
		case ifconfigValues[w.text] && i+1 < len(words):
			i++
			v := words[i]
			if w.text == "trunkproto" && strings.HasPrefix(base.Iface, "aggr") {
				continue // which has one protocol, and takes its name
			}
			e.Name, e.Value, e.ValueSpan = prefix+w.text, v.text, v.span
			if v.expands {
				e.Flags |= Expands
			}
		case ifconfigSkip[w.text]:
			i++
			if w.text == "addm" && i < len(words) {
				s.bridgeable(words[i])
			}
			continue
		default:
			meant := misspeltOption(bare)
			if bare == "wpapsk" && s.system == OpenBSD {
				meant = "wpakey"
			}
			if lower := strings.ToLower(w.text); meant == "" && lower != w.text && isOption(lower) {
				meant = lower
			}
			if most := ifconfigMost[w.text]; most > 0 && i+1 < len(words) && s.system != Linux {
				s.outOfRange(w, words[i+1], base.Iface, most)
			}
			if bare == "net" && i+1 < len(words) && words[i+1].text == "mask" {
				s.reject(w.line, Span{w.span.Start, words[i+1].span.End}, "ifconfig spells netmask as one word")
			}
			if meant != "" && s.system != Linux && !w.quoted {
				s.rejected(Reject{Line: w.line, Span: w.span, Reason: "ifconfig has no option " + bare + "; did you mean " + meant + "?", certain: true})
			}
			continue
		}
		s.emit(e)
	}
}

// unbridged are drivers of FreeBSD whose interfaces carry no Ethernet frames.
var unbridged = []string{"gre", "tun", "wg", "ipsec", "lo", "stf", "me", "ppp", "enc", "pflog"}

// bridgeable rejects a member of a bridge that the kernel refuses.
func (s *scanner) bridgeable(w word) {
	driver := strings.TrimRight(w.text, "0123456789")
	if s.system != FreeBSD || w.expands || driver == w.text || !slices.Contains(unbridged, driver) {
		return
	}
	s.rejected(Reject{Line: w.line, Span: w.span, certain: true,
		Reason: w.text + " cannot be a member of a bridge: " + driver + " carries IP packets, not Ethernet frames",
		Because: "A bridge accepts only Ethernet, VLAN and gif interfaces (sys/net/if_bridge.c, bridge_ioctl_add: EINVAL); gif or vxlan " +
			"carries frames through a tunnel."})
}

// hostnameIf reads OpenBSD's hostname.if as netstart does (parse_hn_line in
// etc/netstart): a line that begins with '#' is a comment, one that begins
// with '!' is a shell command in which $if is the interface, and each other
// line is the arguments of an ifconfig command.
func (s *scanner) hostnameIf() {
	iface := ""
	base := s.path[strings.LastIndexByte(s.path, '/')+1:]
	if i := strings.LastIndex(base, "hostname."); i >= 0 {
		iface = base[i+len("hostname."):]
	}
	start := textStart(s.src)
	s.lines(start, len(s.src), 1, func(line, from, to int) bool {
		if line == 1 && start > 0 {
			s.markedLine(from, to)
			return true
		}
		raw := Span{from, trimCR(s.src, from, to)}
		from, to = s.trim(from, to)
		switch {
		case from == to || s.src[from] == '#':
		case s.src[from] == '!':
			s.ifVariable = iface
			s.script(from+1, to, line)
		default:
			s.shell(from, to, line, func(c *command) {
				s.plainCommand(c.words)
				s.broadcastWord(c.words)
				s.ifconfigOptions(c.words, Entry{Raw: raw, Iface: iface})
			})
		}
		return true
	})
}

// Commands that are taken for words of ifconfig where they stand in hostname.if as such, first words of a line that a
// command may be joined to, and words before a text that may begin with the sign of one.
var (
	commandWords = []string{"route", "ifconfig", "sysctl", "pfctl", "rcctl", "sleep", "dhclient", "brconfig"}
	joinedTo     = []string{"inet", "inet6", "dest", "dhcp", "up", "autoconf"}
	takesText    = []string{"nwid", "wpakey", "nwkey", "pass", "authkey", "description", "descr"}
)

// plainCommand rejects a command without its sign, and one that does not begin its line.
func (s *scanner) plainCommand(words []word) {
	because := "netstart runs only lines that begin with ! as commands and passes all others to ifconfig, which refuses this one."
	for i, w := range words {
		switch {
		case i == 0 && (slices.Contains(commandWords, w.text) || strings.HasPrefix(w.text, "/sbin/")):
			s.rejected(Reject{Line: w.line, Span: w.span, Because: because,
				Reason: w.text + " is passed to ifconfig: write ! before a command"})
			return
		case i > 0 && strings.HasPrefix(w.text, "!") && slices.Contains(joinedTo, words[0].text) &&
			!slices.Contains(takesText, words[i-1].text):
			s.rejected(Reject{Line: w.line, Span: w.span, Because: because,
				Reason: "a command needs a line of its own that begins with !"})
			return
		}
	}
}

// behindMask are options that are written behind address and mask, where NONE has to stand between.
var behindMask = []string{"vhid", "carpdev", "pass", "advskew", "advbase", "vlan", "vlandev", "vnetid", "parent", "mtu", "media",
	"description", "descr", "group", "up", "rdomain", "pppoedev", "trunkproto", "trunkport", "tunnel", "lladdr", "alias"}

// broadcastWord rejects a number behind address and mask, where netstart expects a broadcast address or NONE.
func (s *scanner) broadcastWord(words []word) {
	if len(words) > 2 && words[0].text == "inet" && words[1].text == "alias" {
		words = words[1:]
	}
	if len(words) < 4 || words[0].text != "inet" && words[0].text != "alias" || !dottedQuad(words[1].text) ||
		!dottedQuad(words[2].text) && !strings.HasPrefix(words[2].text, "0x") {
		return
	}
	w := words[3]
	if last := broadcastOf(words[1].text, words[2].text); last != "" && dottedQuad(w.text) && w.text != last {
		s.rejected(Reject{Line: w.line, Span: w.span,
			Reason:  w.text + " is not the broadcast address of this network: " + last + ", or NONE",
			Because: "netstart passes it to ifconfig as the broadcast address, which other hosts of the network do not take for one."})
		return
	}
	if slices.Contains(behindMask, w.text) {
		s.rejected(Reject{Line: w.line, Span: w.span,
			Reason:  w.text + " is taken for the broadcast address: write NONE before it",
			Because: "netstart passes the word after the netmask to ifconfig as the broadcast address, and ifconfig refuses the line."})
		return
	}
	if !isDigits(w.text) {
		return
	}
	s.rejected(Reject{Line: w.line, Span: w.span,
		Reason:  "behind address and mask stands the broadcast address, or NONE; the tag of a VLAN is written vnetid " + w.text,
		Because: "netstart passes it to ifconfig as the broadcast address."})
}

// broadcastOf is the broadcast address of a network, "" for one that has none or a mask that is not dotted.
func broadcastOf(address, mask string) string {
	a, err := netip.ParseAddr(address)
	m, bad := netip.ParseAddr(mask)
	if err != nil || bad != nil || !a.Is4() || !m.Is4() {
		return ""
	}
	last, bits := a.As4(), m.As4()
	if bits[3] > 252 || bits == [4]byte{} {
		return "" // a host or a pair
	}
	for i := range last {
		last[i] |= ^bits[i]
	}
	return netip.AddrFrom4(last).String()
}
