package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/terminal"
)

// headline says the verdict in one sentence, without its interval.
func headline(r Result) string {
	switch {
	case r.Effect == nil && len(r.Shares) > 0:
		return keptHeadline(r)
	case r.Effect == nil && r.Verdict == stats.NoDifference:
		return "Nothing to change: what runs already suits the path"
	case r.Effect == nil:
		return "Nothing was compared: no complete pair of runs"
	}
	return compared(r, candidate(r), r.Verdict, r.Effect)
}

// keptHeadline says how many settings earn their place.
func keptHeadline(r Result) string {
	var kept []string
	for _, s := range r.Shares {
		if s.Kept {
			kept = append(kept, terminal.Clip(s.Setting, 40))
		}
	}
	switch n := len(kept); {
	case n == 0:
		return fmt.Sprintf("None of %s is shown to help", plural(len(r.Shares), "setting", "settings"))
	case n <= 3:
		return fmt.Sprintf("%d of %s: %s", n, plural(len(r.Shares), "setting helps", "settings help"),
			strings.Join(kept, ", "))
	default:
		return fmt.Sprintf("%d of %s", n, plural(len(r.Shares), "setting helps", "settings help"))
	}
}

// compared says one comparison's verdict in one sentence.
func compared(r Result, arm string, verdict stats.Verdict, e *Effect) string {
	if e == nil {
		return "Not enough evidence about " + arm + ": no complete pair of runs"
	}
	if len(r.Arms) == 0 && r.Attribution != nil {
		return wholeHeadline(r, verdict, e)
	}
	what, than := metricWords(r)+" is", against(e.Ratio, reference(r))
	if strings.Contains(what, "s per ") {
		what = strings.TrimSuffix(what, "is") + "are"
	}
	switch verdict {
	case stats.Helps:
		return fmt.Sprintf("%s helps: %s %s", upper(arm), what, than)
	case stats.Hurts:
		return fmt.Sprintf("%s hurts: %s %s", upper(arm), what, than)
	case stats.NoDifference:
		return fmt.Sprintf("No worthwhile difference%s: %s %s", of(arm), what, than)
	}
	return fmt.Sprintf("Not enough evidence%s: %s %s may be chance", of(arm), metricWords(r), than)
}

// wholeHeadline says what everything on does against everything off.
func wholeHeadline(r Result, verdict stats.Verdict, e *Effect) string {
	words := map[stats.Verdict]string{stats.Helps: "All settings together help", stats.Hurts: "All settings together hurt",
		stats.NoDifference: "No worthwhile difference with all settings together"}[verdict]
	if words == "" {
		words = "Not enough evidence about all settings together"
	}
	change := times(e.Ratio)
	if strings.HasSuffix(change, "times") {
		change += " as much"
	}
	return words + ": " + metricWords(r) + " " + change
}

// candidate and reference are the second and the first arm as sentences name
// them.
func candidate(r Result) string {
	if len(r.Arms) == 0 && r.Attribution != nil {
		return "all settings together"
	}
	return armWords(r, 1, "plan")
}

func reference(r Result) string {
	if len(r.Arms) == 0 && r.Attribution != nil {
		return "none of them"
	}
	return armWords(r, 0, "default")
}

func armWords(r Result, i int, usual string) string {
	if i < len(r.Arms) && r.Arms[i].Name != usual {
		return terminal.Clip(r.Arms[i].Name, 64)
	}
	return "the " + usual
}

func upper(s string) string {
	for _, start := range []string{"the ", "all ", "latency ", "mean ", "sync "} {
		if strings.HasPrefix(s, start) {
			return strings.ToUpper(s[:1]) + s[1:]
		}
	}
	return s
}

// of names an arm unless it is the usual one.
func of(arm string) string {
	if arm == "the plan" {
		return ""
	}
	return " with " + arm
}

// against says a ratio to the reference as a sentence ends.
func against(r float64, reference string) string {
	whose := reference + "'s"
	switch words := times(r); {
	case strings.HasSuffix(words, "times"):
		return words + " " + whose
	case strings.HasPrefix(words, "+"):
		return strings.TrimPrefix(words, "+") + " above " + whose
	case strings.HasPrefix(words, "−"):
		return strings.TrimPrefix(words, "−") + " below " + whose
	}
	return whose
}

