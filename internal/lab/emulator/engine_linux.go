package emulator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/internal/lab/link"
)

// Engine drives one pipe: it moves units from one TUN device to another on a
// thread of its own, which sleeps in the kernel until a unit arrives or the
// next one is due.
type Engine struct {
	pipe      *pipe
	mem       *arena
	in, out   int
	stop      int // eventfd
	start     time.Time
	rng       *rand.Rand // for corruption
	head      [vnetLen + maxHeaders]byte
	scratch   []byte
	stamps    *stamps
	unstamped error    // why there are none
	known     int64    // all that came before this has been read
	drained   int64    // without stamps: no unit that is read now came before this
	arrived   int64    // and when the one that ended the last sleep came; 0: it has been read
	due       int64    // for what the timer was armed that ended the last sleep; 0: it was no long one
	armed     int64    // and when it was to go off
	behind    int64    // end of the last stall
	waking    follower // what waking takes, hardly ever less
	passing   follower // and what it takes until a packet has been delivered, the median

	mu        sync.Mutex
	published Stats
	last      int64         // when Stats were last published
	before    time.Duration // processor time of the thread before it served this engine
	rank      rank
	done      chan struct{}
}

// RingLength is the queue of each TUN device in units. It bridges the moments
// in which the emulator does not run; in the long run what waits is bounded by
// the emulated queue.
const RingLength = 20000

const (
	// batch bounds how many units are read or written before the other side
	// of the loop has its turn.
	batch = 8
	// nap is the shortest sleep while units are on the line: deliveries that
	// fall together are made with one wake-up, at most this late.
	nap = 10 * time.Microsecond
	// longSleep is from where a processor may have gone idle meanwhile.
	longSleep = 300 * time.Microsecond
	// quiet is for how long after the last packet sleeps are not told to the Go
	// scheduler, see poll.
	quiet = 100 * time.Millisecond
	// publishEvery is how often a busy engine publishes its counters.
	publishEvery = 10 * time.Millisecond
)

// Start starts one direction of a link from one TUN device to another.
// start is the zero of its clock.
func Start(l link.Link, d link.Direction, in, out int, start time.Time, seed uint64, gates Flow,
	budget *Budget) (*Engine, error) {
	var clock *traceClock
	if d.Trace != "" {
		trace, err := link.LoadTrace(d.Trace)
		if err != nil {
			return nil, err
		}
		clock = newTraceClock(trace)
	}
	mem, err := newArena(l.Memory(d))
	if err != nil {
		return nil, err
	}
	stop, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		mem.release()
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	p := newPipe(l, d, mem, clock, seed)
	p.flow = gates
	e := &Engine{
		pipe: p, mem: mem,
		in: in, out: out, stop: stop, start: start, rank: rank{budget: budget},
		rng: rand.New(rand.NewPCG(seed, kinds+1)), scratch: make([]byte, maxUnit),
		done:    make(chan struct{}),
		waking:  follower{int64(10 * time.Microsecond), 1000, 9000},
		passing: follower{int64(30 * time.Microsecond), 5000, 5000},
	}
	var zero unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &zero)
	// Refused (without CAP_BPF, by an old kernel) only times are less exact.
	e.stamps, e.unstamped = stampArrivals(in, zero.Nano()-e.now())
	go e.run()
	return e, nil
}

// Close ends the loop and frees what the engine holds; not the TUN devices.
func (e *Engine) Close() {
	one := [8]byte{0: 1, 7: 1} // any number, in either byte order
	unix.Write(e.stop, one[:])
	<-e.done
	unix.Close(e.stop)
	e.stamps.release(e.in)
	e.mem.release()
}

// Unstamped says why the kernel does not note when packets come, nil where it does.
func (e *Engine) Unstamped() error { return e.unstamped }

// Stats returns what the direction did so far.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.published
}

func (e *Engine) now() int64 { return int64(time.Since(e.start)) }

