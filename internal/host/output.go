package host

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What is kept of an answer, in bytes.
const (
	readLimit = 64 << 20  // of a file or of what a command prints
	saidLimit = 1 << 20   // of what it says on standard error
	heldLimit = 256 << 20 // of all answers to one batch
)

// tooLong is said of an answer that was cut.
const tooLong = "more than 64 MiB of output: the rest is left out"

// tooMuch is said of answers behind those that were as much as is kept.
const tooMuch = "left out: the answers before it were more than 256 MiB"

// bounded keeps the beginning of what is written to it.
type bounded struct {
	kept  bytes.Buffer // not embedded: its ReadFrom knows no limit
	limit int
	cut   bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - b.kept.Len(); len(p) > room {
		b.cut = true
		b.kept.Write(p[:room])
		return len(p), nil
	}
	return b.kept.Write(p)
}

// batchReader takes the answers out of a batch script's output as it comes.
type batchReader struct {
	mark    string
	ops     []Op
	answers []Answer
	begun   bool
	next    func() // is called when the script began, and after each answer

	buf  []byte // what came of the next answer
	seen int    // how much of buf was searched
	cut  bool   // the middle of buf is left out
	held int    // bytes of the answers
}

// done tells whether every operation is answered, or one marked Must failed.
func (r *batchReader) done() bool { return r.begun && len(r.answers) == len(r.ops) }

// Write takes output in pieces of any size.
func (r *batchReader) Write(p []byte) (int, error) {
	r.buf = append(r.buf, p...)
	for !r.done() && r.take() {
		if r.next != nil {
			r.next()
		}
	}
	if limit := readLimit + 2*saidLimit; len(r.buf) > limit {
		kept := readLimit + 1
		if !r.begun {
			kept = 0
		}
		tail := len(r.buf) - saidLimit
		r.buf = append(r.buf[:kept], r.buf[tail:]...)
		r.seen, r.cut = max(kept, r.seen-tail+kept), r.begun
	}
	return len(p), nil
}

// take takes one answer, or the line before all of them, off the buffer.
func (r *batchReader) take() bool {
	end := "\n" + r.mark + " end\n"
	if !r.begun {
		end = "\n" + r.mark + " begin\n"
	}
	at := bytes.Index(r.buf[r.seen:], []byte(end))
	if at < 0 {
		r.seen = max(r.seen, len(r.buf)-len(end)+1)
		return false
	}
	section := r.buf[:r.seen+at]
	r.buf = slices.Clone(r.buf[r.seen+at+len(end):])
	r.seen = 0
	if !r.begun {
		r.begun = true
		return true
	}
	r.answer(section)
	return true
}

// answer reads one section: output, a line "MARK STATUS", standard error.
func (r *batchReader) answer(section []byte) {
	a := Answer{Op: r.ops[len(r.answers)]}
	output, report, _ := bytes.Cut(section, []byte("\n"+r.mark+" "))
	status, stderr, _ := strings.Cut(string(report), "\n")
	st, err := strconv.Atoi(status)
	a.Out, a.Stderr, a.Status = slices.Clip(output), stderr, st
	switch {
	case r.cut || len(output) > readLimit:
		a.Out, a.Stderr, a.Failure = a.Out[:min(len(a.Out), readLimit)], tooLong, Failed
	case err != nil:
		a.Failure, a.Stderr = Failed, fmt.Sprintf("no exit status, %q instead", status)
	case st != 0:
		a.Failure = Classify(stderr)
	}
	r.cut = false
	if len(a.Stderr) > saidLimit {
		a.Stderr = strings.Clone(a.Stderr[:saidLimit])
	}
	if r.held += len(a.Out) + len(a.Stderr); r.held > heldLimit {
		a.Out, a.Stderr, a.Failure = nil, tooMuch, Failed
	}
	r.add(a)
}

// add adds an answer; those after one that failed and is marked Must are
// skipped.
func (r *batchReader) add(a Answer) {
	r.answers = append(r.answers, a)
	if a.Failure == None || !a.Op.Must {
		return
	}
	for _, op := range r.ops[len(r.answers):] {
		r.answers = append(r.answers, Answer{Op: op, Failure: Skipped})
	}
}