// evidence says how sure the headline is.
func evidence(e *Effect) string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf("%s interval %s, from %s", percent(e.Confidence), span(e.Ratio, e.Low, e.High),
		plural(e.Pairs, "pair of runs", "pairs of runs"))
}

// follow says what the verdict means for whoever reads it.
func follow(r Result) string {
	margin := "the margin"
	if r.Margin > 0 {
		margin = "the margin of " + percent(r.Margin)
	}
	switch {
	case r.Effect == nil && r.Verdict == stats.NoDifference:
		return "The plan changes nothing on these hosts, so nothing was measured."
	case r.Effect == nil && len(r.Shares) > 0:
		return "Each was compared with none of them; what is left out is as it was."
	case r.Effect == nil:
		return "No pair of runs was completed, so nothing can be said."
	case r.Verdict == stats.Helps:
		return "The whole interval lies on the good side of no change, and the estimate is beyond " + margin + "."
	case r.Verdict == stats.Hurts:
		return "The whole interval lies on the bad side of no change: leave these hosts as they are."
	case r.Verdict == stats.NoDifference:
		return "The whole interval lies within " + margin + ": there is nothing to gain here that is worth a change."
	}
	if e := r.Effect; e.Clear() && math.Abs(e.Ratio-1) > r.Margin {
		return "The interval alone would be enough; the warnings say why it is not."
	}
	return "The interval reaches across no change or is wider than " + margin + ": more pairs would decide."
}

// metricWords names the measured quantity.
func metricWords(r Result) string { return decides(r).words }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// resourceWords is a ceiling's resource as people say it.
func resourceWords(resource string) string { return strings.ReplaceAll(resource, "-", " ") }

// row is one resource's ceiling as found and with the plan.
type row struct {
	Name          string            // with the host where both have one
	Before, After *diagnose.Ceiling // nil when it was not computed
	Binds, BindsA bool
}

// known tells whether a row has any value.
func (r row) known() bool { return known(r.Before) > 0 || known(r.After) > 0 }

// rows joins the ceilings before and after: those of the goodput first,
// otherwise in their order.
func rows(r Result) []row {
	var out []row
	index := map[string]int{}
	hosts := map[string]int{}
	add := func(c diagnose.Ceiling, after, binds bool) {
		resource := c.Resource + "\x00" + c.Metric
		i, ok := index[resource+"\x00"+c.Host]
		if !ok {
			i = len(out)
			index[resource+"\x00"+c.Host] = i
			hosts[resource]++
			out = append(out, row{})
		}
		if after {
			out[i].After, out[i].BindsA = &c, binds
		} else {
			out[i].Before, out[i].Binds = &c, binds
		}
	}
	for _, c := range r.Ceilings {
		add(c, false, bindsAmong(r.Ceilings, c))
	}
	for _, c := range r.After {
		add(c, true, bindsAmong(r.After, c))
	}
	for i := range out {
		c := cmp.Or(out[i].Before, out[i].After)
		out[i].Name = resourceWords(c.Resource)
		if hosts[c.Resource+"\x00"+c.Metric] > 1 && c.Host != "" {
			out[i].Name += " of " + terminal.Clip(c.Host, 20)
		}
	}
	slices.SortStableFunc(out, func(a, b row) int { return other(a) - other(b) })
	return out
}

// other is 1 for a row that is not about goodput.
func other(r row) int {
	if c := cmp.Or(r.Before, r.After); c.Metric == diagnose.Goodput {
		return 0
	}
	return 1
}

// bindsAmong tells whether c is the lowest known goodput ceiling.
func bindsAmong(all []diagnose.Ceiling, c diagnose.Ceiling) bool {
	lowest, ok := diagnose.Binding(all)
	return ok && c.Known && c.Resource == lowest.Resource && c.Host == lowest.Host && c.Metric == lowest.Metric
}

