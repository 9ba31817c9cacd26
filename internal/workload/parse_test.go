package workload

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// outputs are in the form of the tools' own, numbers invented.
var outputs = []output{
	{"wrk 4", "wrk", `Running 10s test @ http://10.0.0.2:5201/file
  2 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   400.00us  800.00us  12.00ms   90.00%
    Req/Sec    20.00k     1.00k   22.00k    55.00%
  Latency Distribution
     50%  150.00us
     75%  200.00us
     90%    1.50ms
     99%    4.00ms
  400000 requests in 10.00s, 476.84MB read
  Socket errors: connect 0, read 2, write 0, timeout 8
  Non-2xx or 3xx responses: 90
Requests/sec:  40000.00
Transfer/sec:     47.68MB
`, map[string]float64{Requests: 39991, Errors: 100, LatencyP50: 150e-6, LatencyP90: 1.5e-3, LatencyP99: 4e-3, Goodput: 476.84 * 1024 * 1024 * 8 / 10}},
	{"wrk2", "wrk", `Running 45s test @ https://example.org
  Thread calibration: mean lat.: 2.0ms, rate sampling interval: 10ms
  Thread Stats   Avg      Stdev     Max   +/- Stdev
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    2.00ms
 99.900%   36.00s
100.000%    0.90m
  Detailed Percentile spectrum:
       0.903     0.000000            1         1.00
  450 requests in 0.75m, 183.22KB read
Requests/sec:     10.00
`, map[string]float64{Requests: 10, LatencyP50: 2e-3, LatencyP999: 36, LatencyMax: 54, Errors: 0}},
	{"wrk2 -U", "wrk", `  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.10ms  499.00us   2.63ms   64.00%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    1.05ms
 99.000%    2.10ms
  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
 50.000%  206.00us
 99.000%  306.00us
  10000 requests in 5.00s, 1.00MB read
`, map[string]float64{Requests: 2000, LatencyP50: 1.05e-3, LatencyP99: 2.1e-3, LatencyMean: 1.1e-3, LatencyMax: 2.63e-3}},
	{"iperf 2.1 full duplex", "iperf", `[  1] local 10.0.0.1 port 40000 connected with 10.0.0.2 port 5001 (full-duplex)
[ ID] Interval            Transfer    Bandwidth       Write/Err  Rtry     Cwnd/RTT(var)        NetPwr
[  1] 0.0000-10.0100 sec  1.10 GBytes   943 Mbits/sec 9000/0          0      450K/2000(150) us  58.9
[  1] 0.0000-10.0200 sec  1.00 GBytes   857 Mbits/sec  8000=1:2:3:4:5:6:7:8
[FD1] 0.0000-10.0200 sec  2.10 GBytes  1.80 Gbits/sec
`, map[string]float64{Goodput: 1.8e9}},
	{"iperf 2 CSV, time zone west", "iperf", "-0800:20260203132505.123456,10.0.0.1,40000,10.0.0.2,5001,1,0.0-10.0,1250000000,1000000000\n", map[string]float64{Goodput: 1e9}},
	{"iperf 3.0 UDP text", "iperf3", `[  4] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bandwidth       Total Datagrams
[  4]   0.00-1.00   sec   116 KBytes   950 Kbits/sec  82
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  4]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec  0.036 ms  10/910 (1.1%)
[  4] Sent 910 datagrams
`, map[string]float64{Goodput: 1.05e6, Packets: 90, Loss: 10.0 / 910}},
	{"iperf 3 with time stamps", "iperf3", `Sat Nov 21 10:00:10 2026 - - - - - - - - - - - - - - - - - - - - - - - - -
Sat Nov 21 10:00:10 2026 [  5]   0.00-10.00  sec  1.10 GBytes   942 Mbits/sec    3             sender
Sat Nov 21 10:00:10 2026 [  5]   0.00-10.04  sec  1.10 GBytes   938 Mbits/sec                  receiver
`, map[string]float64{Goodput: 938e6}},
	{"iperf 3 JSON stream", "iperf3", `{"event":"start","data":{"version":"iperf 3.18"}}
{"event":"interval","data":{"sum":{"bits_per_second":8400,"omitted":false}}}
{"event":"end","data":{"sum_sent":{"seconds":2,"bits_per_second":8400,"retransmits":1},"sum_received":{"seconds":2,"bits_per_second":8000}}}
`, map[string]float64{Goodput: 8000}},
	{"netperf omni", "netperf", `OMNI Send TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET
Local       Remote      Local  Elapsed Throughput Throughput
Send Socket Recv Socket Send   Time               Units
Size        Size        Size   (sec)
Final       Final
4194304     6291456     16384  10.00   9412.33    10^6bits/s
`, map[string]float64{Goodput: 9412.33e6}},
	{"netperf -f M", "netperf", `MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    MBytes  /sec

131072  16384  16384    10.00    112.00
`, map[string]float64{Goodput: 112 * 8 * 1024 * 1024}},
	{"ping -q", "ping", `PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.

--- 10.0.0.2 ping statistics ---
10 packets transmitted, 9 received, 10% packet loss, time 9012ms
rtt min/avg/max/mdev = 0.042/0.050/0.071/0.009 ms
`, map[string]float64{Loss: 0.1, LatencyMin: 42e-6, LatencyMean: 50e-6, LatencyMax: 71e-6}},
	{"ping of busybox", "ping", `--- 10.0.0.2 ping statistics ---
2 packets transmitted, 2 packets received, 0% packet loss
round-trip min/avg/max = 0.062/0.072/0.082 ms
`, map[string]float64{Loss: 0, LatencyMean: 72e-6}},
	{"fping -o", "fping", "10.0.0.2 : xmt/rcv/%loss = 10/9/10%, outage(ms) = 1000, min/avg/max = 12.0/13.0/16.6\n",
		map[string]float64{Loss: 0.1, LatencyMin: 12e-3, LatencyMean: 13e-3, LatencyMax: 16.6e-3}},
	{"fping -C without an answer", "fping", "10.0.0.2 : - - -\n", map[string]float64{Loss: 1}},
	{"ab", "ab", `This is ApacheBench, Version 2.3 <$Revision: 1 $>
Concurrency Level:      4
Time taken for tests:   2.000 seconds
Complete requests:      20000
Failed requests:        10
   (Connect: 0, Receive: 0, Length: 10, Exceptions: 0)
Non-2xx responses:      30
Total transferred:      25000000 bytes
Requests per second:    10000.00 [#/sec] (mean)
Time per request:       0.400 [ms] (mean)
Time per request:       0.100 [ms] (mean, across all concurrent requests)
Percentage of the requests served within a certain time (ms)
  50%      1
  90%      3
  99%      7
 100%     74 (longest request)
`, map[string]float64{"warnings": 1, Requests: 9985, Errors: 30, LatencyMean: 0.4e-3, LatencyP50: 1e-3, LatencyP99: 7e-3, LatencyMax: 74e-3, Goodput: 1e8}},
	{"h2load 1.52", "h2load", `starting benchmark...
finished in 4.00s, 25000.00 req/s, 30.00MB/s
requests: 100000 total, 100004 started, 100000 done, 99990 succeeded, 10 failed, 4 errored, 2 timeout
status codes: 99990 2xx, 0 3xx, 6 4xx, 0 5xx
traffic: 120.00MB (125829120) total, 20.00MB (1) headers (space savings 0.00%), 100.00MB (1) data
                     min         max         mean         sd        +/- sd
time for request:       40us     12.50ms       150us       200us    95.00%
time for connect:      100us       300us       200us        50us    60.00%
req/s           :    6000.00     6500.00     6250.00      100.00    75.00%
`, map[string]float64{Requests: 99990.0 / 4, Errors: 10, LatencyMin: 40e-6, LatencyMax: 12.5e-3, LatencyMean: 150e-6}},
	{"nuttcp -fparse", "nuttcp", "megabytes=10.0000 real_sec=0.50 rate_Mbps=900.0000 retrans=1\n\nmegabytes=1000.0000 real_seconds=10.00 rate_Mbps=838.8608 tx_cpu=9 rx_cpu=5 retrans=7 rtt_ms=20.50\n",
		map[string]float64{Goodput: 838860800, "retrans": 7, "rtt": 0.0205}},
	{"nuttcp", "nuttcp", "  118.1250 MB /   1.00 sec =  990.7000 Mbps     0 retrans\n 1130.2500 MB /  10.00 sec =  948.1000 Mbps 7 %TX 6 %RX 3 retrans 0.07 msRTT\n",
		map[string]float64{Goodput: 948.1e6, "retrans": 3, "rtt": 0.07e-3}},
	{"nuttcp UDP", "nuttcp", "megabytes=0.5961 real_seconds=2.00 rate_Mbps=4.9999 tx_cpu=96 rx_cpu=2 drop=1000 pkt=11000 data_loss=9.09\n",
		map[string]float64{Goodput: 4.9999e6, Packets: 5000, SentPackets: 5500, Loss: 1.0 / 11}},
	{"iperf 2 CSV", "iperf", "20240101000000,10.0.0.1,58254,10.0.0.2,5001,1,0.0-1.0,1000,8000\n20240101000000,10.0.0.1,58254,10.0.0.2,5001,1,0.0-10.0,1250000,1000000\n20240101000000,10.0.0.1,58255,10.0.0.2,5001,2,0.0-10.0,1250000,2000000\n",
		map[string]float64{Goodput: 3e6}},
	{"iperf 2 CSV with a sum", "iperf", "20240101000000,10.0.0.1,58254,10.0.0.2,5001,3,0.0-10.0,1,1000000\n20240101000000,10.0.0.1,58255,10.0.0.2,5001,4,0.0-10.0,1,2000000\n20240101000000,10.0.0.1,0,10.0.0.2,5001,-1,0.0-10.0,1,3100000\n",
		map[string]float64{Goodput: 3.1e6}},
	{"iperf 2.0.5", "iperf", "[ ID] Interval Transfer Bandwidth\n[  3]  0.0-10.1 sec  25.1 MBytes  21.0 Mbits/sec\n", map[string]float64{Goodput: 21e6}},
	{"iperf 2.1 UDP server", "iperf", "[ ID] Interval       Transfer     Bandwidth        Jitter   Lost/Total  Latency avg\n[  1] 0.0000-10.0000 sec  611 KBytes  5.00 Mbits/sec   0.010 ms 2500/10000 (25%)\n",
		map[string]float64{Goodput: 5e6, Packets: 750, Loss: 0.25}},
	{"iperf 3 text", "iperf3", `[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   112 MBytes   941 Mbits/sec    0    400 KBytes
[  5]   0.00-10.00  sec  1.10 GBytes   943 Mbits/sec   12             sender
[  5]   0.00-10.04  sec  1.09 GBytes   936 Mbits/sec                  receiver
`, map[string]float64{Goodput: 936e6, "retrans": 12}},
	{"iperf 3.1 text of two streams", "iperf3", `[  4]   0.00-10.00  sec   562 MBytes   471 Mbits/sec    3             sender
[  4]   0.00-10.00  sec   560 MBytes   470 Mbits/sec                  receiver
[  6]   0.00-10.00  sec   562 MBytes   471 Mbits/sec    4             sender
[  6]   0.00-10.00  sec   560 MBytes   470 Mbits/sec                  receiver
[SUM]   0.00-10.00  sec  1.10 GBytes   942 Mbits/sec    7             sender
[SUM]   0.00-10.00  sec  1.09 GBytes   940 Mbits/sec                  receiver
`, map[string]float64{Goodput: 940e6, "retrans": 7}},
	{"netperf keys", "netperf", "THROUGHPUT=941.48\nTHROUGHPUT_UNITS=10^6bits/s\nELAPSED_TIME=10.00\nP99_LATENCY=-1\nLOCAL_TRANSPORT_RETRANS=4\nTHROUGHPUT=100\nTHROUGHPUT_UNITS=10^6bits/s\n",
		map[string]float64{Goodput: 1041.48e6, "retrans": 4}},
	{"netperf CSV", "netperf", "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\nThroughput,Throughput Units,50th Percentile Latency Microseconds,99th Percentile Latency Microseconds,Local Transport Retransmissions\n12000.50,Trans/s,80,150,0\n",
		map[string]float64{Transactions: 12000.5, LatencyP50: 80e-6, LatencyP99: 150e-6}},
	{"netperf stream table", "netperf", "TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET : demo\nRecv   Send    Send\nSocket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\nbytes  bytes   bytes    secs.    10^6bits/sec\n\n131072  16384  16384    10.00     941.40\n",
		map[string]float64{Goodput: 941.4e6}},
	{"netperf rr table", "netperf", "TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET\nSocket Size   Request  Resp.   Elapsed  Trans.\nSend   Recv   Size     Size    Time     Rate\nbytes  Bytes  bytes    bytes   secs.    per sec\n\n16384  131072 1        1       10.00    9876.54\n16384  131072\n",
		map[string]float64{Transactions: 9876.54}},
	{"netperf crr table", "netperf", "TCP Connect/Request/Response TEST from 0.0.0.0 () port 0 AF_INET\n\n16384  131072 1        1       10.00    4321.00\n16384  131072\n",
		map[string]float64{Connections: 4321}},
	{"netperf UDP table", "netperf", "UDP UNIDIRECTIONAL SEND TEST from 0.0.0.0 () port 0 AF_INET\nSocket  Message  Elapsed      Messages\nSize    Size     Time         Okay Errors   Throughput\nbytes   bytes    secs            #      #   10^6bits/sec\n\n212992      64   10.00     5000000      0     256.00\n212992           10.00     4000000            204.80\n",
		map[string]float64{Packets: 400000, SentPackets: 500000, Goodput: 204.8e6}},
	{"tcpbench", "tcpbench", "  elapsed_ms          bytes         mbps  bwidth\n        1000       62500000      500.000  100.00%\nConn:   1 Mbps:      500.000 Peak Mbps:      500.000 Avg Mbps:      500.000\n        2000      125000000     1000.000  100.00%\nConn:   1 Mbps:     1000.000 Peak Mbps:     1000.000 Avg Mbps:     1000.000\n",
		map[string]float64{Goodput: 750e6}},
	{"sockperf", "sockperf", "sockperf: \x1b[2;35m== version #3.7-no.git == \x1b[0m\nsockperf: [Valid Duration] RunTime=2.000 sec; SentMessages=1000; ReceivedMessages=990\nsockperf: \x1b[2;35m====> avg-latency=10.000 (std-dev=38.230)\x1b[0m\nsockperf: ---> <MAX> observation =  900.000\nsockperf: ---> percentile 99.900 =  500.000\nsockperf: ---> percentile 50.000 =    8.000\n",
		map[string]float64{Transactions: 495, LatencyMean: 20e-6, LatencyP50: 16e-6, LatencyP999: 1e-3, LatencyMax: 1.8e-3, Loss: 0.01}},
	{"sockperf --full-rtt", "sockperf", "sockperf: [Valid Duration] RunTime=2.000 sec; SentMessages=10; ReceivedMessages=10\nsockperf: ====> avg-rtt=10.000 (std-dev=1)\nsockperf: ---> percentile 50.000 =    8.000\n",
		map[string]float64{LatencyMean: 10e-6, LatencyP50: 8e-6}},
	{"ping of iputils", "ping", "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=20.0 ms\n64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=99.0 ms (DUP!)\n64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=22.0 ms\n\n--- 10.0.0.2 ping statistics ---\n4 packets transmitted, 2 received, +1 duplicates, 50% packet loss, time 3000ms\n",
		map[string]float64{Loss: 0.5, LatencyMin: 0.02, LatencyMax: 0.022, LatencyP50: 0.021}},
	{"ping without answers", "ping", "--- 192.0.2.1 ping statistics ---\n8 packets transmitted, 0 packets received, 100.0% packet loss\n", map[string]float64{Loss: 1}},
	{"fping -c", "fping", "10.0.0.2 : [0], 64 bytes, 0.500 ms (0.5 avg, 0% loss)\n10.0.0.2 : [1], timed out (NaN avg, 50% loss)\n\n10.0.0.2 : xmt/rcv/%loss = 2/1/50%, min/avg/max = 0.50/0.50/0.50\n",
		map[string]float64{Loss: 0.5, LatencyP50: 0.5e-3}},
	{"fping -q", "fping", "10.0.0.2 : xmt/rcv/%loss = 4/4/0%, min/avg/max = 1.00/2.00/3.00\n", map[string]float64{Loss: 0, LatencyMean: 2e-3, LatencyMax: 3e-3}},
	{"fping -C", "fping", "10.0.0.2 : 1.00 - 3.00\n", map[string]float64{LatencyP50: 2e-3, Loss: 1.0 / 3}},
}

