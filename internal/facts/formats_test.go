package facts

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wirerate/wirerate/internal/units"
)

// of makes facts of outputs of one system.
func of(t *testing.T, uname string, texts map[string]string) *Facts {
	t.Helper()
	all := map[string]string{"uname -a": uname + "\n"}
	for name, text := range texts {
		all[name] = text
	}
	f, err := FromTexts("a", all, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const aLink = "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default " +
	"qlen 1000\n    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff\n"

func TestInterruptsOfManyMachines(t *testing.T) {
	for what, tt := range map[string]struct {
		text   string
		id     string
		name   string
		nic    string
		perCPU []uint64
	}{
		"2.6": {"           CPU0       CPU1\n 51:         10         20   PCI-MSI-edge      " +
			"eth0-TxRx-0\n", "51", "eth0-TxRx-0", "eth0", []uint64{10, 20}},
		"shared": {"           CPU0\n 16:         10   IO-APIC-fasteoi   ehci_hcd:usb1, eth0\n", "16",
			"eth0", "eth0", []uint64{10}},
		"5.x": {"            CPU0       CPU1       \n  27:          0    4294967   PCI-MSI " +
			"1572864-edge      eth0-TxRx-0\n", "27", "eth0-TxRx-0", "eth0", []uint64{0, 4294967}},
		"6.x": {"            CPU0       CPU1       \n  27:          1          2  " +
			"IR-PCI-MSIX-0000:3b:00.0    1-edge      eth0-TxRx-0\n", "27", "eth0-TxRx-0", "eth0", []uint64{1, 2}},
		"arm": {"           CPU0       CPU1       \n 43:          5          6   ITS-MSI 524288 " +
			"Edge      eth0-rx-0\n", "43", "Edge eth0-rx-0", "eth0", []uint64{5, 6}},
		"xen": {"           CPU0       CPU1       \n 77:          5          6   xen-dyn-event     " +
			"eth0-q0-rx\n", "77", "eth0-q0-rx", "eth0", []uint64{5, 6}},
		"wrapped": {"            CPU0       CPU1       CPU2\n       CPU3\n  27:          1          2  " +
			"        3\n          4   PCI-MSI 1572864-edge\n      eth0-TxRx-0\n  28: 9 9 9 9 PCI-MSI 7-edge other\n", "27",
			"eth0-TxRx-0", "eth0", []uint64{1, 2, 3, 4}},
		"crlf": {"            CPU0       CPU1       \r\n  27:          1          2   PCI-MSI " +
			"1572864-edge      eth0-TxRx-0\r\n", "27", "eth0-TxRx-0", "eth0", []uint64{1, 2}},
		"no cell of a CPU that went": {"            CPU0       CPU1       \n  27:          7   PCI-MSI 1-edge      eth0\n",
			"27", "eth0", "eth0", []uint64{7}},
	} {
		f := of(t, "Linux a 6.1", map[string]string{"/proc/interrupts": tt.text, "ip -s -d link show": aLink})
		if len(f.Interrupts) == 0 {
			t.Errorf("%s: none: %+v", what, f.Parts["interrupts"])
			continue
		}
		i := f.Interrupts[0]
		if d := cmp.Diff([]any{tt.id, tt.name, tt.nic, tt.perCPU}, []any{i.ID, i.Name, i.NIC, i.PerCPU}); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
}

func TestSoftnetOfManyReleases(t *testing.T) {
	row := func(columns int, last ...string) string {
		words := append([]string{"0000000a", "00000001", "00000002"},
			strings.Fields(strings.Repeat("00000000 ", columns-3-len(last)))...)
		return strings.Join(append(words, last...), " ") + "\n"
	}
	for what, tt := range map[string]struct {
		text string
		cpus []int
	}{
		"9":          {row(9) + row(9), []int{0, 1}},
		"10":         {row(10, "00000005"), []int{0}},
		"11":         {row(11), []int{0}},
		"13":         {row(13, "00000000", "00000003") + row(13, "00000000", "00000007"), []int{3, 7}},
		"15":         {row(15, "00000009", "00000000", "00000000"), []int{9}},
		"empty line": {row(9) + "\n" + row(9), []int{0, 1}},
		"cut":        {row(9) + "0000000a 000000", []int{0}},
	} {
		f := of(t, "Linux a 6.1", map[string]string{"/proc/net/softnet_stat": tt.text})
		var cpus []int
		for _, p := range f.Processors {
			cpus = append(cpus, p.ID)
			if p.Softnet.Processed.Value != 10 || p.Softnet.Dropped.Value != 1 || p.Softnet.Squeezed.Value != 2 {
				t.Errorf("%s: %+v", what, p.Softnet)
			}
		}
		if d := cmp.Diff(tt.cpus, cpus); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	f := of(t, "Linux a 6.1", map[string]string{"/proc/net/softnet_stat": row(9) + "0000000a 000000"})
	if p := f.Parts["softnet"]; p.State != Read || p.Line != 2 || len(f.Processors) != 1 {
		t.Errorf("a cut line: %+v", p)
	}
}

func TestEthtoolOfManyDrivers(t *testing.T) {
	for what, tt := range map[string]struct {
		text string
		want map[string]uint64
	}{
		"ixgbe": {"NIC statistics:\n     rx_packets: 5\n     rx_missed_errors: 7\n     tx_queue_0_packets: 3\n",
			map[string]uint64{"rx_packets": 5, "rx_missed_errors": 7, "tx_queue_0_packets": 3}},
		"i40e": {"NIC statistics:\n     rx_dropped: 5\n     port.rx_dropped: 7\n     port.rx_priority_0_xoff: 1\n",
			map[string]uint64{"rx_dropped": 5, "port.rx_dropped": 7, "port.rx_priority_0_xoff": 1}},
		"ice": {"NIC statistics:\n     rx_unicast: 5\n     rx_dropped.nic: 7\n     tx_queue_12_packets: 1\n",
			map[string]uint64{"rx_dropped.nic": 7, "tx_queue_12_packets": 1}},
		"mlx5": {"NIC statistics:\n     rx_out_of_buffer: 9\n     rx0_packets: 1\n     rx_discards_phy: 8\n     " +
			"ch0_events: 2\n", map[string]uint64{"rx_out_of_buffer": 9, "rx_discards_phy": 8}},
		"bnxt_en": {"NIC statistics:\n     [0]: rx_ucast_packets: 4\n     [1]: rx_ucast_packets: 6\n     " +
			"rx_total_discard_pkts: 3\n", map[string]uint64{"[0]: rx_ucast_packets": 4, "[1]: rx_ucast_packets": 6,
			"rx_total_discard_pkts": 3}},
		"qede": {"NIC statistics:\n     0: rcv_pkts: 12\n     1: rcv_pkts: 13\n     no_buff_discards: 2\n",
			map[string]uint64{"0: rcv_pkts": 12, "1: rcv_pkts": 13, "no_buff_discards": 2}},
		"ena": {"NIC statistics:\n     bw_in_allowance_exceeded: 5\n     queue_0_rx_cnt: 12\n     " +
			"pps_allowance_exceeded: 7\n", map[string]uint64{"bw_in_allowance_exceeded": 5, "pps_allowance_exceeded": 7}},
		"virtio_net": {"NIC statistics:\n     rx_queue_0_packets: 12\n     rx_queue_0_drops: 1\n     " +
			"rx_queue_0_xdp_packets: 0\n", map[string]uint64{"rx_queue_0_drops": 1}},
		"vmxnet3": {"NIC statistics:\n     Tx Queue#: 0\n       ucast pkts tx: 100\n       drv dropped tx total: 1\n      " +
			"    too many frags: 0\n     Tx Queue#: 1\n       ucast pkts tx: 50\n       drv dropped tx total: 2\n" +
			"     Rx Queue#: 0\n       pkts rx OOB: 5\n     Rx Queue#: 1\n       pkts rx OOB: 7\n     tx timeout count: 0\n",
			map[string]uint64{"ucast pkts tx": 150, "drv dropped tx total": 3, "pkts rx OOB": 12}},
		"r8169": {"NIC statistics:\r\n     tx_packets: 12\r\n     rx_missed: 65535\r\n     align_errors: 0\r\n",
			map[string]uint64{"tx_packets": 12, "rx_missed": 65535}},
		"hns3": {"NIC statistics:\n     txq0_packets: 3\n     rxq0_l2_err: 1\n     mac_rx_fcs_err_pkt_num: 9\n",
			map[string]uint64{"mac_rx_fcs_err_pkt_num": 9}},
		"gve": {"NIC statistics:\n     rx_dropped: 3\n     rx_drops_packet_over_mru[0]: 1\n     tx_bytes[1]: " +
			"18446744073709551615\n", map[string]uint64{"rx_drops_packet_over_mru[0]": 1, "tx_bytes[1]": 18446744073709551615}},
	} {
		f := of(t, "Linux a 6.1", map[string]string{"ip -s -d link show": aLink, "ethtool -S eth0": tt.text})
		got := map[string]uint64{}
		for name := range tt.want {
			got[name] = f.NIC("eth0").Counters[name].Value
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
}

func TestEthtoolSaysWhatItCannot(t *testing.T) {
	for _, tt := range []struct {
		part, from, text string
		state            State
		because          string
	}{
		{"rings eth0", "ethtool -g eth0", "Cannot get device ring settings: Operation not supported\n", Absent,
			"Cannot get device ring settings: Operation not supported"},
		{"rings eth0", "ethtool -g eth0",
			"Ring parameters for eth0:\nCannot get device ring settings: Operation not supported\n", Absent,
			"Cannot get device ring settings: Operation not supported"},
		{"rings eth0", "ethtool -g eth0", "netlink error: Operation not supported\n", Absent,
			"netlink error: Operation not supported"},
		{"statistics eth0", "ethtool -S eth0", "no stats available\n", Absent, "no stats available"},
		{"link eth0", "ethtool eth0", "Settings for eth0:\n\tNo data available\n", Absent, "No data available"},
		{"link eth0", "ethtool eth0", "Cannot get device settings: Operation not permitted\n", Denied,
			"Cannot get device settings: Operation not permitted"},
		{"driver eth0", "ethtool -i eth0", "Cannot get driver information: No such device\n", Absent,
			"Cannot get driver information: No such device"},
		{"channels eth0", "ethtool -l eth0", "bash: ethtool: command not found\n", Absent,
			"bash: ethtool: command not found"},
		{"messages", "dmesg", "dmesg: read kernel buffer failed: Operation not permitted\n", Denied,
			"dmesg: read kernel buffer failed: Operation not permitted"},
		{"interrupts", "/proc/interrupts", "cat: /proc/interrupts: Permission denied\n", Denied,
			"cat: /proc/interrupts: Permission denied"},
		{"statistics eth0", "ethtool -S eth0", "\x7fELF\x02\x01\x01\x00\x00", Unparsed, "nothing in it is understood"},
	} {
		f := of(t, "Linux a 6.1", map[string]string{"ip -s -d link show": aLink, tt.from: tt.text})
		if p := f.Parts[tt.part]; p.State != tt.state || p.Because != tt.because {
			t.Errorf("%q: %s %q", tt.text, p.State, p.Because)
		}
	}
}

func TestEthtoolSettingsOfManyReleases(t *testing.T) {
	f := of(t, "Linux a 6.1", map[string]string{"ip -s -d link show": aLink,
		"ethtool eth0": "Settings for eth0:\n\tSupported ports: [ FIBRE ]\n\tSupported link modes:   1000baseKX/Full\n\t  " +
			"                      10000baseSR/Full\n\t                        25000baseSR/Full\n" +
			"\tSupported pause frame use: Symmetric\n\tAdvertised link modes:  100000baseCR4/Full\n\tSpeed: " +
			"10000Mb/s\n\tDuplex: Full\n\tAuto-negotiation: off\n\tPort: FIBRE\n\tLink detected: yes\n",
		"ethtool -g eth0": "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t\t8192\nRX Mini:\t\tn/a\nRX " +
			"Jumbo:\t\t8191\nTX:\t\t\t8192\nTX push buff len:\tn/a\nCurrent hardware settings:\nRX:\t\t\t1024\nRX " +
			"Mini:\t\tn/a\nRX Jumbo:\t\t4096\nTX:\t\t\t512\nRX Buf Len:\t\t2048\nCQE Size:\t\tn/a\nTX Push:\toff\n",
		"ethtool -l eth0": "Channel parameters for eth0:\nPre-set " +
			"maximums:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\nCombined:\t63\nCurrent hardware " +
			"settings:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\nCombined:\t4\n",
		"ethtool -c eth0": "Coalesce parameters for eth0:\nAdaptive RX: on  TX: " +
			"n/a\nstats-block-usecs:\tn/a\nrx-usecs:\t8\nrx-frames:\tn/a\nCQE mode RX: off  TX: on\n\n",
		"ethtool -a eth0": "Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\toff\n\n",
		"ethtool -k eth0": "Offload parameters for eth0:\nrx-checksumming: on\nCannot get device udp large send offload " +
			"settings: Operation not supported\ntcp segmentation offload: on\n\ttx-checksum-ipv4: off [requested " +
			"on]\nlarge-receive-offload: off [fixed]\n"})
	n := f.NIC("eth0")
	compareAll(t, map[string][2]any{
		"link":     {[]any{n.Speed, n.Fastest, n.Duplex}, []any{10 * units.Gbit, 25 * units.Gbit, "full"}},
		"rings":    {n.Rings, Rings{1024, 8192, 512, 8192}},
		"channels": {n.Queues, Queues{RX: 4, TX: 4, Combined: 4, MaxCombined: 63}},
		"coalesce": {n.Coalesce, map[string]string{"adaptive-rx": "on", "rx-usecs": "8", "cqe-mode-rx": "off",
			"cqe-mode-tx": "on"}},
		"pause": {*n.Pause, Pause{false, true, false}},
		"features": {[]bool{n.Features["rx-checksumming"].On, n.Features["tx-checksum-ipv4"].On,
			n.Features["large-receive-offload"].Fixed}, []bool{true, false, true}},
	})
	for _, s := range []string{"Unknown!", "Unknown! (255)", "Unknown! (65535)", "65535Mb/s", "4294967295Mb/s", "-1Mb/s"} {
		f := of(t, "Linux a 2.6", map[string]string{"ip -s -d link show": aLink,
			"ethtool eth0": "Settings for eth0:\n\tSpeed: " + s + "\n\tDuplex: Unknown! (255)\n\tLink detected: no\n"})
		if n := f.NIC("eth0"); n.Speed != 0 || n.Duplex != "" {
			t.Errorf("%s: %v %s", s, n.Speed, n.Duplex)
		}
	}
}

func TestIPLinkOfManyKinds(t *testing.T) {
	f := of(t, "Linux a 6.1",
		map[string]string{"ip -s -d link show": `1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00 promiscuity 0 allmulti 0 minmtu 0 maxmtu 0 addrgenmode eui64 numtxqueues 1 numrxqueues 1 gso_max_size 65536 gso_max_segs 65535
    RX:  bytes packets errors dropped  missed   mcast
          1000      10      0       0       0       0
    TX:  bytes packets errors dropped carrier collsns
          1000      10      0       0       0       0
2: eth0: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 9000 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff permaddr 00:00:5e:00:53:07 promiscuity 0 allmulti 0 minmtu 68 maxmtu 9710
    bond_slave state ACTIVE mii_status UP link_failure_count 3 perm_hwaddr 00:00:5e:00:53:07 queue_id 0 addrgenmode eui64 numtxqueues 64 numrxqueues 63 gso_max_size 65536 gso_max_segs 65535 parentbus pci parentdev 0000:3b:00.0
    RX:  bytes packets errors dropped  missed   mcast
    9125000000 7000000      3       0      55      12
    RX errors:  length    crc   frame    fifo overrun
                     0      2       0       7       0
    TX:  bytes packets errors dropped carrier collsns
          1000      10      0       0       0       0
    TX errors: aborted   fifo  window heartbt transns
                     0      0       0       0       2
    vf 0     link/ether 00:00:5e:00:53:a0 brd ff:ff:ff:ff:ff:ff, vlan 100, spoof checking on, link-state auto, trust off, query_rss off
    vf 1 MAC 00:00:5e:00:53:a1, vlan 200, spoof checking on, link-state auto
3: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 9000 qdisc noqueue state UP mode DEFAULT group default qlen 1000
    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff promiscuity 0
    bond mode 802.3ad miimon 100 updelay 0 downdelay 0 use_carrier 1 arp_interval 0 xmit_hash_policy layer3+4 resend_igmp 1 addrgenmode eui64 numtxqueues 16 numrxqueues 16
4: bond0.20@bond0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default
    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff promiscuity 0
    vlan protocol 802.1Q id 20 <REORDER_HDR> addrgenmode eui64
5: br0: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 qdisc noqueue state DOWN mode DEFAULT group default qlen 1000
    link/ether 00:00:5e:00:53:05 brd ff:ff:ff:ff:ff:ff promiscuity 0
    bridge forward_delay 1500 hello_time 200 max_age 2000 vlan_filtering 0 vlan_protocol 802.1Q
6: vxlan7: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN mode DEFAULT group default
    link/ether 00:00:5e:00:53:06 brd ff:ff:ff:ff:ff:ff promiscuity 0
    vxlan id 7 local 192.0.2.1 dev eth0 srcport 0 0 dstport 4789 nolearning ttl auto ageing 300
7: veth3@if2: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master br0 state UP mode DEFAULT group default
    link/ether 00:00:5e:00:53:09 brd ff:ff:ff:ff:ff:ff link-netnsid 0 promiscuity 1
    veth
    bridge_slave state forwarding priority 32 cost 2 hairpin off
8: wg0: <POINTOPOINT,NOARP,UP,LOWER_UP> mtu 1420 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/none  promiscuity 0
    wireguard addrgenmode none
`})
	kinds := map[string]string{}
	for _, n := range f.NICs {
		kinds[n.Name] = n.Kind
	}
	n := f.NIC("eth0")
	compareAll(t, map[string][2]any{
		"kinds": {kinds, map[string]string{"lo": "loopback", "eth0": "ethernet", "bond0": "bond", "bond0.20": "vlan",
			"br0": "bridge", "vxlan7": "vxlan", "veth3": "veth", "wg0": "wireguard"}},
		"mac": {n.MAC, "00:00:5e:00:53:01"},
		"counters": {[]uint64{n.Counters["link.rx_missed"].Value, n.Counters["link.rx_errors_crc"].Value,
			n.Counters["link.rx_errors_fifo"].Value, n.Counters["link.tx_errors_transns"].Value},
			[]uint64{55, 2, 7, 2}},
		"bond": {[]any{f.NIC("bond0").Hash, n.Master, n.Device, n.Queues.TX},
			[]any{"layer3+4", "bond0", "0000:3b:00.0", 64}},
		"bridge": {f.NIC("br0").Up, false},
	})
}

func TestQdiscsOfManyKinds(t *testing.T) {
	f := of(t, "Linux a 6.1", map[string]string{"ip -s -d link show": aLink,
		"tc -s qdisc show": `qdisc cake 8005: dev eth0 root refcnt 2 bandwidth 50Mbit diffserv3 triple-isolate nonat nowash no-ack-filter split-gso rtt 100ms raw overhead 0
 Sent 165811 bytes 944 pkt (dropped 13, overlimits 53 requeues 0)
 backlog 1514b 1p requeues 0
 memory used: 35Kb of 4Mb
 capacity estimate: 50Mbit
 min/max network layer size:           28 /    1500
                   Bulk  Best Effort        Voice
  thresh       3125Kbit       50Mbit     12500Kbit
  backlog            0b           0b           0b
  pkts                0          944            0
  drops               0           13            0
qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x30 direct_packets_stat 5 direct_qlen 1000
 Sent 1000 bytes 10 pkt (dropped 2, overlimits 7 requeues 0)
 rate 0bit 0pps backlog 64Kb 43p requeues 0
qdisc fq 8002: dev eth0 parent :1 limit 10000p flow_limit 100p buckets 1024 quantum 3028b
 Sent 5 bytes 1 pkt (dropped 0, overlimits 0 requeues 9)
 backlog 2Mb 1500p requeues 9
  5 flows (4 inactive, 0 throttled)
qdisc ingress ffff: dev eth0 parent ffff:fff1 ----------------
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
`})
	var got [][]any
	for _, q := range f.NIC("eth0").Qdiscs {
		got = append(got, []any{q.Kind, q.Sent.Value, q.Dropped.Value, q.Overlimits.Value, q.Requeues.Value, q.Backlog})
	}
	want := [][]any{{"cake", uint64(944), uint64(13), uint64(53), uint64(0), int64(1514)},
		{"htb", uint64(10), uint64(2), uint64(7), uint64(0), int64(64 << 10)},
		{"fq", uint64(1), uint64(0), uint64(0), uint64(9), int64(2 << 20)},
		{"ingress", uint64(0), uint64(0), uint64(0), uint64(0), int64(0)}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestFlowsOfManyReleases(t *testing.T) {
	for what, tt := range map[string]struct {
		text string
		want map[string]float64
	}{
		"3.x": {"State      Recv-Q Send-Q      Local Address:Port          Peer Address:Port\nESTAB      0      52     " +
			"192.0.2.1:22     192.0.2.9:50000\n\t mem:(r0,w592,f3504,t0) sack cubic wscale:7,8 rto:236 rtt:34.5/1.25 ato:40 " +
			"cwnd:10 ssthresh:7 send 3.4Mbps rcv_rtt:20 rcv_space:29200\n",
			map[string]float64{"rtt": 34.5, "rttvar": 1.25, "cwnd": 10, "ssthresh": 7, "send": 3.4e6, "wscale_send": 7,
				"wscale_receive": 8, "rcv_space": 29200}},
		"5.x": {"State Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\nESTAB 0 1448 192.0.2.1:443 " +
			"192.0.2.9:50000 timer:(on,236ms,0) ino:77 sk:1f <->\n\t " +
			"skmem:(r0,rb131072,t2304,tb2626560,f1792,w2304,o0,bl0,d3) ts sack bbr wscale:7,7 rto:204 rtt:3.2/0.4 mss:1448 " +
			"pmtu:1500 rcvmss:536 advmss:1448 cwnd:2896 " +
			"bytes_sent:10 bytes_retrans:5 bbr:(bw:1.2Gbps,mrtt:2.9,pacing_gain:2.88,cwnd_gain:2.88) send 10.5Gbps lastsnd:4 " +
			"pacing_rate 1.2Gbps/2Gbps delivery_rate 900Mbps delivered:5 app_limited busy:120ms rwnd_limited:60ms(50.0%) " +
			"sndbuf_limited:12ms(10.0%) unacked:1 retrans:1/25 dsack_dups:3 reordering:7 reord_seen:2 minrtt:2.9 " +
			"rcv_ooopack:4 snd_wnd:65536\n",
			map[string]float64{"pacing_rate": 1.2e9, "delivery_rate": 900e6, "rwnd_limited": 0.5, "sndbuf_limited": 0.1,
				"retrans_total": 25, "skmem_tb": 2626560, "skmem_d": 3, "minrtt": 2.9, "busy": 120, "snd_wnd": 65536,
				"rcv_ooopack": 4}},
		"one line": {"ESTAB 0 0 [2001:db8::1]:443 [2001:db8::2]:50000 cubic rtt:1/0.5 mss:1428\n",
			map[string]float64{"mss": 1428}},
		"all sockets": {"Netid State Recv-Q Send-Q Local Address:Port Peer Address:Port\nudp ESTAB 0 0 192.0.2.1:5 " +
			"192.0.2.2:6\ntcp ESTAB 3 0 192.0.2.1:443 192.0.2.9:50000\n\t cubic mss:1400\n", map[string]float64{"mss": 1400}},
	} {
		f := of(t, "Linux a 6.1", map[string]string{"ss -tinm": tt.text})
		if len(f.Flows) != 1 {
			t.Errorf("%s: %d flows, %+v", what, len(f.Flows), f.Parts["flows"])
			continue
		}
		got := map[string]float64{}
		for name := range tt.want {
			got[name] = f.Flows[0].Values[name]
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
}

func TestLspciOfManyReleases(t *testing.T) {
	for what, tt := range map[string]struct {
		text  string
		want  *PCIe
		state State
	}{
		"old": {"3b:00.0 Ethernet controller: X\n\tCapabilities: [a0] Express (v2) Endpoint, MSI 00\n\t\tLnkCap:\tPort " +
			"#0, Speed 8GT/s, Width x8, ASPM L0s, Exit Latency L0s unlimited\n\t\tLnkSta:\tSpeed 5GT/s, Width x4, TrErr- " +
			"Train- SlotClk+\n\t\tLnkSta2: Current De-emphasis Level: -6dB\n",
			&PCIe{Form: "pcie", Speed: 5, Width: 4, MaxSpeed: 8, MaxWidth: 8}, Read},
		"new": {"0000:3b:00.0 Ethernet controller [0200]: X [8086:10fb] (rev 01)\n\t\tLnkCap:\tPort #8, Speed 16GT/s, " +
			"Width x16, ASPM not supported\n\t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x8 (downgraded)\n",
			&PCIe{Form: "pcie", Speed: 8, Width: 8, MaxSpeed: 16, MaxWidth: 16}, Read},
		"user": {"3b:00.0 Ethernet controller: X\n\tFlags: bus master\n\tCapabilities: <access denied>\n\tKernel driver " +
			"in use: ixgbe\n", nil, Denied},
		"pci-x": {"3b:00.0 Ethernet controller: X\n\tCapabilities: [e4] PCI-X non-bridge device\n\t\tCommand: DPERE- ERO+ " +
			"RBC=512 OST=1\n\t\tStatus: Dev=03:01.0 64bit+ 133MHz+ SCD- USC- DC=simple\n",
			&PCIe{Form: "pci-x", Bits: 64, Clock: 133}, Read},
		"pci": {"3b:00.0 Ethernet controller: Realtek Semiconductor Co., Ltd. RTL8169 PCI Gigabit Ethernet Controller " +
			"(rev 10)\n\tStatus: Cap+ 66MHz+ UDF- FastB2B+ ParErr-\n\tCapabilities: [dc] Power Management version 2\n",
			&PCIe{Form: "pci", Bits: 32, Clock: 66}, Read},
		"pci, what else it can is not shown": {"3b:00.0 Ethernet controller: Intel Corporation 82541PI Gigabit Ethernet " +
			"Controller (rev 05)\n\tStatus: Cap+ 66MHz+ UDF-\n\tCapabilities: <access denied>\n", nil, Denied},
		"imitated": {"3b:00.0 Ethernet controller: Realtek RTL-8139/8139C/8139C+ (rev " +
			"20)\n\tSubsystem: Red Hat, Inc. QEMU Virtual Machine\n\tStatus: Cap- 66MHz- UDF-\n", nil, Read},
		"no one": {"3b:00.0 Ethernet controller: X\n\t\tLnkCap:\tPort #0, Speed unknown, " +
			"Width x0\n", nil, Read},
	} {
		f := of(t, "Linux a 6.1", map[string]string{"ip -s -d link show": aLink,
			"ethtool -i eth0": "driver: ixgbe\nbus-info: 0000:3b:00.0\n", "lspci -vv": tt.text})
		if d := cmp.Diff([]any{tt.want, tt.state}, []any{f.NIC("eth0").PCIe, f.Parts["lspci"].State}); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
}

func TestLinuxCountersOfManyTools(t *testing.T) {
	f := of(t, "Linux a 6.1", map[string]string{
		"netstat -s": "Ip:\n    55 total packets received\n    2 forwarded\nTcp:\n    9 segments send " +
			"out\n    3 bad segments received.\nUdp:\n    7 packets received\n    5 packet receive " +
			"errors\nUdpLite:\nTcpExt:\n    4 packets pruned from receive queue because of socket buffer overrun\n    " +
			"Detected reordering 12 times using SACK\n    TCP ran low on memory 3 times\n    TCPBacklogDrop: 8\nIpExt:\n    " +
			"InNoRoutes: 6\n",
		"nstat -az": "#kernel\nIpInReceives                    55                 0.0\nIp6InReceives    " +
			"               66                 0.0\nUdp6RcvbufErrors                2                  " +
			"0.0\nTcpExtTCPTimeouts               4                  0.0\nMPTcpExtMPCapableSYNRX          1   " +
			"0.0\nIcmpMsgInType3 7 0.0\n",
		"conntrack -S": "cpu=0   \tfound=1 invalid=2 ignore=3 insert=0 insert_failed=4 drop=5 early_drop=0 " +
			"error=0 search_restart=6\ncpu=1   \tfound=1 invalid=2 ignore=3 insert=0 insert_failed=4 drop=5 early_dr\n",
		"/proc/net/stat/arp_cache": "entries  allocs destroys hash_grows  lookups\n00000014  00000002 00000000 " +
			"00000000 00000001\n00000014  00000003 00000000 00000000 00000001\n",
		"/proc/net/sockstat": "sockets: used 300\nTCP: inuse 50 orphan 1 tw 20000 alloc 60 mem 5\nUDP: inuse 4 " +
			"mem 2\n",
		"mpstat -P ALL 1 1": "Linux 5.4 (a) \t01/02/2026 \t_x86_64_\t(2 CPU)\n\n10:00:01 AM  CPU    %usr   " +
			"%nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n10:00:02 AM  all   1,00 0,00 1,00 0,00 " +
			"0,00 1,00 0,00 0,00 0,00 97,00\n10:00:02 AM    1   0,00 0,00 2,00 0,00 0,00 95,00 0,00 0,00 0,00 3,00\n",
		"/proc/net/softnet_stat": "0000000a 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n",
		"sysctl -a": "net.core.somaxconn = 128\nsysctl: permission denied on key " +
			"'net.core.bpf_jit_harden'\nnet.ipv4.tcp_rmem = 4096\t87380\t6291456\nerror: permission denied on key " +
			"'kernel.cad_pid'\ndev.cdrom.info = CD-ROM\ndev.cdrom.info = drive name\n",
		"ip route show table main": "default proto static metric 100 \n\tnexthop via 192.0.2.1 dev eth0 weight 1 " +
			"\n192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.2 \nunreachable 198.51.100.0/24 \n",
		"ip -s -d link show":          aLink,
		"ip neigh show":               "192.0.2.1 dev eth0 lladdr 00:00:5e:00:53:09 REACHABLE\n192.0.2.7 dev eth0  FAILED\n",
		"/proc/net/stat/nf_conntrack": "entries  searched found new\n",
	})
	got := map[string]uint64{}
	want := map[string]uint64{"Ip.InReceives": 55, "Tcp.OutSegs": 9, "Tcp.InErrs": 3, "Udp.InDatagrams": 7,
		"Udp.InErrors": 5, "TcpExt.PruneCalled": 4, "TcpExt.TCPSACKReorder": 12,
		"TcpExt.TCPMemoryPressures": 3, "TcpExt.TCPBacklogDrop": 8, "IpExt.InNoRoutes": 6, "Snmp6.Ip6InReceives": 66,
		"Snmp6.Udp6RcvbufErrors": 2, "TcpExt.TCPTimeouts": 4,
		"IcmpMsg.InType3": 7, "nf_conntrack.drop": 10, "nf_conntrack.search_restart": 6, "arp_cache.entries": 20,
		"arp_cache.allocs": 5, "sockstat.TCP.tw": 20000}
	for name := range want {
		got[name] = f.Counters[name].Value
	}
	compareAll(t, map[string][2]any{
		"counters":  {got, want},
		"no others": {f.Counters["Ip.6InReceives"].Value, uint64(0)},
		"settings": {[]string{f.Settings["net.core.somaxconn"].Value, f.Settings["net.ipv4.tcp_rmem"].Value,
			f.Settings["dev.cdrom.info"].Value}, []string{"128", "4096 87380 6291456", "CD-ROM"}},
		"soft": {f.Processors[1].Interrupt, 0.95},
		"routes": {[]any{f.Routes[0].Default(), f.Routes[0].Interface, f.Routes[0].Gateway},
			[]any{true, "eth0", "192.0.2.1"}},
	})
}

func poolNamed(t *testing.T, f *Facts, name string) Pool {
	t.Helper()
	for _, p := range f.Memories {
		if p.Name == name {
			p.Source, p.InUse = Source{}, Source{}
			return p
		}
	}
	t.Errorf("no pool %q in %+v", name, f.Memories)
	return Pool{}
}

func TestMbufsOfManyReleases(t *testing.T) {
	for _, tt := range []struct {
		uname, text, name string
		want              Pool
	}{
		{"FreeBSD a 9.3", "1024/1261/2285 mbufs in use (current/cache/total)\n1023/505/1528/25600 mbuf clusters in use " +
			"(current/cache/total/max)\n1/0/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)\n5/6/7 requests for " +
			"jumbo clusters denied (4k/9k/16k)\n" +
			"0/3/6656 sfbufs in use (current/peak/max)\n0 requests for sfbufs denied\n77 requests for I/O initiated by " +
			"sendfile\n", "mbuf clusters", Pool{Used: 1023, Cached: 505, Limit: 25600}},
		{"FreeBSD a 9.3", "0/3/6656 sfbufs in use (current/peak/max)\n", "sfbufs", Pool{Limit: 6656}},
		{"FreeBSD a 14.1", "8/1/9/509021 4k (page size) jumbo clusters in use (current/cache/total/max)\n5/6/7 requests " +
			"for jumbo clusters denied (4k/9k/16k)\n", "4k (page size) jumbo clusters",
			Pool{Used: 8, Cached: 1, Limit: 509021, Denied: 5}},
		{"FreeBSD a 4.11", "129/26624/26624 mbufs in use (current/peak/max):\n\t129 mbufs allocated to data\n128/250/6656 " +
			"mbuf clusters in use (current/peak/max)\n0 requests for memory denied\n", "mbuf clusters",
			Pool{Used: 128, Limit: 6656}},
		{"OpenBSD a 5.0", "539 mbufs in use:\n\t423 mbufs allocated to data\n19/208/6144 mbuf 2048 byte clusters in use " +
			"(current/peak/max)\n1380 Kbytes allocated to network (29% in use)\n0 requests for memory denied\n",
			"mbuf 2048 byte clusters", Pool{Used: 19, Limit: 6144}},
		{"OpenBSD a 7.5", "539 mbufs in use:\n19/208 mbuf 2048 byte clusters in use (current/peak)\n3444/3564/524288 " +
			"Kbytes allocated to network (current/peak/max)\n4 requests for memory denied\n", "Kbytes of mbufs",
			Pool{Used: 3444, Limit: 524288}},
		{"OpenBSD a 7.5", "539 mbufs in use:\n", "mbufs", Pool{Used: 539}},
	} {
		f := of(t, tt.uname, map[string]string{"netstat -m": tt.text})
		tt.want.Name = tt.name
		if d := cmp.Diff(tt.want, poolNamed(t, f, tt.name)); d != "" {
			t.Errorf("%s: %s", tt.uname, d)
		}
		for _, p := range f.Memories {
			if strings.Contains(p.Name, "sendfile") {
				t.Errorf("%s is a pool", p.Name)
			}
		}
	}
}

func TestInterfacesOfBSDs(t *testing.T) {
	for what, tt := range map[string]struct {
		uname, text string
		speed       units.Rate
		duplex      string
		up          bool
	}{
		"10G": {"FreeBSD a 13.2",
			"ix0: flags=8863<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 9000\n\tmedia: Ethernet autoselect " +
				"(10Gbase-SR <full-duplex,rxpause,txpause>)\n\tstatus: active\n", 10 * units.Gbit, "full", true},
		"fixed": {"FreeBSD a 13.2",
			"ix0: flags=8863<UP,BROADCAST,RUNNING> metric 0 mtu 1500\n\tmedia: Ethernet 25GBase-CR <full-duplex>\n\tstatus: " +
				"active\n", 25 * units.Gbit, "full", true},
		"100G": {"FreeBSD a 14.0",
			"ix0: flags=1008843<UP,BROADCAST,RUNNING,LOWER_UP> metric 0 mtu 1500\n\tmedia: Ethernet autoselect <full-duplex> " +
				"(100GBase-LR4 <full-duplex>)\n\tstatus: active\n", 100 * units.Gbit, "full", true},
		"2.5G": {"FreeBSD a 14.0",
			"ix0: flags=8843<UP,BROADCAST,RUNNING> metric 0 mtu 1500\n\tmedia: Ethernet autoselect (2500Base-T " +
				"<full-duplex>)\n\tstatus: active\n", 2500 * units.Mbit, "full", true},
		"half": {"FreeBSD a 9.1",
			"ix0: flags=8843<UP,BROADCAST,RUNNING> metric 0 mtu 1500\n\tmedia: Ethernet 100baseTX <half-duplex>\n\tstatus: " +
				"active\n", 100 * units.Mbit, "half", true},
		"none": {"FreeBSD a 9.1",
			"ix0: flags=8843<UP,BROADCAST,RUNNING> metric 0 mtu 1500\n\tmedia: Ethernet 1000baseT <full-duplex> " +
				"(none)\n\tstatus: no carrier\n", 0, "", false},
		"openbsd": {"OpenBSD a 7.4",
			"ix0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> mtu 1500\n\tlladdr 00:00:5e:00:53:01\n\tmedia: Ethernet " +
				"autoselect (1000baseT full-duplex,master,rxpause,txpause)\n\tstatus: active\n", units.Gbit, "full", true},
		"dac": {"OpenBSD a 7.4",
			"ix0: flags=8843<UP,BROADCAST,RUNNING> mtu 1500\n\tmedia: Ethernet autoselect (10GSFP+Cu " +
				"full-duplex,rxpause,txpause)\n\tstatus: active\n", 10 * units.Gbit, "full", true},
		"25G": {"OpenBSD a 7.4",
			"ix0: flags=8843<UP,BROADCAST,RUNNING> mtu 1500\n\tmedia: Ethernet autoselect (25GbaseSR full-duplex)\n\tstatus: " +
				"active\n", 25 * units.Gbit, "full", true},
		"no carrier": {"OpenBSD a 7.4",
			"ix0: flags=8802<BROADCAST,SIMPLEX,MULTICAST> mtu 1500\n\tmedia: Ethernet autoselect (none)\n\tstatus: no carrier\n",
			0, "", false},
	} {
		n := of(t, tt.uname, map[string]string{"ifconfig -a": tt.text}).NIC("ix0")
		if d := cmp.Diff([]any{tt.speed, tt.duplex, tt.up}, []any{n.Speed, n.Duplex, n.Up}); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	f := of(t, "FreeBSD a 14.1",
		map[string]string{"ifconfig -a": `ix0: flags=1008943<UP,BROADCAST,RUNNING,PROMISC,SIMPLEX,MULTICAST,LOWER_UP> metric 0 mtu 9000
	options=4e138bb<RXCSUM,TXCSUM,VLAN_MTU,VLAN_HWTAGGING,JUMBO_MTU,LRO>
	capabilities=4f53fbb<RXCSUM,TXCSUM,TSO4,TSO6,LRO>
	ether 00:00:5e:00:53:01
	media: Ethernet autoselect (10Gbase-SR <full-duplex>)
	status: active
	supported media:
		media autoselect
		media 1000baseSX mediaopt full-duplex
	plugged: SFP/SFP+/SFP28 10G Base-SR (LC)
	vendor: X PN: Y SN: Z DATE: 2020-01-01
	module temperature: 40.1 C Voltage: 3.3 Volts
	lane 1: RX: 0.5 mW (-3 dBm) TX: 0.6 mW (-2 dBm)
lagg0: flags=1008843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST,LOWER_UP> metric 0 mtu 9000
	options=4e138bb<RXCSUM>
	laggproto lacp lagghash l2,l3,l4
	lagg options:
		flags=0<>
		flowid_shift: 16
	laggport: ix0 flags=1c<ACTIVE,COLLECTING,DISTRIBUTING> state=3d<ACTIVITY>
	groups: lagg
	media: Ethernet autoselect
	status: active
vlan5: flags=1008843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST,LOWER_UP> metric 0 mtu 9000
	vlan: 5 vlanproto: 802.1q vlanpcp: 0 parent interface: lagg0
`})
	compareAll(t, map[string][2]any{
		"on, not able to": {[]bool{f.NIC("ix0").Features["LRO"].On, f.NIC("ix0").Features["TSO4"].On}, []bool{true, false}},
		"speed":           {f.NIC("ix0").Speed, 10 * units.Gbit},
		"lagg": {[]string{f.NIC("lagg0").Kind, f.NIC("lagg0").Hash, f.NIC("ix0").Master},
			[]string{"lagg", "l2,l3,l4", "lagg0"}},
		"vlan": {[]string{f.NIC("vlan5").Kind, f.NIC("vlan5").Device}, []string{"vlan", "lagg0"}},
	})
}

func TestKernelTablesOfBSDs(t *testing.T) {
	f := of(t, "FreeBSD a 12.4", map[string]string{
		"ifconfig -a": "igb0: flags=8843<UP,BROADCAST,RUNNING> metric 0 mtu 1500\nem0: flags=8843<UP,BROADCAST,RUNNING> " +
			"metric 0 mtu 1500\nbge0: flags=8843<UP,BROADCAST,RUNNING> metric 0 mtu 1500\n",
		"pciconf -lvc": "igb0@pci0:1:0:0:\tclass=0x020000 card=0x1 chip=0x1521 rev=0x01 hdr=0x00\n    vendor     = 'X'\n  " +
			"  cap 10[a0] = PCI-Express 2 endpoint max data 256(512) FLR RO NS\n                 max read 512\n              " +
			"   link x2(x4) speed 2.5(5.0) ASPM disabled(L0s/L1)\n" +
			"em0@pci0:2:1:0:\tclass=0x020000 vendor=0x8086\n    cap 07[e4] = PCI-X 64-bit supports 133MHz, 512 burst read, 1 " +
			"split transaction\nbge0@pci0:3:0:0:\tclass=0x020000\n    cap 10[ac] = PCI-Express 1 endpoint max data 128(512) " +
			"link x1(x1)\n",
		"vmstat -ia": "interrupt                          total       rate\ncpu0:timer                         12345   " +
			"     100\nirq16: uhci0 ehci0+                    3          0\nirq264: igb0:que 0                700000       " +
			"5000\nirq265: igb0:rxq1                 300000       2000\nirq266: igb0:aq                        1          " +
			"0\nstray irq7                             1          0\nTotal                            1012349       7100\n",
		"vmstat -z": "ITEM                   SIZE  LIMIT     USED     FREE      REQ     FAIL SLEEP XDOMAIN\n\nUMA " +
			"Kegs:               384,      0,     120,       3,     120,   0,   0,   0\nmbuf_jumbo_9k:         9216, 150821, " +
			" 100,   50, 3000,  42,   0,   0\ntcp_inpcb:              488, 261000, 10, 3, 100, 0, 0, 0\n",
		"kldstat": "Id Refs Address                Size Name\n 1   70 0xffffffff80200000  1f3e2d0 kernel " +
			"(/boot/kernel/kernel)\n\tContains modules:\n\t\t Id Name\n\t\t513 pci/igb\n 2    1 0xffffffff82319000     5ea0 " +
			"accf_http.ko (/boot/kernel/accf_http.ko)\n",
		"netstat -Lan": "Current listen queue sizes (qlen/incqlen/maxqlen)\nProto Listen                           Local " +
			"Address         \ntcp4  193/0/128                        *.80                  \ntcp46 0/0/10                   " +
			"        *.443\nunix  0/0/5                            /var/run/x\n",
		"netstat -Q": "Configuration:\nSetting                        Current        Limit\nThread count               " +
			"          4            4\nDefault queue limit                256        10240\nDispatch policy                 " +
			"hybrid          n/a\nThreads bound to CPUs         disabled          n/a\n\nProtocols:\nName   Proto QLimit " +
			"Policy Dispatch Flags\nip         1   1000    cpu   hybrid   C--\nether      9    256 source   direct   " +
			"---\n\nWorkstreams:\nWSID CPU   Name     Len WMark   Disp'd  HDisp'd   QDrops   Queued  Handled\n   0   0   ip  " +
			"       0  1000        0    12345      777  9999999 10012344\n   1   1   ether      0     0 55555555        0    " +
			"    0        0 55555555\n",
		"pfctl -si": "Status: Enabled for 5 days 01:02:03           Debug: Urgent\n\nInterface Stats for em0          " +
			"     IPv4             IPv6\n  Bytes In                          100                0\n\nState Table             " +
			"             Total             Rate\n  current entries                    90123               \n  searches      " +
			"                  90000000          1000.0/s\nSource Tracking Table\n  current entries                        " +
			"4\nCounters\n  memory                                 7            0.0/s\n  state-limit                         " +
			"   9            0.0/s\nLimit Counters\n  max-src-states                         3            0.0/s\n",
		"netstat -idnW": "Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts Oerrs  Coll  " +
			"Drop\nigb0   1500 <Link#1>      00:00:5e:00:53:01 18446744073  5    17 99 0     0     3\nigb0      - " +
			"192.0.2.0/24  192.0.2.1           5     -     -        5     -     -     -\nem0*   1500 <Link#2>      " +
			"00:00:5e:00:53:02        1     0     0        2     0     0     0\nlo0   16384 <Link#3>                         " +
			"     7     0     0        7     0     0     0\n",
		"top": "last pid: 1;  load averages: 1\nCPU 0:   0.4% user,  0.0% nice,  1.2% system, 98.4% interrupt,  " +
			"0.0% idle\nCPU 1:  10.0% user,  0.0% nice,  0.0% system,  0.0% interrupt, 90.0% idle\n",
	})
	igb := f.NIC("igb0")
	compareAll(t, map[string][2]any{
		"pcie":     {igb.PCIe, &PCIe{Form: "pcie", Speed: 2.5, MaxSpeed: 5, Width: 2, MaxWidth: 4}},
		"pci-x":    {f.NIC("em0").PCIe, &PCIe{Form: "pci-x", Bits: 64, Clock: 133}},
		"no speed": {f.NIC("bge0").PCIe, &PCIe{Form: "pcie", Width: 1, MaxWidth: 1}},
		"queues":   {igb.Queues.RX, 2},
		"zone": {poolNamed(t, f, "zone mbuf_jumbo_9k"),
			Pool{Name: "zone mbuf_jumbo_9k", Used: 100, Cached: 50, Limit: 150821, Denied: 42}},
		"modules":   {f.Modules, []string{"kernel", "igb", "accf_http"}},
		"listeners": {[]any{len(f.Listeners), f.Listeners[0].Queue, f.Listeners[0].Backlog}, []any{2, 193, 128}},
		"netisr": {[]any{f.NetISR[0].Drops, f.NetISR[0].Limit, f.NetISR[0].Watermark, f.NetISR[1].Dispatched},
			[]any{uint64(777), 1000, 1000, uint64(55555555)}},
		"pf": {[]uint64{f.Counters["pf.current_entries"].Value, f.Counters["pf.source.current_entries"].Value,
			f.Counters["pf.memory"].Value, f.Counters["pf.limit.max-src-states"].Value}, []uint64{90123, 4, 7, 3}},
		"links": {[]uint64{igb.Counters["netstat.Ipkts"].Value, igb.Counters["netstat.Idrop"].Value,
			igb.Counters["netstat.Drop"].Value, f.NIC("lo0").Counters["netstat.Opkts"].Value}, []uint64{18446744073, 17, 3, 7}},
		"top": {[]float64{f.Processors[0].System, f.Processors[1].User}, []float64{0.012, 0.1}},
	})
	o := of(t, "OpenBSD a 7.5", map[string]string{
		"ifconfig -a": "ix0: flags=8843<UP,BROADCAST,RUNNING> mtu 1500\nem0: flags=8843<UP,BROADCAST,RUNNING> mtu 1500\n",
		"vmstat -i": "interrupt                       total     rate\nirq0/clock                    1000000      " +
			"199\nirq114/ix0:0                  7700000     1000\nirq115/ix0:1                  3300000      500\nirq116/em0 " +
			"                      12        0\nTotal                        12000012     1699\n",
		"netstat -s": "ip:\n\t100 total packets received\n\t5 packets forwarded\n\t3 output packets dropped due to no " +
			"bufs, etc.\ntcp:\n\t1000 packets sent\n\t\t900 data packets (1 bytes)\n\t\t7 data packets (9 bytes) " +
			"retransmitted\n\t2 bad connection attempts\n\t55 SYN cache entries added\n\t\t4 dropped due to overflow\n\t\t2 " +
			"dropped due to bucket overflow\n" +
			"udp:\n\t9 datagrams received\n\t8 dropped due to full socket buffers\n",
		"netstat -idn": "Name    Mtu   Network     Address              Ipkts Ifail    Opkts Ofail Colls\nlo0     32768 " +
			"<Link>                              12     0       12     0     0\nix0     1500  <Link>      00:00:5e:00:53:01 " +
			"98765432    12 87654321     3     0\n",
		"dmesg": "pci1 at ppb0 bus 1\nix0 at pci1 dev 0 function 0 \"Intel 82599\" rev 0x01, msix, 4 queues, " +
			"address 00:00:5e:00:53:01\n",
		"pcidump -v": " 1:0:0: Intel 82599\n\t0x0000: Vendor ID: 8086, Product ID: 10fb\n\t0x00a0: Capability 0x10: PCI " +
			"Express\n\t\tLink Speed: 2.5 / 5.0 GT/s\n\t\tLink Width: x4 / x8\n",
	})
	compareAll(t, map[string][2]any{
		"OpenBSD's queues": {o.NIC("ix0").Queues.RX, 2},
		"OpenBSD's bus":    {o.NIC("ix0").PCIe, &PCIe{Form: "pcie", Speed: 2.5, MaxSpeed: 5, Width: 4, MaxWidth: 8}},
		"OpenBSD's counters": {[]uint64{o.Counters["tcp.packet_sent.data_packet_retransmitted"].Value,
			o.Counters["tcp.syn_cache_entry_added.dropped_due_to_overflow"].Value,
			o.Counters["udp.dropped_due_to_full_socket_buffer"].Value, o.Counters["ip.packet_forwarded"].Value,
			o.NIC("ix0").Counters["netstat.Ifail"].Value}, []uint64{7, 4, 8, 5, 12}},
	})
}

// A page that takes <Link#1> for an element leaves the row without it.
func TestInterfacesWithoutTheirNetwork(t *testing.T) {
	f := of(t, "FreeBSD a 8.2", map[string]string{"netstat -idnW": "Name    Mtu Network       Address              Ipkts " +
		"Ierrs Idrop    Opkts Oerrs  Coll\nre0 1500 00:00:5e:00:53:09 74835699 3 0 71409776 0 65\n" +
		"re1 1500 192.0.2.0 74 3 0 71 0 65\n"})
	compareAll(t, map[string][2]any{
		"the row":      {f.NIC("re0").Counters["netstat.Coll"].Value, uint64(65)},
		"its packets":  {f.NIC("re0").Counters["netstat.Ipkts"].Value, uint64(74835699)},
		"of a network": {f.NIC("re1") == nil, true},
	})
}

func TestTablesOfLinuxInterfaces(t *testing.T) {
	f := of(t, "Linux a 2.6.18", map[string]string{
		"/proc/net/dev": "Inter-|   Receive                                                |  Transmit\n face |bytes    " +
			"packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n" +
			"    lo: 100 2 0 0 0 0 0 0 100 2 0 0 0 0 0 0\n  eth0:3811442658 77 5 6 7 8 0 9 10 11 12 13 14 15 16 0\n",
		"netstat -idnW": "Kernel Interface table\nIface       MTU Met    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR " +
			"TX-DRP TX-OVR Flg\neth0       9000   0       77      5      6      3       11     12     13      0 BMRU\nlo     " +
			"   16436   0 2 0 0 0 2 0 0 0 LRU\n",
		"lscpu": "Architecture:          x86_64\nCPU(s):                8\nOn-line CPU(s) list:   0-7\nThread(s) " +
			"per core:    2\nNUMA node(s):          2\nModel name:            Example\nNUMA node0 CPU(s):     0-3\nNUMA " +
			"node1 CPU(s):     4-7\n",
		"top": "%Cpu0  :  1,0 us,  0,3 sy,  0,0 ni, 98,7 id,  0,0 wa,  0,0 hi,  0,0 si,  0,0 st\nCpu1  :  " +
			"0.0%us,  2.0%sy,  0.0%ni,  8.0%id,  0.0%wa,  0.0%hi, 90.0%si,  0.0%st\n",
	})
	n := f.NIC("eth0")
	got := map[string]uint64{}
	want := map[string]uint64{"link.rx_bytes": 3811442658, "link.rx_packets": 77, "link.rx_dropped": 6,
		"link.rx_errors_fifo": 7, "link.rx_overrun": 3, "link.tx_carrier": 16, "link.tx_collsns": 15}
	for name := range want {
		got[name] = n.Counters[name].Value
	}
	compareAll(t, map[string][2]any{
		"counters": {got, want},
		"link":     {[]any{n.MTU, n.Up, f.NIC("lo").Kind}, []any{9000, true, "loopback"}},
		"machine": {[]any{f.Cores, f.ThreadsPerCore, f.Processor,
			f.Settings["/sys/devices/system/node/node1/cpulist"].Value}, []any{8, 2, "Example", "4-7"}},
		"processors": {[]float64{f.Processors[0].Idle, f.Processors[0].User, f.Processors[1].Interrupt},
			[]float64{0.987, 0.01, 0.9}},
		"links": {f.Why("links"), ""},
	})
	for _, flags := range []string{"BROADCAST,MULTICAST,UP,10000", "BROADCAST,MULTICAST,UP,LOWER_UP"} {
		if n := of(t, "Linux a 2.6.9", map[string]string{"ip -s -d link show": "2: eth0: <" + flags +
			"> mtu 1500 qdisc pfifo_fast qlen 1000\n"}).NIC("eth0"); !n.Up {
			t.Errorf("%s is not up", flags)
		}
	}
}

// Numbers in front of words that are not known are no counters.
func TestNetstatInAnotherLanguage(t *testing.T) {
	f := of(t, "Linux a 5.10",
		map[string]string{"netstat -s": "Ip:\n    Forwarding: 1\n    123 pakettia vastaanotettu\n    5 " +
			"valitetty\nTcp:\n    7 aktiivista yhteytta\n    8 passiivista yhteytta\n    9 segmenttia uudelleen " +
			"lahetetty\nTcpExt:\n    TCPTimeouts: 4\n"})
	if p := f.Parts["netstat"]; p.State != Unparsed || p.Line != 3 || f.Counters["TcpExt.TCPTimeouts"].Value != 4 ||
		len(f.Counters) != 2 {
		t.Errorf("%+v %v", p, f.Counters)
	}
}

func TestAddressesWithoutAListOfLinks(t *testing.T) {
	f := of(t, "Linux a 5.10",
		map[string]string{"ip -o address show": "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN " +
			"group default qlen 1000\n    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n    inet 127.0.0.1/8 scope " +
			"host lo\n" +
			"2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP group default qlen 1000\n    link/ether " +
			"00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff\n    inet 192.0.2.2/24 brd 192.0.2.255 scope global eth0\n       " +
			"valid_lft forever preferred_lft forever\n    inet6 2001:db8::2/64 scope global\n"})
	n := f.NIC("eth0")
	if d := cmp.Diff([]any{9000, true, []string{"192.0.2.2/24", "2001:db8::2/64"}, "00:00:5e:00:53:01"},
		[]any{n.MTU, n.Up, n.Addrs, n.MAC}); d != "" {
		t.Error(d)
	}
}

// How drivers name the interrupts of their queues, and of what is no queue.
func TestInterruptsOfManyDrivers(t *testing.T) {
	for name, queue := range map[string]bool{
		"eth0-TxRx-0": true, "i40e-eth0-TxRx-3": true, "ice-eth0-TxRx-1": true, "eth0-fp-0": true, "eth0-Tx-Rx-0": true,
		"bnxt_en-eth0-TxRx-0": true, "eth0": true,
		"mlx5_comp0@pci:0000:3b:00.0": true, "mlx5_async0@pci:0000:3b:00.0": false, "mlx4-1@0000:3b:00.0": true,
		"ena-mgmnt@pci:0000:3b:00.0":     false,
		"gve-ntfy-blk3@pci:0000:3b:00.0": true, "gve-mgmnt@pci:0000:3b:00.0": false, "hns3-0000:3b:00.0-TxRx-2": true,
		"hns3-0000:3b:00.0-misc": false,
		"virtio7-input.0":        true, "virtio7-config": false, "eth00-TxRx-0": false, "nvme0q1": false, "meth0-1": false,
		"veth0": false,
	} {
		f := of(t, "Linux a 6.1", map[string]string{"ip -s -d link show": strings.TrimSuffix(aLink, "\n") +
			" promiscuity 0 parentbus virtio parentdev virtio7\n",
			"ethtool -i eth0":  "driver: x\nbus-info: 0000:3b:00.0\n",
			"/proc/interrupts": "           CPU0\n 24: 5 PCI-MSI 0-edge " + name + "\n"})
		if got := f.Interrupts[0].NIC == "eth0"; got != queue {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestIfconfigOfLinux(t *testing.T) {
	for what, text := range map[string]string{
		"old": "eth0      Link encap:Ethernet  HWaddr 00:00:5e:00:53:01  \n          inet addr:192.0.2.2  " +
			"Bcast:192.0.2.255  Mask:255.255.255.0\n          UP BROADCAST RUNNING MULTICAST  MTU:9000  Metric:1\n" +
			"          RX packets:3811442658 errors:5 dropped:7183 overruns:6 frame:4\n          TX packets:12 errors:0 " +
			"dropped:1 overruns:0 carrier:2\n          collisions:0 txqueuelen:1000 \n          RX bytes:3492834266631 (3.4 " +
			"TB)  TX bytes:4635258443813 (4.6 TB)\n          Interrupt:20 Memory:fe500000-fe520000 \n",
		"new": "eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 9000\n        inet 192.0.2.2  netmask 255.255.255.0 " +
			" broadcast 192.0.2.255\n        ether 00:00:5e:00:53:01  txqueuelen 1000  (Ethernet)\n" +
			"        RX packets 3811442658  bytes 3492834266631 (3.1 TiB)\n        RX errors 5  dropped 7183  overruns 6  " +
			"frame 4\n        TX packets 12  bytes 4635258443813 (4.2 TiB)\n        TX errors 0  dropped 1 overruns 0  " +
			"carrier 2  collisions 0\n",
	} {
		n := of(t, "Linux a 4.4", map[string]string{"ifconfig -a": text}).NIC("eth0")
		got := []uint64{}
		for _, name := range []string{"rx_packets", "rx_bytes", "rx_errors", "rx_dropped", "rx_overrun", "rx_frame",
			"tx_packets", "tx_dropped", "tx_carrier"} {
			got = append(got, n.Counters["link."+name].Value)
		}
		if d := cmp.Diff([]uint64{3811442658, 3492834266631, 5, 7183, 6, 4, 12, 1, 2}, got); d != "" || !n.Up ||
			n.MTU != 9000 {
			t.Errorf("%s: %v %d %s", what, n.Up, n.MTU, d)
		}
	}
}

func TestSysNetAsLsShowsIt(t *testing.T) {
	f := of(t, "Linux a 3.10", map[string]string{"ip -s -d link show": aLink +
		"3: eth1: <BROADCAST,UP,LOWER_UP> mtu 1500\n",
		"/sys/class/net": "eth0/speed:10000\neth0/device/numa_node:1\nlrwxrwxrwx 1 root root 0 Nov 22 02:00 eth0/device " +
			"-> ../../../0000:3b:00.0\nlrwxrwxrwx 1 root root 0 Nov 22 02:00 eth0/device/driver -> " +
			"../../../../bus/pci/drivers/ixgbe\nlrwxrwxrwx 1 root root 0 Nov 22 02:00 eth1/device -> " +
			"../../../virtio2\neth0/queues/rx-0:\neth0/queues/tx-0:\n",
		"/proc/interrupts": "           CPU0\n 24: 5 PCI-MSI 0-edge virtio2-input.0\n"})
	n := f.NIC("eth0")
	if d := cmp.Diff([]any{"ixgbe", "0000:3b:00.0", "0000:3b:00.0", 10 * units.Gbit, "eth1", 1},
		[]any{n.Driver, n.Device, n.Bus, n.Speed, f.Interrupts[0].NIC, n.Queues.RX}); d != "" {
		t.Error(d)
	}
}

// The line of what is in use stays known where that of denied requests comes after it, in the same paste or in a later one.
func TestMbufsInUseKeepTheirLine(t *testing.T) {
	inUse, denied := "950/50/1000/1000 mbuf clusters in use (current/cache/total/max)\n",
		"0/17/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)\n"
	one := of(t, "FreeBSD a 14.1", map[string]string{"netstat -m": inUse + denied})
	two, err := FromRounds("post", []Round{{Texts: map[string]string{"uname -a": "FreeBSD a 14.1", "netstat -m": inUse}},
		{Texts: map[string]string{"netstat -m": denied}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*Facts{one, two} {
		i := slices.IndexFunc(f.Memories, func(p Pool) bool { return p.Name == "mbuf clusters" })
		if i < 0 || f.Memories[i].Denied != 17 || f.Memories[i].InUse.Text+"\n" != inUse ||
			f.Memories[i].Source.Text+"\n" != denied {
			t.Errorf("%+v", f.Memories)
		}
	}
}

// A table of interrupts that was printed twice is two samples, and a sentence below it is no name.
func TestInterruptsPrintedTwice(t *testing.T) {
	f := of(t, "Linux a 6.1", map[string]string{"/proc/interrupts": "           CPU0       CPU1\n" +
		" 30:  100  0  intc  5  eth0\n 31:  500  0  intc  6  eth1\n 30:  150  0  intc  5  eth0\n 31:  900  0  intc  6  eth1\n" +
		"load is at 37% of one core while nothing moves\n"})
	if len(f.Interrupts) != 2 || f.Interrupts[0].Total.Value != 150 || f.Interrupts[1].Total.Value != 900 ||
		f.Interrupts[1].Total.Earlier == nil || f.Interrupts[1].Total.Earlier.Value != 500 ||
		!strings.HasSuffix(f.Interrupts[1].Name, "eth1") {
		t.Errorf("%+v", f.Interrupts)
	}
}

// TestTotalBesideItsLosses: the packets that ifconfig counts are those of which it says how many were dropped; the driver's
// own total, which another paste may show from another time, only stands in for it.
func TestTotalBesideItsLosses(t *testing.T) {
	n := of(t, "Linux a 5.4", map[string]string{"ethtool -S eth1": "NIC statistics:\n     rx_packets: 9021\n     tx_packets: 8110\n",
		"ifconfig -a": "eth1      Link encap:Ethernet  HWaddr 52:54:00:1a:2b:3c\n          UP BROADCAST RUNNING MULTICAST  " +
			"MTU:1500  Metric:1\n          RX packets:7120331 errors:0 dropped:512044 overruns:0 frame:0\n"}).NIC("eth1")
	if got := n.Counters["link.rx_packets"].Value; got != 7120331 {
		t.Errorf("%d packets", got)
	}
}

// TestTestsOfIperf2 begin at 0 again, and end with a sum that is no interval.
func TestTestsOfIperf2(t *testing.T) {
	f := of(t, "Linux a 6.1", map[string]string{"iperf3": "[  1] 0.00-10.40 sec  14.0 MBytes  11.3 Mbits/sec\n" +
		"[  1] 0.00-1.00 sec  4.0 GBytes  34.4 Gbits/sec\n[  1] 1.00-2.00 sec  4.0 GBytes  34.4 Gbits/sec\n" +
		"[  1] 0.00-1.00 sec  2.0 GBytes  17.2 Gbits/sec\n"})
	var seconds []float64
	for _, r := range f.Receipts {
		seconds = append(seconds, r.Seconds)
	}
	if d := cmp.Diff([]float64{2, 1}, seconds); d != "" || len(f.TransferEnds) != 1 || f.TransferEnds[0].Role != "total" {
		t.Errorf("%s, %+v", d, f.TransferEnds)
	}
}
