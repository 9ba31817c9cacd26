package report

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/compare"
)

// Compared writes a file beside a plan: the counts, then the lines by verdict,
// what is to be mended first.
func Compared(to Screen, c compare.Comparison) {
	var summary []string
	for _, v := range compare.Verdicts() {
		if n := c.Counts[v]; n > 0 {
			summary = append(summary, fmt.Sprintf("%d %s", n, verdictWords(v)))
		}
	}
	to.Wrap("", "  ", fmt.Sprintf("%s: %s", plural(len(c.Lines), "line", "lines"), strings.Join(summary, ", ")))
	for _, v := range compare.Verdicts() {
		var services []string
		if c.Counts[v] > 0 {
			to.Printf("\n%s\n", comparedHeading(v))
		}
		for _, l := range c.Lines {
			switch {
			case l.Verdict != v:
			case l.Service:
				services = append(services, fmt.Sprintf("%d %s", l.Line, l.Setting))
			default:
				comparedLine(to, c.File, l)
			}
		}
		if len(services) > 0 {
			to.Wrap("", "  ", fmt.Sprintf("%s: daemons and their options, which a plan does not decide, by line: %s", c.File,
				strings.Join(services, ", ")))
		}
		if v == compare.Missing {
			for _, m := range c.Missing {
				to.Wrap("", "  ", fmt.Sprintf("missing: %s = %s", m.Setting, m.Planned))
				to.Wrap("  ", "  ", m.Because)
			}
		}
	}
	if len(c.Elsewhere) > 0 {
		to.Printf("\n")
		to.Wrap("", "  ", "not for a file of this kind, but planned too: "+strings.Join(c.Elsewhere, ", "))
	}
}

func comparedLine(to Screen, file string, l compare.Line) {
	assigned := " = " + l.Value
	if l.Value == "" {
		assigned = ""
	}
	to.Wrap("", "  ", fmt.Sprintf("%s:%d: %s%s", file, l.Line, l.Setting, assigned))
	about := verdictWords(l.Verdict) + ": "
	switch l.Verdict {
	case compare.Same:
		about = "as planned. "
	case compare.OtherValue:
		about = fmt.Sprintf("the plan has %s. ", l.Planned)
	}
	to.Wrap("  ", "  ", about+l.Because)
}

func verdictWords(v compare.Verdict) string { return strings.ReplaceAll(string(v), "-", " ") }

func comparedHeading(v compare.Verdict) string {
	return map[compare.Verdict]string{
		compare.Harmful:    "Harmful",
		compare.Refuted:    "Refuted: measured to do nothing for what guides set it for, or harm",
		compare.Dead:       "Dead: the system does not take it, or it does nothing",
		compare.OtherValue: "Other value than the plan's",
		compare.Missing:    "Missing: planned, and not in the file",
		compare.NotDecided: "Not decided: something is not known",
		compare.NotNeeded:  "Not needed here",
		compare.Unknown:    "Unknown to the catalog",
		compare.Left:       "Left alone: no plan decides it",
		compare.Already:    "Fine: already the default or what the path needs",
		compare.Same:       "Fine: as planned",
	}[v]
}
