package weblog

import "bytes"

// maxLine is the longest line that is read.
const maxLine = 1 << 20

// request is what a line says of a request. Its slices lie in the line.
type request struct {
	us, step uint64 // the request time and the log's resolution
	status   int    // 0: not known or no answer
	size     int64  // of the body or all that was sent; -1: not known

	// A Decoder that is brief leaves the rest out.

	method, path, proto   []byte
	client, cache, end    []byte
	stamp                 stamp
	upstream              uint64 // time in the server behind
	reuse                 int64  // requests before this one on its connection
	hasUpstream, hasReuse bool
	hasStamp              bool
	// endedEarly is set where the server says that the answer was cut short.
	endedEarly bool
}

// decoder takes lines of a format apart. It is used by one goroutine at a time.
type decoder struct {
	brief bool  // only times, status, size and early ends are asked for
	err   error // of a directive in the log

	clears    bool // spans of lines before are not kept: for Sensible
	format    *Format
	common    *linePlan // of lines that begin as the common log format's do, else nil
	plain     bool      // the request time is one field, in seconds
	rare      bool      // lines may have fields that decodeRare reads
	spans     spans
	unwrapped []byte // the line that unwrap took out
	req       request
	clock     clock
}

// Decoder returns what reads lines of the format.
func (f *Format) decoder() *decoder {
	d := new(decoder)
	d.use(f)
	return d
}

// use makes f the format of the lines that follow.
func (d *decoder) use(f *Format) {
	d.format, d.common = f, nil
	d.plain = f.Unit == Seconds && !f.has[roleDuration2] && !f.has[roleDuration3]
	if p, ok := f.ex.(*linePlan); ok && p.clf > 0 && p.behind == 0 && !f.untimed {
		d.common = p
	}
	d.rare = d.common == nil || f.has[roleCache] || f.has[roleReuse] || f.has[roleUpstream] || f.has[roleEnd]
	d.spans.clear()
	d.req = request{}
}

// line reads one line, without its end. The request is valid until the next.
func (d *decoder) line(line []byte) (*request, fault) {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if len(line) == 0 {
		return nil, faultBlank
	}
	if len(line) > maxLine {
		return nil, faultLong
	}
	if d.format.wrap != nil {
		text, ok := d.format.wrap.unwrap(line, &d.unwrapped)
		if !ok {
			return nil, faultShape
		}
		if len(text) == 0 {
			return nil, faultBlank
		}
		line = text
	}
	if d.format.directives && d.format.isDirective(line) {
		d.directive(string(line))
		return nil, faultDirective
	}
	r := &d.req
	if d.clears {
		d.spans.clear()
	}
	common := d.common != nil && d.common.common(line, r, &d.spans)
	if !common && !d.format.ex.extract(line, &d.spans) {
		return nil, faultShape
	}
	if ms, ok := thousandths(line, d.spans[roleDuration]); ok && d.plain {
		r.us, r.step = ms*1000, 1000
	} else if f := d.times(line); f != faultNone && !d.format.untimed {
		return nil, f
	}
	if !common && !d.answer(line) {
		return nil, faultShape
	}
	if d.rare {
		r.end = d.spans[roleEnd].of(line)
		r.endedEarly = len(r.end) > 0 && d.format.early != nil && d.format.early(r.end)
	}
	if !d.brief {
		d.rest(line)
	}
	return r, faultNone
}

