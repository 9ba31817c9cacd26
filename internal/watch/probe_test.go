package watch

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// However probes are divided into states, their sum is the same: all that counts
// is kept, and percentiles are within a bin of the values.
func TestProbesMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Uint64Range(1, 5_000_000), 1, 200).Draw(t, "values")
		var sum []Probe
		for i := 0; i < len(values); {
			n := rapid.IntRange(0, 7).Draw(t, "n")
			one := Probe{Target: "icmp:192.0.2.1", Lost: 1}
			for _, v := range values[i:min(i+n, len(values))] {
				one.Answer(v)
			}
			before := slices.Clone(one.Bins)
			sum = MergeProbes(sum, []Probe{one})
			if !slices.Equal(before, one.Bins) {
				t.Fatal("what is added is changed")
			}
			i += n
		}
		sum = MergeProbes(sum, []Probe{{Target: "tcp:a:1"}})
		slices.Sort(values)
		p := sum[0]
		if len(sum) != 2 || p.Answered != uint64(len(values)) || p.Lost == 0 || p.Bins[0].Count == 0 {
			t.Fatalf("%+v", sum)
		}
		for _, q := range []float64{0.01, 0.5, 0.9, 1} {
			exact := float64(values[max(0, int(float64(len(values))*q+0.999999)-1)]) / 1000
			if got := p.Quantile(q); got > exact || got < 0.99*exact-0.001 {
				t.Fatalf("quantile %g: %g ms, of the values %g", q, got, exact)
			}
		}
	})
}

func TestSwitchMerge(t *testing.T) {
	first := map[string]uint64{"in_errors": 1, "in_bytes": 5}
	all := MergeSwitch(nil, []SwitchPort{{Switch: "s", Port: "1", Seconds: 5, Counts: first}, {Switch: "s", Port: "2"}})
	all = MergeSwitch(all, []SwitchPort{{Switch: "s", Port: "1", Error: "no answer"}})
	all = MergeSwitch(all, []SwitchPort{{Switch: "s", Port: "1", Seconds: 5, Counts: map[string]uint64{"in_errors": 2}, Speed: 1e9}})
	p := all[0]
	if len(all) != 2 || p.Seconds != 10 || p.Counts["in_errors"] != 3 || p.Counts["in_bytes"] != 5 || p.Speed != 1e9 ||
		p.Error != "no answer" || first["in_errors"] != 1 {
		t.Errorf("%+v, of %v", all, first)
	}
}
