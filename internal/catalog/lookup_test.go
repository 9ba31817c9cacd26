package catalog

import (
	"slices"
	"testing"
)

func testCatalog(t *testing.T) *Catalog {
	t.Helper()
	pack, err := Pack([]Record{
		{System: Linux, Name: "net.ipv4.conf.*.rp_filter"},
		{System: Linux, Name: "net.ipv4.tcp_rmem", Does: "Receive buffer"},
		{System: FreeBSD, Name: "kern.ipc.soacceptqueue", Aliases: []string{"kern.ipc.somaxconn"}},
		{System: FreeBSD, Name: "dev.*.*.iflib.rx_budget"},
		{System: FreeBSD, Name: "ifconfig_*"},
		{System: FreeBSD, Name: "ifconfig_*_ipv6"},
		{System: Linux, Name: "/sys/class/net/*/queues/rx-*/rps_cpus"},
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(pack)
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
	for _, bad := range []string{"", "x\n", "-1\n", "99\n{}", "2\n{}", "linux\ta\t\t99\n\n{}"} {
		if _, err := Open([]byte(bad)); err == nil {
			t.Errorf("%q opened", bad)
		}
	}
	for _, bad := range []string{"", "x", "3", "linux\ta\t\t99", "2\nlinux\ta\t\t-1", "2\nlinux\ta\t\t17000000", "2\nlinux\ta"} {
		if _, err := read(bad, []byte("{}")); err == nil {
			t.Errorf("index %q opened", bad)
		}
	}
}

// A pack that is cut off or damaged gives an error or a record that says so,
// never a panic.
func TestOpenCutOrFlipped(t *testing.T) {
	pack, err := Pack([]Record{{System: Linux, Name: "net.a.b", Does: "one"}, {System: Linux, Name: "net.a.c", Aliases: []string{"x"}, Does: "two"}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(pack)
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := c.Lookup(Linux, "x"); !ok || r.Does != "two" {
		t.Errorf("whole: %+v", r)
	}
	for i := range pack {
		for _, damaged := range [][]byte{pack[:i], append(append(append([]byte{}, pack[:i]...), pack[i]^0x55), pack[i+1:]...)} {
			if c, err := Open(damaged); err == nil {
				c.All("")
			}
		}
	}
}

func TestSystemTitle(t *testing.T) {
	for system, want := range map[System]string{Linux: "Linux", FreeBSD: "FreeBSD", OpenBSD: "OpenBSD", "plan9": "plan9", "": ""} {
		if got := system.Title(); got != want {
			t.Errorf("System(%q).Title() = %q, want %q", system, got, want)
		}
	}
}
