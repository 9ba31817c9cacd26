package conffile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// pfQueues follows the queues of OpenBSD's pf.conf, and rejects what pfctl refuses when it loads them
// (pfctl_check_qassignments and pfctl_leafqueue_check of sbin/pfctl/pfctl.c).
type pfQueues struct {
	queues    []pfQueue
	chosen    []word // names of rules
	later     []word // those that no line above defines
	grouped   []word // groups of interfaces that queues are on
	units     []word // rates in units that there are not
	elsewhere bool
}

type pfQueue struct {
	name, parent   word
	root, standard bool // on an interface; default
	bandwidth      bool
	capped         bool    // has a max
	rate, most     float64 // of bandwidth and max, in bits per second; 0 for none
	least          float64 // of min
}

// pfRate reads a bandwidth in bits per second, 0 for none; known is false for a number in a unit that pfctl does not know
// (bandwidth of parse.y).
func pfRate(text string) (rate float64, known bool) {
	number := text[:len(text)-len(strings.TrimLeft(text, "0123456789."))]
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, true
	}
	unit := text[len(number):]
	if len(unit) > 1 && slices.Contains([]string{"Bit", "B", "bit", "b"}, unit[1:]) {
		unit = unit[:1]
	}
	factor, known := map[string]float64{"": 1, "b": 1, "K": 1e3, "M": 1e6, "G": 1e9}[unit]
	return n * factor, known
}

func (q *pfQueues) statement(words []word, resolved func(word) string) {
	switch {
	case len(q.queues)+len(q.chosen) > pfNamesLimit:
	case words[0].text == "include" || strings.HasSuffix(words[0].text, "anchor"):
		q.elsewhere = true // which may choose or hold queues too
	case words[0].text == "queue" && len(words) > 1:
		queue := pfQueue{name: words[1]}
		q.elsewhere = q.elsewhere || words[1].expands || words[1].text == "{"
		for i, w := range words[2:] {
			if i+3 < len(words) {
				q.option(&queue, w, words[i+3], resolved)
			}
			queue.standard = queue.standard || w.text == "default"
		}
		q.queues = append(q.queues, queue)
	case slices.Contains([]string{"pass", "match", "block"}, words[0].text):
		q.choose(words)
	}
}

// option takes an option of a queue with what follows it.
func (q *pfQueues) option(queue *pfQueue, w, value word, resolved func(word) string) {
	rate, known := pfRate(value.text)
	switch w.text {
	case "on":
		queue.root = true
		if resolved(value) == "egress" {
			q.grouped = append(q.grouped, value)
		}
		return
	case "parent":
		queue.parent = value
		return
	case "bandwidth":
		queue.bandwidth, queue.rate = true, rate
	case "max":
		queue.most, queue.capped = rate, true
	case "min":
		queue.least = rate
	default:
		return
	}
	if !known && !value.expands {
		q.units = append(q.units, value)
	}
}

// choose keeps the queues that a rule names, with set or without.
func (q *pfQueues) choose(words []word) {
	for i := 1; i+1 < len(words); i++ {
		if words[i].text != "queue" || words[i].quoted || slices.Contains([]string{"label", "tag", "tagged"}, words[i-1].text) {
			continue
		}
		names := words[i+1 : i+2]
		if names[0].text == "(" {
			names = words[i+2:]
			if end := slices.IndexFunc(names, func(w word) bool { return w.text == ")" }); end >= 0 {
				names = names[:end]
			}
		}
		for _, name := range names {
			later := !slices.ContainsFunc(q.queues, func(queue pfQueue) bool { return queue.name.text == name.text })
			if later && !name.expands {
				q.later = append(q.later, name)
			}
		}
		q.chosen = append(q.chosen, names...)
		return
	}
}

