package report

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/watch"
	"github.com/wirerate/wirerate/internal/watch/period"
)

// watchedView is a recording's report as the page and the text show it.
type watchedView struct {
	Headline, Span, Confidence string
	Compared                   *watchedComparison
	Hosts                      []watchedHost
	Probes                     []watchedChart
	Marks                      []watchedMark
}

type watchedComparison struct {
	Mark, Weaker string
	Rows         []watchedEffect
}

type watchedEffect struct{ Name, Before, After, Change, Verdict string }

type watchedHost struct {
	Name, Headline string
	Charts         []watchedChart
	Limits         []watchedLimit
	Onsets         []watchedOnset
}

// watchedChart is one picture of a host's course; a further one is a further
// element.
type watchedChart struct {
	Title, Caption string
	Picture        template.HTML
}

type watchedLimit struct{ Words, Times, Lasted, Share string }

type watchedOnset struct{ At, Lasted, Severity, Words string }

type watchedMark struct{ Number, At, Words string }

const weaker = "Nothing was randomised: anything else that changed at that time, including the load, counts as an " +
	"effect of the change. This is a hint; a trial (wirerate trial) separates them. Neighbouring values are correlated, so " +
	"the intervals come from a block bootstrap. Only times with traffic are compared."

// WatchedHTML writes what was recorded as one page, with the probes of that time.
func WatchedHTML(w io.Writer, r *period.Report, probes *Smoke) error {
	v := watchedOf(r)
	for _, c := range probes.Charts() {
		v.Probes = append(v.Probes, watchedChart{c.Target, smokeWords(c.Sum), template.HTML(c.SVG)})
	}
	return writePage(w, "watched", v)
}

// WatchedText prints what was recorded.
func WatchedText(s Screen, r *period.Report) {
	v := watchedOf(r)
	s.Wrap("", "", v.Headline)
	s.Printf("%s\n", v.Span)
	if c := v.Compared; c != nil {
		s.Printf("\nBefore and after %s\n", c.Mark)
		for _, row := range c.Rows {
			s.Wrap(fmt.Sprintf("  %-20s ", row.Name), "      ",
				fmt.Sprintf("%s to %s: %s; %s", row.Before, row.After, row.Change, row.Verdict))
		}
		s.Wrap("  ", "  ", c.Weaker)
	}
	for _, h := range v.Hosts {
		s.Printf("\n")
		if h.Name+": "+h.Headline != v.Headline {
			s.Wrap(h.Name+": ", "  ", h.Headline)
		}
		for _, l := range h.Limits {
			times := "times"
			if l.Times == "1" {
				times = "time"
			}
			s.Printf("  %-48s %5s %s, %8s, %s\n", l.Words, l.Times, times, l.Lasted, l.Share)
		}
		for _, o := range h.Onsets[:min(len(h.Onsets), onsetsShown)] {
			s.Wrap(fmt.Sprintf("  %s %8s  ", o.At, o.Lasted), "      ", o.Severity+": "+o.Words)
		}
		if more := len(h.Onsets) - onsetsShown; more > 0 {
			s.Printf("  and %d more: --format html has them\n", more)
		}
	}
	if len(v.Marks) > 0 {
		s.Printf("\nChanges and trials\n")
	}
	for _, m := range v.Marks {
		s.Wrap(fmt.Sprintf("  %2s  %s  ", m.Number, m.At), "      ", m.Words)
	}
}

const onsetsShown = 20

func watchedOf(r *period.Report) watchedView {
	v := watchedView{Span: clock(r.From) + " to " + clock(r.To), Confidence: "95%"}
	for i, m := range r.Marks {
		words := m.Words
		if m.Host != "" {
			words += " (" + m.Host + ")"
		}
		v.Marks = append(v.Marks, watchedMark{fmt.Sprint(i + 1), clock(m.At), words})
	}
	for i := range r.Hosts {
		v.Hosts = append(v.Hosts, watchedHostOf(&r.Hosts[i], r))
	}
	switch len(r.Hosts) {
	case 0:
		v.Headline = "Nothing was recorded in this period"
	case 1:
		v.Headline = r.Hosts[0].Name + ": " + v.Hosts[0].Headline
	default:
		v.Headline = fmt.Sprintf("%d hosts", len(r.Hosts))
	}
	if c := r.Comparison; c != nil {
		v.Compared = comparedOf(c)
		if len(v.Compared.Rows) > 0 {
			row := v.Compared.Rows[0]
			v.Headline = fmt.Sprintf("%s after %s: %s; %s", row.Name, c.Mark.Words, row.Change, row.Verdict)
		}
	}
	return v
}

func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

func lasted(seconds float64) string {
	return units.Duration((time.Duration(seconds*1e9) * time.Nanosecond).Round(time.Second))
}

func watchedHostOf(h *period.Host, r *period.Report) watchedHost {
	v := watchedHost{Name: h.Name, Headline: "no limit seen", Charts: watchedCharts(h, r)}
	for _, l := range h.Limits {
		v.Limits = append(v.Limits, watchedLimit{watch.LimitWords(l.Limit), fmt.Sprint(l.Times), lasted(l.Seconds),
			percent(l.Share)})
	}
	if len(h.Limits) > 0 {
		l := h.Limits[0]
		v.Headline = fmt.Sprintf("%s was the longest limit, %s of the time", watch.LimitWords(l.Limit), percent(l.Share))
	}
	if h.Gone > 0 {
		v.Headline += "; unreachable for " + lasted(h.Gone)
	}
	for _, o := range h.Onsets {
		v.Onsets = append(v.Onsets, watchedOnset{clock(o.At), lasted(o.Seconds), o.Severity, o.Words})
	}
	return v
}

