//go:build linux

package lab

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/host"
)

func TestStolenShare(t *testing.T) {
	for stat, want := range map[string]float64{
		// user + system + irq + softirq + steal; nice, idle and guest do not count.
		"cpu  600 9999 200 5000 70 40 60 100 7 7\ncpu0 1 1 1\n": 0.1,
		"cpu  600 0 200 5000 70 40 60 0 0 0\n":                  0,
		"cpu  0 0 0 0 0 0 0 0 0 0\n":                            0,
	} {
		if got, err := stolenShare(stat); err != nil || got != want {
			t.Errorf("%q: %g, %v, want %g", stat, got, err, want)
		}
	}
	for _, bad := range []string{"", "cpu 1 2 3\n", "cpu  1 2 3 4 5 6 x 8 9\n", "cpu0 1 2 3 4 5 6 7 8 9\n"} {
		if _, err := stolenShare(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestAwakeDecides(t *testing.T) {
	for _, c := range []struct {
		mode   AwakeMode
		stolen float64
		limit  string
		on     bool
		reason string
	}{
		{AwakeAuto, 0, "", false, "nobody takes them away"},
		{AwakeAuto, 0.004, "", false, "less than 0.5%"},
		{AwakeAuto, 0.2, "", true, "20% of the time"},
		{AwakeAuto, 0.2, "cpu.max 50000 100000", false, "limited (cpu.max 50000 100000)"},
		{"", 0.2, "", true, "20%"},
		{AwakeOn, 0, "cpu.max 50000 100000", true, "asked for"},
		{AwakeOff, 0.2, "", false, "asked for"},
	} {
		got := c.mode.decide(c.stolen, c.limit)
		if got.On != c.on || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

func TestAwakeIsChosenByWordOrVariable(t *testing.T) {
	for _, c := range []struct {
		word, variable string
		want           AwakeMode
	}{
		{"", "", AwakeAuto}, {"", "off", AwakeOff}, {"on", "off", AwakeOn}, {"on", "wrong", AwakeOn},
	} {
		t.Setenv(AwakeVariable, c.variable)
		if got, err := ParseAwake(c.word); got != c.want || err != nil {
			t.Errorf("%+v: %s, %v", c, got, err)
		}
	}
	if _, err := ParseAwake("yes"); err == nil {
		t.Error("yes was accepted")
	}
	t.Setenv(AwakeVariable, "yes")
	if _, err := ParseAwake(""); err == nil || !strings.Contains(err.Error(), AwakeVariable) {
		t.Errorf("the variable is not blamed: %v", err)
	}
}

func TestTimeLimitOfControlGroups(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("user.slice/cpu.max", "200000 100000")
	write("user.slice/a.scope/cpu.max", "max 100000")
	write("free.slice/cpu.max", "max 100000")
	write("cpu,cpuacct/box/cpu.cfs_quota_us", "50000")
	write("cpu,cpuacct/open/cpu.cfs_quota_us", "-1")
	for self, want := range map[string]string{
		"0::/user.slice/a.scope":             "cpu.max 200000 100000",
		"0::/free.slice":                     "",
		"0::/":                               "",
		"4:memory:/box\n3:cpu,cpuacct:/box":  "cpu.cfs_quota_us 50000",
		"4:memory:/box\n3:cpu,cpuacct:/open": "",
		"3:cpuset:/box":                      "",
		"nonsense":                           "",
	} {
		write("self", self)
		if got := timeLimit(root, filepath.Join(root, "self")); got != want {
			t.Errorf("%q: %q, want %q", self, got, want)
		}
	}
	if got := timeLimit(root, filepath.Join(root, "absent")); got != "" {
		t.Errorf("no file: %q", got)
	}
}

// The processors may go idle while a lab carries nothing, and only then.
func TestAwakeRestsWithTheLab(t *testing.T) {
	processors, err := host.AllowedProcessors()
	if err != nil {
		t.Fatal(err)
	}
	process, err := host.KeepAwake(processors[:1])
	if err != nil {
		t.Fatal(err)
	}
	w := &waker{process: process, stop: make(chan struct{})}
	if err := process.Ready(); err != nil {
		t.Fatal(err)
	}
	type state struct {
		n     int64
		known bool
	}
	given := make(chan state)
	w.watch.Go(func() {
		w.follow(func() (int64, bool) { s := <-given; return s.n, s.known }, time.Millisecond, 50*time.Millisecond)
	})
	rests := func() bool {
		state, err := os.ReadFile("/proc/" + threadOf(t, process.PID()) + "/stat")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(state), ") ")
		return rest[0] == 'S'
	}
	until := func(what string, want bool, next func() state) {
		t.Helper()
		for range 5000 {
			given <- next()
			if rests() == want {
				return
			}
		}
		t.Errorf("%s: resting is not %v", what, want)
	}
	n := int64(0)
	same := func() state { return state{n, true} }
	more := func() state { n++; return state{n, true} }
	until("nothing is carried", true, same)
	until("packets are carried", false, more)
	until("nothing is carried again", true, same)
	until("nobody knows", false, func() state { return state{n, false} })
	done := make(chan error)
	go func() { done <- w.close() }()
	for {
		select {
		case given <- same():
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		}
	}
}

// threadOf returns the path below /proc of the process's thread of nice 19.
func threadOf(t *testing.T, pid int) string {
	t.Helper()
	tasks, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task/*"))
	for _, task := range tasks {
		stat, _ := os.ReadFile(filepath.Join(task, "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 16 && f[16] == "19" {
			return strings.TrimPrefix(task, "/proc/")
		}
	}
	t.Fatal("no thread of nice 19")
	return ""
}
