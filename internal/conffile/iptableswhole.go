package conffile

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// iptWhole is what is judged of all rules of a text together.
type iptWhole struct {
	made, filled      map[string]word // chains that -N makes, and those with rules
	used              map[string]bool
	natRule           word // the first rule appended to nat
	flushed           word // iptables -F without a table
	natCleared, opens bool
	jumps             map[string][]iptJump // of a chain, those that all packets take
	closed            map[string]bool      // chains of which no packet comes back
}

// iptJump is a rule that sends all packets of a chain to another one.
type iptJump struct {
	to   string // its key
	name string
	line int
	next word // the rule behind it
}

// note remembers a rule, and judges what it says alone.
func (t *iptWhole) note(s *scanner, r *iptRule) {
	switch {
	case s.stopped:
		return
	case r.operation == "-F" && r.guessed || r.option("-t", "--table").expands:
		t.natCleared = true // perhaps
	case r.operation == "-F" && r.table == "nat":
		t.natCleared = true
	case r.operation == "-F" && r.chain == "" && r.table == "filter" && r.family == "iptables" && !r.conditional:
		t.flushed = r.words[0]
	case r.operation == "-N" && !r.guessed && !r.conditional && r.chain != "":
		keep(&t.made, r.chain, r.words[0])
	case r.operation == "-D":
		t.natCleared = t.natCleared || r.table == "nat"
	}
	t.opens = t.opens || r.option("-j", "--jump", "-g", "--goto").expands
	t.way(s, r)
	s.marks.rule(r)
	if r.operation != "-A" && r.operation != "-I" {
		return
	}
	if r.operation == "-A" && r.table == "nat" && r.family == "iptables" && t.natRule.text == "" && !r.conditional {
		t.natRule = r.words[0]
	}
	if r.chain != "" {
		keep(&t.filled, r.chain, r.words[0])
	}
	if target := r.option("-j", "--jump", "-g", "--goto").text; !iptTargets[target] {
		keep(&t.used, target, true)
	}
	if !r.guessed {
		s.everyMasqueraded(r)
		s.everySegment(r)
		for _, option := range [][]string{{"-s", "--source", "--src"}, {"-d", "--destination", "--dst"}} {
			s.loneNetwork(r.option(option...))
		}
	}
}

// way remembers where all packets of a chain go.
func (t *iptWhole) way(s *scanner, r *iptRule) {
	key := r.key(r.chain)
	switch {
	case r.chain == "" && r.operation != "" && !strings.Contains("-P-N", r.operation), len(t.jumps) > maxDecisions:
		t.jumps, t.closed = nil, nil
		return
	case r.operation != "-A" || r.guessed || r.conditional:
		if r.operation != "-P" && r.operation != "-N" {
			delete(t.jumps, key)
			keep(&t.closed, key, false)
		}
		return
	}
	for i := range t.jumps[key] {
		if t.jumps[key][i].next.line == 0 {
			t.jumps[key][i].next = word{span: r.span(), line: r.words[0].line}
		}
	}
	_, known := t.closed[key]
	switch asks, plain := r.asks(s); {
	case r.target == "RETURN" || r.has("-g", "--goto"):
		keep(&t.closed, key, false)
	case len(asks) > 0 || !plain || known:
	case slices.Contains([]string{"ACCEPT", "DROP", "REJECT"}, r.target):
		keep(&t.closed, key, true)
	case !iptTargets[r.target] && len(t.jumps[key]) < maxDecisions:
		keep(&t.jumps, key, append(t.jumps[key], iptJump{to: r.key(r.target), name: r.target, line: r.words[0].line}))
	}
}

// key tells chains of one name in several tables apart.
func (r *iptRule) key(chain string) string { return r.family + " " + r.table + " " + chain }

// allMasqueraded is what comes of it, and what is to be named.
const allMasqueraded = "Those that come in from outside then seem to come from this machine, so that servers behind it do not see their clients; " +
	"name the interface to the outside: "

// everyMasqueraded tells a rule that masquerades the connections through each interface.
func (s *scanner) everyMasqueraded(r *iptRule) {
	asks, plain := r.asks(s)
	if r.target != "MASQUERADE" || r.table != "nat" || r.chain != "POSTROUTING" || len(asks) > 0 || !plain || s.natSpares() {
		return
	}
	at := r.option("-j", "--jump")
	s.rejected(Reject{Line: at.line, Span: at.span, Code: "harmful", Reason: "MASQUERADE without -o changes the source of connections through every interface",
		Because: allMasqueraded + "-o DEV -j MASQUERADE."})
}

