package weblog

import (
	"bytes"
	"fmt"
	"math"
	"net/netip"

	"github.com/wirerate/wirerate/internal/weblog/latency"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// pathTable groups by path pattern and size class. A key is the class and the pattern.
type pathTable struct {
	grouped[string]
	scratch []byte
	known   *knownPaths                    // of groups; nil until the first is added
	noise   [len(sizeNames)]*latency.Group // of groups, for bad requests
}

// maxDepth is how many segments of a path its pattern keeps at level 0, one less at
// each that follows.
const maxDepth = 4

var pathBounds = bounds[string]{most: 1024, coarsest: maxDepth,
	cut: func(key string, level int) string { return cutPattern(key, maxDepth-level) }}

func newPathTable() *pathTable {
	t := new(pathTable)
	t.bounds, t.forget = &pathBounds, func() { t.known = nil } // the noise has no segments and keeps its groups
	return t
}

// depth is how many segments of a path its pattern keeps.
func (t *pathTable) depth() int { return maxDepth - t.level }

// noise is the pattern of requests answered 400, 404, 405, 410 or 414: their
// paths are the client's invention and say nothing of the site.
const noise = "(bad request or not found)"

// find returns the group of a request of a path, answered with status, of a class of
// sizes.
func (t *pathTable) find(path []byte, status, size int) *latency.Group {
	if badRequest(status) {
		if t.noise[size] == nil {
			t.noise[size] = t.at(string(append(append(t.scratch[:0], byte(size)), noise...)))
		}
		return t.noise[size]
	}
	if t.known == nil {
		t.known = new(knownPaths)
	}
	p := t.known.find(path, t.depth())
	if p != nil && p.groups[size] != nil {
		return p.groups[size]
	}
	level := t.level
	t.scratch = appendPattern(append(t.scratch[:0], byte(size)), path, t.depth())
	g := t.groups[string(t.scratch)] // makes no string
	if g == nil {
		g = t.at(string(t.scratch))
	}
	if p != nil && level == t.level {
		p.groups[size] = g
	}
	return g
}

func badRequest(status int) bool {
	switch status {
	case 400, 404, 405, 410, 414:
		return true
	}
	return false
}

// appendPattern appends the pattern of a path: without query, at most depth
// segments, those that look like identifiers replaced by "*", and "/**" for
// the rest.
func appendPattern(to, path []byte, depth int) []byte {
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	path = path[patternStart(path):]
	if len(path) == 0 {
		return append(to, '-')
	}
	if path[0] == '/' {
		path = path[1:]
	}
	to = append(to, '/')
	for n := 0; ; n++ {
		if len(path) == 0 {
			return to
		}
		if n == depth {
			return append(to, '*', '*')
		}
		segment := path
		i := bytes.IndexByte(path, '/')
		if i >= 0 {
			segment = path[:i]
		}
		to = appendSegment(to, segment)
		if i < 0 {
			return to
		}
		to = append(to, '/')
		path = path[i+1:]
	}
}

// maxSegment is the longest segment that is not taken for an identifier.
const maxSegment = 40

func appendSegment(to, s []byte) []byte {
	from := keptFrom(s)
	if from > 0 {
		to = append(to, '*')
	}
	return append(to, s[from:]...)
}

// keptFrom returns where the part of a segment begins that its pattern keeps: all
// of it, its extension, or nothing.
func keptFrom(s []byte) int {
	digits := countDigits(s)
	if digits < 3 && len(s) <= maxSegment && (digits < len(s) || digits == 0) {
		if digits > 0 && len(s)-digits <= 6 && s[digits] == '.' && countDigits(s[:digits]) == digits {
			return digits // a number and its extension (39.jpg)
		}
		return 0
	}
	if dot := bytes.LastIndexByte(s, '.'); dot > 0 && len(s)-dot <= 6 && digits < len(s) {
		return dot
	}
	return len(s)
}

// keptDigits calls f with the places of the digits in a path without query that
// appendPattern keeps.
func keptDigits(path []byte, depth int, f func(i int)) {
	start := patternStart(path)
	if start < len(path) && path[start] == '/' {
		start++
	}
	for n := 0; n < depth && start < len(path); n++ {
		end := len(path)
		if i := bytes.IndexByte(path[start:], '/'); i >= 0 {
			end = start + i
		}
		for i := start + keptFrom(path[start:end]); i < end; i++ {
			if path[i]-'0' < 10 {
				f(i)
			}
		}
		start = end + 1
	}
}

// patternStart returns where the pattern's first segment begins: behind the scheme
// of a proxy's absolute address, whose host is a segment.
func patternStart(path []byte) int {
	if len(path) > 0 && path[0] != '/' {
		if i := bytes.Index(path[:min(len(path), 12)], []byte("://")); i >= 0 {
			return i + 2
		}
	}
	return 0
}

// cutPattern shortens the pattern in a pathTable's key to depth segments.
func cutPattern(key string, depth int) string {
	if len(key) < 2 || key[1] != '/' {
		return key
	}
	n := 0
	for i := 2; i < len(key); i++ {
		if n == depth {
			return key[:i] + "**"
		}
		if key[i] == '/' {
			n++
		}
	}
	return key
}

// clientBits are the prefix lengths of a level of coarseness for IPv4 and IPv6.
var clientBits = [4][2]int{{24, 48}, {16, 32}, {8, 16}, {0, 0}}

// slim is a group without its distribution.
type slim struct {
	n, bytes, sum, max uint64
	under              uint64 // requests below 100 ms
}

const slimUnder = 100_000

func (s *slim) add(us, bytes uint64) {
	s.n++
	s.sum += us
	s.max = max(s.max, us)
	s.under += (us - slimUnder) >> 63 // 1 below it; a branch would be guessed wrong too often
	s.bytes += bytes
}

// Merge adds o.
func (s *slim) Merge(o *slim) {
	s.n += o.n
	s.sum += o.sum
	s.bytes += o.bytes
	s.under += o.under
	s.max = max(s.max, o.max)
}

// clientBounds are of networks, by clientKey.
var clientBounds = bounds[uint64]{most: 2048, coarsest: len(clientBits) - 1, cut: clientNetwork}

func clientNetwork(key uint64, level int) uint64 { return key & clientMasks[level&3][key>>62] }

// A client key is 0 for what is not an address, else the family in its top two
// bits and the leading 32 (IPv4) or 48 (IPv6) bits of the address.
const (
	clientV4 = 1 << 62
	clientV6 = 2 << 62
)

func clientKey(b []byte) uint64 {
	if ip, ok := logline.ParseIPv4(b); ok {
		return clientV4 | uint64(ip)
	}
	addr, ok := clientAddr(b)
	if !ok {
		return 0
	}
	return addrKey(addr)
}

func addrKey(a netip.Addr) uint64 {
	if a = a.Unmap(); a.Is4() {
		q := a.As4()
		return clientV4 | uint64(q[0])<<24 | uint64(q[1])<<16 | uint64(q[2])<<8 | uint64(q[3])
	}
	q := a.As16()
	key := uint64(clientV6)
	for i := range 6 {
		key |= uint64(q[i]) << (40 - 8*i)
	}
	return key
}

// clientMasks are what a level keeps of the keys of a family.
var clientMasks = newClientMasks()

func newClientMasks() (masks [len(clientBits)][4]uint64) {
	for level, bits := range clientBits {
		masks[level] = [4]uint64{1: ^uint64(0) << (32 - bits[0]), 2: ^uint64(0) << (48 - bits[1])}
	}
	return masks
}

// clientName prints a key as a network.
func clientName(key uint64, level int) string {
	switch key >> 62 {
	case 1:
		v := uint32(key)
		return fmt.Sprintf("%d.%d.%d.%d/%d", v>>24, v>>16&255, v>>8&255, v&255, clientBits[level][0])
	case 2:
		var q [16]byte
		for i := range 6 {
			q[i] = byte(key >> (40 - 8*i))
		}
		return netip.PrefixFrom(netip.AddrFrom16(q), clientBits[level][1]).String()
	}
	return "(not an address)"
}

// timeline counts by time: per second, or by a power of two of seconds once
// more than maxBuckets seconds have requests.
type timeline struct {
	bounded[int64, slim, *slim]
	last    *slim
	lastKey int64
}

const maxBuckets = 8192

var timeBounds = bounds[int64]{most: maxBuckets, coarsest: 62,
	cut: func(unix int64, level int) int64 { return unix >> level << level }}

func newTimeline() *timeline {
	t := new(timeline)
	t.bounds, t.forget = &timeBounds, func() { t.last = nil }
	return t
}

func (t *timeline) add(r *logline.Request) {
	if t.last == nil || r.Stamp.Unix>>t.level<<t.level != t.lastKey {
		t.last = t.at(r.Stamp.Unix)
		t.lastKey = r.Stamp.Unix >> t.level << t.level
	}
	t.last.add(r.Micros, uint64(max(r.Size, 0)))
}

// length returns the time from the first request to the last in s.
func (t *timeline) length() float64 {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for k := range t.groups {
		first, last = min(first, k), max(last, k)
	}
	if last < first {
		return 0
	}
	return float64(last - first + 1<<t.level)
}

// countDigits returns how many bytes of s are decimal digits.
func countDigits(s []byte) (n int) {
	for _, c := range s {
		if c-'0' < 10 {
			n++
		}
	}
	return n
}