func comparedOf(c *period.Comparison) *watchedComparison {
	v := &watchedComparison{Mark: fmt.Sprintf("%s, %s", c.Mark.Words, clock(c.Mark.At)), Weaker: weaker}
	for _, e := range c.Lines {
		say := map[string]func(float64) string{"goodput": diagnose.RateWords, "rtt": millis, "loss": percent}[e.Metric]
		name := map[string]string{"goodput": "goodput", "rtt": "round-trip time", "loss": "retransmitted"}[e.Metric]
		row := watchedEffect{e.Host + ", " + name, say(e.Before), say(e.After), e.Why, e.Verdict.Words()}
		if e.Ratio > 0 {
			row.Change = fmt.Sprintf("%+.1f%% (%+.1f%% to %+.1f%%)", 100*(e.Ratio-1), 100*(e.Low-1), 100*(e.High-1))
		}
		if e.Drifts {
			row.Verdict += ", but this trend began before the mark"
		} else if e.Verdict == stats.Helps || e.Verdict == stats.Hurts {
			row.Verdict += " (not randomised)"
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

func millis(v float64) string { return fmt.Sprintf("%s ms", units.Digits(v, 4)) }

// watchedCharts are the pictures of a host's course.
func watchedCharts(h *period.Host, r *period.Report) []watchedChart {
	if len(h.Points) < 2 {
		return nil
	}
	of := func(get func(period.Point) float64) []float64 {
		var all []float64
		for _, p := range h.Points {
			all = append(all, get(p))
		}
		return all
	}
	marks := ""
	if slices.ContainsFunc(h.Points, func(p period.Point) bool { return p.Limit != watch.NoLimit }) {
		marks += " Coloured bars below: active limits."
	}
	if len(r.Marks) > 0 {
		marks += " Numbered lines: changes and trials."
	}
	charts := []watchedChart{{"Goodput", "Solid: sent. Broken: received." + marks, watchedPicture(h, r, "goodput in bit/s",
		shortBits, of(func(p period.Point) float64 { return p.Received }), of(func(p period.Point) float64 { return p.Sent }))}}
	rtts, slow := of(func(p period.Point) float64 { return p.RTT }), of(func(p period.Point) float64 { return p.SlowRTT })
	if slices.Max(slow) > 0 {
		for i := range rtts { // what is not known is not drawn
			if rtts[i] == 0 {
				rtts[i], slow[i] = math.NaN(), math.NaN()
			}
		}
		charts = append(charts, watchedChart{"Round-trip time", "Solid: median. Broken: 99th percentile." + marks,
			watchedPicture(h, r, "round-trip time in ms",
				func(v float64) string { return fmt.Sprintf("%g ms", v) }, slow, rtts)})
	}
	if loss := of(func(p period.Point) float64 { return p.Loss }); slices.Max(loss) > 0 {
		charts = append(charts, watchedChart{"Retransmitted", "Share of the segments." + marks,
			watchedPicture(h, r, "share of segments retransmitted", percent, nil, loss)})
	}
	return charts
}

// watchedPicture draws two series over the time of the report, the first broken.
func watchedPicture(h *period.Host, r *period.Report, label string,
	tick func(float64) string, series ...[]float64) template.HTML {
	const height, foot = 160.0, 14.0
	var c canvas
	span := max(r.To.Sub(r.From).Seconds(), 1)
	across := func(t time.Time) float64 { return plotWidth * min(max(t.Sub(r.From).Seconds()/span, 0), 1) }
	most := 0.0
	for _, values := range series {
		for _, v := range values {
			if v > most {
				most = v
			}
		}
	}
	timePanel(&c, 24, height, label, most, tick)
	for i, values := range series {
		for k := 1; k < len(values); k++ {
			a, b := h.Points[k-1], h.Points[k]
			known := !math.IsNaN(values[k-1]) && !math.IsNaN(values[k])
			if known && b.At.Sub(a.At).Seconds() <= 2*b.Seconds && most > 0 { // else nothing was recorded between
				c.line("curve "+armClass(i), across(a.At), 24+height*(1-values[k-1]/most), across(b.At),
					24+height*(1-values[k]/most))
			}
		}
	}
	for _, p := range h.Points {
		if p.Limit != watch.NoLimit {
			end := p.At.Add(time.Duration(p.Seconds * 1e9))
			c.titled("column "+armClass(watched(p.Limit)), across(p.At), across(end), 26+height, foot-4,
				clock(p.At)+": "+watch.LimitWords(p.Limit))
		}
	}
	for i, m := range r.Marks {
		c.line("guide a1", across(m.At), 28, across(m.At), 24+height)
		c.text("s", "middle", across(m.At), 26, fmt.Sprint(i+1))
	}
	for _, part := range []float64{0, 0.5, 1} {
		at := r.From.Add(time.Duration(part * span * 1e9))
		c.text("s", []string{"start", "middle", "end"}[int(2*part)], plotWidth*part, 24+height+foot+18,
			at.Local().Format("01-02 15:04:05"))
	}
	return template.HTML(c.chart(height+foot+50, label))
}

// watched tells the color of a limit: warnings differ from what is worth knowing.
func watched(limit string) int {
	if (watch.Verdict{Limit: limit}).Severity().AtLeast(diagnose.Warning) {
		return 0
	}
	return 1
}
