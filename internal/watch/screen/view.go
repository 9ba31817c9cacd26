package screen

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/watch"
)

// The styles: what matters differs in more than its color.
var (
	bold  = lipgloss.NewStyle().Bold(true)
	head  = lipgloss.NewStyle().Bold(true).Underline(true)
	faint = lipgloss.NewStyle().Faint(true)
	alarm = lipgloss.NewStyle().Bold(true).Reverse(true).Foreground(lipgloss.Yellow)
	good  = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Green)
	mark  = lipgloss.NewStyle().Reverse(true)
)

// View draws the screen.
func (m Model) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "wirerate watch"
	return v
}

// lines are as many as the terminal has, none wider than it.
func (m Model) lines() []string {
	var body []string
	switch s, known := m.state(); {
	case m.help:
		body = helpLines()
	case m.width < 40 || m.height < 8:
		body = []string{"a larger terminal is needed"}
	case !known:
		body = []string{m.title(), "", "waiting for " + clean(m.name())}
	case m.open != "":
		body = append(m.top(s), m.flowLines()...)
	default:
		body = m.overview(s)
	}
	last := faint.Render("? help  / filter  s sort: " + m.order.String() + "  enter flow  space pause  tab host  q quit")
	if m.typing || m.filter != "" {
		last = bold.Render("filter: "+clean(m.filter)) + map[bool]string{true: "_", false: "  (esc ends it)"}[m.typing]
	}
	body = body[:min(len(body), max(m.height-1, 0))]
	for len(body) < m.height-1 {
		body = append(body, "")
	}
	body = append(body, last)
	for i, line := range body {
		body[i] = ansi.Truncate(line, m.width, "…")
	}
	return body
}

// clean is text of a host for the terminal, in one line.
func clean(s string) string { return strings.Join(strings.Fields(terminal.Escape(s)), " ") }

func (m Model) title() string {
	title := bold.Render("wirerate watch") + "  " + clean(m.name())
	if len(m.hosts) > 1 {
		title += fmt.Sprintf("  (%d of %d hosts)", m.host+1, len(m.hosts))
	}
	if m.paused {
		title += "  " + mark.Render(" paused ")
	}
	if m.back > 0 {
		title += "  " + mark.Render(fmt.Sprintf(" %d states ago ", m.back))
	}
	if s, known := m.state(); known && s.Every > 0 && s.Every != 1 {
		title += fmt.Sprintf("  every %s s", units.Digits(s.Every, 3))
	}
	if m.player != nil {
		title += "  recorded"
	}
	return title
}

// top is what stands over everything: what limits each host, the path's values.
func (m Model) top(s watch.State) []string {
	lines := []string{m.title() + "  " + faint.Render(fmt.Sprintf("%s  %d of %d connections active",
		m.clock(s), s.Moving, s.Connections))}
	lines = append(lines, verdictLine("", s, m.width))
	for i, name := range m.hosts {
		if all := m.past[name]; i != m.host && len(all) > 0 {
			lines = append(lines, verdictLine(terminal.Clip(clean(name), max(8, m.width/4))+": ", all[len(all)-1], m.width))
		}
	}
	return append(lines, m.pathLines(s)...)
}

// clock is the time of a state; of a recording, with its day.
func (m Model) clock(s watch.State) string {
	if m.player != nil {
		return s.Time.Format(time.DateTime)
	}
	return s.Time.Format(time.TimeOnly)
}

// verdictLine says what limits a host. Where that is too long, for how long still
// stands there.
func verdictLine(host string, s watch.State, width int) string {
	style, text, lasts := bold, "limit  "+clean(s.Verdict.Cause()), ", "+s.Verdict.Lasting()
	switch {
	case s.Gone != "":
		style, text, lasts = alarm, "not reached: "+clean(s.Gone), ""
	case s.Verdict.Limit == watch.NoLimit:
		style, text, lasts = good, s.Verdict.Cause(), ""
	case s.Verdict.Severity().AtLeast(diagnose.Warning):
		style, text = alarm, strings.ToUpper(text[:5])+text[5:]
	}
	return faint.Render(host) + style.Render(terminal.Clip(text, max(0, width-ansi.StringWidth(host+lasts)))+lasts)
}

