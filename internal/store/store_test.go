package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/workload"
)

// TestMain lets the test program be the one that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("STORE_TEST_VICTIM"); path != "" {
		victim(path)
	}
	os.Exit(m.Run())
}

func victim(path string) {
	s, err := Open(context.Background(), path)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if err := s.Begin(context.Background(), Trial{ID: "killed", Kind: "trial", Started: time.Now()}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for i := 0; ; i++ {
		if err := s.Record(context.Background(), "killed", attempt(i)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(i)
	}
}

func attempt(i int) Attempt {
	return Attempt{Seq: i, Arm: "default", At: time.Now(), Raw: strings.Repeat("x", 1000), Run: workload.Run{GoodputBPS: float64(i), Metrics: map[string]float64{"a": 1}}}
}

func open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "with space?#%", "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestTrials(t *testing.T) {
	s := open(t)
	now := time.Now()
	for i, id := range []string{"20260101-a", "20260101-b", "20260202-c"} {
		if err := s.Begin(t.Context(), Trial{ID: id, Kind: "trial", Seed: 1<<63 + 5, Started: now.Add(time.Duration(i) * time.Second), Setup: []byte(`{"x":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Begin(t.Context(), Trial{ID: "20260101-a"}); err == nil {
		t.Error("one ID twice")
	}
	lost := attempt(1)
	lost.Lost, lost.Kind = "it was killed", "tool"
	for _, a := range []Attempt{attempt(0), lost} {
		if err := s.Record(t.Context(), "20260101-a", a); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(t.Context(), "20260101-a", Done, "helps", map[string]int{"schema": 1}); err != nil {
		t.Fatal(err)
	}
	all, err := s.Trials(t.Context(), 2)
	if err != nil || len(all) != 2 || all[0].ID != "20260202-c" {
		t.Fatalf("%v %v", all, err)
	}
	one, err := s.Trial(t.Context(), "20260101-a")
	if err != nil || one.State != Done || one.Runs != 1 || one.Seed != 1<<63+5 || string(one.Result) != `{"schema":1}` || one.Ended.IsZero() {
		t.Errorf("%+v %v", one, err)
	}
	if last, err := s.Trial(t.Context(), "last"); err != nil || last.ID != "20260202-c" || last.State != Running {
		t.Errorf("%+v %v", last, err)
	}
	if _, err := s.Trial(t.Context(), "202602"); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "2026", "zzz", "%"} {
		if _, err := s.Trial(t.Context(), bad); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	attempts, err := s.Attempts(t.Context(), "20260101-a")
	if err != nil || len(attempts) != 2 || attempts[0].Raw != strings.Repeat("x", 1000) || attempts[1].Lost != "it was killed" {
		t.Errorf("%v %v", attempts, err)
	}
}

// TestKilled kills a process that records and finds every attempt that it said
// was recorded.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "STORE_TEST_VICTIM="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := -1
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, err := fmt.Sscan(lines.Text(), &said); err != nil {
			t.Fatal(lines.Text())
		}
		if said == 20 {
			cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, err := s.Attempts(t.Context(), "killed")
	if err != nil || len(all) < said+1 || said < 20 {
		t.Errorf("%d attempts of %d are there, %v", len(all), said+1, err)
	}
	for i, a := range all {
		if a.Seq != i || a.Run.GoodputBPS != float64(i) {
			t.Fatalf("attempt %d: %+v", i, a)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "text")
	if err := os.WriteFile(file, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(file, "below")} {
		if s, err := Open(t.Context(), path); err == nil {
			s.Close()
			t.Errorf("%s was opened", path)
		}
	}
	s := open(t)
	if _, err := s.db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), s.path); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("%v", err)
	}
}

func TestDefaultPath(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/state")
	if p, err := DefaultPath(); err != nil || p != "/state/wirerate/history.db" {
		t.Error(p, err)
	}
	t.Setenv("XDG_STATE_HOME", "relative")
	t.Setenv("HOME", "/home/u")
	if p, err := DefaultPath(); err != nil || p != "/home/u/.local/state/wirerate/history.db" {
		t.Error(p, err)
	}
}

// TestOwner: a trial runs for others as long as the store that began it is open,
// and is killed when that ends without a result; only one store goes on with it.
func TestOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	another := func() *Store {
		t.Helper()
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	owner, other := another(), another()
	if err := owner.Begin(t.Context(), Trial{ID: "a", Kind: "trial", Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	state := func() string {
		t.Helper()
		one, err := other.Trial(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		return one.State
	}
	if s := state(); s != Running {
		t.Errorf("begun: %s", s)
	}
	if err := other.Resume(t.Context(), "a"); !errors.Is(err, ErrRunning) {
		t.Errorf("it is gone on with beside its owner: %v", err)
	}
	owner.Close()
	if s := state(); s != Killed {
		t.Errorf("its owner is gone: %s", s)
	}
	if err := other.Resume(t.Context(), "a"); err != nil || state() != Running {
		t.Errorf("gone on with: %v, %s", err, state())
	}
	if err := other.Finish(t.Context(), "a", Done, "", nil); err != nil || state() != Done {
		t.Errorf("finished: %v, %s", err, state())
	}
	if left, _ := filepath.Glob(path + "*.lock"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
