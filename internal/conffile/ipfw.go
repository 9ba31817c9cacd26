package conffile

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// ipfwRules follows the rules and the objects of ipfw in a script.
type ipfwRules struct {
	configured map[string]bool // pipe 1, queue 2, nat 3
	used       []word          // those of rules, with the text "pipe 1"
	all        []ipfwRule      // rules that decide about every packet, or every one of a direction
	rules      []ipfwRule
	jumps      bool // a number or an action is not known, or rules are taken back
	jump       int  // the lowest number of a rule that goes on at another one, 0 for none
	last       int  // the highest number
	flushed    bool // the script begins with no rules
}

type ipfwRule struct {
	number    int
	line      int
	span      Span
	action    string
	direction string // in or out
	via       string // the interface that the rule is about
	only      string // that of a rule for packets via it, in whichever direction
	stateful  bool
	every     bool // of all connections that are established, wherever
}

// ipfwLimit bounds what is kept of a script, and ipfwDefault is the number of the rule that is always there.
const (
	ipfwLimit   = 10_000
	ipfwDefault = 65535
	ipfwStep    = 100 // net.inet.ip.fw.autoinc_step
)

// ipfwActions are words with which a rule begins, and ipfwAccepts those of rules that let a packet pass.
var (
	ipfwAccepts = []string{"allow", "accept", "pass", "permit"}
	ipfwDenies  = []string{"deny", "drop"}
	ipfwActions = slices.Concat(ipfwAccepts, ipfwDenies, []string{"check-state", "skipto", "divert", "fwd", "reset", "unreach", "count"})
)

// ipfwObjects are the kinds of objects that rules send packets to.
var ipfwObjects = []string{"pipe", "queue", "nat"}

// ipfwCommand reads ipfw add, and config of pipes, queues and NAT instances.
func (s *scanner) ipfwCommand(words []word, base Entry) {
	words = separate(words)
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		words = words[1:]
	}
	switch {
	case len(words) > 1 && words[0].text == "add":
		s.ipfwRule(words[1:], base)
	case len(words) > 0 && !words[0].expands && slices.Contains(ipfwActions, words[0].text):
		s.rejected(Reject{Line: words[0].line, Span: words[0].span,
			Reason:  "ipfw has no command " + words[0].text + ": write ipfw add " + words[0].text,
			Because: "Rules are added with ipfw add. ipfw refuses this line, so the rule is missing."})
	case len(words) > 2 && words[2].text == "config" && slices.Contains(ipfwObjects, words[0].text):
		s.ipfwConfig(words, base)
	case len(words) == 1 && words[0].text == "flush":
		s.ipfw.rules, s.ipfw.all, s.ipfw.last, s.ipfw.jump, s.ipfw.flushed = nil, nil, 0, 0, true
	case len(words) == 2 && words[0].text == "disable" && words[1].text == "one_pass":
	case len(words) > 0 && (words[0].text == "delete" || words[0].text == "set" || words[0].text == "disable" ||
		strings.Contains(words[0].text, "/")):
		s.ipfw.jumps = true // rules that are taken back, or a file with more of them
	}
}

// separate takes the words apart that variables stand for: $fa may be from any to any.
func separate(words []word) []word {
	if !slices.ContainsFunc(words, func(w word) bool { return !w.quoted && strings.Contains(w.text, " ") }) {
		return words
	}
	var out []word
	for _, w := range words {
		parts := strings.Fields(w.text)
		if w.quoted || len(parts) == 0 {
			parts = []string{w.text}
		}
		for _, part := range parts {
			w.text = part
			out = append(out, w)
		}
	}
	return out
}