// unknownRows names the resources without any value.
func unknownRows(table []row) []string {
	var out []string
	for _, r := range table {
		if name := resourceWords(cmp.Or(r.Before, r.After).Resource); !r.known() && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// sortedShares puts what was kept first, then the largest effects, either way.
func sortedShares(shares []Share) []Share {
	out := slices.Clone(shares)
	slices.SortStableFunc(out, func(a, b Share) int {
		if a.Kept != b.Kept {
			if a.Kept {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(a.Setting, b.Setting))
	})
	return out
}

func size(s Share) float64 {
	if !(s.Ratio > 0) {
		return -1
	}
	return math.Abs(math.Log(s.Ratio))
}

// shareWords prints a share's estimate and interval.
func shareWords(s Share) string {
	if !s.Measured() {
		return "not measured"
	}
	return fmt.Sprintf("%s (%s)", times(s.Ratio), span(s.Ratio, s.Low, s.High))
}

func keptWord(kept bool) string {
	if kept {
		return "kept"
	}
	return "dropped"
}

// next is what to do with the result.
func next(r Result) string {
	role, path := "ROLE", cmp.Or(r.Path.Spec, "rate=...,rtt=...")
	if len(r.Plans) > 0 && r.Plans[0].Role != "" {
		role = r.Plans[0].Role
	}
	switch {
	case r.Effect == nil:
		return ""
	case r.Verdict == stats.NotEnough:
		return "more pairs, or longer: the same command with --for 30m"
	case len(r.Plans) == 0 && r.Emulator != nil:
		return "on your own hosts: the same command with HOST --peer HOST instead of --lab"
	case len(r.Plans) == 0:
		return ""
	case r.Emulator != nil:
		return fmt.Sprintf("on your own hosts: wirerate tune ssh://root@A --peer ssh://root@B --path %s --role %s",
			path, role)
	case len(r.Next) > 0:
		return strings.Join(r.Next, "; ") + "; then wirerate confirm"
	case r.Verdict == stats.Helps:
		return "the same command with -o DIR writes what was proved as plan.json, for wirerate apply"
	}
	return ""
}

// beforeWords names the state to which the first list of ceilings belongs.
func beforeWords(r Result) string {
	if len(r.Plans) == 0 && len(r.Arms) > 1 && r.Arms[0].Name != "current" {
		return "with " + reference(r)
	}
	return "as found"
}

// afterWords names the state to which the second list of ceilings belongs.
func afterWords(r Result) string { return "with " + candidate(r) }

// noiseWords says what the trial could see.
func noiseWords(n *Noise) string {
	if n == nil || !(n.PairSD > 0) {
		return ""
	}
	s := fmt.Sprintf("pairs scatter by %s", percent(n.PairSD))
	switch {
	case n.MinDetectable > 9:
		s += fmt.Sprintf("; %s would not detect even a change of ten times", plural(n.Pairs, "pair", "pairs"))
	case n.MinDetectable > 0:
		s += fmt.Sprintf("; %s detect %s with 80%% power", plural(n.Pairs, "pair", "pairs"), percent(n.MinDetectable))
	}
	return s
}

// besideWords says an effect on another metric.
func besideWords(r Result, e Effect) string {
	return fmt.Sprintf("%s %s (%s)", quantityIn(r, e.Metric).words, times(e.Ratio), span(e.Ratio, e.Low, e.High))
}

// doubts lists medians above a ceiling that should have held: either the
// ceiling does not apply to the workload or it was computed from wrong facts.
func doubts(r Result) []string {
	var out []string
	for i, ceilings := range [][]diagnose.Ceiling{r.Ceilings, r.After} {
		if len(r.Arms) != 2 {
			break
		}
		lowest, ok := diagnose.Binding(ceilings)
		if g := r.Arms[i].Median.GoodputBPS; ok && g > lowest.Value*1.02 {
			out = append(out, fmt.Sprintf("%s reached %s, above the ceiling of %s (%s), so that ceiling does "+
				"not hold for this workload",
				r.Arms[i].Name, bits(g), resourceWords(lowest.Resource), bits(lowest.Value)))
		}
	}
	return out
}

// linkPart is a goodput's part of the link's goodput.
func linkPart(r Result, goodput float64) string {
	if !(r.LinkGoodput > 0) || !(goodput > 0) {
		return notKnown
	}
	return percent(goodput / r.LinkGoodput)
}
