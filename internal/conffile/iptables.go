package conffile

import (
	"slices"
	"strings"
)

// filterChains are the chains of iptables that ICMP errors for this host and for others
// come through.
var filterChains = []string{"INPUT", "FORWARD"}

// builtIn are targets that are no chain of the user's.
var builtIn = []string{"", "ACCEPT", "LOG", "NFLOG", "MARK", "CONNMARK", "TCPMSS", "CT", "DSCP", "RETURN"}

// iptablesCommand reads a rule of iptables that is appended or inserted: what it makes of
// the errors of ICMP, by the rules before it in the script, and the segment size that it
// sets.
func (s *scanner) iptablesCommand(words []word, base Entry) {
	option := func(names ...string) string {
		for i, w := range words[:max(len(words)-1, 0)] {
			if slices.Contains(names, w.text) {
				return words[i+1].text
			}
		}
		return ""
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(words, func(w word) bool { return slices.Contains(names, w.text) })
	}
	chain, target := option("-A", "--append", "-I", "--insert"), option("-j", "--jump")
	for i, w := range words {
		if w.text == "--set-mss" && target == "TCPMSS" && i+1 < len(words) && !words[i+1].expands {
			e := base
			e.Key, e.Name, e.Value, e.Line, e.style = w.text, "iptables:mss", words[i+1].text, w.line, styleFixed
			e.KeySpan, e.ValueSpan = w.span, words[i+1].span
			s.emit(e)
		}
	}
	protocol := option("-p", "--protocol", "--proto")
	states := option("--state", "--ctstate")
	switch {
	case option("-t", "--table") != "" && option("-t", "--table") != "filter":
	case chain != "" && target != "DROP" && target != "REJECT" &&
		(protocol == "icmp" || strings.Contains(states, "RELATED") || !slices.Contains(builtIn, target)):
		s.lets = true // ICMP, or what some chain of the user's may let in
	case !slices.Contains(filterChains, chain) || protocol != "icmp" || target != "DROP" || s.lets || len(words) != 6 ||
		has("!") || base.Has(Conditional):
	default:
		e := base
		e.Key, e.Name, e.Value, e.Line, e.style = "icmp", "iptables:icmp-errors", "dropped", words[0].line, styleFixed
		e.KeySpan = Span{words[0].span.Start, words[len(words)-1].span.End}
		e.ValueSpan = e.KeySpan
		s.emit(e)
	}
}
