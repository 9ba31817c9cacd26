package conffile

import (
	"slices"
	"strconv"
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
	case plain[0].text == "masquerade" && c.hook == "postrouting" && !c.spared:
		tell(Reject{Code: "harmful", Reason: "masquerade without oifname changes the source of connections through every interface",
			Because: "Those that come in from outside then seem to come from this machine, so that servers behind it do not see their clients; " +
				"name the interface to the outside: oifname \"DEV\" masquerade."})
	case slices.Contains(nftVerdicts, plain[0].text) && (len(plain) == 1 || plain[1].text == "with" || plain[1].text == "comment"):
		c.ended = first.line
	case acceptsNew(plain):
		c.begun = first.line
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
