//go:build linux

package lab

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/units"
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
	limited := machine{stolen: 0.2, limit: "cpu.max 50000 100000"}
	slow, fast := machine{stolen: 0.2, fastest: 10 * units.Mbit}, machine{stolen: 0.2, fastest: units.Gbit}
	for _, c := range []struct {
		o      AwakeOptions
		m      machine
		on     bool
		reason string
	}{
		{AwakeOptions{Mode: AwakeAuto}, machine{}, false, "nobody takes them away"},
		{AwakeOptions{Mode: AwakeAuto}, machine{stolen: 0.004}, false, "less than 0.5%"},
		{AwakeOptions{Mode: AwakeAuto}, machine{stolen: 0.2}, true, "20% of the time"},
		{AwakeOptions{Mode: AwakeAuto}, limited, false, "limited (cpu.max 50000 100000)"},
		{AwakeOptions{Mode: AwakeAuto}, slow, true, "20%"},
		{AwakeOptions{Mode: AwakeAuto, From: 100 * units.Mbit}, slow, false, "below 100 Mbit/s"},
		{AwakeOptions{Mode: AwakeAuto, From: 100 * units.Mbit}, fast, true, "20%"},
		{AwakeOptions{Mode: AwakeAuto, From: 100 * units.Mbit}, machine{stolen: 0.2}, true, "20%"}, // no limit
		{AwakeOptions{Mode: AwakeOn, From: 100 * units.Mbit}, slow, true, "asked for"},
		{AwakeOptions{Mode: AwakeOn}, limited, true, "asked for"},
		{AwakeOptions{Mode: AwakeOff}, machine{stolen: 0.2}, false, "asked for"},
		{AwakeOptions{Mode: AwakeOn}, machine{battery: true}, false, "battery"},
		{AwakeOptions{Mode: AwakeAuto}, machine{stolen: 0.2, battery: true}, false, "battery"},
	} {
		got := c.o.decide(c.m)
		if got.On != c.on || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	if got := (AwakeOptions{Mode: AwakeOn, Share: 0.25}).decide(machine{}); !strings.Contains(got.String(), "at most 25% of the time") {
		t.Errorf("%s", got)
	}
}

func TestOnlyAnEmptyingBatteryIsOne(t *testing.T) {
	supplies := func(files ...string) fstest.MapFS {
		m := fstest.MapFS{}
		for _, f := range files {
			name, text, _ := strings.Cut(f, "=")
			m[name] = &fstest.MapFile{Data: []byte(text + "\n")}
		}
		return m
	}
	emptied := []string{"BAT0/type=Battery", "BAT0/status=Discharging"}
	for _, c := range []struct {
		name string
		fs   fstest.MapFS
		want bool
	}{
		{"none", supplies(), false},
		{"emptied", supplies(emptied...), true},
		{"mains off", supplies(append(emptied, "AC/type=Mains", "AC/online=0")...), true},
		{"mains on", supplies(append(emptied, "AC/type=Mains", "AC/online=1")...), false},
		{"full", supplies("BAT0/type=Battery", "BAT0/status=Full"), false},
		{"charging", supplies("BAT0/type=Battery", "BAT0/status=Charging", "usb/type=USB", "usb/online=1"), false},
		{"a mouse", supplies("hid/type=Battery", "hid/status=Discharging", "hid/scope=Device"), false},
		{"two, one kept", supplies(append(emptied, "BAT1/type=Battery", "BAT1/status=Not charging")...), true},
	} {
		if got := onBattery(c.fs); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestAwakeIsChosenByWordOrVariable(t *testing.T) {
	for _, c := range []struct{ word, variable, want string }{
		{"", "", "auto"}, {"", "off", "off"}, {"on", "off", "on"}, {"on", "wrong", "on"},
		{"on:50%", "", "on:0.5"}, {"auto:0.25", "", "auto:0.25"}, {"", "on:1%", "on:0.01"}, {"on:100%", "", "on"},
	} {
		t.Setenv(AwakeVariable, c.variable)
		got, err := ParseAwake(c.word)
		if got.String() != c.want || err != nil {
			t.Errorf("%+v: %s, %v", c, got, err)
		}
		if again, err := ParseAwake(got.String()); again != got || err != nil {
			t.Errorf("%s is read again as %s, %v", got, again, err)
		}
	}
	for _, bad := range []string{"yes", "on:", "on:0", "on:150%", "on:-1", "on:NaN", "off:50%", ":50%", "50%"} {
		if o, err := ParseAwake(bad); err == nil {
			t.Errorf("%s was accepted: %+v", bad, o)
		}
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
	process, err := host.KeepAwake(processors[:1], 1)
	if err != nil {
		t.Fatal(err)
	}
	w := &waker{process: process, supply: fstest.MapFS{}, stop: make(chan struct{})}
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

// Whoever ends the process that keeps processors awake, the lab says so.
func TestEndedAwakeIsTold(t *testing.T) {
	processors, err := host.AllowedProcessors()
	if err != nil {
		t.Fatal(err)
	}
	process, err := host.KeepAwake(processors[:1], 0.1)
	if err != nil {
		t.Fatal(err)
	}
	w := &waker{info: Awake{On: true}, process: process, supply: fstest.MapFS{}, stop: make(chan struct{})}
	w.watch.Go(func() { w.follow(func() (int64, bool) { return 0, true }, time.Millisecond, time.Hour) })
	if err := syscall.Kill(process.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.watch.Wait()
	if a := w.state(); a.On || !strings.Contains(a.Reason, "ended") {
		t.Errorf("%+v", a)
	}
	if err := w.close(); err != nil {
		t.Error(err)
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
