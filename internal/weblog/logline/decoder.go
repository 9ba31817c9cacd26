package logline

import "bytes"

// MaxLine is the longest line that is read.
const MaxLine = 1 << 20

// Request is what a line says of a request. Its slices lie in the line.
type Request struct {
	Micros, Step uint64 // the request time and the log's resolution
	Status       int    // 0: not known or no answer
	Size         int64  // of the body or all that was sent; -1: not known

	// A Decoder that is brief leaves the rest out.

	Method, Path, Proto   []byte
	Client, Cache, End    []byte
	Stamp                 Stamp
	Upstream              uint64 // time in the server behind
	Reuse                 int64  // requests before this one on its connection
	HasUpstream, HasReuse bool
	HasStamp              bool
	// EndedEarly is set where the server says that the answer was cut short.
	EndedEarly bool
}

// Decoder takes lines of a format apart. It is used by one goroutine at a time.
type Decoder struct {
	Brief bool  // only times, status, size and early ends are asked for
	Err   error // of a directive in the log

	Clears    bool // spans of lines before are not kept: for Sensible
	Format    *Format
	common    *linePlan // of lines that begin as the common log format's do, else nil
	short     *linePlan // of lines that readShort reads, else nil
	plain     bool      // the request time is one field, in seconds
	rare      bool      // lines may have fields that decodeRare reads
	spans     spans
	unwrapped []byte // the line that unwrap took out
	Req       Request
	clock     Clock
}

// Decoder returns what reads lines of the format.
func (f *Format) Decoder() *Decoder {
	d := new(Decoder)
	d.use(f)
	return d
}

// use makes f the format of the lines that follow.
func (d *Decoder) use(f *Format) {
	d.Format, d.common, d.short = f, nil, nil
	d.plain = f.Unit == Seconds && !f.has[RoleDuration2] && !f.has[RoleDuration3]
	if p, ok := f.ex.(*linePlan); ok && p.clf > 0 && p.behind == 0 && !f.Untimed {
		d.common = p
	}
	d.rare = d.common == nil || f.has[RoleCache] || f.has[roleReuse] || f.has[RoleUpstream] || f.has[RoleEnd]
	if d.common != nil && d.plain && !d.rare && d.common.isShort() && f.wrap == nil && !f.Directives {
		d.short = d.common
	}
	d.spans.clear()
	d.Req = Request{}
}

