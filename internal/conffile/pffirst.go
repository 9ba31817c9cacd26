package conffile

import (
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
	if s.system != FreeBSD || !slices.Contains([]string{"nat", "rdr", "binat"}, rule.kind) || len(f.earlier) >= maxDeciding {
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
	for _, before := range f.earlier {
		if before.takes(rule) {
			s.pfName("pf:rule/second", words[0], strconv.Itoa(before.line))
			return
		}
	}
	spared := slices.ContainsFunc(f.earlier, func(before pfTranslation) bool { return before.not && before.parts[1] == rule.parts[1] })
	if source := pfSource(words); rule.kind == "nat" && !rule.not && !spared && rule.parts[2] == "" && rule.parts[4] == "" && source.text != "" {
		f.replaced = append(f.replaced, pfReplaced{source.text, rule.parts[1], rule.parts[0] == "", rule.line})
	}
	f.earlier = append(f.earlier, rule)
}

// filter follows filter rules for outgoing packets.
func (f *pfFirst) filter(s *scanner, words []word, resolved func(word) string) {
	source, iface := pfSource(words), ""
	has := func(text string) bool {
		return slices.ContainsFunc(words, func(w word) bool { return w.text == text && !w.quoted })
	}
	if i := slices.IndexFunc(words, func(w word) bool { return w.text == "on" }); i > 0 && i+1 < len(words) {
		iface = words[i+1].text // a macro stands for itself
	}
	if source.text == "" || iface == "" || !has("out") || has("inet6") || len(f.replaced) >= maxDeciding {
		return
	}
	if words[0].text == "match" {
		to := slices.IndexFunc(words, func(w word) bool { return w.text == "to" })
		every := (to < 0 || words[min(to+1, len(words)-1)].text == "any") && !has("proto") && !has("received-on") && !has("tagged")
		if s.system == OpenBSD && has("nat-to") && every {
			f.replaced = append(f.replaced, pfReplaced{source.text, iface, false, words[0].line})
		}
		return
	}
	i := slices.IndexFunc(f.replaced, func(r pfReplaced) bool { return r.source == source.text && r.iface == iface })
	if i >= 0 && (f.replaced[i].both || has("inet") || dottedQuad(resolved(source))) && !has("nat-to") {
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

func (t pfTranslation) takes(later pfTranslation) bool {
	for i, part := range t.parts {
		if part != "" && part != later.parts[i] {
			return false
		}
	}
	return t.kind == later.kind
}
