package workload

import (
	"strings"
	"testing"
)

// output is what a tool printed, and what must be read from it.
type output struct {
	name, tool, text string
	want             map[string]float64
}

// forms are the tools' other modes and versions, in the form that their sources
// print, numbers invented. A wanted value of absent must not be there.
const absent = -1

var forms = []output{
	{"sockperf under-load answers one message of a hundred", "sockperf", "sockperf: == version #3.10-no.git == \n[ 0] IP = 10.0.0.2        PORT = 11111 # UDP\n" +
		"sockperf: [Total Run] RunTime=10.000 sec; Warm up time=400 msec; SentMessages=100001; ReceivedMessages=1000\nsockperf: ========= Printing statistics for Server No: 0\n" +
		"sockperf: [Valid Duration] RunTime=9.500 sec; SentMessages=95000; ReceivedMessages=940\n" +
		"sockperf: ====> avg-latency=50.000 (std-dev=7.000, mean-ad=5.000, median-ad=4.000, siqr=3.000, cv=0.140, std-error=0.228, 99.0% ci=[49.412, 50.588])\n" +
		"sockperf: # dropped messages = 8; # duplicated messages = 0; # out-of-order messages = 2\nsockperf: Summary: Latency is 50.000 usec\n" +
		"sockperf: Total 940 observations; each percentile contains 9.40 observations\nsockperf: ---> <MAX> observation =  180.000\nsockperf: ---> percentile 99.900 =  170.000\nsockperf: ---> percentile 99.000 =  90.000\nsockperf: ---> percentile 50.000 =   48.000\nsockperf: ---> <MIN> observation =   20.000\n",
		map[string]float64{SentPackets: 10000, Transactions: absent, Loss: 8.0 / 950, LatencyMean: 100e-6, LatencyP99: 180e-6, LatencyP999: absent, LatencyMin: 40e-6, LatencyMax: 360e-6}},
	{"sockperf 2", "sockperf", "sockperf: == version #2.5. == \nsockperf[CLIENT] send on:\n[ 0] IP = 10.0.0.2        PORT = 11111 # UDP\nsockperf: Warmup stage (sending a few dummy packets)...\n" +
		"sockperf: [Total Run] RunTime=1.100 sec; SentMessages=30001; ReceivedMessages=30000\nsockperf: ========= Printing statistics for Server No: 0\n" +
		"sockperf: [Valid Duration] RunTime=1.000 sec; SentMessages=27000; ReceivedMessages=27000\nsockperf: ====> avg-lat= 10.000 (std-dev=2.000)\n" +
		"sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0\nsockperf: Summary: Latency is 10.000 usec\nsockperf: Total 27000 observations; each percentile contains 270.00 observations\n" +
		"sockperf: ---> <MAX> observation =   90.000\nsockperf: ---> percentile 99.99 =   80.000\nsockperf: ---> percentile 99.90 =   30.000\nsockperf: ---> percentile 50.00 =    9.000\nsockperf: ---> <MIN> observation =    7.000\n",
		map[string]float64{Transactions: 27000, Loss: 0, LatencyMean: 20e-6, LatencyP999: 60e-6, LatencyP50: 18e-6}},
	{"sockperf throughput over UDP", "sockperf", "sockperf: == version #3.7-no.git == \n[ 0] IP = 10.0.0.2        PORT = 11111 # UDP\nsockperf: Total of 250000 messages sent in 1.000 sec\n\nsockperf: Summary: Message Rate is 250000 [msg/sec]\nsockperf: Summary: BandWidth is 15.259 MBps (122.070 Mbps)\n",
		map[string]float64{SentPackets: 250000, Goodput: absent}},
	{"sockperf throughput over TCP", "sockperf", "sockperf: == version #3.7-no.git == \n[ 0] IP = 10.0.0.2        PORT = 11111 # TCP\nsockperf: Total of 1 messages sent in 1.000 sec\nsockperf: Summary: Message Rate is 500000 [msg/sec], Packet Rate is about 1500000 [pkt/sec] (3 ip frags / msg)\nsockperf: Summary: BandWidth is 1.953 GBps (15.625 Gbps)\n",
		map[string]float64{Goodput: 1.953 * 1000 * 8 * 1048576, SentPackets: absent}},
	{"sockperf of two servers", "sockperf", "sockperf: == version #3.7-no.git == \nsockperf: ========= Printing statistics for Server No: 0\nsockperf: [Valid Duration] RunTime=1.000 sec; SentMessages=100; ReceivedMessages=100\nsockperf: ====> avg-latency=10.000 (std-dev=2.000)\nsockperf: ---> percentile 50.000 =    9.000\n" +
		"sockperf: ========= Printing statistics for Server No: 1\nsockperf: [Valid Duration] RunTime=1.000 sec; SentMessages=100; ReceivedMessages=50\nsockperf: ====> avg-latency=90.000 (std-dev=2.000)\nsockperf: ---> percentile 50.000 =    80.000\n",
		map[string]float64{LatencyMean: 20e-6, LatencyP50: 18e-6, Transactions: 100}},
	{"iperf 2 UDP client, the server's report a little shorter", "iperf", `------------------------------------------------------------
Client connecting to 10.0.0.2, UDP port 5001
Sending 1470 byte datagrams
------------------------------------------------------------
[  3] local 10.0.0.1 port 40000 connected with 10.0.0.2 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec
[  3] Sent 893 datagrams
[  3] Server Report:
[  3]  0.0- 9.9 sec  1.13 MBytes   945 Kbits/sec   0.022 ms   93/  893 (10%)
`, map[string]float64{Goodput: 945e3, Loss: 93.0 / 893, Jitter: 22e-6}},
	{"iperf 2 -r, one way and then the other", "iperf", `[  5] local 10.0.0.1 port 40000 connected with 10.0.0.2 port 5001
[ ID] Interval       Transfer     Bandwidth
[  5]  0.0-10.0 sec  1.10 GBytes   940 Mbits/sec
[  4] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 50000
[  4]  0.0-10.0 sec  600 MBytes   500 Mbits/sec
`, map[string]float64{Goodput: 500e6, "warnings": 1}},
	{"iperf 2 -d, both ways at once", "iperf", `[  5] local 10.0.0.1 port 40000 connected with 10.0.0.2 port 5001
[  4] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 50000
[ ID] Interval       Transfer     Bandwidth
[  5]  0.0-10.0 sec  1.10 GBytes   940 Mbits/sec
[  4]  0.0-10.0 sec   600 MBytes   500 Mbits/sec
`, map[string]float64{Goodput: 1440e6, "warnings": 0}},
	{"iperf 2.1 -e of two flows", "iperf", `[ ID] Interval            Transfer    Bandwidth       Write/Err  Rtry     Cwnd/RTT(var)        NetPwr
[  1] 0.0000-1.0000 sec   60.0 MBytes   503 Mbits/sec  480/0          9      640K/2000(150) us  31457
[  1] 0.0000-10.0100 sec   600 MBytes   503 Mbits/sec  4800/0         12      640K/2000(150) us  31457
[  2] 0.0000-10.0100 sec   600 MBytes   503 Mbits/sec  4800/0          3      640K/4000(150) us  31457
[SUM] 0.0000-10.0100 sec  1.17 GBytes  1.01 Gbits/sec  9600/0        15
`, map[string]float64{Goodput: 1.01e9, "retrans": 15, "rtt": 3e-3}},
	{"iperf 2.2 --sum-only over UDP", "iperf", `[SUM-cnt] Interval            Transfer     Bandwidth      Lost/Total  PPS
[SUM-4] 0.0000-10.0000 sec  11.9 MBytes  10.0 Mbits/sec  100/8600      850 pps
`, map[string]float64{Goodput: 10e6, Loss: 100.0 / 8600}},
	{"iperf 2.1 CSV with -e", "iperf", "20240101000000,10.0.0.1,58254,10.0.0.2,5001,1,0.0-10.0,1250000000,1000000000,9600,0,7,640,2000,150\n",
		map[string]float64{Goodput: 1e9, "retrans": 7, "rtt": 2e-3, Loss: absent}},
	{"iperf 2.1 CSV of UDP with packets per second", "iperf", "20240101000000,10.0.0.1,58254,10.0.0.2,5001,1,0.0-10.0,1250000,1000000,0.020,10,900,1.111,0,1,2,89.0\n",
		map[string]float64{Goodput: 1e6, Loss: 1.0 / 90, Jitter: 20e-6}},
	{"iperf 2.1 CSV of a server with -e", "iperf", "20240101000000,10.0.0.2,5001,10.0.0.1,58254,1,0.0-10.0,1250000000,1000000000,20000,1,2,3,4,5,6,7,8\n",
		map[string]float64{Goodput: 1e9, Loss: absent, "retrans": -1}},
	{"iperf 3 text of --bidir", "iperf3", `Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 1 connected to 10.0.0.2 port 5201
[ ID][Role] Interval           Transfer     Bitrate         Retr  Cwnd
[  5][TX-C]   0.00-1.00   sec   100 MBytes   839 Mbits/sec    1    400 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID][Role] Interval           Transfer     Bitrate         Retr
[  5][TX-C]   0.00-10.00  sec  1.00 GBytes   860 Mbits/sec   10             sender
[  5][TX-C]   0.00-10.04  sec  1.00 GBytes   850 Mbits/sec                  receiver
[  7][RX-C]   0.00-10.00  sec  1.00 GBytes   400 Mbits/sec    4             sender
[  7][RX-C]   0.00-10.04  sec  1.00 GBytes   390 Mbits/sec                  receiver

iperf Done.
`, map[string]float64{Goodput: 1240e6, "retrans": 14}},
	{"iperf 3 server's text of two tests", "iperf3", `-----------------------------------------------------------
Server listening on 5201 (test #1)
-----------------------------------------------------------
Accepted connection from 10.0.0.1, port 40000
[  5]   0.00-1.00   sec   100 MBytes   839 Mbits/sec
- - - - - - - - - - - - - - - - - - - - - - - - -
[  5]   0.00-10.04  sec  1.00 GBytes   850 Mbits/sec                  receiver
-----------------------------------------------------------
Server listening on 5201 (test #2)
-----------------------------------------------------------
Accepted connection from 10.0.0.1, port 40002
- - - - - - - - - - - - - - - - - - - - - - - - -
[  5]   0.00-10.04  sec   500 MBytes   400 Mbits/sec                  receiver
`, map[string]float64{Goodput: 400e6, "warnings": 1}},
	{"iperf 3 text over SCTP, sizes in KBytes", "iperf3", "Connecting to host 10.0.0.2, port 5201\n[ ID] Interval           Transfer     Bitrate\n- - - - - - - - - - - - - - - - - - - - - - - - -\n[  5]   0.00-10.00  sec  1000000 KBytes  100000 KBytes/sec                  sender\n[  5]   0.00-10.00  sec  1000000 KBytes  99000 KBytes/sec                  receiver\n\niperf Done.\n",
		map[string]float64{Goodput: 99000 * 1024 * 8, "retrans": -1}},
	{"iperf 3 UDP text of two streams", "iperf3", `- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec  0.000 ms  0/906 (0%)  sender
[  5]   0.00-10.00  sec  1.13 MBytes   950 Kbits/sec  0.036 ms  90/906 (9.9%)  receiver
[  7]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec  0.000 ms  0/906 (0%)  sender
[  7]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec  0.036 ms  0/906 (0%)  receiver
[SUM]   0.00-10.00  sec  2.50 MBytes  2.10 Mbits/sec  0.000 ms  0/1812 (0%)  sender
[SUM]   0.00-10.00  sec  2.38 MBytes  2.00 Mbits/sec  0.036 ms  90/1812 (5%)  receiver
`, map[string]float64{Goodput: 2e6, Loss: 90.0 / 1812, SentPackets: 181.2}},
	{"tcpbench's client with only its sums", "tcpbench", "Conn:   4 Mbps:      300.000 Peak Mbps:      300.000 Avg Mbps:       75.000\nConn:   4 Mbps:      200.000 Peak Mbps:      300.000 Avg Mbps:       50.000\n--- 10.0.0.2 tcpbench statistics ---\n63750000 bytes sent over 2.040 seconds\nbandwidth min/avg/max/std-dev = 200.000/250.000/300.000/50.000 Mbps\n",
		map[string]float64{Goodput: 250e6}},
	{"tcpbench's sums, stopped hard", "tcpbench", "Conn:   1 Mbps:      300.000 Peak Mbps:      300.000 Avg Mbps:      300.000\nConn:   1 Mbps:      200.000 Peak Mbps:      300.000 Avg Mbps:      200.000\n", map[string]float64{Goodput: 250e6}},
	{"tcpbench -k", "tcpbench", "  elapsed_ms          bytes         mbps   bwidth tcpcb.snd_cwnd,tcpcb.t_srtt\n        1000       12500000      100.000  100.00% 65535,12\nConn:   1 Mbps:      100.000 Peak Mbps:      100.000 Avg Mbps:      100.000\n", map[string]float64{Goodput: 100e6}},
	{"tcpbench -su", "tcpbench", "Elapsed:        1000 Mbps:     500.000 Peak Mbps:     500.000 Rx PPS:   40000\nElapsed:        3000 Mbps:     200.000 Peak Mbps:     500.000 Rx PPS:   10000\n", map[string]float64{Goodput: 300e6, Packets: 20000}},
	{"tcpbench -u", "tcpbench", "Elapsed:        1000 Mbps:     500.000 Peak Mbps:     500.000 Tx PPS:   40000\n", map[string]float64{SentPackets: 40000, Goodput: absent}},
	{"nuttcp -v", "nuttcp", "nuttcp-t: v8.2.2: socket\nnuttcp-t: connect to 10.0.0.2 with mss=1448, RTT=20.100 ms af=inet\nnuttcp-t: 1131.0000 MB in 10.00 real seconds = 115814.40 KB/sec = 948.7516 Mbps\nnuttcp-t: retrans = 12\nnuttcp-t: 18096 I/O calls, msec/call = 0.57, calls/sec = 1809.60\n\nnuttcp-r: v8.2.2: socket\nnuttcp-r: 1130.0000 MB in 10.04 real seconds = 115251.00 KB/sec = 944.1361 Mbps\nnuttcp-r: 80000 I/O calls, msec/call = 0.13, calls/sec = 7968.13\n",
		map[string]float64{Goodput: 944.1361e6, "retrans": 12, "rtt": 20.1e-3}},
	{"nuttcp -v -u, the server first", "nuttcp", "nuttcp-r: v8.2.2: socket\nnuttcp-r: 4.5625 MB in 1.00 real seconds = 4666.60 KB/sec = 38.2288 Mbps\nnuttcp-r: 179 / 763 drop/pkt 23.46% data loss\n\nnuttcp-t: v8.2.2: socket\nnuttcp-t: 5.9609 MB in 1.00 real seconds = 6096.85 KB/sec = 49.9454 Mbps\n",
		map[string]float64{Goodput: 38.2288e6, Loss: 179.0 / 763, SentPackets: 763}},
	{"nuttcp -u with intervals", "nuttcp", "    2.9844 MB /   0.50 sec =   50.0147 Mbps     9 /   382 ~drop/pkt  0.00 ~%loss\n\n    5.9531 MB /   1.00 sec =   49.9315 Mbps 43 %TX 0 %RX 1 / 762 drop/pkt 0.13 %loss\n",
		map[string]float64{Goodput: 49.9315e6, Loss: 1.0 / 762}},
	{"nuttcp -frunningtotal", "nuttcp", " 1421.8125 MB /   0.50 sec = 23853.3398 Mbps     5 retrans Tot:  1421.8125 MB /   0.50 sec = 23853.3398 Mbps     5 retrans\n\n 3061.0000 MB /   1.00 sec = 25625.1257 Mbps 37 %TX 55 %RX 7 retrans 0.08 msRTT\n",
		map[string]float64{Goodput: 25625.1257e6, "retrans": 7, "warnings": 0}},
	{"netperf -v 2: alignment is no result", "netperf", "TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\nRecv   Send    Send\nSocket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\nbytes  bytes   bytes    secs.    10^6bits/sec\n\n131072  16384  16384    10.00     941.40\n\nAlignment      Offset         Bytes    Bytes       Sends   Bytes    Recvs\nLocal  Remote  Local  Remote  Xfered   Per                 Per\nSend   Recv    Send   Recv             Send (avg)          Recv (avg)\n    8       8      0       0 1176750000  16384.00     71823   14480.00  81267\n\nMaximum\nSegment\nSize (bytes)\n  1448\n",
		map[string]float64{Goodput: 941.4e6}},
	{"netperf TCP_RR -v 2", "netperf", "TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\nLocal /Remote\nSocket Size   Request  Resp.   Elapsed  Trans.\nSend   Recv   Size     Size    Time     Rate\nbytes  Bytes  bytes    bytes   secs.    per sec\n\n16384  131072 1        1       10.00    9876.54\n16384  131072\nAlignment      Offset         RoundTrip  Trans    Throughput\nLocal  Remote  Local  Remote  Latency    Rate     10^6bits/s\nSend   Recv    Send   Recv    usec/Tran  per sec  Outbound   Inbound\n    8      0       0      0   101.250   9876.540 0.079    0.079\n",
		map[string]float64{Transactions: 9876.54, Goodput: absent}},
	{"netperf UDP_STREAM -c -C", "netperf", "UDP UNIDIRECTIONAL SEND TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\nSocket  Message  Elapsed      Messages                   CPU      Service\nSize    Size     Time         Okay Errors   Throughput   Util     Demand\nbytes   bytes    secs            #      #   10^6bits/sec % SS     us/KB\n\n212992      64   10.00     5000000      0     256.0     50.00    1.000\n212992           10.00     4000000            204.8     40.00    1.000\n\n",
		map[string]float64{Packets: 400000, SentPackets: 500000, Goodput: 204.8e6, Loss: 0.2}},
	{"netperf RR in time of a transaction", "netperf", "TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\nLocal /Remote\nSocket Size   Request Resp.  Elapsed Latency  CPU    CPU    S.dem   S.dem\nSend   Recv   Size    Size   Time    usecs    local  remote local   remote\nbytes  bytes  bytes   bytes  secs.   per tran % S    % S    us/Tr   us/Tr\n\n16384  131072 1       1      10.00   101.25   5.00   6.00   7.000   8.000\n16384  131072\n",
		map[string]float64{LatencyMean: 101.25e-6, Transactions: absent}},
	{"netperf -k without the unit", "netperf", "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET : demo\nTHROUGHPUT=9876.54\nP99_LATENCY=150\n",
		map[string]float64{Transactions: 9876.54, LatencyP99: 150e-6, Goodput: absent}},
	{"netperf -t omni -- -o, with the columns it has by itself", "netperf", "OMNI Send TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\nLocal Send Socket Size Final,Remote Recv Socket Size Final,Local Send Size,Elapsed Time (sec),Throughput,Throughput Units\n4194304,6291456,16384,10.00,941.20,10^6bits/s\n",
		map[string]float64{Goodput: 941.2e6}},
	{"netperf -P 0 TCP_RR", "netperf", "16384  131072 1        1       10.00    9876.54 \n16384  131072\n", map[string]float64{Transactions: 9876.54, Goodput: absent}},
	{"netperf -P 0 UDP_STREAM", "netperf", "212992      64   10.00     5000000      0     256.00\n212992           10.00     4000000            204.80\n\n", map[string]float64{Packets: 400000, Goodput: 204.8e6, Loss: 0.2}},
	{"netperf -P 0 of two streams at once", "netperf", "131072  16384  16384    10.00     400.00   \n131072  16384  16384    10.00     500.00   \n", map[string]float64{Goodput: 900e6}},
	{"netperf -D and -O", "netperf", "OMNI Send TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET : demo\nInterim result: 9416.06 10^6bits/s over 1.000 seconds ending at 1700000000.123\nInterim result: 9300.00 10^6bits/s over 1.000 seconds ending at 1700000001.123\nThroughput Throughput  50th         99th\n           Units       Percentile   Percentile\n                       Latency      Latency\n                       Microseconds Microseconds\n\n9400.00    10^6bits/s  30           60\n",
		map[string]float64{Goodput: 9.4e9}},
	{"ApacheBench", "ab", `This is ApacheBench, Version 2.3 <$Revision: 1903618 $>
Benchmarking 10.0.0.2 (be patient)

Concurrency Level:      8
Time taken for tests:   2.000 seconds
Complete requests:      4000
Failed requests:        20
   (Connect: 0, Receive: 5, Length: 12, Exceptions: 3)
Write errors:           2
Keep-Alive requests:    3900
Total transferred:      5000000 bytes
HTML transferred:       4000000 bytes
Requests per second:    2000.00 [#/sec] (mean)
Time per request:       4.000 [ms] (mean)
Time per request:       0.500 [ms] (mean, across all concurrent requests)
Transfer rate:          2441.41 [Kbytes/sec] received

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.1      0       1
Processing:     1    4   1.0      4      30
Waiting:        1    4   1.0      4      30
Total:          1    4   1.0      4      31

Percentage of the requests served within a certain time (ms)
  50%      4
  66%      4
  90%      6
  99%     12
 100%     31 (longest request)
`, map[string]float64{"warnings": 1, Requests: (4000 - 10) / 2.0, Errors: 10, LatencyMean: 4e-3, LatencyP50: 4e-3, LatencyP90: 6e-3, LatencyP99: 12e-3, LatencyMax: 31e-3, LatencyMin: 1e-3, Goodput: 20e6}},
	{"two runs of wrk", "wrk", "Running 1s test @ http://10.0.0.2/\n  2 threads and 32 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     1.00ms    1.00ms   9.00ms   90.00%\n  1000 requests in 1.00s, 1.00MB read\nRequests/sec:   1000.00\nRunning 1s test @ http://10.0.0.2/\n  2 threads and 32 connections\n  3000 requests in 1.00s, 1.00MB read\nRequests/sec:   3000.00\n",
		map[string]float64{Requests: 3000, LatencyMean: absent, "warnings": 1}},
	{"a second run of wrk that was stopped", "wrk", "Running 1s test @ http://10.0.0.2/\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n  1000 requests in 1.00s, 1.00MB read\nRunning 1s test @ http://10.0.0.2/\n  2 threads and 32 connections\n", map[string]float64{Requests: 1000, "warnings": 1}},
	{"ping of busybox", "ping", "PING 10.0.0.2 (10.0.0.2): 56 data bytes\n64 bytes from 10.0.0.2: seq=0 ttl=64 time=0.500 ms\n64 bytes from 10.0.0.2: seq=1 ttl=64 time=1.500 ms\n\n--- 10.0.0.2 ping statistics ---\n3 packets transmitted, 2 packets received, 33% packet loss\nround-trip min/avg/max = 0.500/1.000/1.500 ms\n",
		map[string]float64{LatencyP50: 1e-3, Loss: 1.0 / 3}},
	{"ping6 of FreeBSD", "ping", "PING6(56=40+8+8 bytes) fd00::1 --> fd00::2\n16 bytes from fd00::2, icmp_seq=0 hlim=64 time=0.700 ms\n\n--- fd00::2 ping6 statistics ---\n1 packets transmitted, 1 packets received, 0.0% packet loss\nround-trip min/avg/max/std-dev = 0.700/0.700/0.700/0.000 ms\n", map[string]float64{LatencyP50: 0.7e-3, Loss: 0}},
	{"ping -D -q of iputils", "ping", "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n\n--- 10.0.0.2 ping statistics ---\n1000 packets transmitted, 990 received, +3 duplicates, +2 errors, 1% packet loss, time 9990ms\nrtt min/avg/max/mdev = 0.026/0.030/0.500/0.010 ms, pipe 2, ipg/ewma 0.040/0.031 ms\n", map[string]float64{LatencyMin: 26e-6, LatencyMean: 30e-6, LatencyMax: 0.5e-3, Loss: 0.01, LatencyP50: absent}},
	{"pings of two hosts", "ping", "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=20.0 ms\n\n--- 10.0.0.2 ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\nrtt min/avg/max/mdev = 20.000/20.000/20.000/0.000 ms\nPING 10.0.0.3 (10.0.0.3) 56(84) bytes of data.\n64 bytes from 10.0.0.3: icmp_seq=1 ttl=64 time=2.00 ms\n\n--- 10.0.0.3 ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\n",
		map[string]float64{LatencyP50: 2e-3, "warnings": 1}},
	{"fping -c with more answers than questions", "fping", "10.0.0.2 : xmt/rcv/%return = 2/3/150%, min/avg/max = 0.50/0.60/0.70\n", map[string]float64{Loss: 0, LatencyMean: 0.6e-3}},
	{"fping -c -D -Q", "fping", "[1700000000.12345] 10.0.0.2 : [0], 64 bytes, 0.500 ms (0.500 avg, 0% loss)\n[10:00:01]\n10.0.0.2 : xmt/rcv/%loss = 1/1/0%, outage(ms) = 0, min/avg/max = 0.500/0.500/0.500\n", map[string]float64{Loss: 0, LatencyP50: 0.5e-3}},
	{"fping -C says every time twice", "fping", "10.0.0.2 : [0], 64 bytes, 1.00 ms (1.00 avg, 0% loss)\n10.0.0.2 : [1], timed out (1.00 avg, 50% loss)\n10.0.0.2 : [2], 64 bytes, 3.00 ms (2.00 avg, 33% loss)\n\n10.0.0.2 : 1.00 - 3.00\n", map[string]float64{LatencyP50: 2e-3, Loss: 1.0 / 3}},
	{"fping -J -c", "fping", `{"resp": {"host": "10.0.0.2", "seq": 0, "size": 64, "rtt": 0.500}}` + "\n" + `{"timeout": {"host": "10.0.0.2", "seq": 1}}` + "\n" + `{"intSum": {"time": 1700000000,"host": "10.0.0.2", "xmt": 2, "rcv": 1, "loss": 50, "rttMin": 0.500, "rttAvg": 0.500, "rttMax": 0.500}}` + "\n" + `{"summary": {"host": "10.0.0.2", "xmt": 2, "rcv": 1, "loss": 50, "outage(ms)": 1000, "rttMin": 0.500, "rttAvg": 0.500, "rttMax": 0.500}}` + "\n",
		map[string]float64{LatencyP50: 0.5e-3, Loss: 0.5}},
	{"fping -J -C", "fping", `{"resp": {"host": "10.0.0.2", "seq": 0, "size": 64, "rtt": 1.00}}` + "\n" + `{"vSum": {"host": "10.0.0.2", "values": [1.00, null, 3.00]}}` + "\n", map[string]float64{LatencyP50: 2e-3, Loss: 1.0 / 3}},
	{"fping -J -q", "fping", `{"summary": {"host": "10.0.0.2", "xmt": 4, "rcv": 4, "loss": 0, "rttMin": 1.00, "rttAvg": 2.00, "rttMax": 3.00}}` + "\n", map[string]float64{LatencyMean: 2e-3, LatencyMax: 3e-3, Loss: 0}},
	{"h2load after 1.68", "h2load", "starting benchmark...\nspawning thread #0: 4 total client(s). Timing-based test with 1s of warm-up time and 2s of main duration for measurements.\nWarm-up started for thread #0.\nMain benchmark duration is over for thread #0. Stopping all clients.\n\nfinished in 2.00s, 300000.00 req/s, 36.00MB/s\nrequests: 600000 total, 600004 started, 600000 done, 599000 succeeded, 1000 failed, 0 errored, 0 timeout\nstatus codes: 599000 2xx, 0 3xx, 0 4xx, 1000 5xx\ntraffic: 72.00MB (75497472) total, 3.00MB (3145728) headers (space savings 95.00%), 54.00MB (56623104) data\n                 min         max         median      p95         p99         mean        sd         +/- sd\nrequest     :        7us       2.02ms      10us        15us        20us        11us         3us    93.00%\nconnect     :       78us        97us        88us        97us        97us        88us         7us    50.00%\nTTFB        :      258us       292us       275us       292us       292us       275us        16us    50.00%\nreq/s       :   63000.00    86000.00    78000.00    86000.00    86000.00    77000.00    11000.00    75.00%\n",
		map[string]float64{Errors: 1000, Requests: 299500, LatencyMin: 7e-6, LatencyMax: 2.02e-3, LatencyP50: 10e-6, LatencyP99: 20e-6, LatencyMean: 11e-6, Goodput: 36 * 1024 * 1024 * 8}},
	{"h2load of 1.12 in the form that newer ones kept", "h2load", "starting benchmark...\nspawning thread #0: 10 total client(s). 1000 total requests\nApplication protocol: h2c\nprogress: 10% done\n\nfinished in 661.88ms, 1510.84 req/s, 16.88KB/s\nrequests: 1000 total, 1000 started, 1000 done, 990 succeeded, 10 failed, 0 errored, 0 timeout\nstatus codes: 990 2xx, 0 3xx, 10 4xx, 0 5xx\ntraffic: 11.17KB (11440) total, 2.03KB (2080) headers (space savings 91.68%), 0B (0) data\n                     min         max         mean         sd        +/- sd\ntime for request:       45us       299us        89us        26us    76.30%\ntime for connect:    10.28ms    649.25ms    213.57ms    192.17ms    80.00%\ntime to 1st byte:    10.69ms    649.52ms    213.82ms    192.18ms    80.00%\nreq/s           :     188.93     5585.94     1239.99     1771.61    80.00%\n",
		map[string]float64{Requests: 990 / 0.66188, LatencyMin: 45e-6, LatencyMean: 89e-6, LatencyMax: 299e-6, Goodput: 16.88 * 1024 * 8}},
}

