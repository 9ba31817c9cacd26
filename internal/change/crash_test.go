package change

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/plan"
)

// fuse is a program that stands before the real one, counts down the steps of
// a script, and at the last one kills the whole script without warning, before
// or after the step.
const fuse = `#!/bin/sh
f="$FAKE/fuse"
if [ -f "$f" ]; then
 read -r n when <"$f"; n=$((n-1)); echo "$n $when" >"$f"
 if [ "$n" = 0 ]; then [ "$when" = before ] || REAL "$@"; kill -9 0; fi
fi
exec REAL "$@"
`

// machine is a made-up host: programs in PATH over a folder of files.
type machine struct {
	system catalog.System
	root   string
	names  []string // settings
	value  func(rng *rand.Rand, name string) string
}

func (m *machine) put(path, text string) {
	path = filepath.Join(m.root, path)
	os.MkdirAll(filepath.Dir(path), 0o755)
	os.WriteFile(path, []byte(text), 0o644)
}

// fakePrograms makes the folder of programs, each behind a fuse.
func fakePrograms(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	add := func(name, real string) {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(strings.ReplaceAll(fuse, "REAL", real)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"cat", "cp", "mv", "chmod", "rm", "mkdir", "sync"} {
		for _, dir := range []string{"/bin/", "/usr/bin/"} {
			if _, err := os.Stat(dir + name); err == nil {
				add(name, dir+name)
				break
			}
		}
	}
	here, _ := filepath.Abs("testdata/fake")
	programs, err := os.ReadDir(here)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		add(p.Name(), filepath.Join(here, p.Name()))
	}
	return bin
}

// writable lists the catalog's settings that can be written on a running
// system, made concrete.
func writable(t *testing.T, system catalog.System) []string {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range c.All(system) {
		name := strings.ReplaceAll(r.Name, "*", "0")
		if r.Kind != catalog.ReadOnly && strings.Contains(name, ".") && !strings.ContainsAny(name, ":/ ") && knows(system, name) {
			names = append(names, name)
		}
	}
	if len(names) < 50 {
		t.Fatalf("only %d settings of %s can be written", len(names), system)
	}
	if system == catalog.Linux {
		return append(names, "ethtool:features/tso@eth0", "ethtool:features/gro@eth0", "ethtool:ring/rx@eth0", "ethtool:coalesce/rx-usecs@eth0",
			"ethtool:pause/rx@eth0", "link:mtu@eth0", "link:txqueuelen@eth0", "route:initcwnd@default", "tcp_bbr", "/sys/class/net/eth0/queues/rx-0/rps_cpus")
	}
	if system == catalog.OpenBSD {
		return append(names, "ifconfig:tcplro@em0", "ifconfig:mtu@em0", "ifconfig:mtu@em0", "ifconfig:mtu@em0")
	}
	return append(names, "ifconfig:tso@em0", "ifconfig:lro@em0", "ifconfig:mtu@em0", "cc_htcp_load")
}

func knows(system catalog.System, name string) bool {
	_, err := knobFor(system, name, "")
	return err == nil
}

// newMachine makes a host with some of the settings, in random states.
func newMachine(rng *rand.Rand, root string, system catalog.System, all []string) *machine {
	m := &machine{system: system, root: root, value: value}
	os.MkdirAll(filepath.Join(root, "fake/kld"), 0o755)
	os.MkdirAll(filepath.Join(root, "sys/module"), 0o755)
	os.MkdirAll(filepath.Join(root, "boot"), 0o755)
	for range 1 + rng.IntN(7) {
		if name := all[rng.IntN(len(all))]; !slices.Contains(m.names, name) {
			m.names = append(m.names, name)
		}
	}
	if rng.IntN(2) == 0 {
		m.names = append(slices.DeleteFunc(m.names, func(n string) bool { return slices.Contains(all[len(all)-4:], n) }), all[len(all)-4:][rng.IntN(4)])
	}
	onOff := []string{"on", "off"}
	for name, v := range map[string]string{"tso": onOff[rng.IntN(2)], "gro": "on", "rxc": "on", "ring-rx": "512", "ring-tx": "512", "rx-usecs": "3", "adaptive-rx": "off",
		"pause-rx": "on", "mtu": "1500", "qlen": "1000"} {
		m.put("fake/if/eth0/"+name, v+"\n")
	}
	for _, name := range []string{"RXCSUM", "TXCSUM", "VLAN_HWTSO", "TSO4", "TSO6", "LRO"} {
		m.put("fake/if/em0/"+name, fmt.Sprintln(rng.IntN(2)))
	}
	m.put("fake/if/em0/mtu", "1500\n")
	m.put("fake/modules/cc_htcp", "")
	if system == catalog.OpenBSD {
		m.put("fake/openbsd", "")
	}
	m.put("fake/route", "default via 10.0.0.1 dev eth0 proto dhcp metric 100 \n")
	m.put("sys/class/net/eth0/queues/rx-0/rps_cpus", "00\n")
	for _, name := range m.names {
		switch {
		case strings.ContainsAny(name, ":/@") || !strings.Contains(name, "."):
		case system == catalog.Linux:
			m.put("proc/sys/"+procPath(name), words(rng)+"\n")
		default:
			m.put("fake/sysctl/"+name, fmt.Sprintln(rng.IntN(1000)))
		}
	}
	for _, f := range []string{"etc/sysctl.conf", "boot/loader.conf", "etc/sysctl.d/90-wirerate.conf"} {
		if rng.IntN(2) == 0 {
			m.put(f, "# the administrator's own\nkern.x=1\n")
		}
	}
	if own := filepath.Join(root, "etc/hostname.em0"); system == catalog.OpenBSD && rng.IntN(2) == 0 {
		m.put("etc/hostname.em0", "inet 192.0.2.1 255.255.255.0 # uplink\nmtu 1500\n!route add -net 198.51.100 192.0.2.9\n")
		os.Chmod(own, 0o600)
	}
	return m
}

