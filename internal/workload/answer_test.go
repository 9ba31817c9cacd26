package workload

import (
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// TestGrowth: counters are read by the server's own clock, however late the
// answer is fetched.
func TestGrowth(t *testing.T) {
	a := &answerer{counters: map[uint64]*atomic.Int64{}}
	near, far := connected(t)
	served := make(chan error, 1)
	go func() { served <- a.growth(far) }()
	l := &load{ctx: t.Context(), spec: Spec{Duration: 200 * time.Millisecond}}
	a.counter(7).Store(1000)
	l.begin()
	if err := (growthOf{near}).ask(l, 7); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	time.Sleep(100 * time.Millisecond)
	r, err := (growthOf{near}).answer(l)
	if late := time.Since(l.from).Seconds(); err != nil || r.Seconds < 0.2 || r.Seconds > late-0.1 || r.Grown[0] != 0 {
		t.Errorf("%+v in %g s, %v", r, late, err)
	}
	near, far = connected(t)
	go func() { served <- a.growth(far) }()
	near.Write([]byte(`{"For":-1}` + "\n"))
	if err := <-served; err == nil {
		t.Error("a time below 0 was taken")
	}
}

// connected returns both ends of a connection.
func connected(t *testing.T) (near, far net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if near, err = net.Dial("tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if far, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close(); far.Close() })
	return near, far
}
