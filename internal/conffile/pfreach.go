package conffile

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// pfReach follows the rules with quick that decide about all packets of their kind, and emits pf:rule/unreached at later
// rules that are about no others; the value is the line of the rule that comes first.
type pfReach struct {
	deciding []pfScope
	waiting  []pfScope // rules without quick, of which the last one that fits decides

	closed  int    // the line of the first rule that blocks all that comes in
	sources []word // of rules that pass all that comes from a port
	some    bool   // later rules pass a part of it
	opening word   // the one that passes all of it
}

// maxDeciding bounds the rules that are kept, of which a file has a few, and maxWaiting those that a later one may
// overrule. maxMembers bounds the list in a rule.
const (
	maxDeciding = 100
	maxWaiting  = 500
	maxMembers  = 30
)

// pfScope is what a rule is about; empty parts stand for all.
type pfScope struct {
	direction, iface, family string
	parts                    [pfParts][]string
	line                     int
	first                    word // of the rule

	plain  bool // it says nothing else that leaves packets out
	quick  bool
	narrow bool // it is about some packets, or a match rule that does something
	flags  bool // it asks for other flags than a first packet has
}

// The parts of a rule beside its direction, interface and address family.
const (
	pfProto = iota
	pfFrom
	pfFromPort
	pfTo
	pfToPort
	pfUser
	pfIcmp
	pfParts
)

// pfPlain are words of a rule that leave no packet out, and pfTold those that what follows belongs to.
var (
	pfPlain = []string{"log", "all", "drop", "return", "return-icmp", "return-icmp6", "return-rst", "keep", "modulate", "synproxy", "state",
		"quick", "allow-opts", "no", "static-port"}
	pfTold = []string{"label", "tag", "queue", "set"}
)

// pfTransforms are words by which a match rule does something.
var pfTransforms = []string{"scrub", "nat-to", "rdr-to", "binat-to", "set", "queue"}

func (r *pfReach) statement(s *scanner, words []word, resolved func(word) string) {
	if !slices.Contains([]string{"pass", "block", "match"}, words[0].text) || pfSpecOf(words).hidden || slices.ContainsFunc(words, func(w word) bool {
		return slices.Contains([]string{"rdomain", "tag", "anchor", "matches"}, w.text) && !w.quoted
	}) {
		return // a macro may hold quick; log (matches) is about later rules
	}
	scope := pfScopeOf(words, resolved)
	r.opens(scope)
	if line := r.first(scope); line > 0 && scope.narrow {
		s.pfName("pf:rule/unreached", words[0], strconv.Itoa(line))
		return
	}
	if words[0].text == "match" {
		return
	}
	r.wait(s, scope)
	if scope.plain && scope.quick && len(r.deciding) < maxDeciding {
		r.deciding = append(r.deciding, scope)
	}
}

// opens follows whether all connections that come in are blocked, some of them passed again, and at last all.
func (r *pfReach) opens(scope pfScope) {
	if scope.direction == "out" || scope.first.text == "match" {
		return
	}
	all := scope.whole() && scope.iface == "" && scope.family == ""
	switch block := scope.first.text == "block"; {
	case block && all && r.closed == 0:
		r.closed = scope.line
	case block && !slices.ContainsFunc(scope.parts[:], func(part []string) bool { return part != nil }):
		r.opening = word{} // it holds again, on an interface
	case !block && all && r.some:
		r.opening = scope.first
	case !block && !all && r.closed > 0:
		r.some = true
		if scope.fromPort() && len(r.sources) < maxDeciding {
			r.sources = append(r.sources, scope.first)
		}
	}
}

// outside is an interface, or the macro of one, that the Internet is behind; "" is any.
var outside = regexp.MustCompile(`(?i)^$|ext|wan|egress|^any$`)

// fromPort reports a rule about all that comes from outside from a port, wherever it goes.
func (scope pfScope) fromPort() bool {
	parts := scope.parts
	return parts[pfFromPort] != nil && parts[pfFrom] == nil && parts[pfTo] == nil && parts[pfToPort] == nil && parts[pfUser] == nil &&
		scope.plain && outside.MatchString(scope.iface)
}

