package conffile

import (
	"slices"
	"strings"
)

// pfRule reads what a pass or match rule says of states and queues:
//
//	pf:rule/no-state  the protocols of a rule with "no state"
//	pf:rule/flags     "any" of a rule that makes states of any TCP packet
//	pf:rule/synproxy  "synproxy" of a rule whose handshakes pf answers
//	pf:rule/queue     the address family of a rule that chooses a queue
//	pf:rule/src-conn  the protocols of a rule that counts the connections of sources
//
// Rules of the loopback interface are left out.
func (s *scanner) pfRule(words []word, base Entry) {
	if strings.HasPrefix(base.Iface, "lo") {
		return
	}
	protocols := pfProtocols(words)
	state := pfKeepState(words)
	stateless := state > 0 && words[state-1].text == "no"
	if stateless && words[0].text == "pass" {
		s.pfRuleEntry("pf:rule/no-state", words[state-1:state+1], protocols, base)
	}
	for i := 1; i+1 < len(words); i++ {
		switch words[i].text {
		case "synproxy":
			s.pfRuleEntry("pf:rule/synproxy", words[i:i+1], "synproxy", base)
		case "flags":
			sloppy := slices.ContainsFunc(words[i:], func(w word) bool { return w.text == "sloppy" })
			if words[i+1].text == "any" && !stateless && !sloppy && words[0].text == "pass" {
				s.pfRuleEntry("pf:rule/flags", words[i:i+2], "any", base)
			}
		case "max-src-conn", "max-src-conn-rate":
			if words[0].text == "pass" && protocols != "" {
				s.pfRuleEntry("pf:rule/src-conn", words[i:i+1], protocols, base)
			}
		case "queue", "dnpipe", "dnqueue":
			s.pfRuleEntry("pf:rule/queue", words[i:i+1], pfFamily(words), base)
			return
		}
	}
}

// pfKeepState returns where a rule says of states that it keeps some or none,
// which "state limiter" does not; -1 where it does not say.
func pfKeepState(words []word) int {
	for i, w := range words {
		if w.text != "state" || w.quoted {
			continue
		}
		if i+1 == len(words) || words[i+1].text != "limiter" {
			return i
		}
	}
	return -1
}

// pfRuleEntry emits an entry of words that cannot be rewritten as a value.
func (s *scanner) pfRuleEntry(name string, key []word, value string, base Entry) {
	e := base
	e.Name, e.Value, e.Line, e.style = name, value, key[0].line, styleFixed
	e.KeySpan = Span{key[0].span.Start, key[len(key)-1].span.End}
	e.ValueSpan = e.KeySpan
	e.Key = s.text(e.KeySpan)
	s.emit(e)
}

// pfProtocols returns the protocols of a rule, "any" when it names none, and
// "" when a macro hides them.
func pfProtocols(words []word) string {
	i := slices.IndexFunc(words, func(w word) bool { return w.text == "proto" })
	if i < 0 || i+1 == len(words) {
		return "any"
	}
	names := words[i+1 : i+2]
	if names[0].text == "{" {
		names = words[i+2:]
		if end := slices.IndexFunc(names, func(w word) bool { return w.text == "}" }); end >= 0 {
			names = names[:end]
		}
	}
	var out []string
	for _, w := range names {
		if w.expands {
			return ""
		}
		out = append(out, w.text)
	}
	return strings.Join(out, " ")
}

// pfFamily returns inet or inet6 for a rule that matches packets of one family
// alone, by its keyword or by the addresses that it names; "any" otherwise.
func pfFamily(words []word) string {
	for _, w := range words {
		switch {
		case w.text == "inet" || w.text == "inet6":
			return w.text
		case dottedQuad(w.text):
			return "inet"
		case strings.Contains(w.text, "::"):
			return "inet6"
		}
	}
	return "any"
}

// dottedQuad reports an IPv4 address, with or without a prefix length.
func dottedQuad(text string) bool {
	address, _, _ := strings.Cut(text, "/")
	return strings.Count(address, ".") == 3 && strings.Trim(address, "0123456789.") == "" && address[0] != '.'
}
