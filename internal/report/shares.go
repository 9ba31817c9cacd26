package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Shares writes each setting's share of what an arm does, and what was found
// beside it.
func Shares(to Screen, r Result) {
	if r.Effect != nil {
		to.Printf("all of it: %s x%.3f (%.3f to %.3f)\n", r.Effect.Metric, r.Effect.Ratio, r.Effect.Low, r.Effect.High)
	}
	to.Printf("%-44s %8s  %-18s %s\n", "setting", "share", "interval", "verdict")
	for _, s := range r.Shares {
		interval := "not measured"
		if s.Low > 0 {
			interval = fmt.Sprintf("%.3f to %.3f", s.Low, s.High)
		}
		verdict := because(s)
		if !s.Kept {
			verdict = "dropped: " + verdict
		}
		to.Wrap(fmt.Sprintf("%-44s %8.3f  %-18s ", s.Setting, s.Ratio, interval), "    ", verdict)
	}
	if a := r.Attribution; a != nil {
		for _, i := range a.Interactions {
			to.Wrap("together: ", "  ", i)
		}
		if a.SumOfShares != nil && a.Measured != nil {
			to.Printf("lack of fit: the single effects make x%.3f, measured was x%.3f (p %.2g)\n",
				a.SumOfShares.Ratio, a.Measured.Ratio, a.FitP)
		}
		to.Printf("%d runs, %d lost\n", a.Runs, a.Lost)
	}
	for _, w := range r.Warnings {
		to.Wrap("! ", "  ", w)
	}
}

// because is why a setting was kept or dropped.
func because(s Share) string { return cmp.Or(s.Because, s.Verdict.Words()) }

// Dropped says why a setting was dropped, with its share.
func Dropped(s Share) string {
	return fmt.Sprintf("%s (%.3f, %.3f to %.3f)", because(s), s.Ratio, s.Low, s.High)
}

// Minimal writes the file of one host after an attribution of arm: the settings
// that earn their place as lines, the others as comments with their intervals.
// It is empty where the arm sets nothing.
func Minimal(r Result, arm string, values map[string]string) string {
	shares := map[string]Share{}
	for _, share := range r.Shares {
		shares[share.Setting] = share
	}
	var kept, dropped strings.Builder
	for _, name := range slices.Sorted(maps.Keys(values)) {
		share, tried := shares[name]
		line := name + " = " + values[name]
		if strings.HasPrefix(name, "firewall:") {
			line = "# " + name + ": not a line of this file; see the arm's firewall:"
		}
		switch {
		case !tried:
			fmt.Fprintf(&dropped, "# the same value as before\n#%s\n", line)
		case share.Kept:
			fmt.Fprintf(&kept, "# x%.3f (%.3f to %.3f)\n%s\n", share.Ratio, share.Low, share.High, line)
		default:
			fmt.Fprintf(&dropped, "# %s\n#%s\n", Dropped(share), line)
		}
	}
	if kept.Len()+dropped.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("# the settings of %s that help %s\n# reproduce with: %s --seed %d\n%s%s", arm, r.Workload,
		r.Command, r.Seed, kept.String(), dropped.String())
}