func (q *pfQueues) conclude(s *scanner) {
	for _, w := range q.grouped {
		if s.system == OpenBSD {
			s.rejected(Reject{Line: w.line, Span: w.span, certain: true,
				Reason: "a queue needs an interface: egress is a group of interfaces, which pfctl refuses since OpenBSD 6.4"})
		}
	}
	for _, w := range q.units {
		if s.system == OpenBSD && strings.Trim(w.text, "%") == w.text {
			s.reject(w.line, w.span, "pfctl does not know the unit of "+w.text+": rates are in bits per second with K, M or G, as in 20M")
		}
	}
	rooted := slices.ContainsFunc(q.queues, func(queue pfQueue) bool { return queue.root })
	if s.system != OpenBSD || !rooted || q.elsewhere { // a part of a file may lack the root
		return
	}
	known, parents := map[string]bool{}, map[string]bool{}
	standard, root := false, word{}
	for _, queue := range q.queues {
		known[queue.name.text] = true
		parents[queue.parent.text] = true
		standard = standard || queue.standard
		if queue.root && queue.bandwidth && root.line == 0 {
			root = queue.name
		}
	}
	if root.line > 0 && !standard {
		s.reject(root.line, root.span, "no queue of this tree is the default, and pfctl refuses the file (\"no default queue "+
			"specified\"): write default behind the queue for the packets that no rule assigns")
	}
	for _, queue := range q.queues {
		if p := queue.parent; p.line > 0 && !p.expands && !known[p.text] {
			s.reject(p.line, p.span, "no queue is called "+p.text+", so that this one hangs on nothing and is not loaded")
		}
	}
	q.slowDefault(s)
	q.uncapped(s)
	q.overcommitted(s)
	for _, w := range q.later {
		if known[w.text] {
			s.reject(w.line, w.span, "the queue "+w.text+" is used before its definition: move the definition above this line")
		}
	}
	for _, w := range q.chosen {
		switch {
		case w.expands:
		case !known[w.text]:
			s.reject(w.line, w.span, "no queue is called "+w.text+", and the kernel refuses the rule")
		case parents[w.text]:
			s.reject(w.line, w.span, "the queue "+w.text+" has queues below it: rules can choose those alone (\"packets must be "+
				"assigned to leaf queues only\")")
		}
	}
}

// slowDefault emits pf:rule/default-queue at a default queue that is held far below another one of its tree which no rule
// chooses: what no rule assigns is as slow. The value is the name of that other one.
func (q *pfQueues) slowDefault(s *scanner) {
	chosen := map[string]bool{}
	for _, w := range q.chosen {
		if chosen[w.text] = true; w.expands {
			return
		}
	}
	for _, slow := range q.queues {
		if !slow.standard || slow.most == 0 {
			continue
		}
		for _, other := range q.queues {
			if other.parent.text == slow.parent.text && other.parent.text != "" && !other.standard && !chosen[other.name.text] &&
				other.rate >= 4*slow.most {
				s.pfName("pf:rule/default-queue", slow.name, other.name.text)
				break
			}
		}
	}
}

// uncapped emits pf:rule/uncapped at the queue of an interface that shapes nothing: bandwidth is what a queue gets of a link
// that is full, and only max holds it back.
func (q *pfQueues) uncapped(s *scanner) {
	capped := map[string]bool{} // of the queues with others below them: all of those have a max
	parents := map[string]bool{}
	for _, queue := range q.queues {
		if p := queue.parent.text; p != "" {
			capped[p] = queue.capped && (capped[p] || !parents[p])
			parents[p] = true
		}
	}
	for _, queue := range q.queues {
		if queue.root && queue.bandwidth && !queue.capped && !capped[queue.name.text] && !slices.Contains(linkRates, queue.rate) {
			s.pfName("pf:rule/uncapped", queue.name, queue.name.text)
		}
	}
}

// linkRates are those of interfaces, in bits per second, and 0 for one that is not known: such a queue is as fast as its
// interface.
var linkRates = []float64{0, 10e6, 100e6, 1e9, 2.5e9, 5e9, 10e9, 25e9, 40e9, 100e9}

