package logline

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/units"
)

// Keys of well-known JSON logs, as ParseFormat takes them.
const (
	// https://caddyserver.com/docs/logging: duration is in seconds unless the
	// encoder's duration_format says otherwise.
	caddyKeys = "duration=duration,time=ts,status=status,bytes=size,method=request.method,path=request.uri," +
		"proto=request.proto,client=request.remote_ip,unit=s"
	envoyKeys = "duration=duration,time=start_time,status=response_code,bytes=bytes_sent,method=method," +
		"path=path,proto=protocol,upstream=upstream_service_time,end=response_flags," +
		"client=downstream_remote_address,unit=ms"
	traefikKeys = "duration=Duration,time=StartUTC,status=DownstreamStatus,bytes=DownstreamContentSize," +
		"method=RequestMethod,path=RequestPath,proto=RequestProtocol,upstream=OriginDuration,client=ClientHost,unit=ns"
)

// parseKeys reads "duration=KEY,status=KEY,...,unit=ms". In JSON, a dot in a
// key leads into an object.
func parseKeys(kind, text string) (*Format, error) {
	fields, err := units.ParseFields(text)
	if err != nil {
		return nil, err
	}
	f := &Format{Name: kind}
	keys := map[Role]string{}
	for _, kv := range fields {
		if kv.Key == "unit" {
			if f.Unit, err = ParseUnit(kv.Value); err != nil {
				return nil, err
			}
			continue
		}
		r := roleNamed(kv.Key)
		if r == RoleNone {
			return nil, fmt.Errorf("unknown field %q (use duration, upstream, time, client, request, method, path, "+
				"proto, status, bytes, cache, reuse, end or unit)", kv.Key)
		}
		keys[r] = kv.Value
		f.has[r] = true
	}
	if !f.has[RoleDuration] {
		return nil, fmt.Errorf("no duration=KEY among %q", text)
	}
	f.upstreamUnit = f.Unit
	f.ex, f.early = keyedExtractor(kind, keys), earlyOf(keys)
	return f, nil
}

// earlyOf chooses what ends mean by the name of their key.
func earlyOf(keys map[Role]string) func([]byte) bool {
	if strings.Contains(keys[RoleEnd], "flags") {
		return endedEarlyEnvoy
	}
	return endedEarlyHAProxy
}

func keyedExtractor(kind string, keys map[Role]string) extractor {
	switch kind {
	case "json":
		p := new(jsonPlan)
		for r := range NumRoles {
			if k, ok := keys[r]; ok {
				p.root.add(strings.Split(k, "."), r)
				if strings.Contains(k, ".") {
					p.root.add([]string{k}, r) // a name may have a dot itself
				}
			}
		}
		return p
	case "ltsv":
		return &pairPlan{keys: pairKeys(keys), between: '\t', sep: ':'}
	}
	return &pairPlan{keys: pairKeys(keys), between: ' ', sep: '=', quotes: true}
}

type pairKey struct {
	key  string
	role Role
}

func pairKeys(keys map[Role]string) []pairKey {
	var out []pairKey
	for r := range NumRoles {
		if k, ok := keys[r]; ok {
			out = append(out, pairKey{k, r})
		}
	}
	return out
}

// pairPlan finds fields in LTSV (label:value, tab) and logfmt (key=value, blank,
// values may be quoted).
type pairPlan struct {
	keys         []pairKey
	between, sep byte
	quotes       bool
}

func (p *pairPlan) extract(line []byte, s *spans) bool {
	s.clear()
	found := false
	for pos := 0; pos < len(line); {
		key, value, next := p.pair(line, pos)
		if next < 0 {
			return false
		}
		for i := range p.keys {
			if k := &p.keys[i]; string(key) == k.key {
				s[k.role] = value
				found = true
			}
		}
		pos = next
	}
	return found
}

// pair returns the pair at pos, which has no key if it is none, and where the next one
// begins, -1 if a quote is not closed.
func (p *pairPlan) pair(line []byte, pos int) (key []byte, value span, next int) {
	end := len(line)
	if j := bytes.IndexByte(line[pos:], p.between); j >= 0 {
		end = pos + j
	}
	colon := bytes.IndexByte(line[pos:end], p.sep)
	if colon < 0 {
		return nil, span{}, end + 1
	}
	key, next = line[pos:pos+colon], end+1
	from := pos + colon + 1
	if p.quotes && from < len(line) && line[from] == '"' {
		from++
		if end = QuoteEnd(line, from); end < 0 {
			return nil, span{}, -1
		}
		next = end + 1
	}
	return key, span{int32(from), int32(end)}, next
}

// Pairs returns the keys and values in a line of a kind, ltsv or logfmt.
func Pairs(kind string, line []byte) (pairs [][2]string) {
	p := keyedExtractor(kind, nil).(*pairPlan)
	for pos := 0; pos >= 0 && pos < len(line); {
		key, value, next := p.pair(line, pos)
		if IsName(key) {
			pairs = append(pairs, [2]string{string(key), string(value.of(line))})
		}
		pos = next
	}
	return pairs
}

