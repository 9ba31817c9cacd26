package logline

import (
	"bytes"
	"fmt"
	"slices"
)

// Role is what a field of a log line means here.
type Role uint8

const (
	RoleNone     Role = iota
	RoleDuration      // the request time; 2 and 3 are added to it
	RoleDuration2
	RoleDuration3
	RoleUpstream // time in the server behind, one or a list
	RoleTime     // time stamp; roleTime2 is its second half (W3C's date, time)
	roleTime2
	RoleClient  // client's address
	RoleRequest // "GET /path HTTP/1.1"
	RoleMethod
	RolePath
	RoleProto
	RoleStatus
	RoleBytes
	RoleCache // HIT, MISS, ...
	roleReuse // requests before this one on its connection
	RoleEnd   // how the request ended: HAProxy's termination state and the like
	NumRoles
)

// roleNames are what wirerate's own format strings and lists of keys call the roles.
var roleNames = [NumRoles]string{RoleDuration: "duration", RoleUpstream: "upstream", RoleTime: "time",
	RoleClient: "client", RoleRequest: "request", RoleMethod: "method", RolePath: "path", RoleProto: "proto",
	RoleStatus: "status", RoleBytes: "bytes", RoleCache: "cache", roleReuse: "reuse", RoleEnd: "end"}

func (r Role) String() string { return roleNames[r] }

// roleNamed returns the role of a name, RoleNone if there is none.
func roleNamed(name string) Role { return Role(max(0, slices.Index(roleNames[:], name))) }

// atomic reports whether values of the role hold no blanks or quotes, so that
// they can be found from the end of a line.
func (r Role) atomic() bool {
	switch r {
	case RoleTime, roleTime2, RoleClient, RoleRequest, RolePath, RoleMethod, RoleProto:
		return false
	}
	return true
}

// span is where a field's value lies in the line; hi < 0 is a field that the
// line does not have.
type span struct{ lo, hi int32 }

func (s span) of(line []byte) []byte {
	if s.hi < 0 {
		return nil
	}
	return line[s.lo:s.hi]
}

// spans holds the fields of one line.
type spans [NumRoles]span

func (s *spans) clear() {
	for i := range s {
		s[i].hi = -1
	}
}

// extractor finds the fields of a line. It returns false when the line does not
// have the format's shape.
type extractor interface {
	extract(line []byte, s *spans) bool
}

// Token is one piece of a format: literal text, or a variable.
type Token struct {
	Lit  string
	Role Role
	Name string // the variable, for messages; empty for literal text
	List bool   // values joined by ", " or " : ", as nginx's upstream variables
	Pad  bool   // padded with blanks on the left
	bare bool   // a column between blanks that holds none and is not in quotes
	unit Unit   // of a duration, where a format has several
}

// field is a variable with the literal text around it.
type field struct {
	role          Role
	before, after string
	quoted        bool // ends at a quote, in which \" is not one
	list, pad     bool
	bare          bool

	near     bool    // ends, as a rule, within eight bytes at what follows
	follows  literal // after, if it has eight bytes at most
	all      uint64  // its first byte, eight times
	precedes literal // before, in the upper bytes; an empty mask is a longer one
	allLast  uint64  // before's last byte, eight times
}

// linePlan finds fields by the literal text between them: head forward from the
// start of the line, tail backward from its end, and nothing of what lies
// between, where no field is wanted (referrer and user agent, mostly).
type linePlan struct {
	lead   string
	trail  string
	head   []field
	tail   []field // last field first
	behind int     // words before the server's own text; -1: a syslog header
	clf    int     // how many fields of head are the common log format's
}

// compile makes a plan of tokens. Two variables with nothing between them
// cannot be told apart and are an error.
func compile(tokens []Token) (*linePlan, error) {
	p := new(linePlan)
	var fields []field
	lit := ""
	for _, t := range tokens {
		if t.Name == "" {
			lit += t.Lit
			continue
		}
		if len(fields) == 0 {
			p.lead = lit
		} else {
			before := &fields[len(fields)-1]
			if lit == "" {
				if !t.joins(before) {
					return nil, fmt.Errorf("nothing separates %s from the variable before it", t.Name)
				}
				continue
			}
			before.after = lit
		}
		fields = append(fields, field{role: t.Role, before: lit, list: t.List, pad: t.Pad, bare: t.bare})
		lit = ""
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf("the format has no variables")
	}
	fields[len(fields)-1].after = lit
	p.trail = lit
	for i := range fields {
		f := &fields[i]
		f.quoted = f.after != "" && f.after[0] == '"'
		if n := len(f.after); n > 0 && n <= 8 {
			f.follows, f.all = newLiteral(f.after), uint64(f.after[0])*lowBits
			f.near = !f.quoted && !f.list && !f.bare
		}
		if n := len(f.before); n > 0 && n <= 8 && !f.list {
			f.precedes, f.allLast = newEndLiteral(f.before), uint64(f.before[n-1])*lowBits
		}
	}
	from, to := gap(fields)
	p.head = fields[:from]
	if p.lead == "" {
		p.clf = fieldsOfCLF(p.head)
	}
	for i := len(fields) - 1; i >= to; i-- {
		p.tail = append(p.tail, fields[i])
	}
	return p, nil
}

