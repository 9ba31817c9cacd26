package conffile

import (
	"slices"
	"strings"
)

// nft reads nftables.conf (nft(8)) for what its base chains do with the ICMP that
// connections need: tables of blocks are read, and files with includes, templates or
// commands (add rule ...) make no entries. The names are
//
//	nft:neighbours   "dropped" where neighbour discovery of IPv6 does not come in
//	nft:icmp-errors  "dropped" where "packet too big" and its like do not
//
// at the policy or the rule that drops them.
func (s *scanner) nft() {
	if strings.Contains(s.src, "{{") || strings.Contains(s.src, "{%") {
		return
	}
	f := &nftFile{s: s}
	p := &pfLexer{s: s, pos: textStart(s.src), line: 1, ends: "\n,{}()=#\";:"}
	for p.pos < len(s.src) && !f.opaque {
		f.step(p)
	}
	if f.opaque {
		return
	}
	f.undeclared()
	for _, e := range f.found {
		s.emit(e)
	}
}

type nftFile struct {
	s      *scanner
	opaque bool
	sets   int // open braces of sets inside a rule
	depth  int // open blocks
	table  *nftTable
	chain  *nftChain
	found  []Entry

	flowtables map[string]bool
	offloaded  []word // their names in rules
}

type nftTable struct {
	family             string
	neighbours, errors bool // some rule lets them in
	noIPv6             bool
	chains             []*nftChain
}

type nftChain struct {
	hook    string
	drop    []word // the policy or the last rule that drops the rest, nil for none
	related bool   // a rule so far lets packets of known connections in
	ended   int    // the line of a rule that decides about all packets
	begun   int    // the line of one that accepts all new connections
	spared  bool   // a rule so far ends the way of some packets

	taken map[string]word // verdicts, by what their rules ask for
}

func (f *nftFile) step(p *pfLexer) {
	switch c := p.s.src[p.pos]; {
	case c == '\n' || c == ';':
		if f.sets == 0 {
			f.statement(p)
		}
		p.pos++
		if c == '\n' {
			p.line++
		}
	case c == '{':
		if f.opens(p.words) {
			f.open(p.words)
			p.words = p.words[:0]
		} else {
			f.sets++
		}
		p.pos++
	case c == '}':
		p.pos++
		if f.sets > 0 {
			f.sets--
			return
		}
		f.statement(p)
		f.close()
	default:
		p.step()
	}
}

// opens reports whether a brace behind these words begins a block.
func (f *nftFile) opens(words []word) bool {
	return f.sets == 0 && len(words) > 0 && (words[0].text == "table" || f.depth > 0 && f.chain == nil && len(words) < 3)
}

func (f *nftFile) open(words []word) {
	f.depth++
	switch words[0].text {
	case "table":
		f.table = &nftTable{family: "ip"}
		if len(words) > 2 {
			f.table.family = words[1].text
		}
	case "chain":
		f.chain = &nftChain{}
		if f.table != nil {
			f.table.chains = append(f.table.chains, f.chain)
		}
	case "flowtable":
		if len(words) > 1 {
			keep(&f.flowtables, words[1].text, true)
		}
	}
}

func (f *nftFile) close() {
	f.depth = max(f.depth-1, 0)
	if f.chain == nil && f.depth == 0 && f.table != nil {
		f.conclude()
		f.table = nil
	}
	f.chain = nil
}

// statement reads one line of a chain.
func (f *nftFile) statement(p *pfLexer) {
	words := slices.Clone(p.words)
	p.words = p.words[:0]
	if len(words) == 0 {
		return
	}
	switch first := words[0].text; {
	case first == "include" || first == "add" || first == "insert":
		f.opaque = true
	case f.chain == nil || f.table == nil:
	case first == "type" && len(words) > 3 && words[2].text == "hook":
		f.chain.hook = words[3].text
	case first == "policy":
		if len(words) > 1 && words[1].text == "drop" {
			f.chain.drop = words
		}
	case first != "comment":
		f.rule(words)
	}
}

