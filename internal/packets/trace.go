package packets

import (
	"cmp"
	"errors"
	"io"
	"net/netip"
	"slices"

	"github.com/wirerate/wirerate/internal/flow"
)

const (
	maxFlows     = 100_000 // that are told apart; the longest silent go first
	manyPoints   = 512     // intervals of a flow's life, while there are few flows
	pointsForAll = 400_000
)

// Trace is what a capture holds.
type Trace struct {
	Packets   int64 // in the file
	Read      int64 // of them TCP or UDP over IP
	Bytes     int64 // on the wire
	Start     int64 // nanoseconds since 1970
	End       int64
	Drops     uint64 // that the capture itself counted
	Truncated bool   // the file ends within a packet
	Flows     []Flow // the one with the most data first
	Left      int64  // flows that were given up, for their number
}

// Flow is a connection or a pair of UDP ports.
type Flow struct {
	A, B netip.AddrPort // A opened it, or was seen first
	UDP  bool
	Conn *flow.Conn
	UDPs [2]Datagrams
}

// Datagrams are what UDP shows without its programs' help.
type Datagrams struct {
	Packets, Bytes int64
	First, Last    int64 // nanoseconds
	Longest        int64 // the longest pause between two
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
	for {
		data, ci, err := s.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Truncated, end = true, err
			}
			break
		}
		t.Packets++
		t.Bytes += int64(ci.Length)
		if !d.decode(s.link(ci), data, ci, &p) {
			continue
		}
		t.Read++
		p.Number = t.Packets
		do(&p)
	}
	t.Drops = s.drops
	if t.Packets == 0 {
		return errors.Join(errors.New("no packet in it"), end)
	}
	return nil
}

// table keeps the flows while a capture is read.
type table struct {
	Trace
	flows  map[endpoints]*entry
	points int
}

type entry struct {
	Flow
	recent [8]mark
	n      int
}

// mark tells a packet that was captured twice: on two interfaces of a bridge,
// or by a mirror port.
type mark struct {
	seq, ack, tsval uint32
	len             int
	id, flags       uint16
	iface           int
	time            int64
}

func (t *table) add(p *packet) {
	if t.Start == 0 || p.Time < t.Start {
		t.Start = p.Time
	}
	t.End = max(t.End, p.Time)
	e, fromA := t.flow(p)
	if p.udp {
		e.datagram(p, fromA)
		return
	}
	if !e.twice(p) {
		e.Conn.Add(&p.Segment, fromA)
	}
}

func (t *table) flow(p *packet) (*entry, bool) {
	back := endpoints{p.to, p.from, p.udp}
	opens := !p.udp && p.Flags&(flow.SYN|flow.ACK) == flow.SYN
	for _, k := range []endpoints{p.endpoints, back} {
		e := t.flows[k]
		if e == nil {
			continue
		}
		if opens && e.Conn.Over() { // the ports are used again
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
	if !p.udp {
		if t.points == 0 {
			t.points = manyPoints
		}
		if n := len(t.flows); n*t.points > pointsForAll && t.points > 8 {
			t.points /= 2
			for _, o := range t.flows {
				if o.Conn != nil {
					o.Conn.Coarsen(t.points)
				}
			}
		}
		e.Conn = flow.New(t.points)
	}
	t.flows[key] = e
	return e, fromA
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

func (e *entry) datagram(p *packet, fromA bool) {
	u := &e.UDPs[1]
	if fromA {
		u = &e.UDPs[0]
	}
	if u.Packets == 0 {
		u.First = p.Time
	} else {
		u.Longest = max(u.Longest, p.Time-u.Last)
	}
	u.Packets++
	u.Bytes += int64(p.Len)
	u.Last = max(u.Last, p.Time)
}

// twice tells a packet that another interface has shown within a millisecond.
func (e *entry) twice(p *packet) bool {
	m := mark{p.Seq, p.Ack, p.Options.TSVal, p.Len, p.ID, p.Flags, p.iface, p.Time}
	for _, o := range e.recent {
		same := o
		same.iface, same.time = m.iface, m.time
		if same == m && m.time-o.time < 1e6 && (o.iface != m.iface || m.id != 0 && m.len > 0) {
			return true
		}
	}
	e.recent[e.n%len(e.recent)] = m
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
