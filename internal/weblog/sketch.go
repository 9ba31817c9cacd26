package weblog

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"sort"
	"strings"
)

// maxClusters is how many parts of a log are kept apart to judge how much the
// distribution varies within it.
const maxClusters = 64

// Sketch is what is kept of a log: exact counts at fixed memory. Sketches of
// different logs merge into the sketch of all of them.
type Sketch struct {
	Inputs   []Input
	Requests uint64 // lines counted
	Filtered uint64 // requests that a filter left out
	Bytes    uint64 // sent in the requests counted
	Status   [1000]uint64
	Step     uint64 // resolution of the times, us; 0 while there are none

	skipped  [numFaults]uint64
	ends     map[string]uint64 // requests that ended early, by how
	examples []Skip
	// clusters are the times of consecutive parts of the log; their sum is the
	// whole distribution.
	clusters []*Hist
	detail   *detail
}

// Input is one log that went into a sketch.
type Input struct {
	Name   string // "-" is standard input
	Format string
	Note   string // what detection assumed
	Lines  uint64
	Err    error // why the input was not read, or not to its end

	mark string // of saved counts; see Sketch.mark
}

// Problem says for people what kept the input from being read to its end, empty
// if nothing did. It is safe to print: what it quotes of a log is escaped already.
func (in *Input) Problem() string {
	err := in.Err
	if err == nil {
		return ""
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err // the name is said by who prints it
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "the compressed data end too early; what came before is counted"
	}
	return strings.ReplaceAll(Escape(err.Error(), 1024), `\\`, `\`)
}

// Skip is a line that gave no request.
type Skip struct {
	Input  string `json:"input"`
	Line   uint64 `json:"line"` // from 1
	Reason string `json:"reason"`
	Text   string `json:"text"` // escaped, cut
}

// Skipped returns how many lines gave no request. Blank lines are not counted.
func (s *Sketch) Skipped() uint64 {
	var n uint64
	for f := faultShape; f < numFaults; f++ {
		if f != faultBlank {
			n += s.skipped[f]
		}
	}
	return n
}

// Times returns the distribution of all request times in us.
func (s *Sketch) Times() *Hist {
	h := new(Hist)
	for _, c := range s.clusters {
		h.Merge(c)
	}
	return h
}

// Merge adds o, which stays as it is. The examples of s come first.
func (s *Sketch) Merge(o *Sketch) {
	s.Inputs = append(s.Inputs, o.Inputs...)
	s.add(o)
	s.examples = append(s.examples, o.examples...)
	s.examples = s.examples[:min(len(s.examples), maxExamples)]
	for _, c := range o.clusters {
		own := new(Hist)
		own.Merge(c)
		s.clusters = append(s.clusters, own)
	}
	s.clusters = reduceClusters(s.clusters)
}

// add adds the counts of o that no position belongs to.
func (s *Sketch) add(o *Sketch) {
	s.Requests += o.Requests
	s.Filtered += o.Filtered
	s.Bytes += o.Bytes
	for i, n := range o.Status {
		s.Status[i] += n
	}
	for i, n := range o.skipped {
		s.skipped[i] += n
	}
	for name, n := range o.ends {
		s.addEnd(name, n)
	}
	if s.Step == 0 || o.Step != 0 && o.Step < s.Step {
		s.Step = o.Step
	}
	if o.detail != nil {
		if s.detail == nil {
			s.detail = newDetail()
		}
		s.detail.merge(o.detail)
	}
}

// reduceClusters joins neighbours, those of the fewest requests first, until there are
// at most maxClusters. Each is then worth about the same, however many sketches were
// merged one after the other.
func reduceClusters(c []*Hist) []*Hist {
	for len(c) > maxClusters {
		least := 0
		for i := range len(c) - 1 {
			if c[i].n+c[i+1].n < c[least].n+c[least+1].n {
				least = i
			}
		}
		c[least].Merge(c[least+1])
		c = slices.Delete(c, least+1, least+2)
	}
	return c
}

// segments are the clusters of a log while it is read: its times by position
// in the input, 2^shift bytes to each. When the input outgrows them, their
// width doubles, so that any log ends with 32 to 64 (if it has as many lines).
type segments struct {
	shift uint
	hists [maxClusters]*Hist
}

// at returns the histogram for the line at pos and the position of its end.
func (s *segments) at(pos int64) (*Hist, int64) {
	for pos>>s.shift >= maxClusters {
		s.widen()
	}
	i := pos >> s.shift
	if s.hists[i] == nil {
		s.hists[i] = new(Hist)
	}
	return s.hists[i], (i + 1) << s.shift
}

func (s *segments) widen() {
	s.shift++
	for i := range s.hists {
		j := i / 2
		h := s.hists[i]
		if i == j || h == nil {
			continue
		}
		s.hists[i] = nil
		if s.hists[j] == nil {
			s.hists[j] = h
		} else {
			s.hists[j].Merge(h)
		}
	}
}

// merge adds o, whose widths may differ. o is used up.
func (s *segments) merge(o *segments) {
	for s.shift < o.shift {
		s.widen()
	}
	for o.shift < s.shift {
		o.widen()
	}
	for i, h := range o.hists {
		if h == nil {
			continue
		}
		if s.hists[i] == nil {
			s.hists[i] = h
		} else {
			s.hists[i].Merge(h)
		}
	}
}

// list returns the clusters in order.
func (s *segments) list() []*Hist {
	var out []*Hist
	for _, h := range s.hists {
		if h != nil && h.n > 0 {
			out = append(out, h)
		}
	}
	return out
}

const maxExamples = 3

// rawSkip is an example as a worker meets it: the line is counted from the
// start of its block.
type rawSkip struct {
	block int
	line  uint64
	fault fault
	text  string
}

// placeSkips gives the first examples their line numbers. stretches are of
// all blocks.
func placeSkips(input string, raw []rawSkip, stretches []stretch) []Skip {
	sort.Slice(raw, func(i, j int) bool {
		if raw[i].block != raw[j].block {
			return raw[i].block < raw[j].block
		}
		return raw[i].line < raw[j].line
	})
	var out []Skip
	for _, r := range raw[:min(len(raw), maxExamples)] {
		n := r.line
		for _, p := range stretches[:r.block] {
			n += uint64(p.lines)
		}
		out = append(out, Skip{Input: input, Line: n, Reason: faultTexts[r.fault], Text: r.text})
	}
	return out
}
