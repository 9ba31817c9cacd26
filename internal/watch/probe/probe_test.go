package probe

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wirerate/wirerate/internal/watch"
)

func FuzzParse(f *testing.F) {
	for _, text := range []string{"icmp:192.0.2.1", "icmp:fe80::1%eth0", "tcp:a.example:443", "tcp:[2001:db8::1]:22",
		"http://a.example/x?y", "http:https://a.example/", "icmp:", "tcp:a", "tcp:a:0", "http:a", "http://u:p@a/", "icmp:a\x1b[2J", "", "a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		target, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrTarget) {
				t.Fatal(err)
			}
			return
		}
		again, err := Parse(target.String())
		if err != nil || again.String() != target.String() {
			t.Fatalf("%q is shown as %q, which is read as %v, %v", text, target, again, err)
		}
	})
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{"icmp:192.0.2.1": "icmp:192.0.2.1", "tcp:[2001:db8::1]:22": "tcp:[2001:db8::1]:22",
		"http:https://a.example/": "https://a.example/", "http://a.example": "http://a.example", "icmp:": "", "tcp:a": "",
		"tcp:a:0": "", "udp:a:1": "", "http://user:secret@a/": "", "icmp:a b": "", "icmp:\x1b[2J": "", "http:ftp://a/": ""} {
		target, err := Parse(text)
		if (err != nil) != (want == "") || err == nil && target.String() != want {
			t.Errorf("%q: %v, %v", text, target, err)
		}
	}
}

// scripted is a prober whose n-th probe is answered after a time; one below zero
// is refused. It begins so late.
func scripted(t *testing.T, every, late time.Duration, answer func(n int64) time.Duration) *Prober {
	p := newProber(Target{kind: "icmp", host: "192.0.2.1"}, every)
	var n atomic.Int64
	p.ask = func(ctx context.Context) (time.Time, error) {
		wait := answer(n.Add(1) - 1)
		if wait < 0 {
			return time.Time{}, errors.New("refused")
		}
		select {
		case <-time.After(wait):
			return time.Now(), nil
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	p.stop = stop
	p.work.Go(func() { p.schedule(ctx, time.Now().Add(-late)) })
	t.Cleanup(p.Close)
	return p
}

// A target that stalls delays no probe: those that were due meanwhile are sent,
// and their wait is counted.
func TestStallsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		p := scripted(t, time.Second, 0, func(int64) time.Duration { // everything from the 10th to the 13th second waits for its end
			if at := time.Since(begin); at >= 10*time.Second && at < 13*time.Second {
				return 13*time.Second - at
			}
			return 20 * time.Millisecond
		})
		time.Sleep(19*time.Second + 500*time.Millisecond)
		got := p.Take()
		if got.Answered != 20 || got.Lost != 0 || got.Missed != 0 || got.Waiting != 0 {
			t.Fatalf("%+v", got)
		}
		want := []watch.Bin{{From: 20_000, Count: 17}, {From: 1_000_000, Count: 1}, {From: 2_000_000, Count: 1}, {From: 3_000_000, Count: 1}}
		for i, b := range got.Bins {
			if b != want[i] {
				t.Errorf("%v", got.Bins)
			}
		}
		if again := p.Take(); again.Answered != 0 || again.RTT != nil {
			t.Errorf("taken twice: %+v", again)
		}
	})
}

// A target that never answers has no more probes waiting than are due in the time
// that an answer is waited for; one that refuses says why.
func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := scripted(t, 100*time.Millisecond, 0, func(int64) time.Duration { return time.Hour })
		refuses := scripted(t, time.Second, 0, func(int64) time.Duration { return -1 })
		time.Sleep(time.Minute + 50*time.Millisecond)
		if got := silent.Take(); got.Waiting != 50 || got.Lost != 551 || got.Error != "no answer in 5s" {
			t.Errorf("%+v", got)
		}
		if got := refuses.Take(); got.Lost != 61 || got.Error != "refused" || got.Loss() != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// What this program was too late to send is neither sent nor lost.
func TestMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scripted(t, time.Second, 3500*time.Millisecond, func(int64) time.Duration { return time.Millisecond })
		time.Sleep(2 * time.Millisecond)
		if got := p.Take(); got.Answered != 1 || got.Missed != 3 || got.RTT.P50 != 501 {
			t.Errorf("%+v", got)
		}
	})
}

// take waits for probes to end.
func take(t *testing.T, p *Prober, enough func(watch.Probe) bool) watch.Probe {
	t.Helper()
	var all []watch.Probe
	for {
		all = watch.MergeProbes(all, []watch.Probe{p.Take()})
		if enough(all[0]) {
			return all[0]
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%+v", all)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func start(t *testing.T, text string) *Prober {
	t.Helper()
	target, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(t.Context(), target, Shortest)
	if errors.Is(err, ErrPrivilege) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func answered(n uint64) func(watch.Probe) bool {
	return func(p watch.Probe) bool { return p.Answered >= n }
}
func lost(p watch.Probe) bool { return p.Lost >= 1 }

func TestICMP(t *testing.T) {
	if got := take(t, start(t, "icmp:127.0.0.1"), answered(3)); got.RTT.P50 <= 0 || got.RTT.P50 > 5000 {
		t.Errorf("%+v", got.RTT)
	}
	take(t, start(t, "icmp:localhost"), answered(1))
}

func TestICMP6(t *testing.T) {
	if _, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip("no IPv6 here: ", err)
	}
	take(t, start(t, "icmp:::1"), answered(2))
}

func TestTCP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, "tcp:"+l.Addr().String())
	take(t, p, answered(3))
	l.Close() // the program goes away
	if got := take(t, p, lost); got.Error == "" {
		t.Error("a refused connection has no reason")
	}
}

// The first answer waits for later requests: whoever waited for it before sending
// them would wait in vain.
func TestHTTP(t *testing.T) {
	var requests, status atomic.Int64
	status.Store(302)
	others := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch requests.Add(1) {
		case 1:
			<-others
		case 5:
			close(others)
		}
		w.Header().Set("Location", "http://192.0.2.1/")
		w.WriteHeader(int(status.Load()))
	}))
	defer s.Close()
	p := start(t, s.URL)
	if got := take(t, p, answered(6)); got.Lost != 0 {
		t.Errorf("%+v", got)
	}
	status.Store(503)
	if got := take(t, p, lost); got.Error != "status 503" {
		t.Errorf("%+v", got)
	}
}

// Only an echo's answer with our token is one; what else comes is ignored.
func FuzzAnswered(f *testing.F) {
	g := pinger{token: [16]byte{1, 2, 3}}
	good := append([]byte{0, 0, 0, 0, 0, 1, 0, 7}, g.token[:]...)
	f.Add(append(good, make([]byte, payload-len(g.token))...), false)
	f.Add([]byte{129, 0, 0, 0, 0, 1, 0, 7}, true)
	f.Add([]byte{8}, false)
	f.Fuzz(func(t *testing.T, packet []byte, six bool) {
		if seq, ok := g.answered(packet, six); ok && (!bytes.Contains(packet, g.token[:]) || int(seq) != int(packet[6])<<8|int(packet[7])) {
			t.Fatalf("%x is taken for the answer %d", packet, seq)
		}
	})
}

func TestAnswered(t *testing.T) {
	g := pinger{token: [16]byte{1, 2, 3}}
	packet := append([]byte{0, 0, 0, 0, 0, 1, 0, 7}, append(g.token[:], make([]byte, payload-len(g.token))...)...)
	if seq, ok := g.answered(packet, false); !ok || seq != 7 {
		t.Error("an answer is not taken")
	}
	for i := range 8 + len(g.token) {
		bad := bytes.Clone(packet)
		if bad[i] ^= 0x55; i == 0 || i >= 8 {
			if _, ok := g.answered(bad, false); ok {
				t.Errorf("byte %d is wrong, and it is taken", i)
			}
		}
	}
}
