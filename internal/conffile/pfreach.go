package conffile

import (
	"slices"
	"strconv"
)

// pfReach follows the rules with quick that decide about every packet of a direction, an interface and a family, and
// emits pf:rule/unreached at later rules that are about nothing else; the value is the line of the rule that comes first.
type pfReach struct {
	deciding []pfScope
}

// maxDeciding bounds the rules that are kept, of which a file has a few.
const maxDeciding = 100

// pfScope is what a rule is about; empty parts stand for all.
type pfScope struct {
	direction, iface, family string
	line                     int
}

// pfPlain are words of a rule that leave no packet out.
var pfPlain = []string{"log", "all", "drop", "return", "keep", "modulate", "state", "quick"}

// pfNarrow are words by which a rule is about some packets.
var pfNarrow = []string{"proto", "from", "to", "port"}

func (r *pfReach) statement(s *scanner, words []word) {
	if !slices.Contains([]string{"pass", "block", "match"}, words[0].text) {
		return
	}
	scope, plain, quick, narrow := pfScope{line: words[0].line}, true, false, false
	for i := 1; i < len(words); i++ {
		switch w := words[i].text; {
		case w == "in" || w == "out":
			scope.direction = w
		case w == "inet" || w == "inet6":
			scope.family = w
		case w == "on" && i+1 < len(words):
			i++
			scope.iface = words[i].text
			if scope.iface == "{" || scope.iface == "!" || scope.iface == "(" {
				plain, narrow = false, true // which are several
			}
		case w == "rdomain" || w == "tag" || w == "anchor":
			return
		default:
			quick = quick || w == "quick"
			narrow = narrow || slices.Contains(pfNarrow, w)
			plain = plain && slices.Contains(pfPlain, w)
		}
	}
	if line := r.first(scope); line > 0 && narrow {
		s.pfName("pf:rule/unreached", words[0], strconv.Itoa(line))
		return
	}
	if plain && quick && words[0].text != "match" && len(r.deciding) < maxDeciding {
		r.deciding = append(r.deciding, scope)
	}
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
					(d.iface == "" || d.iface == scope.iface)
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
