package diagnose

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/units"
)

// Text writes the diagnosis for a terminal of 80 columns: the verdict with what
// proves and cures it, the other findings, the host, its interfaces, the
// ceilings as a roofline, what is not known, and what to do next. What is not
// known has one line for each kind, unless all is wanted.
func (d Diagnosis) Text(w io.Writer, all bool) error {
	var b strings.Builder
	rest := d.Findings
	wrap(&b, "", "  ", d.Verdict)
	if len(rest) > 0 && strings.Contains(d.Verdict, ": "+rest[0].Rule+": ") {
		rest[0].details(&b)
		rest = rest[1:]
	}
	for _, f := range rest {
		fmt.Fprintf(&b, "\n%s  %s  (%s)\n", strings.ToUpper(string(f.Severity)), f.Rule, f.Confidence)
		wrap(&b, "  ", "  ", f.Said())
		f.details(&b)
	}
	b.WriteString("\n")
	d.negligible(&b, all)
	d.hostLine(&b)
	d.interfaces(&b)
	d.unfit(&b)
	d.roofline(&b, all)
	d.unread(&b, all)
	if n := len(d.NotEvaluated); n > 0 && all {
		fmt.Fprintf(&b, "\n%d rules not evaluated:\n", n)
		for _, group := range Grouped(d.NotEvaluated) {
			wrap(&b, "  ", "    ", group)
		}
	} else if n > 0 {
		fmt.Fprintf(&b, "\n%s not evaluated: the data %s is missing (--all)\n", counted(n, "rule"),
			map[bool]string{true: "it needs", false: "they need"}[n == 1])
	}
	b.WriteString("\n")
	wrap(&b, "next: ", "      ", d.Next)
	if d.nextNote != "" {
		wrap(&b, "      ", "      ", "("+d.nextNote+")")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// negligibleRows bounds what is shown of losses that are too small to matter.
const negligibleRows = 3

// negligible answers for the counters that somebody may worry about without a reason.
func (d Diagnosis) negligible(b *strings.Builder, all bool) {
	rows := len(d.Negligible)
	if !all {
		rows = min(rows, negligibleRows)
	}
	for _, n := range d.Negligible[:rows] {
		wrap(b, "too few to matter: ", "  ", n.Summary+" ("+place(n.Evidence[0])+")")
	}
	if more := len(d.Negligible) - rows; more > 0 {
		wrap(b, "too few to matter: ", "  ", counted(more, "other counter")+" (--all)")
	}
	if rows > 0 {
		b.WriteString("\n")
	}
}

// place is where a line was read.
func place(s facts.Source) string {
	if s.Line > 0 {
		return fmt.Sprintf("%s:%d", s.From, s.Line)
	}
	return s.From
}

// unread lists what was posted and not understood.
func (d Diagnosis) unread(b *strings.Builder, all bool) {
	if len(d.Unread) == 0 {
		return
	}
	if !all {
		wrap(b, "\n", "  ", d.unreadWords()+" (--all)")
		return
	}
	b.WriteString("\nnot understood:\n")
	for _, u := range d.Unread {
		where := counted(max(1, u.Lines), "line")
		if u.Line > 0 {
			where = fmt.Sprintf("line %d, %s", u.Line, where)
		}
		said := where + ": "
		if u.Command != "" {
			said += u.Command + ": "
		}
		said += u.Words
		if u.Because != "" {
			said += " (" + u.Because + ")"
		}
		wrap(b, "  ", "    ", said)
	}
}

func (d Diagnosis) hostLine(b *strings.Builder) {
	f := d.Facts
	parts := []string{f.SystemWords()}
	if f.Distribution != "" {
		parts = append(parts, f.Distribution)
	}
	if f.Cores > 0 {
		parts = append(parts, fmt.Sprintf("%d cores", f.Cores))
	}
	if f.Memory > 0 {
		parts = append(parts, f.Memory.String()+" of memory")
	}
	if f.Window > 0 {
		parts = append(parts, fmt.Sprintf("observed for %s s", units.Digits(f.Window, 3)))
	}
	name := f.Host
	if f.Node != "" && f.Node != "unknown" && f.Node != f.Host {
		name += " (" + f.Node + ")"
	}
	wrap(b, "", "  ", name+": "+strings.Join(parts, ", "))
}

// unfitRows bounds what is shown of names that are none.
const unfitRows = 5

// unfit shows the names of the host that its system cannot have.
func (d Diagnosis) unfit(b *strings.Builder) {
	names := d.Facts.Unfit
	for _, u := range names[:min(len(names), unfitRows)] {
		wrap(b, "left out: ", "  ", fmt.Sprintf("%s %+.60q: %s", u.Kind, u.Text, u.Because))
	}
	if len(names) > unfitRows {
		wrap(b, "left out: ", "  ", fmt.Sprintf("%d more such names", len(names)-unfitRows))
	}
}

// nicRows bounds the table of interfaces.
const nicRows = 10

func (d Diagnosis) interfaces(b *strings.Builder) {
	nics := slices.Clone(d.Facts.NICs)
	nics = slices.DeleteFunc(nics, func(n facts.NIC) bool {
		return n.Kind == "loopback" || n.Name == facts.UnnamedLink && n.MTU == 0 && n.Speed == 0
	})
	if len(nics) == 0 {
		return
	}
	slices.SortStableFunc(nics, func(a, b facts.NIC) int { return rankNIC(b) - rankNIC(a) })
	fmt.Fprintf(b, "\n%-15s %-12s %-8s %5s %6s %9s  %s\n", "interface", "driver", "speed", "mtu", "queues", "rx ring",
		"state")
	for _, n := range nics[:min(len(nics), nicRows)] {
		speed, ring, queues, mtu := "-", "-", "-", "-"
		if n.MTU > 0 {
			mtu = fmt.Sprint(n.MTU)
		}
		if n.Speed > 0 {
			speed = n.Speed.String()
		}
		if n.Rings.RX > 0 {
			ring = fmt.Sprintf("%d/%d", n.Rings.RX, n.Rings.RXMax)
		}
		if q := max(n.Queues.RX, n.Queues.Combined); q > 0 {
			queues = fmt.Sprint(q)
		}
		state := "down"
		switch {
		case n.Up && !n.StateUnknown:
			state = "up"
		case n.StateUnknown, n.MTU == 0 && n.Speed == 0: // known by its counters or its slot alone
			state = "-"
		}
		if n.Duplex == "half" {
			state += ", half duplex"
		}
		kind := n.Driver
		if kind == "" {
			kind = n.Kind
		}
		fmt.Fprintf(b, "%-15s %-12s %-8s %5s %6s %9s  %s\n", terminal.Clip(n.Name, 15), terminal.Clip(kind, 12), speed,
			mtu, queues, ring, state)
	}
	if more := len(nics) - nicRows; more > 0 {
		fmt.Fprintf(b, "and %d more\n", more)
	}
}

// rankNIC puts what carries traffic first.
func rankNIC(n facts.NIC) int {
	rank := 0
	if n.Up {
		rank += 2
	}
	if physical(&n) {
		rank++
	}
	return rank
}

// barWidth is the longest bar of the roofline.
const barWidth = 30

func (d Diagnosis) roofline(b *strings.Builder, all bool) {
	head := "ceilings"
	if d.Path != nil {
		head += fmt.Sprintf(" on a path of %s and %s", units.Rate(d.Path.Rate), seconds(d.Path.RTT/1000))
		if d.Path.From != "" {
			head += ", " + d.Path.From
		}
	}
	b.WriteString("\n")
	wrap(b, "", "  ", head)
	low, high := d.extent()
	binding, _ := Binding(d.Ceilings)
	for _, c := range d.Ceilings {
		if !c.Known {
			continue
		}
		mark := " "
		if c.Resource == binding.Resource && c.Host == binding.Host {
			mark = "*"
		}
		bar := ""
		if c.Metric == Goodput {
			bar = strings.Repeat("=", barLength(c.Value, low, high))
		}
		name := c.Resource
		if c.Host != "" && c.Host != d.Host {
			name += " (" + c.Host + ")"
		}
		fmt.Fprintf(b, "%s %-22s %12s  %s\n", mark, terminal.Clip(name, 22), amount(c), bar)
		if mark == "*" {
			wrap(b, "    ", "    ", c.Because)
		}
	}
	if m := d.Measured; m != nil {
		for _, v := range []struct {
			what string
			bps  float64
		}{{"sent", m.Sent}, {"received", m.Received}} {
			fmt.Fprintf(b, "  %-22s %12s  %s\n", terminal.Clip(v.what+" now, "+m.Interface, 22), rate(v.bps),
				strings.Repeat("#", barLength(v.bps, low, high)))
		}
	}
	if binding.Known {
		b.WriteString("  * binding: the lowest known ceiling; bars are logarithmic\n")
	}
	unknown := unknownCeilings(d.Ceilings)
	if !all && len(unknown) > 0 {
		var names []string
		for _, u := range unknown {
			if !slices.Contains(names, u.Rule) {
				names = append(names, u.Rule)
			}
		}
		wrap(b, "  ? ", "    ", "unknown: "+strings.Join(names, ", ")+" (--all shows why)")
		return
	}
	for _, u := range Grouped(unknown) {
		wrap(b, "  ? ", "    ", u)
	}
}

// WhyUnknown says why ceilings are not known, each reason once with the resources that it is the reason of.
func WhyUnknown(all []Ceiling) []string { return Grouped(unknownCeilings(all)) }

func unknownCeilings(all []Ceiling) (out []NotEvaluated) {
	for _, c := range all {
		if !c.Known {
			out = append(out, NotEvaluated{c.Resource, strings.TrimPrefix(c.Because, "unknown, because ")})
		}
	}
	return out
}

// extent is the range of the roofline's bars.
func (d Diagnosis) extent() (low, high float64) {
	for _, c := range d.Ceilings {
		if c.Known && c.Metric == Goodput {
			high = max(high, c.Value)
			if low == 0 || c.Value < low {
				low = c.Value
			}
		}
	}
	return low / 10, high
}

func barLength(v, low, high float64) int {
	if v <= low || low <= 0 || high <= low {
		return 0
	}
	return max(1, int(math.Round(barWidth*math.Log(min(v, high)/low)/math.Log(high/low))))
}

func amount(c Ceiling) string {
	switch c.Metric {
	case PacketRate:
		return fmt.Sprintf("%s pkt/s", units.Digits(c.Value, 3))
	case ConnectRate:
		return fmt.Sprintf("%s conn/s", units.Digits(c.Value, 3))
	}
	return rate(c.Value)
}

// RateWords is a rate in bit/s as people write it: 671 Mbit/s.
func RateWords(bps float64) string { return rate(bps) }

// rate prints a bit rate with three digits.
func rate(bps float64) string {
	for _, u := range []struct {
		factor float64
		name   string
	}{{1e12, "Tbit/s"}, {1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}} {
		if bps >= u.factor {
			return fmt.Sprintf("%s %s", units.Digits(bps/u.factor, 3), u.name)
		}
	}
	return fmt.Sprintf("%s bit/s", units.Digits(bps, 3))
}

func seconds(s float64) string {
	if s < 1 {
		return units.Digits(s*1000, 3) + " ms"
	}
	return fmt.Sprintf("%s s", units.Digits(s, 3))
}

// details are the lines that prove a finding, why it matters, what to do, and what would confirm it.
func (f Finding) details(b *strings.Builder) {
	for _, e := range f.Evidence {
		where := place(e)
		if e.Output != "" {
			where += " (" + e.Output + ")"
		}
		wrap(b, "  | ", "  |   ", where+": "+e.Text)
	}
	if f.Host != "" {
		wrap(b, "  at:  ", "       ", f.Host+" (the other end); run the commands there")
	}
	wrap(b, "  why: ", "       ", f.Because)
	for i, fix := range f.Fix {
		if i+1 < len(f.Fix) && f.Fix[i+1].ValueFor == fix.ValueFor {
			fix.ValueFor = "" // said with the last one
		}
		for i, step := range fix.Steps() {
			lead := "       "
			if i == 0 {
				lead = "  do:  "
			}
			wrap(b, lead, "         ", step)
		}
	}
	if f.Confirm != "" {
		wrap(b, "  confirmed if: ", "       ", f.Confirm)
	}
}

// formulaWidth is how long a formula may be that is read at a glance.
const formulaWidth = 60

// Steps say what to do: in words, as a command for now, as the line of a file for good.
func (f Fix) Steps() (steps []string) {
	if f.Action != "" {
		steps = append(steps, f.Action)
	}
	if f.Command != "" {
		steps = append(steps, f.Command)
	}
	if f.File != "" {
		kept := "in " + f.File + ": " + f.Line
		if strings.HasPrefix(f.File, "the ") { // kernel command line, which is no file
			kept = "on " + f.File + ": " + f.Line
		}
		if f.Command != "" {
			kept = "to make it permanent, " + kept
		}
		steps = append(steps, kept)
	}
	if f.Setting != "" && len(steps) == 0 {
		to := "; wirerate explain shows the value"
		if f.Value != "" {
			to = " to " + f.Value
		}
		steps = append(steps, "set "+f.Setting+to)
	}
	if f.ValueFor != "" {
		steps = append(steps, "the value is "+f.ValueFor)
	}
	if value := f.valueWords(); value != "" {
		steps = append(steps, value)
	}
	return steps
}

// valueWords say how to choose a value that is not known.
func (f Fix) valueWords() string {
	const lead = unknownValue + ": "
	switch {
	case f.Value != "" || f.Formula == "" && !strings.Contains(f.Command+f.Line, unknownValue):
		return ""
	case f.Setting == steering:
		return lead + "one bit per CPU, in hexadecimal: f for 4 CPUs, ff for 8"
	case raisedFrom(f.Setting) && strings.HasPrefix(f.Command, "sysctl "):
		computed := ""
		if f.Formula != "" {
			computed = "; wirerate plan computes it"
		}
		return lead + "start with twice what sysctl " + f.Setting + " shows" + computed
	case raisedFrom(f.Setting):
		return lead + "start with twice the current value"
	case f.Formula == "":
		return lead + "wirerate explain " + f.Setting + " shows how to choose it"
	case len(f.Formula) > formulaWidth:
		return lead + "wirerate plan computes it; wirerate explain " + f.Setting + " shows how"
	}
	return lead + f.Formula + " (wirerate plan computes it)"
}

// Grouped says each reason once, with the rules that it kept from judging.
func Grouped(all []NotEvaluated) (out []string) {
	rules := map[string][]string{}
	var order []string
	for _, n := range all {
		if rules[n.Because] == nil {
			order = append(order, n.Because)
		}
		rules[n.Because] = append(rules[n.Because], n.Rule)
	}
	for _, why := range order {
		out = append(out, why+" ("+strings.Join(rules[why], ", ")+")")
	}
	return out
}

// wrap writes words in lines that fit, the first one behind first, the others
// behind rest.
func wrap(b *strings.Builder, first, rest, s string) {
	b.WriteString(terminal.Wrap(terminal.Columns, first, rest, s))
}

// Table writes one line for each of several hosts: what limits it, where and how surely.
func Table(w io.Writer, all []Diagnosis) error {
	var b strings.Builder
	wide := len("host")
	for _, d := range all {
		wide = min(max(wide, len([]rune(d.Host))), 24)
	}
	fmt.Fprintf(&b, "%-*s  %-9s %-10s %s\n", wide, "host", "severity", "confidence", "cause")
	for _, d := range all {
		severity, sure, cause := "-", "-", d.Verdict
		if len(d.Findings) > 0 {
			f := d.Findings[0]
			severity, sure, cause = string(f.Severity), string(f.Confidence), f.Rule+": "+f.Subject
			if more := len(d.Findings) - 1; more > 0 {
				cause += fmt.Sprintf(" (and %s)", counted(more, "further finding"))
			}
		}
		lead := fmt.Sprintf("%-*s  %-9s %-10s ", wide, terminal.Clip(d.Host, wide), severity, sure)
		wrap(&b, lead, strings.Repeat(" ", len([]rune(lead))), cause)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
