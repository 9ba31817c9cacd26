package conffile

import (
	"net/netip"
	"slices"
	"strings"
)

// hostnameIf reads OpenBSD's hostname.if as netstart does (parse_hn_line in
// etc/netstart): a line that begins with '#' is a comment, one that begins
// with '!' is a shell command in which $if is the interface, and each other
// line is the arguments of an ifconfig command. A backslash continues a line.
func (s *scanner) hostnameIf() {
	iface := ""
	base := s.path[strings.LastIndexByte(s.path, '/')+1:]
	if i := strings.LastIndex(base, "hostname."); i >= 0 {
		iface = base[i+len("hostname."):]
	}
	start := textStart(s.src)
	s.logicalLines(start, "#", func(line, from, to int, raw Span) {
		switch {
		case line == 1 && start > 0:
			s.markedLine(from, to)
		case s.src[from] == '!':
			s.ifVariable = iface
			s.script(from+1, to, line)
		default:
			s.shell(from, to, line, func(c *command) {
				if s.notIfconfig(c.words) {
					return
				}
				s.plainCommand(c.words)
				s.broadcastWord(c.words)
				s.peerWords(c.words)
				s.ifconfigOptions(c.words, Entry{Raw: raw, Iface: iface})
			})
		}
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
	if len(words) > 2 && words[0].text == "inet" && dottedQuad(words[1].text) && words[2].text == "netmask" {
		s.rejected(Reject{Line: words[2].line, Span: words[2].span, Reason: "the mask follows the address without the word netmask",
			Because: "netstart puts netmask before the third word itself, so ifconfig gets it twice and refuses the line."})
		return
	}
	if len(words) == 2 && words[0].text == "inet" {
		s.classMask(words[1])
	}
	s.bareMask(words)
	if len(words) < 4 || words[0].text != "inet" && words[0].text != "alias" || !dottedQuad(words[1].text) ||
		!dottedQuad(words[2].text) && !strings.HasPrefix(words[2].text, "0x") {
		return
	}
	if mask, err := netip.ParseAddr(words[2].text); err == nil && mask.Is4() && noMask(mask) != "" {
		s.rejected(Reject{Line: words[2].line, Span: words[2].span, Reason: words[2].text + " is " + noMask(mask)})
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
		Reason:  "after address and mask comes the broadcast address or NONE; the tag of a VLAN is written vnetid " + w.text,
		Because: "netstart passes it to ifconfig as the broadcast address."})
}

// bareMask rejects a mask behind an address of a line that does not begin with inet, which ifconfig takes as it stands.
func (s *scanner) bareMask(words []word) {
	if len(words) == 0 || slices.Contains([]string{"inet", "inet6", "alias", "dest"}, words[0].text) {
		return
	}
	for i := 0; i+1 < len(words); i++ {
		mask := words[i+1]
		behind := i == 0 || !slices.Contains([]string{"netmask", "broadcast", "tunnel", "dest"}, words[i-1].text)
		if dottedQuad(words[i].text) && dottedQuad(mask.text) && strings.HasPrefix(mask.text, "255.") && behind {
			s.rejected(Reject{Line: mask.line, Span: mask.span, Reason: "a second address is the destination: write netmask " + mask.text,
				Because: "netstart passes the line to ifconfig as it is; only a line that begins with inet has the mask behind the address."})
			return
		}
	}
}

// classMask rejects an address without a mask, which gets that of its class (in_ifinit of sys/netinet/in.c).
func (s *scanner) classMask(w word) {
	a, err := netip.ParseAddr(w.text)
	if err != nil || !a.Is4() || a.As4()[0] == 0 || a.As4()[0] >= 192 || len(s.src) > maxSearched || strings.Contains(s.src, "\ndest") ||
		!slices.Contains(cards, strings.TrimRight(s.path[strings.LastIndexByte(s.path, '.')+1:], "0123456789")) {
		return
	}
	prefix := "/16"
	if a.As4()[0] < 128 {
		prefix = "/8"
	}
	s.rejected(Reject{Line: w.line, Span: w.span, Reason: "without a mask " + w.text + " gets that of its class, " + prefix + ": write " + w.text + "/24 or the like",
		Because: "The host then looks for all of these addresses on the link itself."})
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

// notIfconfig rejects a line that is none of hostname.if: a variable of FreeBSD's rc.conf.
func (s *scanner) notIfconfig(words []word) bool {
	name, _, assigned := strings.Cut(words[0].text, "=")
	if !assigned || strings.ContainsAny(name, "/:$") || !isName(name) {
		return false
	}
	s.rejected(Reject{Line: words[0].line, Span: words[0].span, Reason: "this is a line of rc.conf: hostname.if holds the arguments of ifconfig",
		Because: "netstart passes the line to ifconfig, which refuses it; write what stands between the quotes, such as inet autoconf."})
	return true
}

// peerWords rejects a peer of WireGuard that gets no packets, and an endpoint that is one word (setwgpeerep of ifconfig.c
// takes two).
func (s *scanner) peerWords(words []word) {
	peer, allowed := word{}, true
	conclude := func() {
		if !allowed && peer.text != "" {
			s.rejected(Reject{Line: peer.line, Span: peer.span, Reason: "this peer has no wgaip, so no packet is sent to it or accepted from it",
				Because: "wg chooses the peer by its allowed addresses: add wgaip with its network, such as wgaip 10.0.0.2/32."})
		}
	}
	for i, w := range words {
		switch {
		case w.quoted || i+1 == len(words):
		case w.text == "wgpeer":
			conclude()
			peer, allowed = words[i+1], false
		case w.text == "wgaip":
			allowed = true
		case w.text == "wgendpoint" && strings.Count(words[i+1].text, ":") == 1 && !words[i+1].expands:
			host, port, _ := strings.Cut(words[i+1].text, ":")
			s.rejected(Reject{Line: words[i+1].line, Span: words[i+1].span, Reason: "wgendpoint takes address and port as two words: write wgendpoint " +
				host + " " + port, Because: "ifconfig takes the next word for the port."})
		}
	}
	if len(words) > 0 && words[0].text == "wgpeer" && !s.peerAgain(peer) {
		conclude()
	}
}

// peerAgain reports a peer that another line names too, which may have the rest.
func (s *scanner) peerAgain(peer word) bool {
	return peer.text == "" || len(s.src) > maxSearched || strings.Count(s.src, peer.text) > 1 || strings.Contains(s.src, "\nwgaip")
}
