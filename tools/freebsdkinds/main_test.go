package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wirerate/wirerate/internal/catalog"
)

// TestCompare reads declarations of every form and holds two of them, which are
// not as the catalog has them, for differences.
func TestCompare(t *testing.T) {
	tree := fstest.MapFS{"netinet/a.c": {Data: []byte(`
SYSCTL_INT(_net_inet_tcp, OID_AUTO, delayed_ack, CTLFLAG_VNET | CTLFLAG_RW,
    &VNET_NAME(tcp_delack_enabled), 0, "Delay ACK");
SYSCTL_PROC(_net_inet_tcp, TCPCTL_KEEPIDLE, keepidle,
    CTLTYPE_INT | CTLFLAG_RDTUN, &tcp_keepidle, 0, sysctl_msec_to_ticks, "I", "");
SYSCTL_INT(_kern_ipc, OID_AUTO, numopensockets, CTLFLAG_RW, &n, 0, "");
SYSCTL_NODE(_kern, OID_AUTO, ipc, 0, 0, "");
`)}, "kern/b.c": {Data: []byte(`
TUNABLE_INT("net.isr.maxthreads", &n);
SYSCTL_INT(_net_isr, OID_AUTO, maxthreads, CTLFLAG_RD, &n, 0, "");
`)}, "README": {Data: []byte("SYSCTL_INT(_a, OID_AUTO, b, CTLFLAG_RW,")}}
	d, err := read(tree)
	if err != nil || len(d.kinds) != 4 {
		t.Fatalf("%v, %v", err, d.kinds)
	}
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(compare(c, d, "14.3"), "\n")
	want := "kern.ipc.numopensockets: runtime by netinet/a.c, read-only by the catalog\n" +
		"net.inet.tcp.keepidle: boot by netinet/a.c, runtime by the catalog"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
