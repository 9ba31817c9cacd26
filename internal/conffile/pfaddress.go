package conffile

import (
	"net/netip"
	"slices"
	"strings"
)

// pfHostBits reads the addresses of rules and tables whose prefix cuts bits off that
// are set: pf:rule/host-bits with the address as it stands. pfctl clears these bits
// (set_ipmask of pfctl_parser.c), so that the rule is for the whole network.
func (s *scanner) pfHostBits(words []word, base Entry) {
	first := words[0].text
	rule := first == "pass" || first == "block" || first == "match" || first == "table" || first == "no" ||
		first == "nat" || first == "rdr"
	if !rule {
		return
	}
	for i, w := range words {
		if w.quoted || i == 0 || slices.Contains(pfTranslated, words[i-1].text) {
			continue
		}
		text := strings.TrimPrefix(w.text, "!")
		prefix, err := netip.ParsePrefix(text)
		if err != nil || prefix.Masked() == prefix || prefix.Bits() == 0 {
			continue
		}
		e := base
		e.Key, e.Name, e.Value, e.Line = text, "pf:rule/host-bits", prefix.Masked().String(), w.line
		e.KeySpan, e.ValueSpan, e.style = w.span, w.span, styleFixed
		s.emit(e)
	}
}

// pfTranslated are the words before an address that has its prefix for something else.
var pfTranslated = []string{"nat-to", "rdr-to", "binat-to", "af-to", "->", "route-to", "reply-to", "dup-to"}