// rule reads one rule: what it lets in, or that it drops ICMP.
func (f *nftFile) rule(words []word) {
	has := func(texts ...string) bool {
		return slices.ContainsFunc(words, func(w word) bool { return slices.Contains(texts, w.text) })
	}
	f.segmentSize(words)
	f.offloads(words)
	f.order(words)
	ports := has("tcp", "udp", "dport", "sport")
	typed := has("type", "code", "limit", "saddr", "daddr", "iif", "iifname", "meter")
	icmp6 := has("icmpv6", "ipv6-icmp", "icmpx", "58") ||
		slices.ContainsFunc(words, func(w word) bool { return strings.HasPrefix(w.text, "nd-") })
	icmp4 := has("icmp", "icmpx")
	rejects := has("drop", "reject")
	switch {
	case has("accept", "jump", "goto", "vmap"):
		f.table.neighbours = f.table.neighbours || icmp6 || !ports && has("untracked", "ip6", "ipv6", "jump", "goto")
		f.table.errors = f.table.errors || icmp4 || icmp6 || !ports && has("related", "jump", "goto")
		f.chain.related = f.chain.related || !ports && has("related")
	case rejects && len(words) <= 3 && (words[0].text == "counter" || words[0].text == "drop" ||
		words[0].text == "reject"):
		f.chain.drop = words
	case !rejects || typed:
	case has("ipv6") && !icmp6:
		f.table.noIPv6 = true
	case icmp6 && f.chain.hook == "input" && !f.table.neighbours:
		f.note("nft:neighbours", words)
	case icmp4 && f.chain.hook != "output" && f.chain.hook != "" && !f.chain.related && !f.table.errors:
		f.note("nft:icmp-errors", words)
	}
}

// offloads remembers a rule that hands flows to a flowtable, and rejects it where it cannot be.
func (f *nftFile) offloads(words []word) {
	for i := 0; i+2 < len(words); i++ {
		if words[i].text != "flow" || words[i+1].text != "add" && words[i+1].text != "offload" || !strings.HasPrefix(words[i+2].text, "@") {
			continue
		}
		w := words[i+2]
		if f.chain.hook != "" && f.chain.hook != "forward" {
			f.s.rejected(Reject{Line: w.line, Span: w.span, Reason: "flow add works only in chains of the hook forward, not of " + f.chain.hook,
				Because: "The kernel refuses the rule, and nft loads nothing of the file."})
			continue
		}
		f.offloaded = append(f.offloaded, w)
	}
}

// undeclared rejects rules that name a flowtable which the file does not have; the table of a part of the rules may have it.
func (f *nftFile) undeclared() {
	if len(f.flowtables) == maxVariables || len(f.flowtables) == 0 && !strings.Contains(f.s.src, "flush ruleset") {
		return
	}
	for _, w := range f.offloaded {
		if name := w.text[1:]; !f.flowtables[name] && !f.s.stopped {
			f.s.rejected(Reject{Line: w.line, Span: w.span, Reason: "there is no flowtable " + name,
				Because: "nft loads nothing of a file with such a rule."})
		}
	}
}

// segmentSize reads tcp option maxseg size set NUMBER.
func (f *nftFile) segmentSize(words []word) {
	for i := 0; i+3 < len(words); i++ {
		if words[i].text != "maxseg" || words[i+1].text != "size" || words[i+2].text != "set" {
			continue
		}
		span := words[i+3].span
		f.found = append(f.found, Entry{Key: "maxseg", Name: "nft:mss", Value: words[i+3].text, Line: words[i].line,
			KeySpan: words[i].span, ValueSpan: span, Raw: f.s.wholeLines(span), style: styleFixed})
	}
}

// conclude judges the chains of a table that drop what no rule lets in.
func (f *nftFile) conclude() {
	for _, c := range f.table.chains {
		if c.drop == nil || !slices.Contains([]string{"ip", "ip6", "inet"}, f.table.family) {
			continue
		}
		if c.hook == "input" && f.table.family != "ip" && !f.table.neighbours && !f.table.noIPv6 {
			f.note("nft:neighbours", c.drop)
		}
		if (c.hook == "input" || c.hook == "forward") && !f.table.errors {
			f.note("nft:icmp-errors", c.drop)
		}
	}
}

func (f *nftFile) note(name string, words []word) {
	span := Span{words[0].span.Start, words[len(words)-1].span.End}
	f.found = append(f.found, Entry{Key: f.s.text(span), Name: name, Value: "dropped", Line: words[0].line,
		KeySpan: span, ValueSpan: span, Raw: f.s.wholeLines(span), style: styleFixed})
}
