package workload

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestJudge: requests count from their intended start, those that failed are
// late, and one in a hundred may be.
func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		times  []float64
		failed int
		took   time.Duration
		held   bool
		limit  string
	}{
		"all in time":              {times(100, 0), 0, time.Second, true, ""},
		"one in a hundred is late": {times(99, 1), 0, time.Second, true, ""},
		"two are late":             {times(98, 2), 0, time.Second, false, LimitServer},
		"two failed":               {times(98, 0), 2, time.Second, false, LimitServer},
		"the client could not":     {times(100, 0), 0, 2 * time.Second, true, LimitClientCPU},
	} {
		o := &openLoop{bound: 100 * time.Millisecond, slots: make(chan struct{}, 1)}
		tally := &tally{times: c.times, failed: c.failed}
		a := o.judge(100, 100, c.took, tally)
		if a.held != c.held || a.limit.Code != c.limit {
			t.Errorf("%s: held %v, limit %+v", name, a.held, a.limit)
		}
	}
}

// times are so many in time, and so many late.
func times(soon, late int) (out []float64) {
	for range soon {
		out = append(out, 0.01)
	}
	for range late {
		out = append(out, 0.2)
	}
	return out
}

func TestExhausted(t *testing.T) {
	of := func(errno syscall.Errno) error {
		return fmt.Errorf("request: %w", &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", errno)})
	}
	for errno, want := range map[syscall.Errno]string{syscall.EADDRNOTAVAIL: LimitPorts, syscall.EMFILE: LimitFiles} {
		if got := exhausted(of(errno)); got == nil || got.Code != want {
			t.Errorf("%v: %+v", errno, got)
		}
	}
	if exhausted(of(syscall.ECONNREFUSED)) != nil || exhausted(nil) != nil || exhausted(errors.New("x")) != nil {
		t.Error("another error counts as want of ports")
	}
}

// TestNoCoordinatedOmission: a server that stops for a while makes the requests
// late that were due meanwhile, not only the one that it had.
func TestNoCoordinatedOmission(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer server.Close()
	began := time.Now()
	const stop = 400 * time.Millisecond
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			time.Sleep(time.Until(began.Add(stop)))
			go func() { defer c.Close(); echoOnce(c) }()
		}
	}()
	l := &load{ctx: t.Context(), addr: server.Addr().String(), spec: Spec{Streams: 1}}
	o := l.openLoop(singles(l.addr))
	o.bound = 50 * time.Millisecond
	a, err := o.step(100, 600*time.Millisecond)
	if err != nil || a.held || a.metrics[Errors]+a.metrics[LatencyMax] == 0 {
		t.Errorf("%+v, %v", a, err)
	}
	// Those due in the first 300 ms had no answer within twice the bound.
	if a.metrics[Errors] < 0.3 {
		t.Errorf("%.0f%% of the requests failed or were late, of which two thirds were due while the server stood", 100*a.metrics[Errors])
	}
}

func echoOnce(c net.Conn) {
	head := make([]byte, headSize)
	if _, err := c.Read(head); err == nil {
		_ = echo(c, 1)
	}
}