// ipfwWords rejects addresses that are none, and an address with its port that a blank takes apart.
func (s *scanner) ipfwWords(words []word) {
	for i, w := range words {
		before := ""
		if i > 0 {
			before = words[i-1].text
		}
		switch {
		case (before == "from" || before == "to" || before == "not") && notAddress(w.text):
			s.rejected(Reject{Line: w.line, Span: w.span, Reason: w.text + " is not a valid IPv4 address",
				Because: "ipfw refuses this line, so the rule is missing."})
		case (before == "fwd" || before == "forward") && strings.HasSuffix(w.text, ",") && i+1 < len(words):
			s.rejected(Reject{Line: w.line, Span: Span{w.span.Start, words[i+1].span.End},
				Reason:  "ipfw takes the address and the port as one word: write " + w.text + words[i+1].text,
				Because: "ipfw takes the number after the blank for the protocol, and refuses the rule or applies it to the wrong packets."})
		}
	}
}

// notAddress reports a word of digits and dots that ipfw cannot take for an address, also a short one such as 10.1.
func notAddress(text string) bool {
	address, _, _ := strings.Cut(text, "/")
	if strings.Trim(address, "0123456789.") != "" || !strings.Contains(address, ".") {
		return false
	}
	parts := strings.Split(address, ".")
	return len(parts) > 4 || slices.ContainsFunc(parts, func(part string) bool {
		n, err := strconv.Atoi(part)
		return err != nil || n > 255
	})
}

// ipfwRule reads a rule behind add.
func (s *scanner) ipfwRule(words []word, base Entry) {
	r := &s.ipfw
	number, err := strconv.Atoi(words[0].text)
	switch {
	case words[0].expands:
		r.jumps = true
	case err != nil:
		number = r.last + ipfwStep // behind the last one
	default:
		if number >= ipfwDefault {
			s.rejected(Reject{Line: words[0].line, Span: words[0].span,
				Reason: "ipfw takes rule numbers up to 65534: 65535 is the rule that is always there",
				Because: "The kernel refuses the rule (check_ipfw_rule1 of sys/netpfil/ipfw/ip_fw_sockopt.c); whether the last " +
					"rule accepts is a matter of net.inet.ip.fw.default_to_accept."})
			return
		}
		words = words[1:]
	}
	r.last = max(r.last, number)
	if len(r.rules) >= ipfwLimit || len(words) == 0 {
		return
	}
	s.ipfwHostBits(words, base)
	s.ipfwWords(words)
	var texts []string
	for i, w := range words {
		texts = append(texts, w.text)
		switch {
		case w.text == "set" || w.expands && i == 0:
			r.jumps = true
		case (w.text == "skipto" || w.text == "call") && (r.jump == 0 || number < r.jump):
			r.jump = number
		case i+1 < len(words) && slices.Contains(ipfwObjects, w.text) && i == 0 && !words[1].expands && isDigits(words[1].text):
			used := words[1]
			used.text, used.span.Start = w.text+" "+words[1].text, w.span.Start
			r.used = append(r.used, used)
		}
	}
	rule := ipfwRule{number: number, line: words[0].line, span: Span{words[0].span.Start, words[len(words)-1].span.End}, action: texts[0]}
	for i, text := range texts {
		switch text {
		case "in", "out":
			rule.direction = text
		case "via", "recv", "xmit":
			rule.via = strings.Join(texts[i+1:min(i+2, len(texts))], "")
			if text == "via" && !strings.Contains(rule.via, "$") {
				rule.only = rule.via
			}
		case "keep-state", "record-state", "limit", "established", "check-state":
			rule.stateful = true
		}
	}
	rule.every = slices.Contains(ipfwAccepts, texts[0]) && strings.HasSuffix(strings.Join(texts, " "), " from any to any established")
	if decidesAll(texts, rule.only) && base.Flags&Conditional == 0 {
		r.all = append(r.all, rule)
	}
	r.rules = append(r.rules, rule)
}

// decidesAll reports a rule that decides about every packet, or every one of its direction or via an interface.
func decidesAll(words []string, via string) bool {
	if !slices.Contains(ipfwAccepts, words[0]) && !slices.Contains(ipfwDenies, words[0]) {
		return false
	}
	words = words[1:]
	if len(words) > 0 && words[0] == "log" {
		words = words[1:]
	}
	if len(words) > 0 && words[len(words)-1] == "keep-state" {
		words = words[:len(words)-1]
	}
	if n := len(words); via != "" && n > 1 && words[n-2] == "via" {
		words = words[:n-2]
	}
	if n := len(words); n > 0 && (words[n-1] == "in" || words[n-1] == "out") {
		words = words[:n-1]
	}
	rest := strings.Join(words, " ")
	return rest == "ip from any to any" || rest == "all from any to any"
}

