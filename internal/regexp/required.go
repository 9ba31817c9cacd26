package regexp

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// required are texts of which every match of an expression contains at least one: what holds none of them needs no
// look by the expression itself, which takes many times as long. Without any, nothing is known of the matches.
type required struct {
	texts []string
	fold  bool // in either case; the texts are in lower case then
}

// The least length of a text that tells lines apart, and the most texts that are looked for.
const (
	leastRequired = 2
	mostRequired  = 32
)

// branch is one of the expressions between the bars of an expression that is nothing else, with what it requires.
type branch struct {
	required
	compiled func() *regexp.Regexp
}

// branchesOf cuts an expression at its bars: most lines hold what one branch requires, or none. Those that require nothing
// stay together.
func branchesOf(expression string) (out []branch) {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil || re.Op != syntax.OpAlternate {
		return []branch{{requiredOf(re), compiling(expression)}}
	}
	var rest []string
	for _, sub := range re.Sub {
		if r := requiredOf(sub); len(r.texts) > 0 {
			out = append(out, branch{r, compiling(sub.String())})
		} else {
			rest = append(rest, sub.String())
		}
	}
	if len(rest) > 0 {
		out = append(out, branch{compiled: compiling(strings.Join(rest, "|"))})
	}
	return out
}

// requiredOf finds the texts by the expression's syntax; of one that is nil nothing is known.
func requiredOf(re *syntax.Regexp) (r required) {
	if re != nil {
		r = requiredIn(re)
	}
	if r.least() < leastRequired {
		return required{}
	}
	return r
}

// least is the length of the shortest text.
func (r required) least() int {
	if len(r.texts) == 0 {
		return 0
	}
	n := len(r.texts[0])
	for _, t := range r.texts {
		n = min(n, len(t))
	}
	return n
}

func requiredIn(re *syntax.Regexp) required {
	switch re.Op {
	case syntax.OpLiteral:
		text, fold := string(re.Rune), re.Flags&syntax.FoldCase != 0
		if !fold {
			return required{texts: []string{text}}
		}
		if text = strings.ToLower(text); !isASCII(text) {
			return required{}
		}
		return required{[]string{text}, true}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredIn(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return requiredIn(re.Sub[0])
		}
	case syntax.OpConcat:
		var best required
		for _, sub := range re.Sub {
			if r := requiredIn(sub); r.least() > best.least() {
				best = r
			}
		}
		return best
	case syntax.OpAlternate:
		var all required
		for _, sub := range re.Sub {
			r := requiredIn(sub)
			if r.least() == 0 || len(all.texts)+len(r.texts) > mostRequired {
				return required{}
			}
			all.texts, all.fold = append(all.texts, r.texts...), all.fold || r.fold
		}
		if all.fold {
			for i, t := range all.texts {
				if all.texts[i] = strings.ToLower(t); !isASCII(t) {
					return required{}
				}
			}
		}
		return all
	}
	return required{}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// within reports whether a text may hold a match.
func (r required) within(s string) bool {
	if len(r.texts) == 0 {
		return true
	}
	for _, t := range r.texts {
		if r.fold && containsFold(s, t) || !r.fold && strings.Contains(s, t) {
			return true
		}
	}
	return false
}

// containsFold reports whether s contains a text of ASCII in lower case in either case. Letters beyond ASCII may be
// equal to ones in it, so that a text with any of them may contain everything.
func containsFold(s, lower string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			return true
		case (c == lower[0] || c|0x20 == lower[0]) && len(s)-i >= len(lower) && equalFold(s[i:i+len(lower)], lower):
			return true
		}
	}
	return false
}

func equalFold(s, lower string) bool {
	for i := range len(lower) {
		if lowerCase(s[i]) != lower[i] {
			return false
		}
	}
	return true
}
