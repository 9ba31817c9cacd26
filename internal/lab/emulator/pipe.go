package emulator

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/wirerate/wirerate/internal/lab/link"
)

// A pipe is one direction of a link: queue, transmitter, wire and delay line.
// It reads no clock and does no I/O: its driver tells it the time (nanoseconds
// of any monotonic clock) and moves the packets, so that what it decides can be
// tested in virtual time.
//
//	arrive -> queue -> transmit (virtual clock) -> onWire -> line/held -> take
//
// The transmitter's clock is exact: departure times follow from arrival times
// and the rate alone, remainders carried, so that a late wake-up delays no
// later packet and the rate does not drift.
type pipe struct {
	mem     *arena
	framing link.Framing
	rate    int64 // bit/s; 0 is no limit
	trace   *traceClock
	delay   int64 // ns
	jitter  link.Jitter
	rng     *rand.Rand
	flow    Flow

	queue                    ring[run]
	queuedBytes, queuedSegs  int64 // in queue
	limitBytes, limitPackets int64
	markBytes, markPackets   int64 // ECN threshold
	codel                    *codelState
	ecnCoDel                 bool

	free     int64 // when the transmitter is free
	frac     int64 // remainder of the last division by rate, in bit*ns
	service  service
	choosers [kinds]chooser
	hold     int64

	line    ring[run] // in order of delivery
	lastDue int64
	varied  int64 // the delay as it was last drawn
	settled int64 // from when on it is drawn again
	held    []run // heap by time: what does not keep the order

	stats Stats
}

// service is the piece that the transmitter is sending.
type service struct {
	start, end int64
	n          int64 // segments
	cost       int64 // bytes on the wire of each
}

// run is a run of segments of one unit, waiting in the queue or on the line.
type run struct {
	shape
	off      int64 // of the unit in the arena
	at       int64 // ns: arrival while queued, delivery on the line
	first, n uint16
	flags    uint8
}

const (
	runECT     = 1 << iota // ECN-capable
	runCE                  // to be marked Congestion Experienced
	runCorrupt             // to be corrupted
)

// Kinds of decision about a segment on the wire.
const (
	kindLoss = iota
	kindMark
	kindDuplicate
	kindCorrupt
	kindReorder
	kinds
)

// maxSpan is the longest that a delivered piece may have taken on the wire,
// unless it is a single segment: a receiver would see a 64 KiB unit at
// 10 Mbit/s as 52 ms of silence, then all at once.
const maxSpan = int64(250 * time.Microsecond)

func newPipe(l link.Link, d link.Direction, mem *arena, trace *traceClock, seed uint64) *pipe {
	rate := int64(d.Rate)
	if trace != nil {
		l.Framing = link.FramingTrace
		d.Rate = trace.trace.Rate() // of which a queue that is not given is one BDP
	}
	p := &pipe{
		mem: mem, framing: l.Framing, rate: rate, trace: trace,
		delay: int64(d.Delay), jitter: d.Jitter, ecnCoDel: d.ECN.CoDel,
		hold: int64(d.Hold), rng: rand.New(rand.NewPCG(seed, kinds)),
		markBytes: math.MaxInt64, markPackets: math.MaxInt64,
	}
	if p.hold == 0 {
		p.hold = int64(time.Millisecond)
	}
	p.limitBytes, p.limitPackets = l.Limits(d, d.Queue)
	if d.ECN.Threshold.Unit != "" {
		p.markBytes, p.markPackets = l.Limits(d, d.ECN.Threshold)
	}
	if d.CoDel.Target > 0 {
		full := int64(l.Framing.Cost(l.PathMTU()))
		p.codel = &codelState{target: int64(d.CoDel.Target), interval: int64(d.CoDel.Interval), maxPacket: full}
	}
	for i, pattern := range [kinds]link.Pattern{d.Loss, d.Mark, d.Duplicate, d.Corrupt, d.Reorder} {
		p.choosers[i] = newChooser(pattern, rand.New(rand.NewPCG(seed, uint64(i))))
	}
	return p
}

