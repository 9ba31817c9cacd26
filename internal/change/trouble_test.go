package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/plan"
)

// twoFiles is an applied change that confirms into two files.
func twoFiles(t *testing.T) (k fakeKernel, state string, c *Change) {
	t.Helper()
	k, state = fakeKernel{t.TempDir()}, t.TempDir()
	k.write("n.a", "1")
	opt := k.options(state)
	opt.Files = []plan.File{{Path: "/etc/one.conf", Content: "one\n"}, {Path: "/etc/two.conf", Content: "two\n"}}
	c, err := Begin(t.Context(), host.NewLocal(), catalog.Linux, []string{"n.a"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(t.Context(), []string{"n.a"}, map[string]string{"n.a": "2"}); err != nil {
		t.Fatal(err)
	}
	return k, state, c
}

// cutOff leaves a change as a confirmation does that ended between its files.
func cutOff(t *testing.T, k fakeKernel, c *Change) {
	t.Helper()
	os.WriteFile(filepath.Join(c.Dir, "state"), []byte("confirming\n"), 0o600)
	os.MkdirAll(filepath.Join(k.root, "etc"), 0o755)
	os.WriteFile(filepath.Join(k.root, "etc/one.conf"), []byte("one\n"), 0o644)
}

func listed(t *testing.T, state string) []Entry {
	t.Helper()
	entries, err := List(t.Context(), host.NewLocal(), state)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%+v, %v", entries, err)
	}
	return entries
}

func TestCutOffConfirmationIsFinished(t *testing.T) {
	k, state, c := twoFiles(t)
	cutOff(t, k, c)
	entries := listed(t, state)
	notes := Finish(t.Context(), host.NewLocal(), entries)
	if len(notes) != 1 || !strings.Contains(notes[0].String(), "finished now: 1 files written") || entries[0].State != Confirmed || listed(t, state)[0].State != Confirmed {
		t.Errorf("%q, %+v", notes, entries[0].State)
	}
	for _, name := range []string{"one", "two"} {
		if data, _ := os.ReadFile(filepath.Join(k.root, "etc", name+".conf")); string(data) != name+"\n" {
			t.Errorf("%s: %q", name, data)
		}
	}
	if again := Finish(t.Context(), host.NewLocal(), listed(t, state)); len(again) != 0 {
		t.Errorf("%q", again)
	}
}

func TestCutOffConfirmationIsTakenBack(t *testing.T) {
	k, state, c := twoFiles(t)
	cutOff(t, k, c)
	if _, r, err := RollbackID(t.Context(), host.NewLocal(), state, ""); err != nil || len(r.Restored) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(k.root, "etc")); !errors.Is(err, os.ErrNotExist) || k.read("n.a") != "1" {
		t.Error("not taken back")
	}
}

// TestCutOffConfirmationMeetsAnEditor: somebody wrote the second file meanwhile.
func TestCutOffConfirmationMeetsAnEditor(t *testing.T) {
	k, state, c := twoFiles(t)
	cutOff(t, k, c)
	other := filepath.Join(k.root, "etc/two.conf")
	os.WriteFile(other, []byte("theirs\n"), 0o644)
	notes := Finish(t.Context(), host.NewLocal(), listed(t, state))
	if data, _ := os.ReadFile(other); len(notes) != 1 || !strings.Contains(notes[0].String(), "changed by someone else") || string(data) != "theirs\n" {
		t.Errorf("%q, %q", notes, data)
	}
	if _, r, err := RollbackID(t.Context(), host.NewLocal(), state, c.ID); err != nil || len(r.Foreign) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if data, _ := os.ReadFile(other); string(data) != "theirs\n" || k.read("n.a") != "1" {
		t.Errorf("%q", data)
	}
}