// answer reads the status and the size.
func (d *decoder) answer(line []byte) (ok bool) {
	r := &d.req
	r.status, r.size = 0, -1
	if s := d.spans[roleStatus]; s.hi >= 0 {
		if r.status, ok = parseStatus(s.of(line)); !ok {
			return false
		}
	}
	if s := d.spans[roleBytes]; s.hi >= 0 {
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

// times reads the request time, which some formats split into parts.
func (d *decoder) times(line []byte) (f fault) {
	unit := d.format.Unit
	r := &d.req
	s := d.spans[roleDuration]
	if s.hi < 0 {
		return faultNoTime
	}
	if d.format.between {
		d.spans[roleTime] = d.spans[roleDuration2]
		r.step = 1
		r.us, f = elapsed(s.of(line), d.spans[roleDuration2].of(line))
		return f
	}
	r.us, r.step, f = parseMicros(s.of(line), unit)
	for _, part := range [...]role{roleDuration2, roleDuration3} {
		s := d.spans[part]
		if s.hi < 0 || f != faultNone {
			break
		}
		var more uint64
		more, _, f = parseMicros(s.of(line), unit)
		r.us += more
	}
	return f
}

// elapsed reads the request time as that between two moments.
func elapsed(end, begin []byte) (us uint64, f fault) {
	to, _, ok := momentMicros(end)
	from, _, also := momentMicros(begin)
	switch us := to - from; {
	case !ok || !also:
		return 0, faultNoTime
	case us < 0:
		return 0, faultNegative
	case us >= maxTime:
		return 0, faultAbsurd
	default:
		return uint64(us), faultNone
	}
}

// rest reads what a brief decoder leaves out.
func (d *decoder) rest(line []byte) {
	r := &d.req
	if s := d.spans[roleRequest]; s.hi >= 0 {
		r.method, r.path, r.proto = splitRequest(line[s.lo:s.hi])
	} else {
		r.method, r.path, r.proto = d.spans[roleMethod].of(line), d.spans[rolePath].of(line), d.spans[roleProto].of(line)
		if len(r.proto) > 0 && r.proto[0] <= '9' {
			r.proto = protoOfVersion(r.proto)
		}
	}
	r.client = d.spans[roleClient].of(line)
	r.hasStamp = false
	if s := d.spans[roleTime]; s.hi >= 0 {
		r.stamp, r.hasStamp = d.stamp(line, s)
	}
	if d.rare {
		d.restRare(line)
	}
}

// restRare reads what few formats have.
func (d *decoder) restRare(line []byte) {
	r := &d.req
	r.cache = d.spans[roleCache].of(line)
	if string(r.cache) == "-" {
		r.cache = nil
	}
	r.reuse, r.hasReuse = 0, false
	if s := d.spans[roleReuse]; s.hi >= 0 {
		n, known, ok := parseUint(s.of(line))
		r.reuse, r.hasReuse = n-d.format.firstReuse, known && ok
	}
	r.upstream, r.hasUpstream = 0, false
	if s := d.spans[roleUpstream]; s.hi >= 0 {
		r.upstream, r.hasUpstream = parseList(s.of(line), d.format.upstreamUnit)
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
func (d *decoder) stamp(line []byte, s span) (stamp, bool) {
	t := d.spans[roleTime2]
	if t.hi < 0 {
		return d.clock.parse(s.of(line))
	}
	var both [32]byte
	text := append(append(append(both[:0], s.of(line)...), ' '), t.of(line)...)
	st, ok := d.clock.parse(text)
	st.local = false
	return st, ok
}

// version is HTTP/n.n, without the digits, as eight bytes.
const (
	version     = '.'<<48 | '/'<<32 | 'P'<<24 | 'T'<<16 | 'T'<<8 | 'H'
	versionMask = 0xff<<48 | 0xff_ffff_ffff
)

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
func (d *decoder) directive(line string) {
	f, err := d.format.withDirective(trimMark(line))
	if err != nil {
		if d.err == nil {
			d.err = err
		}
		return
	}
	if f != d.format {
		d.use(f)
	}
}

// Sensible reports whether the fields found in the last line hold what they should.
func (d *decoder) Sensible(line []byte) bool {
	if s := d.spans[roleTime]; s.hi >= 0 && len(s.of(line)) > 0 {
		if _, ok := d.stamp(line, s); !ok {
			return false
		}
	}
	if bytes.IndexByte(d.spans[roleClient].of(line), ' ') >= 0 || !plainTimes(d.spans[roleUpstream].of(line)) {
		return false
	}
	if s := d.spans[roleStatus]; s.hi >= 0 {
		if n, ok := parseStatus(s.of(line)); !ok || n != 0 && n < 100 || n > 599 {
			return false
		}
	}
	if s := d.spans[roleRequest]; s.hi >= 0 {
		b := s.of(line)
		return looksLikeRequest(b) || len(b) == 0 || b[0] == '-' || b[0] == '<'
	}
	if s := d.spans[roleMethod]; s.hi >= 0 {
		m := s.of(line)
		return len(m) == 0 || string(m) == "-" || m[0] >= 'A' && m[0] <= 'Z'
	}
	return true
}

// plainTimes reports whether b could be an upstream time or a list of them: other
// text is a sign of fields that lie one further on than they were taken to.
func plainTimes(b []byte) bool {
	for i, c := range b {
		if c == '"' || c == ' ' && !inList(b, 0, i) && !(i > 0 && b[i-1] == ':') {
			return false
		}
	}
	return true
}

// looksLikeRequest reports whether b is METHOD target [protocol].
func looksLikeRequest(b []byte) bool {
	i := bytes.IndexByte(b, ' ')
	if i < 3 || i == len(b)-1 {
		return false
	}
	for _, c := range b[:i] {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	c := b[i+1]
	return c == '/' || c == '*' || bytes.Contains(b[i:], []byte("://")) || string(b[:i]) == "CONNECT"
}