func (m Model) pathLines(s watch.State) []string {
	t := s.Traffic
	sent, received := m.course(func(s watch.State) float64 { return s.Traffic.Sent }),
		m.course(func(s watch.State) float64 { return s.Traffic.Received })
	ceiling := ""
	if s.Ceiling != nil {
		ceiling = fmt.Sprintf("  ceiling %s (%s)", diagnose.RateWords(s.Ceiling.Value), clean(s.Ceiling.Resource))
	}
	rtt := "RTT -"
	if t.RTT > 0 {
		rtt = fmt.Sprintf("RTT %s ms, min %s, p50 %s, p99 %s",
			units.Digits(t.RTT, 4), units.Digits(t.MinRTT, 4), units.Digits(t.P50, 4), units.Digits(t.P99, 4))
	}
	return []string{
		fmt.Sprintf("sent     %-12s %s%s", diagnose.RateWords(t.Sent), sparkline(sent, m.chartWidth()), ceiling),
		fmt.Sprintf("received %-12s %s", diagnose.RateWords(t.Received), sparkline(received, m.chartWidth())),
		fmt.Sprintf("%s   retransmitted %s/s (%s%%)", rtt, units.Digits(t.Retransmits, 3), units.Digits(100*t.Loss, 3)),
	}
}

// seen are the states up to the one that is shown.
func (m Model) seen() []watch.State {
	all := m.past[m.name()]
	return all[:max(len(all)-m.back, 0)]
}

func (m Model) chartWidth() int { return max(10, min(m.width-60, 120)) }

// course is a value over the states that are kept.
func (m Model) course(of func(watch.State) float64) []float64 {
	var all []float64
	for _, s := range m.seen() {
		all = append(all, of(s))
	}
	return all
}

// sparkline draws the last values as blocks, the largest a whole one.
func sparkline(values []float64, width int) string {
	blocks := []rune(" ▁▂▃▄▅▆▇█")
	values = values[max(0, len(values)-width):]
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	var b strings.Builder
	for range width - len(values) {
		b.WriteByte(' ')
	}
	for _, v := range values {
		i := 0
		if top > 0 && v > 0 {
			i = max(1, min(len(blocks)-1, int(v/top*float64(len(blocks)-1)+0.5)))
		}
		b.WriteRune(blocks[i])
	}
	return b.String()
}

// bar draws a share of one.
func bar(share float64, width int) string {
	n := int(min(max(share, 0), 1)*float64(width) + 0.5)
	return "[" + strings.Repeat("#", n) + strings.Repeat(".", width-n) + "]"
}

func (m Model) overview(s watch.State) []string {
	lines := m.top(s)
	for _, p := range s.Problems[:min(len(s.Problems), 3)] {
		lines = append(lines, alarm.Render(clean(p.Severity+"  "+p.Problem))+" "+clean(p.Subject+": "+p.Summary))
	}
	few := m.height < 40
	lines = append(lines, m.interfaceLines(s, map[bool]int{true: 3, false: 8}[few])...)
	lines = append(lines, processorLines(s, m.width, map[bool]int{true: 2, false: 8}[few])...)
	if level := levelLine(s); level != "" {
		lines = append(lines, level)
	}
	lines = append(lines, m.besideLines(map[bool]int{true: 4, false: 12}[few])...)
	if why := s.Missing["connections"]; why != "" {
		lines = append(lines, alarm.Render("connections are not known: "+clean(why)))
	} else if why := s.Missing["RTT"]; why != "" {
		lines = append(lines, faint.Render("not reported: "+clean(strings.Join(slices.Sorted(maps.Keys(s.Missing)), ", "))))
	}
	return append(lines, m.listLines(m.height-1-len(lines))...)
}

func (m Model) interfaceLines(s watch.State, most int) []string {
	lines := []string{head.Render(fmt.Sprintf("%-12s %11s %11s %9s %5s  %s", "INTERFACE", "SENT", "RECEIVED", "PACKETS/S",
		"USE", "DROPS/S"))}
	for _, n := range s.Interfaces[:min(len(s.Interfaces), most)] {
		use := "-"
		if n.Speed > 0 {
			use = fmt.Sprintf("%.0f%%", 100*max(n.Sent, n.Received)/n.Speed)
		}
		var drops []string
		for _, name := range slices.Sorted(maps.Keys(n.Drops)) {
			drops = append(drops, fmt.Sprintf("%s %s", clean(name), units.Digits(n.Drops[name], 3)))
		}
		lines = append(lines, fmt.Sprintf("%-12s %11s %11s %9.0f %5s  %s", terminal.Clip(clean(n.Name), 12),
			diagnose.RateWords(n.Sent), diagnose.RateWords(n.Received), n.SentPackets+n.ReceivedPackets, use,
			strings.Join(drops, ", ")))
	}
	return lines
}