// conclude emits pf:rule/opened at the rule that passes all that an earlier one blocks; the value is the line of that.
func (r *pfReach) conclude(s *scanner) {
	for _, w := range r.sources {
		s.pfName("pf:rule/sourceport", w, w.text)
	}
	if r.opening.line > 0 {
		s.pfName("pf:rule/opened", r.opening, strconv.Itoa(r.closed))
	}
}

func pfScopeOf(words []word, resolved func(word) string) pfScope {
	scope := pfScope{line: words[0].line, first: words[0], plain: true}
	side := ""
	for i := 1; i < len(words); i++ {
		var part int
		switch w := words[i].text; {
		case words[i].quoted:
			continue
		case w == "in" || w == "out":
			scope.direction = w
			continue
		case w == "inet" || w == "inet6":
			scope.family = w
			continue
		case w == "on":
			i = scope.on(words, i)
			continue
		case w == "proto":
			part = pfProto
		case w == "user":
			part = pfUser
		case w == "icmp-type" || w == "icmp6-type":
			part = pfIcmp
		case w == "from":
			part, side = pfFrom, w
		case w == "to":
			part, side = pfTo, w
		case w == "port" && side == "from":
			part = pfFromPort
		case w == "port" && side == "to":
			part = pfToPort
		case w == "af-to": // which takes a family and hosts of its own
			scope.plain = false
			return scope
		default:
			if slices.Contains(pfTargets, w) {
				side = "" // a port that follows is the new one
			}
			i = scope.option(words, i)
			continue
		}
		end := pfArgumentEnd(words, i+1, words[i].text)
		scope.parts[part] = pfMembers(words[i+1:end], resolved)
		i = max(i, end-1)
		scope.narrow = scope.narrow || scope.parts[part] != nil
		scope.plain = scope.plain && len(scope.parts[part]) <= maxMembers
	}
	return scope
}

// on takes the interface of a rule; several of them decide about none in whole.
func (scope *pfScope) on(words []word, i int) int {
	i = min(i+1, len(words)-1)
	switch scope.iface = words[i].text; scope.iface {
	case "{", "!", "(":
		scope.plain, scope.narrow = false, true
	}
	if scope.iface == "{" {
		i = pfArgumentEnd(words, i, "on") - 1
	}
	return i
}

// option takes what a rule says beside, and returns where it ends.
func (scope *pfScope) option(words []word, i int) int {
	w, next := words[i].text, words[min(i+1, len(words)-1)].text
	scope.quick = scope.quick || w == "quick"
	scope.narrow = scope.narrow || words[0].text == "match" && slices.Contains(pfTransforms, w)
	switch {
	case w == "flags":
		scope.flags = next != "S/SA"
		scope.plain = scope.plain && !scope.flags && words[0].text == "pass" // as it is without
		return i + 1
	case w == "no": // state, which goes with any flags
		scope.flags = true
	case w == "nat-to" && words[0].text == "match":
		return max(i, pfArgumentEnd(words, i+1, w)-1)
	case slices.Contains(pfTold, w) && next != "(":
		return i + 1
	case w == "(" && slices.Contains([]string{"state", "log", "queue", "set", "prio", "return-icmp", "return-icmp6"}, words[i-1].text):
		return pfArgumentEnd(words, i, w) - 1
	}
	scope.plain = scope.plain && (slices.Contains(pfPlain, w) || slices.Contains(pfTold, w))
	return i
}

