package packets

import (
	"cmp"
	"errors"
	"io"
	"net/netip"
	"slices"
	"time"

	"github.com/gopacket/gopacket"

	"github.com/wirerate/wirerate/internal/flow"
)

const (
	maxFlows      = 100_000 // that are told apart; the longest silent go first
	manyPoints    = 512     // intervals of a flow's life, while there are few flows
	pointsForAll  = 800_000
	detailsForAll = 1 << 20
	silence       = 1e9 // nanoseconds after which a SYN is believed to be of a new connection
	maxKinds      = 32  // of packets that are not read
)

// Trace is what a capture holds.
type Trace struct {
	Packets   int64            // in the file
	Read      int64            // of them TCP or UDP over IP
	Other     map[string]int64 // of the others, by what they are
	Bytes     int64            // on the wire
	Start     int64            // nanoseconds since 1970
	End       int64
	Drops     uint64 // that the capture itself counted
	SetBack   int64  // how often its clock was set back
	Truncated bool   // the file ends within a packet
	Flows     []Flow // the one with the most data first
	Left      int64  // flows that were given up, for their number
}

// Flow is a connection or a pair of UDP ports.
type Flow struct {
	A, B netip.AddrPort // A opened it, or was seen first
	UDP  bool
	Conn *flow.Conn
	UDPs *[2]Datagrams // A's and B's
}

// Read reads a capture to its end; a file that is cut off is read as far as it
// goes. Memory is bounded by the number of flows.
func Read(r io.Reader) (*Trace, error) {
	t := &table{flows: map[endpoints]*entry{}}
	if err := t.each(r, t.add); err != nil {
		return nil, err
	}
	return t.done(), nil
}

// each gives every TCP and UDP packet of a capture to do, and counts all.
func (t *Trace) each(r io.Reader, do func(*packet)) error {
	s, err := newSource(r)
	if err != nil {
		return err
	}
	d := newDecoder()
	var p packet
	var end error
	var sorted order
	clocks := map[int]*clock{}
	for {
		data, ci, err := s.next()
		if err != nil {
			if errors.Is(err, errClock) {
				return err
			}
			if !errors.Is(err, io.EOF) {
				t.Truncated, end = true, err
			}
			break
		}
		now := t.now(clocks, ci)
		ci.Timestamp = time.Unix(0, now)
		if t.Packets == 0 {
			t.Start, t.End = now, now
		}
		t.Packets++
		t.Start, t.End = min(t.Start, now), max(t.End, now)
		t.Bytes += int64(ci.Length)
		if link := s.link(ci); !d.decode(link, data, ci, &p) {
			t.others(d.what(link))
			continue
		}
		t.Read++
		p.Number = t.Packets
		sorted.add(&p, do)
	}
	sorted.flush(do)
	t.Drops = s.drops
	if t.Packets == 0 {
		return errors.Join(errors.New("no packet in it"), end)
	}
	return nil
}

// now is a packet's time, where its interface's clock was set back counted on.
func (t *Trace) now(clocks map[int]*clock, ci gopacket.CaptureInfo) int64 {
	i := min(ci.InterfaceIndex, maxClocks)
	if clocks[i] == nil {
		clocks[i] = &clock{}
	}
	now, back := clocks[i].at(ci.Timestamp.UnixNano())
	if back {
		t.SetBack++
	}
	return now
}

// others counts a packet that is not read by what it is; there are not many
// kinds.
func (t *Trace) others(what string) {
	if t.Other == nil {
		t.Other = map[string]int64{}
	}
	if _, ok := t.Other[what]; !ok && len(t.Other) >= maxKinds {
		what = "others"
	}
	t.Other[what]++
}

// table keeps the flows while a capture is read.
type table struct {
	Trace
	flows   map[endpoints]*entry
	sharers int // of the memory
}

type entry struct {
	Flow
	recent []mark
	n      int
}

// How many packets of a connection are remembered, before and after one was
// found to be captured twice.
const (
	recently = 8
	copied   = 64
)

// mark tells a packet that was captured twice: on two interfaces of a bridge,
// or by a mirror port.
type mark struct {
	seq, ack, tsval   uint32
	len               int
	id, flags, window uint16
	iface             int
	time              int64
}

func (t *table) add(p *packet) {
	e, fromA := t.flow(p)
	if p.udp {
		u := &e.UDPs[1]
		if fromA {
			u = &e.UDPs[0]
		}
		u.add(p, p.payload)
		return
	}
	if !e.twice(p, fromA) {
		e.Conn.Add(&p.Segment, fromA)
	}
}

