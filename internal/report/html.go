package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/workload"
)

// view is what the page's template shows.
type view struct {
	Result
	Mark, Headline, Evidence, Follow, Wilcoxon string
	Table                                      []tableRow // a line for each measure
	ArmTable                                   []tableRow // or for each arm, when they are many
	ArmLabels                                  []string
	Ceilings                                   []ceilingView
	Shares                                     []Share
	Plans                                      []planView
	Others                                     []string // sentences on further arms
	Method, Limits, Doubts                     []string
	PathWords, Next, RunsNote, Noise           string
	Metric, Sooner, Later, LatencyTitle        string
	Beside                                     []besideView
	Sets                                       []setsView

	Ordered []orderedRun

	Bars, Effect, Roofline, Runs, Distribution, Latency, Course, SharesChart template.HTML
}

// besideView is what a comparison says of another metric.
type besideView struct{ Arm, Metric, Words, Clear string }

// setsView is what an arm changes, as a diff.
type setsView struct {
	Arm  string
	Diff []diffLine
}

type tableRow struct {
	Label string
	Cells []string
}

type ceilingView struct {
	diagnose.Ceiling
	When  string // as found, or with the plan
	Binds bool
}

type planView struct {
	plan.Plan
	Title, Memory string
	Changes       []changeView
	Diff          []diffLine
}

type changeView struct {
	plan.Change
	Share *Share // nil when it was not tried
}

// orderedRun is a line of the table of runs.
type orderedRun struct {
	Number, Pair   int
	Arm, At, Value string
}

type diffLine struct{ Sign, Class, Text string }

// HTML writes a result as one page that needs nothing but a browser: no
// network, no script.
func HTML(w io.Writer, r Result) error { return writePage(w, "result", newView(r)) }

func newView(r Result) view {
	r = labelled(r)
	v := view{
		Result: r, Mark: verdictMark(r), Headline: headline(r), Evidence: evidence(r.Effect), Follow: follow(r),
		Table: armTable(r), Shares: sortedShares(r.Shares), Method: method(r), Limits: limits(r), Doubts: doubts(r),
		PathWords: pathWords(r), Next: next(r), Noise: noiseWords(r.Noise),
		Metric: metricWords(r), Sooner: beforeWords(r), Later: afterWords(r), LatencyTitle: latencyTitle(r),
		Beside: besideViews(r),
		Bars:   template.HTML(barsChart(r)), Effect: template.HTML(effectChart(r)), Runs: template.HTML(runsInTime(r)),
		Distribution: template.HTML(distributions(r)),
		Latency:      template.HTML(latencyChart(r)), Course: template.HTML(courseChart(r)),
		SharesChart: template.HTML(sharesChart(r)),
	}
	var c canvas
	if height := roofline(&c, r); height > 0 {
		v.Roofline = template.HTML(c.chart(height, "ceilings of the goodput and the measured runs"))
	}
	if r.Effect != nil && r.Effect.Wilcoxon > 0 && wilcoxonTells(r.Effect) {
		v.Wilcoxon = crossCheck(r.Effect)
	}
	for _, c := range r.Ceilings {
		v.Ceilings = append(v.Ceilings, ceilingView{c, beforeWords(r), bindsAmong(r.Ceilings, c)})
	}
	for _, c := range r.After {
		v.Ceilings = append(v.Ceilings, ceilingView{c, afterWords(r), bindsAmong(r.After, c)})
	}
	v.Ordered = orderedRuns(r)
	for _, c := range r.Comparisons[min(1, len(r.Comparisons)):] {
		v.Others = append(v.Others, strings.TrimSuffix(compared(r, terminal.Clip(c.Arm, 32), c.Verdict,
			c.Effect)+"; "+evidence(c.Effect), "; "))
	}
	if len(r.Arms) > armColumns {
		v.ArmLabels, v.ArmTable = armLines(r)
	}
	if s, ok := scaleRuns(r); ok {
		v.RunsNote = s.note()
	}
	if len(r.Plans) == 0 {
		v.Sets = setsViews(r)
	}
	for _, p := range r.Plans {
		next := newPlanView(p, r)
		if n := len(v.Plans); n > 0 && samePlan(v.Plans[n-1].Plan, p) {
			v.Plans[n-1].Title = v.Plans[n-1].Host + " and " + next.Title
			continue
		}
		v.Plans = append(v.Plans, next)
	}
	return v
}

