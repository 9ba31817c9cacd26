package change

import (
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

// closes rolls a change back of which something is not there any more, and begins
// the next one.
func closes(t *testing.T, c *Change, state string, gone []string, restored int) {
	t.Helper()
	if _, err := DriftOf(t.Context(), c.conn, mustList(t, c.conn, state)); err != nil {
		t.Error(err)
	}
	r, err := c.Rollback(t.Context())
	if err != nil || len(r.Gone) != len(gone) || len(r.Restored) != restored || len(r.Foreign)+len(r.Kept)+len(r.Failed) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, name := range gone {
		if !strings.Contains(strings.Join(r.Gone, "\n")+" ", name+" is not there any more") {
			t.Errorf("%s is not named: %q", name, r.Gone)
		}
	}
	if s := mustList(t, c.conn, state)[0].State; s != RolledBack {
		t.Error(s)
	}
	if _, err := os.Stat(filepath.Join(state, "pending")); err == nil {
		t.Error("the lock stayed")
	}
}

func mustList(t *testing.T, conn host.Conn, state string) []Entry {
	t.Helper()
	entries, err := List(t.Context(), conn, state)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%+v, %v", entries, err)
	}
	return entries
}

// TestGoneForReal takes an interface with its route away from under a change.
func TestGoneForReal(t *testing.T) {
	agent, err := host.Spawn(t.Context(), "gone")
	if err != nil {
		t.Skip("no namespaces here: ", err)
	}
	defer agent.Close()
	run := func(line string) {
		t.Helper()
		if _, err := host.Run(t.Context(), agent, "sh", "-c", line); err != nil {
			t.Skip("no such interfaces here: ", err)
		}
	}
	run("ip link add d0 type veth peer name d1 && ip link set d1 up && ip addr add 10.99.0.1/24 dev d0 && ip link set d0 up && ip route add default via 10.99.0.2 dev d0")
	names := []string{"net.ipv4.conf.d0.arp_ignore", "link:mtu@d0", "route:initcwnd@default", "net.ipv4.tcp_slow_start_after_idle", "/sys/class/net/d0/queues/tx-0/xps_cpus"}
	values := map[string]string{names[0]: "1", names[1]: "1400", names[2]: "20", names[3]: "0", names[4]: "1"}
	if _, err := exec.LookPath("ethtool"); err == nil {
		names = append(names, "ethtool:features/gro@d0")
		values[names[5]] = "off"
	}
	if a, err := agent.Do(t.Context(), host.Read(names[4])); err != nil || a[0].Failure != host.None {
		names = append(names[:4], names[5:]...) // one processor
	}
	state := t.TempDir()
	c, err := Begin(t.Context(), agent, catalog.Linux, names, Options{StateDir: state, Now: time.Now(), Within: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := c.Apply(t.Context(), names, values); err != nil || stopped(out) != nil {
		t.Fatalf("%+v, %v", out, err)
	}
	run("ip link del d0")
	gone := append(append([]string{}, names[:3]...), names[4:]...)
	closes(t, c, state, gone, 1)
	if _, err := Begin(t.Context(), agent, catalog.Linux, names[3:4], Options{StateDir: state, Now: time.Now()}); err != nil {
		t.Error(err)
	}
}

// TestGoneOnBSD: an interface, a module's sysctl.
func TestGoneOnBSD(t *testing.T) {
	for _, system := range []catalog.System{catalog.FreeBSD, catalog.OpenBSD} {
		m := freebsd(t, map[string]string{"net.inet.tcp.sendbuf_max": "1", "vfs.zfs.arc_max": "1", "vfs.zfs.arc_min": "1"})
		m.system = system
		if system == catalog.OpenBSD {
			m.put("fake/openbsd", "")
		}
		names := []string{"net.inet.tcp.sendbuf_max", "vfs.zfs.arc_max", "ifconfig:mtu@em0"}
		c, err := m.begin(t, names...)
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]string{names[0]: "2", names[1]: "2", names[2]: "1400"}
		if out, err := c.Apply(t.Context(), names, values); err != nil || stopped(out) != nil {
			t.Fatalf("%+v, %v", out, err)
		}
		os.Remove(filepath.Join(m.root, "fake/sysctl/vfs.zfs.arc_max"))
		os.RemoveAll(filepath.Join(m.root, "fake/if/em0"))
		closes(t, c, filepath.Join(m.root, "var"), names[1:], 1)
	}
}

// TestNotReadIsNotGone: what cannot be read for another reason keeps the change
// open.
func TestNotReadIsNotGone(t *testing.T) {
	m := freebsd(t, map[string]string{"net.inet.tcp.sendbuf_max": "1"})
	c, err := m.begin(t, "net.inet.tcp.sendbuf_max")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(t.Context(), []string{"net.inet.tcp.sendbuf_max"}, map[string]string{"net.inet.tcp.sendbuf_max": "2"}); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	os.WriteFile(filepath.Join(bin, "sysctl"), []byte("#!/bin/sh\necho 'sysctl: sysctl fmt -1 1024 22: Cannot allocate memory' >&2; exit 1\n"), 0o755)
	path := os.Getenv("PATH")
	t.Setenv("PATH", bin+":"+path)
	if r, err := c.Rollback(t.Context()); err == nil || !strings.Contains(err.Error(), "Cannot allocate memory") || len(r.Gone) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	t.Setenv("PATH", path)
	if r, err := c.Rollback(t.Context()); err != nil || len(r.Restored) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestModuleInUse: what it was loaded for still uses it; nothing of it is lost.
func TestModuleInUse(t *testing.T) {
	m := freebsd(t, map[string]string{"a.b": "1"})
	c, err := m.begin(t, "cc_htcp_load")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(t.Context(), []string{"cc_htcp_load"}, map[string]string{"cc_htcp_load": "YES"}); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	os.WriteFile(filepath.Join(bin, "kldunload"), []byte("#!/bin/sh\necho \"kldunload: can't unload file: Device busy\" >&2; exit 1\n"), 0o755)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	if r, err := c.Rollback(t.Context()); err != nil || len(r.Kept) != 1 || !strings.Contains(r.Kept[0], "in use") {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestFolderOfAFileIsGone: its pool was exported, or somebody removed it.
func TestFolderOfAFileIsGone(t *testing.T) {
	k, state, c, file := confirmed(t)
	os.RemoveAll(filepath.Dir(filepath.Dir(filepath.Dir(file))))
	k.write("n.a", "2")
	_, r, err := RollbackID(t.Context(), host.NewLocal(), state, c.ID)
	if err != nil || k.read("n.a") != "1" || len(r.Failed) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestCutOffApplyIsNotConfirmed: apply was ended after each of its steps. It is
// listed as such, and nothing of it is made to last.
func TestCutOffApplyIsNotConfirmed(t *testing.T) {
	names := []string{"n.a", "n.b", "n.c", "n.d"}
	whole := false
	for steps := 0; !whole; steps++ {
		k, state := fakeKernel{t.TempDir()}, t.TempDir()
		values := map[string]string{}
		for _, name := range names {
			k.write(name, "1")
			values[name] = "2"
		}
		opt := k.options(state)
		opt.Files = []plan.File{{Path: "/etc/sysctl.d/90-wirerate.conf", Content: "n.a = 2\n"}}
		c, err := Begin(t.Context(), host.NewLocal(), catalog.Linux, names, opt)
		if err != nil {
			t.Fatal(err)
		}
		// Every line of progress is a step: at one of them the script is ended.
		for i := range c.Items {
			c.Items[i].knob.file = ""
		}
		todo, err := c.assignments(names, values)
		if err != nil {
			t.Fatal(err)
		}
		script := strings.Replace(c.setScript(todo, applying), "note() {",
			"steps=0\nnote() { steps=$((steps+1)); [ $steps -le $LIMIT ] || kill -9 $$;", 1)
		cmd := exec.Command("sh", "-c", script)
		cmd.Env = append(os.Environ(), fmt.Sprint("LIMIT=", steps))
		whole = cmd.Run() == nil
		entries := listed(t, state)
		drift, err := DriftOf(t.Context(), host.NewLocal(), entries)
		if err != nil || len(drift) > 0 && whole || (entries[0].Unfinished == "") != whole {
			t.Errorf("step %d: %+v, %v, %q", steps, drift, err, entries[0].Unfinished)
		}
		_, _, err = ConfirmID(t.Context(), host.NewLocal(), state, "", false)
		_, anyway, err2 := ConfirmID(t.Context(), host.NewLocal(), state, "", true)
		_, missing := os.Stat(filepath.Join(k.root, "etc/sysctl.d/90-wirerate.conf"))
		if whole != (err == nil) || whole != (missing == nil) || !whole && (err2 == nil || len(anyway.Written) > 0) {
			t.Errorf("step %d: whole %v, confirmed %v, %v; file %v", steps, whole, err, err2, missing)
		}
		if _, r, err := RollbackID(t.Context(), host.NewLocal(), state, c.ID); err != nil || len(r.Foreign) > 0 {
			t.Errorf("%+v, %v", r, err)
		}
		for _, name := range names {
			if k.read(name) != "1" {
				t.Errorf("step %d: %s = %s", steps, name, k.read(name))
			}
		}
	}
}
