package transcript

import (
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/units"
)

func TestToldPath(t *testing.T) {
	for _, c := range []struct {
		said string
		rate units.Rate
		rtt  time.Duration
	}{
		{"We have a 100 Mbit line, 80 ms RTT to the other office.", 100 * units.Mbit, 80 * time.Millisecond},
		{"Both sites are on 1G fibre and ping is 12.5ms between them", units.Gbit, 12500 * time.Microsecond},
		{"a 10 Gbps link with latency of about 150 ms", 10 * units.Gbit, 150 * time.Millisecond},
		{"my internet connection is 500Mbps", 500 * units.Mbit, 0},
		{"the server has a 2.5GbE connection", 2500 * units.Mbit, 0},
		{"the RTT between the two hosts is 35ms", 0, 35 * time.Millisecond},
		{"The RTT between any two of our sites is over >150ms.", 0, 150 * time.Millisecond},
		{"latency: approximately 70 ms", 0, 70 * time.Millisecond},
		{"I get 30 MB/s over this link", 0, 0},
		{"it takes 40 ms to start", 0, 0},
		{"our 10 year old line drops 80 msgs", 0, 0},
		{"[  5]   0.00-1.00   sec  100 Mbit link", 0, 0},
		{"A link of 1 Gbit. Later: the line is 100 Mbit.", units.Gbit, 0},
		{"A 1 Gbit link here.\nThere a 100 Mbit link too.", 0, 0}, // which of them is meant is not known
	} {
		p, err := LoadSession(c.said + "\n\n$ uname -a\nLinux a 6.1.0 #1 SMP x86_64 GNU/Linux\n")
		if err != nil {
			t.Fatal(err)
		}
		f, err := p.Facts("post")
		if err != nil {
			t.Fatal(err)
		}
		if f.Told.Rate != c.rate || f.Told.RTT != c.rtt {
			t.Errorf("%q: %v, %v; want %v, %v", c.said, f.Told.Rate, f.Told.RTT, c.rate, c.rtt)
		}
		if f.Told.Rate > 0 && f.Told.RateSource.Line != 1 {
			t.Errorf("%q: line %d", c.said, f.Told.RateSource.Line)
		}
	}
}
