package facts

import (
	"fmt"
	"strings"
	"testing"
)

// Evidence from a session says where in the posted file a line stands.
func TestPostedPlaces(t *testing.T) {
	session := "Hello,\n\nit is slow:\n```\n# netstat -s | grep listen\n    22438 times the listen queue of a socket overflowed\n```\n" +
		"and\n~~~\n$ ip a\n2: eth0: <UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    inet 192.0.2.1/24 scope global eth0\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n~~~\n" +
		"# cat /proc/sys/net/core/rmem_max\n212992\n> quoted\n[ 77.123456] nf_conntrack: table full, dropping packet\n# grep eth0 /proc/interrupts\n 27: 5 6 PCI-MSI eth0-rx-0\n"
	p, err := LoadSession(session)
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.Facts("post.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(session, "\n")
	for name, src := range map[string]Source{
		"22438 times": f.Counters["TcpExt.ListenOverflows"].Source,
		"2: eth0":     f.NIC("eth0").Source,
		"212992":      f.Settings["net.core.rmem_max"].Source,
		"[ 77.1234":   f.Line("dmesg", 1),
		" 27: 5 6":    f.Interrupts[0].Total.Source,
	} {
		got := f.Posted(src)
		if got.From != "post.txt" || got.Line < 1 || got.Line > len(lines) || !strings.Contains(lines[got.Line-1], strings.TrimSpace(name)) || got.Output != src.From {
			t.Errorf("%s: %+v of %+v", name, got, src)
		}
	}
	if s := (Source{From: "elsewhere", Line: 3}); f.Posted(s) != s {
		t.Errorf("%+v", f.Posted(s))
	}
}

// Prompts of many shells show their commands.
func TestPrompts(t *testing.T) {
	for _, prompt := range []string{"$ ", "# ", "% ", "root@fw:~ # ", "[root@db1 ~]# ", "user@host:/tmp$ ", "<RPi4 #1> # ", "❯ ", "➜  ~ ", "➜  repo git:(main) ✗ ", "bash-4.2$ ", "[2.7.2-RELEASE][admin@pf.home.arpa]/root: ",
		"root@OpenWrt:/# ", "admin@nas[~]$ ", "PVE1:~# ", "(venv) me@box ~> ", ":~# ", "me@box:~/src (main *) $ "} {
		p, err := LoadSession("text\n" + prompt + "ethtool -S enp3s0\nNIC statistics:\n     rx_crc_errors: 77\n")
		if err != nil || p.Texts["ethtool -S enp3s0"] == "" {
			t.Errorf("%q: %v %v", prompt, err, p.Texts)
		}
	}
}

// What iperf3 and netstat -an print.
func TestTransfersAndSockets(t *testing.T) {
	f, err := FromTexts("a", map[string]string{"uname -a": "Linux a 6.1\n",
		"iperf3": "Connecting to host b, port 5201\n[  5] local 192.0.2.1 port 1 connected to 192.0.2.2 port 5201\n" +
			"[  5]   0.00-1.00   sec  2.00 MBytes  16.8 Mbits/sec    2   1.41 KBytes       \n[  5]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec    1   1.41 KBytes       \n" +
			"[SUM]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec    1             \n[  5]   0.00-2.00   sec  2.00 MBytes  8.39 Mbits/sec    3             sender\n" +
			"[  5]   0.00-2.00   sec  1.00 MBytes  4.19 Mbits/sec                  receiver\n[  5]   3.00-4.0\n",
		"netstat -an": "Aktive Internetverbindungen (Server und stehende Verbindungen)\nProto Recv-Q Send-Q Local Address Foreign Address State\n" +
			"tcp 0 999 192.0.2.1:22 192.0.2.9:5000 ESTABLISHED\ntcp6 0 0 :::80 :::* LISTEN\ntcp 1 0 192.0.2.1:80 192.0.2.9:1 TIME_WAIT\ntcp x 0 192.0.2.1:80 192.0.2.9:1 TIME_WAIT\n" +
			"udp 70000 0 0.0.0.0:514 0.0.0.0:* 1/rsyslogd\nudp 12 0 0.0.0.0:53 0.0.0.0:*\n"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Transfers) != 1 || f.Transfers[0].Intervals != 2 || f.Transfers[0].Stalled != 1 || f.Transfers[0].Retransmits != 3 || f.Transfers[0].Bytes != 2<<20 || f.Transfers[0].Window != 1.41*1024 || f.Transfers[0].Peer != "192.0.2.2:5201" {
		t.Errorf("%+v", f.Transfers)
	}
	if len(f.Flows) != 1 || f.Flows[0].SendQ != 999 || f.Counters["sockstat.TCP.tw"].Value != 1 {
		t.Errorf("%+v %+v", f.Flows, f.Counters)
	}
	if len(f.Datagrams) != 1 || f.Datagrams[0].Unread != 70000 || f.Datagrams[0].Program != "1/rsyslogd" {
		t.Errorf("%+v", f.Datagrams)
	}
}

// Counters of single queues are added up under the name without the queue.
func TestQueueSums(t *testing.T) {
	f, err := FromTexts("a", map[string]string{"uname -a": "Linux a 6.1\n", "ethtool -S e0": "NIC statistics:\n rx_queue_0_drops: 5\n rx_queue_0_alloc_failed: 0\n rx_queue_11_drops: 7\n" +
		" rx_no_buffers_posted[0]: 3\n rx_no_buffers_posted[1]: 4\n queue_2_rx_page_alloc_fail: 9\n rxq_0_queue_full_drops: 2\n rxq_1_queue_full_drops: 2\n rx_65_to_127_octets: 8\n Queue[0] InErrors: 1\n"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := f.NIC("e0")
	for name, want := range map[string]uint64{"rx_queue_drops": 12, "rx_missed_errors": 12, "rx_no_buffers_posted": 7, "queue_rx_page_alloc_fail": 9, "rxq_queue_full_drops": 4} {
		if got := n.Counters[name].Value; got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// What iproute2 prints with -j is read as what it prints without.
func TestJSONOfIproute(t *testing.T) {
	session := `$ ip -j -s link
[{"ifindex":1,"ifname":"lo","flags":["LOOPBACK","UP","LOWER_UP"],"mtu":65536,"qdisc":"noqueue","operstate":"UNKNOWN","link_type":"loopback","address":"00:00:00:00:00:00"},
{"ifindex":2,"ifname":"eth0","flags":["BROADCAST","MULTICAST","UP","LOWER_UP"],"mtu":9000,"qdisc":"mq","operstate":"UP","group":"default","txqlen":1000,"link_type":"ether","address":"02:00:00:00:00:01",
 "stats64":{"rx":{"bytes":900,"packets":123456,"errors":3,"dropped":4,"over_errors":57,"multicast":6},"tx":{"bytes":7,"packets":8,"errors":0,"dropped":9,"carrier_errors":10,"collisions":11}}}]
$ tc -s -j qdisc show dev eth0
[{"kind":"pfifo_fast","handle":"0:","dev":"eth0","root":true,"options":{},"bytes":5000,"packets":777,"drops":66,"overlimits":5,"requeues":4,"backlog":3,"qlen":2}]
$ nstat -j
{"kernel":{"TcpRetransSegs":42,"TcpExtListenOverflows":17}}
`
	p, err := LoadSession(session)
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.Facts("post.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := f.NIC("eth0")
	if n == nil || n.MTU != 9000 || !n.Up || n.Counters["link.rx_overrun"].Value != 57 || n.Counters["link.rx_packets"].Value != 123456 || n.Counters["link.tx_dropped"].Value != 9 || f.NIC("lo").Kind != "loopback" {
		t.Fatalf("%+v", n)
	}
	if len(n.Qdiscs) != 1 || n.Qdiscs[0].Dropped.Value != 66 || n.Qdiscs[0].Sent.Value != 777 || n.Qdiscs[0].Backlog != 3 {
		t.Errorf("%+v", n.Qdiscs)
	}
	if f.Counters["Tcp.RetransSegs"].Value != 42 || f.Counters["TcpExt.ListenOverflows"].Value != 17 {
		t.Errorf("%+v", f.Counters)
	}
	if got := f.Posted(n.Qdiscs[0].Dropped.Source); got.Line != 6 {
		t.Errorf("%+v", got)
	}
	for _, bad := range []string{"[", "[{}]", `[{"ifname":5}]`, `[{"ifname":"a\n2: b: <UP>"}]`, "{}", `{"kernel":{"x":-1}}`, "[]"} {
		for _, name := range []string{"ip -s -d link show", "tc -s qdisc show", "nstat -az"} {
			if got := asPrinted(name, bad); strings.Contains(got, "\n2: b") && got != bad {
				t.Errorf("%s: %q", bad, got)
			}
		}
	}
}

// Rows of mpstat whose last column is no percentage count all the same.
func TestMpstatWithInterrupts(t *testing.T) {
	f, err := FromTexts("a", map[string]string{"uname -a": "Linux a 2.6.18\n", "mpstat -P ALL 1 1": "02:03:21 PM  CPU   %user   %nice    %sys %iowait    %irq   %soft  %steal   %idle    intr/s\n" +
		"02:03:22 PM    0    1.00    0.00    1.00    0.00    2.00   96.00    0.00    0.00  12120.00\n02:03:22 PM    1    0.00    0.00    0.00    0.00    0.00    0.00    0.00  100.00      3.00\n"}, 0)
	if err != nil || len(f.Processors) != 2 || f.Processors[0].Interrupt < 0.97 || f.Processors[1].Idle != 1 {
		t.Errorf("%v %+v", err, f.Processors)
	}
}

// What editors, loggers, tables, mail and pages put around the lines does not
// hide them, and the lines keep their places.
func TestMargins(t *testing.T) {
	lines := []string{"root@fw:~ # netstat -m", "2457/511/2968 mbufs in use (current/cache/total)", "2450/102/2552/2560 mbuf clusters in use (current/cache/total/max)",
		"6/8103/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)", "root@fw:~ # uname -a", "FreeBSD fw 13.2-RELEASE FreeBSD 13.2-RELEASE GENERIC amd64"}
	each := func(form func(i int, line string) string) string {
		var b strings.Builder
		for i, line := range lines {
			b.WriteString(form(i+1, line) + "\n")
		}
		return b.String()
	}
	for what, session := range map[string]string{
		"quoted twice": each(func(_ int, s string) string { return "> > " + s }),
		"a table":      each(func(_ int, s string) string { return "| " + s + " |" }),
		"numbered":     each(func(i int, s string) string { return fmt.Sprintf("%4d\t%s", i, s) }),
		"time":         each(func(i int, s string) string { return fmt.Sprintf("[2026-11-21 10:00:%02d] %s", i, s) }),
		"clock":        each(func(i int, s string) string { return fmt.Sprintf("10:00:%02d %s", i, s) }),
		"a log":        each(func(i int, s string) string { return fmt.Sprintf("Nov 21 10:00:%02d fw script: %s", i, s) }),
		"colours":      each(func(_ int, s string) string { return "\x1b[01;32m" + s + "\x1b[0m" }),
		"a page":       "<pre>" + each(func(_ int, s string) string { return strings.ReplaceAll(s, "#", "&#35;") }) + "</pre>",
		"indented":     each(func(_ int, s string) string { return "\t" + s }),
	} {
		p, err := LoadSession(session)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		f, err := p.Facts("post.txt")
		if err != nil || f.Release != "13.2-RELEASE" {
			t.Errorf("%s: %v", what, err)
			continue
		}
		for _, m := range f.Memories {
			if m.Name != "mbuf clusters" {
				continue
			}
			if m.Denied != 8103 || m.Used != 2450 || f.Posted(m.Source).Line != 4 {
				t.Errorf("%s: %+v", what, m)
			}
		}
		if len(f.Memories) == 0 {
			t.Errorf("%s: no pools", what)
		}
	}
	interrupts := " 24: 5 6 PCI-MSI eth0-rx-0\n 25: 7 8 PCI-MSI eth0-rx-1\n 26: 7 8 PCI-MSI eth0-rx-2\n"
	if got := withoutMargin(interrupts); got != interrupts {
		t.Errorf("%q", got)
	}
	kernel := "Mar  3 11:20:41 gate kernel: nf_conntrack: table full, dropping packet\n"
	if got := withoutMargin(kernel); got != kernel {
		t.Errorf("%q", got)
	}
}

// A counter that was reset between the samples has no rate, one of 32 bits that
// wrapped has.
func TestCountersBetweenSamples(t *testing.T) {
	for _, tt := range []struct {
		before, after uint64
		rate          float64 // -1 is none
	}{{100, 350, 25}, {350, 100, -1}, {4294967000, 704, 100}, {5000000000, 10, -1}, {1 << 31, 5, -1}, {7, 7, 0}} {
		c := Counter{Value: tt.before}
		c.grow(Counter{Value: tt.after}, 10)
		switch {
		case tt.rate < 0 && (c.Rate != nil || c.Value != tt.before):
			t.Errorf("%d to %d: %+v", tt.before, tt.after, c)
		case tt.rate >= 0 && (c.Rate == nil || *c.Rate != tt.rate || c.Value != tt.after):
			t.Errorf("%d to %d: %+v", tt.before, tt.after, c)
		}
	}
}

// A counter that stands in a post several times is not added up; vmxnet3's, one
// for each queue, are.
func TestRepeatedCounters(t *testing.T) {
	for text, want := range map[string]uint64{
		"rx_bytes: 500\nrx_bytes: 70\n":                                       500,
		"Rx Queue#: 0\n  rx_bytes: 500\nRx Queue#: 1\n  rx_bytes: 70\n":       570,
		"05:16:17: rx_bytes: 7\n05:16:30: other: 9\n05:16:43: rx_bytes: 88\n": 0,
	} {
		f, err := FromTexts("a", map[string]string{"uname -a": "Linux a 6.1\n", "ethtool -S e0": text}, 0)
		if err != nil || f.NIC("e0").Counters["rx_bytes"].Value != want {
			t.Errorf("%q: %v %+v", text, err, f.NIC("e0").Counters)
		}
	}
}
