package workload

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
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

// TestJudgeGrowth: a queue that grows is found in a step that ends before it has
// made a request late; a moment in which everything stood is not taken for one.
func TestJudgeGrowth(t *testing.T) {
	const rate, due = 1000, 200
	bound := 260 * time.Millisecond
	for name, c := range map[string]struct {
		took func(at float64) float64
		held bool
	}{
		"steady":                  {func(float64) float64 { return 0.08 }, true},
		"half more than it takes": {func(at float64) float64 { return 0.08 + at/2 }, false},
		"a stall of 40 ms":        {func(at float64) float64 { return 0.08 + max(0, min(0.04, 0.12-at)-max(0, 0.08-at)*1e3) }, true},
		"warms up":                {func(at float64) float64 { return 0.12 - at/5 }, true},
	} {
		o, tally := &openLoop{bound: bound, slots: make(chan struct{}, 1)}, &tally{}
		for i := range due {
			at := float64(i) / rate
			tally.at, tally.times = append(tally.at, at), append(tally.times, c.took(at))
		}
		a := o.judge(rate, due, 200*time.Millisecond, tally)
		if a.held != c.held || !c.held && (a.limit.Code != LimitServer || !strings.Contains(a.limit.Text, "grew by 75ms within 0.2 s")) {
			t.Errorf("%s: held %v, %+v", name, a.held, a.limit)
		}
	}
}

// TestJudgeLate: a generator that was held up for a moment made the rate; one that
// fell behind did not.
func TestJudgeLate(t *testing.T) {
	o := &openLoop{bound: 260 * time.Millisecond, slots: make(chan struct{}, 1)}
	for took, want := range map[time.Duration]float64{200 * time.Millisecond: 1000, 220 * time.Millisecond: 1000, 400 * time.Millisecond: 500} {
		if a := o.judge(1000, 200, took, &tally{times: times(200, 0)}); a.achieved != want {
			t.Errorf("%s: %.0f/s, want %.0f", took, a.achieved, want)
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

// TestClientsComeAnew: with each rate there are new clients, so that connecting is
// a part of what is measured; connections that are kept for good are opened once.
func TestClientsComeAnew(t *testing.T) {
	addr := served(t)
	for anew, most := range map[bool]bool{false: false, true: true} {
		dials := 0
		l := &load{ctx: t.Context(), addr: addr, spec: Spec{Streams: 1}}
		o := l.openLoop(arrival{kept: true, anew: anew, dial: func(ctx context.Context) (exchange, error) {
			dials++ // one request at a time is under way at this rate
			return l.fetch(ctx, smallFile)
		}})
		o.bound = 5 * time.Second
		for range 3 {
			if a, err := o.step(10, 300*time.Millisecond); err != nil || a.metrics[Errors] > 0 {
				t.Fatalf("%+v, %v", a, err)
			}
		}
		o.close()
		if (dials >= 3) != most {
			t.Errorf("anew %v: %d connections for 3 rates", anew, dials)
		}
	}
}
