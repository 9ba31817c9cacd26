package change

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/host"
)

func TestMain(m *testing.M) {
	if served, status := host.ServeIfAgent(); served {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// fakeKernel is a folder whose proc/sys holds the settings.
type fakeKernel struct{ root string }

func (k fakeKernel) file(name string) string {
	return filepath.Join(k.root, "proc/sys", procPath(name))
}

func (k fakeKernel) read(name string) string {
	data, _ := os.ReadFile(k.file(name))
	return strings.TrimRight(string(data), "\n")
}

func (k fakeKernel) write(name, value string) {
	os.MkdirAll(filepath.Dir(k.file(name)), 0o755)
	os.WriteFile(k.file(name), []byte(value+"\n"), 0o644)
}

func (k fakeKernel) options(state string) Options {
	return Options{StateDir: state, Now: time.Now(), root: k.root}
}

func openChange(t interface{ Fatal(...any) }, k fakeKernel, state string, names []string) *Change {
	c, err := Begin(context.Background(), host.NewLocal(), catalog.Linux, names, k.options(state))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestForeignChangeIsLeft(t *testing.T) {
	k := fakeKernel{t.TempDir()}
	k.write("n.a", "1")
	k.write("n.b", "1")
	c := openChange(t, k, t.TempDir(), []string{"n.a", "n.b"})
	out, err := c.Set(t.Context(), []string{"n.a", "n.b"}, map[string]string{"n.a": "2", "n.b": "2"})
	if err != nil || len(out) != 2 || out[0].Got != "2" {
		t.Fatal(out, err)
	}
	k.write("n.a", "3")
	r, err := c.Rollback(t.Context())
	if err != nil || len(r.Foreign) != 1 || !strings.Contains(r.Foreign[0], "n.a is 3") {
		t.Errorf("%+v, %v", r, err)
	}
	if k.read("n.a") != "3" || k.read("n.b") != "1" {
		t.Errorf("a=%s b=%s", k.read("n.a"), k.read("n.b"))
	}
}

// TestMarkOfAnother: where /var/run/wirerate is another user's, values are
// written all the same.
func TestMarkOfAnother(t *testing.T) {
	k := fakeKernel{t.TempDir()}
	k.write("n.a", "1")
	c := openChange(t, k, t.TempDir(), []string{"n.a"})
	if err := os.MkdirAll(c.bootMark(), 0o755); err != nil { // what cannot be written to
		t.Fatal(err)
	}
	out, err := c.Set(t.Context(), []string{"n.a"}, map[string]string{"n.a": "2"})
	if err != nil || len(out) != 1 || out[0].Got != "2" {
		t.Error(out, err)
	}
	if r, err := c.Rollback(t.Context()); err != nil || len(r.Restored) != 1 || k.read("n.a") != "1" {
		t.Errorf("%+v, %v, n.a=%s", r, err, k.read("n.a"))
	}
}

func TestRefusedAndRolledBack(t *testing.T) {
	k := fakeKernel{t.TempDir()}
	k.write("n.a", "1")
	k.write("n.b", "1")
	c := openChange(t, k, t.TempDir(), []string{"n.a", "n.b"})
	c.Items[1].knob = knob{get: c.Items[1].knob.get, put: "echo n.b: Invalid argument >&2; return 1"}
	out, err := c.Set(t.Context(), []string{"n.b", "n.a"}, map[string]string{"n.a": "2", "n.b": "2"})
	if err != nil || len(out) != 1 || !strings.Contains(out[0].Refused, "Invalid argument") {
		t.Errorf("%+v, %v", out, err)
	}
	if k.read("n.a") != "1" {
		t.Error("written after a refusal")
	}
	if _, err := c.Set(t.Context(), []string{"zz"}, nil); err == nil {
		t.Error("a setting outside the journal was accepted")
	}
	if _, err := c.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := c.Set(t.Context(), []string{"n.a"}, map[string]string{"n.a": "9"}); err == nil || k.read("n.a") != "1" {
		t.Error("written after the rollback: ", err)
	}
}

func TestPendingExcludesAnother(t *testing.T) {
	k, state := fakeKernel{t.TempDir()}, t.TempDir()
	k.write("n.a", "1")
	c := openChange(t, k, state, []string{"n.a"})
	second := func() error {
		_, err := Begin(t.Context(), host.NewLocal(), catalog.Linux, []string{"n.a"}, k.options(state))
		return err
	}
	err := second()
	if !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), c.ID) {
		t.Errorf("second change: %v", err)
	}
	if _, err := c.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := second(); err != nil {
		t.Errorf("after the rollback: %v", err)
	}
}

// TestLockOfAChangeThatIsOver: the script that ended a change was killed before
// it gave the lock back.
func TestLockOfAChangeThatIsOver(t *testing.T) {
	for state, taken := range map[string]bool{RolledBack: true, Confirmed: true, Pending: false, Confirming: false, "": false} {
		k, dir := fakeKernel{t.TempDir()}, t.TempDir()
		k.write("n.a", "1")
		c := openChange(t, k, dir, []string{"n.a"})
		os.WriteFile(filepath.Join(c.Dir, "state"), []byte(state+"\n"), 0o600)
		next, err := Begin(t.Context(), host.NewLocal(), catalog.Linux, []string{"n.a"}, k.options(dir))
		if (err == nil) != taken || !taken && (!errors.Is(err, ErrPending) || !strings.Contains(err.Error(), c.ID)) {
			t.Errorf("%q: %v", state, err)
			continue
		}
		if id, _ := os.ReadFile(filepath.Join(dir, "pending/id")); taken && strings.TrimSpace(string(id)) != next.ID {
			t.Errorf("%q: %s holds the lock", state, id)
		}
	}
}

func TestDeadManRollsBack(t *testing.T) {
	k, state := fakeKernel{t.TempDir()}, t.TempDir()
	k.write("n.a", "1")
	opt := k.options(state)
	opt.Within = time.Second
	c, err := Begin(t.Context(), host.NewLocal(), catalog.Linux, []string{"n.a"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	c.Set(t.Context(), []string{"n.a"}, map[string]string{"n.a": "2"})
	deadline := time.Now().Add(2 * time.Minute)
	for k.read("n.a") != "1" && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
	}
	if k.read("n.a") != "1" {
		t.Error("the dead-man timer did not roll back")
	}
}

func TestRealSettings(t *testing.T) {
	agent, err := host.Spawn(t.Context(), "changed")
	if err != nil {
		t.Skip("no namespaces here: ", err)
	}
	defer agent.Close()
	const rmem, retries = "net.ipv4.tcp_rmem", "net.ipv4.tcp_retries1"
	c, err := Begin(t.Context(), agent, catalog.Linux, []string{rmem, retries}, Options{StateDir: t.TempDir(), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Try(t.Context(), []string{rmem, retries}, map[string]string{rmem: "4096 131072 7340032", retries: "9999"})
	if err != nil || len(out) != 2 {
		t.Fatal(out, err)
	}
	if out[0].Got != "4096 131072 7340032" || out[1].Refused == "" {
		t.Errorf("outcomes %+v", out)
	}
	r, err := c.Rollback(t.Context())
	if err != nil || len(r.Restored) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Begin(t.Context(), agent, catalog.Linux, []string{"net.ipv4.no_such"}, Options{StateDir: t.TempDir(), Now: time.Now()}); err == nil || !strings.Contains(err.Error(), "No such file") {
		t.Errorf("unknown setting: %v", err)
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		setting, a, b string
		want          bool
	}{
		{"net.ipv4.tcp_rmem", "4096 131072 6291456", "4096 131072 6291456", true},
		{"net.inet.tcp.sendbuf_max", "2097152", "0x200000", true},
		{"net.inet.tcp.delayed_ack", "1", "01", true},
		{"net.inet.tcp.cc.algorithm", "cubic", "htcp", false},
		{"net.inet.icmp.icmplim", "-1", "1", false},
		{"ethtool:features/gro@eth0", "on", "off", false},
		{"vfs.zfs.arc_max", "9223372036854775807", "9223372036854775806", false},
		{"/sys/class/net/eth0/queues/rx-0/rps_cpus", "00000000,000000ff", "ff", true},
		{"/sys/class/net/eth0/queues/rx-0/rps_cpus", "10", "01", false},
		{"/proc/irq/30/smp_affinity", "0", "00", true},
	} {
		if got := Same(c.setting, c.a, c.b); got != c.want || Same(c.setting, c.b, c.a) != c.want {
			t.Errorf("%s: %s and %s: %v", c.setting, c.a, c.b, got)
		}
	}
}

// TestNamesStayBelowTheKernelsFolder: a dot and a slash change places on the way to
// a path, so that names without two dots can have them there.
func TestNamesStayBelowTheKernelsFolder(t *testing.T) {
	for _, name := range []string{"net.//.etc", "net.//.//.etc.passwd", "../etc", "/sys/../etc/passwd", "a b", "net.x;id"} {
		if k, err := knobFor(catalog.Linux, name, ""); err == nil {
			t.Errorf("%s is reached as %s", name, k.file)
		}
	}
}