// QuoteEnd returns where the quoted string that starts at pos ends.
func QuoteEnd(line []byte, pos int) int {
	for i := pos; ; i++ {
		j := bytes.IndexByte(line[i:], '"')
		if j < 0 {
			return -1
		}
		i += j
		if !escaped(line[pos:i]) {
			return i
		}
	}
}

// jsonPlan finds fields by key in one JSON object a line. Text around the
// object (a syslog header) is passed over.
type jsonPlan struct {
	root jsonNode
}

type jsonNode struct {
	key      string
	role     Role
	children []jsonNode
}

func (n *jsonNode) add(path []string, r Role) {
	if len(path) == 0 {
		n.role = r
		return
	}
	for i := range n.children {
		if n.children[i].key == path[0] {
			n.children[i].add(path[1:], r)
			return
		}
	}
	n.children = append(n.children, jsonNode{key: path[0]})
	n.children[len(n.children)-1].add(path[1:], r)
}

func (p *jsonPlan) extract(line []byte, s *spans) bool {
	s.clear()
	start := bytes.IndexByte(line, '{')
	if start < 0 {
		return false
	}
	end := p.root.object(line, start, s)
	return end > 0 && !hasPrefix(line[end:], ",{") // of several requests none is told apart
}

// object reads the object at line[pos] and returns the position after it, -1
// if it is not one. The depth of its recursion is that of the plan.
func (n *jsonNode) object(line []byte, pos int, s *spans) int {
	pos = blanks(line, pos+1)
	if pos < len(line) && line[pos] == '}' {
		return pos + 1
	}
	for pos < len(line) && line[pos] == '"' {
		keyEnd := QuoteEnd(line, pos+1)
		if keyEnd < 0 {
			return -1
		}
		child := n.child(line[pos+1 : keyEnd])
		pos = blanks(line, keyEnd+1)
		if pos >= len(line) || line[pos] != ':' {
			return -1
		}
		if pos = child.value(line, blanks(line, pos+1), s); pos < 0 {
			return -1
		}
		if pos = blanks(line, pos); pos >= len(line) {
			return -1
		}
		switch line[pos] {
		case '}':
			return pos + 1
		case ',':
			pos = blanks(line, pos+1)
		default:
			return -1
		}
	}
	return -1
}

func (n *jsonNode) child(key []byte) *jsonNode {
	if n == nil {
		return nil
	}
	for i := range n.children {
		if n.children[i].key == string(key) {
			return &n.children[i]
		}
	}
	return nil
}

// value reads the value at line[pos] and returns the position after it. A nil
// node passes over it.
func (n *jsonNode) value(line []byte, pos int, s *spans) int {
	if pos >= len(line) {
		return -1
	}
	lo, hi, next := pos, 0, 0
	switch c := line[pos]; {
	case c == '"':
		lo = pos + 1
		hi = QuoteEnd(line, lo)
		next = hi + 1
	case c == '{' && n != nil && len(n.children) > 0:
		return n.object(line, pos, s)
	case c == '{' || c == '[':
		return skipNested(line, pos)
	default:
		hi = pos
		for hi < len(line) && strings.IndexByte(",}] \t", line[hi]) < 0 {
			hi++
		}
		next = hi
	}
	if hi < lo {
		return -1
	}
	if n != nil && n.role != RoleNone && string(line[lo:hi]) != "null" {
		s[n.role] = span{int32(lo), int32(hi)}
	}
	return next
}

// skipNested returns the position after the object or array at line[pos].
func skipNested(line []byte, pos int) int {
	depth := 0
	for pos < len(line) {
		switch line[pos] {
		case '"':
			end := QuoteEnd(line, pos+1)
			if end < 0 {
				return -1
			}
			pos = end
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return pos + 1
			}
		}
		pos++
	}
	return -1
}

func blanks(line []byte, pos int) int {
	for pos < len(line) && (line[pos] == ' ' || line[pos] == '\t') {
		pos++
	}
	return pos
}

// IsName reports whether b could be a key: short, of letters, digits and a few
// signs.
func IsName(b []byte) bool {
	for _, c := range b {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' && c != '@' {
				return false
			}
		}
	}
	return len(b) > 0 && len(b) <= 64
}

// NewKeyed makes the format of lines of a kind, json, ltsv, logfmt or columns, with the
// fields under keys; between is of a request time from one moment to another.
func NewKeyed(kind string, keys map[Role]string, u Unit, between bool) *Format {
	f := &Format{Name: kind, Unit: u, upstreamUnit: u, between: between, ex: keyedExtractor(kind, keys),
		early: earlyOf(keys)}
	for r := range keys {
		f.has[r] = true
	}
	return f
}
