package screen

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/wirerate/wirerate/internal/watch"
)

// state is one with some of everything.
func state(host string, flows int) watch.State {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := watch.State{Schema: 1, Host: host, Time: at, Interval: 1, Connections: flows + 3, Moving: flows,
		Verdict: watch.Verdict{Limit: "send-buffer", Flows: 3, Peer: "192.0.2.7", Since: at, Seconds: 42},
		Traffic: watch.Traffic{Sent: 9e8, RTT: 40},
		Interfaces: []watch.Interface{{Name: "eth0\x1b[2Jx", Sent: 9e8, Speed: 1e9,
			Drops: map[string]float64{"queue_dropped": 3}}},
		Processors: []watch.Busy{{ID: 0, Busy: 0.5}, {ID: 1, Busy: 0.97, Interrupt: 0.4}},
		Levels:     []watch.Level{{Name: "conntrack", Used: 50, Limit: 100}}}
	for i := range flows {
		s.Flows = append(s.Flows, watch.Flow{ID: fmt.Sprint(i), Local: "192.0.2.1:443", Peer: fmt.Sprintf("192.0.2.7:%d", 4000+i),
			Sent: float64(1000 - i), RTT: float64(i), Limit: "send-buffer", Since: at})
	}
	return s
}

func key(s string) tea.KeyPressMsg {
	switch s {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "tab":
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	}
	return tea.KeyPressMsg{Code: []rune(s)[0], Text: s}
}

// drive gives messages to a screen and returns what it shows, without colors.
func drive(t *testing.T, m tea.Model, msgs ...tea.Msg) (tea.Model, string) {
	t.Helper()
	for _, msg := range msgs {
		m, _ = m.Update(msg)
	}
	return m, ansi.Strip(m.View().Content)
}

func TestScreen(t *testing.T) {
	m, text := drive(t, New([]string{"local", "ns:b"}))
	if !strings.Contains(text, "waiting for local") {
		t.Errorf("before the first state: %s", text)
	}
	size := tea.WindowSizeMsg{Width: 80, Height: 24}
	m, text = drive(t, m, size, StateMsg(state("local", 30)), StateMsg(state("ns:b", 0)))
	for _, want := range []string{"LIMIT  send buffer: 3 flows with 192.0.2.7, for 42 s", "ns:b: LIMIT", "900 Mbit/s", "90%",
		"queue_dropped 3", "cpu 1   [########]  97% irq 40%", "conntrack [####....] 50%", "192.0.2.7:4000"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the screen:\n%s", want, text)
		}
	}
	m, text = drive(t, m, key("down"), key("enter"))
	if !strings.Contains(text, "192.0.2.1:443 - 192.0.2.7:4001") || !strings.Contains(text, "send buffer, since 03:04:05") {
		t.Errorf("the second flow:\n%s", text)
	}
	_, text = drive(t, m, StateMsg(state("local", 0)), StateMsg(state("local", 0)))
	if !strings.Contains(text, "192.0.2.7:4001") {
		t.Errorf("the course of a flow that has ended is lost:\n%s", text)
	}
	m, text = drive(t, m, StateMsg(state("local", 30)), key("esc"), key("/"), key(":"), key("4"), key("0"), key("0"), key("7"), key("enter"))
	if !strings.Contains(text, "192.0.2.7:4007") || strings.Contains(text, "192.0.2.7:4008") || !strings.Contains(text, "filter: :4007") {
		t.Errorf("filtered by a port:\n%s", text)
	}
	m, text = drive(t, m, key("esc"), key("s"), key("s"), key("s"))
	if !strings.Contains(text, "sort: RTT") || strings.Index(text, "192.0.2.7:4029") > strings.Index(text, "192.0.2.7:4028") {
		t.Errorf("by RTT:\n%s", text)
	}
	if _, text = drive(t, m, key("?")); !strings.Contains(text, "peer-window        the peer's window is full") {
		t.Errorf("help:\n%s", text)
	}
	if _, text = drive(t, m, key("tab")); !strings.Contains(text, "(2 of 2 hosts)") {
		t.Errorf("the other host:\n%s", text)
	}
	m, _ = drive(t, m, key("space"))
	if _, text = drive(t, m, StateMsg(watch.State{Host: "local"})); !strings.Contains(text, "paused") ||
		!strings.Contains(text, "send buffer") {
		t.Errorf("paused:\n%s", text)
	}
}

// Whatever the size is, no line is wider and none is missing; nothing of a host's
// reaches the terminal as it is.
func TestSizes(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {40, 8}, {20, 5}, {1, 1}, {500, 10}} {
		for _, keys := range [][]tea.Msg{nil, {key("enter")}, {key("?")}} {
			m, _ := drive(t, New([]string{"local"}), tea.WindowSizeMsg{Width: size[0], Height: size[1]},
				StateMsg(state("local", 40)))
			m, _ = drive(t, m, keys...)
			content := m.View().Content
			if strings.Contains(content, "\x1b[2J") {
				t.Fatal("an interface's name clears the screen")
			}
			lines := strings.Split(content, "\n")
			if len(lines) != size[1] {
				t.Errorf("%v: %d lines", size, len(lines))
			}
			for _, line := range lines {
				if w := ansi.StringWidth(line); w > size[0] {
					t.Errorf("%v: a line of %d columns: %q", size, w, line)
				}
			}
		}
	}
}

