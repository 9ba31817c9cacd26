package plan

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

func loaded(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func longFat() netpath.Path {
	return netpath.Path{Rate: 10 * units.Gbit, RTT: 50 * time.Millisecond, MTU: 1500}
}

// server is a described machine with everything known.
func server(s catalog.System, v catalog.Version) Machine {
	return Machine{System: s, Release: v, Memory: 64 * units.GiB, Page: 4096, Cores: 16, NICRate: 10 * units.Gbit, DiskRate: 2e9,
		Interfaces: []Interface{{Name: "ix0", Driver: "ix", Rate: 10 * units.Gbit, Queues: 1, RingMax: 4096}}}
}

// TestSamePlanForTheSameRequest also tries every role and release, and writes
// every file of each.
func TestSamePlanForTheSameRequest(t *testing.T) {
	c := loaded(t)
	for system, releases := range map[catalog.System][]catalog.Version{catalog.Linux: {"", "4.18", "6.1", "6.18", "7.2"},
		catalog.FreeBSD: {"11.4", "12.2", "13.2", "14.2", "15.0"}, catalog.OpenBSD: {"6.8", "7.4", "7.8"}} {
		for _, release := range releases {
			for _, role := range catalog.Roles() {
				r := Request{Path: longFat(), Role: role, Machine: server(system, release), Harden: true}
				first, err := Make(c, r)
				if err != nil {
					t.Fatalf("%s %s %s: %v", system, release, role, err)
				}
				second, _ := Make(c, r)
				a, _ := json.Marshal(first)
				b, _ := json.Marshal(second)
				if string(a) != string(b) {
					t.Errorf("%s %s %s: two plans for one request", system, release, role)
				}
				wellFormed(t, first)
			}
		}
	}
}

func wellFormed(t *testing.T, p Plan) {
	t.Helper()
	if p.Changes == nil || p.Kept == nil || p.Steps == nil || p.Warnings == nil {
		t.Errorf("%s %s %s: an empty list would be null in JSON", p.System, p.Release, p.Role)
	}
	seen := map[string]bool{}
	for _, ch := range p.Changes {
		if seen[ch.Setting] || strings.Contains(ch.Setting, "*") || ch.To == "" || ch.Does == "" || ch.Because == "" || ch.Undo == "" || ch.Belongs == "" || len(ch.Sources) == 0 {
			t.Errorf("%s %s %s: %+v", p.System, p.Release, p.Role, ch)
		}
		seen[ch.Setting] = true
	}
	for _, f := range append(NativeFiles(p, All), Shown(p)...) {
		if f.Name == "" || !strings.HasSuffix(f.Content, "\n") || strings.Contains(f.Content, "%!") {
			t.Errorf("%s %s %s: file %q: %q", p.System, p.Release, p.Role, f.Name, f.Content)
		}
	}
}

func TestReleasesThatAreNotDescribed(t *testing.T) {
	c := loaded(t)
	for release, want := range map[catalog.Version]string{"": "newest one that the catalog describes", "4.4": "older than", "9.1": "newer than"} {
		p, err := Make(c, Request{Path: longFat(), Role: "bulk", Machine: server(catalog.Linux, release)})
		if err != nil || len(p.Warnings) == 0 || !strings.Contains(p.Warnings[0], want) {
			t.Errorf("%q: %v, %v", release, p.Warnings, err)
		}
	}
}

func TestBadRequests(t *testing.T) {
	c := loaded(t)
	for _, bad := range []struct {
		change func(*Request)
		want   string
	}{
		{func(r *Request) { r.Path.Rate = 0 }, "rate is missing or 0"},
		{func(r *Request) { r.Path.RTT = 10 * time.Second }, "is above 5 s"},
		{func(r *Request) { r.Role = "bulk,router" }, `role "bulk,router"`},
		{func(r *Request) { r.Path.MTU = 10 }, "mtu 10"},
	} {
		r := Request{Path: longFat(), Role: "bulk", Machine: server(catalog.Linux, "6.18")}
		bad.change(&r)
		if _, err := Make(c, r); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%v, want %q", err, bad.want)
		}
	}
}

