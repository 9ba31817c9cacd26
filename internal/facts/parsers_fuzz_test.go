package facts

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/system"
)

// pastedSeeds are outputs that people paste, and no host is asked for.
var pastedSeeds = map[string]string{
	"swanctl --list-sas": "  remote 'b' @ 192.0.2.9[4500]\n  net: #41, reqid 1, INSTALLED, TUNNEL, ESP:AES_GCM_16-256\n    in  c1a2b3c4,      0 bytes,     0 packets\n" +
		"    out 5d6e7f80, 188220 bytes,  2241 packets,     0s ago\n net{41}:  AES_GCM_16_256, 0 bytes_i, 188220 bytes_o (2241 pkts, 0s ago)\n" +
		"peer-b up 12m11s 0B/188K 0B/2K 192.0.2.9 b AES_GCM_16_256\n",
	Firewall: "Chain FORWARD (policy DROP 12 packets, 1200 bytes)\n pkts bytes target prot opt in out source destination\n" +
		" 900K 112M ACCEPT all -- * * 0.0.0.0/0 0.0.0.0/0 ctstate RELATED,ESTABLISHED\n" +
		"   12 1200 DROP all -- * * 0.0.0.0/0 0.0.0.0/0 ctstate INVALID\n\t\tct state invalid counter packets 9 bytes 90 drop\n",
	Reports: "relay: send queue is full, dropping 12 packets\n",
	Retransmits: "@retransmits[192.0.2.9, 9042]: 481\n10:01:02 0      4  192.0.2.7:22    R> 192.0.2.9:34619 ESTABLISHED\n" +
		"[192.0.2.7]#44712     <-> [192.0.2.9]#2049          81\n",
	"ibstat":          "CA 'mlx4_0'\n\tCA type: MT4099\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 10\n\t\tLink layer: InfiniBand\n",
	"teamdctl state":  "setup:\n  runner: lacp\nports:\n  eth0\n    runner:\n      aggregator ID: 4, Selected\n      selected: yes\n",
	"virsh domiflist": " vnet0      network    default    rtl8139     52:54:00:12:34:56\n",
	"ceph osd perf":   "osd  commit_latency(ms)  apply_latency(ms)\n  0                   3                  3\n",
	"ethtool -x eth0": "RX flow hash indirection table for eth0 with 4 RX ring(s):\n    0:      0     1     2     3     0     1     2     3\n",
	"wrk": "Running 9s test @ http://192.0.2.7/\n  2 threads and 20 connections\n  1200 requests in 9.01s, 1.42MB read\n" +
		"  Socket errors: connect 0, read 0, write 0, timeout 4\nRequests/sec:    133.21\n",
	"ping": "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=80 ms\n" +
		"1 packets transmitted, 1 received, 0% packet loss, time 0ms\nrtt min/avg/max/mdev = 80.0/80.0/80.0/0.0 ms\n",
	"vmstat": " r  b   swpd   free us sy id wa st\n 1  0      0 812345  1  1 98  0  0\n 3  0      0 812345 10 25 60  0  5\n",
	"systat -ifstat": "      Interface           Traffic               Peak                Total\n" +
		"           igb1  in     91.402 MB/s         93.612 MB/s           12.233 GB\n" +
		"                 out     2.221 MB/s          3.112 MB/s            1.223 GB\n",
	"lshw -C network": "  *-network\n       logical name: eth0\n       size: 100Mbit/s\n       capacity: 1Gbit/s\n" +
		"       capabilities: tp 1000bt-fd\n       configuration: driver=igb duplex=full link=yes port=twisted pair\n",
	"ethtool -m eth0": "\tIdentifier                                : 0x03 (SFP)\n\tReceiver signal average optical power     : " +
		"0.0123 mW / -19.10 dBm\n\tLaser rx power low alarm                  : On\n",
	"ethtool -I --show-fec eth0": "FEC parameters for eth0:\nActive FEC encoding: RS\nStatistics:\n  corrected_blocks: 812\n" +
		"  uncorrectable_blocks: 12\n",
	"conntrack -S": "cpu=0 found=1 invalid=2 insert=0 insert_failed=3 drop=4 early_drop=0 error=0 search_restart=5\n",
	RDMA: "link mlx5_0/1 packet_seq_err 1200 local_ack_timeout_err 31\nlink mlx5_1/1\n    out_of_sequence 7\n" +
		"/sys/class/infiniband/mlx5_2/ports/1/hw_counters/out_of_sequence:9\n",
	Alarms: "Alert: 1m ipv4 udp receive buffer errors | 5120 errors\n1m_tcp_syn_queue_cookies = 7 cookies\n" +
		"net.eth0 (eth0)\n1m received traffic overflow = 91%\n",
	ProgramStats: "# pxname,svname,qcur,scur,slim\napp,s1,4,100,100\nSTAT curr_connections 1024\n" +
		"nr_periods 100\nnr_throttled 40\n" +
		"48.2% throttling of CPU in namespace a for container b in pod c.\n",
	PressureOfMemory: "some avg10=2.00 avg60=61.00 avg300=3.00 total=5\nfull avg10=2.00 avg60=41.00 avg300=3.00 total=5\n",
	"free":           "       total used free shared buff/cache available\nMem: 7821 7400 120 300 300 121\nSwap: 2047 2000 47\n",
	"mii-tool":       "eth0: negotiated 100baseTx-FD, link ok\n",
	ModemStatus: "Noise Margin: 2.1dB / 5.9dB\nSeverely Errored Seconds (SES): Near: 1223 / Far: 12\n1 Locked QAM256 13 555000000 Hz " +
		"-12.1 dBmV 31.2 dB 91223 81223\n| RSRP: -122.00 dBm\n| S/N: -4.20 dB\n",
	"tc -s filter show": "filter dev eth0 protocol ip pref 1 u32\n police 0x1 rate 10Mbit burst 10Kb\n Sent 712 bytes 551 pkts " +
		"(dropped 91, overlimits 91)\n",
	"/proc/net/xfrm_stat": "XfrmInError             \t0\nXfrmInStateSeqError     \t52304\n",
	"ip -s xfrm state": "src 192.0.2.1 dst 192.0.2.9\n\tproto esp spi 0x2(2) reqid 1(0x1) mode tunnel\n\tlifetime current:\n\t" +
		"  900(bytes), 12(packets)\n\tstats:\n\t  replay-window 3 replay 1 failed 2\n",
	"sar":       "10:00:01 IFACE rxpck/s txpck/s rxkB/s txkB/s rxcmp/s txcmp/s rxmcst/s %ifutil\n10:00:02 eth0 1.00 2.00 3.00 4.00 0.00 0.00 0.00 0.10\n",
	"dropwatch": "1 drops at tcp_v4_do_rcv+cd (0xffffffff)\ndrop reason: SOCKET_RCVBUFF\n",
	"top":       "%Cpu0  :  1.0 us,  2.0 sy,  0.0 ni, 90.0 id,  0.0 wa,  0.0 hi,  7.0 si,  0.0 st\nCPU 1:  1.0% user,  0.0% nice,  2.0% system, 90.0% interrupt,  7.0% idle\n",
	"/proc/net/dev": "Inter-|   Receive\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n" +
		"  eth0: 1000 10 0 1 0 0 0 0 2000 20 0 0 0 0 0 0\n",
	"netstat -idnW": "Iface MTU RX-OK RX-ERR RX-DRP RX-OVR TX-OK TX-ERR TX-DRP TX-OVR Flg\neth0 1500 10 0 1 0 20 0 0 0 BMRU\n",
	"netstat -an":   "Proto Recv-Q Send-Q Local Address Foreign Address State\nudp 8390400 0 0.0.0.0:1900 0.0.0.0:* \n",
	"iperf3": "[  5] local 192.0.2.1 port 1 connected to 192.0.2.2 port 5201\n[  5]   0.00-1.00   sec  14.5 MBytes   122 Mbits/sec    0   1.01 MBytes\n" +
		"[  5]   0.00-1.00   sec  14.5 MBytes   122 Mbits/sec    0             sender\n",
	"cpupower frequency-info": "  The governor \"powersave\" may decide which speed to use\n",
	"/proc/drbd": " 1: cs:SyncTarget ro:Secondary/Primary ds:Inconsistent/UpToDate C r-----\n    ns:0 nr:81223\n\t[=>..] sync'ed:  " +
		"9.1% (612344/673212)M\n\tfinish: 4:11:07 speed: 41,612 (40,998) want: 41,000 K/sec\n",
	"/proc/mdstat": "md0 : active raid1 sdb1[1] sda1[0]\n  [>..]  resync =  8.1% (478123312/5860390400) finish=812.1min speed=112331K/sec\n",
	"scp":          "x.iso  12% 80MB  23.9MB/s   38:11 ETA\n1,234,567  12%   24.80MB/s    0:38:11\nsent 1.2K bytes  received 35 bytes  1,234.50 bytes/sec\n",
	"testparm":     "\tsocket options = SO_RCVBUF=16384\nsndbuf 393216\n\tlisten 80 rcvbuf=64k;\ntcp_recv_bufsize 64 KB\n",
	OtherCounters:  "RX packets:900 errors:2\nrx_dropped: 700\n\nipackets imissed\n1000 500\n\n900 packets captured\n200 packets dropped by kernel\n",
	"curl": "time_namelookup: 5.1\n time_connect: 5.2\ntime_total: 5.3\n;; Query time: 5012 msec\n" +
		"haproxy[1]: 192.0.2.1:1 [07/Sep/2017:23:08:53.233] f~ b/s 0/0/555/445/+1000 200 +281 - - ---- 1/1/1/1/0 0/0 \"GET /\"\n" +
		"haproxy[1]: 192.0.2.1:1 [07/Sep/2017:23:08:53.233] f b/s 0/3005/5007 212 -- 0/0/0/0/3 0/0\n",
	"ovs-appctl dpif-netdev/pmd-stats-show": "pmd thread numa_id 0 core_id 2:\n  processing cycles: 99 (99.99%)\n  port: dpdk0  queue-id:  1 (enabled)   pmd usage: 98 %\n" +
		"Thread 1 vpp_wk_0 (lcore 2)\ndpdk-input  polling  100  25600  0  1.2e2  256.00\n",
	"vppctl show errors": "   Count   Node   Reason   Severity\n  400  eth0-tx  no free tx slots (tx packet drops)  error\n",
	"cilium metrics list": "cilium_drop_count_total{direction=\"EGRESS\",reason=\"CT: Map insertion failed\"} 500\n" +
		"cilium_forward_count_total{direction=\"EGRESS\"} 9e+06\n",
	"wg show": "interface: wg0\npeer: abcdefghijk=\n  endpoint: 192.0.2.1:1\n  latest handshake: 1 minute ago\n  transfer: 0 B received, 4.1 KiB sent\n",
	"tailscale status": "100.64.0.7  nas  me@  linux  active; relay \"fra\", tx 1 rx 2\n100.64.0.8  pc  me@  linux  active; direct 192.0.2.7:41641\n" +
		"\t* UDP: false\n\t* MappingVariesByDestIP: true\npong from nas (100.64.0.7) via DERP(fra) in 45ms\n",
	"ip -br address show": "eth0@if5  UP  192.0.2.2/24 fe80::1/64\neth1  DOWN  02:00:00:00:00:01 <NO-CARRIER,BROADCAST,UP>\n",
	"lscpu":               "CPU(s): 8\nThread(s) per core: 2\nModel name: a\n",
	"tc -s class show":    "class htb 1:1 dev eth0 root rate 1Gbit ceil 1Gbit burst 1375b cburst 1375b\n Sent 10 bytes 1 pkt (dropped 2, overlimits 3 requeues 0)\n",
	"netstat -w 1":        "            input        (Total)           output\n   packets  errs idrops      bytes    packets  errs      bytes colls\n       100     0     1       6000        50     0       3000     0\n",
	"systat -vm":          "   1 users    Load  0.1  0.1  0.1\n%Sys 1.0 %Intr 2.0 %User 3.0 %Nice 0.0 %Idle 94.0\n",
	"sockstat":            "USER     COMMAND    PID   FD  PROTO  LOCAL ADDRESS  FOREIGN ADDRESS\nroot sshd 1 3 tcp4 *:22 *:*\n",
	"pfctl -vsq":          "queue root on em0 bandwidth 10M\n  [ pkts: 10 bytes: 100 dropped pkts: 1 bytes: 10 ]\n",
	"ipfw pipe show": "00001:  20.000 Mbit/s    0 ms burst 0\nq131073  50 sl. 0 flows (1 buckets) sched 65537 weight 0 lmax 0 pri 0 droptail\n" +
		" sched 65537 type FIFO flags 0x0 0 buckets 1 active\nBKT Prot ___Source IP/port____ ____Dest. IP/port____ Tot_pkt/bytes Pkt/Byte Drp\n" +
		"  0 ip           0.0.0.0/0             0.0.0.0/0     1488 2231993 46 69000 23\n",
	"systat -b queues": "QUEUE                  BW/FL SCH      PKTS    BYTES   DROP_P   DROP_B QLEN\noutq on em0             50M fifo         0        0        0        0    0\n" +
		" std                    20M fifo   1238123     1.1G       12        0    0\n",
	"tcpdump":   "12:00:01.0 IP 192.0.2.1.51000 > 192.0.2.9.22: Flags [S], seq 1, win 65535, options [mss 1460,nop,wscale 6], length 0\n",
	"vmstat -m": "Name        Size Requests Fail    InUse Pgreq Pgrel Npage Hiwat Minpg Maxpg Idle\nmcl2k2      2112 812377 12    92   565     0   565   565     0   565    0\n",
	"kstat":     "em0:0:em-stats:0\n          rx missed: 12 packets\n",
	"systat -ip": "          IP Input                           IP Output\n     4534 total packets received         4521 total packets sent\n" +
		"        0 - redirects generated            2 - socket buffer full\n",
	"iostat": "       tty            ada0\n tin  tout  KB/t tps  MB/s\n   2  1262 23.20  13  0.30\n",
	"zpool iostat -l": "              capacity     operations     bandwidth    total_wait     disk_wait    syncq_wait    asyncq_wait  scrub\n" +
		"pool        alloc   free   read  write   read  write   read  write   read  write   read  write   read  write   wait\n" +
		"tank        1.47T  85.5T  13.2K      0  1.32G      0    6ms      -    4ms      -  133ns      -    1ms      -      -\n" +
		"  da1           -      -   1012      0   101M      0    6ms      -    5ms      -  115ns      -    1ms      -      -\n",
	"netstat -s":    "Tcp:\n    10 segments sent out\n    2 segments retransmitted\nTcpExt:\n    3 SYNs to LISTEN sockets dropped\n",
	"node_exporter": "node_netstat_TcpExt_ListenOverflows 12\nnode_network_receive_drop_total{device=\"eth0\"} 5\nnode_nf_conntrack_entries 7\n",
	"/proc/net/udp": "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n 1053: 00000000:0202 00000000:0000 07 00000000:00034180 00:00000000 00000000     0        0 35617 2 0000000000000000 904422\n",
	"ss -ltn":       "State Recv-Q Send-Q Local Address:Port Peer Address:Port\nLISTEN 0 128 *:22 *:*\n",
	"mtr":           "HOST: a    Loss%   Snt   Last   Avg  Best  Wrst StDev\n  1.|-- 192.0.2.1  1.5%   200    0.5   0.6   0.4   1.0   0.1\n",
	"airport -I":    "     agrCtlRSSI: -61\n    agrCtlNoise: -92\n     lastTxRate: 585\n",
	"iw": "Connected to 02:00:00:00:00:01 (on wlan0)\n\tRX: 1 bytes (2 packets)\n\tsignal: -47 dBm\n\trx bitrate: 6.5 MBit/s MCS 0\n" +
		"\ttx retries:\t4\nPower save: on\nwlan1  IEEE 802.11bg  ESSID:\"a\"\n  Bit Rate=1 Mb/s   Tx-Power=20 dBm\n",
	"speedtest": "Idle Latency:    11.21 ms   (jitter: 0.91ms, low: 10.11ms, high: 12.31ms)\n" +
		"    Download:   211.12 Mbps (data used: 301.1 MB)\n         41.22 ms   (jitter: 9.34ms, low: 11.71ms, high: 96.12ms)\n" +
		"      Upload:    10.11 Mbps (data used: 12.2 MB)\n Packet Loss:     0.4%\n",
	"usbconfig": "ugen0.2: <Realtek USB 10/100/1000 LAN> at usbus0, cfg=0 md=HOST spd=HIGH (480Mbps) pwr=ON (350mA)\n",
	"lsusb -t": "/:  Bus 01.Port 1: Dev 1, Class=root_hub, Driver=xhci_hcd/1p, 480M\n" +
		"    |__ Port 3: Dev 5, If 0, Class=Vendor Specific Class, Driver=r8152, 480M\n",
	"nfsstat": "Client rpc stats:\ncalls      retrans    authrefrsh\n3000       19         3000\nnas:/a /mnt nfs rw,vers=3,proto=tcp,timeo=7 0 0\n" +
		"nas:/a mounted on /mnt:\nread:              ops/s            kB/s           kB/op         retrans    avg RTT (ms)   avg exe (ms)\n" +
		"                   0.687         135.679         197.518        0 (0.0%)          9.235          9.876\n" +
		"\tREAD: 10 12 0 1 2 3 40 50\n",
	"perf top": "Overhead  Shared Object  Symbol\n  41.21%  [ip_tables]  [k] ipt_do_table\n",
}

