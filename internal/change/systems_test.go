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

// freebsd makes a scripted FreeBSD host that answers as the system does.
func freebsd(t *testing.T, sysctls map[string]string) *machine {
	t.Helper()
	m := &machine{system: catalog.FreeBSD, root: t.TempDir()}
	here, _ := filepath.Abs("testdata/fake")
	t.Setenv("PATH", here+":"+os.Getenv("PATH"))
	t.Setenv("FAKE", filepath.Join(m.root, "fake"))
	os.MkdirAll(filepath.Join(m.root, "fake/kld"), 0o755)
	for name, v := range sysctls {
		m.put("fake/sysctl/"+name, v+"\n")
	}
	for _, name := range []string{"RXCSUM", "TXCSUM", "VLAN_HWTSO", "TSO4", "TSO6", "LRO"} {
		m.put("fake/if/em0/"+name, "1\n")
	}
	m.put("fake/if/em0/mtu", "1500\n")
	m.put("fake/modules/cc_htcp", "")
	return m
}

func (m *machine) begin(t *testing.T, names ...string) (*Change, error) {
	t.Helper()
	return Begin(t.Context(), host.NewLocal(), m.system, names, Options{StateDir: filepath.Join(m.root, "var"), root: m.root, Now: time.Now()})
}

func TestFreeBSDSettings(t *testing.T) {
	const algorithm, space, clamped = "net.inet.tcp.cc.algorithm", "net.inet.tcp.sendbuf_max", "x.clamped"
	m := freebsd(t, map[string]string{algorithm: "newreno", space: "2097152", clamped: "10"})
	before := m.snapshot()
	names := []string{"cc_htcp_load", algorithm, space, clamped, "ifconfig:tso@em0", "ifconfig:lro@em0", "ifconfig:mtu@em0"}
	c, err := m.begin(t, names...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Apply(t.Context(), names, map[string]string{"cc_htcp_load": "YES", algorithm: "htcp", space: "4194304", clamped: "5000",
		"ifconfig:tso@em0": "off", "ifconfig:lro@em0": "off", "ifconfig:mtu@em0": "9000"})
	if err != nil || len(out) != len(names) {
		t.Fatalf("%+v, %v", out, err)
	}
	for i, want := range []string{"YES", "htcp", "4194304", "1000", "off", "off", "9000"} {
		if out[i].Got != want || out[i].Refused != "" {
			t.Errorf("%s: %+v, want %s", names[i], out[i], want)
		}
	}
	if r, err := c.Rollback(t.Context()); err != nil || len(r.Restored) != len(names) {
		t.Errorf("%+v, %v", r, err)
	}
	if after := m.snapshot(); after != before {
		t.Errorf("not restored:\n%s", difference(before, after))
	}
}

// TestFreeBSDErrors uses the texts that the system's own programs print.
func TestFreeBSDErrors(t *testing.T) {
	m := freebsd(t, map[string]string{"net.inet.tcp.cc.algorithm": "newreno", "net.inet.tcp.sendbuf_max": "2097152", "kern.x.tunable": "1"})
	for _, c := range []struct{ setting, value, want string }{
		{"net.inet.tcp.cc.algorithm", "nosuch", "No such process"},
		{"net.inet.tcp.sendbuf_max", "4m", "invalid integer '4m'"},
		{"kern.x.tunable", "2", "read only tunable"},
		{"ifconfig:mtu@em0", "20", "SIOCSIFMTU (set mtu): Invalid argument"},
	} {
		ch, err := m.begin(t, c.setting)
		if err != nil {
			t.Fatal(err)
		}
		out, err := ch.Apply(t.Context(), []string{c.setting}, map[string]string{c.setting: c.value})
		if err != nil || len(out) != 1 || !strings.Contains(out[0].Refused, c.want) {
			t.Errorf("%s=%s: %+v, %v", c.setting, c.value, out, err)
		}
		if _, err := ch.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for setting, want := range map[string]string{"net.inet.no_such": "unknown oid 'net.inet.no_such'", "ifconfig:tso@em9": "interface em9 does not exist"} {
		if _, err := m.begin(t, setting); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

// TestSettingOfAModule: a setting that is not there before a module is loaded
// has no old value; what to do is said, and nothing is changed.
func TestSettingOfAModule(t *testing.T) {
	m := freebsd(t, map[string]string{"net.inet.tcp.sendbuf_max": "2097152"})
	before := m.snapshot()
	names := []string{"cc_htcp_load", "net.inet.tcp.cc.htcp.rtt_scaling", "net.inet.tcp.sendbuf_max"}
	wanted := map[string]string{names[0]: "YES", names[1]: "1", names[2]: "4194304"}
	opt := Options{StateDir: filepath.Join(m.root, "var"), root: m.root, Now: time.Now(), Wanted: wanted}
	_, err := Begin(t.Context(), host.NewLocal(), m.system, names, opt)
	if err == nil || !strings.Contains(err.Error(), "rtt_scaling cannot be read: unknown oid") || !strings.Contains(err.Error(), "load that first (kldload cc_htcp) and apply again, or leave out") {
		t.Errorf("%v", err)
	}
	if after := m.snapshot(); after != before {
		t.Error(difference(before, after))
	}
	opt.SkipAbsent = true
	c, err := Begin(t.Context(), host.NewLocal(), m.system, names, opt)
	if err != nil || len(c.Items) != 2 || c.Absent[names[1]] == "" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestFreeBSDNextBoot(t *testing.T) {
	m := freebsd(t, map[string]string{"a.b": "1"})
	m.put("boot/loader.conf", "zfs_load=\"YES\"\nnet.isr.maxthreads=\"1\"\n")
	p := plan.Plan{System: catalog.FreeBSD, Release: "14.2", Changes: []plan.Change{
		{Setting: "net.isr.maxthreads", To: "-1", Kind: catalog.Boot, Belongs: "loader", Does: "Threads."},
		{Setting: "hw.x", To: "2", Kind: catalog.Boot, Belongs: "loader", Does: "Something."}}}
	before := m.snapshot()
	opt := Options{StateDir: filepath.Join(m.root, "var"), root: m.root, Now: time.Now(), Files: append(plan.NativeFiles(p, plan.All), plan.NextBoot(p)...)}
	c, err := Begin(t.Context(), host.NewLocal(), m.system, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	next := filepath.Join(m.root, "boot/nextboot.conf")
	data, _ := os.ReadFile(next)
	if string(data) != "nextboot_enable=\"YES\"\nnet.isr.maxthreads=\"-1\"\nhw.x=\"2\"\n" {
		t.Errorf("nextboot.conf: %q", data)
	}
	// The loader has used it once.
	os.WriteFile(next, []byte(strings.Replace(string(data), "\"YES\"", "\"NO\" ", 1)), 0o644)
	if _, r, err := ConfirmID(t.Context(), host.NewLocal(), opt.StateDir, "", false); err != nil || len(r.Written) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	data, _ = os.ReadFile(filepath.Join(m.root, "boot/loader.conf"))
	if !strings.HasPrefix(string(data), "zfs_load=\"YES\"\nnet.isr.maxthreads=\"-1\"\n") || !strings.Contains(string(data), "hw.x=\"2\"\n") {
		t.Errorf("loader.conf: %s", data)
	}
	if _, err := os.Stat(next); !errors.Is(err, os.ErrNotExist) {
		t.Error("nextboot.conf stayed")
	}
	if r, err := c.Rollback(t.Context()); err != nil || len(r.Foreign) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if after := m.snapshot(); after != before {
		t.Errorf("not restored:\n%s", difference(before, after))
	}
}

// confirmed is a change with one setting and one file, confirmed.
func confirmed(t *testing.T) (k fakeKernel, state string, c *Change, file string) {
	t.Helper()
	k, state = fakeKernel{t.TempDir()}, t.TempDir()
	k.write("n.a", "1")
	opt := k.options(state)
	opt.Files = []plan.File{{Path: "/etc/sysctl.d/90-wirerate.conf", Content: "n.a = 2\n", Format: "sysctl.conf", Entries: []plan.Entry{{Key: "n.a", Value: "2", Text: "n.a = 2\n"}}}}
	file = filepath.Join(k.root, "etc/sysctl.d/90-wirerate.conf")
	c, err := Begin(t.Context(), host.NewLocal(), catalog.Linux, []string{"n.a"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Apply(t.Context(), []string{"n.a"}, map[string]string{"n.a": "2"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Fatal("written before it was confirmed")
	}
	if _, r, err := ConfirmID(t.Context(), host.NewLocal(), state, "", false); err != nil || len(r.Written) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	return k, state, c, file
}

func TestConfirmThenRollbackLater(t *testing.T) {
	k, state, c, file := confirmed(t)
	if data, _ := os.ReadFile(file); string(data) != "n.a = 2\n" {
		t.Fatalf("%q", data)
	}
	id, r, err := RollbackID(t.Context(), host.NewLocal(), state, c.ID)
	if err != nil || id != c.ID || len(r.Restored) != 2 {
		t.Fatalf("%s, %+v, %v", id, r, err)
	}
	if _, err := os.Stat(file); err == nil || k.read("n.a") != "1" {
		t.Error("not taken back")
	}
}

func TestForeignFileIsLeft(t *testing.T) {
	_, state, c, file := confirmed(t)
	os.WriteFile(file, []byte("n.a = 3\n"), 0o644)
	_, r, err := RollbackID(t.Context(), host.NewLocal(), state, c.ID)
	if err != nil || len(r.Foreign) != 1 || !strings.Contains(r.Foreign[0], "90-wirerate.conf was changed by someone else") {
		t.Errorf("%+v, %v", r, err)
	}
	if data, _ := os.ReadFile(file); string(data) != "n.a = 3\n" {
		t.Errorf("overwritten: %q", data)
	}
}

func TestApplyLeavesForeignValue(t *testing.T) {
	k := fakeKernel{t.TempDir()}
	k.write("n.a", "1")
	c := openChange(t, k, t.TempDir(), []string{"n.a"})
	k.write("n.a", "7")
	out, err := c.Apply(t.Context(), []string{"n.a"}, map[string]string{"n.a": "2"})
	if err != nil || len(out) != 1 || out[0].Foreign == "" || k.read("n.a") != "7" {
		t.Errorf("%+v, %v, n.a=%s", out, err, k.read("n.a"))
	}
}

// TestJournalCutOrEdited damages the journal at every byte: it is never taken
// for a good one, and the script restores all the same.
func TestJournalCutOrEdited(t *testing.T) {
	k, state := fakeKernel{t.TempDir()}, t.TempDir()
	k.write("n.a", "1")
	c := openChange(t, k, state, []string{"n.a"})
	c.Set(t.Context(), []string{"n.a"}, map[string]string{"n.a": "2"})
	name := filepath.Join(c.Dir, "journal.json")
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseJournal(good); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		if _, err := parseJournal(good[:i]); err == nil {
			t.Errorf("cut at byte %d: taken for a journal", i)
		}
		edited := []byte(string(good))
		edited[i] ^= 1
		if _, err := parseJournal(edited); err == nil {
			t.Errorf("edited at byte %d (%q): taken for a journal", i, good[i])
		}
	}
	os.WriteFile(name, good[:len(good)/2], 0o600)
	entries, err := List(t.Context(), host.NewLocal(), state)
	if err != nil || len(entries) != 1 || entries[0].State != Damaged || !strings.Contains(entries[0].Problem, "journal.json: damaged") {
		t.Errorf("%+v, %v", entries, err)
	}
	if _, _, err := ConfirmID(t.Context(), host.NewLocal(), state, c.ID, false); err == nil {
		t.Error("a change with a damaged journal was confirmed")
	}
	if _, r, err := RollbackID(t.Context(), host.NewLocal(), state, ""); err != nil || len(r.Restored) != 1 || k.read("n.a") != "1" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestFullDisk fills the disk before each step. Nothing may be written to the
// kernel without its journal, and what was written is taken back.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", dir).Run() })
	ballast := filepath.Join(dir, "ballast")
	fill := func(left int64) {
		os.Remove(ballast)
		if left < 0 {
			return
		}
		f, _ := os.Create(ballast)
		block := make([]byte, 4096)
		for {
			if _, err := f.Write(block); err != nil {
				break
			}
		}
		info, _ := f.Stat()
		f.Truncate(max(0, info.Size()-left))
		f.Close()
	}
	k := fakeKernel{t.TempDir()}
	for left := int64(0); left <= 40<<10; left += 4 << 10 {
		k.write("n.a", "1")
		state := filepath.Join(dir, fmt.Sprint("state", left))
		opt := k.options(state)
		opt.Files = []plan.File{{Path: "/etc/x.conf", Content: strings.Repeat("# x\n", 100)}}
		fill(left)
		c, err := Begin(context.Background(), host.NewLocal(), catalog.Linux, []string{"n.a"}, opt)
		if err == nil {
			fill(0)
			c.Apply(t.Context(), []string{"n.a"}, map[string]string{"n.a": "2"})
			ConfirmID(t.Context(), host.NewLocal(), state, "", false)
			fill(-1)
			_, err = c.Rollback(t.Context())
			if err != nil {
				t.Errorf("%d bytes left: %v", left, err)
			}
		} else if !strings.Contains(err.Error(), "nothing is changed") {
			t.Errorf("%d bytes left: %v", left, err)
		}
		fill(-1)
		if k.read("n.a") != "1" {
			t.Errorf("%d bytes left: n.a=%s", left, k.read("n.a"))
		}
		if _, err := os.Stat(filepath.Join(k.root, "etc/x.conf")); err == nil {
			t.Errorf("%d bytes left: the file stayed", left)
		}
	}
}

// TestKernelRewrites changes a namespace for real: ip_forward rewrites other
// keys, which a rollback brings back too.
func TestKernelRewrites(t *testing.T) {
	agent, err := host.Spawn(t.Context(), "rewritten")
	if err != nil {
		t.Skip("no namespaces here: ", err)
	}
	defer agent.Close()
	all := func() string {
		a, err := host.One(t.Context(), agent, host.Script("cd /proc/sys/net/ipv4 && grep -H . ip_forward conf/*/forwarding conf/*/accept_redirects tcp_*congestion_control"))
		if err != nil {
			t.Fatal(err)
		}
		return string(a.Out)
	}
	before := all()
	names := []string{"net.ipv4.ip_forward", "net.ipv4.conf.all.accept_redirects", "net.ipv4.tcp_congestion_control"}
	c, err := Begin(t.Context(), agent, catalog.Linux, names, Options{StateDir: t.TempDir(), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Apply(t.Context(), names, map[string]string{names[0]: "1", names[1]: "1", names[2]: "reno"})
	if err != nil || len(out) != 3 || out[2].Got != "reno" {
		t.Fatalf("%+v, %v", out, err)
	}
	if all() == before {
		t.Error("nothing changed")
	}
	r, err := c.Rollback(t.Context())
	if err != nil || len(r.Foreign) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if after := all(); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}

// TestReadOnlySettings refuses cleanly where /proc/sys cannot be written.
func TestReadOnlySettings(t *testing.T) {
	k := fakeKernel{t.TempDir()}
	k.write("n.a", "1")
	dir := filepath.Join(k.root, "proc/sys")
	if out, err := exec.Command("sh", "-c", "mount --bind '"+dir+"' '"+dir+"' && mount -o remount,ro,bind '"+dir+"'").CombinedOutput(); err != nil {
		t.Skipf("nothing can be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", dir).Run() })
	c := openChange(t, k, t.TempDir(), []string{"n.a"})
	out, err := c.Apply(t.Context(), []string{"n.a"}, map[string]string{"n.a": "2"})
	if err != nil || len(out) != 1 || !strings.Contains(out[0].Refused, "Read-only file system") {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := c.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestDrift(t *testing.T) {
	k, state, c, file := confirmed(t)
	list := func() []Drift {
		entries, err := List(t.Context(), host.NewLocal(), state)
		if err != nil {
			t.Fatal(err)
		}
		for i := range entries {
			for j, it := range entries[i].Journal.Items {
				entries[i].Journal.Items[j].knob, _ = knobFor(catalog.Linux, it.Setting, k.root)
			}
		}
		drift, err := DriftOf(t.Context(), host.NewLocal(), entries)
		if err != nil {
			t.Fatal(err)
		}
		return drift
	}
	if d := list(); len(d) != 0 {
		t.Errorf("%+v", d)
	}
	k.write("n.a", "9")
	os.Remove(file)
	d := list()
	if len(d) != 2 || d[0].Setting != "n.a" || d[0].Wanted != "2" || d[0].Running != "9" || d[1].Because != "the file is gone" || d[0].ID != c.ID {
		t.Errorf("%+v", d)
	}
}

// BenchmarkApply100 applies 100 settings and takes them back.
func BenchmarkApply100(b *testing.B) {
	k := fakeKernel{b.TempDir()}
	var names []string
	values := map[string]string{}
	for i := range 100 {
		name := fmt.Sprintf("n.s%d", i)
		k.write(name, "1")
		names, values[name] = append(names, name), "2"
	}
	var took time.Duration
	for b.Loop() {
		state := b.TempDir()
		start := time.Now()
		c := openChange(b, k, state, names)
		if out, err := c.Apply(b.Context(), names, values); err != nil || len(out) != 100 {
			b.Fatal(out, err)
		}
		took += time.Since(start)
		if _, err := c.Rollback(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(took.Seconds()/float64(b.N), "s/apply")
}