func (t *table) flow(p *packet) (*entry, bool) {
	back := endpoints{p.to, p.from, p.udp}
	for _, k := range []endpoints{p.endpoints, back} {
		e := t.flows[k]
		if e == nil {
			continue
		}
		if e.ended(p, k == p.endpoints) {
			t.Flows = append(t.Flows, e.Flow)
			delete(t.flows, k)
			break
		}
		return e, k == p.endpoints
	}
	if len(t.flows)+len(t.Flows) >= maxFlows {
		t.evict()
	}
	key, fromA := p.endpoints, true
	if !p.udp && p.Flags&(flow.SYN|flow.ACK) == flow.SYN|flow.ACK {
		key, fromA = back, false
	}
	e := &entry{Flow: Flow{A: key.from, B: key.to, UDP: p.udp}}
	if p.udp {
		e.UDPs = new([2]Datagrams)
	} else {
		e.Conn = flow.New(manyPoints)
		t.bound(e.Conn)
	}
	t.flows[key] = e
	return e, fromA
}

// ended tells that a packet opens another connection with the same ports: after
// the end of this one, or by another sequence number after a silence.
func (e *entry) ended(p *packet, fromA bool) bool {
	if p.udp || p.Flags&flow.SYN == 0 {
		return false
	}
	opens, h := p.Flags&flow.ACK == 0, e.Conn.Handshake(fromA)
	another := h.Seen && h.Seq != p.Seq || !h.Seen && opens
	return opens && e.Conn.Over() || another && p.Time-e.Conn.Last() > silence
}

// bound shares the memory out among all flows, anew when their number has
// doubled.
func (t *table) bound(c *flow.Conn) {
	if n := len(t.flows) + len(t.Flows) + 1; n >= 2*t.sharers {
		t.sharers = n
		for _, o := range t.flows {
			if o.Conn != nil {
				o.Conn.Bound(t.shares())
			}
		}
		for i := range t.Flows {
			if o := t.Flows[i].Conn; o != nil {
				o.Bound(t.shares())
			}
		}
	}
	c.Bound(t.shares())
}

func (t *table) shares() (points, details int) {
	return min(manyPoints, pointsForAll/(2*t.sharers)), detailsForAll / t.sharers
}

// evict gives up the tenth of the flows that has been silent longest.
func (t *table) evict() {
	var all []endpoints
	for k := range t.flows {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b endpoints) int { return cmp.Compare(t.flows[a].last(), t.flows[b].last()) })
	for _, k := range all[:max(1, len(all)/10)] {
		t.Left++
		delete(t.flows, k)
	}
	if len(t.Flows) > 0 {
		t.Left += int64(len(t.Flows))
		t.Flows = nil
	}
}

func (e *entry) last() int64 {
	if e.Conn != nil {
		return e.Conn.Last()
	}
	return max(e.UDPs[0].Last, e.UDPs[1].Last)
}

// twice tells a packet that was shown within a millisecond before: by another
// interface, with the same number in its IP header (which is 0 where the system
// gives none), or sooner than anything is sent again, which takes a round trip.
func (e *entry) twice(p *packet, fromA bool) bool {
	m := mark{p.Seq, p.Ack, p.Options.TSVal, p.Len, p.ID, p.Flags, p.Window, p.iface, p.Time}
	for _, o := range e.recent {
		same := o
		same.iface, same.time = m.iface, m.time
		if age := m.time - o.time; same == m && age < 1e6 && (o.iface != m.iface || m.id != 0 ||
			m.flags&(flow.SYN|flow.FIN) != 0 || m.len > 0 && age < int64(e.Conn.RTT(fromA)/2)) {
			if len(e.recent) < copied {
				e.recent = slices.Grow(e.recent, copied-len(e.recent))[:copied]
			}
			return true
		}
	}
	if len(e.recent) < recently {
		e.recent = append(e.recent, m)
	} else {
		e.recent[e.n%len(e.recent)] = m
	}
	e.n++
	return false
}

func (t *table) done() *Trace {
	for _, e := range t.flows {
		t.Flows = append(t.Flows, e.Flow)
	}
	slices.SortFunc(t.Flows, func(a, b Flow) int {
		return cmp.Or(cmp.Compare(b.size(), a.size()), a.A.Compare(b.A), a.B.Compare(b.B))
	})
	return &t.Trace
}

func (f *Flow) size() int64 {
	if f.Conn != nil {
		return f.Conn.Bytes(true) + f.Conn.Bytes(false)
	}
	return f.UDPs[0].Bytes + f.UDPs[1].Bytes
}
