// Package lab joins network namespaces on this machine by emulated links, so
// that any program can be tried on a path that is not at hand. The link
// emulator is in user space, between two TUN devices: a packet of up to 64 KiB
// that the kernel has not yet cut into segments (GSO) crosses it whole, and is
// cut only where the emulator decides about one segment inside it.
package link

import (
	"fmt"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/units"
)

// Limits of a link's parameters. They keep the arithmetic of the emulator
// (64-bit nanoseconds, remainders of a division by the rate) exact.
const (
	MinRate  = 1 * units.Kbit
	MaxRate  = 1 * units.Tbit
	MaxDelay = 60 * time.Second
	MinMTU   = 576   // bytes; RFC 791 obliges every host to take 576
	MaxMTU   = 65535 // bytes; the largest IPv4 packet
)

// Link describes an emulated path between two hosts, the client and the
// server. The zero value of a field means that the link does not impose it.
type Link struct {
	Up   Direction // client to server
	Down Direction // server to client
	// MTU is the path MTU in bytes of IP packet; 0 means 1500.
	MTU int
	// Framing says what a segment costs on the wire besides its IP packet.
	Framing Framing
	Backend Backend
	// Seed starts every random decision; the same seed, traffic and timing
	// give the same decisions. 0 means that Up chooses one.
	Seed uint64
}

// Direction describes one direction of a link.
type Direction struct {
	Rate  units.Rate // bit/s on the wire, framing included; 0 is no limit
	Trace string     // file of delivery opportunities in mahimahi's format; instead of Rate
	Delay time.Duration
	// Jitter is added to Delay.
	Jitter Jitter
	// Queue bounds what waits for the wire; used only with Rate or Trace.
	Queue Queue
	// Pause makes a full queue hold back the links into the host that it leaves
	// from, instead of dropping, as a switch with flow control does (IEEE
	// 802.3x). Those links wait for whatever they carry: a slow receiver then
	// slows its neighbours.
	Pause bool
	CoDel CoDel
	ECN   ECN
	// Loss, Mark, Duplicate, Corrupt and Reorder are decided for each segment
	// when it leaves the queue: a lost segment has used the wire. Mark sets
	// Congestion Experienced on segments that are ECN-capable. A reordered
	// segment is held for Hold longer, while later ones overtake it.
	Loss, Mark, Duplicate, Corrupt, Reorder Pattern
	// Hold is the extra time of a reordered segment; 0 means 1 ms.
	Hold time.Duration
}

// Framing is the link layer that a segment's cost on the wire is computed for.
type Framing string

const (
	// FramingEthernet adds 38 bytes to each IP packet: preamble and start
	// delimiter 8, header 14, frame check sequence 4, inter-packet gap 12; and
	// pads frames to 64 bytes (IEEE 802.3). 1448 bytes of payload with TCP
	// timestamps in a packet of 1500 then reach 94.15% of the rate.
	FramingEthernet Framing = "ethernet"
	// FramingIP counts the IP packet alone, as netem does.
	FramingIP Framing = "ip"
	// FramingTrace is a trace's, whatever the link's is.
	FramingTrace Framing = "trace"
)

// Cost returns the bytes on the wire of one IP packet.
func (f Framing) Cost(ipBytes int) int {
	switch f {
	case FramingIP:
		return ipBytes
	case FramingTrace:
		return ipBytes + TraceOverhead
	}
	return max(ipBytes, 46) + 38
}

// Shape is the distribution that jitter is drawn from.
type Shape string

// Shapes of jitter: Uniform is -Spread..+Spread, Normal has Spread as its
// standard deviation, Pareto has only positive values with mean Spread
// (shape 3, a long tail).
const (
	Uniform Shape = "uniform"
	Normal  Shape = "normal"
	Pareto  Shape = "pareto"
)

