package conffile

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
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

// pfResolved emits pf:rule/resolved at the first name of a host in rules and tables.
func (p *pfLexer) pfResolved(words []word) {
	first := words[0].text
	if p.named || p.filled || !slices.Contains([]string{"pass", "block", "match", "table", "nat", "rdr"}, first) {
		return
	}
	depth := 0
	for i, w := range words[1:] {
		switch w.text {
		case "{":
			depth++
		case "}":
			depth--
		}
		before := words[i].text
		member := depth > 0 && (first == "table" || before != "on" && slices.Contains([]string{"from", "to", "{"}, p.opened(words[:i+1])))
		if !member && !slices.Contains([]string{"from", "to", "!"}, before) && !slices.Contains(pfTranslated, before) {
			continue
		}
		if m := hostName.FindStringSubmatch(w.text); m != nil && !slices.Contains(localDomains, m[1]) {
			p.named = true
			p.s.pfName("pf:rule/resolved", w, strings.TrimPrefix(w.text, "!"))
			return
		}
	}
}

// opened is the word before the list that is open at the end of words.
func (p *pfLexer) opened(words []word) string {
	for i := len(words) - 1; i > 0; i-- {
		if words[i].text == "{" {
			return words[i-1].text
		}
	}
	return ""
}

// hostName is the full name of a host, and its last label.
var hostName = regexp.MustCompile(`^!?(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9])?\.)+([A-Za-z]{2,})$`)

// localDomains are those of names that /etc/hosts often has.
var localDomains = []string{"local", "lan", "localdomain", "home", "internal", "localnet", "intranet", "jail", "vm", "arpa"}