// ipfwHostBits emits the addresses of a rule that read like a network and have bits behind their prefix, which ipfw
// clears.
func (s *scanner) ipfwHostBits(words []word, base Entry) {
	for _, w := range words {
		prefix, err := netip.ParsePrefix(w.text)
		if err != nil || w.quoted || prefix.Masked() == prefix || prefix.Bits() == 0 || !strings.Contains(w.text, ".0/") {
			continue
		}
		e := base
		e.Key, e.Name, e.Value, e.Line = w.text, "pf:rule/host-bits", prefix.Masked().String(), w.line
		e.KeySpan, e.ValueSpan, e.style = w.span, w.span, styleFixed
		s.emit(e)
	}
}

// untranslated reports a rule that lets established connections pass before the first rule of a translation.
func (r *ipfwRules) untranslated(s *scanner) {
	first := slices.IndexFunc(r.rules, func(rule ipfwRule) bool { return rule.action == "nat" || rule.action == "divert" })
	passes := slices.IndexFunc(r.rules, func(rule ipfwRule) bool { return rule.every })
	if first < 0 || passes < 0 || r.rules[passes].number >= r.rules[first].number {
		return
	}
	rule, nat := r.rules[passes], r.rules[first]
	s.rejected(Reject{Line: rule.line, Span: rule.span, Reason: "established connections pass here and never reach the " +
		"translation in line " + strconv.Itoa(nat.line),
		Because: "Only the first packet of a connection is translated, so the connection stalls. Move this rule " +
			"below the translation."})
}

// oneWay reports a rule that lets packets in where none lets anything out: neither an answer, nor what is forwarded.
func (r *ipfwRules) oneWay(s *scanner) {
	closed := slices.IndexFunc(r.all, func(a ipfwRule) bool {
		return a.direction == "" && a.only == "" && slices.Contains(ipfwDenies, a.action)
	})
	if closed < 0 {
		return
	}
	var in []ipfwRule
	var out []string
	for _, rule := range r.rules {
		switch accepts := slices.Contains(ipfwAccepts, rule.action); {
		case rule.number >= r.all[closed].number || slices.Contains(ipfwDenies, rule.action):
		case !accepts || rule.stateful || rule.via == "" && rule.direction != "in" || strings.Contains(rule.via, "$"):
			return
		case rule.direction == "in":
			in = append(in, rule)
		default:
			out = append(out, rule.via)
		}
	}
	for _, rule := range in {
		if rule.via == "" || slices.Contains(out, rule.via) {
			continue
		}
		reason := "this rule lets packets in via " + rule.via + ", but no rule lets any out"
		if len(out) > 0 {
			reason += " except via " + strings.Join(slices.Compact(out), ", ")
		}
		s.rejected(Reject{Line: rule.line, Span: rule.span, Idle: true, Reason: reason,
			Because: "ipfw checks a forwarded packet again on its way out, and every reply as well. Without a rule for out, or " +
				"keep-state, the last rule denies them."})
		return
	}
}

// ipfwConfig reads the configuration of an object.
func (s *scanner) ipfwConfig(words []word, base Entry) {
	r := &s.ipfw
	if r.configured == nil {
		r.configured = map[string]bool{}
	}
	if words[1].expands || len(r.configured) > ipfwLimit {
		r.configured["*"] = true
		return
	}
	r.configured[words[0].text+" "+words[1].text] = true
	if words[0].text == "nat" {
		return
	}
	for i := 3; i+1 < len(words); i++ {
		value := words[i+1]
		switch n, err := strconv.Atoi(value.text); {
		case words[i].text == "queue" && err == nil && !value.expands:
			s.emit(Entry{Key: "queue", Name: "ipfw:queue", Value: value.text, Line: value.line, KeySpan: words[i].span,
				ValueSpan: value.span, Raw: value.span, Iface: words[0].text + words[1].text, style: styleFixed, Flags: base.Flags | Part})
		case words[i].text == "bw" && err == nil && n > 0 && i+2 < len(words) && bandwidthUnit(words[i+2].text):
			s.reject(value.line, Span{value.span.Start, words[i+2].span.End},
				"ipfw takes the number and its unit as one word: write "+value.text+words[i+2].text)
		}
	}
}