// gap returns the longest run of unwanted fields that may be jumped over: at
// the end of the line, or before fields that can be found from its end. A line
// that ends in an unwanted field may end in anything, so that nothing can be
// found from there.
func gap(fields []field) (from, to int) {
	from, to = len(fields), len(fields)
	for from > 0 && fields[from-1].role == RoleNone {
		from--
	}
	if from < to {
		return from, to
	}
	tail := len(fields)
	for tail > 0 && fields[tail-1].role.atomic() {
		tail--
	}
	best, bestTo := 0, len(fields)
	for i := tail; i < len(fields); {
		if fields[i].role != RoleNone {
			i++
			continue
		}
		j := i
		for j < len(fields) && fields[j].role == RoleNone {
			j++
		}
		if j-i > best {
			best, bestTo = j-i, j
		}
		i = j
	}
	return bestTo - best, bestTo
}

func (p *linePlan) extract(line []byte, s *spans) bool {
	pos := 0
	if p.behind != 0 {
		if pos = p.begin(line); pos < 0 {
			return false
		}
	}
	if p.lead != "" {
		if !hasPrefix(line[pos:], p.lead) {
			return false
		}
		pos += len(p.lead)
	}
	return p.extractFrom(line, pos, 0, s)
}

// extractFrom finds the fields from head[i] on, which begins at pos.
func (p *linePlan) extractFrom(line []byte, pos, i int, s *spans) bool {
	head := p.head
	for ; i < len(head); i++ {
		f := &head[i]
		if f.pad {
			for pos < len(line) && line[pos] == ' ' {
				pos++
			}
		}
		end := -1
		if f.near && pos+16 <= len(line) {
			if n := first(word(line, pos), f.all); n < 8 && f.follows.is(word(line, pos+n)) {
				end = pos + n
			}
		}
		if end < 0 {
			if end = f.end(line, pos); end < 0 {
				return false
			}
		}
		s[f.role] = span{int32(pos), int32(end)}
		pos = end + len(f.after)
	}
	if len(p.tail) == 0 {
		return true
	}
	return p.extractTail(line, pos, s)
}

// extractTail finds the tail fields in line[from:].
func (p *linePlan) extractTail(line []byte, from int, s *spans) bool {
	end := len(line) - len(p.trail)
	if end < from || !endsIn(line, p.trail) {
		return false
	}
	for i := range p.tail {
		f := &p.tail[i]
		start := f.start(line, from, end)
		if start < 0 || f.bare && start < end && line[start] == '"' {
			return false
		}
		s[f.role] = span{int32(start), int32(end)}
		end = start - len(f.before)
	}
	// Of the jumped-over fields, the literal text before the first and after
	// the last has been seen; between them anything may stand.
	return end >= from || len(p.head) == 0
}

// commonTime is the length of a time stamp in the common log format. The server
// writes it, so text that ends one there needs no closer look.
const commonTime = len("06/Sep/2015:05:58:05 +0900")

// end returns where the value that starts at pos ends, -1 if nowhere.
func (f *field) end(line []byte, pos int) int {
	if f.after == "" {
		return len(line)
	}
	if at := pos + commonTime; f.after[0] == ']' && at < len(line) && line[at] == ']' && line[pos+2] == '/' &&
		f.ends(line, pos, at) {
		return at
	}
	for i := pos; ; {
		j := bytes.IndexByte(line[i:], f.after[0])
		if j < 0 {
			return -1
		}
		i += j
		if f.ends(line, pos, i) {
			return i
		}
		i++
	}
}

// ends reports whether the value that starts at pos ends at i, where the first
// byte of f.after stands.
func (f *field) ends(line []byte, pos, i int) bool {
	for k := 1; k < len(f.after); k++ {
		if i+k >= len(line) || line[i+k] != f.after[k] {
			return false
		}
	}
	if f.bare && (line[pos] == '"' || bytes.IndexByte(line[pos:i], ' ') >= 0) {
		return false
	}
	return !(f.quoted && i > pos && line[i-1] == '\\' && escaped(line[pos:i])) && !(f.list && inList(line, pos, i))
}

// start returns where the value that ends at end starts, -1 if nowhere after from.
func (f *field) start(line []byte, from, end int) int {
	before := f.before[len(f.before)-1]
	for i := end - 1; i >= from-1 && i >= 0; i-- {
		if line[i] != before {
			continue
		}
		start := i + 1
		if !endsIn(line[:start], f.before) {
			continue
		}
		if f.list && inList(line, from, start-1) {
			continue
		}
		return start
	}
	return -1
}

// endsIn is bytes.HasSuffix for a short string.
func endsIn(b []byte, suffix string) bool {
	from := len(b) - len(suffix)
	if from < 0 {
		return false
	}
	for k := 0; k < len(suffix); k++ {
		if b[from+k] != suffix[k] {
			return false
		}
	}
	return true
}

// inList reports whether the blank at line[i] joins two values of a list
// ("0.001, 0.002 : 0.003") that started at or after pos.
func inList(line []byte, pos, i int) bool {
	if line[i] != ' ' {
		return false
	}
	return i > pos && line[i-1] == ',' || i > pos+1 && line[i-1] == ':' && line[i-2] == ' ' ||
		hasPrefix(line[i:], " : ")
}

// escaped reports whether text ends in an odd number of backslashes.
func escaped(text []byte) bool {
	n := len(text)
	for n > 0 && text[n-1] == '\\' {
		n--
	}
	return (len(text)-n)%2 == 1
}

// hasPrefix is bytes.HasPrefix against a string.
func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}
