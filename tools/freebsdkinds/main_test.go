package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wirerate/wirerate/internal/catalog"
)

// TestCompare reads declarations of every form and reports those that are not as the
// catalog has them: two kinds, two defaults and a scope.
func TestCompare(t *testing.T) {
	tree := fstest.MapFS{"netinet/a.c": {Data: []byte(`
SYSCTL_INT(_net_inet_tcp, OID_AUTO, delayed_ack, CTLFLAG_VNET | CTLFLAG_RW,
    &VNET_NAME(tcp_delack_enabled), 0, "Delay ACK");
SYSCTL_PROC(_net_inet_tcp, TCPCTL_KEEPIDLE, keepidle,
    CTLTYPE_INT | CTLFLAG_RDTUN, &tcp_keepidle, 0, sysctl_msec_to_ticks, "I", "");
SYSCTL_INT(_kern_ipc, OID_AUTO, numopensockets, CTLFLAG_RW, &n, 0, "");
SYSCTL_NODE(_kern, OID_AUTO, ipc, 0, 0, "");
VNET_DEFINE(int, tcp_delack_enabled) = 1;
VNET_DEFINE_STATIC(int, maxholes) = 256;
#define V_maxholes VNET(maxholes)
SYSCTL_INT(_net_inet_tcp_sack, OID_AUTO, maxholes, CTLFLAG_VNET | CTLFLAG_RW,
    &VNET_NAME(maxholes), 0, "");
static bool tolerate = false;
SYSCTL_BOOL(_net_inet_tcp, OID_AUTO, tolerate_missing_ts, CTLFLAG_RW, &tolerate, 0, "");
#ifdef RSS
static int retries = 5;
#else
static int retries = 6;
#endif
SYSCTL_INT(_net_inet_tcp, OID_AUTO, retries, CTLFLAG_VNET | CTLFLAG_RW, &retries, 0, "");
int space = 1024*64;
SYSCTL_INT(_net_inet_tcp, TCPCTL_SENDSPACE, sendspace, CTLFLAG_VNET | CTLFLAG_RW, &space, 0, "");
`)}, "kern/b.c": {Data: []byte(`
TUNABLE_INT("net.isr.maxthreads", &n);
SYSCTL_INT(_net_isr, OID_AUTO, maxthreads, CTLFLAG_RD, &n, 0, "");
`)}, "README": {Data: []byte("SYSCTL_INT(_a, OID_AUTO, b, CTLFLAG_RW,")}}
	d, err := read(tree)
	if err != nil || len(d.kinds) != 8 {
		t.Fatalf("%v, %v", err, d.kinds)
	}
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(compare(c, d, "14.3"), "\n")
	want := "kern.ipc.numopensockets: runtime by netinet/a.c, read-only by the catalog\n" +
		"net.inet.tcp.keepidle: boot by netinet/a.c, runtime by the catalog\n" +
		"net.inet.tcp.sack.maxholes: starts as 256 in netinet/a.c, 128 by the catalog\n" +
		"net.inet.tcp.tolerate_missing_ts: CTLFLAG_VNET is false in netinet/a.c, the scope is vnet by the catalog\n" +
		"net.inet.tcp.tolerate_missing_ts: starts as 0 in netinet/a.c, 1 by the catalog"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
