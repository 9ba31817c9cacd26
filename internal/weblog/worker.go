package weblog

import (
	"bytes"
	"math"
)

// worker turns blocks of lines into counts. Each goroutine has its own.
type worker struct {
	lines  *decoder
	format *Format
	opt    *Options
	sketch Sketch
	segs   segments
	raw    []rawSkip
	tally  tally // of lines without a request time

	// The first stamp and the latest of a stretch, 0 if there is none, and how many were
	// earlier than the one before.
	first, latest int64
	backward      uint64

	seg    *Hist
	segEnd int64
}

func newWorker(f *Format, opt *Options) *worker {
	w := &worker{opt: opt, format: f, lines: f.decoder()}
	w.lines.brief = !opt.Full && opt.Filter == nil && opt.each == nil && !f.untimed
	if opt.Full {
		w.sketch.detail = newDetail()
	}
	w.seg, w.segEnd = w.segs.at(0)
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
			w.seg, w.segEnd = w.segs.at(pos)
		}
		lines++
		if f := w.line(line); f != faultNone && f != faultDirective {
			w.skip(f, line, index, lines)
		}
		pos += int64(n) + 1
	}
	if w.opt.Full {
		w.sketch.detail.flush()
		w.sketch.detail.backward += w.backward
		w.backward = 0
	}
	return lines
}

func (w *worker) skip(f fault, line []byte, index int, number uint32) {
	w.sketch.skipped[f]++
	if f == faultBlank || len(w.raw) >= maxExamples {
		return
	}
	w.raw = append(w.raw, rawSkip{block: index, line: uint64(number), fault: f, text: Escape(string(line[:min(len(line), maxShown+1)]), maxShown)})
}

// line counts one line.
func (w *worker) line(line []byte) fault {
	r, f := w.lines.line(line)
	switch {
	case f != faultNone:
		return f
	case w.format.untimed:
		w.tally.add(r)
		return faultNone
	case w.opt.Full:
		w.note(r)
	}
	if !w.opt.Filter.match(r) {
		w.sketch.Filtered++
		return faultNone
	}
	w.count(r)
	return faultNone
}

// note takes in the order of the stamps.
func (w *worker) note(r *request) {
	if !r.hasStamp {
		return
	}
	if w.latest == 0 {
		w.first = r.stamp.unix
	}
	if r.stamp.unix < w.latest {
		w.backward++
	}
	w.latest = r.stamp.unix
}

// count counts a request.
func (w *worker) count(r *request) {
	s := &w.sketch
	if r.endedEarly {
		s.addEnd(endName(r.end), 1)
	}
	if s.Step == 0 || r.step < s.Step {
		s.Step = r.step
	}
	s.Requests++
	s.Bytes += uint64(max(r.size, 0))
	s.Status[r.status]++
	bin := binOf(r.us)
	w.seg.addTo(uint(bin), r.us)
	if w.opt.Full {
		s.detail.add(r, coarseOf[bin])
	}
	if w.opt.each != nil {
		w.opt.each(r)
	}
}