// bandwidthUnit reports a unit of ipfw's bw.
func bandwidthUnit(text string) bool {
	return slices.Contains([]string{"bit/s", "kbit/s", "mbit/s", "gbit/s", "byte/s", "kbyte/s", "mbyte/s"}, strings.ToLower(text))
}

// conclude reports what the script never sets up, and what no packet comes to.
func (r *ipfwRules) conclude(s *scanner) {
	kinds := map[string]bool{}
	for name := range r.configured {
		kind, _, _ := strings.Cut(name, " ")
		kinds[kind] = true
	}
	for _, w := range r.used {
		kind, _, _ := strings.Cut(w.text, " ")
		whole := kinds[kind] || kind == "nat" && r.flushed && !r.jumps && !includes.MatchString(s.src)
		if !kinds["*"] && whole && !r.configured[w.text] {
			s.rejected(Reject{Line: w.line, Span: w.span, Idle: true, Reason: "no line configures " + w.text,
				Because: "Packets that a rule sends to one that does not exist are dropped (ipfw(8))."})
		}
	}
	r.untranslated(s)
	if r.jumps {
		return
	}
	r.unanswered(s)
	if r.jump == 0 {
		r.oneWay(s)
	}
	r.unreached(s)
}

// includes is a line of the shell that reads another script.
var includes = regexp.MustCompile(`(?m)^[ \t]*(?:\.|source)[ \t]+\S`)

// unanswered reports a translation of what goes out alone: the answers come to the translated address.
func (r *ipfwRules) unanswered(s *scanner) {
	var first ipfwRule
	for _, rule := range r.rules {
		switch {
		case rule.action == "nat" && rule.direction != "out", rule.action == "divert": // which other programs than natd use
			return
		case rule.action == "nat" && first.line == 0:
			first = rule
		}
	}
	if first.line > 0 {
		s.rejected(Reject{Line: first.line, Span: first.span, Idle: true, Reason: "packets are translated as they go out, and none as they come in",
			Because: "The answers come to the translated address, and reach the hosts behind it only by a rule such as nat 1 ip from any " +
				"to any in via INTERFACE, above check-state (ipfw(8), NETWORK ADDRESS TRANSLATION)."})
	}
}

// unreached reports rules that no packet comes to.
func (r *ipfwRules) unreached(s *scanner) {
	first := map[[2]string]ipfwRule{} // that decides about a direction, and an interface
	for _, rule := range r.all {
		key := [2]string{rule.direction, rule.only}
		if before, ok := first[key]; (!ok || rule.number < before.number) && (r.jump == 0 || rule.number < r.jump) {
			first[key] = rule
		}
	}
	for _, rule := range r.rules {
		var decider ipfwRule
		for _, direction := range []string{"", rule.direction} {
			for _, via := range []string{"", rule.only} {
				if d, ok := first[[2]string{direction, via}]; ok && (decider.line == 0 || d.number < decider.number) {
					decider = d
				}
			}
		}
		if decider.line == 0 || rule.number <= decider.number {
			continue
		}
		of := map[string]string{"in": " that come in", "out": " that go out"}[decider.direction]
		if decider.only != "" {
			of += " via " + decider.only
		}
		s.rejected(Reject{Line: rule.line, Span: rule.span, Idle: true,
			Reason:  "no packet comes to this rule: rule " + strconv.Itoa(decider.number) + " decides about all of them" + of,
			Because: "The rules are gone through by their numbers, and the search ends at the first one that decides."})
	}
}
