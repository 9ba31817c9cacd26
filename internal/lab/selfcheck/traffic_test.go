//go:build linux

package selfcheck

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/lab"
)

// A queue of B bytes holds B bytes, of real packets in a GSO unit: one alone, since
// between two the queue drains for as long as the machine likes.
func TestQueueHoldsItsBytesLive(t *testing.T) {
	l := up(t, "rate=1mbit,queue=46140B") // 30 packets
	got, err := send(t.Context(), l, stream{size: 1500, count: 44, together: 44, settle: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.seq) != 31 {
		t.Errorf("%d arrived, want 30 from the queue and the one in service", len(got.seq))
	}
}

func TestPeriodicLossLive(t *testing.T) {
	l := up(t, "rtt=2ms,up:loss=every:1000")
	got, err := send(t.Context(), l, stream{size: 1500, count: 100_000, rate: 1e9, together: 40, settle: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.seq) != 99_900 {
		t.Fatalf("%d of 100000 arrived, want 99900", len(got.seq))
	}
	for i, seq := range got.seq {
		if want := uint32(i + i/999); seq != want {
			t.Fatalf("arrival %d has number %d, want %d", i, seq, want)
		}
	}
}

func TestMarksLive(t *testing.T) {
	l := up(t, "rtt=2ms,up:mark=every:100")
	for ecn, want := range map[int]int{0: 0, 1: 100, 2: 100} {
		got, err := send(t.Context(), l, stream{size: 1500, count: 10_000, rate: 5e8, together: 33, ecn: ecn, settle: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if got.ce != want || len(got.seq) != 10_000 {
			t.Errorf("ECN field %d: %d of %d arrived marked, want %d of 10000", ecn, got.ce, len(got.seq), want)
		}
	}
}

// CoDel marks what is ECN-capable and drops the rest: of a burst that takes
// 0.37 s to send, whenever it came.
func TestCoDelMarksLive(t *testing.T) {
	l := up(t, "up:rate=10mbit,up:queue=1000packets,up:aqm=codel,up:ecn=on")
	const n = 300
	for _, ecn := range []int{2, 0} {
		before, _ := l.Stats()
		got, err := send(t.Context(), l, stream{size: 1500, count: n, together: 30, ecn: ecn})
		if err != nil {
			t.Fatal(err)
		}
		now, _ := l.Stats()
		did := now.Since(before)
		if ecn == 2 && (got.ce == 0 || int64(got.ce) != did.Marked || did.DropCoDel != 0 || len(got.seq) != n) {
			t.Errorf("ECN-capable: %d of %d arrived, %d marked; %s", len(got.seq), n, got.ce, did)
		}
		if ecn == 0 && (got.ce != 0 || did.DropCoDel == 0 || int64(len(got.seq)) != n-did.DropCoDel) {
			t.Errorf("not ECN-capable: %d of %d arrived, %d marked; %s", len(got.seq), n, got.ce, did)
		}
	}
}

// A TCP stream arrives whole over a link that loses, doubles, reorders, marks
// and corrupts segments inside GSO units; corrupted ones are refused by the
// receiver's checksum.
func TestStreamArrivesWhole(t *testing.T) {
	l := up(t, "rtt=4ms,loss=2e-3,duplicate=2e-3,reorder=2e-3,hold=1ms,corrupt=5e-3,mark=0.01,seed=3")
	for _, c := range []host.Conn{l.Client(), l.Server()} {
		command(t, c, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/tcp_ecn; echo 0 > /proc/sys/net/ipv4/tcp_ecn_fallback")
	}
	var listener net.Listener
	if err := l.Inside(lab.ServerHost, func() (err error) {
		listener, err = net.Listen("tcp", fmt.Sprintf("[%s]:7000", l.PeerAddr6()))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	sum := make(chan []byte, 1)
	go func() {
		h := sha256.New()
		if c, err := listener.Accept(); err == nil {
			io.Copy(h, c)
			c.Close()
		}
		sum <- h.Sum(nil)
	}()
	var conn net.Conn
	if err := l.Inside(lab.ClientHost, func() (err error) {
		conn, err = net.Dial("tcp", fmt.Sprintf("[%s]:7000", l.PeerAddr6()))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	random := rand.New(rand.NewPCG(1, 2))
	block := make([]byte, 1<<16)
	for range 200 {
		for i := range block {
			block[i] = byte(random.Uint32())
		}
		h.Write(block)
		if _, err := conn.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	conn.Close()
	if !bytes.Equal(<-sum, h.Sum(nil)) {
		t.Error("the stream arrived changed")
	}
	s, _ := l.Stats()
	if s.DropLoss == 0 || s.Duplicated == 0 || s.Reordered == 0 || s.Corrupted == 0 || s.Marked == 0 || s.DropKernel != 0 {
		t.Errorf("the link did not do what the test is about: %s", s)
	}
	if out := command(t, l.Server(), "cat", "/proc/net/snmp"); counter(out, "Tcp", "InCsumErrors") == "0" {
		t.Error("no corrupted segment was refused")
	}
}

// counter reads a value of /proc/net/snmp.
func counter(snmp, proto, name string) string {
	var names []string
	for _, line := range strings.Split(snmp, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != proto+":" {
			continue
		}
		if names == nil {
			names = f
			continue
		}
		for i := range names {
			if names[i] == name {
				return f[i]
			}
		}
	}
	return ""
}

func TestRateLive(t *testing.T) {
	l := up(t, "rate=20mbit,rtt=2ms")
	res, err := run(t.Context(), l, transfer{duration: time.Second, omit: 300 * time.Millisecond, congestion: "reno", window: 60_000})
	if err != nil {
		t.Fatal(err)
	}
	want := 20e6 * float64(res.mss) / 1538
	up, down := l.Stats()
	slow := res.goodput < want*0.95 && up.KeptUp() && down.KeptUp()
	if res.mss < 1400 || res.goodput > want*1.2 || slow {
		t.Errorf("%.3f Mbit/s, want %.3f (MSS %d)", res.goodput/1e6, want/1e6, res.mss)
	}
}

// What the sending device has no room for is neither the link's loss nor passed
// over in silence.
func TestWhatFindsTheDeviceFullIsCounted(t *testing.T) {
	l := up(t, "rtt=0s")
	if err := l.OnInterface(lab.ClientHost, func(h *netlink.Handle, link netlink.Link) error {
		return errors.Join(h.LinkSetTxQLen(link, 1), h.LinkSetGSOMaxSegs(link, 1))
	}); err != nil {
		t.Fatal(err)
	}
	before, _ := l.Stats()
	for range 200 { // a burst of 44 comes faster than it is read, but where the sender is held up
		got, err := send(t.Context(), l, stream{size: 100, count: 440, together: 44})
		if err != nil {
			t.Fatal(err)
		}
		after, _ := l.Stats()
		did := after.Since(before)
		const others = 16 // that the kernel sends by itself, which may be refused too
		if n := did.Segments + did.DropDevice; n < int64(got.sent) || n > int64(got.sent)+others {
			t.Fatalf("%d sent: %s", got.sent, did)
		}
		if did.DropDevice > 0 {
			if len(got.seq) != int(did.Delivered) || did.DropLoss+did.DropQueue > 0 || did.KeptUp() {
				t.Errorf("%d arrived: %s", len(got.seq), did)
			}
			return
		}
		before = after
	}
	t.Error("200 bursts found room")
}
