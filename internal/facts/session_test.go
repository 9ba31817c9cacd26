package facts

import (
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
