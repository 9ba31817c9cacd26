package facts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/units"
)

// fixture reads the outputs of a host that were written for these tests.
func fixture(t testing.TB, name string) map[string]string {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, f := range a.Files {
		texts[f.Name] = string(f.Data)
	}
	return texts
}

func fixtureFacts(t testing.TB, name string, window time.Duration) *Facts {
	t.Helper()
	f, err := FromTexts(name, fixture(t, name), window)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEverySourceOfTheFixturesIsUnderstood(t *testing.T) {
	for _, name := range []string{"linux", "freebsd", "openbsd"} {
		texts := fixture(t, name)
		f := fixtureFacts(t, name, 2*time.Second)
		read := map[string]bool{}
		for part, p := range f.Parts {
			read[p.From] = true
			if _, have := texts[p.From]; have && p.State != Read {
				t.Errorf("%s: %s: %s %s", name, part, p.State, p.Because)
			}
		}
		for from := range texts {
			if !read[from] {
				t.Errorf("%s: %s is read by nothing", name, from)
			}
		}
	}
}

func TestLinux(t *testing.T) {
	f := fixtureFacts(t, "linux", 0)
	check := func(what string, got, want any) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	check("identity", []string{string(f.System), f.Node, f.Release, f.Machine, f.Distribution}, []string{"linux", "store1", "6.12.9-amd64", "x86_64", "Debian GNU/Linux 13 (trixie)"})
	check("memory", f.Memory, 65805432*units.KiB)
	check("cores", []int{f.Cores, f.ThreadsPerCore, int(f.PageSize)}, []int{2, 1, 4096})
	rmem, _ := f.Triple("net.ipv4.tcp_rmem")
	check("triple", rmem, [3]int64{4096, 131072, 6291456})
	slash, _ := f.Setting("net.ipv4.conf.eth0/100.rp_filter")
	check("interface with a dot", slash, "2")
	check("source of a setting", f.Settings["net.ipv4.tcp_congestion_control"].Source, Source{From: "sysctl -a", Line: 9, Text: "net.ipv4.tcp_congestion_control = cubic"})
	available, allowed, current := f.CongestionControls()
	check("congestion control", []any{available, allowed, current}, []any{[]string{"reno", "cubic", "bbr"}, []string{"reno", "cubic"}, "cubic"})

	n := f.NIC("eth0")
	check("outlet", f.Outlet() == n, true)
	check("card", []any{n.Driver, n.Speed, n.Fastest, n.Duplex, n.MTU, n.Up, *n.NUMANode}, []any{"ixgbe", 10 * units.Gbit, 10 * units.Gbit, "full", 9000, true, 1})
	check("queues", n.Queues, Queues{RX: 2, TX: 2, Combined: 2, MaxCombined: 63})
	check("rings", n.Rings, Rings{512, 4096, 512, 4096})
	check("bus", *n.PCIe, PCIe{Speed: 8, Width: 4, MaxSpeed: 8, MaxWidth: 8, Form: "pcie"})
	check("counters", []uint64{n.Counters["link.rx_missed"].Value, n.Counters["rx_no_dma_resources"].Value, n.Counters["[0]: rx_bytes"].Value}, []uint64{4100, 4100, 12})
	check("features", []Feature{{n.Features["tcp-segmentation-offload"].On, false, Source{}}, {n.Features["tx-checksum-ipv4"].On, n.Features["tx-checksum-ipv4"].Fixed, Source{}}},
		[]Feature{{false, false, Source{}}, {false, true, Source{}}})
	check("pause", *n.Pause, Pause{false, true, true})
	check("coalescing", n.Coalesce, map[string]string{"adaptive-rx": "off", "rx-usecs": "1"})
	check("ring setting", f.Settings["ethtool:ring/rx@eth0"].Value, "512")
	check("kinds", []string{f.NIC("lo").Kind, f.NIC("eth0.100").Kind, f.NIC("eth7").Kind}, []string{"loopback", "vlan", "ethernet"})
	check("another namespace's files", []any{f.NIC("eth9").Driver, f.NIC("eth9").Up}, []any{"", false})
	check("qdisc", []any{n.Qdiscs[1].Kind, n.Qdiscs[1].Dropped.Value, n.Qdiscs[0].Backlog}, []any{"fq_codel", uint64(7), int64(31 << 10)})
	check("routes", []any{len(f.Routes), f.Routes[0].Default(), f.Routes[0].Attributes["mtu"], f.Routes[0].Attributes["initcwnd"]}, []any{2, true, "1400", "20"})
	check("listeners", f.Listeners[0].Queue, 3)
	fl := f.Flows[0]
	check("flow", []float64{fl.Values["rwnd_limited"], fl.Values["busy"], fl.Values["pacing_rate"], fl.Values["minrtt"], fl.Values["retrans_total"], fl.Values["skmem_tb"]},
		[]float64{0.941, 5796, 149.7e6, 49.9, 12, 2626560})
	check("one flow", len(f.Flows), 1)
	check("softnet", []uint64{f.Processors[0].Softnet.Processed.Value, f.Processors[1].Softnet.Dropped.Value}, []uint64{0x6acfc0, 2})
	check("interrupt", []any{f.Interrupts[1].NIC, f.Interrupts[1].PerCPU, f.Interrupts[2].Affinity}, []any{"eth0", []uint64{3000000, 5}, "1"})
	check("no interrupt of a card", f.Interrupts[3].NIC, "")
	check("statistics", []uint64{f.Counters["arp_cache.table_fulls"].Value, f.Counters["nf_conntrack.drop"].Value, f.Counters["sockstat.TCP.tw"].Value}, []uint64{4, 0x31, 14})
	check("evidence", f.Counters["TcpExt.ListenOverflows"].Source, Source{From: "/proc/net/netstat", Line: 2, Text: "TcpExt: ListenOverflows 412"})
	check("busy", f.Processors[1].Interrupt, 1.0) // mpstat is the latest
}

func TestWindowGivesRates(t *testing.T) {
	texts := fixture(t, "linux")
	delete(texts, "mpstat -P ALL 1 1")
	f, err := FromTexts("linux", texts, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if f.Window != 2 {
		t.Fatalf("the window is %g s, uptime says 2", f.Window)
	}
	rate := func(c Counter) float64 {
		if c.Rate == nil {
			return -1
		}
		return *c.Rate
	}
	n := f.NIC("eth0")
	for what, got := range map[string][2]float64{
		"overflows":           {rate(f.Counters["TcpExt.ListenOverflows"]), 10},
		"not seen again":      {rate(f.Counters["Tcp.OutSegs"]), -1},
		"received":            {rate(n.Counters["link.rx_packets"]), 50000},
		"reset":               {rate(n.Counters["link.tx_packets"]), -1},
		"packets of CPU 1":    {rate(f.Processors[1].Softnet.Processed), 256},
		"interrupts of CPU 1": {f.Processors[1].Interrupt, 0.95},
		"interrupts of CPU 0": {f.Processors[0].Interrupt, 0},
		"queue 0":             {float64(f.Interrupts[1].Grown[0]), 400},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %g, want %g", what, got[0], got[1])
		}
	}
	if f.Interrupts[2].Grown != nil {
		t.Error("an interrupt that vanished has grown")
	}
}

func TestCounterWrapsAndResets(t *testing.T) {
	for _, tt := range []struct {
		before, after uint64
		want          float64 // -1 is none
	}{
		{10, 30, 10}, {10, 10, 0},
		{1<<32 - 10, 10, 10},     // a 32-bit counter wrapped
		{5_000_000, 10, -1},      // reset
		{1<<40 + 5, 1 << 39, -1}, // 64 bits do not wrap
	} {
		c := Counter{Value: tt.before}
		c.grow(Counter{Value: tt.after}, 2)
		got := -1.0
		if c.Rate != nil {
			got = *c.Rate
		}
		if got != tt.want {
			t.Errorf("%d then %d: %g, want %g", tt.before, tt.after, got, tt.want)
		}
	}
}

func TestFreeBSD(t *testing.T) {
	f := fixtureFacts(t, "freebsd", 0)
	n := f.NIC("ix0")
	_, _, current := f.CongestionControls()
	available, _, _ := f.CongestionControls()
	pool := func(name string) Pool {
		i := slices.IndexFunc(f.Memories, func(p Pool) bool { return p.Name == name })
		if i < 0 {
			t.Fatalf("no pool %s", name)
		}
		p := f.Memories[i]
		p.Source, p.InUse = Source{}, Source{}
		return p
	}
	for what, pair := range map[string][2]any{
		"machine":    {[]any{f.Cores, f.Memory, f.PageSize, f.ThreadsPerCore, f.Processor}, []any{2, units.Bytes(17053286400), units.Bytes(4096), 2, "Example CPU"}},
		"card":       {[]any{n.Driver, n.Speed, n.Duplex, n.MTU, n.Up, n.Pause.RX, n.Features["LRO"].On}, []any{"ix", 10 * units.Gbit, "full", 1500, true, true, true}},
		"no carrier": {f.NIC("em0").Up, false},
		"lagg":       {[]string{f.NIC("lagg0").Kind, f.NIC("lagg0").Hash}, []string{"lagg", "l2,l3,l4"}},
		"bus":        {*n.PCIe, PCIe{Speed: 5, Width: 4, MaxSpeed: 5, MaxWidth: 8, Form: "pcie"}},
		"queues":     {n.Queues.RX, 2},
		"algorithms": {append([]string{current}, available...), []string{"cubic", "cubic", "newreno"}},
		"mbufs":      {pool("mbufs"), Pool{Name: "mbufs", Used: 1470, Cached: 5175, Denied: 5}},
		"clusters":   {pool("mbuf clusters"), Pool{Name: "mbuf clusters", Used: 271, Cached: 2635, Limit: 1018044}},
		"9k":         {pool("9k jumbo clusters"), Pool{Name: "9k jumbo clusters", Used: 1041, Cached: 361, Limit: 150821, Denied: 42}},
		"delayed":    {pool("requests for mbufs delayed").Delayed, uint64(7)},
		"zone":       {pool("zone mbuf_cluster").Denied, uint64(9)},
		"counters":   {[]uint64{f.Counters["tcp.listen_queue_overflow"].Value, f.Counters["tcp.packet_sent.data_packet_retransmitted"].Value, f.Counters["udp.dropped_due_to_full_socket_buffer"].Value, f.Counters["tcp_states.connection_in_time_wait_state"].Value, f.Counters["ip.packet_forwarded"].Value}, []uint64{1, 940, 1971, 12, 20000}},
		"driver":     {n.Counters["mac_stats.rx_missed_packets"].Value, uint64(17)},
		"link":       {n.Counters["netstat.Ierrs"].Value, uint64(5)},
		"netisr":     {[]any{f.NetISR[0].Drops, f.NetISR[0].Limit, f.NetISR[0].Queued}, []any{uint64(44), 1000, uint64(8681903)}},
		"pf":         {[]uint64{f.Counters["pf.current_entries"].Value, f.Counters["pf.src-limit"].Value, f.Counters["pf.source.current_entries"].Value}, []uint64{90123, 3, 4}},
		"limit":      {f.Settings["pf:set/limit/states"].Value, "100000"},
		"host cache": {[]any{f.HostCache[0].Address, f.HostCache[0].SSThresh, f.HostCache[0].RTT}, []any{"192.0.2.9", int64(4500), 12.0}},
		"modules":    {f.Modules, []string{"kernel", "accf_http"}},
		"route":      {f.Outlet().Name, "ix0"},
		"flow":       {[]any{f.Flows[0].SendQ, f.Flows[0].Values["S-BCNT"]}, []any{int64(33304), 90000.0}},
		"top":        {f.Processors[0].Interrupt, 0.98},
	} {
		if d := cmp.Diff(pair[1], pair[0]); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
}

func TestOpenBSD(t *testing.T) {
	f := fixtureFacts(t, "openbsd", 0)
	n := f.NIC("ix0")
	for what, pair := range map[string][2]any{
		"machine": {[]any{f.Cores, f.Memory}, []any{2, units.Bytes(8589934592)}},
		"card":    {[]any{n.Speed, n.Duplex, n.Pause.TX, n.Features["TSOv4"].On}, []any{10 * units.Gbit, "full", true, true}},
		"half":    {f.NIC("em0").Duplex, "half"},
		"bus":     {*n.PCIe, PCIe{Speed: 5, Width: 4, MaxSpeed: 5, MaxWidth: 8, Form: "pcie"}},
		"errors":  {n.Counters["netstat.Ifail"].Value, uint64(12)},
		"drops":   {f.Settings["net.inet.ip.ifq.drops"].Value, "77"},
		"irq":     {[]any{f.Interrupts[1].NIC, f.Interrupts[1].Total.Value}, []any{"ix0", uint64(7700000)}},
		"route":   {f.Outlet().Name, "ix0"},
		"memory":  {f.Memories[3].Limit, uint64(524288)},
		"denied":  {f.Memories[4].Denied, uint64(2)},
	} {
		if d := cmp.Diff(pair[1], pair[0]); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
}

// What net-tools says gives the same counters as /proc, when that is all there is.
func TestNetToolsInPlaceOfProc(t *testing.T) {
	texts := fixture(t, "linux")
	for _, name := range []string{"/proc/net/netstat", "/proc/net/snmp", "nstat -az", "ip -s -d link show", "/sys/class/net"} {
		delete(texts, name)
	}
	f, err := FromTexts("posted", texts, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := []uint64{f.Counters["TcpExt.ListenOverflows"].Value, f.Counters["Tcp.RetransSegs"].Value, f.Counters["Udp.RcvbufErrors"].Value, f.Counters["TcpExt.TCPTimeouts"].Value,
		f.NIC("eth0").Counters["link.rx_overrun"].Value, f.NIC("eth7").Counters["link.rx_errors"].Value}
	if d := cmp.Diff([]uint64{412, 700, 3, 6, 4100, 2}, got); d != "" {
		t.Error(d)
	}
	if f.Why("counters") != "" || f.Why("links") != "" {
		t.Errorf("counters: %q, links: %q", f.Why("counters"), f.Why("links"))
	}
}

func TestBrokenInputIsSaid(t *testing.T) {
	for _, tt := range []struct{ part, source, text, want string }{
		{"counters", "/proc/net/netstat", "TcpExt: SyncookiesSent ListenOverflows\nTcpExt: 1\n", "line 2: 1 numbers for the 2 names of TcpExt"},
		{"softnet", "/proc/net/softnet_stat", "00000002 0000zz00 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n", "line 1: column 2 is no 32-bit hexadecimal number"},
		{"interrupts", "/proc/interrupts", "unterbrechungen\n", "line 1: no line of CPUs at the top"},
		{"memory", "/proc/meminfo", "MemTotal: viel kB\n", "line 1: MemTotal is not a number of kB"},
		{"routes", "ip route show table main", "Ziel Gateway\n", "nothing in it is understood"},
		{"settings", "sysctl -a", "\x00\x01\xff", "nothing in it is understood"},
		{"listeners", "ss -ltn", "LISTEN viele 128 0.0.0.0:22 0.0.0.0:*\n", "line 1: no queue lengths after LISTEN"},
	} {
		f, err := FromTexts("broken", map[string]string{"uname -a": "Linux a 6.1\n", tt.source: tt.text}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if p := f.Parts[tt.part]; p.State != Unparsed || p.Because != tt.want {
			t.Errorf("%s: %s %q, want %q", tt.part, p.State, p.Because, tt.want)
		}
	}
}

func TestForeignSystem(t *testing.T) {
	if _, err := FromTexts("mac", map[string]string{"uname -a": "Darwin mac 23.1.0\n"}, 0); !errors.Is(err, ErrSystem) {
		t.Errorf("Darwin: %v", err)
	}
	if _, err := FromTexts("silent", map[string]string{}, 0); !errors.Is(err, ErrNoIdentity) {
		t.Errorf("silence: %v", err)
	}
}

// A recorded host replays to the same facts.
func TestReplayGivesTheSameFacts(t *testing.T) {
	recorder := host.Record(&textConn{"linux", fixture(t, "linux")})
	live, err := Collect(context.Background(), recorder, Options{Window: time.Second, Thorough: true})
	if err != nil {
		t.Fatal(err)
	}
	c := recorder.Capture(time.Unix(0, 0))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "c.tar.gz")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := host.LoadCapture(name)
	if err != nil {
		t.Fatal(err)
	}
	if w := RecordedWindow(loaded); w != time.Second {
		t.Errorf("the recorded window is %s", w)
	}
	replayed, err := Collect(context.Background(), host.NewReplay(loaded), Options{Window: time.Second, Thorough: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(live, replayed, cmpopts.IgnoreUnexported(Facts{}, Processor{}, Disk{})); d != "" {
		t.Errorf("(-live +replayed):\n%s", d)
	}
}

func TestRedact(t *testing.T) {
	texts := fixture(t, "linux")
	texts["/proc/self/mountinfo"] += "99 22 0:55 / /home rw - nfs4 files.example.net:/export/anna rw,vers=4.2,addr=192.0.2.77\n"
	recorder := host.Record(&textConn{"ssh://root@store1", texts})
	if _, err := Collect(context.Background(), recorder, Options{Thorough: true}); err != nil {
		t.Fatal(err)
	}
	c := recorder.Capture(time.Unix(0, 0))
	Redact(c, true)
	var all strings.Builder
	for _, e := range c.Entries {
		all.Write(e.Out)
	}
	for _, secret := range []string{"192.0.2.", "198.51.100.", "2001:db8::10", "00:00:5e:00:53", "store1", "files.example"} {
		if strings.Contains(all.String(), secret) {
			t.Errorf("%q is still there", secret)
		}
	}
	f, err := Collect(context.Background(), host.NewReplay(c), Options{Thorough: true})
	if err != nil {
		t.Fatal(err)
	}
	// The same address has the same mask, and one network stays one.
	if gateway := f.Routes[0].Gateway; gateway != f.Neighbours[0].Address || !strings.HasPrefix(f.NIC("eth0").Addrs[0], gateway[:strings.LastIndex(gateway, ".")]) {
		t.Errorf("gateway %s, neighbour %s, own %v", gateway, f.Neighbours[0].Address, f.NIC("eth0").Addrs)
	}
	if f.Host != "host-1" || f.Node != "host-1" || f.NIC("eth0").Speed != 10*units.Gbit {
		t.Errorf("host %s, node %s, %v", f.Host, f.Node, f.NIC("eth0").Speed)
	}
}

// FuzzSources feeds any text to any parser. Every source of every system has a
// seed: the fixtures.
func FuzzSources(f *testing.F) {
	var sources []string
	for _, name := range []string{"linux", "freebsd", "openbsd"} {
		texts := fixture(f, name)
		uname := texts["uname -a"]
		for from, text := range texts {
			if from != "uname -a" {
				f.Add(uname, from, text)
				sources = append(sources, from)
			}
		}
	}
	if len(sources) < 60 {
		f.Fatalf("only %d seeds", len(sources))
	}
	links := "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500\n    link/ether 00:00:5e:00:53:01\n"
	f.Fuzz(func(t *testing.T, uname, from, text string) {
		texts := map[string]string{"uname -a": uname, "ip -s -d link show": links, from: text}
		facts, err := FromTexts("fuzz", texts, time.Second)
		if err != nil {
			return
		}
		if _, err := json.Marshal(facts); err != nil {
			t.Fatal(err)
		}
		for name, p := range facts.Parts {
			if p.State == Unparsed && p.Because == "" {
				t.Errorf("%s: no reason", name)
			}
		}
		for _, s := range facts.Settings {
			if s.Source.Line > strings.Count(text, "\n")+2 && s.Source.From == from {
				t.Errorf("line %d of a text of %d", s.Source.Line, strings.Count(text, "\n"))
			}
		}
		if lines := strings.Count(text, "\n") + 5; len(facts.NICs) > lines+8 || len(facts.Routes) > lines || len(facts.Processors) > maxProcessors {
			t.Errorf("%d interfaces, %d routes of %d lines", len(facts.NICs), len(facts.Routes), lines)
		}
	})
}

func FuzzRedact(f *testing.F) {
	for _, text := range fixture(f, "linux") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := &host.Capture{Entries: []host.CaptureEntry{{Action: host.ActRun, Args: []string{"x"}, Out: []byte(text)}}}
		Redact(c, true)
		if n := strings.Count(text, "\n"); strings.Count(string(c.Entries[0].Out), "\n") != n {
			t.Errorf("the lines changed: %q", c.Entries[0].Out)
		}
	})
}

// A name that a shell would obey is asked nothing.
func TestInterfaceNamesAreNoCommands(t *testing.T) {
	f := &Facts{NICs: []NIC{{Name: "eth0", Kind: "ethernet", Up: true}, {Name: "a'b", Kind: "ethernet", Up: true}, {Name: "-S", Kind: "ethernet"}, {Name: "$(x)", Kind: "bond"},
		{Name: "br-0.1", Kind: "bridge"}, {Name: "eth1", Kind: "ethernet"}}}
	whole, brief := f.askedNICs()
	if d := cmp.Diff([][]string{{"eth0"}, {"br-0.1", "eth1"}}, [][]string{whole, brief}); d != "" {
		t.Error(d)
	}
}

// What a remote host says cannot steer the terminal.
func TestQuotedLinesHaveNoControlCharacters(t *testing.T) {
	f, err := FromTexts("evil", map[string]string{"uname -a": "Linux a 6.1\n", "dmesg": "\x1b[2J\x1b]0;x\x07 Possible SYN flooding \xff\n"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Messages) != 1 || strings.ContainsAny(f.Messages[0].Text, "\x1b\x07") || !utf8.ValidString(f.Messages[0].Text) {
		t.Errorf("%v", f.Messages)
	}
}

func BenchmarkCollect(b *testing.B) {
	texts := fixture(b, "linux")
	for b.Loop() {
		if _, err := FromTexts("linux", texts, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCollectLocal(b *testing.B) {
	for b.Loop() {
		if _, err := Collect(context.Background(), host.NewLocal(), Options{}); err != nil {
			b.Skip(err)
		}
	}
}

// Asked for one state, ss leaves its column out.
func TestFlowsOfOneState(t *testing.T) {
	f, err := FromTexts("a", map[string]string{"uname -a": "Linux a 6.1\n", "ss -tinm": "Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n" +
		"5 7 192.0.2.1:22 198.51.100.9:5000\n\t cubic rtt:50/1 mss:1448\n"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Flows) != 1 || f.Flows[0].SendQ != 7 || f.Flows[0].Peer != "198.51.100.9:5000" || f.Flows[0].Values["mss"] != 1448 {
		t.Errorf("%+v", f.Flows)
	}
}

// What a command printed before it was given up is read up to its last whole
// line, and said to be no more than that.
func TestCommandThatTookTooLong(t *testing.T) {
	op := host.Command("sysctl", "-a")
	for out, want := range map[string]Part{
		"a.b = 1\nc.d = 12": {From: "sysctl -a", State: Read, Because: "only the output received in time was read: "},
		"a.b = 1":           {From: "sysctl -a", State: Absent},
	} {
		f, err := FromTexts("h", map[string]string{"uname -a": "Linux h 6.1\n"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.take(reader{"settings", op, (*Facts).readSettings}, host.Answer{Op: op, Out: []byte(out), Failure: host.TimedOut, Stderr: "still running after 10s, given up"})
		got := f.Parts["settings"]
		if got.State != want.State || !strings.HasPrefix(got.Because, want.Because) || got.Because == "" {
			t.Errorf("%q: %+v", out, got)
		}
		if _, half := f.Settings["c.d"]; half {
			t.Errorf("%q: half a line is read", out)
		}
	}
}