// Line reads one line, without its end. The request is valid until the next.
func (d *Decoder) Line(line []byte) (*Request, Fault) {
	if d.short != nil && !d.Clears && d.readShort(line) {
		return &d.Req, FaultNone
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if len(line) == 0 {
		return nil, FaultBlank
	}
	if len(line) > MaxLine {
		return nil, FaultLong
	}
	if d.Format.wrap != nil {
		text, ok := d.Format.wrap.Unwrap(line, &d.unwrapped)
		if !ok {
			return nil, FaultShape
		}
		if len(text) == 0 {
			return nil, FaultBlank
		}
		line = text
	}
	if d.Format.Directives && d.Format.isDirective(line) {
		d.directive(string(line))
		return nil, FaultDirective
	}
	r := &d.Req
	if d.Clears {
		d.spans.clear()
	}
	common := d.common != nil && d.common.common(line, r, &d.spans)
	if !common && !d.Format.ex.extract(line, &d.spans) {
		return nil, FaultShape
	}
	if f := d.times(line); f != FaultNone && !d.Format.Untimed {
		return nil, f
	}
	if !common && !d.answer(line) {
		return nil, FaultShape
	}
	if d.rare {
		r.End = d.spans[RoleEnd].of(line)
		r.EndedEarly = len(r.End) > 0 && d.Format.early != nil && d.Format.early(r.End)
	}
	if !d.Brief {
		d.rest(line)
	}
	return r, FaultNone
}

// answer reads the status and the size.
func (d *Decoder) answer(line []byte) (ok bool) {
	r := &d.Req
	r.Status, r.Size = 0, -1
	if s := d.spans[RoleStatus]; s.hi >= 0 {
		if r.Status, ok = ParseStatus(s.of(line)); !ok {
			return false
		}
	}
	if s := d.spans[RoleBytes]; s.hi >= 0 {
		if r.Size, ok = parseSize(s.of(line)); !ok {
			return false
		}
	}
	return true
}

// parseSize reads a number of bytes; -1 is one that was not measured. HAProxy's
// logasap marks a running total with "+".
func parseSize(b []byte) (size int64, ok bool) {
	n, known, ok := ParseUint(bytes.TrimPrefix(b, []byte("+")))
	if !known {
		n = -1
	}
	return n, ok
}

// times reads the request time, which some formats split into parts.
func (d *Decoder) times(line []byte) (f Fault) {
	unit := d.Format.Unit
	r := &d.Req
	s := d.spans[RoleDuration]
	if s.hi < 0 {
		return FaultNoTime
	}
	if d.Format.between {
		d.spans[RoleTime] = d.spans[RoleDuration2]
		r.Step = 1
		r.Micros, f = elapsed(s.of(line), d.spans[RoleDuration2].of(line))
		return f
	}
	r.Micros, r.Step, f = ParseMicros(s.of(line), unit)
	for _, part := range [...]Role{RoleDuration2, RoleDuration3} {
		s := d.spans[part]
		if s.hi < 0 || f != FaultNone {
			break
		}
		var more uint64
		more, _, f = ParseMicros(s.of(line), unit)
		r.Micros += more
	}
	return f
}

// elapsed reads the request time as that between two moments.
func elapsed(end, begin []byte) (us uint64, f Fault) {
	to, _, ok := MomentMicros(end)
	from, _, also := MomentMicros(begin)
	switch us := to - from; {
	case !ok || !also:
		return 0, FaultNoTime
	case us < 0:
		return 0, FaultNegative
	case us >= maxTime:
		return 0, FaultAbsurd
	default:
		return uint64(us), FaultNone
	}
}

// rest reads what a brief decoder leaves out.
func (d *Decoder) rest(line []byte) {
	r := &d.Req
	if s := d.spans[RoleRequest]; s.hi >= 0 {
		r.Method, r.Path, r.Proto = splitRequest(line[s.lo:s.hi])
	} else {
		r.Method, r.Path, r.Proto = d.spans[RoleMethod].of(line), d.spans[RolePath].of(line),
			d.spans[RoleProto].of(line)
		if len(r.Proto) > 0 && r.Proto[0] <= '9' {
			r.Proto = protoOfVersion(r.Proto)
		}
	}
	r.Client = d.spans[RoleClient].of(line)
	r.HasStamp = false
	if s := d.spans[RoleTime]; s.hi >= 0 {
		r.Stamp, r.HasStamp = d.stamp(line, s)
	}
	if d.rare {
		d.restRare(line)
	}
}

// restRare reads what few formats have.
func (d *Decoder) restRare(line []byte) {
	r := &d.Req
	r.Cache = d.spans[RoleCache].of(line)
	if string(r.Cache) == "-" {
		r.Cache = nil
	}
	r.Reuse, r.HasReuse = 0, false
	if s := d.spans[roleReuse]; s.hi >= 0 {
		n, known, ok := ParseUint(s.of(line))
		r.Reuse, r.HasReuse = n-d.Format.firstReuse, known && ok
	}
	r.Upstream, r.HasUpstream = 0, false
	if s := d.spans[RoleUpstream]; s.hi >= 0 {
		r.Upstream, r.HasUpstream = parseList(s.of(line), d.Format.upstreamUnit)
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
func (d *Decoder) stamp(line []byte, s span) (Stamp, bool) {
	t := d.spans[roleTime2]
	if t.hi < 0 {
		return d.clock.Parse(s.of(line))
	}
	var both [32]byte
	text := append(append(append(both[:0], s.of(line)...), ' '), t.of(line)...)
	st, ok := d.clock.Parse(text)
	st.Local = false
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
		if x := word(b, n-8); m < 8 && m < n-9 && x&versionMask == version && b[n-9] == ' ' && b[n-3] != ' ' &&
			b[n-1] != ' ' {
			return b[:m], b[m+1 : n-9], b[n-8:]
		}
	}
	b = bytes.TrimSuffix(b, []byte{'"'})
	i := bytes.IndexByte(b, ' ')
	if i < 0 {
		return nil, b, nil
	}
	method, path = b[:i], b[i+1:]
	if j := len(path) - len(" HTTP/1.1"); j >= 0 && path[j] == ' ' && hasPrefix(path[j+1:], "HTTP/") &&
		bytes.IndexByte(path[j+6:], ' ') < 0 {
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
		if v, _, f := ParseMicros(b[:i], unit); f == FaultNone {
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
func (d *Decoder) directive(line string) {
	f, err := d.Format.withDirective(trimMark(line))
	if err != nil {
		if d.Err == nil {
			d.Err = err
		}
		return
	}
	if f != d.Format {
		d.use(f)
	}
}

// Sensible reports whether the fields found in the last line hold what they should.
func (d *Decoder) Sensible(line []byte) bool {
	if s := d.spans[RoleTime]; s.hi >= 0 && len(s.of(line)) > 0 {
		if _, ok := d.stamp(line, s); !ok {
			return false
		}
	}
	if bytes.IndexByte(d.spans[RoleClient].of(line), ' ') >= 0 || !plainTimes(d.spans[RoleUpstream].of(line)) {
		return false
	}
	if s := d.spans[RoleStatus]; s.hi >= 0 {
		if n, ok := ParseStatus(s.of(line)); !ok || n != 0 && n < 100 || n > 599 {
			return false
		}
	}
	if s := d.spans[RoleRequest]; s.hi >= 0 {
		b := s.of(line)
		return LooksLikeRequest(b) || len(b) == 0 || b[0] == '-' || b[0] == '<'
	}
	if s := d.spans[RoleMethod]; s.hi >= 0 {
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

// LooksLikeRequest reports whether b is METHOD target [protocol].
func LooksLikeRequest(b []byte) bool {
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
