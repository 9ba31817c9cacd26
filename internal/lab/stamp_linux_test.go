package lab

import (
	"encoding/binary"
	"errors"
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// note writes a record as the kernel's filter does.
func (s *stamps) note(at int64, ip []byte) {
	n := binary.NativeEndian.Uint64(s.mem)
	record := s.mem[stampsAt+n%stampCount*stampSize:]
	binary.NativeEndian.PutUint64(record, uint64(at+s.zero))
	binary.NativeEndian.PutUint64(record[8:], identity(ip))
	binary.NativeEndian.PutUint64(s.mem, n+1)
}

// A unit gets the time of its own record, whatever was dropped before it.
func TestStampsFindTheirUnits(t *testing.T) {
	s := &stamps{mem: make([]byte, stampsAt+stampCount*stampSize), zero: 1e6}
	packet := func(i int) []byte {
		ip := udp(100)[vnetLen:]
		binary.BigEndian.PutUint16(ip[4:], uint16(i))
		return ip
	}
	want := func(i int, at int64, ok bool) {
		t.Helper()
		if got, found := s.of(packet(i)); found != ok || ok && got != at {
			t.Errorf("packet %d: %d, %v, want %d, %v", i, got, found, at, ok)
		}
	}
	want(1, 0, false) // came before there was a filter
	for i := range 10 {
		s.note(int64(100+i), packet(i))
	}
	want(0, 100, true)
	want(1, 101, true)
	want(7, 107, true) // 2 to 6 found the device full
	want(50, 0, false)
	want(8, 0, false) // after one without a record nothing is known
	s.note(200, packet(60))
	want(60, 200, true)
	for i := range 2 * stampCount { // a second that nobody read in
		s.note(int64(1000+i), packet(i))
	}
	want(2*stampCount-10, 1000+2*stampCount-10, true)
}

// The kernel notes every packet when it comes to the device, of each kind, and
// drops none.
func TestKernelStampsArrivals(t *testing.T) {
	l := up(t, "rtt=0s")
	w := l.links[0]
	w.up.close()
	w.up = nil
	clock := func() int64 {
		var now unix.Timespec
		unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
		return now.Nano()
	}
	s, err := stampArrivals(w.tuns[0], 0)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		t.Skipf("this kernel does not stamp for this user: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.release(w.tuns[0])
	buf := make([]byte, maxUnit)
	for _, address := range []string{l.PeerAddr(), l.PeerAddr6()} {
		var conn net.Conn
		if err := inNamespace(int(l.netns[ClientHost].Fd()), func() (err error) {
			conn, err = net.Dial("udp", net.JoinHostPort(address, "7000"))
			return err
		}); err != nil {
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
			size, errno := readUnit(w.tuns[0], buf)
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