// processorLines show the busiest ones.
func processorLines(s watch.State, width, rows int) []string {
	all := slices.Clone(s.Processors)
	slices.SortStableFunc(all, func(a, b watch.Busy) int { return cmp.Compare(b.Busy, a.Busy) })
	const each = 40
	columns := max(1, width/each)
	var lines []string
	for len(all) > 0 && len(lines) < rows {
		n := min(columns, len(all))
		var b strings.Builder
		for _, p := range all[:n] {
			fmt.Fprintf(&b, "%-*s ", each-1, fmt.Sprintf("cpu %-3d %s %3.0f%% irq %2.0f%% st %2.0f%%",
				p.ID, bar(p.Busy, 8), 100*p.Busy, 100*p.Interrupt, 100*p.Stolen))
		}
		lines, all = append(lines, b.String()), all[n:]
	}
	return lines
}

func levelLine(s watch.State) string {
	var parts []string
	for _, l := range s.Levels {
		share := float64(l.Used) / float64(max(l.Limit, 1))
		parts = append(parts, fmt.Sprintf("%s %s %.0f%%", clean(l.Name), bar(share, 8), 100*share))
	}
	return strings.Join(parts, "   ")
}

// flows are those of the host that is shown, filtered and in order.
func (m Model) flows() []watch.Flow {
	s, _ := m.state()
	var all []watch.Flow
	for _, f := range s.Flows {
		if m.matches(f) {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b watch.Flow) int {
		switch m.order {
		case ByAge:
			return cmp.Compare(b.Age, a.Age)
		case ByRetransmits:
			return cmp.Compare(b.Retransmits, a.Retransmits)
		case ByRTT:
			return cmp.Compare(b.RTT, a.RTT)
		}
		return cmp.Compare(b.Sent+b.Received, a.Sent+a.Received)
	})
	return all
}

func (m Model) listLines(rows int) []string {
	all := m.flows()
	wide := m.width >= 120
	const others = 39 // columns of rate, RTT, limit and the blanks
	address := min(max((m.width-others)/2, 8), 21)
	local, peer, limit := address, address, 17
	for _, f := range all {
		if wide { // room for whole addresses of IPv6, and for a host's name
			local, peer = max(local, min(len(f.Local), 45)), max(peer, min(len(f.Peer), 45))
			limit = max(limit, min(ansi.StringWidth(limitNow(f)), 34))
		}
	}
	title := fmt.Sprintf("%-*s %-*s %11s %7s %-*s", local, "LOCAL", peer, "PEER", "RATE", "RTT ms", limit, "LIMIT NOW")
	if wide {
		title += fmt.Sprintf(" %8s %8s %9s %10s %11s %6s", "AGE", "AGAIN/S", "CWND", "IN FLIGHT", "PEER WINDOW", "BUSY")
	}
	lines := []string{head.Render(strings.TrimRight(title, " "))}
	from := max(0, m.cursor-max(rows-2, 0))
	for i := from; i < len(all) && len(lines) < rows; i++ {
		f := all[i]
		line := fmt.Sprintf("%-*s %-*s %11s %7.4g %s", local, terminal.Clip(f.Local, local), peer,
			terminal.Clip(f.Peer, peer), diagnose.RateWords(max(f.Sent, f.Received)), f.RTT, limitNow(f))
		if wide {
			line = fmt.Sprintf("%-*s", local+peer+limit+23, terminal.Clip(line, local+peer+limit+22))
			line += fmt.Sprintf("%8s %8.3g %9d %10s %11s %5.0f%%", age(f.Age), f.Retransmits, f.Window, size(f.Flight),
				size(uint64(f.Offered)), 100*f.Busy)
		}
		if i == m.cursor {
			line = mark.Render(line)
		}
		lines = append(lines, line)
	}
	if len(all) == 0 {
		lines = append(lines, faint.Render("no active flows"))
	}
	return lines[:min(len(lines), max(rows, 0))]
}

