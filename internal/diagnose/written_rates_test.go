package diagnose

import (
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
)

// TestWrittenRates holds that a rate in a file is worth a line, a warning where it was reached, and nothing where a test
// was far faster.
func TestWrittenRates(t *testing.T) {
	const line = "altq on em1 cbq bandwidth 3Mb queue { bulk, ssh }\n"
	for _, c := range []struct {
		name, rest string
		tested     float64 // bit/s
		want       []Severity
	}{
		{"alone", line, 0, []Severity{Info}},
		{"reached", line, 2.8e6, []Severity{Warning}},
		{"far exceeded", line, 937e6, nil},
		{"only spoken of", "The link can do 900 Mbit/s.\n" + line, 0, []Severity{Info}},
	} {
		f := &facts.Facts{Rest: c.rest}
		if c.tested > 0 {
			f.Receipts = []facts.Transfer{{Bytes: c.tested, Seconds: 8}}
		}
		var got []Severity
		for _, w := range WrittenRates(f) {
			got = append(got, w.Severity)
		}
		if len(got) != len(c.want) || len(got) > 0 && got[0] != c.want[0] {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