// overcommitted emits pf:rule/guarantees at a queue that guarantees the queues below it more than it has itself; the value
// is the sum in Mbit/s.
func (q *pfQueues) overcommitted(s *scanner) {
	sums := map[string]float64{}
	for _, queue := range q.queues {
		sums[queue.parent.text] += queue.least
	}
	for _, queue := range q.queues {
		own := queue.most
		if own == 0 {
			own = queue.rate
		}
		if sum := sums[queue.name.text]; own > 0 && sum > own*1.001 {
			s.pfName("pf:rule/guarantees", queue.name, strconv.FormatFloat(sum/1e6, 'g', 4, 64))
		}
	}
}

// pfNumbers rejects ports and addresses that there are not.
func (s *scanner) pfNumbers(words []word) {
	for i, w := range words {
		if w.quoted || i > 0 && (words[i-1].text == "label" || words[i-1].text == "tag") {
			continue
		}
		if n, err := strconv.Atoi(w.text); err == nil && n > 65535 && i > 0 && words[i-1].text == "port" {
			s.reject(w.line, w.span, "there is no port "+w.text+": the last one is 65535")
		}
		if address, bits, masked := strings.Cut(strings.TrimPrefix(w.text, "!"), "/"); dottedQuad(address) {
			n, err := strconv.Atoi(bits)
			switch {
			case slices.ContainsFunc(strings.Split(address, "."), func(p string) bool { n, err := strconv.Atoi(p); return err != nil || n > 255 }):
				s.reject(w.line, w.span, "no IPv4 address: each of its four numbers is at most 255")
			case masked && err == nil && n > 32:
				s.reject(w.line, w.span, "an IPv4 address has 32 bits, so that its prefix is at most /32")
			}
		}
	}
}

// pfLog rejects options of log that there are not (logopt of pfctl's parse.y, which knows group on FreeBSD alone).
func (s *scanner) pfLog(words []word) {
	for i := 0; i+2 < len(words); i++ {
		if words[i].text != "log" || words[i].quoted || words[i+1].text != "(" {
			continue
		}
		for j := i + 2; j < len(words) && words[j].text != ")"; j++ {
			switch w := words[j]; {
			case w.text == "to":
				j++
			case w.text == "group" && s.system != OpenBSD:
			case w.text != "all" && w.text != "user" && w.text != "matches" && !w.expands:
				s.reject(w.line, w.span, "log has no option "+w.text+": its options are all, matches, user and to INTERFACE")
				return
			}
		}
	}
}

// pfSkipped follows the interfaces that set skip takes out of the filter.
type pfSkipped struct {
	skipped map[string]bool
	values  map[string]string // of the macros of one word
	rules   []word            // interfaces of rules
	changes []word            // interfaces of rules that translate or normalise
	clamps  [][2]word         // max-mss of rules, and their interfaces
	drivers []word            // of set skip, without a number
	fixed   []word            // interfaces behind nat-to whose addresses are taken once
	missed  []word            // misspelt loopbacks of set skip
	egress  word              // the first one that FreeBSD knows no members of
	few     []word            // limits of connections that clients usually exceed
	hosts   pfHosts
}

// uplink finds the group egress, whose members OpenBSD's kernel alone keeps.
func (k *pfSkipped) uplink(words []word) {
	for i := 1; i < len(words) && k.egress.text == ""; i++ {
		if words[i].text == "egress" && slices.Contains([]string{"on", "(", "=", "from", "to"}, words[i-1].text) {
			k.egress = words[i]
		}
	}
}