// TestConfirmAfterReboot puts the values in place again.
func TestConfirmAfterReboot(t *testing.T) {
	k, state, _ := twoFiles(t)
	os.RemoveAll(filepath.Join(k.root, "var/run"))
	k.write("n.a", "1")
	if _, r, err := ConfirmID(t.Context(), host.NewLocal(), state, "", false); err != nil || len(r.Applied) != 1 || len(r.Written) != 2 || k.read("n.a") != "2" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestOvertakenWriterStops: another script took a change over while one was
// writing; so does a change that lost its place.
func TestOvertakenWriterStops(t *testing.T) {
	k, state := fakeKernel{t.TempDir()}, t.TempDir()
	for _, name := range []string{"n.a", "n.b", "n.c"} {
		k.write(name, "1")
	}
	c := openChange(t, k, state, []string{"n.a", "n.b", "n.c"})
	c.Items[1].knob = knob{get: c.Items[1].knob.get, put: c.Items[1].knob.put + `; echo 1 >"$dir/busy/pid"`}
	values := map[string]string{"n.a": "2", "n.b": "2", "n.c": "2"}
	out, err := c.Set(t.Context(), []string{"n.a", "n.b", "n.c"}, values)
	if err == nil || !strings.Contains(err.Error(), "another script took over") || len(out) != 2 || k.read("n.c") != "1" {
		t.Errorf("%+v, %v", out, err)
	}
	os.RemoveAll(filepath.Join(c.Dir, "busy"))
	if _, err := c.Rollback(t.Context()); err != nil || k.read("n.a") != "1" || k.read("n.b") != "1" {
		t.Error(err)
	}
	c = openChange(t, k, state, []string{"n.a"})
	os.WriteFile(filepath.Join(state, "pending/id"), []byte("20260102-030405-abcdef\n"), 0o600)
	if _, err := c.Set(t.Context(), []string{"n.a"}, values); err == nil || !strings.Contains(err.Error(), "another change took this one's place") || k.read("n.a") != "1" {
		t.Error(err)
	}
}

// TestClockJumps: nothing asks what time it is, so that a clock that jumps moves
// no deadline.
func TestClockJumps(t *testing.T) {
	bin := t.TempDir()
	asked := filepath.Join(bin, "asked")
	os.WriteFile(filepath.Join(bin, "date"), []byte("#!/bin/sh\n: >"+asked+"\necho 9999999999\n"), 0o755)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	k, state := fakeKernel{t.TempDir()}, t.TempDir()
	k.write("n.a", "1")
	opt := k.options(state)
	opt.Within, opt.Now = time.Second, time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	c, err := Begin(t.Context(), host.NewLocal(), catalog.Linux, []string{"n.a"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(t.Context(), []string{"n.a"}, map[string]string{"n.a": "2"})
	rolledBack(t, state)
	if _, err := os.Stat(asked); err == nil || k.read("n.a") != "1" {
		t.Errorf("asked for the time: %v; n.a=%s", err == nil, k.read("n.a"))
	}
}

func rolledBack(t *testing.T, state string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); listed(t, state)[0].State != RolledBack; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the dead-man timer did not roll back")
		}
	}
}

// TestDeadManTriesAgain: the first rollback fails.
func TestDeadManTriesAgain(t *testing.T) {
	// The timer's sleep, and the one before it tries again, end when the test says so.
	bin := t.TempDir()
	over := func(seconds string) { os.WriteFile(filepath.Join(bin, "over-"+seconds), nil, 0o644) }
	os.WriteFile(filepath.Join(bin, "sleep"), []byte(`#!/bin/sh
while [ ! -e "`+bin+`/over-$1" ]; do [ -d "`+bin+`" ] || exit 1; /bin/sleep 0.05; done
`), 0o755)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	k, state := fakeKernel{t.TempDir()}, t.TempDir()
	k.write("n.a", "1")
	opt := k.options(state)
	opt.Within = 777 * time.Second
	c, err := Begin(t.Context(), host.NewLocal(), catalog.Linux, []string{"n.a"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(t.Context(), []string{"n.a"}, map[string]string{"n.a": "2"})
	os.Rename(filepath.Join(k.root, "proc"), filepath.Join(k.root, "away"))
	over("777")
	log := filepath.Join(c.Dir, "rollback.log")
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		data, _ := os.ReadFile(log)
		if strings.Contains(string(data), "result failed") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no rollback failed: %s", data)
		}
	}
	os.Rename(filepath.Join(k.root, "away"), filepath.Join(k.root, "proc"))
	over("10")
	rolledBack(t, state)
	if k.read("n.a") != "1" {
		t.Errorf("n.a=%s", k.read("n.a"))
	}
}