func TestParseOutput(t *testing.T) {
	for _, o := range slices.Concat(outputs, forms) {
		t.Run(o.name, func(t *testing.T) {
			r, err := ParseOutput(o.tool, []byte(o.text))
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range o.want {
				got, there := r.Metrics[name]
				if want == absent && name != "retrans" {
					if there {
						t.Errorf("%s: %g, although the output does not tell it", name, got)
					}
					continue
				}
				switch name {
				case "warnings":
					got = float64(len(r.Warnings))
				case "retrans":
					got = float64(r.Retransmits)
				case "rtt":
					got = r.MeanRTT
				}
				if math.Abs(got-want) > 1e-9*math.Max(1, want) && math.Abs(got-want) > 1e-6*want {
					t.Errorf("%s: %g, want %g", name, got, want)
				}
			}
			if strings.HasPrefix(o.name, "netperf -P 0") { // nor do rows of numbers
				return
			}
			if strings.HasPrefix(o.name, "fping -C") && !strings.Contains(o.text, "bytes") {
				return // one line of times says nothing of its program
			}
			if got := DetectTool([]byte(o.text)); got != o.tool && o.name != "netperf crr table" {
				t.Errorf("taken for %q", got)
			}
		})
	}
}

func TestParseOutputRefuses(t *testing.T) {
	for _, tool := range ParsedTools() {
		for _, bad := range []string{"", "command not found", "Segmentation fault", "0 0 0", strings.Repeat("x", 1<<16), "\x00\xff\xfe"} {
			if r, err := ParseOutput(tool, []byte(bad)); err == nil {
				t.Errorf("%s: %q gives %+v", tool, clip(bad, 20), r.Metrics)
			}
		}
	}
	if _, err := ParseOutput("wrq", nil); err == nil || !strings.Contains(err.Error(), "wrk") {
		t.Errorf("unknown tool: %v", err)
	}
}

