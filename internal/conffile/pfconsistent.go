package conffile

import (
	"slices"
	"strconv"
	"strings"
)

// pfSpec is what a filter rule of pf.conf says, as far as pfctl compares its parts with each other.
type pfSpec struct {
	action, direction, family string
	protocols                 string // as pfProtocols has them
	hidden                    bool   // a macro may hold any words
	vague                     bool   // no address tells the family
	at                        map[string]word
}

// pfOptions are the words of a rule that are looked up.
var pfOptions = []string{"port", "user", "group", "icmp-type", "icmp6-type", "keep", "modulate", "synproxy",
	"return-rst", "allow-opts",
	"overload", "route-to", "reply-to", "dup-to", "nat-to", "rdr-to", "binat-to", "flags", "divert-to",
	"divert-reply", "divert-packet", "os"}

// pfTargets are the words behind which port is one of a translation.
var pfTargets = []string{"nat-to", "rdr-to", "binat-to", "af-to", "divert-to", "divert-packet"}

// pfTakes are the words behind which a macro stands for what they take.
var pfTakes = []string{"on", "from", "to", "port", "proto", "user", "group", "icmp-type", "icmp6-type", "code", "label", "tag", "tagged",
	"queue", "flags", "nat-to", "rdr-to", "binat-to", "route-to", "reply-to", "dup-to", "divert-to", "max-mss", "rtable", "!", "=", "<", ">", "/",
	"prio", "received-on", "probability", "os"}

func pfSpecOf(words []word) pfSpec {
	spec := pfSpec{action: words[0].text, family: pfFamily(words), protocols: pfProtocols(words), vague: pfVague(words),
		at: map[string]word{}}
	depth, translated := 0, false
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch w.text {
		case "{", "(":
			depth++
		case "}", ")":
			depth--
		}
		before := words[i-1].text
		switch {
		case w.quoted || before == "label" || before == "tag" || before == "tagged":
		case w.expands && depth == 0 && !slices.Contains(pfTakes, before):
			spec.hidden = true
		case (w.text == "in" || w.text == "out") && depth == 0 && spec.direction == "":
			spec.direction = w.text
		case w.text == "port" && translated:
		case slices.Contains(pfOptions, w.text) && (depth == 0 || w.text == "overload"):
			if _, known := spec.at[w.text]; !known {
				spec.at[w.text] = w
			}
			translated = translated || slices.Contains(pfTargets, w.text)
		}
	}
	return spec
}

// pfConsistent rejects a rule whose parts do not fit together (rule_consistent of pfctl's parse.y, OpenBSD 1.719 of 2025;
// FreeBSD's is older and has the same checks).
func (s *scanner) pfConsistent(words []word) {
	if !slices.Contains([]string{"pass", "block", "match"}, words[0].text) || s.system == "" {
		return
	}
	spec := pfSpecOf(words)
	for _, check := range []func(*scanner, pfSpec) (string, string){pfProtocolFits, pfFamilyFits, pfActionFits, pfDirectionFits} {
		if option, reason := check(s, spec); option != "" {
			w := spec.at[option]
			s.reject(w.line, w.span, reason)
			return
		}
	}
	s.pfGateway(words)
	s.pfPriority(words)
	s.pfPortRange(words)
	s.pfForeign(words)
}

// only reports whether a rule is about protocols of these alone; one that names none is about all.
func (p pfSpec) only(allowed ...string) bool {
	return p.protocols != "any" && !slices.ContainsFunc(strings.Fields(p.protocols), func(protocol string) bool {
		return !slices.Contains(allowed, protocol)
	})
}

