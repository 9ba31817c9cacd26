package conffile

import (
	"slices"
	"strconv"
	"strings"
)

// filterChains are the chains of iptables that ICMP errors for this host and for others
// come through.
var filterChains = []string{"INPUT", "FORWARD"}

// iptRule is a command of iptables about one chain, or a line of iptables-save.
type iptRule struct {
	words                           []word
	operation                       string // -A, -I, -P and so on, in the short form
	table, chain, target, protocol  string
	family                          string // iptables or ip6tables
	conditional, guessed, wholeFile bool
	body                            int // of the function that alone is around it, 0 without one
}

// iptOperations are the commands of iptables that name a chain, by their long forms.
var iptOperations = map[string]string{"--append": "-A", "--insert": "-I", "--delete": "-D", "--replace": "-R",
	"--policy": "-P", "--flush": "-F", "--new-chain": "-N", "--new": "-N", "--check": "-C"}

// option is the word behind one of the names, an empty one without it.
func (r *iptRule) option(names ...string) word {
	for i, w := range r.words[:max(len(r.words)-1, 0)] {
		if slices.Contains(names, w.text) {
			return r.words[i+1]
		}
	}
	return word{}
}

// has reports whether one of the names is among the words.
func (r *iptRule) has(names ...string) bool {
	return slices.ContainsFunc(r.words, func(w word) bool { return slices.Contains(names, w.text) })
}

// iptRuleOf reads the words of a command of iptables behind its name.
func iptRuleOf(words []word, table string) *iptRule {
	r := &iptRule{words: words, table: table}
	for i, w := range words {
		op := iptOperations[w.text]
		if op == "" && len(w.text) == 2 && w.text[0] == '-' && strings.Contains("AIDRPFNC", w.text[1:]) {
			op = w.text
		}
		if op == "" || w.quoted {
			continue
		}
		r.operation = op
		if i+1 < len(words) && !strings.HasPrefix(words[i+1].text, "-") {
			r.chain = words[i+1].text
			r.guessed = words[i+1].expands
		}
		break
	}
	for i, w := range words { // a variable that is no value of an option may hold options
		r.guessed = r.guessed || w.expands && !w.quoted && (i == 0 || words[i-1].text == "" || strings.IndexByte("-!", words[i-1].text[0]) < 0)
	}
	if t := r.option("-t", "--table"); t.text != "" {
		r.table, r.guessed = t.text, r.guessed || t.expands
	} else if r.table == "" {
		r.table = "filter"
	}
	r.target = r.option("-j", "--jump").text
	r.protocol = strings.ToLower(r.option("-p", "--protocol", "--proto").text)
	return r
}

// iptablesCommand reads a rule of iptables: what it makes of the errors of ICMP, by the rules
// before it in the script, the segment size that it sets, and what iptables refuses in it.
func (s *scanner) iptablesCommand(words []word, base Entry) {
	s.iptRule("iptables", iptRuleOf(words, ""), base)
}

// ip6tablesCommand reads a rule of ip6tables.
func (s *scanner) ip6tablesCommand(words []word, base Entry) {
	s.iptRule("ip6tables", iptRuleOf(words, ""), base)
}

// iptablesSave reads a file of iptables-restore, in which every table ends with COMMIT.
func (s *scanner) iptablesSave() {
	table, open, family := "", word{}, "iptables"
	if strings.Contains(s.src, "ipv6-icmp") || strings.Contains(s.src, "icmpv6") {
		family = "ip6tables"
	}
	s.logicalLines(textStart(s.src), "#", func(line, from, to int, raw Span) {
		text := s.src[from:to]
		at := word{text: text, span: Span{from, to}, line: line}
		switch {
		case text[0] == '*':
			if table != "" {
				s.iptRefused(open, "the table "+table+" has no COMMIT before the next one",
					"iptables-restore stops at line "+strconv.Itoa(line)+" and loads no table of the file.")
			}
			table, open = strings.TrimSpace(text[1:]), at
			s.chains = iptChains{}
		case text == "COMMIT":
			table = ""
		case text[0] == '-' && table != "":
			s.shell(from, to, line, func(c *command) {
				r := iptRuleOf(c.words, table)
				r.wholeFile = true
				s.iptRule(family, r, Entry{Raw: raw})
			})
		}
	})
	if table != "" && strings.Contains(s.src, "\n-A") {
		s.iptRefused(open, "the table "+table+" has no COMMIT", "iptables-restore then loads nothing of it.")
	}
}

// iptRefused tells what iptables refuses, in a guide too.
func (s *scanner) iptRefused(at word, reason, because string) {
	if !s.stopped {
		s.rejected(Reject{Line: at.line, Span: at.span, Reason: reason, Because: because, certain: true})
	}
}

// iptRule reads a rule.
func (s *scanner) iptRule(family string, r *iptRule, base Entry) {
	r.family, r.conditional, r.body = family, base.Has(Conditional), base.body
	for i, w := range r.words {
		if w.text == "--set-mss" && r.target == "TCPMSS" && i+1 < len(r.words) && !r.words[i+1].expands {
			e := base
			e.Key, e.Name, e.Value, e.Line, e.style = w.text, "iptables:mss", r.words[i+1].text, w.line, styleFixed
			e.KeySpan, e.ValueSpan = w.span, r.words[i+1].span
			s.emit(e)
		}
	}
	s.dropsErrors(r, base)
	s.iptables.note(s, r)
	if s.refusedByIptables(r) {
		return
	}
	s.chains.follow(s, r)
}

// dropsErrors emits a rule that drops the errors of ICMP, or the neighbour discovery of IPv6, which no rule before it
// lets in.
func (s *scanner) dropsErrors(r *iptRule, base Entry) {
	states := r.option("--state", "--ctstate").text
	adds := r.operation == "-A" || r.operation == "-I"
	six := r.protocol == "icmpv6" || r.protocol == "ipv6-icmp" || r.protocol == "58"
	lets, name := &s.lets, "iptables:icmp-errors"
	if r.family == "ip6tables" || six {
		lets, name = &s.lets6, "iptables:neighbours"
	}
	switch {
	case r.table != "filter":
	case adds && r.chain != "" && r.target != "DROP" && r.target != "REJECT" && (r.protocol == "icmp" || six ||
		strings.Contains(states, "RELATED") && lets == &s.lets || r.target != "" && !iptTargets[r.target]):
		*lets = true // ICMP, or what some chain of the user's may let in
	case !adds || r.protocol != "icmp" && !six || r.target != "DROP" || *lets || len(r.words) != 6 || r.has("!") || r.conditional:
	case lets == &s.lets && slices.Contains(filterChains, r.chain), lets == &s.lets6 && r.chain == "INPUT":
		e := base
		e.Key, e.Name, e.Value, e.Line, e.style = r.protocol, name, "dropped", r.words[0].line, styleFixed
		e.KeySpan = r.span()
		e.ValueSpan = e.KeySpan
		s.emit(e)
	}
}

// span is where the rule is written.
func (r *iptRule) span() Span {
	return Span{r.words[0].span.Start, r.words[len(r.words)-1].span.End}
}