// cards are drivers of OpenBSD's network cards.
var cards = strings.Fields("age alc ale aq athn atw aue axe axen axge bce bge bnx bnxt bwfm cas cdce dc em ep fxp gem hme hvn igc ipw " +
	"iwi iwm iwn iwx ix ixgb ixl ixv jme lii mcx mos msk msts mtd myx nep nfe nge oce pcn ral re rge rl run se sis sk smsc ste stge " +
	"sunxi ti tl txp udav upl ure urndis urtwn vge vio vmx vr vte wb wpi xl xge xnf")

func (k *pfSkipped) statement(words []word) {
	switch {
	case len(k.rules) > pfNamesLimit:
	case len(words) == 3 && words[1].text == "=":
		if k.values == nil {
			k.values = map[string]string{}
		}
		k.values["$"+words[0].text] = words[2].text
	case len(words) > 3 && words[0].text == "set" && words[1].text == "skip":
		if k.skipped == nil {
			k.skipped = map[string]bool{}
		}
		for _, w := range words[3:] {
			k.skipped[k.resolved(w)] = true
			k.hosts.passed = append(k.hosts.passed, pfPassed{k.resolved(w), "any"})
			for _, name := range pfListed(k.resolved(w)) {
				k.hosts.looped = k.hosts.looped || name[0] == '$' || strings.HasPrefix(name, "lo")
			}
			if slices.Contains(cards, w.text) {
				k.drivers = append(k.drivers, w)
			}
			if noLoopback.MatchString(w.text) {
				k.missed = append(k.missed, w)
			}
		}
	case slices.Contains([]string{"nat", "rdr", "binat", "scrub"}, words[0].text) && len(k.changes) < pfNamesLimit:
		if i := slices.IndexFunc(words, func(w word) bool { return w.text == "on" && !w.quoted }); i > 0 && i+1 < len(words) {
			w := words[i+1]
			w.text = k.resolved(w)
			k.changes = append(k.changes, w)
		}
	case slices.Contains([]string{"pass", "block", "match"}, words[0].text):
		k.hosts.rule(words, k.ifaces(words))
		k.limited(k.expanded(words))
		fixed := !slices.ContainsFunc(words, func(w word) bool { return w.text == "rtable" })
		on := false // which a rule has once
		for i := 1; i+1 < len(words); i++ {
			w := words[i+1]
			w.text = k.resolved(w)
			if words[i].text == "nat-to" && fixed && len(k.fixed) < pfNamesLimit {
				k.fixed = append(k.fixed, w)
			}
			if words[i].text == "on" && !words[i].quoted && !on {
				on = true
				k.rules = append(k.rules, w)
				k.clamp(words[i+2:], w)
			}
		}
	}
}

func (k *pfSkipped) clamp(words []word, iface word) {
	if i := slices.IndexFunc(words, func(w word) bool { return w.text == "max-mss" }); i >= 0 && i+1 < len(words) && isNumber(words[i+1]) &&
		len(k.clamps) < pfNamesLimit {
		k.clamps = append(k.clamps, [2]word{words[i+1], iface})
	}
}

// usualConnections are what a browser or another mail server opens to one host at a time.
const usualConnections = 6

// limited finds a rule for servers of web or mail that lets a source connect less often than is usual.
func (k *pfSkipped) limited(words []word) {
	limits := slices.IndexFunc(words, func(w word) bool { return strings.HasPrefix(w.text, "max-src-conn") })
	if limits < 0 || words[0].text != "pass" || len(k.few) >= pfNamesLimit {
		return
	}
	scope := pfScopeOf(words, k.resolved)
	busy := scope.direction != "out" && slices.ContainsFunc(scope.parts[pfToPort], func(port string) bool {
		return slices.Contains([]string{"80", "443", "25"}, port)
	})
	for i := limits; busy && i+1 < len(words); i++ {
		limit, seconds, _ := strings.Cut(words[i+1].text, "/")
		most, err := strconv.Atoi(limit)
		window, _ := strconv.Atoi(seconds)
		counted := words[i].text == "max-src-conn" || words[i].text == "max-src-conn-rate"
		if counted && err == nil && (most < usualConnections || window > 4*most) {
			w := words[i]
			w.span.End, w.text = max(w.span.End, words[i+1].span.End), w.text+" "+words[i+1].text
			k.few = append(k.few, w)
			return
		}
	}
}