// limitNow is what limits a flow, and where, as far as it is known.
func limitNow(f watch.Flow) string {
	if f.End == "" {
		return cmp.Or(f.Limit, "-")
	}
	return cmp.Or(f.Limit, "-") + " at " + clean(f.End)
}

// flowLines show one flow: now, and its course.
func (m Model) flowLines() []string {
	var course []watch.Flow
	for _, s := range m.seen() {
		for _, f := range s.Flows {
			if f.ID == m.open {
				course = append(course, f)
			}
		}
	}
	if len(course) == 0 {
		return []string{"", "this flow is gone; esc goes back"}
	}
	f := course[len(course)-1]
	limit := "not limited"
	if f.Limit != "" {
		limit = watch.LimitWords(f.Limit) + ", since " + f.Since.Format(time.TimeOnly)
	}
	line := func(name, now string, of func(watch.Flow) float64) string {
		values := make([]float64, len(course))
		for i := range course {
			values[i] = of(course[i])
		}
		return fmt.Sprintf("%-13s %-13s %s", name, now, sparkline(values, max(10, m.width-30)))
	}
	lines := []string{"", head.Render(f.Local + " - " + f.Peer), bold.Render(limit), "",
		line("sent", diagnose.RateWords(f.Sent), func(f watch.Flow) float64 { return f.Sent }),
		line("received", diagnose.RateWords(f.Received), func(f watch.Flow) float64 { return f.Received }),
		line("RTT", fmt.Sprintf("%s ms", units.Digits(f.RTT, 4)), func(f watch.Flow) float64 { return f.RTT }),
		line("in flight", size(f.Flight), func(f watch.Flow) float64 { return float64(f.Flight) }),
		line("peer's window", size(uint64(f.Offered)), func(f watch.Flow) float64 { return float64(f.Offered) }),
		line("cwnd", fmt.Sprintf("%d segments", f.Window), func(f watch.Flow) float64 { return float64(f.Window) }),
		line("retransmitted", fmt.Sprintf("%s/s", units.Digits(f.Retransmits, 3)), func(f watch.Flow) float64 { return f.Retransmits }),
		line("unsent", size(uint64(f.Unsent)), func(f watch.Flow) float64 { return float64(f.Unsent) }), "",
		fmt.Sprintf("of the time: data to send %.0f%%, peer's window full %.0f%%, send buffer full %.0f%%", 100*f.Busy,
			100*f.PeerLimited, 100*f.SendLimited)}
	return append(lines, otherLines(f)...)
}

func size(n uint64) string { return units.Bytes(n).String() }

// age is for how long a flow was seen.
func age(seconds float64) string {
	return units.Duration((time.Duration(seconds) * time.Second).Round(time.Second))
}

// otherLines are what the other end says of a flow, where it is watched.
func otherLines(f watch.Flow) []string {
	o := f.Other
	if o == nil {
		return nil
	}
	return []string{fmt.Sprintf("the other end, %s: %s; limited at %s",
		clean(o.Host), cmp.Or(o.Limit, "no limit"), cmp.Or(clean(f.End), "?")),
		fmt.Sprintf("  %s unread, RTT %s ms, retransmitted %s/s", units.Bytes(o.Unread), units.Digits(o.RTT, 4), units.Digits(o.Retransmits, 3))}
}

func helpLines() []string {
	return []string{bold.Render("wirerate watch"), "",
		"The top line shows the current limit, and for how long. LIMIT NOW shows it for",
		"each flow:", "",
		"  program            has nothing to send        send-buffer  it is full",
		"  peer-window        the peer's window is full  slow-reader  does not read",
		"  congestion-window  small since losses         slow-start   still opening",
		"  path-rate          the path carries no more   policer      loss above a rate",
		"  mtu-black-hole     large packets are lost     timer-stall  no answer", "",
		"  up, down   choose a flow         enter   its course; esc goes back",
		"  s          next order            /       filter: address, :port, eth0",
		"  tab        next host             space   pause",
		"  left       back in time          right   forth; of a recording also on",
		"  n          next limit            + -     speed of a recording", "  q          end"}
}