// arrive takes the unit u, kept in the arena at off with one reference.
func (p *pipe) arrive(u []byte, off, now int64) {
	s := shapeOf(u)
	r := run{shape: s, off: off, at: now, n: s.segs}
	if ecnOf(u[vnetLen:]) != 0 {
		r.flags = runECT
	}
	p.stats.Units++
	p.stats.Segments += int64(s.segs)
	p.stats.Bytes += int64(s.ipLen) + int64(s.hdr)*int64(s.segs-1)
	if p.rate == 0 && p.trace == nil {
		p.onWire(r, now, now)
		return
	}
	p.advance(now)
	if p.trace != nil && p.queue.len() == 0 {
		p.free = p.trace.idle(now)
	}
	p.admit(r, now)
}

// admit queues the segments of r that there is room for and drops the others.
func (p *pipe) admit(r run, now int64) {
	bytes, segs := p.waiting(now)
	p.stats.MaxQueue = max(p.stats.MaxQueue, bytes)
	full := r.wireBytes(p.framing, 0, 1)
	room, places := p.limitBytes-bytes, p.limitPackets-segs
	if p.queue.len() == 0 && p.free <= now {
		room, places = room+full, places+1 // the first goes straight to the transmitter
	}
	if p.flow.Own != nil { // what was on its way when the gate closed is taken
		room, places = math.MaxInt64/2, math.MaxInt64/2
	}
	n := int(r.n)
	fit := int(min(int64(n), max(room, 0)/full, max(places, 0)))
	calm := fit
	if r.flags&runECT != 0 { // segments that find too much waiting are marked
		below := min(max(p.markBytes-bytes, 0)/full, max(p.markPackets-segs, 0))
		calm = int(min(int64(fit), below))
	}
	p.enqueue(r.part(0, calm))
	if calm < fit {
		marked := r.part(calm, fit-calm)
		marked.flags |= runCE
		p.stats.Marked += int64(marked.n)
		p.enqueue(marked)
	}
	// The last segment may be shorter and find room where the others did not.
	if fit < n && int64(fit) < places && r.wireBytes(p.framing, n-1, 1) <= room-int64(fit)*full {
		p.enqueue(r.part(n-1, 1))
		fit++
	}
	p.mem.drop(r.off)
	p.stats.DropQueue += int64(n - fit)
	p.advance(now)
	p.work()
}

// part returns n segments of r from its i-th on.
func (r run) part(i, n int) run {
	r.first += uint16(i)
	r.n = uint16(n)
	return r
}

// cost returns the bytes on the wire of r.
func (r run) cost(f link.Framing) int64 { return r.wireBytes(f, int(r.first), int(r.n)) }

func (p *pipe) enqueue(r run) {
	if r.n == 0 {
		return
	}
	p.mem.hold(r.off)
	p.queuedBytes += r.cost(p.framing)
	p.queuedSegs += int64(r.n)
	p.queue.push(r)
}

// waiting returns what is in the queue at now: bytes on the wire and segments,
// with those of the piece in service whose turn has not come.
func (p *pipe) waiting(now int64) (bytes, segs int64) {
	bytes, segs = p.queuedBytes, p.queuedSegs
	if s := &p.service; now < s.end && s.n > 1 {
		begun := int64(float64(now-s.start)/float64(s.end-s.start)*float64(s.n)) + 1
		rest := s.n - min(begun, s.n)
		bytes += rest * s.cost
		segs += rest
	}
	return bytes, segs
}

// idle says whether a segment that arrives at now would be sent at once, so
// that it matters exactly when it came.
func (p *pipe) idle(now int64) bool { return p.free <= now }

// advance sends what the transmitter has begun to send by now.
func (p *pipe) advance(now int64) {
	if p.flow.waits() {
		p.free = max(p.free, now)
		return
	}
	for p.queue.len() > 0 && p.free <= now {
		p.transmit()
	}
}

