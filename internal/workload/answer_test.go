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
	near, far := net.Pipe()
	defer near.Close()
	served := make(chan error, 1)
	go func() { served <- a.growth(far) }()
	l := &load{ctx: t.Context(), spec: Spec{Duration: 200 * time.Millisecond}}
	a.counter(7).Store(1000)
	l.begin()
	if err := (growthOf{near}).ask(l, 7); err != nil {
		t.Fatal(err)
	}
	time.Sleep(400 * time.Millisecond)
	r, err := (growthOf{near}).answer(l)
	if late := time.Since(l.from).Seconds(); err != nil || r.Seconds < 0.2 || r.Seconds > late-0.01 || r.Grown[0] != 0 {
		t.Errorf("%+v in %g s, %v", r, late, err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	near, far = net.Pipe()
	defer near.Close()
	go func() { served <- a.growth(far) }()
	near.Write([]byte(`{"For":-1}` + "\n"))
	if err := <-served; err == nil {
		t.Error("a time below 0 was taken")
	}
}
