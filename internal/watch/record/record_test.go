package record

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wirerate/wirerate/internal/watch"
)

// TestMain lets this program be the one that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("RECORD_INTO"); dir != "" {
		r, err := Create(dir)
		from, _ := strconv.Atoi(os.Getenv("RECORD_FROM"))
		for i := from; err == nil; i++ {
			if err = r.Add(state(i)); err == nil {
				fmt.Println(i)
			}
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

var begin = time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)

// state is that of second i.
func state(i int) watch.State {
	limit := watch.NoLimit
	if i%60 >= 20 {
		limit = "send-buffer"
	}
	return watch.State{Schema: 1, Host: "local", Time: begin.Add(time.Duration(i) * time.Second), Interval: 1,
		Verdict: watch.Verdict{Limit: limit, Since: begin}, Traffic: watch.Traffic{Sent: float64(i % 60), RTT: 20},
		Interfaces: []watch.Interface{}, Processors: []watch.Busy{}, Levels: []watch.Level{}, Problems: []watch.Problem{},
		Flows: []watch.Flow{{ID: "7", Local: "192.0.2.1:22", Peer: "192.0.2.7:4000", Sent: float64(i % 60)}}}
}

func all(t *testing.T, dir string, from time.Time) (list []watch.State) {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Each(t.Context(), from, func(s watch.State) error { list = append(list, s); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestReplayIsWhatWasSeen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	r, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir); !errors.Is(err, ErrBusy) {
		t.Errorf("a second recorder: %v", err)
	}
	var want []watch.State
	for i := range 600 {
		want = append(want, state(i))
		if err := r.Add(state(i)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, all(t, dir, time.Time{})); diff != "" { // while it is open
		t.Error(diff)
	}
	if got := all(t, dir, begin.Add(10*time.Second)); len(got) != 590 || !got[0].Time.Equal(begin.Add(10*time.Second)) {
		t.Errorf("%d states from the tenth second on", len(got))
	}
	// A day later only minutes are left of them, a month later hours.
	later := state(0)
	later.Time = begin.Add(25 * time.Hour)
	if err := r.Add(later); err != nil {
		t.Fatal(err)
	}
	got := all(t, dir, time.Time{})
	if len(got) != 11 {
		t.Fatalf("%d states after a day", len(got))
	}
	if s := got[3]; s.Resolution != 60 || s.Verdict.Limit != "send-buffer" || s.Traffic.Sent != 29.5 || s.Course.Sent.Max != 59 ||
		s.Course.Sent.P90 != 54 || s.Course.RTT.P50 != 20 || s.Flows[0].Sent != 29.5 {
		t.Errorf("%+v", s)
	}
	later.Time = begin.Add(40 * 24 * time.Hour)
	if err := r.Add(later); err != nil {
		t.Fatal(err)
	}
	if got := all(t, dir, time.Time{}); len(got) != 3 || got[0].Resolution != 3600 {
		t.Errorf("%d states after a month", len(got))
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// A clock that jumps, and a file that may not grow.
func TestJumpsAndBounds(t *testing.T) {
	r, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.limit = 1 << 18
	for i := range 3000 {
		s := state(i)
		s.Time = begin.Add(time.Duration(i%700-i/10) * 10 * time.Second)
		s.Missing = map[string]string{"noise": fmt.Sprint(rand.Perm(100))}
		if err := r.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(filepath.Join(r.dir, "watch.db"))
	if err != nil || info.Size() > 4*r.limit {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}

// A recorder that is killed loses no state that it had kept, and the next one goes
// on: every minute that is over is there.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	next := 0
	for range 12 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "RECORD_INTO="+dir, "RECORD_FROM="+strconv.Itoa(next))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 20 + rand.IntN(300); n > 0 && lines.Scan(); n-- {
			var i int
			if _, err := fmt.Sscan(lines.Text(), &i); err == nil {
				next = max(next, i+1)
			}
		}
		cmd.Process.Kill()
		cmd.Wait()
		got := all(t, dir, time.Time{})
		if len(got) < next {
			t.Fatalf("%d states are left of %d", len(got), next)
		}
		for i, s := range got {
			if diff := cmp.Diff(state(i), s); diff != "" {
				t.Fatal(diff)
			}
		}
		next = len(got) // one may have been kept and not told
	}
	r, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Add(state(next)); err != nil {
		t.Fatal(err)
	}
	var minutes int
	if err := r.db.QueryRow("SELECT count(*) FROM states WHERE tier = 60").Scan(&minutes); err != nil || minutes != next/60 {
		t.Errorf("%d minutes of %d seconds, %v", minutes, next, err)
	}
}

// A damaged file is an error that says what to do, to who reads and who adds.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	r, err := Create(dir)
	for i := 0; err == nil && i < 300; i++ {
		err = r.Add(state(i))
	}
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{9000, 4096, 100} {
		if err := os.Truncate(filepath.Join(dir, "watch.db"), size); err != nil {
			t.Fatal(err)
		}
		r, err := Open(dir)
		if err == nil {
			err = r.Each(t.Context(), time.Time{}, func(watch.State) error { return nil })
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "move watch.db away") {
			t.Errorf("cut to %d bytes, read: %v", size, err)
		}
		if r, err = Create(dir); err == nil {
			err = r.Add(state(300))
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "move watch.db away") {
			t.Errorf("cut to %d bytes, added to: %v", size, err)
		}
	}
}

// Minutes and hours keep each answer and each loss of the probes, and each error
// of the switch.
func TestProbesAreSummedUp(t *testing.T) {
	m := newSum()
	for i := range 60 {
		s := state(i)
		p := watch.Probe{Target: "icmp:192.0.2.7", Every: 1}
		if i%10 == 0 {
			p.Lost = 1
		} else {
			p.Answer(uint64(20_000 + i))
		}
		s.Probes = []watch.Probe{p}
		if i%5 == 0 {
			s.Switch = []watch.SwitchPort{{Switch: "sw", Port: "1", Seconds: 5, Counts: map[string]uint64{"in_fcs_errors": 2}}}
		}
		m.add(s)
	}
	s := m.state(begin, time.Minute)
	if len(s.Probes) != 1 || s.Probes[0].Answered != 54 || s.Probes[0].Lost != 6 || s.Probes[0].RTT.P50 != 20 {
		t.Errorf("probes: %+v", s.Probes)
	}
	if len(s.Switch) != 1 || s.Switch[0].Counts["in_fcs_errors"] != 24 || s.Switch[0].Seconds != 60 {
		t.Errorf("switch: %+v", s.Switch)
	}
}
