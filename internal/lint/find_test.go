package lint

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// recordNames returns the names of records with their systems.
func recordNames(records []*catalog.Record) string {
	var out []string
	for _, r := range records {
		out = append(out, string(r.System)+" "+r.Name)
	}
	return strings.Join(out, ", ")
}

func TestFind(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, want string }{
		{"net.ipv4.tcp_rmem", "linux net.ipv4.tcp_rmem"},
		{"NET.IPV4.TCP_RMEM", "linux net.ipv4.tcp_rmem"},
		{"net/ipv4/tcp_rmem", "linux net.ipv4.tcp_rmem"},
		{"/proc/sys/net/ipv4/tcp_rmem", "linux net.ipv4.tcp_rmem"},
		{"tcp_rmem", "linux net.ipv4.tcp_rmem"},
		{"net.ipv4.tcp_rmem[2]", "linux net.ipv4.tcp_rmem"},
		{"net.ipv4.tcp_rmem = 4096 131072 6291456", "linux net.ipv4.tcp_rmem"},
		{"sysctl -w net.ipv4.tcp_rmem='1 2 3'", "linux net.ipv4.tcp_rmem"},
		{"net.ipv4.conf.eth0/100.rp_filter", "linux net.ipv4.conf.*.rp_filter"},
		{"net.ipv4.tcp_rme?", "linux net.ipv4.tcp_rmem"},
		{"kern.somaxconn", "openbsd kern.somaxconn"},
		{"somaxconn", "freebsd kern.ipc.soacceptqueue, linux net.core.somaxconn, openbsd kern.somaxconn"},
		{"RxBufferSize", "linux ethtool:ring/rx"},
		{"ethtool:tso", "linux ethtool:features/tso"},
		{"dev.igb.0.fc", "freebsd dev.igb.*.fc"},
		{"net.inet.tcp.sendspace", "freebsd net.inet.tcp.sendspace, openbsd net.inet.tcp.sendspace"},
		{"net.ipv4.tcp_rmen", ""}, {"cp_rmem", ""}, {"x", ""}, {"[", ""}, {".", ""}, {"/", ""}, {":", ""}, {"=", ""}, {" ", ""}, {"", ""},
		{strings.Repeat("a.", 5000), ""},
	} {
		if got := recordNames(Find(c, "", tt.name)); got != tt.want {
			t.Errorf("%.60q finds %q, want %q", tt.name, got, tt.want)
		}
	}
	for _, r := range c.All("") {
		if got := Find(c, r.System, r.Name); len(got) != 1 || got[0] != r {
			t.Errorf("%s %s finds %q", r.System, r.Name, recordNames(got))
		}
	}
	for _, r := range Find(c, catalog.FreeBSD, "net.inet.tcp") {
		if !strings.HasPrefix(r.Name+strings.Join(r.Aliases, ""), "net.inet.tcp.") {
			t.Errorf("the group net.inet.tcp has %s", r.Name)
		}
	}
}
