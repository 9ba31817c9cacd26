package logline

import "bytes"

// The common log format's fields, which most text logs begin with:
//
//	192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] "GET / HTTP/1.1" 200 5012
//
// A line that looks just like that is taken apart and read here without the
// general plan's steps; any other is left to them.

// fieldsOfCLF returns how many of the fields are those of the common log format:
// seven, fewer where a format has a dash for one; 0 unless they all are there,
// and more behind.
func fieldsOfCLF(fields []field) int {
	if len(fields) == 0 || fields[0].role != RoleClient {
		return 0
	}
	n, user := 1, fields[0].after
	for n < len(fields) && fields[n].role == RoleNone {
		user += "-" + fields[n].after
		n++
	}
	want := [...]struct {
		role  Role
		after string
	}{{RoleTime, `] "`}, {RoleRequest, `" `}, {RoleStatus, " "}, {RoleBytes, " "}}
	if user != " - - [" || len(fields) < n+len(want) {
		return 0
	}
	for i, w := range want {
		f := &fields[n+i]
		last := i == len(want)-1
		if f.role != w.role || f.pad || f.list ||
			f.after != w.after && !(last && hasPrefix([]byte(f.after), w.after) && len(f.after) <= 8) {
			return 0
		}
	}
	return n + len(want)
}

const (
	spaces        = ' ' * lowBits
	noUser        = uint64('[')<<40 | ' '<<32 | '-'<<24 | ' '<<16 | '-'<<8 | ' ' // " - - ["
	noUserMask    = 1<<48 - 1
	beforeStamp   = len(" - - [")
	beforeRequest = len(`] "`)
	afterStamp    = '"'<<16 | ' '<<8 | ']'
	stampMask     = 1<<24 - 1
	// afterRequest is `" `, the upper halves of three digits, and a blank.
	afterRequest = ' '<<40 | 0x303030<<16 | ' '<<8 | '"'
	requestMask  = 0xff<<40 | 0xf0f0f0<<16 | 0xffff
)

// commonHead finds the fields of the common log format, and reads status and size.
// client and end are where the client's address and the request end, rest is where
// the field behind the size begins. It is not ok if the line has to be looked at by
// extract.
func (p *linePlan) commonHead(line []byte) (client, end, status int, size uint64, rest int, ok bool) {
	if len(line) < 64 {
		return
	}
	client = firstOf16(word(line, 0), word(line, 8), spaces)
	if word(line, client)&noUserMask != noUser {
		return
	}
	stamp := client + beforeStamp
	request := stamp + commonTime + beforeRequest
	if line[stamp+2] != '/' || word(line, stamp+commonTime)&stampMask != afterStamp {
		return
	}
	end = bytes.IndexByte(line[request:], '"') + request
	if end <= request || end+24 > cap(line) || line[end-1] == '\\' {
		return
	}
	x := word(line, end)
	digits := x >> 16 & 0x0f0f0f
	if x&requestMask != afterRequest || (digits+0x060606)&0xf0f0f0 != 0 {
		return
	}
	status = int(digits&15*100 + digits>>8&15*10 + digits>>16)
	x = word(line, end+6)
	n := first(x, spaces)
	rest = end + 6 + n
	size, ok = digits8(x<<(uint(64-8*n)&63), n)
	next := &p.head[p.clf-1]
	ok = ok && n != 0 && next.follows.is(word(line, rest))
	rest += len(next.after)
	return client, end, status, size, rest, ok && rest <= len(line)
}

// common finds the fields of a line, as extract does, and reads its status and size.
// It returns false if the line has to be looked at by extract.
func (p *linePlan) common(line []byte, r *Request, s *spans) bool {
	client, end, status, size, rest, ok := p.commonHead(line)
	if !ok {
		return false
	}
	r.Status, r.Size = status, int64(size)
	stamp := int32(client + beforeStamp)
	s[RoleClient] = span{0, int32(client)}
	s[RoleTime] = span{stamp, stamp + int32(commonTime)}
	s[RoleRequest] = span{stamp + int32(commonTime+beforeRequest), int32(end)}
	s[RoleStatus] = span{int32(end + 2), int32(end + 5)}
	return p.extractFrom(line, rest, p.clf, s)
}

// isShort reports whether a line of the format is the common log format's, what
// nobody reads, and a request time at its end.
func (p *linePlan) isShort() bool {
	return p.clf > 0 && p.clf == len(p.head) && p.trail == "" && len(p.tail) == 1 &&
		p.tail[0].role == RoleDuration && p.tail[0].allLast != 0
}

// readShort reads a line as Line does, if isShort is true of its format and the time is
// below 1000 s with three decimals. It returns false if the line has to go the long way.
func (d *Decoder) readShort(line []byte) bool {
	client, end, status, size, rest, ok := d.short.commonHead(line)
	if !ok || len(line) > MaxLine {
		return false
	}
	before := &d.short.tail[0]
	x := word(line, len(line)-8)
	n := last(x, before.allLast)
	start := len(line) - n
	if n < 5 || n > 7 || start < rest+len(before.before) || !before.precedes.is(word(line, start-8)) {
		return false
	}
	ms, ok := digits8(withoutPoint(x), n-1)
	if !ok || byte(x>>32) != '.' {
		return false
	}
	r := &d.Req
	r.Micros, r.Step, r.Status, r.Size = ms*1000, 1000, status, int64(size)
	if d.Brief {
		return true
	}
	stamp := client + beforeStamp
	request := stamp + commonTime + beforeRequest
	r.Client = line[:client]
	r.Method, r.Path, r.Proto = splitRequest(line[request:end])
	r.Stamp, r.HasStamp = d.clock.Parse(line[stamp : stamp+commonTime])
	return true
}