// TestCutOutput cuts every output at every line: what is left is an error or
// has sound numbers.
func TestCutOutput(t *testing.T) {
	for _, o := range slices.Concat(outputs, forms) {
		for i := range o.text {
			r, err := ParseOutput(o.tool, []byte(o.text[:i]))
			sound(t, r, err)
		}
	}
}

func sound(t *testing.T, r Run, err error) {
	t.Helper()
	if err != nil {
		return
	}
	for name, v := range r.Metrics {
		if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("%s: %s %g", r.Tool, name, v)
		}
	}
}

func FuzzParseOutput(f *testing.F) {
	for _, o := range slices.Concat(outputs, forms) {
		f.Add(o.tool, []byte(o.text))
	}
	f.Add("iperf3", []byte(fixture))
	f.Add("netperf", []byte(`[["AF_INET","Throughput,Throughput Units","1,Trans/s"]]`))
	f.Fuzz(func(t *testing.T, tool string, data []byte) {
		r, err := ParseOutput(tool, data)
		sound(t, r, err)
		DetectTool(data)
	})
}

// ssOutput is in the form of ss -tinHOm of iproute2 6, numbers invented.
const ssOutput = `ESTAB 0 3571430 10.0.0.1:38240 10.0.0.2:5201 skmem:(r4096,rb131072,t0,tb4194304,f4096,w8192,o0,bl0,d0) ts sack cubic wscale:10,10 rto:204 rtt:20.5/0.076 mss:1448 cwnd:16 bytes_sent:1475254220 bytes_retrans:71521 bytes_acked:1 segs_out:2 send 95248000000bps lastrcv:612 pacing_rate 83649249112bps delivery_rate 65483000bps delivered:23814 busy:1000ms rwnd_limited:700ms(70.0%) sndbuf_limited:100ms(10.0%) unacked:4 retrans:0/52 minrtt:20
ESTAB 0 0 10.0.0.1:22 10.0.0.9:50000 skmem:(r0,rb1,t0,tb1,f0,w0,o0,bl0,d0) cubic rtt:1/1 bytes_sent:99
LISTEN 0 128 0.0.0.0:5201 0.0.0.0:*
`