func pfProtocolFits(s *scanner, p pfSpec) (option, reason string) {
	if p.hidden || p.protocols == "" {
		return "", ""
	}
	has := func(option string) bool { _, is := p.at[option]; return is }
	withPorts := []string{"tcp", "udp", "6", "17"}
	if s.system == FreeBSD {
		withPorts = append(withPorts, "sctp", "132")
	}
	switch {
	case has("port") && !p.only(withPorts...):
		return "port", "pfctl accepts port only with a protocol: write proto tcp, proto udp or both"
	case has("user") && !p.only("tcp", "udp", "6", "17"):
		return "user", "pfctl accepts user only with proto tcp, proto udp or both"
	case has("return-rst") && !p.only("tcp", "6"):
		return "return-rst", "pfctl accepts return-rst only with proto tcp; write return to answer every protocol"
	case has("icmp-type") && p.protocols != "any" && !p.only("icmp", "1"):
		return "icmp-type", "pfctl accepts icmp-type only with proto icmp"
	case has("icmp6-type") && p.protocols != "any" && !p.only("icmp6", "ipv6-icmp", "58"):
		return "icmp6-type", "pfctl accepts icmp6-type only with proto icmp6"
	}
	return "", ""
}

// pfFamilyFits holds that a type of ICMP needs an address family, which addresses tell too.
func pfFamilyFits(_ *scanner, p pfSpec) (option, reason string) {
	for _, of := range [][2]string{{"icmp-type", "inet"}, {"icmp6-type", "inet6"}} {
		_, has := p.at[of[0]]
		switch {
		case !has:
		case p.family != "any" && p.family != of[1]:
			return of[0], of[0] + " belongs to " + of[1] + ", but the rule is for " + p.family
		case p.family == "any" && p.vague && !p.hidden:
			return of[0], "pfctl needs the address family with " + of[0] + ": write " + of[1] + " before proto"
		}
	}
	return "", ""
}

// pfVague reports whether no host of a rule may tell an address family: those of a table or of an interface in
// parentheses change, and any is both.
func pfVague(words []word) bool {
	for i := 1; i+1 < len(words); i++ {
		if words[i].quoted || words[i].text != "from" && words[i].text != "to" {
			continue
		}
		depth, dynamic := 0, false
		for _, w := range words[i+1:] {
			switch {
			case w.text == "!":
				continue
			case w.text == "{" || w.text == "(":
				depth++
				dynamic = w.text == "("
			case w.text == "}" || w.text == ")":
				depth--
				dynamic = false
			case dynamic, strings.HasPrefix(strings.TrimPrefix(w.text, "!"), "<"):
			case w.text == "any" || w.text == "no-route" || w.text == "urpf-failed" || w.text == "port":
			default:
				return false
			}
			if depth == 0 {
				break
			}
		}
		if depth > 0 {
			return true // it is not closed, and was read to its end
		}
	}
	return true
}

func pfActionFits(s *scanner, p pfSpec) (option, reason string) {
	refused := []string{"keep", "modulate", "synproxy"}
	for _, option := range refused {
		if _, has := p.at[option]; has && (p.action == "block" || p.action == "match" && s.system == OpenBSD) {
			return option, "pfctl accepts " + option + " state only in pass rules: a " + p.action + " rule creates no state"
		}
	}
	if _, has := p.at["allow-opts"]; has && p.action != "pass" {
		return "allow-opts", "pfctl accepts allow-opts only in pass rules"
	}
	return "", ""
}

func pfDirectionFits(s *scanner, p pfSpec) (option, reason string) {
	if p.hidden {
		return "", ""
	}
	for _, option := range []string{"route-to", "reply-to", "nat-to", "rdr-to", "binat-to", "divert-to"} {
		_, has := p.at[option]
		translates := option == "nat-to" || option == "rdr-to"
		switch {
		case !has || translates && s.system != OpenBSD:
		case option == "binat-to":
			if p.direction != "" && s.system == OpenBSD {
				return option, "pfctl accepts binat-to only in rules without a direction: remove " + p.direction
			}
		case option == "divert-to":
			if p.direction == "out" {
				return option, "pfctl accepts divert-to only in rules for incoming packets: write in instead of out"
			}
		case p.direction == "":
			return option, "pfctl accepts " + option + " only in rules with a direction: write in or out"
		}
	}
	return "", ""
}

