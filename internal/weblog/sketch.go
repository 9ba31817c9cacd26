package weblog

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/weblog/latency"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// Sketch is what is kept of a log: exact counts at fixed memory. Sketches of
// different logs merge into the sketch of all of them.
type Sketch struct {
	Inputs   []Input
	Requests uint64 // lines counted
	Filtered uint64 // requests that a filter left out
	Bytes    uint64 // sent in the requests counted
	Status   [1000]uint64
	Step     uint64 // resolution of the times, us; 0 while there are none

	skipped  [logline.NumFaults]uint64
	ends     map[string]uint64 // requests that ended early, by how
	examples []Skip
	// clusters are the times of consecutive parts of the log; their sum is the
	// whole distribution.
	clusters []*latency.Hist
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
	return strings.ReplaceAll(logline.Escape(err.Error(), 1024), `\\`, `\`)
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
	for f := logline.FaultShape; f < logline.NumFaults; f++ {
		if f != logline.FaultBlank {
			n += s.skipped[f]
		}
	}
	return n
}

// Times returns the distribution of all request times in us.
func (s *Sketch) Times() *latency.Hist {
	h := new(latency.Hist)
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
		own := new(latency.Hist)
		own.Merge(c)
		s.clusters = append(s.clusters, own)
	}
	s.clusters = latency.ReduceClusters(s.clusters)
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

const maxExamples = 3

// rawSkip is an example as a worker meets it: the line is counted from the
// start of its block.
type rawSkip struct {
	block int
	line  uint64
	fault logline.Fault
	text  string
}

// placeSkips gives the first examples their line numbers. stretches are of
// all blocks.
func placeSkips(input string, raw []rawSkip, stretches []stretch) []Skip {
	slices.SortFunc(raw, func(a, b rawSkip) int {
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.line, b.line))
	})
	var out []Skip
	for _, r := range raw[:min(len(raw), maxExamples)] {
		n := r.line
		for _, p := range stretches[:r.block] {
			n += uint64(p.lines)
		}
		out = append(out, Skip{Input: input, Line: n, Reason: logline.FaultTexts[r.fault], Text: r.text})
	}
	return out
}

// maxEnds bounds the names of ends kept apart. If there are more, none is.
const maxEnds = 64

// endsOther names what is not kept apart.
const endsOther = "(other)"

// addEnd counts n requests that ended early in the way of the given name.
func (s *Sketch) addEnd(name string, n uint64) {
	if s.ends == nil {
		s.ends = map[string]uint64{}
	}
	_, known := s.ends[name]
	_, joined := s.ends[endsOther]
	if !joined && !known && (name == endsOther || len(s.ends) >= maxEnds) {
		for _, more := range s.ends {
			n += more
		}
		clear(s.ends)
		joined = true
	}
	if joined {
		name = endsOther
	}
	s.ends[name] += n
}

// endName is what an end is called in reports: the two letters of HAProxy that
// say who and when, without those of cookies.
func endName(b []byte) string {
	if len(b) == 4 && (b[2] == '-' || b[3] == '-' || bytes.IndexByte(b, ',') < 0) {
		b = b[:2]
	}
	return logline.Escape(string(b), 32)
}
