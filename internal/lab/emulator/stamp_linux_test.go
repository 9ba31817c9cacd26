package emulator

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// note writes a record as the kernel's filter does.
func (s *stamps) note(at int64, ip []byte) {
	n := binary.NativeEndian.Uint64(s.mem)
	if n-binary.NativeEndian.Uint64(s.mem[stampsDone:]) >= stampLimit {
		return
	}
	record := s.mem[stampsAt+n%stampCount*stampSize:]
	binary.NativeEndian.PutUint64(record, uint64(at+s.zero))
	binary.NativeEndian.PutUint64(record[8:], identity(ip))
	binary.NativeEndian.PutUint64(s.mem, n+1)
}

// numbered returns the i-th of packets that differ.
func numbered(i int) []byte {
	ip := udp(100)[vnetLen:]
	binary.BigEndian.PutUint16(ip[4:], uint16(i))
	return ip
}

// A unit gets the time of its own record, whatever was dropped before it.
func TestStampsFindTheirUnits(t *testing.T) {
	s := &stamps{mem: make([]byte, stampsAt+stampCount*stampSize), zero: 1e6}
	want := func(i int, at int64, ok bool) {
		t.Helper()
		if got, found := s.of(numbered(i)); found != ok || ok && got != at {
			t.Errorf("packet %d: %d, %v, want %d, %v", i, got, found, at, ok)
		}
	}
	want(1, 0, false) // came before there was a filter
	for i := range 10 {
		s.note(int64(100+i), numbered(i))
	}
	want(0, 100, true)
	want(1, 101, true)
	want(7, 107, true)  // 2 to 6 found the device full
	want(50, 0, false)  // has no record,
	want(8, 108, true)  // which is nothing to the next one
	want(5, 0, false)   // what is past does not come again
	for i := range 10 { // of a device that is empty nothing waits
		s.note(int64(200+i), numbered(i))
	}
	s.empty()
	want(3, 203, true)
}

// What waits in a full device keeps its records, however much comes that finds
// no room.
func TestStampsOutlastAFlood(t *testing.T) {
	s := &stamps{mem: make([]byte, stampsAt+stampCount*stampSize)}
	comes, reads, held := 0, 0, []int{}
	come := func(n int) {
		for range n {
			s.note(int64(comes), numbered(comes))
			if len(held) < RingLength {
				held = append(held, comes)
			}
			comes++
		}
	}
	read := func(n int) {
		for range n {
			if at, ok := s.of(numbered(held[0])); !ok || at != int64(held[0]) {
				t.Fatalf("unit %d, the %d-th read: %d, %v", held[0], reads, at, ok)
			}
			held, reads = held[1:], reads+1
		}
	}
	come(50_000) // nobody reads
	for range 1000 {
		read(3)
		come(7)
	}
	read(len(held))
	come(RingLength + 1000)
	read(RingLength)
	s.empty()
	come(10)
	read(10)
}

// device makes a TUN interface wr0 with addresses in a network namespace of its
// own, in which this goroutine then is, and returns its descriptor.
func device(t *testing.T) int {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a network namespace needs root")
	}
	runtime.LockOSThread() // for good: the thread ends with its namespace
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skip(err)
	}
	fd, err := OpenTUN("wr0")
	if errors.Is(err, ErrNoDevice) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	dev, err := netlink.LinkByName("wr0")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(netlink.LinkSetTxQLen(dev, RingLength), netlink.LinkSetUp(dev)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"10.77.0.1/24", "fd77::1/64"} {
		address, err := netlink.ParseAddr(text)
		if err != nil {
			t.Fatal(err)
		}
		address.Flags = unix.IFA_F_NODAD
		if err := netlink.AddrAdd(dev, address); err != nil {
			t.Fatal(err)
		}
	}
	return fd
}

// The kernel notes every packet when it comes to the device, of each kind, and
// drops none.
func TestKernelStampsArrivals(t *testing.T) {
	tun := device(t)
	clock := func() int64 {
		var now unix.Timespec
		unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
		return now.Nano()
	}
	s, err := stampArrivals(tun, 0)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		t.Skipf("this kernel does not stamp for this user: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.release(tun)
	buf := make([]byte, maxUnit)
	for _, address := range []string{"10.77.0.2", "fd77::2"} {
		conn, err := net.Dial("udp", net.JoinHostPort(address, "7000"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		var sent [][2]int64
		for i := range 50 {
			before := clock()
			if _, err := conn.Write(make([]byte, 1+20*i)); err != nil {
				t.Fatal(err)
			}
			sent = append(sent, [2]int64{before, clock()})
		}
		n := 0
		for {
			size, errno := readUnit(tun, buf)
			if errno != 0 {
				break
			}
			ip := buf[vnetLen:size]
			at, ok := s.of(ip)
			if control(ip) {
				continue
			}
			if n == len(sent) {
				t.Fatalf("%s: more came than was sent", address)
			}
			if !ok || at < sent[n][0] || at > sent[n][1] {
				t.Errorf("%s: packet %d stamped %d, %v, sent %d", address, n, at, ok, sent[n])
			}
			n++
		}
		if n != len(sent) {
			t.Errorf("%s: %d packets came, want %d", address, n, len(sent))
		}
	}
}

// What comes to a device that is full is counted, and what waits in it keeps the
// times at which it came.
func TestFullDeviceKeepsCountAndTimes(t *testing.T) {
	tun := device(t)
	s, unstamped := stampArrivals(tun, 0)
	if unstamped == nil {
		defer s.release(tun)
	}
	conn, err := net.Dial("udp", "10.77.0.2:7000")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const sent = RingLength + stampCount
	for i := range sent {
		if _, err := conn.Write(binary.BigEndian.AppendUint32(nil, uint32(i))); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, maxUnit)
	waited, untimed := 0, 0
	for {
		size, errno := readUnit(tun, buf)
		if errno != 0 {
			break
		}
		if _, ok := s.of(buf[vnetLen:size]); !ok {
			untimed++
		}
		waited++
	}
	const others = 16 // that the kernel sends by itself
	dev, err := netlink.LinkByName("wr0")
	if err != nil {
		t.Fatal(err)
	}
	if n := int(dev.Attrs().Statistics.TxDropped) + waited; waited < RingLength-others || n < sent || n > sent+others {
		t.Errorf("%d waited, %d counted of %d sent", waited, n, sent)
	}
	if s != nil && untimed > others {
		t.Errorf("%d of %d have no time", untimed, waited)
	}
}
