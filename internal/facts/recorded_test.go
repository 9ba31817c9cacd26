package facts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What iperf3 and netstat -an print.
func TestTransfersAndSockets(t *testing.T) {
	f, err := FromTexts("a", map[string]string{"uname -a": "Linux a 6.1\n",
		"iperf3": "Connecting to host b, port 5201\n[  5] local 192.0.2.1 port 1 connected to 192.0.2.2 port 5201\n" +
			"[  5]   0.00-1.00   sec  2.00 MBytes  16.8 Mbits/sec    2   1.41 KBytes       \n[  5]   1.00-2.00   sec  0.00 " +
			"Bytes  0.00 bits/sec    1   1.41 KBytes       \n" +
			"[SUM]   1.00-2.00   sec  0.00 Bytes  0.00 bits/sec    1             \n[  5]   0.00-2.00   sec  2.00 MBytes  " +
			"8.39 Mbits/sec    3             sender\n" +
			"[  5]   0.00-2.00   sec  1.00 MBytes  4.19 Mbits/sec                  receiver\n[  5]   3.00-4.0\n",
		"netstat -an": "Aktive Internetverbindungen (Server und stehende Verbindungen)\nProto Recv-Q Send-Q Local Address " +
			"Foreign Address State\n" +
			"tcp 0 999 192.0.2.1:22 192.0.2.9:5000 ESTABLISHED\ntcp6 0 0 :::80 :::* LISTEN\ntcp 1 0 192.0.2.1:80 192.0.2.9:1 " +
			"TIME_WAIT\ntcp x 0 192.0.2.1:80 192.0.2.9:1 TIME_WAIT\n" +
			"udp 70000 0 0.0.0.0:514 0.0.0.0:* 1/rsyslogd\nudp 12 0 0.0.0.0:53 0.0.0.0:*\n"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Transfers) != 1 || f.Transfers[0].Intervals != 2 || f.Transfers[0].Stalled != 1 ||
		f.Transfers[0].Retransmits != 3 || f.Transfers[0].Bytes != 2<<20 || f.Transfers[0].Window != 1.41*1024 ||
		f.Transfers[0].Peer != "192.0.2.2:5201" {
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
	f, err := FromTexts("a", map[string]string{"uname -a": "Linux a 6.1\n",
		"ethtool -S e0": "NIC statistics:\n rx_queue_0_drops: 5\n rx_queue_0_alloc_failed: 0\n rx_queue_11_drops: 7\n" +
			" rx_no_buffers_posted[0]: 3\n rx_no_buffers_posted[1]: 4\n queue_2_rx_page_alloc_fail: 9\n " +
			"rxq_0_queue_full_drops: 2\n rxq_1_queue_full_drops: 2\n rx_65_to_127_octets: 8\n Queue[0] InErrors: 1\n"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := f.NIC("e0")
	for name, want := range map[string]uint64{"rx_queue_drops": 12, "rx_missed_errors": 12, "rx_no_buffers_posted": 7,
		"queue_rx_page_alloc_fail": 9, "rxq_queue_full_drops": 4} {
		if got := n.Counters[name].Value; got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// Rows of mpstat whose last column is no percentage count all the same.
func TestMpstatWithInterrupts(t *testing.T) {
	f, err := FromTexts("a", map[string]string{"uname -a": "Linux a 2.6.18\n",
		"mpstat -P ALL 1 1": "02:03:21 PM  CPU   %user   %nice    %sys %iowait    %irq   %soft  %steal   %idle    intr/s\n" +
			"02:03:22 PM    0    1.00    0.00    1.00    0.00    2.00   96.00    0.00    0.00  12120.00\n02:03:22 PM    1    " +
			"0.00    0.00    0.00    0.00    0.00    0.00    0.00  100.00      3.00\n"}, 0)
	if err != nil || len(f.Processors) != 2 || f.Processors[0].Interrupt < 0.97 || f.Processors[1].Idle != 1 {
		t.Errorf("%v %+v", err, f.Processors)
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
func TestEnormousInputIsBounded(t *testing.T) {
	var links, settings strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&links, "%d: veth%d: <BROADCAST,UP,LOWER_UP> mtu 1500\n", i+1, i)
	}
	for i := range 100_000 {
		fmt.Fprintf(&settings, "net.ipv4.conf.veth%d.rp_filter = 1\n", i)
	}
	stretch := strings.Repeat("x", TextLimit)
	f := of(t, "Linux a 6.1", map[string]string{"ip -s -d link show": links.String(), "sysctl -a": settings.String(),
		"dmesg": "nf_conntrack: table full\n" + stretch + "\n" + "nf_conntrack: table full\n"})
	if len(f.NICs) != linkLimit || len(f.Settings) != settingLimit || len(f.Messages) != 1 {
		t.Errorf("%d links, %d settings, %d messages", len(f.NICs), len(f.Settings), len(f.Messages))
	}
	if p := f.Parts["messages"]; p.State != Read || p.Because != "only the first 16 MiB were read" {
		t.Errorf("%+v", p)
	}
}

// What happens between two samples: an interface vanishes, another comes, a
// counter is reset, one wraps, an answer is missing.
func TestSecondSampleWithSurprises(t *testing.T) {
	link := func(i int, name string, packets uint64) string {
		return fmt.Sprintf("%d: %s: <BROADCAST,UP,LOWER_UP> mtu 1500\n    link/ether 00:00:5e:00:53:0%d\n    RX: bytes  "+
			"packets  errors  dropped overrun mcast\n    1 %d 0 0 0 0\n", i, name, i, packets)
	}
	f, err := FromTexts("a", map[string]string{"uname -a": "Linux a 6.1\n",
		"ip -s -d link show":     link(1, "eth0", 100) + link(2, "eth1", 4294967290) + link(3, "eth2", 5000),
		"/proc/net/softnet_stat": "ffffffff 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n",
		"/proc/net/snmp":         "Tcp: InSegs OutSegs\nTcp: 100 200\n",
		"second sample": "==> ip -s -d link show <==\n" + link(2, "eth1", 4) + link(3, "eth2", 10) + link(4, "eth9", 7) +
			"==> /proc/net/softnet_stat <==\n00000009 00000000 00000000 00000000 00000000 00000000 00000000 00000000 " +
			"00000000\n==> /proc/net/snmp <==\nTcp: InSegs OutSegs\nTcp: 300\n"}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	rate := func(c Counter) float64 {
		if c.Rate == nil {
			return -1
		}
		return *c.Rate
	}
	got := map[string]float64{"vanished": rate(f.NIC("eth0").Counters["link.rx_packets"]),
		"wrapped": rate(f.NIC("eth1").Counters["link.rx_packets"]),
		"reset":   rate(f.NIC("eth2").Counters["link.rx_packets"]), "softnet": rate(f.Processors[0].Softnet.Processed),
		"damaged": rate(f.Counters["Tcp.InSegs"])}
	want := map[string]float64{"vanished": -1, "wrapped": 10, "reset": -1, "softnet": 10, "damaged": -1}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if f.NIC("eth9") != nil {
		t.Error("an interface that came later has no first sample")
	}
}
