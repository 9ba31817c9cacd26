package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

func planned(t *testing.T, r Request) Plan {
	t.Helper()
	p, err := Make(loaded(t), r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func valueOf(p Plan, setting string) string {
	for _, ch := range p.Changes {
		if ch.Setting == setting {
			return ch.To
		}
	}
	return ""
}

func steps(p Plan) string {
	var b strings.Builder
	for _, s := range p.Steps {
		b.WriteString(s.Title + "\n" + s.Why + "\n" + strings.Join(s.Commands, "\n") + "\n")
	}
	return b.String()
}

// TestSteps checks which role and release asks for which step.
func TestSteps(t *testing.T) {
	lossy := netpath.Path{Rate: units.Gbit, RTT: 50 * time.Millisecond, MTU: 1500, Loss: 1e-3}
	for _, c := range []struct {
		system      catalog.System
		release     catalog.Version
		role        string
		want, never string
	}{
		{catalog.FreeBSD, "13.2", "bulk", "options TCPHPTS", ""},
		{catalog.FreeBSD, "14.0", "bulk", "buildkernel", ""},
		{catalog.FreeBSD, "14.1", "bulk", "kldload tcp_bbr", "buildkernel"},
		{catalog.FreeBSD, "14.2", "web", "accept_filter=httpready", ""},
		{catalog.FreeBSD, "14.2", "file", "11.6 GiB", ""},
		{catalog.FreeBSD, "14.2", "home", "type fq_codel", ""},
		{catalog.OpenBSD, "7.8", "home", "flows 1024 bandwidth 950000K", "cake"},
		{catalog.Linux, "6.12", "home", "cake bandwidth 950000kbit", ""},
		{catalog.Linux, "4.18", "home", "fq_codel", "cake bandwidth"},
		{catalog.Linux, "6.12", "dns", "notrack", ""},
		{catalog.OpenBSD, "7.8", "dns", "no state", "nft"},
		{catalog.OpenBSD, "7.8", "web", "Up to 8 softnet threads", "at most 8 queues"},
		{catalog.OpenBSD, "7.9", "web", "at most 8 queues", ""},
		{catalog.OpenBSD, "7.7", "web", "", "softnet"},
		{catalog.Linux, "6.12", "router", "accept_ra=2", ""},
		{catalog.Linux, "6.12", "latency", "cpupower", ""},
		{catalog.Linux, "6.12", "bulk", "tc qdisc replace dev ix0 root", "TCPHPTS"},
	} {
		r := Request{Path: lossy, Role: c.role, Machine: server(c.system, c.release)}
		if c.role == "file" {
			r.Path.Rate = 10 * units.Gbit
		}
		text := steps(planned(t, r))
		if !strings.Contains(text, c.want) || c.never != "" && strings.Contains(text, c.never) {
			t.Errorf("%s %s %s: want %q, never %q:\n%s", c.system, c.release, c.role, c.want, c.never, text)
		}
	}
}

// TestJumboFramesOnlyWhenShown: a declared MTU changes no interface, one that
// was measured along the path does.
func TestJumboFramesOnlyWhenShown(t *testing.T) {
	m := server(catalog.Linux, "6.12")
	m.Interfaces[0].Running = map[string]string{"link:mtu": "1500"}
	r := Request{Path: netpath.Path{Rate: units.Gbit, RTT: time.Millisecond, MTU: 9000}, Role: "file", Machine: m}
	p := planned(t, r)
	if valueOf(p, "link:mtu@ix0") != "" || !strings.Contains(steps(p), "ping -M do -s 8972") {
		t.Errorf("declared: %q, steps %s", valueOf(p, "link:mtu@ix0"), steps(p))
	}
	if !slices.ContainsFunc(p.Kept, func(k Kept) bool { return k.Setting == "link:mtu@ix0" }) {
		t.Error("the refusal is not listed")
	}
	r.Path.Measured = map[string]string{"mtu": "largest ping without fragments"}
	if got := valueOf(planned(t, r), "link:mtu@ix0"); got != "9000" {
		t.Errorf("measured: %q", got)
	}
}

// TestQueues: transmit queues that no processor was given, and flow tables.
func TestQueues(t *testing.T) {
	m := server(catalog.Linux, "6.12")
	m.Cores = 8
	m.Interfaces[0].Queues, m.Interfaces[0].Cores = 2, []int{0, 1, 2, 3, 4, 5, 6, 7}
	m.Running = map[string]string{"net.core.rps_sock_flow_entries": "0"}
	for _, q := range []string{"rx-0/rps_flow_cnt", "rx-1/rps_flow_cnt", "tx-0/xps_cpus", "tx-1/xps_cpus"} {
		m.Running["/sys/class/net/ix0/queues/"+q] = "0"
	}
	p := planned(t, Request{Path: longFat(), Role: "web", Machine: m})
	for name, want := range map[string]string{"rx-1/rps_flow_cnt": "8192", "tx-0/xps_cpus": "55", "tx-1/xps_cpus": "aa"} {
		if got := valueOf(p, "/sys/class/net/ix0/queues/"+name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if got := coreMask([]int{0, 33}); got != "2,00000001" {
		t.Errorf("mask %s", got)
	}
}

// TestEveryDecisionIsShown: what a formula leaves alone is listed with its
// condition and the numbers in it.
func TestEveryDecisionIsShown(t *testing.T) {
	p := planned(t, Request{Path: netpath.Path{Rate: 10 * units.Mbit, RTT: 10 * time.Millisecond, MTU: 1500}, Role: "bulk", Machine: server(catalog.FreeBSD, "14.2")})
	for _, k := range p.Kept {
		if k.Setting == "net.inet.tcp.recvbuf_max" && strings.Contains(k.Because, "min(2 * 12500, 1349633820) > 2097152 (min(2 * bdp, share) > standard)") {
			return
		}
	}
	t.Errorf("recvbuf_max is not among what was considered: %+v", p.Kept)
}

func TestDescribedInterfaces(t *testing.T) {
	for _, c := range []struct {
		system             catalog.System
		list, names, wrong string
	}{
		{catalog.FreeBSD, "ix", "ix0/ix", ""},
		{catalog.FreeBSD, "ix0,ix1", "ix0/ix ix1/ix", ""},
		{catalog.FreeBSD, "ix,ix", "ix0/ix ix1/ix", ""},
		{catalog.OpenBSD, "em0", "em0/em", ""},
		{catalog.Linux, "eth0:igb,eth1:igb", "eth0/igb eth1/igb", ""},
		{catalog.Linux, "mlx5_core", "eth0/mlx5_core", ""},
		{catalog.FreeBSD, "mlx5", "mce0/mce", ""},
		{catalog.FreeBSD, "mce1", "mce1/mce", ""},
		{catalog.FreeBSD, "ixgbe,ix", "ix0/ix ix1/ix", ""},
		{catalog.OpenBSD, "vtnet,igb", "vio0/vio em0/em", ""},
		{catalog.Linux, "eth0:ix", "eth0/ixgbe", ""},
		{catalog.Linux, "", "", "a driver such as ix"},
		{catalog.Linux, "a b", "", "a driver such as ix"},
		{catalog.Linux, "eth0:", "", "a driver such as ix"},
		{catalog.FreeBSD, "ix0,ix0", "", "named twice"},
	} {
		nics, assumed, err := DescribedInterfaces(c.system, c.list)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%q: %v, want %q", c.list, err, c.wrong)
			}
			continue
		}
		var names []string
		for _, n := range nics {
			names = append(names, string(n.Name)+"/"+n.Driver)
		}
		if err != nil || strings.Join(names, " ") != c.names || (len(assumed) > 0) != slices.Contains([]string{"mlx5_core", "mlx5", "ixgbe,ix", "vtnet,igb", "eth0:ix"}, c.list) {
			t.Errorf("%q: %v %v %v", c.list, names, assumed, err)
		}
	}
}
