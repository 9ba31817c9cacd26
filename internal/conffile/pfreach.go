package conffile

import (
	"slices"
	"strconv"
	"strings"
)

// pfReach follows the rules with quick that decide about every packet of a direction, an interface and a family, and
// emits pf:rule/unreached at later rules that are about nothing else; the value is the line of the rule that comes first.
type pfReach struct {
	deciding []pfScope
	waiting  []pfScope // rules without quick, of which the last one that fits decides
}

// maxDeciding bounds the rules that are kept, of which a file has a few, and maxWaiting those that a later one may
// overrule.
const (
	maxDeciding = 100
	maxWaiting  = 2000
)

// pfScope is what a rule is about; empty parts stand for all.
type pfScope struct {
	direction, iface, family, proto, port string
	line                                  int
	first                                 word // of the rule
}

// pfPlain are words of a rule that leave no packet out.
var pfPlain = []string{"log", "all", "drop", "return", "keep", "modulate", "state", "quick", "allow-opts"}

// pfTransforms are words by which a match rule does something.
var pfTransforms = []string{"scrub", "nat-to", "rdr-to", "binat-to", "set", "queue"}

// pfNarrow are words by which a rule is about some packets.
var pfNarrow = []string{"proto", "from", "to", "port"}

func (r *pfReach) statement(s *scanner, words []word) {
	if !slices.Contains([]string{"pass", "block", "match"}, words[0].text) {
		return
	}
	if pfSpecOf(words).hidden {
		return // a macro may hold quick
	}
	scope, plain, quick, narrow := pfScope{line: words[0].line, first: words[0]}, true, false, false
	side := ""
	for i := 1; i < len(words); i++ {
		next := words[min(i+1, len(words)-1)].text
		switch w := words[i].text; {
		case w == "in" || w == "out":
			scope.direction = w
		case w == "inet" || w == "inet6":
			scope.family = w
		case w == "proto":
			i++
			scope.proto, narrow = next, true
			plain = plain && next != "{"
		case w == "on":
			i++
			scope.iface = next
			if next == "{" || next == "!" || next == "(" {
				plain, narrow = false, true // which are several
			} else if next == "any" {
				scope.iface = "" // all but the loopback
			}
		case w == "from" || w == "to":
			side = w
			if next == "any" {
				i++
			} else if next != "port" {
				plain, narrow = false, true
			}
		case w == "port" && side == "to":
			i++
			scope.port, narrow = pfPort(next), true
			plain = plain && scope.port != "" && scope.proto != ""
		case w == "flags" && next == "S/SA":
			i++
		case w == "(" && words[i-1].text == "state":
			i += max(0, slices.IndexFunc(words[i:], func(w word) bool { return w.text == ")" }))
		case w == "rdomain" || w == "tag" || w == "anchor":
			return
		default:
			quick = quick || w == "quick"
			narrow = narrow || slices.Contains(pfNarrow, w) || words[0].text == "match" && slices.Contains(pfTransforms, w)
			plain = plain && slices.Contains(pfPlain, w)
		}
	}
	if line := r.first(scope); line > 0 && narrow {
		s.pfName("pf:rule/unreached", words[0], strconv.Itoa(line))
		return
	}
	if words[0].text != "match" {
		r.wait(s, scope, plain && scope.proto == "" && scope.port == "", quick)
	}
	if plain && quick && words[0].text != "match" && len(r.deciding) < maxDeciding {
		r.deciding = append(r.deciding, scope)
	}
}

// pfPort is a single port by its number, empty for other forms.
func pfPort(text string) string {
	if number := pfServices[text]; number != "" {
		return number
	}
	if strings.Trim(text, "0123456789") != "" {
		return ""
	}
	return text
}

// pfServices are names of ports that rules often name.
var pfServices = map[string]string{"ssh": "22", "smtp": "25", "domain": "53", "www": "80", "http": "80", "https": "443", "ftp": "21"}

// wait keeps a rule without quick, and emits pf:rule/overruled at those of the other action that this one takes every
// packet from: the value is its line.
func (r *pfReach) wait(s *scanner, scope pfScope, plain, quick bool) {
	defer func() {
		if len(r.waiting) < maxWaiting && !quick && (!plain || scope.iface != "") {
			r.waiting = append(r.waiting, scope)
		}
	}()
	if !plain {
		return
	}
	r.waiting = slices.DeleteFunc(r.waiting, func(earlier pfScope) bool {
		within := earlier.first.text != scope.first.text && (scope.direction == "" || scope.direction == earlier.direction) &&
			(scope.family == "" || scope.family == earlier.family) && (scope.iface == "" || scope.iface == earlier.iface)
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
					(d.iface == "" || d.iface == scope.iface) && (d.proto == "" || d.proto == scope.proto) &&
					(d.port == "" || d.port == scope.port)
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