// TestReadOnlyJournal refuses before anything is written.
func TestReadOnlyJournal(t *testing.T) {
	k, dir := fakeKernel{t.TempDir()}, t.TempDir()
	k.write("n.a", "1")
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "ro", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", dir).Run() })
	_, err := Begin(t.Context(), host.NewLocal(), catalog.Linux, []string{"n.a"}, k.options(filepath.Join(dir, "state")))
	if err == nil || !strings.Contains(err.Error(), "nothing is changed") || !strings.Contains(err.Error(), "mounted read-only, as in a container; --state-dir names another folder") || strings.Contains(err.Error(), "mkdir:") {
		t.Error(err)
	}
}

// TestFullDiskUnderFiles: the configuration's disk is full, the journal's is not.
func TestFullDiskUnderFiles(t *testing.T) {
	k, state, _ := twoFiles(t)
	etc := filepath.Join(k.root, "etc")
	os.MkdirAll(etc, 0o755)
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", etc).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", etc).Run() })
	os.WriteFile(filepath.Join(etc, "ballast"), make([]byte, 4096), 0o644)
	_, _, err := ConfirmID(t.Context(), host.NewLocal(), state, "", false)
	if err == nil || !strings.Contains(err.Error(), "No space left") || !strings.Contains(err.Error(), "not confirmed, and no file is changed") {
		t.Error(err)
	}
	left, _ := filepath.Glob(filepath.Join(etc, "*.conf"))
	hidden, _ := filepath.Glob(filepath.Join(etc, ".w*"))
	if len(left)+len(hidden) != 0 || listed(t, state)[0].State != Pending {
		t.Errorf("%v %v %s", left, hidden, listed(t, state)[0].State)
	}
	os.Remove(filepath.Join(etc, "ballast"))
	if _, r, err := ConfirmID(t.Context(), host.NewLocal(), state, "", false); err != nil || len(r.Written) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// countingConn counts the round trips.
type countingConn struct {
	host.Conn
	trips int
}

func (c *countingConn) Do(ctx context.Context, ops ...host.Op) ([]host.Answer, error) {
	c.trips++
	return c.Conn.Do(ctx, ops...)
}

func TestRoundTrips(t *testing.T) {
	k := fakeKernel{t.TempDir()}
	values := map[string]string{}
	var names []string
	for _, name := range []string{"n.a", "n.b", "n.c", "n.d", "n.e", "n.f", "n.g", "n.h"} {
		k.write(name, "1")
		names, values[name] = append(names, name), "2"
	}
	conn := &countingConn{Conn: host.NewLocal()}
	opt := k.options(t.TempDir())
	opt.Within = time.Minute
	c, err := Begin(t.Context(), conn, catalog.Linux, names, opt)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := c.Apply(t.Context(), names, values); err != nil || len(out) != len(names) || conn.trips > 3 {
		t.Errorf("%d round trips; %+v, %v", conn.trips, out, err)
	}
	conn.trips = 0
	if _, err := c.Rollback(t.Context()); err != nil || conn.trips != 1 {
		t.Errorf("%d round trips; %v", conn.trips, err)
	}
}

