package host

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// await fails the test unless ok becomes true.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 12000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("waited in vain: %s", what)
}

// idleThreads returns the state of the threads of class SCHED_IDLE and nice 19
// by the processor that they are bound to.
func idleThreads(t *testing.T, pid int) map[string]string {
	t.Helper()
	states := map[string]string{}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatalf("no threads: %v", err)
	}
	for _, task := range tasks {
		stat, err := os.ReadFile(task + "/stat")
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		f := strings.Fields(rest) // from the third field of proc_pid_stat(5) on
		if f[16] != "19" || f[38] != "5" {
			continue
		}
		status, err := os.ReadFile(task + "/status")
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(status), "Cpus_allowed_list:\t")
		cpu, _, _ := strings.Cut(after, "\n")
		states[cpu] = f[0]
	}
	return states
}

// ready waits longer than a lab does: threads of class SCHED_IDLE come late on a
// busy machine.
func ready(a *Awake) error {
	for until := time.Now().Add(3 * time.Minute); ; {
		if err := a.Ready(); !errors.Is(err, os.ErrDeadlineExceeded) || time.Now().After(until) {
			return err
		}
	}
}

func TestAwakeHasAnIdleThreadForEachProcessor(t *testing.T) {
	cpus, err := AllowedProcessors()
	if err != nil {
		t.Fatal(err)
	}
	a, err := KeepAwake(cpus, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := ready(a); err != nil {
		a.Close()
		t.Fatal(err)
	}
	pid := a.PID()
	all := func(state string) func() bool {
		return func() bool {
			threads := idleThreads(t, pid)
			for _, cpu := range cpus {
				if threads[fmt.Sprint(cpu)] != state {
					return false
				}
			}
			return len(threads) == len(cpus)
		}
	}
	await(t, "every thread runs", all("R"))
	if err := a.Rest(true); err != nil {
		t.Error(err)
	}
	await(t, "every thread sleeps", all("S"))
	if err := errors.Join(a.Rest(true), a.Rest(false)); err != nil {
		t.Error(err)
	}
	await(t, "every thread runs again", all("R"))
	if a.CPU() <= 0 {
		t.Error("no processor time is counted")
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("process %d is left: %v", pid, err)
	}
}

func TestAwakeSaysWhyNot(t *testing.T) {
	if _, err := KeepAwake(nil, 1); err == nil {
		t.Error("no processor was accepted")
	}
	a, err := KeepAwake([]int{1 << 9}, 1) // a number that no machine here has
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := ready(a); err == nil || !strings.Contains(err.Error(), "processor 512: affinity") {
		t.Errorf("got %v", err)
	}
}

// A process that somebody kills is no zombie, and what it used stays known.
func TestKilledAwakeIsReaped(t *testing.T) {
	cpus, err := AllowedProcessors()
	if err != nil {
		t.Fatal(err)
	}
	a, err := KeepAwake(cpus[:1], 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if err := ready(a); err != nil {
		a.Close()
		t.Fatal(err)
	}
	await(t, "it uses processor time", func() bool { return a.CPU() > 0 })
	if err := unix.Kill(a.PID(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-a.Ended()
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", a.PID())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("process %d is left: %v", a.PID(), err)
	}
	if a.CPU() <= 0 {
		t.Error("what it used is forgotten")
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// A thread that may use a share of the time rests when it has, until the turn is
// over.
func TestTurnOfAShare(t *testing.T) {
	start := time.Now()
	var turn turn
	for _, c := range []struct{ at, used, want time.Duration }{
		{0, 7, 0},
		{turnTime / 5, 7 + turnTime/5, 0},
		{turnTime / 4, 7 + turnTime/4, turnTime * 3 / 4},
		{turnTime / 2, 7 + turnTime/4, turnTime / 2},
		{turnTime, 7 + turnTime/4, 0},
		{turnTime * 5 / 4, 7 + turnTime/3, 0},
		{turnTime * 3 / 2, 7 + turnTime*2/3, turnTime / 2},
	} {
		if got := turn.rest(0.25, start.Add(c.at), c.used); got != c.want {
			t.Errorf("at %s, with %s used: rest %s, want %s", c.at, c.used, got, c.want)
		}
	}
	for _, share := range []float64{0, -1, 1.01, math.NaN()} {
		if _, err := KeepAwake([]int{0}, share); err == nil {
			t.Errorf("share %g was accepted", share)
		}
	}
}
