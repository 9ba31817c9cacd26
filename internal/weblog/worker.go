package weblog

import (
	"bytes"
	"math"
)

// maxLine is the longest line that is read.
const maxLine = 1 << 20

// request is one log line, decoded.
type request struct {
	us, upstream          uint64
	coarse                uint16 // of us, a group's
	hasUpstream, hasReuse bool
	hasStamp              bool
	stamp                 stamp
	status                int
	size                  int64 // -1 when unknown
	reuse                 int64
	class                 class // of method and proto
	method, path, proto   []byte
	client, cache, end    []byte
}

// worker turns blocks of lines into counts. Each goroutine has its own.
type worker struct {
	format *Format
	opt    *Options
	sketch Sketch
	segs   segments
	raw    []rawSkip
	err    error // of a directive in the log
	tally  tally // of lines without a request time

	spans     spans
	unwrapped []byte // the line that unwrap took out
	req       request
	clock     clock
	// The first stamp and the latest of a stretch, 0 if there is none, and how many were
	// earlier than the one before.
	first, latest int64
	backward      uint64
	rare          bool      // lines may have fields that decodeRare reads
	short         *linePlan // of lines that countShort counts; nil: there are none

	seg    *Hist
	segEnd int64
}

func newWorker(f *Format, opt *Options) *worker {
	w := &worker{opt: opt}
	w.use(f)
	if opt.Full {
		w.sketch.detail = newDetail()
	}
	w.seg, w.segEnd = w.segs.at(0)
	return w
}

// use makes f the format of the lines that follow.
func (w *worker) use(f *Format) {
	w.format = f.settled()
	w.rare = w.format.common == nil || f.has[roleCache] || f.has[roleReuse] || f.has[roleUpstream] || f.has[roleEnd]
	w.short = nil
	if p := w.format.common; p != nil && p.isShort() && w.format.plainSeconds && w.format.wrap == nil && !w.format.directives && w.opt.Filter == nil && w.opt.each == nil {
		w.short = p
	}
	w.spans.clear()
	w.req = request{}
}

// stretch is what the order of an input is told from: how many lines a block has, and its
// first and last stamp, 0 without any.
type stretch struct{ lines, first, last uint32 }

