package facts

import "testing"

func TestMetrics(t *testing.T) {
	f, err := FromTexts("metrics", map[string]string{"uname -a": "Linux h 6.1.0", "node_exporter": "# HELP node_netstat_Tcp_PassiveOpens x\n" +
		"node_netstat_TcpExt_ListenOverflows 48110\nnode_netstat_Tcp_PassiveOpens 3.100245e+06\n" +
		"node_network_receive_drop_total{device=\"eth0\"} 5\nnode_network_receive_drop_total{device=\"eth0\"} 1.5\n" +
		"node_sockstat_TCP_tw 7\nnode_nf_conntrack_entries 9 1395066363000\nnode_load1 0.2\n"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	limit, _ := f.Integer("net.netfilter.nf_conntrack_count")
	got := []uint64{f.Counters["TcpExt.ListenOverflows"].Value, f.Counters["Tcp.PassiveOpens"].Value,
		f.Counters["sockstat.TCP.tw"].Value, uint64(limit), f.NIC("eth0").Counters["link.rx_dropped"].Value}
	for i, want := range []uint64{48110, 3100245, 7, 9, 5} {
		if got[i] != want {
			t.Errorf("%d: %d, want %d", i, got[i], want)
		}
	}
	if f.NIC("eth0").Driver != "" {
		t.Error("a driver nobody named")
	}
}

func TestUDPTable(t *testing.T) {
	f, err := FromTexts("udp", map[string]string{"uname -a": "Linux h 6.1.0", "/proc/net/udp": "  sl  local_address rem_address   st " +
		"tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n 1053: 0100007F:0202 00000000:0000 07 " +
		"00000000:00034180 00:00000000 00000000     0        0 35617 2 0000000000000000 904422\n"}, 0)
	if err != nil || len(f.Datagrams) != 1 {
		t.Fatalf("%v %+v", err, f.Datagrams)
	}
	if d := f.Datagrams[0]; d.Local != "127.0.0.1:514" || d.Unread != 0x34180 || d.Drops != 904422 {
		t.Errorf("%+v", d)
	}
}

func TestGroupsOfFixedFeatures(t *testing.T) {
	f, err := FromTexts("features", map[string]string{"uname -a": "Linux h 6.1.0", "ethtool -k eth0": "Features for eth0:\n" +
		"tx-checksumming: off\n\ttx-checksum-ipv4: off [fixed]\n\ttx-checksum-sctp: off [fixed]\n" +
		"tcp-segmentation-offload: off\n\ttx-tcp-segmentation: off\n\ttx-tcp6-segmentation: off [fixed]\n" +
		"generic-segmentation-offload: off [requested on]\ngeneric-receive-offload: off\n"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"tx-checksumming": true, "tcp-segmentation-offload": false,
		"generic-segmentation-offload": true, "generic-receive-offload": false} {
		if got := f.NIC("eth0").Features[name].Fixed; got != want {
			t.Errorf("%s: fixed %v", name, got)
		}
	}
}