// seeded are the collectors whose output people can paste, each with such an output.
func seeded(t testing.TB) (parsers []collector, seeds []string) {
	t.Helper()
	texts := map[system.System]map[string]string{}
	for _, on := range system.All() {
		texts[on] = maps.Clone(pastedSeeds)
		maps.Copy(texts[on], fixture(t, string(on)))
	}
	all := collectors()
	for _, r := range ethtoolReaders("eth0") {
		all = append(all, collector{part: r.part, on: onLinux(), op: r.op, parse: r.parse, area: Interfaces})
	}
	for _, c := range all {
		if c.area == "" {
			continue // of a script
		}
		seed := ""
		for _, on := range c.on {
			seed = cmp.Or(seed, texts[on][c.outputName()], texts[on][OutputOfCommand(c.outputName())])
		}
		if strings.TrimSpace(seed) == "" {
			t.Errorf("%s has no output in testdata or in pastedSeeds", c.outputName())
		}
		parsers, seeds = append(parsers, c), append(seeds, seed)
	}
	return parsers, seeds
}

// parsed is what one parser makes of a text.
func parsed(c collector, s string) (*Facts, error) {
	f := &Facts{System: c.on[0], Disks: []Disk{{Name: "sda", number: "8:1"}}, Settings: map[string]Setting{}, Counters: map[string]Counter{}, Parts: map[string]Part{},
		texts: map[string][]string{}, used: map[string]map[int]bool{},
		NICs: []NIC{{Name: "eth0", Kind: "ethernet", Bus: "0000:3b:00.0"}, {Name: "ix0", Kind: "ethernet",
			Features: map[string]Feature{}}}}
	from := text{from: c.outputName(), data: []byte(s)}
	f.texts[from.from] = from.lines()
	return f, c.parse(f, from)
}

