package report

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/compare"
)

// Compared writes a file beside a plan.
func Compared(to Screen, c compare.Comparison) {
	for _, l := range c.Lines {
		assigned := " = " + l.Value
		if l.Value == "" {
			assigned = ""
		}
		to.Wrap("", "  ", fmt.Sprintf("%s:%d: %s%s", c.File, l.Line, l.Setting, assigned))
		about := strings.ReplaceAll(string(l.Verdict), "-", " ") + ": "
		switch l.Verdict {
		case compare.Same:
			about = "as planned. "
		case compare.OtherValue:
			about = fmt.Sprintf("the plan has %s. ", l.Planned)
		}
		to.Wrap("  ", "  ", about+l.Because)
	}
	for _, m := range c.Missing {
		to.Wrap("", "  ", fmt.Sprintf("missing: %s = %s", m.Setting, m.Planned))
		to.Wrap("  ", "  ", m.Because)
	}
	if len(c.Elsewhere) > 0 {
		to.Wrap("", "  ", "not for a file of this kind, but planned too: "+strings.Join(c.Elsewhere, ", "))
	}
	var summary []string
	for _, v := range compare.Verdicts() {
		if n := c.Counts[v]; n > 0 {
			summary = append(summary, fmt.Sprintf("%d %s", n, strings.ReplaceAll(string(v), "-", " ")))
		}
	}
	to.Wrap("", "  ", fmt.Sprintf("%d lines: %s", len(c.Lines), strings.Join(summary, ", ")))
}
