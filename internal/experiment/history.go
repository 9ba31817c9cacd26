package experiment

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/wirerate/wirerate/internal/store"
)

// Compared are two past trials side by side.
type Compared struct {
	Schema int           `json:"schema"`
	Trials []store.Trial `json:"trials"`
	// Ratio is the effect of the second over that of the first, with limits at
	// about the confidence of the two; 0 when one of them has none.
	Ratio    float64 `json:"ratio"`
	Interval `json:"interval"`
	Differs  []string   `json:"differs"` // what else was not the same
	Effects  [2]*Effect `json:"-"`       // nil without one
}

// CompareTrials sets the effects of two past trials side by side: absolute
// numbers of different sessions do not compare.
func CompareTrials(a, b store.Trial) (Compared, error) {
	c := Compared{Schema: 2, Trials: []store.Trial{a, b}, Differs: differences(a, b)}
	for i, t := range c.Trials {
		r, err := ReadResult(t.Result)
		if err != nil {
			return c, wrongf("%s has no result to compare: it is a %s, %s", t.ID, t.Kind, t.State)
		}
		c.Effects[i] = r.Effect
	}
	if x, y := c.Effects[0], c.Effects[1]; x != nil && y != nil && x.Metric == y.Metric {
		// Half widths of independent intervals add in squares on the log scale.
		d := math.Log(y.Ratio / x.Ratio)
		half := math.Hypot(math.Log(x.High/x.Low)/2, math.Log(y.High/y.Low)/2)
		if !math.IsNaN(d) && !math.IsNaN(half) {
			exp := func(v float64) float64 { return math.Exp(min(max(v, -690), 690)) } // what JSON holds
			c.Ratio, c.Low, c.High = exp(d), exp(d-half), exp(d+half)
		}
	}
	return c, nil
}

// differences says what of two trials' circumstances was not the same.
func differences(a, b store.Trial) []string {
	out := []string{}
	for _, f := range []struct{ what, a, b string }{{"workload", a.Workload, b.Workload}, {"where", a.Where, b.Where},
		{"metric", a.Metric, b.Metric}} {
		if f.a != f.b {
			out = append(out, fmt.Sprintf("%s: %s, then %s", f.what, f.a, f.b))
		}
	}
	var x, y map[string]environment
	if json.Unmarshal(a.Environment, &x) != nil || json.Unmarshal(b.Environment, &y) != nil {
		return append(out, "the environment of one is not known")
	}
	for _, name := range []string{"client", "server"} {
		if x[name].Host.Release != y[name].Host.Release {
			out = append(out, fmt.Sprintf("%s release: %s, then %s", name, x[name].Host.Release, y[name].Host.Release))
		}
		n := 0
		for setting, v := range x[name].Settings {
			if w, ok := y[name].Settings[setting]; ok && w != v && strings.HasPrefix(setting, "net.") {
				n++
			}
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%s: %d running net settings", name, n))
		}
	}
	return out
}