// pfGateway rejects an interface beside the gateway of route-to, which OpenBSD took until 6.8.
func (s *scanner) pfGateway(words []word) {
	for i := 0; s.system == OpenBSD && i+1 < len(words); i++ {
		if w := words[i]; w.text != "route-to" && w.text != "reply-to" && w.text != "dup-to" || w.quoted {
			continue
		}
		if address, _, with := strings.Cut(words[i+1].text, "@"); with && !words[i+1].quoted {
			s.rejected(Reject{Line: words[i+1].line, Span: words[i+1].span, certain: true,
				Reason: words[i].text + " takes only the address of the gateway: write " + words[i].text + " " + address})
			return
		}
		from := i + 1
		if words[from].text == "{" {
			from++
		}
		if from+3 < len(words) && words[from].text == "(" && words[from+2].text != ")" && words[from+3].text == ")" {
			s.rejected(Reject{Line: words[from].line, Span: Span{words[from].span.Start, words[from+3].span.End}, certain: true,
				Reason: words[i].text + " takes only the address of the gateway: write " + words[i].text + " " + words[from+2].text})
			return
		}
	}
}

// pfForeign rejects options of rules that FreeBSD alone has (filter_opt of its parse.y). On FreeBSD pf:rule/translated is at
// an option that its older releases do not have. pf:rule/proxy is at a rule that hands connections to ftp-proxy or tftp-proxy
// by rdr-to, which they have not taken since OpenBSD 5.0 (its upgrade guide).
func (s *scanner) pfForeign(words []word) {
	for i := 1; i+1 < len(words); i++ {
		w, before := words[i], words[i-1].text
		if w.quoted || before == "label" || before == "tag" || before == "tagged" {
			continue
		}
		if s.system != OpenBSD {
			if s.system == FreeBSD && slices.Contains(pfTranslations, w.text) {
				s.pfName("pf:rule/translated", w, w.text)
				return
			}
			continue
		}
		switch w.text {
		case "dnpipe", "dnqueue", "ridentifier":
			s.reject(w.line, w.span, "OpenBSD's pf has no "+w.text+", which is FreeBSD's")
			return
		case "rdr-to":
			if i+3 < len(words) && words[i+2].text == "port" && (words[i+3].text == "8021" || words[i+3].text == "6969") &&
				(strings.HasPrefix(words[i+1].text, "127.") || words[i+1].text == "lo0" || words[i+1].text == "localhost") {
				s.pfName("pf:rule/proxy", w, map[string]string{"8021": "ftp-proxy", "6969": "tftp-proxy"}[words[i+3].text])
			}
		}
	}
}

// pfTranslations are options of OpenBSD that FreeBSD has in 15 alone, and its rules nat and rdr before.
var pfTranslations = []string{"nat-to", "rdr-to", "binat-to", "af-to"}

// pfPortRange rejects a range of ports whose end is not above its beginning, which OpenBSD took until 6.8.
func (s *scanner) pfPortRange(words []word) {
	for i := 0; s.system == OpenBSD && i < len(words); i++ {
		w := words[i]
		low, high, is := strings.Cut(w.text, ":")
		one := false
		if i > 0 && i+1 < len(words) && (w.text == "><" || w.text == "<>") {
			low, high, is, one = words[i-1].text, words[i+1].text, true, true
		}
		from, err := strconv.Atoi(low)
		to, bad := strconv.Atoi(high)
		if !is || w.quoted || err != nil || bad != nil || from < to || from == to && !one || !slices.ContainsFunc(words[:i], func(b word) bool {
			return b.text == "port"
		}) {
			continue
		}
		s.reject(w.line, w.span, "the port range ends at "+high+", which is not above its start, "+low+": pfctl refuses this since OpenBSD 6.9")
		return
	}
}

// pfPriority rejects a priority that there is not.
func (s *scanner) pfPriority(words []word) {
	for i := 0; s.system == OpenBSD && i+1 < len(words); i++ {
		if words[i].text != "prio" || words[i].quoted {
			continue
		}
		for _, w := range words[i+1 : min(i+4, len(words))] {
			if n, err := strconv.Atoi(w.text); err == nil && n > 7 {
				s.reject(w.line, w.span, "there is no priority "+w.text+": priorities are 0 to 7")
				return
			} else if w.text != "(" && err != nil {
				break
			}
		}
	}
}