// transmit moves the next piece of the oldest run from the queue to the wire.
func (p *pipe) transmit() {
	r := p.queue.first()
	start := max(p.free, r.at)
	n := 1
	if p.rate > 0 {
		each := int64(p.framing.Cost(r.ipBytes(int(r.first)))) * 8e9 / p.rate
		n = min(int(r.n), max(int(maxSpan/max(each, 1)), 1))
	}
	piece := r.part(0, n)
	if p.codel != nil {
		piece = p.manage(piece, start)
	}
	taken := r.part(0, int(piece.first-r.first)+int(piece.n))
	p.queuedBytes -= taken.cost(p.framing)
	p.queuedSegs -= int64(taken.n)
	p.mem.hold(r.off)
	r.first += taken.n
	r.n -= taken.n
	if r.n == 0 {
		p.mem.drop(p.queue.pop().off)
	}
	if piece.n == 0 {
		p.mem.drop(piece.off)
		return
	}
	end := p.serialise(start, piece)
	p.service = service{start, end, int64(piece.n), int64(p.framing.Cost(piece.ipBytes(int(piece.first))))}
	p.free = end
	if p.trace != nil {
		p.free = p.trace.at()
	}
	p.onWire(piece, start, end)
}

// serialise returns when the last bit of a piece that starts at start is sent.
func (p *pipe) serialise(start int64, piece run) int64 {
	if p.trace != nil {
		if start > p.trace.at() { // what was before it held the packet back
			p.trace.idle(start - 1)
		}
		return p.trace.send(piece.ipBytes(int(piece.first)))
	}
	if start > p.free {
		p.frac = 0
	}
	work := piece.cost(p.framing)*8e9 + p.frac
	p.frac = work % p.rate
	return start + work/p.rate
}

// manage lets CoDel decide about the segments of a piece in turn. It returns
// those that go on the wire now: dropped ones are passed over, and the piece
// ends before the next one that is decided otherwise.
func (p *pipe) manage(piece run, start int64) run {
	kept := piece.part(0, 0)
	at := start
	backlog := p.queuedBytes
	for i := range int(piece.n) {
		cost := piece.part(i, 1).cost(p.framing)
		backlog -= cost
		before := *p.codel
		drop := p.codel.decide(at, at-piece.at, backlog)
		mark := drop && p.ecnCoDel && piece.flags&runECT != 0
		switch {
		case kept.n > 0 && (drop || kept.flags != piece.flags):
			*p.codel = before // it will be asked again when the segment's turn comes
			return kept
		case mark:
			p.stats.Marked++
			kept = piece.part(i, 1)
			kept.flags |= runCE
		case drop:
			p.stats.DropCoDel++
			kept = piece.part(i+1, 0)
		case kept.n == 0:
			kept = piece.part(i, 1)
		default:
			kept.n++
		}
		if p.rate > 0 && kept.n > 0 {
			at += cost * 8e9 / p.rate
		}
	}
	return kept
}

// onWire decides what happens to the segments of r, sent from start to end,
// and puts what survives on the line. It takes r's reference.
func (p *pipe) onWire(r run, start, end int64) {
	total := int64(r.n)
	sent := func(left uint16) int64 { return start + (end-start)*(total-int64(left))/total }
	for r.n > 0 {
		calm := int64(r.n)
		for i := range p.choosers {
			calm = min(calm, p.choosers[i].left)
		}
		for i := range p.choosers {
			p.choosers[i].pass(int(calm))
		}
		if calm > 0 {
			p.mem.hold(r.off)
			head := r.part(0, int(calm))
			r = r.part(int(calm), int(r.n)-int(calm))
			p.send(head, sent(r.n), 0)
		}
		if r.n > 0 {
			p.mem.hold(r.off)
			head := r.part(0, 1)
			r = r.part(1, int(r.n)-1)
			p.strike(head, sent(r.n))
		}
	}
	p.mem.drop(r.off)
}

