package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// pfOrder follows the order of the statements of pf.conf, in which FreeBSD's pfctl takes them (check_rulestate of
// parse.y): rules of normalization, queues, translation, filtering. OpenBSD has had no such order since 4.7.
type pfOrder struct {
	reached int
	free    bool // set require-order no
	options bool // it is a whole file, which sets some
	told    bool
}

// pfStages are the statements that have their place, by its number, and the options that come before them all.
// The others are taken everywhere.
var pfStages = map[string]int{
	"reassemble": 1, "optimization": 1, "loginterface": 1, "block-policy": 1, "fingerprints": 1, "debug": 1,
	"scrub": 2,
	"altq":  3, "queue": 3,
	"nat": 4, "rdr": 4, "binat": 4, "nat-anchor": 4, "rdr-anchor": 4, "binat-anchor": 4,
	"pass": 5, "block": 5, "match": 5, "antispoof": 5, "anchor": 5,
}

var pfStageNames = []string{"", "this option", "normalization (scrub)", "queueing (altq, queue)",
	"translation (nat, rdr, binat)", "filtering"}

func (o *pfOrder) statement(s *scanner, words []word) {
	first := words[0]
	place := pfStages[first.text]
	switch {
	case first.text == "no" && len(words) > 1:
		place = pfStages[words[1].text]
	case first.text == "set" && len(words) > 1:
		place = pfStages[words[1].text]
	case place == 1:
		place = 0
	}
	o.options = o.options || first.text == "set"
	switch {
	case s.system != FreeBSD || o.free || o.told || first.quoted:
	case first.text == "set" && len(words) > 2 && words[1].text == "require-order":
		o.free = words[2].text == "no"
	case first.text == "include":
		o.free = true // what it holds may set the option
	case place == 0:
	case place < o.reached:
		o.told = true
		s.rejected(Reject{Line: first.line, Span: first.span, certain: o.options,
			Reason: "out of order: pfctl of FreeBSD takes " + pfStageNames[place] + " only before " + pfStageNames[o.reached] +
				"; move the line up, or say set require-order no"})
	default:
		o.reached = place
	}
}

// pfParentheses rejects a parenthesis that has no other half. A statement that a program is still to fill in is left
// alone.
func (s *scanner) pfParentheses(words []word) {
	var open []word
	for _, w := range words {
		switch {
		case w.quoted:
		case strings.ContainsAny(w.text, "<%@`") && !strings.HasSuffix(w.text, ">"):
			return
		case w.text == "(":
			open = append(open, w)
		case w.text == ")" && len(open) == 0:
			s.reject(w.line, w.span, "this parenthesis closes nothing")
			return
		case w.text == ")":
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 && len(words) < maxVariables {
		s.reject(open[0].line, open[0].span, "this parenthesis is not closed in its statement")
	}
}

// comma rejects a comma in a list behind which no member comes: parse.y of pfctl takes line ends behind members alone.
func (p *pfLexer) comma(reason string) {
	if p.commaAt > 0 && p.braces > 0 && p.ends == pfEnds && !p.filled {
		p.s.reject(p.line, Span{p.commaAt, p.commaAt + 1}, reason)
	}
	p.commaAt = 0
}

// pfTemplate is a mark of a template of Jinja or ERB.
var pfTemplate = regexp.MustCompile(`\{%|\{\{|<%`)

// translates is a rule of pf.conf as only FreeBSD still has it, and translatesTo one of OpenBSD.
var (
	translates   = regexp.MustCompile(`(?m)^[ \t]*(?:nat|rdr|binat)[ \t].*->`)
	translatesTo = regexp.MustCompile(`(?m)^[ \t]*[^#\n]*[ \t](?:nat|rdr|binat)-to[ \t]`)
)