// TestBidirectionalUDP: both directions' datagrams count, and what arrived is
// the receivers' number.
func TestBidirectionalUDP(t *testing.T) {
	run, err := ParseOutput("iperf3", []byte(`{"start":{},"intervals":[{"sum":{"bits_per_second":5e7}}],"end":{"streams":[],
		"sum":{"seconds":2,"bytes":12500000,"bits_per_second":50000000,"jitter_ms":0.2,"lost_packets":200,"packets":400,"sender":true},
		"sum_sent":{"seconds":2,"bits_per_second":50000000,"packets":400,"lost_packets":0},"sum_received":{"seconds":2,"bits_per_second":24000000,"packets":400,"lost_packets":200},
		"sum_bidir_reverse":{"seconds":2,"bits_per_second":50000000,"packets":410,"lost_packets":100},
		"sum_sent_bidir_reverse":{"seconds":2,"bits_per_second":50000000,"packets":410},"sum_received_bidir_reverse":{"seconds":2,"bits_per_second":37000000,"packets":400,"lost_packets":100}}}`))
	if err != nil || run.GoodputBPS != 61e6 || run.Metrics[Loss] != 300.0/800 || run.Metrics[Packets] != 250 {
		t.Errorf("%v %v", run.Metrics, err)
	}
}

// TestDocuments: files to which iperf3 -J was written several times, cut or
// with something before.
func TestDocuments(t *testing.T) {
	run, err := ParseOutput("iperf3", []byte("warning: Ignoring nonsense\n"+fixture+fixture))
	if err != nil || run.GoodputBPS == 0 || len(run.Warnings) != 1 {
		t.Errorf("twice: %v, %v", run, err)
	}
	run, err = ParseOutput("iperf3", []byte(fixture+fixture[:len(fixture)/2]))
	if err != nil || run.GoodputBPS == 0 || len(run.Warnings) != 1 {
		t.Errorf("the second one cut: %v, %v", run.Warnings, err)
	}
	if _, err = ParseOutput("iperf3", []byte(fixture[:len(fixture)/2])); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("cut: %v", err)
	}
}