func words(rng *rand.Rand) string {
	v := strconv.Itoa(rng.IntN(100000))
	for range rng.IntN(3) {
		v += "\t" + strconv.Itoa(rng.IntN(100000))
	}
	return v
}

// value is something else that a setting accepts.
func value(rng *rand.Rand, name string) string {
	pick := func(v ...string) string { return v[rng.IntN(len(v))] }
	switch {
	case strings.HasPrefix(name, "ethtool:features"), strings.HasPrefix(name, "ethtool:pause"), strings.HasPrefix(name, "ifconfig:") && !strings.Contains(name, "mtu"):
		return pick("on", "off")
	case strings.Contains(name, "ring"):
		return pick("1024", "4096", "9999") // the last is refused
	case strings.Contains(name, "mtu@"):
		return pick("1400", "9000", "60000")
	case name == "tcp_bbr":
		return loaded
	case name == "cc_htcp_load":
		return "YES"
	case strings.HasPrefix(name, "route:"), strings.HasPrefix(name, "/sys"):
		return pick("16", "32")
	}
	return strconv.Itoa(rng.IntN(100000))
}

// snapshot is everything of the machine but the journals.
func (m *machine) snapshot() string {
	var b strings.Builder
	filepath.WalkDir(m.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "/fuse") {
			return nil
		}
		if path == filepath.Join(m.root, "var") {
			return fs.SkipDir
		}
		info, _ := d.Info()
		fmt.Fprintf(&b, "%s %s", path, info.Mode())
		if !d.IsDir() {
			data, _ := os.ReadFile(path)
			fmt.Fprintf(&b, " %q", strings.Join(strings.Fields(string(data)), " "))
			if strings.Contains(path, "/etc/") {
				fmt.Fprintf(&b, " %x", sha256.Sum256(data))
			}
		}
		b.WriteByte('\n')
		return nil
	})
	return b.String()
}

func (m *machine) files() []plan.File {
	var entries []plan.Entry
	content := "# wirerate\n"
	for i, n := range m.names {
		if strings.ContainsAny(n, ":/@") || !strings.Contains(n, ".") {
			continue
		}
		e := plan.Entry{Key: n, Value: strconv.Itoa(i), Text: fmt.Sprintf("%s=%d\n", n, i)}
		entries, content = append(entries, e), content+e.Text
	}
	if m.system == catalog.Linux {
		return []plan.File{{Path: "/etc/sysctl.d/90-wirerate.conf", Content: content, Format: "sysctl.conf", Entries: entries},
			{Path: "/etc/systemd/network/10-wirerate.link", Content: "[Match]\n"}}
	}
	if m.system == catalog.OpenBSD {
		mtu := plan.Entry{Key: "ifconfig:mtu@em0", Value: "9000", Text: "mtu 9000\n"}
		return []plan.File{{Path: "/etc/sysctl.conf", Content: content, Format: "sysctl.conf", Entries: entries},
			{Path: "/etc/hostname.em0", Content: "# wirerate\n" + mtu.Text, Format: "hostname.if", Mode: 0o640, Entries: []plan.Entry{mtu}}}
	}
	return []plan.File{{Path: "/etc/sysctl.conf", Content: content, Format: "sysctl.conf", Entries: entries},
		{Path: "/boot/nextboot.conf", Content: "nextboot_enable=\"YES\"\nx=\"1\"\n", Now: true}}
}

var fixedTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// cutConn loses the connection after some operations.
type cutConn struct {
	host.Conn
	left int
}

var errCut = errors.New("connection lost")

