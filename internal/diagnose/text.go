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

// Text writes the diagnosis for a terminal of 80 columns: the host, its
// interfaces, the ceilings as a roofline, findings with the lines that prove
// them, and what to do next.
func (d Diagnosis) Text(w io.Writer) error {
	var b strings.Builder
	d.hostLine(&b)
	d.interfaces(&b)
	d.unfit(&b)
	d.roofline(&b)
	b.WriteString("\n")
	wrap(&b, "", "  ", d.Verdict)
	d.findings(&b)
	if n := len(d.NotEvaluated); n > 0 {
		fmt.Fprintf(&b, "\n%d rules not evaluated:\n", n)
		for _, group := range grouped(d.NotEvaluated) {
			wrap(&b, "  ", "    ", group)
		}
	}
	b.WriteString("\n")
	wrap(&b, "next: ", "      ", d.next())
	_, err := io.WriteString(w, b.String())
	return err
}

func (d Diagnosis) hostLine(b *strings.Builder) {
	f := d.Facts
	parts := []string{strings.TrimSpace(f.System.Title() + " " + f.Release)}
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
		parts = append(parts, fmt.Sprintf("observed for %.3g s", f.Window))
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
	nics = slices.DeleteFunc(nics, func(n facts.NIC) bool { return n.Kind == "loopback" })
	if len(nics) == 0 {
		return
	}
	slices.SortStableFunc(nics, func(a, b facts.NIC) int { return rankNIC(b) - rankNIC(a) })
	fmt.Fprintf(b, "\n%-15s %-12s %-8s %5s %6s %9s  %s\n", "interface", "driver", "speed", "mtu", "queues", "rx ring",
		"state")
	for _, n := range nics[:min(len(nics), nicRows)] {
		speed, ring, queues := "-", "-", "-"
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
		case n.Up:
			state = "up"
		case n.MTU == 0 && n.Speed == 0: // known by its counters or its slot alone
			state = "-"
		}
		if n.Duplex == "half" {
			state += ", half duplex"
		}
		kind := n.Driver
		if kind == "" {
			kind = n.Kind
		}
		fmt.Fprintf(b, "%-15s %-12s %-8s %5d %6s %9s  %s\n", terminal.Clip(n.Name, 15), terminal.Clip(kind, 12), speed,
			n.MTU, queues, ring, state)
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

func (d Diagnosis) roofline(b *strings.Builder) {
	head := "ceilings"
	if d.Path != nil {
		head += fmt.Sprintf(" on a path of %s and %s", units.Rate(d.Path.Rate), seconds(d.Path.RTT/1000))
	}
	fmt.Fprintf(b, "\n%s\n", head)
	low, high := d.extent()
	binding, _ := Binding(d.Ceilings)
	var unknown []NotEvaluated
	for _, c := range d.Ceilings {
		if !c.Known {
			unknown = append(unknown, NotEvaluated{c.Resource, strings.TrimPrefix(c.Because, "unknown, because ")})
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
		b.WriteString("  * binds: the lowest ceiling that is known; bars are logarithmic\n")
	}
	for _, u := range grouped(unknown) {
		wrap(b, "  ? ", "    ", u)
	}
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
		return fmt.Sprintf("%.3g pkt/s", c.Value)
	case ConnectRate:
		return fmt.Sprintf("%.3g conn/s", c.Value)
	}
	return rate(c.Value)
}

// rate prints a bit rate with three digits.
func rate(bps float64) string {
	for _, u := range []struct {
		factor float64
		name   string
	}{{1e12, "Tbit/s"}, {1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}} {
		if bps >= u.factor {
			return fmt.Sprintf("%.3g %s", bps/u.factor, u.name)
		}
	}
	return fmt.Sprintf("%.3g bit/s", bps)
}

func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.3g ms", s*1000)
	}
	return fmt.Sprintf("%.3g s", s)
}

func (d Diagnosis) findings(b *strings.Builder) {
	if len(d.Findings) == 0 {
		b.WriteString("\nno finding\n")
		return
	}
	for _, f := range d.Findings {
		fmt.Fprintf(b, "\n%s  %s\n", strings.ToUpper(string(f.Severity)), f.Rule)
		wrap(b, "  ", "  ", f.Subject+": "+f.Summary)
		for _, e := range f.Evidence {
			where := e.From
			if e.Line > 0 {
				where = fmt.Sprintf("%s:%d", e.From, e.Line)
			}
			if e.Output != "" {
				where += " (" + e.Output + ")"
			}
			wrap(b, "  | ", "  |   ", where+": "+e.Text)
		}
		wrap(b, "  why: ", "       ", f.Because)
		var settings []string
		for _, fix := range f.Fix {
			if fix.Setting != "" {
				settings = append(settings, fix.Setting)
			} else {
				wrap(b, "  do:  ", "       ", fix.Action)
			}
		}
		if len(settings) > 0 {
			wrap(b, "  see: ", "       ", "wirerate explain "+strings.Join(settings, ", "))
		}
		if f.Confirm != "" {
			wrap(b, "  confirmed if: ", "       ", f.Confirm)
		}
	}
}

// grouped joins the rules that share a reason.
func grouped(all []NotEvaluated) (out []string) {
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
