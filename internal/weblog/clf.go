package weblog

import "bytes"

// The common log format's fields, which most text logs begin with:
//
//	192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] "GET / HTTP/1.1" 200 5012
//
// A line that looks just like that is taken apart here without the general
// plan's steps; any other is left to them.

// clfFields is how many fields these are.
const clfFields = 7

// beginsAsCLF reports whether the fields are those of the common log format,
// and more behind.
func beginsAsCLF(fields []field) bool {
	want := [clfFields]struct {
		role  role
		after string
	}{{roleClient, " "}, {roleNone, " "}, {roleNone, " ["}, {roleTime, `] "`}, {roleRequest, `" `}, {roleStatus, " "}, {roleBytes, " "}}
	if len(fields) < clfFields {
		return false
	}
	for i, w := range want {
		f := &fields[i]
		last := i == clfFields-1
		if f.role != w.role || f.pad || f.list || f.after != w.after && !(last && hasPrefix([]byte(f.after), w.after) && len(f.after) <= 8) {
			return false
		}
	}
	return true
}

const (
	spaces     = ' ' * lowBits
	noUser     = uint64('[')<<40 | ' '<<32 | '-'<<24 | ' '<<16 | '-'<<8 | ' ' // " - - ["
	noUserMask = 1<<48 - 1
	afterStamp = '"'<<16 | ' '<<8 | ']'
	stampMask  = 1<<24 - 1
	// afterRequest is `" `, the upper halves of three digits, and a blank.
	afterRequest = ' '<<40 | 0x303030<<16 | ' '<<8 | '"'
	requestMask  = 0xff<<40 | 0xf0f0f0<<16 | 0xffff
)

// clfHead finds the fields and returns the position after them, 0 if the line
// has to be looked at by the general plan. next is what stands behind them.
func clfHead(line []byte, s *spans, next *field) int {
	if len(line) < 64 {
		return 0
	}
	client := firstOf16(word(line, 0), word(line, 8), spaces)
	if word(line, client)&noUserMask != noUser {
		return 0
	}
	stamp := client + 6
	request := stamp + commonTime + 3
	if line[stamp+2] != '/' || word(line, stamp+commonTime)&stampMask != afterStamp {
		return 0
	}
	end := bytes.IndexByte(line[request:], '"') + request
	if end <= request || end > len(line)-24 || line[end-1] == '\\' {
		return 0
	}
	if word(line, end)&requestMask != afterRequest {
		return 0
	}
	size := end + 6
	sizeEnd := size + first(word(line, size), spaces)
	if !next.follows.is(word(line, sizeEnd)) {
		return 0
	}
	s[roleClient] = span{0, int32(client)}
	s[roleTime] = span{int32(stamp), int32(stamp + commonTime)}
	s[roleRequest] = span{int32(request), int32(end)}
	s[roleStatus] = span{int32(end + 2), int32(end + 5)}
	s[roleBytes] = span{int32(size), int32(sizeEnd)}
	return sizeEnd + len(next.after)
}