// TestSmallMachine plans a path that the memory cannot hold.
func TestSmallMachine(t *testing.T) {
	m := Machine{System: catalog.Linux, Release: "6.1", Memory: 256 * units.MiB, Page: 4096, Cores: 1, Running: map[string]string{
		"net.ipv4.tcp_rmem": "4096 131072 2097152", "net.ipv4.tcp_wmem": "4096 16384 2097152"}}
	p, err := Make(loaded(t), Request{Path: netpath.Path{Rate: 40 * units.Gbit, RTT: 100 * time.Millisecond, MTU: 1500}, Role: "bulk", Machine: m})
	if err != nil {
		t.Fatal(err)
	}
	if p.Memory.WorstCase > float64(m.Memory)/2 {
		t.Errorf("the plan may take %.0f bytes", p.Memory.WorstCase)
	}
	if !strings.Contains(strings.Join(p.Warnings, "\n"), "one connection carries at most") {
		t.Errorf("warnings %q", p.Warnings)
	}
}

// TestOrder checks that what makes the kernel rewrite a setting comes before
// it.
func TestOrder(t *testing.T) {
	m := server(catalog.Linux, "6.18")
	m.Running = map[string]string{"net.ipv4.ip_forward": "0", "net.ipv4.conf.all.accept_redirects": "1", "net.ipv4.conf.default.accept_redirects": "1"}
	p, err := Make(loaded(t), Request{Path: longFat(), Role: "router", Machine: m})
	if err != nil {
		t.Fatal(err)
	}
	place := map[string]int{}
	for i, ch := range p.Changes {
		place[ch.Setting] = i + 1
	}
	forward, redirects := place["net.ipv4.ip_forward"], place["net.ipv4.conf.all.accept_redirects"]
	if forward == 0 || redirects == 0 || forward > redirects {
		t.Errorf("ip_forward is change %d, accept_redirects %d", forward, redirects)
	}
}

// TestModuleBeforeSetting: FreeBSD 13 has cubic in a module.
func TestModuleBeforeSetting(t *testing.T) {
	for release, want := range map[catalog.Version]bool{"13.2": true, "14.2": false} {
		p, err := Make(loaded(t), Request{Path: longFat(), Role: "bulk", Machine: server(catalog.FreeBSD, release)})
		if err != nil {
			t.Fatal(err)
		}
		module, setting := -1, -1
		for i, ch := range p.Changes {
			switch ch.Setting {
			case "cc_cubic_load":
				module = i
			case "net.inet.tcp.cc.algorithm":
				setting = i
			}
		}
		if (module >= 0) != want || want && module > setting {
			t.Errorf("%s: module at %d, setting at %d", release, module, setting)
		}
	}
}

func TestHardeningIsOptIn(t *testing.T) {
	c := loaded(t)
	r := Request{Path: longFat(), Role: "web", Machine: server(catalog.FreeBSD, "13.2")}
	plain, _ := Make(c, r)
	r.Harden = true
	hardened, _ := Make(c, r)
	if len(hardened.Changes) < len(plain.Changes)+10 {
		t.Errorf("%d changes, hardened %d", len(plain.Changes), len(hardened.Changes))
	}
	if !slices.ContainsFunc(hardened.Changes, func(ch Change) bool {
		return ch.Setting == "net.inet.tcp.blackhole" && ch.To == "2" && strings.Contains(ch.Because, "Cost: ") && strings.Contains(ch.Because, "(blackhole(4))")
	}) {
		t.Error("blackhole is not among the hardening, or has no cost")
	}
	for _, k := range hardened.Kept {
		if k.Setting == "net.inet.tcp.syncookies" && strings.Contains(k.Because, "refused: a flood") {
			return
		}
	}
	t.Error("what is refused is not listed")
}

