package catalog

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func testCatalog(t *testing.T) *Catalog {
	t.Helper()
	c, err := Open(fstest.MapFS{
		"linux/a.yaml": {Data: []byte(`system: linux
scope: netns
settings:
  - name: net.ipv4.conf.*.rp_filter
    does: x
  - name: net.ipv4.tcp_rmem
    does: Receive buffer
  - name: "/sys/class/net/*/queues/rx-*/rps_cpus"
`)},
		"freebsd/b.yaml": {Data: []byte(`system: freebsd
settings:
  # a comment
  - name: kern.ipc.soacceptqueue # and another
    kind: runtime
    aliases: [kern.ipc.somaxconn, 'b']
  - name: dev.*.*.iflib.rx_budget
  - name: ifconfig_*
  - name: ifconfig_*_ipv6
`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLookup(t *testing.T) {
	c := testCatalog(t)
	for _, test := range []struct {
		system     System
		name, want string
	}{
		{Linux, "net.ipv4.tcp_rmem", "net.ipv4.tcp_rmem"},
		{FreeBSD, "net.ipv4.tcp_rmem", ""},
		{Linux, "net.ipv4.conf.eth0.rp_filter", "net.ipv4.conf.*.rp_filter"},
		{Linux, "net.ipv4.conf..rp_filter", ""},
		{Linux, "net.ipv4.conf.a.b.rp_filter", ""},
		{FreeBSD, "kern.ipc.somaxconn", "kern.ipc.soacceptqueue"},
		{FreeBSD, "dev.igb.0.iflib.rx_budget", "dev.*.*.iflib.rx_budget"},
		{FreeBSD, "dev.igb.iflib.rx_budget", ""},
		{FreeBSD, "ifconfig_igb0_ipv6", "ifconfig_*_ipv6"},
		{Linux, "/sys/class/net/eth0.5/queues/rx-12/rps_cpus", "/sys/class/net/*/queues/rx-*/rps_cpus"},
	} {
		r, ok := c.Lookup(test.system, test.name)
		if ok != (test.want != "") || ok && r.Name != test.want {
			t.Errorf("%s %s: found %v, want %q", test.system, test.name, r, test.want)
		}
	}
}

func TestNearestAndSearch(t *testing.T) {
	c := testCatalog(t)
	if got := c.Nearest(Linux, "net.ipv4.tcp_rmme", 3); !slices.Contains(got, "net.ipv4.tcp_rmem") {
		t.Errorf("nearest %v", got)
	}
	if got := c.Nearest("", "zzzzzzzzzz", 3); len(got) != 0 {
		t.Errorf("nearest of nonsense %v", got)
	}
	if got := c.Search("", "RECEIVE", "buffer"); len(got) != 1 {
		t.Errorf("search %v", got)
	}
}

func TestOpenDamaged(t *testing.T) {
	for _, bad := range []string{"", "x", "system: linux\n", "system: linux\nsettings:\n",
		"system: linux\nsettings:\n  - kind: boot\n    name: a\n",
		"system: linux\nsettings:\n  - name: a\n  - kind: boot\n"} {
		if _, err := Open(fstest.MapFS{"linux/a.yaml": {Data: []byte(bad)}}); err == nil {
			t.Errorf("%q opened", bad)
		}
	}
	c, err := Open(fstest.MapFS{"linux/a.yaml": {Data: []byte("system: linux\nsettings:\n  - name: a.b\n    does: &x y\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := c.Lookup(Linux, "a.b"); !ok || !strings.HasPrefix(r.Does, "damaged record") {
		t.Errorf("%+v", r)
	}
}

func TestSystemTitle(t *testing.T) {
	for system, want := range map[System]string{Linux: "Linux", FreeBSD: "FreeBSD", OpenBSD: "OpenBSD",
		"plan9": "plan9", "": ""} {
		if got := system.Title(); got != want {
			t.Errorf("System(%q).Title() = %q, want %q", system, got, want)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := Load(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecords(b *testing.B) {
	for b.Loop() {
		c, err := Load()
		if err != nil {
			b.Fatal(err)
		}
		c.All("")
	}
}

// Whatever the text, the quick reader ends, with JSON or an error.
func FuzzQuickReader(f *testing.F) {
	for _, seed := range []string{"a: 1\n", "- a: [b, 'c''d', {e: \"f\\n\"}]\n  g: >-\n    h\n    i\n",
		"a:\n- b\n- c: d # e\n  f:\n",
		"a: b\n  c\nd: 'e: f'\n", "\"1.0\": x:y\n", "a: {b: c, d: [e]}\n", "min: 5\nmax: 05\n", "a: &x b\n", "a: \"b\n",
		"- - a\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		data, err := quickJSON(text)
		if err == nil && len(data) > 0 && !json.Valid(data) {
			t.Errorf("%q gives no JSON: %s", text, data)
		}
		if len(data) > 20*len(text)+20 {
			t.Errorf("%d bytes of %d", len(data), len(text))
		}
	})
}

// TestSeen holds that names without a record are sorted, of a system, and without a record.
func TestSeen(t *testing.T) {
	c := documentCatalog(t)
	seen := c.Seen(FreeBSD)
	if len(seen) < 200 || !slices.IsSorted(seen) {
		t.Errorf("%d names, sorted %v", len(seen), slices.IsSorted(seen))
	}
	for _, name := range seen {
		if _, found := c.Lookup(FreeBSD, name); found {
			t.Errorf("%s has a record", name)
		}
	}
	if !c.HasSeen(FreeBSD, "kern.pid_max") || c.HasSeen(FreeBSD, "kern.pid_maxx") || c.HasSeen(Linux, "kern.pid_max") {
		t.Error("kern.pid_max is seen on FreeBSD alone")
	}
}
