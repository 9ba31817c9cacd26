package facts

import "testing"

func TestReportOf(t *testing.T) {
	for _, c := range []struct {
		line    string
		program string
		failure Failure
	}{
		{"2025/01/09 07:10:31 relayd-agent: WARNING: Send queue is full: events may be lost.", "relayd-agent", Exhausted},
		{"Mar  4 11:02:59 edge1 vpnd[881]: peer 192.0.2.7 did not reply, no response for 30 s", "vpnd", Silent},
		{"11:32:07.120 ERROR  meshd: dial attempt failed: dial tcp4 192.0.2.9:900: i/o timeout", "meshd", Silent},
		{"E0312 09:11:02.118222       1 stream.go:77] write: connection reset by peer", "", Refused},
		{`time="2025-03-01T10:00:00Z" level=warning msg="dropping 12 packets of peer b"`, "", Lost},
		{"[  912.118823] mt7922e 0000:02:00.0: chip reset failed", "kernel", DeviceFails},
		{"Mar  4 11:02:59 edge1 kernel: enp3s0: bad checksum in frame", "kernel", Damaged},
		{"relay_1  | 2025-01-09T07:10:31Z WARN relayd: peer 7 timed out", "relayd", Silent},
		{"ConnectionResetError: [Errno 104] Connection reset by peer", "", Refused},
		{"ssh: connect to host 192.0.2.1 port 22: Connection timed out", "ssh", Silent},
		{`{"level":"warn","ts":1741770000.1,"logger":"mesh","msg":"peer is unreachable","peer":"192.0.2.4"}`, "mesh", Silent},
		{`{"log":"2025-03-01T10:00:00Z WARN relayd: write queue overflow\n","stream":"stderr","time":"2025-03-01T10:00:00Z"}`, "relayd", Exhausted},
		{"<28>1 2025-03-01T10:00:00.003Z host9 tunneld 812 - - peer lost, no keepalive for 30 s", "tunneld", Silent},
		{"2213:M 02 Jun 2025 09:31:33.838 # Connection with replica 192.0.2.20:6380 lost.", "", Silent},
		{"[7] 2025/09/09 17:02:48.810876 [WRN] 192.0.2.21:39402 - cid:4 - Slow consumer, pending 64 MB", "", Slow},
		{"09/Sep/2025:10:11:21 +0200 PID1277 [WARN] pool.c:93 Could not connect 3 times in a row", "", Silent},
		{"Fri Jul  5 15:55:09 2024 daemon.err uplinkd[812]: packet too large for tunnel, 1480", "uplinkd", TooLarge},
		{"Mar  4 11:02:59 gw kernel: [39.4] fw-drop IN= OUT=eth0 SRC=192.0.2.1 DST=192.0.2.9 LEN=40 PROTO=TCP SPT=4 DPT=9 WINDOW=3 RES=0x00 ACK URGP=0",
			"kernel", Filtered},
		{"Oct 12 04:31:10 core9 ospfd[411]: AdjChg: Nbr 192.0.2.44(default) on eth2:192.0.2.1: Full -> Deleted (InactivityTimer)", "ospfd", Silent},
		{"Oct 12 04:31:10 core9 bfdd[412]: state-change: [peer 192.0.2.44 local 192.0.2.1] up -> down reason:control-expired", "bfdd", Silent},
		{"INFO  [Gossip:1] 2024-10-12 04:31:10,733 Gossiper.java:99 - InetAddress /192.0.2.45 is now DOWN", "", Broken},
		{"[2024-10-12T04:31:10,733][WARN ][o.e.c.Checker] leader [{m2}] has failed 3 consecutive checks", "", Silent},
		{"Oct 12 04:31:10 core9 kernel: brcmfmac: brcmf_sdio_htclk: HT Avail timeout (1000000): clkctl 0x50", "kernel", DeviceFails},
		{"1728707470 ERROR replica: lost connection to primary, next attempt in 60 s", "replica", Silent},
		{"Oct 12 04:31:10 core9 cachingd[77]: WARNING! the cache is running out of filedescriptors", "cachingd", Exhausted},
		{"Oct 12 04:31:10 core9 drbd r1 n3: sock was shut down by peer", "", Refused},
		{"zigbee2mqtt:error 2024-10-12 04:31:10: Adapter disconnected, stopping", "zigbee2mqtt", DeviceFails},
		{"3m41s       Warning   Unhealthy   pod/shop-2   Readiness probe failed: context deadline exceeded", "pod/shop-2", Silent},
		{"bird: Mesh_192_0_2_9: Error: Hold timer expired", "bird", Silent},
		{"Oct 12 04:31:10 core9 keeperd[79]: warning: using default timeout of 30 seconds", "", NoFailure},
		{"Oct 12 04:31:10 core9 bgpd[80]: %ADJCHANGE: neighbor 192.0.2.46 in vrf default Down Admin. shutdown", "", NoFailure},
		{"INFO  [Gossip:1] 2024-10-12 04:31:10,733 Gossiper.java:99 - InetAddress /192.0.2.45 is now UP", "", NoFailure},
		{"Oct 12 04:31:10 core9 kernel: nf_conntrack: nf_conntrack_tcp_timeout_established changed", "", NoFailure},
		{"Oct 12 04:31:10 core9 syncd[81]: \"Sync failed\" retryingTime=\"30s\"", "", NoFailure},
		{"Oct 12 04:31:10 core9 busd[82]: ERROR Unable to connect to the broker: Not authorized", "", NoFailure},
		{"Error handling: when the buffer is full, packets are dropped.", "", NoFailure},
		{"2025-01-09T07:10:31Z INFO  relayd: connection timeout set to 30", "", NoFailure},
		{"2025-01-09 07:10:31 INFO relayd: peer 7, timeout 30", "", NoFailure},
		{"2025-01-09 07:10:31 WARN relayd: read took 20 ms", "", NoFailure},
		{"Mar  4 11:02:59 edge1 sshd[12]: Connection reset by 192.0.2.1 port 2201 [preauth]", "", NoFailure},
		{"Mar  4 11:02:59 edge1 kernel: ata1: SError: { hardreset failed }", "", NoFailure},
		{"2025-01-09 07:10:31 WARN relayd: 0 packets dropped", "", NoFailure},
		{"11/Apr/2023 09:43:39 [probe.c:4282] Flow drops [export queue full: 0]", "", NoFailure},
		{`{"level":"info","msg":"listening","queue_limit":512,"dropped":0}`, "", NoFailure},
		{"The buffer is full and packets are lost.", "", NoFailure},
		{`10:11:12 if err != nil { return fmt.Errorf("dial %s: connection timed out", a) }`, "", NoFailure},
	} {
		r, ok := ReportOf(c.line)
		if r.Failure != c.failure || ok != (c.failure != NoFailure) || ok && r.Program != c.program {
			t.Errorf("%s: %+v, %v", c.line, r, ok)
		}
	}
}

func TestReportTells(t *testing.T) {
	r, _ := ReportOf("[ERROR] relay: 2 a.example. A: read udp 198.51.100.3:4444->192.0.2.53:5300: i/o timeout")
	if r.Peer != "192.0.2.53" {
		t.Errorf("%+v", r)
	}
	r, _ = ReportOf("2025-01-09 07:10:31 WARN relayd: dropped 120 records, slow reader")
	if r.Count != 120 || r.Failure != Lost {
		t.Errorf("%+v", r)
	}
	r, ok := ReportOf("2025-01-09 07:10:31 INFO relayd: session 7 timed out")
	if !ok || !r.Quiet {
		t.Errorf("%+v, %v", r, ok)
	}
}