// TestHardeningsAreSettings: every name is in the catalog, and no value is
// both set and refused.
func TestHardeningsAreSettings(t *testing.T) {
	c := loaded(t)
	for _, system := range catalog.Systems() {
		list := catalog.Hardenings(system)
		if len(list) < 10 {
			t.Errorf("%s: %d settings", system, len(list))
		}
		for _, h := range list {
			if _, ok := c.Lookup(system, h.Setting); !ok {
				t.Errorf("%s: %s is not in the catalog", system, h.Setting)
			}
		}
		for _, r := range catalog.RefusedHardenings(system) {
			if _, ok := c.Lookup(system, r.Setting); !ok {
				t.Errorf("%s: %s is not in the catalog", system, r.Setting)
			}
			if slices.ContainsFunc(list, func(h catalog.Hardening) bool { return h.Setting == r.Setting }) {
				t.Errorf("%s: %s is set and refused", system, r.Setting)
			}
		}
	}
}

func TestStepsForJumboFramesAndRACK(t *testing.T) {
	path := longFat()
	path.MTU, path.Loss = 9000, 1e-3
	p, err := Make(loaded(t), Request{Path: path, Role: "bulk", Machine: server(catalog.FreeBSD, "13.2")})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(p.Steps)
	for _, want := range []string{"ping -D -s 8972", "options TCPHPTS", "buildkernel"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in the steps: %s", want, text)
		}
	}
}

func TestMasks(t *testing.T) {
	for cores, want := range map[int]string{1: "1", 4: "f", 32: "ffffffff", 40: "ff,ffffffff", 64: "ffffffff,ffffffff"} {
		if got := cpuMask(cores); got != want {
			t.Errorf("%d cores: %s", cores, got)
		}
	}
	if !sameMask("00000000,0000000f", "f") || sameMask("3", "f") {
		t.Error("masks are not compared by their bits")
	}
	for name, want := range map[string]int{"virtio0-input.1": 1, "virtio0-config": -1, "eth0-TxRx-3": 3, "ix0:rxq2": 2, "mlx5_comp4@pci:0000:3b:00.0": 4, "igb0:que 5": 5} {
		if got := queueOf(name); got != want {
			t.Errorf("%s: queue %d, want %d", name, got, want)
		}
	}
}

// TestRandomRequests finds no request that panics or gives a malformed plan.
func TestRandomRequests(t *testing.T) {
	c := loaded(t)
	rapid.Check(t, func(rt *rapid.T) {
		system := rapid.SampledFrom(catalog.Systems()).Draw(rt, "system")
		m := Machine{System: system, Release: catalog.Version(rapid.SampledFrom([]string{"", "1", "6.1", "7.7", "12.1", "14.3", "99"}).Draw(rt, "release")),
			Memory: units.Bytes(rapid.Int64Range(0, 1<<45).Draw(rt, "memory")), Page: 4096, Cores: rapid.IntRange(0, 1024).Draw(rt, "cores"),
			DiskRate: rapid.Float64Range(0, 1e11).Draw(rt, "disk")}
		if rapid.Bool().Draw(rt, "live") {
			m.Running = map[string]string{}
			rng := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(rt, "seed")))
			for _, name := range c.Names(system) {
				if rng.IntN(2) == 0 {
					m.Running[name] = []string{"0", "1", "4096 16384 4194304", "", "x", "99999999999999999999"}[rng.IntN(6)]
				}
			}
		}
		path := netpath.Path{Rate: units.Rate(rapid.Int64Range(1, int64(2*units.Tbit)).Draw(rt, "rate")), RTT: time.Duration(rapid.Int64Range(1, 5e9).Draw(rt, "rtt")),
			Loss: rapid.Float64Range(0, 0.99).Draw(rt, "loss"), MTU: rapid.IntRange(576, 65535).Draw(rt, "mtu")}
		load := Load{Connections: rapid.Float64Range(0, 1e9).Draw(rt, "connections"), PacketRate: rapid.Float64Range(0, 1e9).Draw(rt, "packets")}
		p, err := Make(c, Request{Path: path, Role: rapid.SampledFrom(catalog.Roles()).Draw(rt, "role"), Machine: m, Load: load, Harden: rapid.Bool().Draw(rt, "harden")})
		if err != nil {
			rt.Fatalf("%v", err)
		}
		wellFormed(t, p)
	})
}

