package conffile

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// pfNeighbours follows what the rules of pf.conf do with a neighbour solicitation
// of IPv6 that comes in: the last rule that matches decides, or the first one with
// quick. At the end of the file, pf:rule/neighbours is "blocked" at the rule that
// blocks them, on a host that is meant to speak IPv6.
//
// A pass rule for some neighbours counts as one for all; a block rule with addresses
// or types is left out.
type pfNeighbours struct {
	last      word // the action of the rule that decides so far
	raw       Span
	quick     bool // it decides for good
	icmp      bool // it names ICMPv6
	ipv6      bool // rules pass something of IPv6
	off       bool // a rule blocks IPv6 as a whole
	elsewhere bool // rules of another place take part

	locals []string // tables that hold the link-local addresses of IPv6
}

// knownAnchors are the anchors of proxies and of programs that block addresses,
// which hold no rules of neighbour discovery.
var knownAnchors = []string{"ftp-proxy", "tftp-proxy", "relayd", "f2b", "blacklistd", "blocklistd"}

func (n *pfNeighbours) statement(words []word, raw Span) {
	switch words[0].text {
	case "table":
		if len(words) > 1 && slices.ContainsFunc(words, coversLinkLocal) && len(n.locals) < maxVariables {
			n.locals = append(n.locals, words[1].text)
		}
	case "include":
		n.elsewhere = true
	case "anchor":
		name := ""
		if len(words) > 1 {
			name, _, _ = strings.Cut(words[1].text, "/")
		}
		n.elsewhere = n.elsewhere || !slices.Contains(knownAnchors, name)
	case "pass", "block":
		n.rule(words, raw)
	}
}

func (n *pfNeighbours) rule(words []word, raw Span) {
	pass, family := words[0].text == "pass", pfFamily(words)
	if family == "inet" || strings.HasPrefix(pfIface(words), "lo") {
		return
	}
	if !pass && family == "inet6" && pfIface(words) != "" && pfProtocols(words) == "any" {
		return // IPv6 is not meant to be spoken there
	}
	narrow, quick, out := false, false, false
	for i, w := range words {
		switch w.text {
		case "from", "to":
			narrow = narrow || i+1 == len(words) || words[i+1].text != "any" &&
				(pass || w.text == "to" || !n.linkLocal(words[i+1:]))
		case "icmp6-type", "icmp-type", "user", "group", "os", "tagged":
			narrow = true
		case "quick":
			quick = true
		case "out":
			out = true
		}
	}
	protocols := pfProtocols(words)
	icmp := slices.ContainsFunc(strings.Fields(protocols), func(p string) bool {
		return p == "icmp6" || p == "ipv6-icmp" || p == "58"
	})
	switch {
	case pass && (family == "inet6" || icmp):
		n.ipv6 = true
	case !pass && family == "inet6" && protocols == "any" && !narrow:
		n.off, n.ipv6 = true, false
	}
	if pass && !solicited(words) {
		return
	}
	if n.quick || out || !icmp && protocols != "any" && protocols != "" || narrow && !pass {
		return
	}
	n.last, n.raw, n.quick, n.icmp = words[0], raw, quick, icmp
}

// solicited reports whether a rule may be about neighbour solicitations: it names no types of ICMPv6, or theirs, or some that
// are not known here.
func solicited(words []word) bool {
	i := slices.IndexFunc(words, func(w word) bool { return w.text == "icmp6-type" })
	if i < 0 {
		return true
	}
	types := words[i+1 : pfArgumentEnd(words, i+1, "icmp6-type")]
	return len(types) == 0 || slices.ContainsFunc(types, func(w word) bool { return w.expands || w.text == "neighbrsol" || w.text == "135" })
}

// linkLocal reports sources that include every link-local address, from which
// neighbours ask.
func (n *pfNeighbours) linkLocal(words []word) bool {
	if words[0].text != "{" {
		words = words[:1]
	}
	for _, w := range words {
		if w.text == "}" {
			break
		}
		if coversLinkLocal(w) || slices.Contains(n.locals, w.text) {
			return true
		}
	}
	return false
}