// Jitter varies the delay. A piece (a run of segments sent within 250 us)
// has one value. Unless Overtake is set a piece is never delivered before an
// earlier one, and what is sent within Spread of the last draw shares its value;
// with it, each segment draws its own value and order is not kept.
type Jitter struct {
	Spread   time.Duration // 0 is no jitter
	Shape    Shape         // "" is Uniform
	Overtake bool
}

// QueueUnit is what a queue's size is counted in.
type QueueUnit string

// Units of a queue's size. Bytes are bytes on the wire (the same that the rate
// counts), so that a full queue of B bytes takes B*8/rate to drain.
const (
	QueueBDP     QueueUnit = "bdp"     // multiples of rate x base RTT
	QueueBytes   QueueUnit = "bytes"   // bytes on the wire
	QueuePackets QueueUnit = "packets" // segments
	QueueTime    QueueUnit = "time"    // nanoseconds of the rate
)

// Queue is the size of the buffer before the wire. It bounds what waits; the
// segment that is being sent is not counted. The zero value is one BDP.
type Queue struct {
	Size float64
	Unit QueueUnit
}

// CoDel is the active queue management of RFC 8289. A Target of 0 is off.
type CoDel struct {
	Target, Interval time.Duration
}

// DefaultCoDel has the constants of RFC 8289, section 4.
func DefaultCoDel() CoDel {
	return CoDel{Target: 5 * time.Millisecond, Interval: 100 * time.Millisecond}
}

// ECN says what the queue does with segments that are ECN-capable (RFC 3168).
type ECN struct {
	// CoDel makes CoDel mark them instead of dropping them.
	CoDel bool
	// Threshold marks every one that finds more than this waiting (bytes,
	// packets or time), as a data centre switch does for DCTCP (RFC 8257).
	// The zero value is off.
	Threshold Queue
}

// PatternKind says how a Pattern chooses segments.
type PatternKind string

// Kinds of Pattern.
const (
	Never   PatternKind = ""
	Random  PatternKind = "random" // each with probability P
	Every   PatternKind = "every"  // the Nth, 2Nth, ...
	Bursts  PatternKind = "burst"  // Gilbert's two states: enter with P, leave with R
	maxEach             = 1 << 40
)

// Pattern chooses segments, for loss, marking and the like.
type Pattern struct {
	Kind PatternKind
	P, R float64
	N    int64
}

// RTT returns the base round-trip time that the link imposes.
func (l Link) RTT() time.Duration { return l.Up.Delay + l.Down.Delay }

// PathMTU returns the MTU in bytes.
func (l Link) PathMTU() int {
	if l.MTU == 0 {
		return 1500
	}
	return l.MTU
}

// Validate reports the first value that the emulator cannot honour.
func (l Link) Validate() error {
	if mtu := l.PathMTU(); mtu < MinMTU || mtu > MaxMTU {
		return fmt.Errorf("mtu %d: outside %d..%d", mtu, MinMTU, MaxMTU)
	}
	if what := l.Up.queueing() + l.Down.queueing(); what != "" && !l.Up.Limited() && !l.Down.Limited() {
		return fmt.Errorf("%s: nothing waits without a limit; give a rate or a trace too", strings.Fields(what)[0])
	}
	for _, side := range []struct {
		name string
		dir  Direction
	}{{"up", l.Up}, {"down", l.Down}} {
		if err := side.dir.validate(); err != nil {
			return fmt.Errorf("%s: %w", side.name, err)
		}
		if l.Backend == Netem {
			if _, err := l.NetemArgs(side.dir); err != nil {
				return fmt.Errorf("%s: %w", side.name, err)
			}
		}
	}
	return nil
}

// Limited says whether packets can have to wait for the wire.
func (d Direction) Limited() bool { return d.Rate != 0 || d.Trace != "" }

// queueing names what is set of the queue, each with a space behind.
func (d Direction) queueing() string {
	var names string
	if d.Queue.Unit != "" {
		names += "queue "
	}
	if d.Pause {
		names += "full=pause "
	}
	if d.CoDel.Target > 0 {
		names += "aqm "
	}
	if d.ECN != (ECN{}) {
		names += "ecn "
	}
	return names
}

