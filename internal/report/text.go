package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/terminal"
)

// Text writes the summary of a result for a terminal of 80 columns.
func Text(w io.Writer, r Result) {
	r = labelled(r)
	var p page
	p.wrap("", "  ", headline(r)+".")
	if r.Effect != nil {
		p.wrap("  ", "  ", evidence(r.Effect)+". "+follow(r))
	}
	if len(r.Comparisons) > 1 {
		for _, c := range r.Comparisons[1:] {
			p.wrap("", "  ", compared(r, terminal.Clip(c.Arm, 32), c.Verdict, c.Effect)+".")
			if c.Effect != nil {
				p.wrap("  ", "  ", evidence(c.Effect)+".")
			}
		}
	}
	textArms(&p, r)
	textBeside(&p, r)
	textCeilings(&p, r)
	textShares(&p, r)
	textWarnings(&p, r.Warnings)
	p.blank()
	p.field("noise", noiseWords(r.Noise))
	p.field("path", pathWords(r))
	p.field("workload", r.Workload)
	if r.Elapsed > 0 {
		p.field("took", fmt.Sprintf("%s, seed %d", seconds(r.Elapsed), r.Seed))
	}
	p.command("again", r.Command)
	p.field("undo", r.Undo)
	p.field("next", next(r))
	p.flush(w)
}

// armColumns is how many arms fit beside each other.
const armColumns = 3

// textArms compares the medians of the arms: in columns, or one arm a line
// when there are many.
func textArms(p *page, r Result) {
	if len(r.Arms) == 0 {
		return
	}
	p.blank()
	q := decides(r)
	if len(r.Arms) > armColumns {
		p.line("  %s%s%s", pad("arm", 28, false), pad(terminal.Clip(q.words, 14), 15, true),
			pad("against "+terminal.Clip(r.Arms[0].Name, 22)+" (interval)", 34, true))
		for i, a := range r.Arms {
			against := "–"
			if c := comparisonOf(r, i); c != nil && c.Effect != nil {
				against = shareWords(Share{Ratio: c.Effect.Ratio, Interval: c.Effect.Interval})
			}
			p.line("  %s%s%s", pad(terminal.Clip(a.Name, 27), 28, false), pad(q.print(q.of(a.Median)), 15, true),
				pad(against, 34, true))
		}
		return
	}
	byIndex := func(label string, always bool, value func(int, Arm) string) {
		line, useful := "  "+pad(terminal.Clip(strings.Replace(label, " per second", "/s", 1), 19), 20, false), always
		for i, a := range r.Arms {
			cell := value(i, a)
			useful = useful || cell != notKnown
			line += pad(terminal.Clip(cell, 17), 18, true)
		}
		if useful {
			p.line("%s", line)
		}
	}
	cells := func(label string, always bool, value func(Arm) string) {
		byIndex(label, always, func(_ int, a Arm) string { return value(a) })
	}
	effect := func(words func(*Effect) string) func(int, Arm) string {
		return func(i int, _ Arm) string {
			if c := comparisonOf(r, i); c != nil && c.Effect != nil {
				return words(c.Effect)
			}
			return "–"
		}
	}
	cells("median of a run", true, func(a Arm) string { return a.Name })
	cells(q.words, true, func(a Arm) string { return q.print(q.of(a.Median)) })
	byIndex("change", false, effect(func(e *Effect) string { return times(e.Ratio) }))
	byIndex("interval", false, effect(func(e *Effect) string { return span(e.Ratio, e.Low, e.High) }))
	if !q.goodput() {
		cells("goodput", false, func(a Arm) string { return bits(a.Median.GoodputBPS) })
	}
	cells("of the link", false, func(a Arm) string { return linkPart(r, a.Median.GoodputBPS) })
	for _, o := range others(r) {
		cells(o.words, false, func(a Arm) string { return o.print(o.of(a.Median)) })
	}
	cells("retransmits", false, func(a Arm) string { return retransmits(a.Median) })
	cells("round-trip time", false, func(a Arm) string { return seconds(a.Median.MeanRTT) })
	cells(sideIn(r, "client")+" CPU busy", false, func(a Arm) string { return busy(a.Median.ClientCPU) })
	cells("server CPU busy", false, func(a Arm) string { return busy(a.Median.ServerCPU) })
	cells("runs", true, func(a Arm) string { return fmt.Sprint(len(a.Runs)) })
}

// textBeside lists what else changed by more than chance, and what the trial
// could see.
func textBeside(p *page, r Result) {
	var lines []string
	for _, b := range r.Beside {
		for _, e := range b.Effects {
			if e.Clear() {
				lines = append(lines, terminal.Clip(b.Arm, 32)+": "+besideWords(r, e))
			}
		}
	}
	if len(lines) > 0 {
		p.heading("Side effects (statistically clear)")
		for _, l := range lines {
			p.wrap("  ", "    ", l)
		}
	}
}