// What a line has no room for is marked, and is never for how long something has
// limited; columns stay where they are.
func TestLongNames(t *testing.T) {
	a, b := state("ns:a-very-long-name-of-a-client", 3), state("ns:a-very-long-name-of-a-server", 3)
	a.Verdict.End, a.Flows[1].End = b.Host, b.Host
	a.Flows[1].Other = &watch.OtherEnd{Host: b.Host, Limit: "slow-reader"}
	m, text := drive(t, New([]string{a.Host, b.Host}), tea.WindowSizeMsg{Width: 60, Height: 24}, StateMsg(a), StateMsg(b))
	for line := range strings.Lines(text) {
		if strings.Contains(line, "LIMIT  ") && !strings.HasSuffix(line, ", for 42 s\n") {
			t.Errorf("%q", line)
		}
	}
	if strings.Count(text, "…, for 42 s") != 2 {
		t.Errorf("nothing marks what was cut:\n%s", text)
	}
	c := state("local", 1)
	c.Flows[0].Limit = "congestion-window"
	narrow, text := drive(t, New([]string{"local"}), tea.WindowSizeMsg{Width: 80, Height: 24}, StateMsg(c))
	if strings.Contains(text, "…") || !strings.Contains(text, " congestion-window") {
		t.Errorf("80 columns are too few:\n%s", text)
	}
	if _, text = drive(t, narrow, key("?")); strings.Contains(text, "…") {
		t.Errorf("80 columns are too few for help:\n%s", text)
	}
	m, text = drive(t, m, tea.WindowSizeMsg{Width: 200, Height: 24})
	ends := map[int]bool{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "192.0.2.1:443") {
			ends[ansi.StringWidth(strings.TrimSpace(line))] = true
		}
	}
	if len(ends) != 1 {
		t.Errorf("the columns of flows are not below each other:\n%s", text)
	}
	if _, text = drive(t, m, key("down"), key("enter"), tea.WindowSizeMsg{Width: 80, Height: 24}); !strings.Contains(text, "unread, RTT") {
		t.Errorf("what the other end says is cut:\n%s", text)
	}
}

// Back in time, and a recording that is stepped through.
func TestTimeLine(t *testing.T) {
	m := tea.Model(Replay(NewPlayer()))
	first, second := state("local", 2), state("local", 2)
	first.Verdict.Limit, second.Time = "peer-window", first.Time.Add(time.Second)
	m, text := drive(t, m, StateMsg(first), StateMsg(second), tea.KeyPressMsg{Code: tea.KeyLeft})
	if !strings.Contains(text, "the peer's window") || !strings.Contains(text, "1 states ago") ||
		!strings.Contains(text, "2026-01-02 03:04:05") {
		t.Errorf("a state back:\n%s", text)
	}
	if _, text = drive(t, m, tea.KeyPressMsg{Code: tea.KeyRight}); !strings.Contains(text, "send buffer") {
		t.Errorf("and forth:\n%s", text)
	}
}

// Probes stand with what they told over time, switch ports with what they told last.
func TestBeside(t *testing.T) {
	a, b := state("local", 0), state("local", 0)
	p := watch.Probe{Target: "icmp:a\x1b[2J"}
	p.Answer(20_000)
	p.Sum()
	a.Probes = []watch.Probe{p}
	a.Switch = []watch.SwitchPort{{Switch: "sw\x1b[2J", Port: "1", Status: "up", Seconds: 5, Speed: 1e9,
		Counts: map[string]uint64{"in_bytes": 62_500_000, "in_fcs_errors": 10}}}
	b.Probes = []watch.Probe{{Target: "icmp:a\x1b[2J", Lost: 1}, {Target: "tcp:b:1"}, {Target: "tcp:c:1"}, {Target: "tcp:d:1"}}
	m, _ := drive(t, New([]string{"local"}), StateMsg(a), StateMsg(b))
	text := m.View().Content
	if strings.Contains(text, "\x1b[2J") {
		t.Error("a target's name reaches the terminal")
	}
	for _, want := range []string{"p50 20  p99 20  max 20 ms", "lost 50%", "and 2 more"} {
		if !strings.Contains(ansi.Strip(text), want) {
			t.Errorf("%q is not there:\n%s", want, ansi.Strip(text))
		}
	}
	_, large := drive(t, m, tea.WindowSizeMsg{Width: 200, Height: 60})
	if !strings.Contains(large, "1: in 100 Mbit/s, out 0 bit/s of 1 Gbit/s, in_fcs_errors 2/s") {
		t.Errorf("the switch:\n%s", large)
	}
}

func TestPlayer(t *testing.T) {
	p := NewPlayer()
	m := Replay(p)
	m = m.moved("space") // nothing comes while it is paused
	a, b := state("local", 0), state("local", 0)
	b.Time, b.Verdict.Limit = a.Time.Add(time.Hour), "program"
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := p.Wait(ctx, a, b); err == nil {
		t.Error("it went on while it was paused")
	}
	m = m.moved("right")
	if err := p.Wait(t.Context(), a, b); err != nil {
		t.Error(err)
	}
	m.moved("n")
	for _, next := range []watch.State{a, a, b} { // it stops at the change
		if err := p.Wait(t.Context(), a, next); err != nil {
			t.Error(err)
		}
	}
	if p.jump || !p.paused {
		t.Error("it does not stop where something else limits")
	}
}