func TestParseFlows(t *testing.T) {
	flows, held := parseFlows(ssOutput, 5201)
	if len(flows) != 1 || held != 4096+4096+8192 {
		t.Fatalf("%d flows, %d bytes", len(flows), held)
	}
	f := flows[0]
	if f.Congestion != "cubic" || f.RTT != 0.0205 || f.MinRTT != 0.02 || f.Retransmitted != 52 || f.Busy != 1 || f.RwndLimited != 0.7 || f.Limit != "receiver" || f.Delivery != 65483000 || f.Cwnd != 16 {
		t.Errorf("%+v", f)
	}
}

func FuzzParseFlows(f *testing.F) {
	f.Add([]byte(ssOutput))
	f.Fuzz(func(t *testing.T, data []byte) {
		flows, _ := parseFlows(string(data), 5201)
		for _, f := range flows {
			if !(f.RTT >= 0 && f.Queue() >= 0 && f.Busy >= 0) {
				t.Fatalf("%+v", f)
			}
		}
	})
}

func TestCounters(t *testing.T) {
	s := snapshot{counters: map[string]int64{}}
	s.count("Tcp: RetransSegs\nTcp: 9\n", "TcpExt: SyncookiesSent TCPMemoryPressures ListenDrops\nTcpExt: 5 3 7\n",
		"0050667f 00000002 0000000b 00000000 00000000 00000000 00000000 00000000 00000000\n"+
			"00000001 00000001 00000001 00000000 00000000 00000000 00000000 00000000 00000000\n",
		"Inter-| x\n  lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n")
	want := map[string]int64{"TcpExt.TCPMemoryPressures": 3, "TcpExt.ListenDrops": 7, "Tcp.RetransSegs": 9,
		"softnet.dropped": 3, "softnet.squeezed": 12, "dev.lo.rx_dropped": 4, "dev.lo.tx_dropped": 12}
	if !maps.Equal(s.counters, want) {
		t.Errorf("%v, want %v", s.counters, want)
	}
	if got := tcpPages("sockets: used 2\nTCP: inuse 1 orphan 0 tw 0 alloc 4 mem 279\nUDP: inuse 0 mem 5\n"); got != 279 {
		t.Errorf("memory %d", got)
	}
}