// wilcoxonTells tells whether the signed-rank test could have found anything: the
// smallest p of n pairs is 2^(1-n).
func wilcoxonTells(e *Effect) bool {
	return math.Pow(2, float64(1-e.Pairs)) <= 1-e.Confidence
}

// crossCheck says what two methods find that suppose less than the interval.
func crossCheck(e *Effect) string {
	s := "Wilcoxon signed-rank p " + significant(e.Wilcoxon)
	if x := e.Resampled; x != nil && x[0] > 0 && x[1] >= x[0] {
		s += ", resampled pairs " + span(e.Ratio, x[0], x[1])
	}
	return s
}

func newPlanView(p plan.Plan, r Result) planView {
	shares := r.Shares
	v := planView{Plan: p, Title: cmp.Or(p.Host, "a host with the defaults") + ", " + releaseWords(p),
		Memory: memoryWords(p.Memory)}
	for _, change := range p.Changes {
		c := changeView{Change: change}
		for i := range shares {
			if shares[i].Setting == change.Setting {
				c.Share = &shares[i]
			}
		}
		v.Changes = append(v.Changes, c)
		why := ""
		if c.Share != nil && !c.Share.Kept {
			why = because(*c.Share)
		}
		for _, u := range r.Unproved {
			if u.Host == p.Host && u.Setting == change.Setting {
				why = u.Because
			}
		}
		if why != "" {
			v.Diff = append(v.Diff, diffLine{" ", "", fmt.Sprintf("%s = %s  # stays: %s", change.Setting,
				cmp.Or(change.From, change.Default, "?"), why)})
			continue
		}
		v.Diff = append(v.Diff, diffLine{"-", "del", fmt.Sprintf("%s = %s", change.Setting, cmp.Or(change.From,
			change.Default, "?"))}, diffLine{"+", "ins", fmt.Sprintf("%s = %s", change.Setting, change.To)})
	}
	return v
}

// setsViews are the arms' changes; what both hosts get alike is shown once.
func setsViews(r Result) []setsView {
	var out []setsView
	for i, a := range r.Arms {
		v := setsView{Arm: armSign(i) + " " + a.Name}
		for _, s := range a.Sets {
			twin := s
			twin.Side = map[string]string{"client": "server", "server": "client"}[s.Side]
			where := s.Side
			if slices.Contains(a.Sets, twin) {
				if s.Side == "server" {
					continue
				}
				where = "both hosts"
			}
			v.Diff = append(v.Diff, diffLine{"-", "del", fmt.Sprintf("%s = %s  # %s", s.Setting, terminal.Clip(s.From,
				200), where)}, diffLine{"+", "ins", fmt.Sprintf("%s = %s", s.Setting, terminal.Clip(s.To, 200))})
		}
		if len(v.Diff) > 0 {
			out = append(out, v)
		}
	}
	return out
}

// besideViews are the other metrics with their intervals: what a gain costs.
func besideViews(r Result) []besideView {
	var out []besideView
	for _, b := range r.Beside {
		for _, e := range b.Effects {
			v := besideView{Arm: b.Arm, Metric: quantityIn(r, e.Metric).words, Words: shareWords(Share{Ratio: e.Ratio,
				Interval: e.Interval}), Clear: "may be chance"}
			if e.Clear() {
				v.Clear = map[bool]string{true: "better", false: "worse"}[e.Ratio < 1 == quantityOf(e.Metric).lower]
			}
			out = append(out, v)
		}
	}
	return out
}

