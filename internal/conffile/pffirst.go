package conffile

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// pfFirst follows the rules of translation of FreeBSD's pf.conf (nat, rdr, binat, with no before them), of which the first
// that matches decides, and emits pf:rule/second at one whose packets an earlier one takes; the value is its line.
//
// It emits pf:rule/source at the source of a filter rule for outgoing packets which has been replaced before, by such a rule or
// by one of match with nat-to on OpenBSD, as the filter rules that follow see what has been translated.
type pfFirst struct {
	earlier  []pfTranslation
	replaced []pfReplaced
}

// pfReplaced are the source and the interface of packets whose source is replaced, in one address family or in both.
type pfReplaced struct {
	source, iface string
	both          bool
	line          int
}

// pfTranslation is what such a rule is about; empty parts stand for all.
type pfTranslation struct {
	kind  string
	not   bool      // no nat, no rdr
	parts [5]string // by pfTranslationParts
	line  int
}

// pfTranslationParts are the words before the parts of a rule, the first of them for its address family.
var pfTranslationParts = []string{"inet", "on", "proto", "from", "to"}

func (f *pfFirst) statement(s *scanner, words []word, resolved func(word) string) {
	if slices.Contains([]string{"pass", "block", "match"}, words[0].text) {
		f.filter(s, words, resolved)
		return
	}
	rule := pfTranslation{kind: words[0].text, line: words[0].line}
	if rule.not = rule.kind == "no" && len(words) > 1; rule.not {
		rule.kind = words[1].text
	}
	if s.system != FreeBSD || !slices.Contains([]string{"nat", "rdr", "binat"}, rule.kind) || len(f.earlier) >= maxDeciding ||
		len(words) > maxMembers*pfMemberSize {
		return
	}
	at := -1
	for _, w := range words[1:] {
		if w.text == "->" || w.text == "tag" || w.text == "tagged" {
			if w.text == "tagged" {
				return
			}
			break
		}
		switch i := slices.Index(pfTranslationParts, w.text); {
		case w.text == "inet" || w.text == "inet6":
			rule.parts[0] = w.text
		case i > 0:
			at = i
		case at > 0 && w.text != "all":
			rule.parts[at] = strings.TrimSpace(rule.parts[at] + " " + w.text)
		}
	}
	for i, part := range rule.parts {
		if part == "any" {
			rule.parts[i] = ""
		}
	}
	rule.parts[0] = cmp.Or(rule.parts[0], pfFamilyInto(words, resolved))
	for _, before := range f.earlier {
		if before.takes(rule) {
			s.pfName("pf:rule/second", words[0], strconv.Itoa(before.line))
			return
		}
	}
	spared := slices.ContainsFunc(f.earlier, func(before pfTranslation) bool { return before.not && before.parts[1] == rule.parts[1] })
	if source := pfSource(words); rule.kind == "nat" && !rule.not && !spared && rule.parts[2] == "" && rule.parts[4] == "" && source.text != "" &&
		!pfKeeps(words, source, resolved) {
		f.replaced = append(f.replaced, pfReplaced{source.text, rule.parts[1], rule.parts[0] == "", rule.line})
	}
	f.earlier = append(f.earlier, rule)
}

// filter follows filter rules for outgoing packets.
func (f *pfFirst) filter(s *scanner, words []word, resolved func(word) string) {
	source, scope := pfSource(words), pfScopeOf(words, resolved)
	if source.text == "" || scope.iface == "" || scope.direction != "out" || scope.family == "inet6" || len(f.replaced) >= maxDeciding {
		return
	}
	translates := slices.ContainsFunc(words, func(w word) bool { return w.text == "nat-to" && !w.quoted })
	if words[0].text == "match" {
		scope.parts[pfFrom] = nil
		if s.system == OpenBSD && translates && scope.whole() && !pfKeeps(words, source, resolved) {
			f.replaced = append(f.replaced, pfReplaced{source.text, scope.iface, false, words[0].line})
		}
		return
	}
	i := slices.IndexFunc(f.replaced, func(r pfReplaced) bool { return r.source == source.text && r.iface == scope.iface })
	if i >= 0 && (f.replaced[i].both || scope.family == "inet" || dottedQuad(resolved(source))) && !translates {
		s.pfName("pf:rule/source", source, strconv.Itoa(f.replaced[i].line))
	}
}

// pfSource is the one source of a rule, empty for any, for lists and for all but one.
func pfSource(words []word) word {
	i := slices.IndexFunc(words, func(w word) bool { return w.text == "from" && !w.quoted })
	if i < 0 || i+1 == len(words) {
		return word{}
	}
	w := words[i+1]
	if w.text == "(" && i+2 < len(words) {
		w = words[i+2]
	}
	if w.text == "any" || w.text == "{" || strings.HasPrefix(w.text, "!") {
		return word{}
	}
	return w
}

// pfTarget is where the address begins that a rule translates to, 0 for none.
func pfTarget(words []word) int {
	return 1 + slices.IndexFunc(words[:len(words)-1], func(w word) bool { return w.text == "->" || w.text == "nat-to" })
}

// pfFamilyInto is the address family that the addresses of a rule of translation tell, empty for both; a name that may stand
// for an address of either is given as it is.
func pfFamilyInto(words []word, resolved func(word) string) string {
	if family := pfFamily(words); family != "any" {
		return family
	}
	into := resolved(words[pfTarget(words)])
	switch {
	case dottedQuad(into):
		return "inet"
	case strings.Contains(into, "::"):
		return "inet6"
	case strings.HasPrefix(into, "$") || strings.ContainsAny(into, ".<{"):
		return into
	}
	return ""
}

// pfKeeps reports a rule of translation whose new address may be one of the sources too.
func pfKeeps(words []word, source word, resolved func(word) string) bool {
	on := slices.IndexFunc(words[:len(words)-1], func(w word) bool { return w.text == "on" })
	if name, _, _ := strings.Cut(source.text, ":"); name == "self" || name == words[on+1].text {
		return true
	}
	network, err := netip.ParsePrefix(resolved(source))
	into, is := netip.ParseAddr(resolved(words[pfTarget(words)]))
	return err == nil && is == nil && network.Contains(into)
}

func (t pfTranslation) takes(later pfTranslation) bool {
	for i, part := range t.parts {
		if part != "" && part != later.parts[i] {
			return false
		}
	}
	return t.kind == later.kind
}