func retransmits(m Metrics) string {
	if m.Retransmits < 0 || m.GoodputBPS <= 0 {
		return notKnown
	}
	return fmt.Sprintf("%.0f", m.Retransmits)
}

func busy(part float64) string {
	if !(part > 0) {
		return notKnown
	}
	return fmt.Sprintf("%.0f%%", part*100)
}

// textCeilings shows the ceilings as found and with the plan, and the measured
// points among them.
func textCeilings(p *page, r Result) {
	table := rows(r)
	if len(table) == 0 {
		return
	}
	p.blank()
	both := len(r.After) > 0
	cells := func(label, before, after string) {
		if !both {
			after = ""
		}
		p.line("  %s%s%s", pad(label, 24, false), pad(terminal.Clip(before, 21), 22, true),
			pad(terminal.Clip(after, 23), 24, true))
	}
	cells("ceiling", beforeWords(r), afterWords(r))
	list := func(kind int) {
		for _, row := range table {
			if row.known() && other(row) == kind {
				cells(row.Name, marked(row.Before, row.Binds), marked(row.After, row.BindsA))
			}
		}
	}
	list(0)
	switch {
	case both && len(r.Arms) == 2 && r.Arms[0].Median.GoodputBPS > 0:
		cells("measured", bits(r.Arms[0].Median.GoodputBPS)+"  ", bits(r.Arms[1].Median.GoodputBPS)+"  ")
	case !both:
		for _, a := range r.Arms {
			if g := a.Median.GoodputBPS; g > 0 {
				cells("measured: "+terminal.Clip(a.Name, 13), bits(g)+"  ", "")
			}
		}
	}
	list(1)
	p.line("  * binds: the lowest known ceiling")
	if missing := unknownRows(table); len(missing) > 0 {
		p.wrap("  not known: ", "    ", strings.Join(missing, ", "))
	}
	for _, d := range doubts(r) {
		p.wrap("  ? ", "    ", d)
	}
}

func marked(c *diagnose.Ceiling, binds bool) string {
	switch {
	case c == nil:
		return "  "
	case binds:
		return amount(*c) + " *"
	}
	return amount(*c) + "  "
}

// textShares lists each setting's part of the gain.
func textShares(p *page, r Result) {
	if len(r.Shares) == 0 {
		if r.Attribution == nil && r.Effect != nil && len(r.Plans) > 0 {
			p.heading("Which setting did it was not asked: no attribution was made.")
		}
		return
	}
	p.heading(fmt.Sprintf("What did it: %s with the setting over %s without it", metricWords(r), metricWords(r)))
	for _, s := range sortedShares(r.Shares) {
		p.line("  %s %s %s", pad(keptWord(s.Kept), 7, false), pad(s.Setting, 40, false), shareWords(s))
		if !s.Kept && s.Because != "" {
			p.wrap(strings.Repeat(" ", 10), strings.Repeat(" ", 10), s.Because)
		}
	}
	if a := r.Attribution; a != nil {
		for _, i := range a.Interactions {
			p.wrap("  together: ", strings.Repeat(" ", 12), i)
		}
		if a.SumOfShares != nil && a.Measured != nil {
			p.wrap("  check: ", "    ", fitWords(a))
		}
	}
}

// fitWords compares the product of the shares with the measured whole.
func fitWords(a *Attribution) string {
	s := fmt.Sprintf("the shares multiply to %s, everything on measured %s",
		times(a.SumOfShares.Ratio), times(a.Measured.Ratio))
	if a.FitP > 0 && a.FitP < 0.05 {
		return s + fmt.Sprintf(" (p %s): they do not explain it all", significant(a.FitP))
	}
	return s
}

func textWarnings(p *page, warnings []string) {
	if len(warnings) == 0 {
		return
	}
	p.heading("Warnings")
	for _, w := range warnings {
		p.wrap("  ! ", "    ", w)
	}
}

// pathWords describes the path and how it is known.
func pathWords(r Result) string {
	if r.Path.RateBPS == 0 && r.Path.RTT == 0 {
		return ""
	}
	parts := []string{fmt.Sprintf("%s, %s", bits(float64(r.Path.RateBPS)), seconds(r.Path.RTT/1000))}
	if r.Path.Loss > 0 {
		parts = append(parts, fmt.Sprintf("loss %s", significant(r.Path.Loss)))
	}
	if r.Path.MTU > 0 {
		parts = append(parts, fmt.Sprintf("MTU %d", r.Path.MTU))
	}
	switch {
	case r.Emulator != nil:
		parts = append(parts, "emulated")
		if a := r.Emulator.Awake; a != nil && a.CPU > 0 {
			parts = append(parts, a.Took())
		}
	case len(r.Path.Measured) > 0:
		parts = append(parts, "measured")
	default:
		parts = append(parts, "declared")
	}
	return strings.Join(parts, ", ")
}