// coversLinkLocal reports the prefix of the link-local addresses, or one around it.
func coversLinkLocal(w word) bool {
	p, err := netip.ParsePrefix(w.text)
	return err == nil && p.Bits() > 0 && p.Bits() <= 10 && p.Contains(netip.MustParseAddr("fe80::1"))
}

func (n *pfNeighbours) conclude(s *scanner) {
	if n.elsewhere || n.last.text != "block" || !n.ipv6 && (n.off || !n.icmp) {
		return
	}
	s.emit(Entry{Key: n.last.text, Name: "pf:rule/neighbours", Value: "blocked", Line: n.last.line, KeySpan: n.last.span,
		ValueSpan: n.last.span, Raw: n.raw, style: styleFixed})
}

// pfHosts follows which interfaces take what the hosts of a cluster tell each other. At the end of the file, pf:rule/carp and
// pf:rule/pfsync stand at the rule that blocks all packets that come in, and their value are the interfaces on which another
// rule passes that protocol; they are missing where those are not known.
//
// pf:rule/loopback is at that rule where none passes the loopback interface: a state that a packet makes as it leaves does not
// fit the same packet as it comes in.
type pfHosts struct {
	blocks word
	passed []pfPassed
	looped bool // the loopback interface is passed
}

type pfPassed struct{ iface, protocols string }

func (h *pfHosts) rule(words []word, ifaces []string) {
	protocols := pfProtocols(words)
	if slices.ContainsFunc(words, func(w word) bool { return w.text == "out" }) {
		return
	}
	all := ifaces == nil
	if all {
		ifaces = []string{""}
	}
	h.looped = h.looped || words[0].text == "pass" && slices.ContainsFunc(ifaces, func(iface string) bool {
		return pfLoops(words, iface, protocols)
	})
	switch {
	case words[0].text == "pass" && len(h.passed) < pfNamesLimit:
		for _, iface := range ifaces {
			h.passed = append(h.passed, pfPassed{iface, protocols})
		}
	case words[0].text == "block" && all && h.blocks.line == 0 && pfFamily(words) != "inet6" &&
		pfScopeOf(words, func(w word) string { return w.text }).whole():
		h.blocks = words[0]
	}
}

// pfLoops reports whether a pass rule may pass most of what the host sends to itself.
func pfLoops(words []word, iface, protocols string) bool {
	if iface != "" {
		return strings.HasPrefix(iface, "lo") || iface[0] == '!' || iface == "*" || iface == "any"
	}
	for i, w := range words {
		switch before := words[max(i-1, 0)].text; {
		case w.text == "port" || w.text == "icmp-type" || w.text == "icmp6-type":
			return false
		case before == "from" || before == "to":
			if numeric := strings.TrimLeft(w.text, "123456789") != w.text; numeric && !strings.HasPrefix(w.text, "127.") {
				return false
			}
		}
	}
	return protocols == "" || protocols == "any" || strings.Contains(protocols, "tcp")
}

func (h *pfHosts) conclude(s *scanner) {
	if s.system != OpenBSD || h.blocks.line == 0 || anchored.MatchString(s.src) {
		return
	}
	for _, protocol := range [][]string{{"carp", "112"}, {"pfsync", "240"}} {
		var ifaces []string
		for _, p := range h.passed {
			if p.protocols == "any" || p.protocols == "" || slices.ContainsFunc(strings.Fields(p.protocols), func(name string) bool {
				return slices.Contains(protocol, name)
			}) {
				ifaces = append(ifaces, p.iface)
			}
		}
		// Others than names with a number may be any interface.
		if !slices.ContainsFunc(ifaces, func(name string) bool {
			return strings.TrimRight(name, "0123456789") == name && !slices.Contains([]string{"lo", "{", "}"}, name)
		}) {
			s.pfName("pf:rule/"+protocol[0], h.blocks, strings.Join(ifaces, " "))
		}
	}
}

// anchored is a line that brings rules of another place.
var anchored = regexp.MustCompile(`(?m)^[ \t]*(?:anchor|include)\b`)