// everySegment tells TCPMSS for more than the packets that open a connection (find_syn_match, tcpmss_mangle_packet in
// net/netfilter/xt_TCPMSS.c of Linux 6.12).
func (s *scanner) everySegment(r *iptRule) {
	if r.target != "TCPMSS" || r.protocol != "tcp" || r.has("--syn", "--tcp-flags", "tcpmss") {
		return
	}
	at := r.option("-j", "--jump")
	s.rejected(Reject{Line: at.line, Span: at.span, Code: "harmful", Reason: "TCPMSS needs --tcp-flags SYN,RST SYN beside -p tcp",
		Because: "iptables-legacy refuses the rule without it; iptables-nft takes it, and the option then goes into packets without data " +
			"that open no connection, too."})
}

// natSpares reports a text with rules that leave connections as they are before others are masqueraded.
func (s *scanner) natSpares() bool {
	if len(s.src) > maxSearched {
		return true
	}
	for line := range strings.Lines(s.src) {
		if strings.Contains(line, "POSTROUTING") && (strings.Contains(line, "RETURN") || strings.Contains(line, "ACCEPT") && strings.Contains(line, "-j")) {
			return true
		}
	}
	return false
}

// loneNetwork tells the address of a private network that stands without its mask.
func (s *scanner) loneNetwork(w word) {
	at, err := netip.ParseAddr(w.text)
	if err != nil || !at.Is4() || !at.IsPrivate() || at.As4()[3] != 0 || w.expands || s.stopped {
		return
	}
	s.rejected(Reject{Line: w.line, Span: w.span, Code: "harmful", Reason: w.text + " without a mask is this one address, not the network",
		Because: "Hosts rarely have an address that ends with .0, so the rule matches nothing; write " + w.text + "/24, or the mask that the network has."})
}

// iptClearing are words of a text that empties the tables in other ways.
var iptClearing = []string{"iptables-restore", "iptables-save", "-t nat -X", "-t nat -Z", "iptables-legacy", "for "}

// conclude tells chains to which no rule leads, and rules of nat that pile up.
func (t *iptWhole) conclude(s *scanner) {
	if s.stopped || len(s.src) > maxSearched {
		return
	}
	if at := t.flushed; at.text != "" && t.natRule.text != "" && !t.natCleared &&
		!slices.ContainsFunc(iptClearing, func(w string) bool { return strings.Contains(s.src, w) }) {
		s.rejected(Reject{Line: at.line, Span: at.span, Code: "harmful", Reason: "-F without -t nat leaves the rules of nat, to which line " +
			strconv.Itoa(t.natRule.line) + " adds each time",
			Because: "It empties the table filter only. After a second run the rules of nat stand there twice, and old ones still come first; " +
				"add iptables -t nat -F (and -t mangle -F)."})
	}
	for _, key := range slices.Sorted(maps.Keys(t.jumps)) {
		for _, j := range t.jumps[key] {
			if j.next.line == 0 || !t.closed[j.to] {
				continue
			}
			s.rejected(Reject{Line: j.next.line, Span: j.next.span, Idle: true,
				Reason:  "no packet reaches this rule: the chain " + j.name + ", to which line " + strconv.Itoa(j.line) + " sends all of them, decides about each",
				Because: "A chain with a rule that drops or accepts the rest lets no packet come back. Put this rule before the jump."})
			break
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.made)) {
		at := t.made[name]
		_, filled := t.filled[name]
		if !filled || t.opens || t.used[name] || t.mentioned(s.src, name) {
			continue
		}
		s.rejected(Reject{Line: at.line, Span: at.span, Idle: true, Reason: "no rule leads to the chain " + name,
			Because: "Packets come to a chain of one's own by a rule of INPUT, FORWARD or OUTPUT with -j " + name + "."})
	}
}

// mentioned reports a name that stands in the text in other ways than behind an option of a command about the chain itself.
func (t *iptWhole) mentioned(src, name string) bool {
	jumps := []string{"-j", "-g", "--jump", "--goto"}
	for line := range strings.Lines(src) {
		if !strings.Contains(line, name) || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		before := ""
		for field := range strings.FieldsSeq(line) {
			about := field == name && strings.HasPrefix(before, "-") && !slices.Contains(jumps, before)
			if !about && strings.Contains(field, name) {
				return true
			}
			before = field
		}
	}
	return false
}
