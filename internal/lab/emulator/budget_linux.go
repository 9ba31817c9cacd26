package emulator

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Budget is how much of a processor each engine of a lab may use as a real-time
// thread. Labs that run side by side share what one alone may use, or one engine
// for each processor if that is more: together they leave the rest of the machine
// as much as one does.
//
// A lab is known to the others by an abstract socket (unix(7)) whose name has the
// number of its engines: it ends with the process, however that ends, leaves no
// file, and is seen from every PID and mount namespace of the network namespace
// that the labs were brought up in.
type Budget struct {
	engines int
	socket  int
	share   atomic.Uint64 // math.Float64bits of 0 to 1
	stop    chan struct{}
	watch   sync.WaitGroup
}

const (
	budgetName = "wirerate-emulator/"
	// budgetLook is how often a lab looks for others.
	budgetLook = time.Second
	// unixTable bounds what is read of /proc/net/unix, in bytes.
	unixTable = 4 << 20
)

// NewBudget is the budget of a lab with so many engines. Where the system gives
// them no real-time class anyway, nobody is told of the lab.
func NewBudget(engines int) *Budget {
	b := &Budget{engines: engines, socket: -1, stop: make(chan struct{})}
	b.share.Store(math.Float64bits(1))
	if !realTimeAllowed() {
		return b
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return b
	}
	b.socket = fd
	name := fmt.Sprintf("@%s%d/%s", budgetName, engines, rand.Text())
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: name}); err != nil {
		return b // the others do not know of it
	}
	b.look()
	b.watch.Go(func() {
		tick := time.NewTicker(budgetLook)
		defer tick.Stop()
		for {
			select {
			case <-b.stop:
				return
			case <-tick.C:
				b.look()
			}
		}
	})
	return b
}

// Close ends the budget.
func (b *Budget) Close() {
	close(b.stop)
	b.watch.Wait()
	if b.socket >= 0 {
		unix.Close(b.socket)
	}
}

// most returns the share of the limits of rank that an engine has, above 0 to 1;
// without a budget all.
func (b *Budget) most() float64 {
	if b == nil {
		return 1
	}
	return math.Float64frombits(b.share.Load())
}

// look counts the engines of all labs.
func (b *Budget) look() {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return
	}
	defer f.Close()
	all := max(countEngines(io.LimitReader(f, unixTable)), b.engines)
	b.share.Store(math.Float64bits(shareOf(b.engines, all, runtime.NumCPU())))
}

// shareOf is what an engine may use of what it could alone, where a lab has own
// engines of all on a machine with so many processors.
func shareOf(own, all, processors int) float64 {
	return min(float64(max(own, processors))/float64(max(all, 1)), 1)
}

// countEngines adds up the engines that the names of abstract sockets tell of in
// /proc/net/unix. Anybody may give a socket such a name: what is no sane number
// does not count.
func countEngines(table io.Reader) int {
	const sane = 1024
	n := 0
	for lines := bufio.NewScanner(table); lines.Scan(); {
		_, name, found := strings.Cut(lines.Text(), " @"+budgetName)
		if !found {
			continue
		}
		number, _, _ := strings.Cut(name, "/")
		if engines, err := strconv.Atoi(number); err == nil && engines > 0 && engines <= sane {
			n += engines
		}
	}
	return n
}

// realTimeAllowed says whether a thread of this process may be a real-time one.
func realTimeAllowed() bool {
	allowed := make(chan bool)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with its rank
		var r rank
		r.raise()
		allowed <- r.realTime
	}()
	return <-allowed
}
