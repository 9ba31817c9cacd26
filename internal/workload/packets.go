package workload

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"syscall"
	"time"
)

const (
	lossBound  = 0.01 // share of packets that a step may lose
	firstRate  = 2000 // packets/s with which the search begins
	batchSize  = 64
	stepTime   = 200 * time.Millisecond
	mayBeLate  = 4 * time.Millisecond // what a sender catches up with
	resolution = 0.03
)

// flood is the rate of a sender that does not wait.
const flood = 1e9

// packetSender sends numbered datagrams over several flows from one thread.
type packetSender struct {
	flows   []syscall.RawConn
	batches []*batch
	began   time.Time
}

func (l *load) packetSender() (*packetSender, func(), error) {
	p := &packetSender{began: time.Now()}
	var conns []net.Conn
	closeAll := func() {
		for _, c := range conns {
			c.Close()
		}
	}
	for i := range l.spec.Streams {
		c, err := net.Dial("udp", l.addr)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		conns = append(conns, c)
		raw, err := c.(*net.UDPConn).SyscallConn()
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		b := newBatch(batchSize, numberedSize, false)
		for _, datagram := range b.payloads {
			datagram[0], datagram[atFlow] = modePacket, byte(i)
		}
		p.flows, p.batches = append(p.flows, raw), append(p.batches, b)
	}
	return p, closeAll, nil
}

// send paces datagrams of one step for d and returns how many the kernel took
// and how long that was. What a stall of more than mayBeLate made late is not
// sent: a burst of it would be another rate than the one offered.
func (p *packetSender) send(name uint64, rate float64, d time.Duration) (sent uint64, took time.Duration, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	promptly()
	start, skipped, flow := time.Now(), 0.0, 0
	for {
		now := time.Since(start)
		if now >= d {
			return sent, now, nil
		}
		due := rate*now.Seconds() + 1 - skipped - float64(sent)
		if late := due - max(rate*mayBeLate.Seconds(), batchSize); late > 0 {
			skipped, due = skipped+late, due-late
		}
		if due < 1 {
			precisely(min(max(time.Duration((1-due)/rate*1e9), 20*time.Microsecond), d-now))
			continue
		}
		n, err := p.hand(flow%len(p.flows), int(min(due, batchSize)), name, sent)
		if err != nil {
			return sent, now, err
		}
		sent, flow = sent+uint64(n), flow+1
	}
}

// hand gives a flow's next n datagrams to the kernel. A full queue takes fewer.
func (p *packetSender) hand(flow, n int, name, first uint64) (int, error) {
	b, sent := p.batches[flow], uint64(time.Since(p.began))
	for i, datagram := range b.payloads[:n] {
		binary.BigEndian.PutUint64(datagram[atStep:], name)
		binary.BigEndian.PutUint64(datagram[atNumber:], first+uint64(i))
		binary.BigEndian.PutUint64(datagram[atSent:], sent)
	}
	taken, err := b.send(p.flows[flow], n, numberedSize)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.EPERM) ||
		errors.Is(err, syscall.ECONNREFUSED) {
		precisely(20 * time.Microsecond)
		return taken, nil
	}
	return taken, err
}

// stepCounter asks the server what came of a step.
type stepCounter struct{ c net.Conn }

func (k stepCounter) read(name uint64) (s stepCount, err error) {
	k.c.SetDeadline(time.Now().Add(patience))
	if _, err := k.c.Write(binary.BigEndian.AppendUint64(nil, name)); err != nil {
		return s, err
	}
	line, err := readLine(k.c)
	if err == nil {
		err = json.Unmarshal(line, &s)
	}
	return s, err
}

// settled reads the count until all have come or, for a round trip, none came.
func (k stepCounter) settled(name uint64, sent uint64) (stepCount, time.Duration, error) {
	before := stepCount{Received: -1}
	for {
		asked := time.Now()
		now, err := k.read(name)
		took := time.Since(asked)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return now, took, fmt.Errorf("the server's count: %w", err)
		}
		if now.Received >= int64(sent) || now.Received == before.Received {
			return now, took, nil
		}
		before = now
		time.Sleep(10 * time.Millisecond)
	}
}

// packetRun is one search, or flood.
type packetRun struct {
	sender  *packetSender
	counter stepCounter
	run     uint64
	steps   uint64
	bound   float64
	dropped int64
}

