package facts

import "testing"

// TestPingForms reads answers and summaries of several pings.
func TestPingForms(t *testing.T) {
	for _, c := range []struct {
		text           string
		peer           string
		sent, answered int
		least, longest float64
	}{
		{"Pinging example.net [192.0.2.9] with 32 bytes of data:\nReply from 192.0.2.9: bytes=32 time=12ms TTL=57\n" +
			"Request timed out.\nReply from 192.0.2.9: bytes=32 time<1ms TTL=57\n", "example.net", 3, 2, 0.001, 0.012},
		{"Ping statistics for 192.0.2.9:\n    Packets: Sent = 50, Received = 40, Lost = 10 (20% loss),\n" +
			"    Minimum = 6ms, Maximum = 121ms, Average = 11ms\n", "192.0.2.9", 50, 40, 0.006, 0.121},
		{"64 bytes from 192.0.2.9: icmp_seq=7 ttl=64 time=2.00 ms\n64 bytes from 192.0.2.9: icmp_seq=9 ttl=64 time=4.00 ms\n" +
			"...\n64 bytes from 192.0.2.9: icmp_seq=40 ttl=64 time=3.00 ms\n", "192.0.2.9", 4, 3, 0.002, 0.004},
		{"64 bytes from 192.0.2.9: icmp_seq=0 ttl=60 time=9.00 ms\nRequest timeout for icmp_seq 1\nRequest timeout for icmp_seq 2\n" +
			"64 bytes from 192.0.2.9: icmp_seq=2 ttl=60 time=1500 ms\n64 bytes from 192.0.2.9: icmp_seq=3 ttl=60 time=600 ms\n" +
			"64 bytes from 192.0.2.9: icmp_seq=5 ttl=60 time=8.00 ms\n64 bytes from 192.0.2.9: icmp_seq=4 ttl=60 time=1100 ms\n",
			"192.0.2.9", 6, 5, 0.008, 1.5},
		{"64 bytes from pi (2001:db8::9): icmp_seq=1 ttl=64 time=2.00 ms\n", "2001:db8::9", 1, 1, 0.002, 0.002},
	} {
		f, err := FromTexts("posted", map[string]string{"uname -a": "Linux a 6.12.9 #1 SMP x86_64 GNU/Linux\n", "ping": c.text}, 0)
		if err != nil || len(f.Pings) != 1 {
			t.Fatalf("%q: %v, %+v", c.text, err, f)
		}
		p := f.Pings[0]
		if p.Peer != c.peer || p.Sent != c.sent || p.Answered != c.answered || p.Min != c.least || p.Max != c.longest {
			t.Errorf("%q: %+v", c.text, p)
		}
	}
}

// TestTraceForms reads the rows of WinMTR, traceroute and tracert.
func TestTraceForms(t *testing.T) {
	for _, c := range []struct {
		text string
		want Hop
	}{
		{"|   198.51.100.7 -   12 |  300 |  264 |   11 |   15 |   60 |   14 |\n",
			Hop{Number: 1, Name: "198.51.100.7", Loss: 0.12, Sent: 300, Mean: 0.015, Best: 0.011, Worst: 0.060}},
		{" 4  gw.example (198.51.100.7)  1.000 ms  2.000 ms * *\n",
			Hop{Number: 4, Name: "gw.example (198.51.100.7)", Loss: 0.5, Sent: 4, Mean: 0.0015, Best: 0.001, Worst: 0.002}},
		{"  3     4 ms    <2 ms     6 ms  gw.example [198.51.100.7]\n",
			Hop{Number: 3, Name: "gw.example [198.51.100.7]", Sent: 3, Mean: 0.004, Best: 0.002, Worst: 0.006}},
	} {
		f, err := FromTexts("posted", map[string]string{"uname -a": "Linux a 6.12.9 #1 SMP x86_64 GNU/Linux\n", "mtr": c.text}, 0)
		if err != nil || len(f.Traces) != 1 {
			t.Fatalf("%q: %v", c.text, err)
		}
		got := f.Traces[0].Hops[0]
		got.Source = Source{}
		if got != c.want {
			t.Errorf("%q: %+v, not %+v", c.text, got, c.want)
		}
	}
}
