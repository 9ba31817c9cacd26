package conffile

import (
	"slices"
	"strconv"
	"strings"
)

// nftVerdicts decide about a packet.
var nftVerdicts = []string{"accept", "drop", "reject", "return"}

// order tells a rule that no packet reaches, a segment size that no SYN reaches, and what masquerades everything.
func (f *nftFile) order(words []word) {
	c, first := f.chain, words[0]
	tell := func(r Reject) {
		r.Line, r.Span = first.line, Span{first.span.Start, words[len(words)-1].span.End}
		if !f.s.stopped {
			f.s.rejected(r)
		}
	}
	maxseg := slices.ContainsFunc(words, func(w word) bool { return w.text == "maxseg" })
	switch plain := nftPlain(words); {
	case c.ended > 0:
		tell(Reject{Idle: true, Reason: "no packet reaches this rule: line " + strconv.Itoa(c.ended) + " decides about all packets",
			Because: "The rules of a chain are tried in order, and a verdict ends the way through it. Put this one before it."})
	case c.begun > 0 && maxseg:
		tell(Reject{Idle: true, Reason: "no SYN reaches this rule: line " + strconv.Itoa(c.begun) + " accepts all new connections",
			Because: "accept ends the way through the chain, so that the segment size stays as it is. Put this rule before it."})
	case len(plain) == 0:
	case f.decided(words) > 0:
		tell(Reject{Idle: true, Reason: "no packet reaches this rule: line " + strconv.Itoa(f.decided(words)) + " decides about the same packets",
			Because: "The rules of a chain are tried in order, and a verdict ends the way through it. Keep one of the two."})
	case plain[0].text == "masquerade" && c.hook == "postrouting" && !c.spared:
		tell(Reject{Code: "harmful", Reason: "masquerade without oifname changes the source of connections through every interface",
			Because: allMasqueraded + "oifname \"DEV\" masquerade."})
	case slices.Contains(nftVerdicts, plain[0].text) && (len(plain) == 1 || plain[1].text == "with" || plain[1].text == "comment"):
		c.ended = first.line
	case acceptsNew(plain):
		c.begun = first.line
	}
	if match, verdict := nftMatch(words); match != "" && c.taken[match].line == 0 {
		keep(&c.taken, match, word{text: verdict, line: first.line})
	}
	c.spared = c.spared || slices.ContainsFunc(words, func(w word) bool {
		return slices.Contains(nftVerdicts, w.text) || w.text == "jump" || w.text == "goto" || w.text == "vmap"
	})
}

// nftPlain is a rule without its counter.
func nftPlain(words []word) []word {
	for len(words) > 0 && words[0].text == "counter" {
		words = words[1:]
		for len(words) > 1 && (words[0].text == "packets" || words[0].text == "bytes") {
			words = words[2:]
		}
	}
	return words
}

// acceptsNew reports a rule that accepts each new connection and asks for nothing else.
func acceptsNew(words []word) bool {
	if len(words) < 4 || words[0].text != "ct" || words[1].text != "state" || words[len(words)-1].text != "accept" {
		return false
	}
	states := words[2 : len(words)-1]
	return slices.ContainsFunc(states, func(w word) bool { return w.text == "new" }) && !slices.ContainsFunc(states, func(w word) bool {
		return !slices.Contains([]string{"new", "established", "related", "untracked", "counter"}, w.text)
	})
}

// decided is the line of an earlier rule with the same match and another verdict, 0 without one.
func (f *nftFile) decided(words []word) int {
	match, verdict := nftMatch(words)
	if earlier := f.chain.taken[match]; match != "" && earlier.text != verdict {
		return earlier.line
	}
	return 0
}

// nftUnsettled are words of matches that fit one packet and not the next one like it, or that other rules change.
var nftUnsettled = []string{"limit", "quota", "meter", "numgen", "random", "jhash", "symhash", "count", "add", "update", "mark", "priority",
	"set", "vmap", "map", "last", "jump", "goto", "continue", "queue", "time", "hour", "day"}

// nftMatch is what a rule asks of a packet and its verdict; "" where that is not plain.
func nftMatch(words []word) (match, verdict string) {
	for i := 0; i < len(words); i++ {
		switch text := words[i].text; {
		case slices.Contains(nftVerdicts, text):
			return match, text
		case slices.Contains(nftUnsettled, text) || text == "comment" || strings.HasPrefix(text, "@"):
			return "", ""
		case text == "counter":
			for i+2 < len(words) && (words[i+1].text == "packets" || words[i+1].text == "bytes") {
				i += 2
			}
		default:
			match += " " + text
		}
	}
	return "", ""
}