func TestDisturbance(t *testing.T) {
	limits := func(most, own int64) *Kernel {
		return &Kernel{Memory: &TCPMemory{Most: most, Own: own, Low: 1000, Pressure: 1300, High: 2000}, Counters: map[string]int64{}}
	}
	held := limits(1100, 10)
	held.Flows = []Flow{{Sent: 1, Busy: 1, RwndLimited: 0.9}}
	for name, c := range map[string]struct {
		kernel *Kernel
		lost   bool
	}{
		"quiet": {limits(20, 10), false}, "others": {limits(1400, 10), true}, "own": {limits(1400, 1390), false},
		"between the limits": {limits(1100, 10), false}, "left over": {held, true}, "not known": {nil, false},
	} {
		if why := (Run{ServerKernel: c.kernel}).disturbance(); (why != "") != c.lost {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestCaptures reads outputs that other projects keep.
func TestCaptures(t *testing.T) {
	dir := os.Getenv("WIRERATE_CAPTURES")
	if dir == "" {
		t.Skip("WIRERATE_CAPTURES names no folder of captures")
	}
	files, err := filepath.Glob(filepath.Join(dir, "tools", "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no outputs of tools there: ", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tool := DetectTool(data)
		if want := filepath.Base(filepath.Dir(file)); tool != want {
			t.Errorf("%s: taken for %q", filepath.Base(file), tool)
			continue
		}
		r, err := ParseOutput(tool, data)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
		t.Log(filepath.Base(file), r.Metrics)
	}
}

// TestToolErrors: what tools print when nothing was measured is an error that
// shows it, never a number.
func TestToolErrors(t *testing.T) {
	for _, c := range []struct{ tool, text, want string }{
		{"iperf3", `{"start":{},"intervals":[],"end":{},"error":"error - unable to connect to server: Connection refused"}`, "unable to connect"},
		{"iperf3", `{"error":"error - the server is busy running a test. try again later"}`, "server is busy"},
		{"iperf3", "iperf3: error - unable to send control message: Bad file descriptor\n", "unable to send control message"},
		{"iperf3", `{"event":"start","data":{}}` + "\n" + `{"event":"error","data":"unable to receive results"}` + "\n" + `{"event":"end","data":{}}`, "unable to receive"},
		{"iperf3", `{"event":"start","data":{}}` + "\n" + `{"event":"interval","data":{}}`, "cut short"},
		{"iperf3", "iperf3: parameter error - only one test end condition (-t, -n, -k) may be specified\n\nUsage: iperf3 [-s|-c host]\n", "only one test end condition"},
		{"iperf", "connect failed: Connection refused\n", "connect failed"},
		{"netperf", "establish control: are you sure there is a netserver listening on 10.0.0.2 at port 12865?\n", "are you sure"},
		{"nuttcp", "nuttcp-t: v8.2.2: Error: server not ACKing data\n", "server not ACKing"},
		{"wrk", "unable to connect to 10.0.0.2:80 Connection refused\n", "unable to connect"},
		{"ab", "apr_socket_recv: Connection refused (111)\n", "Connection refused"},
		{"h2load", "starting benchmark...\nspawning thread #0: 1 total client(s). 1 total requests\n", "did not end"},
		{"sockperf", "sockperf: ERROR: Message received was larger than expected, message ignored\n", "no result"},
		{"ping", "ping: connect: Network is unreachable\n", "cut short"},
		{"fping", "10.0.0.2: Name or service not known\n", "Name or service"},
		{"tcpbench", "tcpbench: connect: Connection refused\n", "Connection refused"},
	} {
		if run, err := ParseOutput(c.tool, []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %q: %v, %v", c.tool, c.text, run.Metrics, err)
		}
	}
}

// TestResponsiveness has the formula's own numbers: equal times of 100 ms are
// 600 round trips a minute; a loaded connection of 1 s beside idle ones takes
// the mean of both rates.
func TestResponsiveness(t *testing.T) {
	tenth, whole := []float64{0.1, 0.1, 0.1}, []float64{1, 1, 1}
	for _, c := range []struct {
		handshakes, exchanges, self []float64
		want                        float64
	}{{tenth, tenth, tenth, 600}, {tenth, tenth, whole, 330}, {tenth, whole, whole, (60/0.55 + 60) / 2}, {tenth, tenth, nil, 600}} {
		if got := responsiveness(c.handshakes, c.exchanges, c.self); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%v %v %v: %g, want %g", c.handshakes, c.exchanges, c.self, got, c.want)
		}
	}
}