func BenchmarkMake(b *testing.B) {
	c := loaded(b)
	for b.Loop() {
		if _, err := Make(c, Request{Path: longFat(), Role: "router", Machine: server(catalog.FreeBSD, "14.2")}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNothingIsTakenAway: a limit that somebody raised stays.
func TestNothingIsTakenAway(t *testing.T) {
	m := server(catalog.FreeBSD, "13.2")
	m.Running = map[string]string{"kern.ipc.nmbclusters": "67108864", "net.inet.tcp.recvbuf_max": "1073741824", "kern.ipc.soacceptqueue": "65535", "net.inet.tcp.tcbhashsize": "8388608"}
	p := planned(t, Request{Path: longFat(), Role: "web", Machine: m, Load: Load{Connections: 1e6, ConnRate: 5000}})
	for name := range m.Running {
		if got := valueOf(p, name); got != "" {
			t.Errorf("%s becomes %s", name, got)
		}
	}
	p = planned(t, Request{Path: longFat(), Role: "web", Machine: server(catalog.Linux, "6.12")})
	i := slices.IndexFunc(p.Kept, func(k Kept) bool { return k.Setting == "net.ipv4.tcp_notsent_lowat" })
	if i >= 0 && !strings.Contains(p.Kept[i].Because, "131072, which is lower") {
		t.Errorf("what is not lowered is said to be %q", p.Kept[i].Because)
	}
}

// A default that is known within bounds hinders no plan, and none goes below it.
func TestBoundedDefault(t *testing.T) {
	c := loaded(t)
	for _, x := range []struct{ path, want string }{
		{"rate=10gbit,rtt=100ms", "250000000"},
		{"rate=1gbit,rtt=20ms", "8388608"}, // 5 MB are needed, the default may be 8 MiB
		{"rate=100mbit,rtt=20ms", ""},
	} {
		path, err := netpath.Parse(x.path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Make(c, Request{Path: path, Role: "bulk", Machine: Machine{System: catalog.FreeBSD, Release: "15.0", Memory: 64 * units.GiB, Cores: 8}})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, ch := range p.Changes {
			if ch.Setting == "net.inet.tcp.sendbuf_max" {
				got = ch.To
			}
		}
		if got != x.want {
			t.Errorf("%s: sendbuf_max %q, want %q", x.path, got, x.want)
		}
	}
}

// A described machine is asked for nothing that its driver lacks, and gets
// what its firewall and its modules need.
func TestDescribedMachine(t *testing.T) {
	c := loaded(t)
	settings := func(system catalog.System, release catalog.Version, nic, role string) string {
		t.Helper()
		nics, _, err := DescribedInterfaces(system, nic)
		if err != nil {
			t.Fatal(err)
		}
		path, err := netpath.Parse("rate=1gbit,rtt=20ms")
		if err != nil {
			t.Fatal(err)
		}
		p, err := Make(c, Request{Path: path, Role: role, Machine: Machine{System: system, Release: release, Memory: 16 * units.GiB, Cores: 8, Interfaces: nics, Driver: nics[0].Driver}})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, ch := range p.Changes {
			names = append(names, ch.Setting)
		}
		return strings.Join(names, " ")
	}
	for _, x := range []struct {
		system          catalog.System
		release         catalog.Version
		nic, role       string
		has, hasNotWord string
	}{
		{catalog.Linux, "6.12", "virtio_net", "dns", "net.core.rmem_max", "ethtool:pause"},
		{catalog.Linux, "6.12", "eth0:igb", "latency", "ethtool:eee@eth0", "adaptive-rx"},
		{catalog.Linux, "6.12", "eth0:ice", "latency", "adaptive-rx@eth0", "ethtool:eee"},
		{catalog.Linux, "6.1", "eth0:igb", "router", "nf_conntrack ", "ethtool:eee"},
		{catalog.Linux, "6.1", "eth0:igb", "router", "ethtool:ring/rx@eth0", "ethtool:eee"},
		{catalog.Linux, "6.1", "eth0:r8169", "router", "rps_cpus", "ethtool:ring"},
		{catalog.Linux, "6.1", "eth0:ice", "bulk", "net.core.default_qdisc", "ethtool:ring"},
		{catalog.OpenBSD, "7.8", "ix", "web", "pf:set/limit/states", "ethtool"},
		{catalog.OpenBSD, "7.8", "ix", "web", "kern.maxfiles", "ethtool"},
		{catalog.OpenBSD, "7.5", "em", "router", "net.inet6.ip6.forwarding", "ethtool"},
		{catalog.FreeBSD, "14.3", "vtnet", "file", "", "iflib"},
	} {
		got := settings(x.system, x.release, x.nic, x.role)
		if !strings.Contains(got, x.has) || strings.Contains(got, x.hasNotWord) {
			t.Errorf("%s %s %s: %s", x.system, x.nic, x.role, got)
		}
	}
}

// Losses bound FreeBSD's own stack: buffers that change nothing are kept, and the
// stacks that help are a step.
func TestLossyPath(t *testing.T) {
	buffers := []string{"kern.ipc.maxsockbuf", "net.inet.tcp.sendbuf_max", "net.inet.tcp.recvbuf_max"}
	for _, test := range []struct {
		loss    float64
		release catalog.Version
		planned bool
		step    string
	}{
		{0, "14.3", true, ""},
		{1e-7, "14.3", true, ""},
		{1e-4, "14.3", false, "kldload tcp_bbr"},
		{1e-4, "13.2", false, "buildkernel"},
	} {
		path := netpath.Path{Rate: units.Gbit, RTT: 20 * time.Millisecond, MTU: 1500, Loss: test.loss}
		p := planned(t, Request{Path: path, Role: "bulk", Machine: server(catalog.FreeBSD, test.release)})
		for _, name := range buffers {
			changed := slices.ContainsFunc(p.Changes, func(ch Change) bool { return ch.Setting == name })
			kept := slices.ContainsFunc(p.Kept, func(k Kept) bool { return k.Setting == name && k.Wanted != "" })
			if changed != test.planned || kept == test.planned {
				t.Errorf("loss %g: %s is changed: %t, kept for the loss: %t", test.loss, name, changed, kept)
			}
		}
		steps, _ := json.Marshal(p.Steps)
		if has := strings.Contains(string(steps), "BBR"); has != (test.step != "") || !strings.Contains(string(steps), test.step) {
			t.Errorf("loss %g, %s: steps %s", test.loss, test.release, steps)
		}
	}
}

// A module is planned only where the host lacks the algorithm, however it lists them.
func TestModuleOfAnAvailableAlgorithm(t *testing.T) {
	for available, want := range map[string]bool{
		"newreno":                         true,
		"newreno, cdg":                    true,
		"cubic, newreno, htcp":            false,
		"newreno cubic":                   false,
		"CCmod D PCB\nnewreno\ncubic * 4": false,
	} {
		m := server(catalog.FreeBSD, "13.2")
		m.Running = map[string]string{"net.inet.tcp.cc.available": available, "net.inet.tcp.cc.algorithm": "newreno"}
		p := planned(t, Request{Path: longFat(), Role: "bulk", Machine: m})
		if got := slices.ContainsFunc(p.Changes, func(ch Change) bool { return ch.Setting == "cc_cubic_load" }); got != want {
			t.Errorf("%q: cc_cubic_load is planned: %t", available, got)
		}
	}
}