func (k *pfSkipped) resolved(w word) string {
	if value, known := k.values[w.text]; known {
		return value
	}
	return w.text
}

// noLoopback is a name that no interface has, meant for the loopback.
var noLoopback = regexp.MustCompile(`^(?:[lI1]0|[iI1][oO]0|l00|loo0?|ol0|lo[oO]|lO0?)$`)

// ifaces are the interface of a rule, of one or the members of a list; "*" is one that is not known.
func (k *pfSkipped) ifaces(words []word) []string {
	i := slices.IndexFunc(words, func(w word) bool { return w.text == "on" && !w.quoted }) + 1
	if i == 0 || i == len(words) {
		return nil
	}
	names := pfMembers(words[i:pfArgumentEnd(words, i, "on")], k.resolved)
	for j, name := range names {
		if strings.HasPrefix(name, "$") {
			names[j] = "*"
		}
	}
	if len(names) == 0 || len(names) > maxMembers {
		return []string{"*"}
	}
	return names
}

// expanded are words with the text of macros in their places, as pfctl reads them.
func (k *pfSkipped) expanded(words []word) []word {
	if !slices.ContainsFunc(words, func(w word) bool { return k.values[w.text] != "" }) {
		return words
	}
	var out []word
	for _, w := range words {
		value, known := k.values[w.text]
		if !known || len(value) > maxMembers*pfMemberSize || len(out) > pfNamesLimit {
			out = append(out, w)
			continue
		}
		for _, text := range strings.Fields(pfMarks.Replace(value)) {
			out = append(out, word{span: w.span, line: w.line, text: text})
		}
	}
	return out
}

// pfMarks sets the marks apart that are words of their own.
var pfMarks = strings.NewReplacer("(", " ( ", ")", " ) ", "{", " { ", "}", " } ", ",", " ")

func (k *pfSkipped) conclude(s *scanner, elsewhere bool) {
	for _, w := range k.rules {
		if name := strings.TrimRight(w.text, "0123456789"); name != w.text && name != "lo" && k.skipped[w.text] {
			s.pfName("pf:rule/skipped", w, w.text)
		}
	}
	for _, w := range k.changes {
		if k.skipped[w.text] || k.skipped[strings.TrimRight(w.text, "0123456789")] {
			s.pfName("pf:rule/skipped", w, w.text)
		}
	}
	for _, c := range k.clamps {
		s.pfName("pf:rule/segment", c[0], c[1].text)
	}
	for _, w := range k.few {
		s.pfName("pf:rule/few", w, w.text)
	}
	for _, w := range k.missed {
		s.pfName("pf:rule/missed", w, "lo0")
	}
	for _, w := range k.drivers {
		if s.system == OpenBSD {
			s.pfName("pf:rule/driver", w, w.text)
		}
	}
	if k.hosts.blocks.line > 0 && len(k.hosts.passed) > 0 && !k.hosts.looped && !elsewhere {
		s.pfName("pf:rule/loopback", k.hosts.blocks, "lo0")
	}
	k.hosts.conclude(s)
	for i, w := range k.fixed {
		if i == 0 && s.system == OpenBSD {
			s.pfName("pf:rule/nat", w, w.text)
		}
		if name, _, _ := strings.Cut(w.text, ":"); strings.TrimRight(name, "0123456789") != name && !strings.ContainsAny(name, ".$") {
			s.pfName("pf:rule/fixed", w, name)
		}
	}
	if k.egress.text != "" && s.system == FreeBSD && !strings.Contains(s.src, "group egress") {
		s.pfName("pf:rule/egress", k.egress, "egress")
	}
}
