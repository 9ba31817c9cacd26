package weblog

import (
	"math/bits"
	"strings"

	"github.com/wirerate/wirerate/internal/weblog/latency"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// detail is what the full analysis keeps besides the distribution itself.
type detail struct {
	cells    quick // by cell.key
	paths    *pathTable
	clients  quick // by clientKey
	timeline *timeline
	caches   grouped[string] // by cache status, and by first or reused connection
	rates    latency.Hist    // bytes/s of requests that took measurable time
	upstream latency.Hist
	outside  latency.Hist                    // total minus upstream: the client's network and the server itself
	behind   [len(behindNames)]latency.Group // by the share of the time that was upstream
	instant  uint64                          // requests with bytes whose time is below the resolution

	times    uint64 // lines with a readable time stamp
	noStamp  uint64
	backward uint64 // lines stamped before the line above them
	local    uint64 // stamps without a zone
	zones    zones
}

func newDetail() *detail {
	d := &detail{
		timeline: newTimeline(),
		caches:   grouped[string]{bounds: &cacheBounds},
		// Room for eight fills cache lines of its own: two workers that write to one
		// line wait for each other.
		zones: make(zones, 0, 8),
	}
	d.cells.init(&cellBounds)
	d.clients.init(&clientBounds)
	d.paths = newPathTable()
	return d
}

// cell is a combination of the classes a request falls into. Groupings by any
// of them are sums over cells, so one count per request serves them all.
type cell struct {
	status uint16
	method uint8
	proto  uint8
}

// class is a method and a protocol, as the lower half of a cell's key.
type class uint16

func classOf(method, proto []byte) class {
	if string(proto) == "HTTP/1.1" && string(method) == "GET" {
		return 0 // most requests
	}
	return class(methodIndex(method))<<8 | class(protoIndex(proto))
}

// cellBounds bound the combinations kept apart: at level 1 their status becomes its
// class, at level 2 their method "(other)".
var cellBounds = bounds[uint64]{most: 400, coarsest: 2, cut: func(key uint64, level int) uint64 {
	if level == 0 {
		return key
	}
	c := cellOf(key)
	if c.status < statusClass {
		c.status = statusClass + c.status/100
	}
	if level > 1 {
		c.method = methodOther
	}
	return c.key()
}}

// statusClass is added to the first digit of a status that stands for its class.
const statusClass = 1000

func groupOf[K comparable](m map[K]*latency.Group, k K) *latency.Group {
	g := m[k]
	if g == nil {
		g = new(latency.Group)
		m[k] = g
	}
	return g
}

// key packs the cell.
func (c cell) key() uint64 {
	return uint64(c.status)<<16 | uint64(c.method)<<8 | uint64(c.proto)
}

func cellOf(key uint64) cell {
	return cell{status: uint16(key >> 16), method: uint8(key >> 8), proto: uint8(key)}
}

// add counts a request.
func (d *detail) add(r *logline.Request, coarse uint16) {
	cell := d.cells.at(uint64(r.Status)<<16 | uint64(classOf(r.Method, r.Proto)))
	path := d.paths.find(r.Path, r.Status, sizeClass(r.Size))
	// Remembered are networks: there are more addresses.
	client := d.clients.at(clientNetwork(clientKey(r.Client), d.clients.level))
	for _, g := range [...]*latency.Group{cell, path, client} {
		g.Enter(uint(coarse), r.Micros, r.Size)
	}
	switch {
	case r.Size <= 0:
	case r.Micros == 0:
		d.instant++
	default:
		d.rates.Add(uint64(r.Size) * 1_000_000 / r.Micros)
	}
	d.addStamp(r)
	if len(r.Cache) > 0 {
		d.addCache(r.Cache, r, coarse)
	}
	if r.HasReuse {
		if r.Reuse > 0 {
			d.addCache([]byte(reusedConnection), r, coarse)
		} else {
			d.addCache([]byte(firstOnConnection), r, coarse)
		}
	}
	if r.HasUpstream {
		d.upstream.Add(r.Upstream)
		d.outside.Add(r.Micros - min(r.Micros, r.Upstream))
		d.behind[behindClass(r)].Enter(uint(coarse), r.Micros, r.Size)
	}
}

func (d *detail) addCache(name []byte, r *logline.Request, coarse uint16) {
	g := d.caches.groups[string(name)] // makes no string
	if g == nil {
		g = d.caches.at(string(name))
	}
	g.Enter(uint(coarse), r.Micros, r.Size)
}

// cacheBounds bound the names of cache statuses kept apart.
var cacheBounds = bounds[string]{most: 32, coarsest: 1, cut: func(name string, level int) string {
	switch {
	case level == 0 || name == reusedConnection || name == firstOnConnection:
		return name
	case isHit(name):
		return "(other hits)"
	}
	return "(other)"
}}

// The names of cache groups that are of connections.
const (
	reusedConnection  = "reused connection"
	firstOnConnection = "first on its connection"
)

// fromCache returns how many answers a cache gave, by statuses such as HIT, TCP_MEM_HIT
// and RefreshHit, of how many it is known.
func (d *detail) fromCache() (hits, known uint64) {
	for name, g := range d.caches.groups {
		if name == reusedConnection || name == firstOnConnection {
			continue
		}
		known += g.N
		if isHit(name) {
			hits += g.N
		}
	}
	return hits, known
}

func isHit(name string) bool { return strings.Contains(strings.ToUpper(name), "HIT") }

// reused returns how many requests came on a connection that had one before, of how
// many it is known.
func (d *detail) reused() (reused, known uint64) {
	for name, g := range d.caches.groups {
		if name == reusedConnection {
			reused = g.N
		}
		if name == reusedConnection || name == firstOnConnection {
			known += g.N
		}
	}
	return reused, known
}

// addStamp counts the request by its time stamp.
func (d *detail) addStamp(r *logline.Request) {
	if !r.HasStamp {
		d.noStamp++
		return
	}
	d.times++
	if r.Stamp.Local {
		d.local++
	} else {
		d.zones.add(r.Stamp.Offset, 1)
	}
	d.timeline.add(r)
}

func (d *detail) merge(o *detail) {
	d.cells.merge(&o.cells.grouped)
	d.caches.merge(&o.caches)
	d.paths.merge(&o.paths.grouped)
	d.clients.merge(&o.clients.grouped)
	d.timeline.merge(&o.timeline.bounded)
	d.rates.Merge(&o.rates)
	d.upstream.Merge(&o.upstream)
	d.outside.Merge(&o.outside)
	for i := range o.behind {
		d.behind[i].Merge(&o.behind[i])
	}
	d.instant += o.instant
	d.times += o.times
	d.noStamp += o.noStamp
	d.backward += o.backward
	d.local += o.local
	for _, z := range o.zones {
		d.zones.add(z.offset, z.n)
	}
}

// zones counts the stamps of each offset from UTC in minutes. A log has one or
// two.
type zones []zone

type zone struct {
	offset int16
	n      uint64
}

func (z *zones) add(offset int16, n uint64) {
	for i := range *z {
		if (*z)[i].offset == offset {
			(*z)[i].n += n
			return
		}
	}
	*z = append(*z, zone{offset, n})
}

// methods are the names the method groups have; the last ones collect.
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE", "PROPFIND",
	"(other)", "(none)"}

