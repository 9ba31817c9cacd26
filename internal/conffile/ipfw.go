package conffile

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// ipfwRules follows the rules and the objects of ipfw in a script.
type ipfwRules struct {
	configured map[string]bool // pipe 1, queue 2, nat 3
	used       []word          // those of rules, with the text "pipe 1"
	all        []ipfwRule      // rules that decide about every packet, or every one of a direction
	rules      []ipfwRule
	jumps      bool // a rule goes on at another one, or a number is not known
	last       int  // the highest number
}

type ipfwRule struct {
	number    int
	line      int
	span      Span
	action    string
	direction string // in or out
	via       string // the interface that the rule is about
	stateful  bool
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
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		words = words[1:]
	}
	switch {
	case len(words) > 1 && words[0].text == "add":
		s.ipfwRule(words[1:], base)
	case len(words) > 0 && !words[0].expands && slices.Contains(ipfwActions, words[0].text):
		s.rejected(Reject{Line: words[0].line, Span: words[0].span,
			Reason:  "ipfw has no command " + words[0].text + ": write ipfw add " + words[0].text,
			Because: "Rules are made by add; ipfw refuses the line, so that the rule is missing."})
	case len(words) > 2 && words[2].text == "config" && slices.Contains(ipfwObjects, words[0].text):
		s.ipfwConfig(words, base)
	case len(words) == 1 && words[0].text == "flush":
		s.ipfw.rules, s.ipfw.all, s.ipfw.last = nil, nil, 0
	case len(words) > 0 && (words[0].text == "delete" || words[0].text == "set" || words[0].text == "disable" ||
		strings.Contains(words[0].text, "/")):
		s.ipfw.jumps = true // rules that are taken back, or a file with more of them
	}
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
	var texts []string
	for i, w := range words {
		texts = append(texts, w.text)
		switch {
		case w.text == "skipto" || w.text == "call" || w.text == "set" || w.expands && i == 0:
			r.jumps = true
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
		case "keep-state", "record-state", "limit", "established", "check-state":
			rule.stateful = true
		}
	}
	if decidesAll(texts) && base.Flags&Conditional == 0 {
		r.all = append(r.all, rule)
	}
	r.rules = append(r.rules, rule)
}

// decidesAll reports a rule that decides about every packet, or every one of its direction.
func decidesAll(words []string) bool {
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

// oneWay reports a rule that lets packets in where none lets anything out: neither an answer, nor what is forwarded.
func (r *ipfwRules) oneWay(s *scanner) {
	closed := slices.IndexFunc(r.all, func(a ipfwRule) bool { return a.direction == "" && slices.Contains(ipfwDenies, a.action) })
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
		reason := "the rule lets packets in via " + rule.via + ", and no rule lets any out"
		if len(out) > 0 {
			reason += " but via " + strings.Join(slices.Compact(out), ", ")
		}
		s.rejected(Reject{Line: rule.line, Span: rule.span, Idle: true, Reason: reason,
			Because: "A packet that is forwarded passes the rules again on its way out, and an answer does too: without a rule for " +
				"out, or keep-state, the last rule denies them."})
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
		if !kinds["*"] && kinds[kind] && !r.configured[w.text] {
			s.rejected(Reject{Line: w.line, Span: w.span, Idle: true, Reason: "no line configures " + w.text,
				Because: "Others of its kind are configured in this script; packets that the rule sends to one that does not " +
					"exist are dropped (ipfw(8))."})
		}
	}
	if r.jumps {
		return
	}
	r.oneWay(s)
	first := map[string]ipfwRule{} // that decides about a direction
	for _, rule := range r.all {
		if before, ok := first[rule.direction]; !ok || rule.number < before.number {
			first[rule.direction] = rule
		}
	}
	for _, rule := range r.rules {
		decider, found := first[""]
		if same, ok := first[rule.direction]; ok && (!found || same.number < decider.number) {
			decider, found = same, true
		}
		if found && rule.number > decider.number {
			s.rejected(Reject{Line: rule.line, Span: rule.span, Idle: true,
				Reason: "no packet comes to this rule: rule " + strconv.Itoa(decider.number) + " decides about all of them" +
					map[string]string{"in": " that come in", "out": " that go out"}[decider.direction],
				Because: "The rules are gone through by their numbers, and the search ends at the first one that decides."})
		}
	}
}
