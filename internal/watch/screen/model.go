// Package screen shows on a terminal what limits hosts now.
package screen

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/wirerate/wirerate/internal/watch"
)

// Order is by what flows are sorted.
type Order int

// The orders.
const (
	ByRate Order = iota
	ByAge
	ByRetransmits
	ByRTT
)

func (o Order) String() string { return [...]string{"rate", "age", "sent again", "RTT"}[o] }

const (
	history = 600 // states kept of each host
	minimum = 24  // rows and, of columns, 80: what the screen is made for
)

// StateMsg is the next state of a host.
type StateMsg watch.State

// EndMsg ends the screen.
type EndMsg struct{}

// Model is the screen.
type Model struct {
	hosts         []string
	past          map[string][]watch.State
	host          int // that is shown
	width, height int
	order         Order
	cursor        int
	open          string // ID of the flow that is shown alone; empty for the list
	help, typing  bool
	filter        string
	paused        bool
	back          int     // how many states ago is shown
	player        *Player // of a recording; nil live
}

// New is the screen of hosts by their names.
func New(hosts []string) Model {
	return Model{hosts: hosts, past: map[string][]watch.State{}, width: 80, height: minimum}
}

// Replay is the screen of a recording, in the hands of a player. Its hosts are
// those that it tells.
func Replay(p *Player) Model {
	m := New(nil)
	m.player = p
	return m
}

// Recorded reports whether it shows a recording.
func (m Model) Recorded() bool { return m.player != nil }

// Init does nothing.
func (m Model) Init() tea.Cmd { return nil }

// Update takes a key, a size or a state.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case StateMsg:
		s := watch.State(msg)
		if m.paused && m.player == nil {
			break
		}
		if !slices.Contains(m.hosts, s.Host) {
			m.hosts = append(slices.Clone(m.hosts), s.Host)
		}
		all := append(m.past[s.Host], s)
		m.past[s.Host] = all[max(0, len(all)-history):]
	case EndMsg:
		return m, tea.Quit
	case tea.KeyPressMsg:
		return m.key(msg)
	}
	m.cursor = max(0, min(m.cursor, len(m.flows())-1))
	return m, nil
}

func (m Model) key(k tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	if m.typing {
		return m.typed(k), nil
	}
	switch k.String() {
	case "q", "ctrl+c":
		return m, tea.Quit
	case "?", "h":
		m.help = !m.help
	case "esc", "backspace":
		switch {
		case m.help:
			m.help = false
		case m.open != "":
			m.open = ""
		default:
			m.filter = ""
		}
	case "/":
		m.typing = true
	case "s":
		m.order = (m.order + 1) % 4
	case "tab":
		m.host = (m.host + 1) % max(len(m.hosts), 1)
		m.open, m.cursor, m.back = "", 0, 0
	case "space", " ", "left", "right", "n", "+", "-":
		m = m.moved(k.String())
	case "up", "k":
		m.cursor--
	case "down", "j":
		m.cursor++
	case "enter":
		if all := m.flows(); m.open == "" && m.cursor >= 0 && m.cursor < len(all) {
			m.open = all[m.cursor].ID
		}
	}
	m.cursor = max(0, min(m.cursor, len(m.flows())-1))
	return m, nil
}

// moved takes a key of the time line: back and forth in what was seen, and of a
// recording on to what comes.
func (m Model) moved(key string) Model {
	switch key {
	case "left":
		m.back = min(m.back+1, max(len(m.past[m.name()])-1, 0))
		return m
	case "right":
		if m.back > 0 {
			m.back--
			return m
		}
	case "space", " ":
		m.paused, m.back = !m.paused, 0
	}
	if p := m.player; p != nil {
		paused := m.paused
		p.set(func() {
			switch key {
			case "right":
				p.steps++
			case "n":
				p.jump = true
			case "+":
				p.speed = min(p.speed*2, 1024)
			case "-":
				p.speed = max(p.speed/2, 1.0/16)
			default:
				p.paused = paused
			}
		})
		if key == "n" {
			m.paused = true // it stops there
		}
	}
	return m
}

// typed takes a key of the filter.
func (m Model) typed(k tea.KeyPressMsg) Model {
	switch k.String() {
	case "enter":
		m.typing = false
	case "esc", "ctrl+c":
		m.typing, m.filter = false, ""
	case "backspace":
		if r := []rune(m.filter); len(r) > 0 {
			m.filter = string(r[:len(r)-1])
		}
	default:
		if len(m.filter) < 64 {
			m.filter += k.Text
		}
	}
	m.cursor = 0
	return m
}

// name is the host that is shown.
func (m Model) name() string {
	if m.host >= len(m.hosts) {
		return ""
	}
	return m.hosts[m.host]
}

// state is the one of the host that is shown.
func (m Model) state() (watch.State, bool) {
	all := m.past[m.name()]
	if len(all) == 0 {
		return watch.State{}, false
	}
	return all[max(len(all)-1-m.back, 0)], true
}

// matches tells a flow that each word of the filter is found in: an address, a
// port as :443, an interface, or a limit.
func (m Model) matches(f watch.Flow) bool {
	text := f.Local + " " + f.Peer + " " + f.Limit + " " + f.Interface
	for _, word := range strings.Fields(m.filter) {
		if port, ok := strings.CutPrefix(word, ":"); ok {
			if !strings.HasSuffix(f.Local, ":"+port) && !strings.HasSuffix(f.Peer, ":"+port) {
				return false
			}
		} else if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