const (
	methodOther = 10
	methodNone  = 11
)

func methodIndex(b []byte) uint8 {
	if len(b) == 0 || string(b) == "-" {
		return methodNone
	}
	if string(b) == "GET" {
		return 0
	}
	for i, m := range methods[:methodOther] {
		if string(b) == m {
			return uint8(i)
		}
	}
	return methodOther
}

var protos = []string{"HTTP/1.1", "HTTP/2", "HTTP/3", "HTTP/1.0", "HTTP/0.9", "(other)", "(none)"}

func protoIndex(b []byte) uint8 {
	switch string(b) {
	case "HTTP/1.1":
		return 0
	case "HTTP/2.0", "HTTP/2", "h2":
		return 1
	case "HTTP/3.0", "HTTP/3", "h3":
		return 2
	case "HTTP/1.0":
		return 3
	case "HTTP/0.9":
		return 4
	case "", "-":
		return 6
	}
	return 5
}

// behindNames name the classes of how much of its time a request spent in the server
// behind.
var behindNames = [...]string{"under 10% of the time", "10% to 50%", "50% to 90%", "90% of the time and more"}

func behindClass(r *logline.Request) int {
	share := behindShare(r)
	class := 0
	for _, from := range [...]float64{0.1, 0.5, 0.9} {
		if share >= from {
			class++
		}
	}
	return class
}

// sizeNames name the classes of body sizes: factors of four from 1 KiB.
var sizeNames = [...]string{"unknown", "0", "1 B to 1 KiB", "1 to 4 KiB", "4 to 16 KiB", "16 to 64 KiB",
	"64 to 256 KiB", "256 KiB to 1 MiB", "1 to 4 MiB", "4 to 16 MiB", "16 MiB and more"}

func sizeClass(n int64) int {
	if n < 0 {
		return 0
	}
	if n == 0 {
		return 1
	}
	if n < 1024 {
		return 2
	}
	return min(2+(bits.Len64(uint64(n))-9)/2, len(sizeNames)-1)
}