// TestProgressCutOrEdited damages at every byte what a rollback reads beside its
// own script: everything is restored all the same.
func TestProgressCutOrEdited(t *testing.T) {
	k, state := fakeKernel{t.TempDir()}, t.TempDir()
	k.write("n.a", "4096 131072 6291456")
	k.write("n.b", "1")
	opt := k.options(state)
	values := map[string]string{"n.a": "4096 131072 67108864", "n.b": "2"}
	opt.Wanted = values
	c, err := Begin(t.Context(), host.NewLocal(), catalog.Linux, []string{"n.a", "n.b"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(t.Context(), []string{"n.a", "n.b"}, values); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(c.Dir, "progress")
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * len(good) {
		damaged := []byte(string(good[:i/2]))
		if i%2 == 1 {
			damaged = []byte(string(good))
			damaged[i/2] ^= 1
		}
		os.WriteFile(name, damaged, 0o600)
		os.WriteFile(filepath.Join(c.Dir, "state"), []byte("pending\n"), 0o600)
		for n, v := range values {
			k.write(n, v)
		}
		if r, err := c.Rollback(t.Context()); err != nil || len(r.Restored) != 2 || k.read("n.a") != "4096 131072 6291456" || k.read("n.b") != "1" {
			t.Fatalf("byte %d: %+v, %v", i/2, r, err)
		}
	}
}

// TestTimerStartsAnewAfterApply: the time to confirm begins when everything is
// written, and until then the first timer counts.
func TestTimerStartsAnewAfterApply(t *testing.T) {
	bin := t.TempDir()
	slept := func(n string) string { return filepath.Join(bin, n) }
	// The timers' sleep ends when the test says so; the number is the order.
	os.WriteFile(filepath.Join(bin, "sleep"), []byte(`#!/bin/sh
[ "$1" = 777 ] || exec /bin/sleep "$@"
n=1; while ! mkdir "`+bin+`/$n" 2>/dev/null; do n=$((n+1)); done
trap ': >"`+bin+`/$n/gone"; exit' TERM
while [ ! -e "`+bin+`/$n/over" ]; do [ -d "`+bin+`" ] || exit 1; /bin/sleep 0.05; done
: >"`+bin+`/$n/gone"
`), 0o755)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	wait := func(name string) {
		t.Helper()
		for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(name); err == nil {
				return
			}
		}
		t.Fatal(name, " did not come")
	}
	over := func(n string) { os.WriteFile(slept(n)+"/over", nil, 0o644); wait(slept(n) + "/gone") }
	k, state := fakeKernel{t.TempDir()}, t.TempDir()
	k.write("n.a", "1")
	opt := k.options(state)
	opt.Within = 777 * time.Second
	c, err := Begin(t.Context(), host.NewLocal(), catalog.Linux, []string{"n.a"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	wait(slept("1"))
	if _, err := c.Apply(t.Context(), []string{"n.a"}, map[string]string{"n.a": "2"}); err != nil {
		t.Fatal(err)
	}
	wait(slept("2"))
	wait(slept("1") + "/gone")
	if s := listed(t, state)[0].State; s != Pending || k.read("n.a") != "2" {
		t.Errorf("the first timer counted: %s, n.a=%s", s, k.read("n.a"))
	}
	over("2")
	rolledBack(t, state)
	if k.read("n.a") != "1" {
		t.Errorf("n.a=%s", k.read("n.a"))
	}
	// Killed before the second timer: the first one counts.
	c, err = Begin(t.Context(), host.NewLocal(), catalog.Linux, []string{"n.a"}, Options{StateDir: t.TempDir(), Within: 777 * time.Second, Now: time.Now(), root: k.root})
	if err != nil {
		t.Fatal(err)
	}
	c.Set(t.Context(), []string{"n.a"}, map[string]string{"n.a": "2"})
	wait(slept("3"))
	over("3")
	rolledBack(t, filepath.Dir(c.Dir))
	if k.read("n.a") != "1" {
		t.Errorf("n.a=%s", k.read("n.a"))
	}
}

// TestTimersEndWithTheirChange leaves no process of a timer once its change is
// closed, be it by FIFOs or, where they cannot be made, by looking.
func TestTimersEndWithTheirChange(t *testing.T) {
	for _, fifos := range []bool{true, false} {
		t.Run(fmt.Sprintf("fifos %v", fifos), func(t *testing.T) {
			if !fifos {
				bin := t.TempDir()
				os.WriteFile(filepath.Join(bin, "mkfifo"), []byte("#!/bin/sh\nexit 1\n"), 0o755)
				t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			}
			for _, close := range []string{"rollback", "confirm"} {
				k, state := fakeKernel{t.TempDir()}, t.TempDir()
				k.write("n.a", "1")
				opt := k.options(state)
				opt.Within = 4321 * time.Second
				c, err := Begin(t.Context(), host.NewLocal(), catalog.Linux, []string{"n.a"}, opt)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.Apply(t.Context(), []string{"n.a"}, map[string]string{"n.a": "2"}); err != nil {
					t.Fatal(err)
				}
				if close == "confirm" {
					_, _, err = ConfirmID(t.Context(), host.NewLocal(), state, "", false)
				} else {
					_, err = c.Rollback(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				left := timers(c.Dir)
				for until := time.Now().Add(2 * time.Minute); len(left) > 0 && time.Now().Before(until); left = timers(c.Dir) {
					time.Sleep(50 * time.Millisecond)
				}
				if len(left) > 0 {
					t.Errorf("after %s: %q", close, left)
				}
			}
		})
	}
}

// TestLateTimer starts a timer whose change was closed before the timer could be
// told.
func TestLateTimer(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "state"), []byte(RolledBack+"\n"), 0o600)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", deadMan, "wirerate-dead-man", dir, "4321", "1")
	cmd.WaitDelay = time.Second
	ended := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	if err := cmd.Run(); err != nil || !ended.Stop() {
		t.Error(err)
	}
}

// timers are the processes of the timers of a change, by what they were started
// with or by where their input or output is.
func timers(dir string) []string {
	var found []string
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range lines {
		line, _ := os.ReadFile(file)
		out, _ := os.Readlink(filepath.Join(filepath.Dir(file), "fd/1"))
		if strings.Contains(string(line), "\x00"+dir+"\x00") || strings.HasPrefix(out, dir+"/") {
			found = append(found, string(line))
		}
	}
	return found
}

// TestSlowApplyOutlivesTheFirstTimer: the first timer runs out while settings are
// written. The apply that goes on is not taken back behind its back.
func TestSlowApplyOutlivesTheFirstTimer(t *testing.T) {
	k, state := fakeKernel{t.TempDir()}, t.TempDir()
	names, values := []string{"n.a", "n.b"}, map[string]string{"n.a": "2", "n.b": "2"}
	for _, name := range names {
		k.write(name, "1")
	}
	opt := k.options(state)
	opt.Within = 5 * time.Second
	c, err := Begin(t.Context(), host.NewLocal(), catalog.Linux, names, opt)
	if err != nil {
		t.Fatal(err)
	}
	// It waits until the first timer's rollback waits for it.
	c.Items[0].knob.file = ""
	c.Items[0].knob.put += "; while ! [ -e " + quote(c.Dir+"/rollback.log") + " ]; do sleep 0.05; done; sleep 0.3"
	out, err := c.Apply(t.Context(), names, values)
	if err != nil || len(out) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	if left := c.Left(); left <= 0 || left > opt.Within {
		t.Errorf("it stays for %s", left)
	}
	if s := listed(t, state)[0].State; s != Pending || k.read("n.a") != "2" || k.read("n.b") != "2" {
		t.Errorf("%s, n.a=%s, n.b=%s", s, k.read("n.a"), k.read("n.b"))
	}
	rolledBack(t, state)
	if k.read("n.a") != "1" || k.read("n.b") != "1" {
		t.Errorf("n.a=%s, n.b=%s", k.read("n.a"), k.read("n.b"))
	}
}

// lateConn holds back the answer to a batch of which a part says so, until hold
// is over.
type lateConn struct {
	host.Conn
	part string
	hold func()
}

func (c *lateConn) Do(ctx context.Context, ops ...host.Op) ([]host.Answer, error) {
	answers, err := c.Conn.Do(ctx, ops...)
	if strings.Contains(string(ops[0].Data), c.part) {
		c.part = "never again"
		c.hold()
	}
	return answers, err
}

// TestLateAnswer: the answer of a complete apply comes after the timer took it
// back, or late enough that it is read once more.
func TestLateAnswer(t *testing.T) {
	for _, tooLate := range []bool{true, false} {
		k, state := fakeKernel{t.TempDir()}, t.TempDir()
		k.write("n.a", "1")
		opt := k.options(state)
		opt.Within = 4 * time.Second
		conn := &lateConn{Conn: host.NewLocal(), part: "set_item", hold: func() {
			if tooLate {
				rolledBack(t, state)
			} else {
				time.Sleep(2 * time.Second)
			}
		}}
		c, err := Begin(t.Context(), conn, catalog.Linux, []string{"n.a"}, opt)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Apply(t.Context(), []string{"n.a"}, map[string]string{"n.a": "2"})
		now := listed(t, state)[0].State
		switch {
		case tooLate && (err == nil || !strings.Contains(err.Error(), "it is rolled back already")):
			t.Errorf("too late: %v", err)
		case err == nil && (c.Left() <= 0 || c.timers != 3 || now != Pending && since(c.Created) < c.Left()):
			t.Errorf("late: %s left, %d timers, %s", c.Left(), c.timers, now)
		case err != nil && now != RolledBack:
			t.Errorf("%v, %s", err, now)
		}
		c.Rollback(t.Context())
	}
}

// TestDeadManHasItsOwnScope keeps the timer out of the session that started it
// where systemd runs, and starts it all the same where systemd-run fails.
func TestDeadManHasItsOwnScope(t *testing.T) {
	for _, c := range []struct {
		name, fake string
		systemd    bool
		want       string
	}{
		{"scope", `while [ "$1" != sh ]; do shift; done; exec "$@"`, true, "--scope --quiet"},
		{"systemd-run fails", `echo 'Failed to connect to bus: No such file or directory' >&2; exit 1`, true, "--scope --quiet"},
		{"another init", `exit 1`, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, bin := t.TempDir(), t.TempDir()
			dir := filepath.Join(root, "it's a journal")
			os.MkdirAll(dir, 0o755)
			if c.systemd {
				os.MkdirAll(filepath.Join(root, "run/systemd/system"), 0o755)
			}
			for name, text := range map[string]string{
				filepath.Join(bin, "systemd-run"): "#!/bin/sh\necho \"$*\" >>'" + bin + "/log'\n" + c.fake + "\n",
				filepath.Join(dir, "state"):       "pending\n",
				filepath.Join(dir, "rollback.sh"): "echo run >>" + quote(dir+"/runs") + "; echo rolled-back >" + quote(dir+"/state") + "\n",
			} {
				if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("sh", "-c", deadManScript(root, dir, 1, 1))
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Fatalf("%v: %s", err, out)
			}
			state := func() string { data, _ := os.ReadFile(filepath.Join(dir, "state")); return string(data) }
			for until := time.Now().Add(2 * time.Minute); state() != "rolled-back\n" && time.Now().Before(until); {
				time.Sleep(50 * time.Millisecond)
			}
			runs, _ := os.ReadFile(filepath.Join(dir, "runs"))
			log, _ := os.ReadFile(filepath.Join(bin, "log"))
			if state() != "rolled-back\n" || string(runs) != "run\n" || !strings.HasPrefix(string(log), c.want) || c.want == "" && len(log) > 0 {
				t.Errorf("state %q, runs %q, systemd-run %q", state(), runs, log)
			}
		})
	}
}