// pfMembers are the members of a list, or of what stands for one, in words. Nil stands for all; an operator stands with what it
// is about, as one member.
func pfMembers(words []word, resolved func(word) string) []string {
	var members []string
	long := make([]string, maxMembers+1) // which is not compared
	if len(words) > maxMembers*pfMemberSize {
		return long
	}
	open := false // the next one goes on with the last
	for _, w := range words {
		text := resolved(w)
		if len(text) > maxMembers*pfMemberSize {
			return long
		}
		for _, member := range pfListed(text) {
			joins := slices.Contains(pfJoining, member)
			switch behind := open || joins || member == ")" || member[0] == '/'; {
			case member == "any" && !open:
				return nil
			case behind && len(members) > 0:
				members[len(members)-1] += " " + member
			case member != "=":
				members = append(members, cmp.Or(pfServices[member], member))
			}
			open = joins || slices.Contains(pfLeading, member)
		}
		if len(members) > maxMembers {
			return long
		}
	}
	return members
}

// pfMemberSize is as long as the members of a list are on average at most.
const pfMemberSize = 50

// Operators of hosts, ports, users and types, between two members and before one.
var (
	pfJoining = []string{":", "-", "><", "<>", "code"}
	pfLeading = []string{"!", "=", "<", ">", "!=", "<=", ">=", "(", "route"}
)

// pfListed are the members of the text of a list.
func pfListed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("{}, \t\n", r) })
}

// pfServices are names of ports that rules often name.
var pfServices = map[string]string{"ssh": "22", "smtp": "25", "domain": "53", "www": "80", "http": "80", "https": "443", "ftp": "21"}

// takesOn reports whether a rule is about the interfaces of another one; any are all but the loopback.
func (scope pfScope) takesOn(other pfScope) bool {
	return scope.iface == "" || scope.iface == other.iface || scope.iface == "any" && !strings.HasPrefix(other.iface, "lo")
}

// covers reports whether a rule is about all packets that another one is about in its parts.
func (scope pfScope) covers(other pfScope) bool {
	for i, part := range scope.parts {
		if part == nil {
			continue
		}
		if other.parts[i] == nil || len(other.parts[i]) > maxMembers || slices.ContainsFunc(other.parts[i], func(member string) bool {
			return !slices.Contains(part, member)
		}) {
			return false
		}
	}
	// A rule that passes makes states of first packets alone, and leaves the rest.
	return scope.first.text == "block" || !other.flags
}

// whole reports a rule about all packets of its direction, interface and family.
func (scope pfScope) whole() bool {
	return scope.plain && !slices.ContainsFunc(scope.parts[:], func(part []string) bool { return part != nil })
}

// wait keeps a rule without quick, and emits pf:rule/overruled at those of the other action that this one takes every
// packet from: the value is its line.
func (r *pfReach) wait(s *scanner, scope pfScope) {
	whole := scope.whole()
	defer func() {
		if usual := whole && scope.iface == "" && scope.first.text == "block"; len(r.waiting) < maxWaiting && !scope.quick && !usual {
			r.waiting = append(r.waiting, scope)
		}
	}()
	if !scope.plain || !whole && scope.first.text == "pass" || len(r.waiting) == maxWaiting {
		return
	}
	r.waiting = slices.DeleteFunc(r.waiting, func(earlier pfScope) bool {
		within := earlier.first.text != scope.first.text && (scope.direction == "" || scope.direction == earlier.direction) &&
			(scope.family == "" || scope.family == earlier.family) && scope.takesOn(earlier) && scope.covers(earlier)
		if within {
			s.pfName("pf:rule/overruled", earlier.first, strconv.Itoa(scope.line))
		}
		return within
	})
}

// first is the line of the rule that decides about all packets of a scope, 0 where some of them are left.
func (r *pfReach) first(scope pfScope) int {
	line := 0
	for _, direction := range []string{"in", "out"} {
		for _, family := range []string{"inet", "inet6"} {
			if scope.direction != "" && scope.direction != direction || scope.family != "" && scope.family != family {
				continue
			}
			i := slices.IndexFunc(r.deciding, func(d pfScope) bool {
				return (d.direction == "" || d.direction == direction) && (d.family == "" || d.family == family) &&
					d.takesOn(scope) && d.covers(scope)
			})
			if i < 0 {
				return 0
			}
			if line == 0 || r.deciding[i].line < line {
				line = r.deciding[i].line
			}
		}
	}
	return line
}
