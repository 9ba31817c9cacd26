package transcript

import (
	"errors"
	"testing"

	"github.com/wirerate/wirerate/internal/units"
)

func TestRatesThatSomebodyGot(t *testing.T) {
	for _, c := range []struct {
		said            string
		alone, together units.Rate
	}{
		{"A copy only gets 5.6 Mbit/s here.", 5.6e6, 0},
		{"A copy only gets 3.5 MB/s here.", 28e6, 0},
		{"One stream tops out at 85 Mbps, but with 10 parallel streams I reach 840 Mbps.", 85e6, 840e6},
		{"iperf3 -P 8 reaches about 9.4 Gbit/s with it.", 0, 9.4e9},
		{"I get 30 Mbps here.\nSometimes I get 50 Mbps there.", 0, 0}, // which of them is meant is not known
		{"We should get 300 Mbps from this line.", 0, 0},
		{"The disks only reach 26 MB/s here.", 0, 0},
		{"I get 30 mb/s over this.", 0, 0}, // bits or bytes
		{"We have 40 Mbit of text.", 0, 0},
	} {
		if _, err := LoadSession(c.said); !errors.Is(err, ErrNoOutputs) {
			t.Fatalf("%q: %v", c.said, err)
		}
		all, err := ReadEach([]byte(c.said))
		if err != nil || len(all) != 1 || all[0].NoOutput == nil {
			t.Fatalf("%q: %v, %v", c.said, all, err)
		}
		f, err := all[0].Facts("post")
		if err != nil {
			t.Fatal(err)
		}
		if f.Told.Alone.Rate != c.alone || f.Told.Together.Rate != c.together {
			t.Errorf("%q: %v, %v", c.said, f.Told.Alone.Rate, f.Told.Together.Rate)
		}
	}
}