func orderedRuns(r Result) []orderedRun {
	var out []orderedRun
	q := decides(r)
	for i, arm := range r.Arms {
		for _, run := range arm.Runs {
			out = append(out, orderedRun{run.Order + 1, run.Pair + 1, armSign(i) + " " + arm.Name,
				fmt.Sprintf("%.1f s", run.At), q.print(q.of(run.Metrics))})
		}
	}
	slices.SortStableFunc(out, func(a, b orderedRun) int { return a.Number - b.Number })
	return out
}

// armSign is an arm's shape as a character.
func armSign(i int) string { return [armShapes]string{"○", "◆", "■", "▲", "▼"}[i%armShapes] }

// samePlan tells whether two hosts get the same, so that it is shown once.
func samePlan(a, b plan.Plan) bool {
	return a.Host != "" && a.Release == b.Release && fmt.Sprint(a.Changes, a.Kept, a.Memory,
		a.Warnings) == fmt.Sprint(b.Changes, b.Kept, b.Memory, b.Warnings)
}

func isLink(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// verdictMark is the verdict's sign: a shape, so that colour is not needed.
func verdictMark(r Result) string {
	switch {
	case r.Effect == nil:
		return "○"
	case r.Verdict == stats.Helps:
		return "▲"
	case r.Verdict == stats.Hurts:
		return "▼"
	case r.Verdict == stats.NoDifference:
		return "="
	}
	return "?"
}

// armTable compares the arms' medians.
func armTable(r Result) []tableRow {
	if len(r.Arms) == 0 {
		return nil
	}
	var table []tableRow
	add := func(label string, value func(Arm) string) {
		row := tableRow{Label: label}
		useful := false
		for _, a := range r.Arms {
			cell := value(a)
			useful = useful || cell != notKnown
			row.Cells = append(row.Cells, cell)
		}
		if useful {
			table = append(table, row)
		}
	}
	q := decides(r)
	add(q.words+", median", func(a Arm) string { return q.print(q.of(a.Median)) })
	add("lowest and highest run", func(a Arm) string { return q.scatter(q.values(a)) })
	if !q.goodput() {
		add("goodput", func(a Arm) string { return bits(a.Median.GoodputBPS) })
	}
	add("part of the link's goodput", func(a Arm) string { return linkPart(r, a.Median.GoodputBPS) })
	for _, o := range others(r) {
		add(o.words, func(a Arm) string { return o.print(o.of(a.Median)) })
	}
	add("retransmitted segments a run", func(a Arm) string { return retransmits(a.Median) })
	add("mean round-trip time", func(a Arm) string { return seconds(a.Median.MeanRTT) })
	for _, h := range r.Hosts {
		side := sideIn(r, h.Side)
		add(side+"'s processors busy", func(a Arm) string { return busy(sideCPU(a, h.Side)) })
		switch work := sideWork(q); work {
		case "Gbit":
			add("processor seconds per Gbit, "+side, func(a Arm) string {
				return perGigabit(sideCPU(a, h.Side)*float64(h.Cores), a.Median.GoodputBPS)
			})
		case "":
		default:
			add("processor time for one of the "+work+", "+side, func(a Arm) string {
				return seconds(sideCPU(a, h.Side) * float64(h.Cores) / q.of(a.Median))
			})
		}
	}
	add("runs", func(a Arm) string { return fmt.Sprint(len(a.Runs)) })
	return table
}

// sideWork names what the processors' time is divided by.
func sideWork(q quantity) string {
	switch {
	case q.unit == "bit/s":
		return "Gbit"
	case q.unit == "1/s":
		return strings.TrimSuffix(q.words, " per second")
	}
	return ""
}

// armLines compares many arms, one a line.
func armLines(r Result) (labels []string, lines []tableRow) {
	q := decides(r)
	labels = []string{q.words + ", median", "lowest and highest run", "of the link", "round trip", "retransmitted",
		"runs"}
	for i, a := range r.Arms {
		lines = append(lines, tableRow{armSign(i) + " " + a.Name, []string{q.print(q.of(a.Median)),
			q.scatter(q.values(a)),
			linkPart(r, a.Median.GoodputBPS), seconds(a.Median.MeanRTT), retransmits(a.Median),
			fmt.Sprint(len(a.Runs))}})
	}
	return labels, lines
}

func sideCPU(a Arm, side string) float64 {
	switch side {
	case "server":
		return a.Median.ServerCPU
	case "router":
		return a.Median.Values[workload.RouterCPU]
	}
	return a.Median.ClientCPU
}

func perGigabit(processors, goodput float64) string {
	if !(processors > 0) || !(goodput > 0) {
		return notKnown
	}
	return significant(processors / (goodput / 1e9))
}

// method says how the numbers came about.
func method(r Result) []string {
	var out []string
	if d := r.Design; d != nil {
		each := fmt.Sprintf("Each run lasted %s with %s", seconds(d.Duration), cmp.Or(d.Tool, "a traffic generator"))
		if d.Omit > 0 {
			each += fmt.Sprintf("; %s before it did not count", seconds(d.Omit))
		}
		out = append(out, each+".")
		if len(d.Looks) > 0 {
			out = append(out, fmt.Sprintf("At most %d pairs were planned. The trial could stop only after %s pairs, "+
				"and the chance of a false alarm, %s over all these looks together, was divided among them "+
				"beforehand; hence the interval's level.", d.MaxPairs, joinInts(d.Looks), percent(d.Alpha)))
		}
	}
	pairs := "The arms ran in pairs, in random order within balanced blocks, so that a drift of the machine or the " +
		"path falls on both alike. What the kernel remembers of a destination was cleared between runs."
	if r.Alone() {
		pairs = "The arms ran in pairs, in random order within balanced blocks, so that a drift of the machine falls " +
			"on both alike."
	}
	out = append(out, pairs,
		"One run is one observation. The effect is the geometric mean of the pairs' ratios, its interval Student's t "+
			"of their logarithms, with Wilcoxon's signed-rank test and a resampling of the pairs as cross-checks.",
		"A verdict needs more than an interval that excludes no change: the estimate must also exceed the margin of "+
			"what is worth having.")
	if a := r.Attribution; a != nil {
		s := fmt.Sprintf("The shares come from %s with settings switched on and off together by design: a folded "+
			"Plackett-Burman design screens all of them, and all combinations of those that seem to matter are then "+
			"run afresh. A share is a Shapley value: the setting's ratio averaged over what else is on.",
			plural(a.Runs, "run", "runs"))
		if a.Lost > 0 {
			s += fmt.Sprintf(" Of these, %d could not be used.", a.Lost)
		}
		if a.Stopped {
			s += " The time was up before all planned runs were made."
		}
		out = append(out, s)
	}
	return out
}

// limits says what the numbers do not show.
func limits(r Result) []string {
	if r.Alone() {
		return []string{"The ratios hold for this disk, its file system, this host and this hour. The absolute rates " +
			"are those of one session and compare with nothing else."}
	}
	out := []string{
		"The ratios hold for this path, these hosts, this workload and this hour. The absolute rates are those of " +
			"one session and compare with nothing else.",
		"A ceiling is computed from what the hosts and the path say about themselves. That a measured rate stays " +
			"below it is expected; that it exceeds one would be an error worth reporting.",
	}
	if r.Emulator != nil {
		out = append(out, "The path was emulated on this machine, whose processors carried both hosts and the link. "+
			"Real network cards, their drivers and their offloads took no part.")
		if a := r.Emulator.Awake; a != nil && a.CPU > 0 {
			out = append(out, "While the runs went on, "+a.Took()+".")
		}
	}
	return out
}

func joinInts(ints []int) string {
	var words []string
	for _, n := range ints {
		words = append(words, fmt.Sprint(n))
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
