package kerneltext

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

const netstat = "TcpExt: SyncookiesSent ListenDrops\nTcpExt: 5 7\nTcp: MaxConn\nTcp: -1\n"

func TestTables(t *testing.T) {
	var got []Value
	if err := Tables(netstat, func(v Value) { got = append(got, v) }); err != nil {
		t.Fatal(err)
	}
	want := []Value{{"TcpExt", "SyncookiesSent", "5", 2}, {"TcpExt", "ListenDrops", "7", 2}, {"Tcp", "MaxConn", "-1", 4}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for text, line := range map[string]int{"Tcp: A B\nTcp: 1\nUdp: C\nUdp: 2\n": 2, "": 0, "no table\n": 0,
		"Tcp: A\n": 0} {
		var damaged *Error
		if err := Tables(text, func(Value) {}); err == nil || errors.As(err, &damaged) && damaged.Line != line {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSoftnetStat(t *testing.T) {
	const line = "00000010 0000000a 00000002 00000000 00000000 00000000 00000000 00000000 00000000"
	got, err := SoftnetStat(line + "\n" + line + " 00000005 00000000 00000000 00000007\n")
	want := []Softnet{{0, 16, 10, 2, 0, 1}, {7, 16, 10, 2, 5, 2}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := SoftnetStat(line + "\n" + line[:len(line)-2]); err == nil || len(got) != 1 {
		t.Errorf("a line that is cut: %v, %v", got, err)
	}
}

func TestStat(t *testing.T) {
	got, err := Stat("cpu  1 2 3 4 5 6 7 8 9 10\ncpu3 1 2 3 4 5 6 7\nintr 1\n")
	want := []CPU{{AllCPUs, []uint64{1, 2, 3, 4, 5, 6, 7, 8}, 1}, {3, []uint64{1, 2, 3, 4, 5, 6, 7}, 2}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Stat("cpu NaN 0 0 0 0 0 0 0\n"); err == nil {
		t.Error("no number is no error")
	}
}

// ss is in the form of iproute2 from 3 to 6, numbers invented.
const ss = `Netid State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process
tcp   ESTAB  0      14480  192.0.2.1:22       192.0.2.2:5000    users:(("sshd",pid=1,fd=3))
	 ts sack cubic wscale:7,9 rto:204 rtt:20.5/0.1 mss:1448 cwnd:10 send 5.6Mbps pacing_rate 1.5Gbps/2Gbps delivery_rate 800bps
	 busy:1000ms rwnd_limited:700ms(70.0%) retrans:0/52 minrtt:20 skmem:(r4096,rb131072,t0,tb4194304,f4096,w8192)
tcp   LISTEN 129    128    0.0.0.0:80         0.0.0.0:*
udp   UNCONN 213000 0      0.0.0.0:53         0.0.0.0:*         users:(("named",pid=2,fd=5))
u_str ESTAB  0      0      * 1                * 2
`

func TestSockets(t *testing.T) {
	var all []Socket
	if err := Sockets(ss, func(s Socket) { all = append(all, s) }); err != nil || len(all) != 3 {
		t.Fatalf("%v, %v", all, err)
	}
	first := all[0]
	for name, want := range map[string]float64{"rtt": 20.5, "rttvar": 0.1, "wscale_receive": 9, "send": 5.6e6,
		"pacing_rate": 1.5e9, "delivery_rate": 800, "busy": 1000, "rwnd_limited": 0.7, "rwnd_limited_ms": 700,
		"retrans_total": 52, "skmem_rb": 131072} {
		if math.Abs(first.Values[name]-want) > 1e-9*want {
			t.Errorf("%s: %g, want %g", name, first.Values[name], want)
		}
	}
	if first.Line != 2 || first.Send != 14480 || !reflect.DeepEqual(first.Words, []string{"ts", "sack", "cubic"}) {
		t.Errorf("%+v", first)
	}
	if all[1].State != Listening || all[1].Recv != 129 || all[2].State != Unconnected || all[2].Rest == "" ||
		all[2].Line != 6 {
		t.Errorf("%+v", all[1:])
	}
	for text, known := range map[string]bool{"Recv-Q Send-Q Local Peer\n0 0 a b\n": true, "ESTAB x 0 a b\n": false,
		"": false} {
		if err := Sockets(text, func(Socket) {}); (err == nil) != known {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseIperfLine(t *testing.T) {
	for line, want := range map[string]IperfLine{
		"[  5]   0.00-1.00   sec  1.50 MBytes  12.6 Mbits/sec    3    127 KBytes       ": {Stream: "5", To: 1,
			Bytes: 1.5 * (1 << 20),
			BPS:   12.6e6, Again: 3, Window: 127 << 10, Lost: -1, Sent: -1},
		"[SUM][RX-S]   0.00-10.00  sec  1.00 GBytes   100 MBytes/sec   42             sender": {Stream: "SUM", Way: "RX-S",
			To:    10,
			Bytes: 1 << 30, BPS: 8 * 100 * (1 << 20), Again: 42, Window: -1, Lost: -1, Sent: -1, Role: "sender"},
		"[  6]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec  0.040 ms  6/906 (0.66%)  receiver": {Stream: "6", To: 10,
			Bytes: 1.25 * (1 << 20), BPS: 1.05e6, Again: -1, Window: -1, Lost: 6, Sent: 906, Role: "receiver"},
		"[  5]   0.00-1.00   sec   129 KBytes  1.05 Mbits/sec  91  (omitted)": {Stream: "5", To: 1, Bytes: 129 << 10,
			BPS:   1.05e6,
			Again: -1, Window: -1, Lost: -1, Sent: -1, Omitted: true},
		"[  3]  9.0-10.0 sec  1.50 MBytes  **12.6 Mbits/sec**": {Stream: "3", From: 9, To: 10, Bytes: 1.5 * (1 << 20), BPS: 12.6e6,
			Again: -1, Window: -1, Lost: -1, Sent: -1},
		"[SUM]  0.0- 1.0 sec  1.00 GBytes  8.82 Gbits/sec": {Stream: "SUM", To: 1, Bytes: 1 << 30, BPS: 8.82e9,
			Again: -1, Window: -1, Lost: -1, Sent: -1},
	} {
		got, ok := ParseIperfLine(line)
		if math.Abs(got.BPS-want.BPS) < 1 { // a sum of products
			got.BPS = want.BPS
		}
		if !ok || got != want {
			t.Errorf("%s\n%+v, want\n%+v", line, got, want)
		}
	}
	if _, ok := ParseIperfLine("[ ID] Interval           Transfer     Bitrate"); ok {
		t.Error("a heading is no interval")
	}
}

func TestParseIperf3(t *testing.T) {
	const good = `{"intervals":[{"sum":{"bits_per_second":5}}],"end":{"sum_received":{"bits_per_second":7}}}`
	got, err := ParseIperf3([]byte(good))
	if err != nil || got.End.SumReceived.BitsPerS != 7 || len(got.Intervals) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{good[:20]: "cut short", "": "cut short", "iperf3: error": "not the JSON"} {
		if _, err := ParseIperf3([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if all := Iperf3Documents([]byte(good + "\n" + good + good[:9])); len(all) != 3 {
		t.Errorf("%d documents", len(all))
	}
}

func TestStatColumns(t *testing.T) {
	for text, want := range map[string]string{
		"entries found drop\n0000000c 00000001 00000010\n0000000c 0 00000001\n": "[entries found drop] [12 1 17] <nil>",
		"entries found\n":          "[] [] nothing in it is understood",
		"":                         "[] [] nothing in it is understood",
		"a b\n1\n":                 "[] [] 1 numbers for 2 names",
		"a\nx\n":                   `[] [] "x" is not a hexadecimal number`,
		"a\n\n1\n":                 "[a] [1] <nil>",
		"a\n1 2\nffffffffffffff\n": "[a] [72057594037927936] <nil>",
	} {
		names, sums, err := StatColumns(text)
		if got := fmt.Sprint(names, sums, err); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func FuzzTexts(f *testing.F) {
	for _, seed := range []string{netstat, ss, "TCP: inuse 1 mem 279\n", "lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
		"cpu  100 0 100 800 0 0 0 0\n", "00000010 0000000a 00000002 00000000 00000000 00000000 00000000 00000000 00000000\n",
		"[  5]   0.00-1.00   sec  1.50 MBytes  12.6 Mbits/sec    3    127 KBytes", `{"event":"end","data":{}}`,
		"entries drop\n00000001 0000000a\n00000001 00000000\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_ = Tables(s, func(Value) {})
		_ = Sockstat(s, func(Value) {})
		_ = Devices(s, func(int, string, []string) {})
		_, _ = Stat(s)
		if names, sums, _ := StatColumns(s); len(names) != len(sums) {
			t.Errorf("%q: %d numbers", names, len(sums))
		}
		if all, _ := SoftnetStat(s); len(all) > 0 && all[0].CPU < 0 {
			t.Errorf("processor %d", all[0].CPU)
		}
		_ = Sockets(s, func(k Socket) {
			for name, v := range k.Values {
				if !(v >= 0) {
					t.Errorf("%s: %g", name, v)
				}
			}
		})
		if l, ok := ParseIperfLine(s); ok && !(l.BPS >= 0 && l.Bytes >= 0) {
			t.Errorf("%+v", l)
		}
		for _, one := range Iperf3Documents([]byte(s)) {
			_, _ = ParseIperf3(one)
		}
	})
}

func TestPortRange(t *testing.T) {
	if first, last, err := PortRange("32768\t60999\n"); first != 32768 || last != 60999 || err != nil {
		t.Errorf("%d to %d, %v", first, last, err)
	}
	for _, text := range []string{"", "32768", "60999 32768", "0 10", "1 65536", "a b", "1 2 3"} {
		if _, _, err := PortRange(text); err == nil {
			t.Errorf("%q passes", text)
		}
	}
}