// step offers a rate and counts what came.
func (r *packetRun) step(rate float64, d time.Duration) (attempt, error) {
	r.steps++
	name := r.run | r.steps
	sent, took, err := r.sender.send(name, rate, d)
	if err != nil {
		return attempt{}, err
	}
	if sent == 0 {
		return attempt{offered: rate, limit: Limit{LimitSender, "the client's kernel took no packet"}}, nil
	}
	got, _, err := r.counter.settled(name, sent)
	if err != nil {
		return attempt{}, err
	}
	seconds := took.Seconds()
	if rate < 1/d.Seconds() {
		seconds = float64(sent) / rate
	}
	lost := 1 - float64(got.Received)/float64(sent)
	a := attempt{offered: rate, achieved: float64(sent) / seconds, held: lost <= r.bound, metrics: map[string]float64{
		Packets: float64(got.Received) / seconds, SentPackets: float64(sent) / seconds, Loss: lost,
		Duplicates: float64(got.Duplicates) / float64(sent), Reordered: float64(got.Reordered) / float64(sent),
		DelayP50: got.DelayP50, DelayP99: got.DelayP99, Goodput: float64(got.Received) * numberedSize * 8 / seconds}}
	dropped := got.Dropped - r.dropped
	r.dropped = got.Dropped
	a.limit = packetLimit(a, int64(sent)-got.Received, dropped)
	return a, nil
}

// packetLimit says where the packets of a step were lost, or why they were not
// sent.
func packetLimit(a attempt, lost, dropped int64) Limit {
	switch {
	case !a.held && dropped > 0 && dropped >= lost/2:
		return Limit{LimitReceiver, fmt.Sprintf("the receiver: at %.0f/s its socket had no room for %d of the %d packets "+
			"lost (its program got no processor, or net.core.rmem_default is small)", a.achieved, dropped, lost)}
	case !a.held:
		return Limit{LimitPath, fmt.Sprintf("the path, or what forwards in it: at %.0f/s it lost %.1f%%",
			a.achieved, 100*a.metrics[Loss])}
	case !a.reached():
		return Limit{LimitSender, fmt.Sprintf("the sender: of %.0f/s it could make %.0f/s", a.offered, a.achieved)}
	}
	return Limit{}
}

// packets searches for the throughput of RFC 2544: the highest rate of which the
// path loses no more than a bound.
func (l *load) packets() (loaded, error) {
	r, stop, err := l.packetRun()
	if err != nil {
		return loaded{}, err
	}
	defer stop()
	began := time.Now()
	base, err := r.step(firstRate, stepTime)
	if err != nil {
		return loaded{}, err
	}
	if base.metrics[Packets] == 0 {
		return loaded{}, errors.New("none of the packets of the first step arrived, though TCP gets through: a packet " +
			"filter between the two drops UDP")
	}
	out := loaded{}
	if base.metrics[Loss] > lossBound { // twice by accident is rare
		again, err := r.step(firstRate, 2*stepTime)
		if err != nil {
			return loaded{}, err
		}
		if own := min(base.metrics[Loss], again.metrics[Loss]); own > lossBound {
			r.bound = min(1.2*own+lossBound, 0.9)
			out.warn(CodeLossBound, r.bound, "the path loses %.1f%% at %.0f packets/s already: the search takes "+
				"up to %.1f%%, not %.0f%%", 100*own, float64(firstRate), 100*r.bound, 100*lossBound)
		}
	}
	confirm := l.spec.Duration / 8
	s := search{try: r.step, low: firstRate, resolution: resolution, step: stepTime,
		until: began.Add(l.spec.Duration - 2*confirm), confirm: confirm}
	found, err := s.run()
	if err != nil {
		return loaded{}, err
	}
	out.Metrics, out.Limit = found.metrics, &found.limit
	if !found.held {
		out.warn(CodeLossBound, found.metrics[Loss], "no rate lost less than %.0f%% when it was tried for %s: this is the "+
			"lowest that was tried, with %.1f%% lost", 100*r.bound, confirm, 100*found.metrics[Loss])
	}
	return out, nil
}

// flood sends as fast as it can and counts what comes.
func (l *load) flood() (loaded, error) {
	r, stop, err := l.packetRun()
	if err != nil {
		return loaded{}, err
	}
	defer stop()
	a, err := r.step(flood, l.spec.Duration)
	if err != nil {
		return loaded{}, err
	}
	a.offered, a.held = a.achieved, a.metrics[Loss] <= lossBound
	a.limit = Limit{LimitSender, "the sender: all that it sent arrived"}
	if !a.held {
		a.limit = Limit{LimitPath, "what is behind the sender: the path, the router or the receiver"}
	}
	return loaded{Run{Metrics: a.metrics, Limit: &a.limit}}, nil
}

func (l *load) packetRun() (*packetRun, func(), error) {
	c, err := l.dial(modeSteps, 0) // before the flood, in which a handshake may be lost
	if err != nil {
		return nil, nil, err
	}
	sender, closeSender, err := l.packetSender()
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	r := &packetRun{sender: sender, counter: stepCounter{c}, run: rand.Uint64() << 16, bound: lossBound}
	return r, func() { closeSender(); c.Close() }, nil
}