// run is the loop; it returns after close.
func (e *Engine) run() {
	defer close(e.done)
	runtime.LockOSThread() // for good: the thread ends with its rank
	e.rank.begin()
	e.before = time.Duration(threadTime())
	for {
		more := e.read(e.now())
		now := e.now()
		e.deliver(max(now, e.due))
		if more {
			if now-e.last > int64(publishEvery) {
				e.publish(now)
			}
			continue
		}
		if !e.wait() {
			e.publish(e.now())
			return
		}
	}
}

// deliver writes what is due. The queue is moved on only up to where all
// arrivals are known: what was late in reading is queued as if it had not been.
func (e *Engine) deliver(now int64) {
	p := e.pipe
	for range batch {
		r, ok := p.take(now, e.known)
		if !ok {
			return
		}
		p.stats.late(time.Duration(now - r.at))
		e.stall(r.at, now)
		if errno := e.write(r); errno != 0 {
			p.stats.DropKernel++
		} else {
			p.stats.Delivered += int64(r.n)
			p.stats.Writes++
		}
		e.mem.drop(r.off)
		now = e.now()
		if e.due != 0 {
			e.passing.learn(now - e.armed)
			e.due = 0
		}
	}
}

// stall counts the time from when something should have been done until now.
func (e *Engine) stall(due, now int64) {
	if now-due > int64(LateLimit) {
		e.pipe.stats.Stalled += time.Duration(now - max(due, e.behind))
		e.behind = now
	}
}

// write hands the segments of r to the receiving kernel as one unit.
func (e *Engine) write(r run) unix.Errno {
	u := e.mem.mem[r.off : r.off+vnetLen+int64(r.ipLen)]
	if r.n == r.segs && r.flags&(runCE|runCorrupt) == 0 {
		return writeUnit(e.out, u, nil)
	}
	n, payload := cut(e.head[:], u, r.shape, int(r.first), int(r.n), r.flags&runCE != 0)
	if r.flags&runCorrupt == 0 {
		return writeUnit(e.out, e.head[:n], payload)
	}
	whole := append(append(e.scratch[:0], e.head[:n]...), payload...)
	complete(whole)
	corrupt(whole, e.rng)
	return writeUnit(e.out, whole, nil)
}

// read takes up to a batch of units; more says that there may be others. A unit
// for which there is no memory is lost.
func (e *Engine) read(now int64) (more bool) {
	for range batch {
		b, off := e.mem.space()
		lost := b == nil
		if lost {
			b = e.scratch
		}
		n, errno := readUnit(e.in, b)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 || n < vnetLen {
			e.known, e.drained = max(e.known, now), now
			e.stamps.empty()
			return false
		}
		now = e.now()
		at := e.came(b[vnetLen:n], now)
		switch {
		case n == vnetLen || control(b[vnetLen:n]):
		case lost:
			e.pipe.stats.DropMemory++
		default:
			e.mem.keep(n)
			e.pipe.arrive(b[:n], off, at)
		}
	}
	return true
}

// came returns when the unit that was read at now came, and counts how long it
// had to wait. Without stamps all that is known is between when the device was
// last seen empty and now.
func (e *Engine) came(ip []byte, now int64) int64 {
	at, ok := e.stamps.of(ip)
	since := at
	if ok = ok && at > e.known-int64(time.Second) && at < now+int64(time.Second); !ok { // another clock's are none
		at, since = now, e.drained
		if e.arrived != 0 { // the unit that ended the sleep
			at = e.arrived
		}
		if now-since > int64(LateLimit) && e.pipe.idle(now) {
			e.pipe.stats.Late++
			e.stall(since, now)
		}
	}
	e.arrived = 0
	e.pipe.stats.WorstBacklog = max(e.pipe.stats.WorstBacklog, time.Duration(now-since))
	at = min(max(at, e.known), now)
	e.known = at
	if !ok {
		e.known = now
	}
	return at
}