// strike applies the decisions that fell on one segment.
func (p *pipe) strike(r run, end int64) {
	var hit [kinds]bool
	for i := range p.choosers {
		c := &p.choosers[i]
		if hit[i] = c.left == 0; hit[i] {
			c.next()
		} else {
			c.pass(1)
		}
	}
	if hit[kindLoss] {
		p.stats.DropLoss++
		p.mem.drop(r.off)
		return
	}
	if hit[kindMark] && r.flags&(runECT|runCE) == runECT {
		p.stats.Marked++
		r.flags |= runCE
	}
	if hit[kindCorrupt] {
		p.stats.Corrupted++
		r.flags |= runCorrupt
	}
	var late int64
	if hit[kindReorder] {
		p.stats.Reordered++
		late = p.hold
	}
	if hit[kindDuplicate] {
		p.stats.Duplicated++
		p.mem.hold(r.off)
		p.send(r, end, late)
	}
	p.send(r, end, late)
}

// send puts r on the line, late beyond its time. It takes r's reference.
func (p *pipe) send(r run, sent, late int64) {
	for p.jitter.Overtake && r.n > 1 {
		p.mem.hold(r.off)
		p.send(r.part(0, 1), sent, late)
		r = r.part(1, int(r.n)-1)
	}
	r.at = sent + p.vary(sent) + late
	if late > 0 || p.jitter.Overtake {
		p.held = heapPush(p.held, r)
		return
	}
	r.at = max(r.at, p.lastDue)
	p.lastDue = r.at
	p.line.push(r)
}

// vary returns the delay of a piece sent then. Where the order is kept, a shorter
// delay comes into effect only as time passes. So that not the longest of many
// draws delays all of a dense flow, one that is in effect holds for as long as
// the spread: the delay as a function of time then has the distribution asked for.
func (p *pipe) vary(sent int64) int64 {
	if p.jitter.Overtake || sent >= p.settled {
		p.varied = max(p.delay+p.draw(), 0)
		p.settled = max(sent, p.lastDue-p.varied) + int64(p.jitter.Spread)
	}
	return p.varied
}

// draw returns the jitter of one piece in ns.
func (p *pipe) draw() int64 {
	spread := float64(p.jitter.Spread)
	if spread == 0 {
		return 0
	}
	switch p.jitter.Shape {
	case link.Normal:
		return int64(spread * p.rng.NormFloat64())
	case link.Pareto:
		// Shape 3 and scale 2/3 of the spread have the spread as their mean.
		return int64(spread * 2 / 3 * math.Pow(1-p.rng.Float64(), -1.0/3))
	}
	return int64(spread * (2*p.rng.Float64() - 1))
}

// wake returns when the pipe next has something to do; ok is false where only
// an arrival can change that.
func (p *pipe) wake() (at int64, ok bool) {
	at = math.MaxInt64
	switch {
	case p.line.len() > 0: // what the transmitter has yet to send comes after it
		at = p.line.first().at
	case p.queue.len() > 0:
		at = p.free
		if p.flow.waits() {
			at += gateLook
		}
	}
	if len(p.held) > 0 {
		at = min(at, p.held[0].at)
	}
	return at, at != math.MaxInt64
}

// orderly says that what arrives next matters to nobody before wake.
func (p *pipe) orderly() bool {
	return p.jitter.Spread == 0 && len(p.held) == 0 && p.flow.Own == nil
}

// take returns the next run that is to be delivered by now, where everything
// that came before known has arrived: what arrives later may have come then. The
// caller hands back its reference with p.mem.drop(r.off).
func (p *pipe) take(now, known int64) (r run, ok bool) {
	p.advance(min(now, known))
	p.work()
	early := len(p.held) > 0 && (p.line.len() == 0 || p.held[0].at < p.line.first().at)
	switch {
	case early && p.held[0].at <= now:
		r, p.held = heapPop(p.held)
		return r, true
	case !early && p.line.len() > 0 && p.line.first().at <= now:
		return p.line.pop(), true
	}
	return run{}, false
}