func (c *cutConn) Do(ctx context.Context, ops ...host.Op) ([]host.Answer, error) {
	var answers []host.Answer
	for i, op := range ops {
		if c.left == 0 {
			return nil, errCut
		}
		c.left--
		a, err := c.Conn.Do(ctx, op)
		if err != nil {
			return nil, err
		}
		answers = append(answers, a[0])
		if a[0].Failure != host.None && op.Must {
			for _, rest := range ops[i+1:] {
				answers = append(answers, host.Answer{Op: rest, Failure: host.Skipped})
			}
			break
		}
	}
	return answers, nil
}

// TestCrashes kills the work on made-up hosts at random steps and expects a
// rollback, which may be killed too, to leave no setting and no file changed.
// WIRERATE_CRASH_POINTS asks for more of them.
func TestCrashes(t *testing.T) {
	points := crashPoints(30)
	t.Setenv("PATH", fakePrograms(t)+":"+os.Getenv("PATH"))
	all := map[catalog.System][]string{catalog.Linux: writable(t, catalog.Linux), catalog.FreeBSD: writable(t, catalog.FreeBSD), catalog.OpenBSD: writable(t, catalog.OpenBSD)}
	reached := map[string]int{}
	for seed := range points {
		rng := rand.New(rand.NewPCG(uint64(seed), 6))
		system := []catalog.System{catalog.Linux, catalog.FreeBSD, catalog.Linux, catalog.OpenBSD}[seed%4]
		m := newMachine(rng, t.TempDir(), system, all[system])
		t.Setenv("FAKE", filepath.Join(m.root, "fake"))
		if stage := crash(t, rng, m, seed); stage != "" {
			reached[stage]++
		}
		if t.Failed() {
			t.Fatalf("seed %d, %s: %v", seed, system, m.names)
		}
	}
	t.Logf("%d crashes: %v", points, reached)
	for _, stage := range []string{"begin", "apply", "confirm", "none, confirmed"} {
		if reached[stage] == 0 {
			t.Errorf("no run came to: %s", stage)
		}
	}
}

func crashPoints(otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv("WIRERATE_CRASH_POINTS")); err == nil {
		return n
	}
	return otherwise
}

// crash runs one change with one crash, or none when the fuse outlasts it, and
// says during which stage it came.
func crash(t *testing.T, rng *rand.Rand, m *machine, seed int) string {
	ctx, local, state := t.Context(), host.NewLocal(), filepath.Join(m.root, "var")
	before := m.snapshot()
	stage, cut := []string{"begin", "apply", "apply", "confirm", "confirm"}[rng.IntN(5)], -1
	burn := func(at string, steps int) {
		os.Remove(filepath.Join(m.root, "fake/fuse"))
		if stage == at {
			m.put("fake/fuse", fmt.Sprintln(1+rng.IntN(steps), []string{"before", "after"}[rng.IntN(2)]))
		}
	}
	if stage == "begin" {
		cut = rng.IntN(16)
	}
	values := map[string]string{}
	for _, n := range m.names {
		values[n] = m.value(rng, n)
	}
	opt := Options{StateDir: state, root: m.root, Files: m.files(), Now: fixedTime}
	c, err := Begin(ctx, &cutConn{local, cut}, m.system, m.names, opt)
	if err != nil && !errors.Is(err, errCut) {
		t.Errorf("begin: %v", err)
		return ""
	}
	if err == nil {
		c.conn = local
		burn("apply", 2*len(m.names)+6)
		c.Apply(ctx, m.names, values) // may be killed, may be refused
		burn("confirm", 2*len(m.names)+20)
		ConfirmID(ctx, local, state, "", false)
		burn("", 1)
		if entries, _ := List(ctx, local, state); len(entries) == 1 && entries[0].State == Confirmed {
			stage = "none, confirmed"
		}
	}
	// The rollback is killed as well, twice, before it is let through.
	for i := range 3 {
		os.Remove(filepath.Join(m.root, "fake/fuse"))
		if i < 2 {
			m.put("fake/fuse", fmt.Sprintln(1+rng.IntN(40), "before"))
		}
		id := ""
		if c != nil && err == nil {
			id = c.ID
		}
		_, report, rerr := RollbackID(ctx, local, state, id)
		if i == 2 && rerr != nil && !errors.Is(rerr, ErrNoChange) || len(report.Foreign) > 0 {
			t.Errorf("rollback: %+v, %v", report, rerr)
		}
	}
	os.Remove(filepath.Join(m.root, "fake/fuse"))
	if after := m.snapshot(); after != before {
		t.Errorf("not restored:\n%s", difference(before, after))
	}
	if _, err := Begin(ctx, local, m.system, m.names, opt); err != nil {
		t.Errorf("the next change cannot begin: %v", err)
	}
	return stage
}

func difference(before, after string) string {
	var b strings.Builder
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, l := range is {
		if !slices.Contains(was, l) {
			b.WriteString("+" + l + "\n")
		}
	}
	for _, l := range was {
		if !slices.Contains(is, l) {
			b.WriteString("-" + l + "\n")
		}
	}
	return b.String()
}