// stretch is block for blocks that do not follow each other.
func (w *worker) stretch(data []byte, pos int64, index int) stretch {
	w.first, w.latest = 0, 0
	w.clock.forget() // a stamp read again is that of w.latest
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
		if w.short != nil && w.countShort(line) {
			pos += int64(n) + 1
			continue
		}
		if f := w.line(line); f != faultNone {
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
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if len(line) == 0 {
		return faultBlank
	}
	if len(line) > maxLine {
		return faultLong
	}
	if w.format.wrap != nil {
		text, ok := w.format.wrap.unwrap(line, &w.unwrapped)
		if !ok {
			return faultShape
		}
		if len(text) == 0 {
			return faultBlank
		}
		line = text
	}
	if w.format.directives && w.format.isDirective(line) {
		w.directive(string(line))
		return faultNone
	}
	r := &w.req
	common := w.format.common != nil && w.format.common.common(line, r, &w.spans)
	if !common && !w.format.ex.extract(line, &w.spans) {
		return faultShape
	}
	if w.format.untimed {
		return w.tally.add(w, line)
	}
	step := uint64(1000)
	if ms, ok := thousandths(line, w.spans[roleDuration]); ok && w.format.plainSeconds {
		r.us = ms * 1000
	} else {
		var f fault
		if step, f = w.times(line); f != faultNone {
			return f
		}
	}
	if !common && !w.answer(line) {
		return faultShape
	}
	if w.rare {
		r.end = w.spans[roleEnd].of(line)
	}
	if w.opt.Full || w.opt.Filter != nil || w.opt.each != nil {
		w.decode(line)
		if !w.opt.Filter.match(r) {
			w.sketch.Filtered++
			return faultNone
		}
	}
	w.count(step)
	return faultNone
}

// answer reads the status and the size.
func (w *worker) answer(line []byte) (ok bool) {
	r := &w.req
	r.status, r.size = 0, -1
	if s := w.spans[roleStatus]; s.hi >= 0 {
		if r.status, ok = parseStatus(s.of(line)); !ok {
			return false
		}
	}
	if s := w.spans[roleBytes]; s.hi >= 0 {
		if n, ok := smallNumber(line, s); ok {
			r.size = int64(n)
		} else if r.size, ok = parseSize(s.of(line)); !ok {
			return false
		}
	}
	return true
}

// parseSize reads a number of bytes; -1 is one that was not measured. HAProxy's
// logasap marks a running total with "+".
func parseSize(b []byte) (size int64, ok bool) {
	n, known, ok := parseUint(bytes.TrimPrefix(b, []byte("+")))
	if !known {
		n = -1
	}
	return n, ok
}

// count counts the decoded request.
func (w *worker) count(step uint64) {
	r := &w.req
	if len(r.end) > 0 && w.format.early != nil && w.format.early(r.end) {
		w.sketch.addEnd(endName(r.end), 1)
	}
	bin := w.enter(r.us, uint64(max(r.size, 0)), r.status, step)
	if w.opt.Full {
		r.coarse = coarseOf[bin]
		w.sketch.detail.add(r)
	}
	if w.opt.each != nil {
		w.opt.each(r)
	}
}

// enter counts a request in what is kept of all. It returns the bin of its time.
func (w *worker) enter(us, size uint64, status int, step uint64) (bin int) {
	s := &w.sketch
	if s.Step == 0 || step < s.Step {
		s.Step = step
	}
	s.Bytes += size
	s.Requests++
	s.Status[status]++
	bin = binOf(us)
	w.seg.addTo(uint(bin), us)
	return bin
}

// times reads the request time, which some formats split into parts.
func (w *worker) times(line []byte) (step uint64, f fault) {
	unit := w.format.Unit
	r := &w.req
	d := w.spans[roleDuration]
	if d.hi < 0 {
		return 0, faultNoTime
	}
	if w.format.between {
		w.spans[roleTime] = w.spans[roleDuration2]
		return w.elapsed(d.of(line), w.spans[roleDuration2].of(line))
	}
	r.us, step, f = parseMicros(d.of(line), unit)
	for _, part := range [...]role{roleDuration2, roleDuration3} {
		s := w.spans[part]
		if s.hi < 0 || f != faultNone {
			break
		}
		var more uint64
		more, _, f = parseMicros(s.of(line), unit)
		r.us += more
	}
	return step, f
}

// elapsed reads the request time as that between two moments.
func (w *worker) elapsed(end, begin []byte) (step uint64, f fault) {
	to, _, ok := momentMicros(end)
	from, _, also := momentMicros(begin)
	switch us := to - from; {
	case !ok || !also:
		return 0, faultNoTime
	case us < 0:
		return 0, faultNegative
	case us >= MaxMicros:
		return 0, faultAbsurd
	default:
		w.req.us = uint64(us)
		return 1, faultNone
	}
}

// decode fills in the rest of the request.
func (w *worker) decode(line []byte) {
	r := &w.req
	if s := w.spans[roleRequest]; s.hi < 0 {
		r.method, r.path, r.proto = w.spans[roleMethod].of(line), w.spans[rolePath].of(line), w.spans[roleProto].of(line)
		if len(r.proto) > 0 && r.proto[0] <= '9' {
			r.proto = protoOfVersion(r.proto)
		}
		r.class = classOf(r.method, r.proto)
	} else {
		r.method, r.path, r.proto, r.class = requestParts(line[s.lo:s.hi])
	}
	r.client = w.spans[roleClient].of(line)
	if s := w.spans[roleTime]; s.hi >= 0 && w.clock.again(s.of(line)) {
		r.stamp, r.hasStamp = w.clock.last, true
	} else {
		w.decodeStamp(line)
	}
	if w.rare {
		w.decodeRare(line)
	}
}

// decodeStamp reads the time stamp.
func (w *worker) decodeStamp(line []byte) {
	r := &w.req
	r.hasStamp = false
	if s := w.spans[roleTime]; s.hi >= 0 {
		r.stamp, r.hasStamp = w.stamp(line, s)
	}
	if r.hasStamp {
		if w.latest == 0 {
			w.first = r.stamp.unix
		}
		if r.stamp.unix < w.latest {
			w.backward++
		}
		w.latest = r.stamp.unix
	}
}

// decodeRare reads what few formats have.
func (w *worker) decodeRare(line []byte) {
	r := &w.req
	r.cache = w.spans[roleCache].of(line)
	if string(r.cache) == "-" {
		r.cache = nil
	}
	r.reuse, r.hasReuse = 0, false
	if s := w.spans[roleReuse]; s.hi >= 0 {
		n, known, ok := parseUint(s.of(line))
		r.reuse, r.hasReuse = n-w.format.firstReuse, known && ok
	}
	r.upstream, r.hasUpstream = 0, false
	if s := w.spans[roleUpstream]; s.hi >= 0 {
		r.upstream, r.hasUpstream = parseList(s.of(line), w.format.upstreamUnit)
	}
}

// protoOfVersion is the protocol of a bare version number ("1.1").
func protoOfVersion(b []byte) []byte {
	switch string(b) {
	case "1.1":
		return []byte("HTTP/1.1")
	case "1.0":
		return []byte("HTTP/1.0")
	case "2", "2.0":
		return []byte("HTTP/2.0")
	case "3", "3.0":
		return []byte("HTTP/3.0")
	}
	return b
}

// stamp reads the time stamp: one field, or W3C's date and time in UTC.
func (w *worker) stamp(line []byte, s span) (stamp, bool) {
	t := w.spans[roleTime2]
	if t.hi < 0 {
		return w.clock.parse(s.of(line))
	}
	var both [32]byte
	text := append(append(append(both[:0], s.of(line)...), ' '), t.of(line)...)
	st, ok := w.clock.parse(text)
	st.local = false
	return st, ok
}

// version is HTTP/n.n, without the digits, as eight bytes.
const (
	version     = '.'<<48 | '/'<<32 | 'P'<<24 | 'T'<<16 | 'T'<<8 | 'H'
	versionMask = 0xff<<48 | 0xff_ffff_ffff
)

// requestParts takes a request line apart and classifies it.
func requestParts(b []byte) (method, path, proto []byte, c class) {
	method, path, proto = splitRequest(b)
	return method, path, proto, classOf(method, proto)
}

// splitRequest takes a request line apart; a target with blanks in it keeps
// them.
func splitRequest(b []byte) (method, path, proto []byte) {
	if n := len(b); n >= 16 {
		m := first(word(b, 0), spaces)
		if x := word(b, n-8); m < 8 && m < n-9 && x&versionMask == version && b[n-9] == ' ' && b[n-3] != ' ' && b[n-1] != ' ' {
			return b[:m], b[m+1 : n-9], b[n-8:]
		}
	}
	b = bytes.TrimSuffix(b, []byte{'"'})
	i := bytes.IndexByte(b, ' ')
	if i < 0 {
		return nil, b, nil
	}
	method, path = b[:i], b[i+1:]
	if j := len(path) - len(" HTTP/1.1"); j >= 0 && path[j] == ' ' && hasPrefix(path[j+1:], "HTTP/") && bytes.IndexByte(path[j+6:], ' ') < 0 {
		return method, path[:j], path[j+1:]
	}
	if j := bytes.LastIndexByte(path, ' '); j >= 0 && hasPrefix(path[j+1:], "HTTP/") {
		path, proto = path[:j], path[j+1:]
	}
	return method, path, proto
}

// parseList sums the times of nginx's upstream variables: several servers were
// asked in turn ("0.002, 0.100"), or after an internal redirect (" : ").
func parseList(b []byte, unit Unit) (us uint64, ok bool) {
	for len(b) > 0 {
		i := 0
		for i < len(b) && b[i] != ',' && b[i] != ' ' {
			i++
		}
		if v, _, f := parseMicros(b[:i], unit); f == faultNone {
			us, ok = us+v, true
		}
		for i < len(b) && (b[i] == ',' || b[i] == ' ' || b[i] == ':') {
			i++
		}
		b = b[i:]
	}
	return us, ok
}

// directive takes in a W3C line that begins with #.
func (w *worker) directive(line string) {
	f, err := w.format.withDirective(trimMark(line))
	if err != nil {
		if w.err == nil {
			w.err = err
		}
		return
	}
	if f != w.format {
		w.use(f)
	}
}
