package diagnose

import (
	"strings"
	"testing"
)

// One message of old kernels stands for two limits: which of them was reached is decided by the counters beside it.
func TestOutOfSocketMemory(t *testing.T) {
	for name, c := range map[string]struct{ sockstat, settings, want string }{
		"orphans": {"TCP: inuse 9 orphan 21000 tw 4 alloc 17 mem 1900\n",
			"net.ipv4.tcp_mem = 18000 24000 36000\nnet.ipv4.tcp_max_orphans = 65536\n", "net.ipv4.tcp_max_orphans"},
		"memory": {"TCP: inuse 9 orphan 21000 tw 4 alloc 17 mem 24500\n",
			"net.ipv4.tcp_mem = 18000 24000 36000\nnet.ipv4.tcp_max_orphans = 65536\n", "net.ipv4.tcp_mem"},
		"neither": {"TCP: inuse 9 orphan 21 tw 4 alloc 17 mem 1900\n",
			"net.ipv4.tcp_mem = 18000 24000 36000\nnet.ipv4.tcp_max_orphans = 65536\n", ""},
		"not known": {"", "", ""},
	} {
		f, _, _ := judge(t, linuxExample("dmesg", "[ 812.113451] Out of socket memory\n", "/proc/net/sockstat", c.sockstat, "sysctl -a", c.settings))
		found := memoryExhausted().Check(Input{Facts: f})
		if len(found) != 1 || found[0].Fix[0].Setting != c.want || c.want == "" && !strings.Contains(found[0].Fix[0].Action, "sockstat") {
			t.Errorf("%s: %+v, want %q", name, found, c.want)
		}
	}
}

// TestNamedLimits holds that each limit which FreeBSD names is the one to raise.
func TestNamedLimits(t *testing.T) {
	f, _, _ := judge(t, freebsdExample("dmesg", "[zone: mbuf_jumbo_9k] kern.ipc.nmbjumbo9 limit reached\n"+
		"[zone: mbuf_jumbo_page] kern.ipc.nmbjumbop limit reached\n[zone: mbuf_jumbo_9k] kern.ipc.nmbjumbo9 limit reached\n"))
	var got []string
	for _, found := range memoryExhausted().Check(Input{Facts: f}) {
		got = append(got, found.Subject+" "+found.Fix[0].Setting)
	}
	if want := "kern.ipc.nmbjumbo9 kern.ipc.nmbjumbo9, kern.ipc.nmbjumbop kern.ipc.nmbjumbop"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