// wait sleeps until a unit arrives, one is due, or the engine is closed.
//
// Waking from a long sleep takes a processor tens of microseconds, the more in
// a virtual machine, and the first packet after it as many. The engine learns how
// long from its own timers and arms them that much earlier; what it was woken for
// is delivered at once, since to sleep for the rest would take as long again.
// Without stamps it dates back the arrival that woke it. So an idle path has the
// round-trip time that was asked for.
func (e *Engine) wait() bool {
	e.due = 0
	fds := [2]unix.PollFd{{Fd: int32(e.stop), Events: unix.POLLIN}, {Fd: int32(e.in), Events: unix.POLLIN}}
	e.publishIfNew()
	asleep := e.now()
	until, early := int64(math.MaxInt64), e.passing.ns
	var timeout *unix.Timespec
	var ts unix.Timespec
	busy := asleep-e.last < int64(quiet)
	if at, ok := e.pipe.wake(); ok {
		if at <= asleep {
			return true
		}
		until = max(at, asleep+int64(nap))
		if until-asleep > int64(longSleep) {
			until -= early
		}
	}
	if busy {
		until = min(until, asleep+int64(quiet))
	}
	if until != math.MaxInt64 {
		ts = unix.NsecToTimespec(until - asleep)
		timeout = &ts
	}
	watched := len(fds)
	if until-asleep <= int64(longSleep) && e.stamps != nil && e.pipe.orderly() {
		watched = 1 // what arrives meanwhile is not due before, and when it came will be known
	}
	n, errno := poll(fds[:watched], timeout, busy)
	if errno != 0 && errno != unix.EINTR {
		return false
	}
	awake := e.now()
	e.drained, e.arrived = awake, 0
	if awake-asleep > int64(longSleep) {
		e.drained = max(asleep, awake-e.waking.ns)
		if n == 0 {
			e.waking.learn(awake - until)
			e.due, e.armed = until+early, until
		}
	}
	if fds[1].Revents != 0 { // what woke us came before we could look
		e.arrived = e.drained
	}
	return fds[0].Revents == 0
}

// threadTime returns the processor time of the calling thread in ns.
func threadTime() int64 {
	var used unix.Timespec // the Go scheduler is not told, see poll
	unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_THREAD_CPUTIME_ID, uintptr(unsafe.Pointer(&used)), 0)
	return used.Nano()
}

// poll waits for one of fds. A silent wait is not told to the Go scheduler. That
// looks at a thread in a system call again and again, and one that wakes just then
// spins until the looker, whom it may have taken the processor from, is done: for up
// to a second if it is a real-time thread. A signal of the scheduler's ends the wait.
func poll(fds []unix.PollFd, timeout *unix.Timespec, silent bool) (ready int, errno unix.Errno) {
	call := unix.Syscall6
	if silent {
		call = unix.RawSyscall6
	}
	n, _, errno := call(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)),
		uintptr(unsafe.Pointer(timeout)), 0, 0, 0)
	return int(n), errno
}

// follower follows a quantile of times, in ns: a sample above it moves it up by
// one step, one below it down by the other, so that down/(up+down) of them are
// above.
type follower struct{ ns, up, down int64 }

func (q *follower) learn(ns int64) {
	const most = int64(100 * time.Microsecond) // early by this, a round trip is by 0.2 ms
	step := q.up
	if ns <= q.ns {
		step = -q.down
	}
	q.ns = min(max(q.ns+step, 0), most)
}

func (e *Engine) publishIfNew() {
	if e.published.Units != e.pipe.stats.Units || e.published.Writes != e.pipe.stats.Writes {
		e.publish(e.now())
	}
}

func (e *Engine) publish(now int64) {
	e.pipe.stats.MaxMemory = max(e.pipe.stats.MaxMemory, e.mem.used())
	used := threadTime()
	e.pipe.stats.CPU = time.Duration(used) - e.before
	e.rank.follow(now, used)
	e.mu.Lock()
	e.published = e.pipe.stats
	e.mu.Unlock()
	e.last = now
}
