package facts

import (
	"testing"
)

// TestRequests reads the times of requests in each of the forms; curl counts all of them from the start of the request.
func TestRequests(t *testing.T) {
	tests := []struct {
		name, text                     string
		lookup, queue, connect, answer float64
		requests                       int
	}{
		{"curl", "time_namelookup: 3.5\n time_connect:  4.5\ntime_total: 4.75\n", 3.5, -1, 1, -1, 1},
		{"milliseconds", "time_namelookup: 3500 ms\ntime_connect: 4500 ms\ntime_total: 4750 ms\n", 3.5, -1, 1, -1, 1},
		{"comma", "time_namelookup: 3,5\ntime_connect: 4,5\n", 3.5, -1, 1, -1, 1},
		{"two", "time_namelookup: 3.5\ntime_connect: 4.5\ntime_namelookup: 0.1\ntime_connect: 0.2\n", 3.5, -1, 1, -1, 2},
		{"dig", ";; Query time: 5012 msec\n", 5.012, -1, -1, -1, 1},
		{"HTTP log", "haproxy[1]: 192.0.2.1:1 [07/Sep/2017:23:08:53.233] f~ b/s 0/2/555/445/+1002 200 1 \"GET /\"\n", -1, 0.002,
			0.555, 0.445, 1},
		{"TCP log", "haproxy[1]: 192.0.2.1:1 [07/Sep/2017:23:08:53.233] f b/s 2/555/1002 212 -- 0/0/0/0/3 0/0\n", -1, 0.002,
			0.555, -1, 1},
		{"not reached", "haproxy[1]: 192.0.2.1:1 [07/Sep/2017:23:08:53.233] f~ b/s 0/2/-1/-1/3002 503 1 \"GET /\"\n", -1, 0.002,
			-1, -1, 1},
		{"in one line", "time_namelookup: 0.011 time_connect: 0.099 time_appconnect: 0.0 time_starttransfer: 0.297 time_total: 0.3\n", 0.011, -1,
			0.088, 0.198, 1},
		{"JSON of curl", `{"time_appconnect":0.0,"time_connect":2.0,"time_namelookup":1.5,"time_starttransfer":3.0,"time_total":3.1}` + "\n",
			1.5, -1, 0.5, 1, 1},
		{"HAProxy without its name", "x:1 [07/Sep/2017:23:08:53.233] f~ b/s 0/2/3/-1/+1002 504 1 - - sH-- 1/1/1/0/0 0/0 \"GET /\"\n", -1,
			0.002, 0.003, -1, 1},
		{"HAProxy in JSON", `{"program":"haproxy","tr":"","termination_state":"sC","times":{"tR":1,"tw":104,"tc":-1,"tr":-1,"ta":208}}` + "\n",
			-1, 0.104, -1, -1, 1},
		{"nslookup", "Name:      a.example\nAddress 1: 192.0.2.4\nreal\t0m 10.01s\nuser\t0m 0.00s\n", 10.01, -1, -1, -1, 1},
		{"time of another program", "copied 9 files\nreal\t0m10.010s\n;; Query time: 4 msec\n", 0.004, -1, -1, -1, 1},
	}
	for _, tt := range tests {
		f := requestFacts(t, map[string]string{"curl": tt.text})
		if len(f.Requests) != tt.requests {
			t.Errorf("%s: %d requests: %+v", tt.name, len(f.Requests), f.Requests)
			continue
		}
		near := func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }
		if r := f.Requests[0]; !near(r.Lookup, tt.lookup) || !near(r.Queue, tt.queue) || !near(r.Connect, tt.connect) ||
			!near(r.Answer, tt.answer) {
			t.Errorf("%s: %+v", tt.name, r)
		}
	}
}

// TestEndStates takes the two letters of HAProxy, and none where all went well.
func TestEndStates(t *testing.T) {
	for state, want := range map[string]string{"sH--": "sH", "----": "", "sC": "sC", "--": ""} {
		f := requestFacts(t, map[string]string{"curl": "x:1 [07/Sep/2017:23:08:53.233] f b/s 2/555/1002 212 " + state + " 0/0/0/0/3 0/0\n"})
		if len(f.Requests) != 1 || f.Requests[0].State != want {
			t.Errorf("%s: %+v", state, f.Requests)
		}
	}
}

// TestXfrm adds up what the associations dropped.
func TestXfrm(t *testing.T) {
	f := requestFacts(t, map[string]string{"ip -s xfrm state": "src 192.0.2.1 dst 192.0.2.9\n\tproto esp spi 0x2(2) reqid 1(0x1) mode tunnel\n" +
		"\tlifetime current:\n\t  900(bytes), 12(packets)\n\tstats:\n\t  replay-window 3 replay 1 failed 2\n" +
		"src 192.0.2.9 dst 192.0.2.1\n\tproto esp spi 0x3(3) reqid 1(0x1) mode tunnel\n\tstats:\n\t  replay-window 5 replay 0 failed 0\n"})
	late, broken, all := f.Counters["Xfrm.XfrmInStateSeqError"], f.Counters["Xfrm.XfrmInStateProtoError"], f.Counters["Xfrm.packets"]
	if late.Value != 9 || broken.Value != 2 || all.Value != 12 {
		t.Errorf("%d, %d, %d", late.Value, broken.Value, all.Value)
	}
}

// TestScopes tells of which port a counter is.
func TestScopes(t *testing.T) {
	for text, want := range map[string]string{
		"PORT: 0 Rx: 6358 Drp: 4927 Tot: 11285\n":                                           "PORT 0",
		"vif0/7   PMD: tap\n   RX queue  packets:1668 errors:8524\n":                        "vif0/7",
		"  port  vh1: rx pkts=13, bytes=6\n     tx pkts=9133, bytes=5, drop=1833, errs=0\n": "port vh1",
		"eth0/0  1  up  9000/0/0/0  rx packets   9131\n            rx-miss    1131\n":       "eth0/0",
		"rx_packets: 9131\nrx_dropped: 1131\n":                                              "",
	} {
		f := requestFacts(t, map[string]string{OtherCounters: text})
		if len(f.LossCounts) != 1 || f.LossCounts[0].Scope != want {
			t.Errorf("%q: %+v", text, f.LossCounts)
		}
	}
}

func requestFacts(t *testing.T, texts map[string]string) *Facts {
	t.Helper()
	texts["uname -a"] = "Linux a 6.1.0 #1 SMP x86_64 GNU/Linux\n"
	f, err := FromTexts("posted", texts, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
