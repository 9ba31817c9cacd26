package lint

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// TestTogether judges lines that act with lines of other names or files.
func TestTogether(t *testing.T) {
	c := load(t)
	const rc, sysctl, loader = "/etc/rc.conf", "/etc/sysctl.conf", "/boot/loader.conf"
	for _, tt := range []struct {
		name  string
		files []string
		want  string // what the only warning says, "" for none
	}{
		{"a route that is not described", []string{rc, "static_routes=\"a b:em0\"\nroute_a=\"-net 10.0.0.0/8 192.0.2.1\"\n"}, `static_routes lists "b"`},
		{"a route that is not listed", []string{rc, "static_routes=\"a\"\nroute_a=\"x\"\nroute_b=\"y\"\n"}, "route_b is not in static_routes"},
		{"routes", []string{rc, "static_routes=\"a b\"\nroute_a=\"x\"\nroute_b=\"y\"\n"}, ""},
		{"routes of a condition", []string{rc, "static_routes=\"a\"\nif [ -f /x ]; then route_a=\"x\"; fi\n"}, ""},
		{"two filters", []string{rc, "pf_enable=YES\nfirewall_enable=\"YES\"\n"}, "switch on two packet filters"},
		{"one filter", []string{rc, "pf_enable=YES\nfirewall_enable=\"NO\"\n"}, ""},
		{"forwarding that rc.conf undoes", []string{rc, "hostname=a\n", sysctl, "net.inet.ip.forwarding=1\n"}, `does not set gateway_enable="YES"`},
		{"forwarding that sysctl.conf undoes", []string{rc, "gateway_enable=YES\n", sysctl, "net.inet.ip.forwarding=0\n"}, "rc.conf:1 sets gateway_enable"},
		{"forwarding", []string{rc, "gateway_enable=YES\n", sysctl, "net.inet.ip.forwarding=1\n"}, ""},
		{"forwarding without rc.conf", []string{sysctl, "net.inet.ip.forwarding=1\n"}, ""},
		{"a loader's value that does not last", []string{loader, "kern.ipc.nmbclusters=\"4194304\"\n", sysctl, "kern.ipc.nmbclusters=8388608\n"}, "is in effect only until /etc/sysctl.conf:1 sets 8388608"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := Run(c, files(tt.files...), Options{System: catalog.FreeBSD, Version: "14.3"})
			var serious []string
			for _, p := range res.Problems {
				if p.Severity != Info {
					serious = append(serious, p.Message)
				}
			}
			switch {
			case tt.want == "" && len(serious) > 0:
				t.Errorf("%q", serious)
			case tt.want != "" && (len(serious) != 1 || !strings.Contains(serious[0], tt.want)):
				t.Errorf("%q, want %q", serious, tt.want)
			}
		})
	}
}

// TestCorrect corrects a file until nothing is left to correct.
func TestCorrect(t *testing.T) {
	in := files("/etc/sysctl.conf", "$ sysctl -w net.ipv4.tcp_fin_timeout=60000 # ms\nnet.ipv4.tcp_keepalive_tme=7200\nnet.ipv4.tcp_tw_recycle=1\nnet.ipv4.tcp_syncookies=0\n")
	done, err := Correct(load(t), in, Options{System: catalog.Linux, Version: "6.12"})
	if err != nil || len(done.Fixed) != 1 {
		t.Fatalf("%v, %d files", err, len(done.Fixed))
	}
	got := string(done.Fixed[0].New)
	if !strings.HasPrefix(got, "net.ipv4.tcp_fin_timeout=60 # ms\nnet.ipv4.tcp_keepalive_time=7200\n# wirerate: net.ipv4.tcp_tw_recycle does not exist") {
		t.Error(got)
	}
	if string(done.Fixed[0].Old) != in[0].Text || done.Fixed[0].Fixes != 4 {
		t.Errorf("%d corrections of %q", done.Fixed[0].Fixes, done.Fixed[0].Old)
	}
	if worst := done.Left.Worst(); worst != Warning {
		t.Errorf("left: %s", brief(done.Left))
	}
}