func (d Direction) validate() error {
	switch {
	case d.Rate != 0 && (d.Rate < MinRate || d.Rate > MaxRate):
		return fmt.Errorf("rate %s: outside %s..%s", d.Rate, MinRate, MaxRate)
	case d.Rate != 0 && d.Trace != "":
		return fmt.Errorf("rate and trace exclude each other")
	case d.Delay < 0 || d.Delay > MaxDelay:
		return fmt.Errorf("one-way delay %s: outside 0..%s", d.Delay, MaxDelay)
	case d.Hold > MaxDelay:
		return fmt.Errorf("hold %s: more than %s", d.Hold, MaxDelay)
	case d.Hold > 0 && d.Reorder.Kind == Never:
		return fmt.Errorf("hold is of reordered segments; give reorder too")
	case d.Jitter.Spread > MaxDelay:
		return fmt.Errorf("jitter %s: more than %s", d.Jitter.Spread, MaxDelay)
	case d.CoDel.Target > 0 && d.CoDel.Interval < d.CoDel.Target:
		return fmt.Errorf("codel: the interval %s is shorter than the target %s", d.CoDel.Interval, d.CoDel.Target)
	case d.ECN.CoDel && d.CoDel.Target == 0:
		return fmt.Errorf("ecn=on needs aqm=codel; for a threshold write ecn=SIZE")
	case d.Trace != "" && d.Queue.Unit == QueueTime:
		return fmt.Errorf("a queue in time needs a rate; give it in bytes or packets with a trace")
	case d.Trace != "" && d.Queue.Unit == QueueBDP:
		return fmt.Errorf("a queue in BDP needs a rate; give it in bytes or packets with a trace")
	}
	return nil
}

// Limits returns what may wait in the queue in this direction: bytes on the
// wire and segments, each math.MaxInt64 where it does not bind.
func (l Link) Limits(d Direction, q Queue) (bytes, packets int64) {
	const unbounded = 1 << 40
	full := float64(l.Framing.Cost(l.PathMTU()))
	switch q.Unit {
	case QueueBytes:
		return int64(q.Size), unbounded
	case QueuePackets:
		return unbounded, int64(q.Size)
	case QueueTime:
		return int64(q.Size / 1e9 * d.Rate.BytesPerSecond()), unbounded
	}
	multiples := q.Size
	if q.Unit == "" {
		multiples = 1
	}
	bdp := d.Rate.BytesPerSecond() * l.RTT().Seconds() * multiples
	return int64(max(bdp, MinBDPQueue*full)), unbounded
}

// Memory returns what may be in flight and waiting in this direction, in bytes
// of address space; it is taken from the system only as packets need it. Small
// packets take more memory than time on the wire, hence the factor 2. Where
// the rate does not bound it, 100 Gbit/s is assumed, and never more than 4 GiB.
func (l Link) Memory(d Direction) int64 {
	const spare, most = 64 << 20, 4 << 30
	held := (d.Delay + 8*d.Jitter.Spread + d.Hold).Seconds()
	if d.Rate == 0 {
		return int64(min(100e9/8*held, most)) + spare
	}
	bytes, packets := l.Limits(d, d.Queue)
	queue := float64(min(bytes, packets*int64(l.Framing.Cost(l.PathMTU()))))
	return int64(min(2*(d.Rate.BytesPerSecond()*held+queue), most)) + spare
}

// MinBDPQueue is the least that a queue given in BDP holds, in full-size
// segments: on a very short path one BDP would be less than one packet.
const MinBDPQueue = 64

// Rate returns the share of segments that the pattern chooses in the long run,
// from 0 to 1.
func (p Pattern) Rate() float64 {
	switch p.Kind {
	case Random:
		return p.P
	case Every:
		return 1 / float64(p.N)
	case Bursts:
		return p.P / (p.P + p.R)
	}
	return 0
}
