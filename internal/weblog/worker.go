package weblog

import (
	"bytes"
	"math"

	"github.com/wirerate/wirerate/internal/weblog/latency"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// worker turns blocks of lines into counts. Each goroutine has its own.
type worker struct {
	lines  *logline.Decoder
	format *logline.Format
	opt    *Options
	sketch Sketch
	segs   latency.Segments
	raw    []rawSkip
	tally  tally // of lines without a request time

	// The first stamp and the latest of a stretch, 0 if there is none, and how many were
	// earlier than the one before.
	first, latest int64
	backward      uint64

	seg    *latency.Hist
	segEnd int64
}

func newWorker(f *logline.Format, opt *Options) *worker {
	w := &worker{opt: opt, format: f, lines: f.Decoder()}
	w.lines.Brief = !opt.Full && opt.Filter == nil && opt.each == nil && !f.Untimed
	if opt.Full {
		w.sketch.detail = newDetail()
	}
	w.seg, w.segEnd = w.segs.At(0)
	return w
}

// stretch is what the order of an input is told from: how many lines a block has, and its
// first and last stamp, 0 without any.
type stretch struct{ lines, first, last uint32 }

// stretch is block for blocks that do not follow each other.
func (w *worker) stretch(data []byte, pos int64, index int) stretch {
	w.first, w.latest = 0, 0
	n := w.block(data, pos, index)
	return stretch{n, stamp32(w.first), stamp32(w.latest)}
}

// stamp32 keeps stamps up to the year 2106, 0 for those that are beyond.
func stamp32(unix int64) uint32 {
	if unix < 0 || unix > math.MaxUint32 {
		return 0
	}
	return uint32(unix)
}

// block counts the lines of data, which starts at a line's beginning at
// position pos of all inputs. It returns the number of lines.
func (w *worker) block(data []byte, pos int64, index int) uint32 {
	lines := uint32(0)
	w.segEnd = 0
	for len(data) > 0 {
		line := data
		n := bytes.IndexByte(data, '\n')
		if n >= 0 {
			line = data[:n]
			data = data[n+1:]
		} else {
			n = len(data)
			data = nil
		}
		if pos >= w.segEnd {
			w.seg, w.segEnd = w.segs.At(pos)
		}
		lines++
		switch r, f := w.lines.Line(line); {
		case f != logline.FaultNone:
			w.skip(f, line, index, lines)
		case w.lines.Brief:
			w.count(r)
		default:
			w.request(r)
		}
		pos += int64(n) + 1
	}
	if w.opt.Full {
		w.sketch.detail.backward += w.backward
		w.backward = 0
	}
	return lines
}

func (w *worker) skip(f logline.Fault, line []byte, index int, number uint32) {
	if f == logline.FaultDirective {
		return
	}
	w.sketch.skipped[f]++
	if f == logline.FaultBlank || len(w.raw) >= maxExamples {
		return
	}
	w.raw = append(w.raw, rawSkip{block: index, line: uint64(number), fault: f,
		text: logline.Escape(string(line[:min(len(line), logline.MaxShown+1)]), logline.MaxShown)})
}

// request counts a request of which more than the brief is known, if the filter lets it through.
func (w *worker) request(r *logline.Request) {
	switch {
	case w.format.Untimed:
		w.tally.add(r)
		return
	case w.opt.Full:
		w.note(r)
	}
	if w.opt.Filter != nil && !w.opt.Filter.match(r) {
		w.sketch.Filtered++
		return
	}
	w.count(r)
}

// note takes in the order of the stamps.
func (w *worker) note(r *logline.Request) {
	if !r.HasStamp {
		return
	}
	if w.latest == 0 {
		w.first = r.Stamp.Unix
	}
	if r.Stamp.Unix < w.latest {
		w.backward++
	}
	w.latest = r.Stamp.Unix
}

// count counts a request.
func (w *worker) count(r *logline.Request) {
	s := &w.sketch
	if r.EndedEarly {
		s.addEnd(endName(r.End), 1)
	}
	if s.Step == 0 || r.Step < s.Step {
		s.Step = r.Step
	}
	s.Bytes += uint64(max(r.Size, 0))
	bin := latency.BinOf(r.Micros)
	s.Requests++
	s.Status[r.Status]++
	w.seg.AddTo(uint(bin), r.Micros)
	if w.opt.Full {
		s.detail.add(r, latency.CoarseOf[bin])
	}
	if w.opt.each != nil {
		w.opt.each(r)
	}
}