// Each parser finds a fact in the output that is there for it.
func TestParsersFindFacts(t *testing.T) {
	parsers, seeds := seeded(t)
	for i, c := range parsers {
		nothing, _ := parsed(c, "")
		f, err := parsed(c, seeds[i])
		nothing.texts, nothing.used = f.texts, f.used // what is quoted is no fact yet
		if err != nil || reflect.DeepEqual(f, nothing) {
			t.Errorf("%s: nothing is read of\n%s: %v", c.outputName(), seeds[i], err)
		}
	}
}

// FuzzParsers feeds any text to one parser at a time.
func FuzzParsers(f *testing.F) {
	parsers, seeds := seeded(f)
	for i, seed := range seeds {
		f.Add(i, seed)
	}
	f.Fuzz(func(t *testing.T, i int, s string) {
		if i < 0 || i >= len(parsers) {
			return
		}
		c := parsers[i]
		got, err := parsed(c, s)
		if err != nil && err.Error() == "" {
			t.Errorf("%s: no reason", c.part)
		}
		if _, err := json.Marshal(got); err != nil {
			t.Errorf("%s: %v", c.part, err)
		}
		for _, p := range slices.Concat(got.Processors, aProcessor(got.AllProcessors)) {
			if share := p.User + p.Nice + p.System + p.Interrupt + p.Idle + p.Stolen; share < 0 || share > 8 {
				t.Errorf("%s: a processor with %g of its time", c.part, share)
			}
		}
		for line := range got.used[c.outputName()] {
			if line < 1 || line > len(got.texts[c.outputName()])+1 {
				t.Errorf("%s: line %d of %d", c.part, line, len(got.texts[c.outputName()]))
			}
		}
	})
}

func aProcessor(p *Processor) []Processor {
	if p == nil {
		return nil
	}
	return []Processor{*p}
}
