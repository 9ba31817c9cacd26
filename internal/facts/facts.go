// Package facts collects what is known about a host, each value with the file or command and the line that shows it.
package facts

import (
	"slices"
	"strings"
	"unicode"

	"github.com/wirerate/wirerate/internal/system"
	"github.com/wirerate/wirerate/internal/units"
)

// Source is the line that shows a fact.
type Source struct {
	From string `json:"source"`         // a file's path, or a command as it was run
	Line int    `json:"line,omitempty"` // counted from 1; 0 means the output as a whole
	Text string `json:"text"`
	// Output is the output that the line is of, where From is a file that holds
	// several: a session as it was posted.
	Output string `json:"output,omitempty"`
}

// State says how the reading of a source, or of one value, ended.
type State string

// The states of a source.
const (
	Read     State = "read"
	Absent   State = "absent"   // no such file, command, device or key
	Denied   State = "denied"   // it exists, and needs more privilege
	Unparsed State = "unparsed" // it answered something that could not be understood
)

// Part is how the reading of one source of facts ended. Parts that were not
// read leave their facts unknown; Because says why.
type Part struct {
	From    string `json:"source"`
	State   State  `json:"state"`
	Line    int    `json:"line,omitempty"` // the line that was not understood
	Because string `json:"because,omitempty"`
}

// Setting is the running value of a setting, as the system prints it with
// white space reduced to single spaces.
type Setting struct {
	Value   string `json:"value"`
	Source  Source `json:"source"`
	State   State  `json:"state"`
	Because string `json:"because,omitempty"`
}

// Counter is a running total and, with a sampling window, its growth.
type Counter struct {
	Value uint64 `json:"value"`
	// Rate is the growth per second over the window, nil without a window or
	// when the counter was reset in it.
	Rate   *float64 `json:"rate,omitempty"`
	Source Source   `json:"source"`
	// Earlier is what the same counter said before, where a post shows it twice; Value is the later one.
	Earlier *Reading `json:"earlier,omitempty"`
	// Partial ones count from a moment that is not the start of the system (a sampling tool, a reset), for Over seconds
	// where that is known.
	Partial bool    `json:"partial,omitempty"`
	Over    float64 `json:"over_seconds,omitempty"`
}

// Reading is one value of a counter that was read several times.
type Reading struct {
	Value  uint64 `json:"value"`
	Source Source `json:"source"`
}

// Unread is a passage of what was posted that nobody understood.
type Unread struct {
	Line    int    `json:"line"`              // where it begins, counted from 1; 0 is unknown
	Lines   int    `json:"lines"`             // how many there are
	Command string `json:"command,omitempty"` // what printed it, as it was typed; empty where no command stands above
	Words   string `json:"words"`             // its first words
	Because string `json:"because,omitempty"`
}

// StandardInput is the host of a text that was read from there.
const StandardInput = "standard input"

// Facts is what is known about one host. Zero numbers and nil maps are
// unknown; Parts says why. Quantities are in base units.
type Facts struct {
	Host         string        `json:"host"` // as the user names it
	Node         string        `json:"node"` // as it names itself
	System       system.System `json:"os"`
	Release      string        `json:"release"`   // as uname -r prints it
	Machine      string        `json:"machine"`   // amd64, x86_64, aarch64, ...
	Processor    string        `json:"processor"` // model name
	Distribution string        `json:"distribution,omitempty"`
	// Relative is the system whose outputs these are where they only look like FreeBSD's: macOS, Junos.
	Relative string `json:"relative,omitempty"`
	// DistributionSource is where a distribution of FreeBSD made for firewalls is named.
	DistributionSource Source `json:"distribution_source,omitzero"`

	Cores    int         `json:"cores"`
	Memory   units.Bytes `json:"memory_bytes"`
	PageSize units.Bytes `json:"page_size_bytes"`
	// ThreadsPerCore is 2 with hyper-threading on.
	ThreadsPerCore int     `json:"threads_per_core,omitempty"`
	Uptime         float64 `json:"uptime_s,omitempty"`
	// Window is the measured sampling window in seconds, 0 without one.
	Window float64 `json:"window_s,omitempty"`

	// Settings are the running values by the catalog's names. Those of one
	// interface are named NAME@INTERFACE: ethtool:ring/rx@eth0.
	Settings map[string]Setting `json:"settings"`
	NICs     []NIC              `json:"nics"`
	Routes   []Route            `json:"routes,omitempty"`
	// Counters are the protocol counters by the kernel's own names, with the
	// table they stand in: TcpExt.ListenOverflows, tcp.listen_overflows.
	Counters   map[string]Counter `json:"counters,omitempty"`
	Processors []Processor        `json:"processors,omitempty"`
	// AllProcessors is the time of all together, where only that is shown.
	AllProcessors *Processor  `json:"all_processors,omitempty"`
	Threads       []Thread    `json:"threads,omitempty"`
	Interrupts    []Interrupt `json:"interrupts,omitempty"`
	Flows         []Flow      `json:"flows,omitempty"`
	Listeners     []Listener  `json:"listeners,omitempty"`
	// Datagrams are UDP sockets with data that waits, Transfers what iperf3
	// printed beside the outputs.
	Datagrams []DatagramSocket `json:"datagram_sockets,omitempty"`
	Transfers []Transfer       `json:"transfers,omitempty"`
	// Pings are what ping printed, by peers.
	Pings []Ping `json:"pings,omitempty"`
	// Traces are the reports of mtr.
	Traces []Trace `json:"traces,omitempty"`
	// USBDevices are those that lsusb shows.
	USBDevices []USBDevice `json:"usb_devices,omitempty"`
	// Stations are the other ends of wireless links; WirelessPowerSave is on or off.
	Stations          []Station `json:"stations,omitempty"`
	WirelessPowerSave Setting   `json:"wireless_power_save,omitzero"`
	// NFSMounts are the file systems of NFS servers that are mounted here.
	NFSMounts []NFSMount `json:"nfs_mounts,omitempty"`
	// Symbols are the functions of the kernel that perf saw most.
	Symbols []Symbol `json:"symbols,omitempty"`
	// Relays are the peers that Tailscale reaches through a relay.
	Relays []Relay `json:"relays,omitempty"`
	// TunnelPeers are those of WireGuard.
	TunnelPeers []TunnelPeer `json:"tunnel_peers,omitempty"`
	// Requests are the times that the parts of requests took.
	Requests []RequestTime `json:"requests,omitempty"`
	// Copies are those of files over the network, ProgramBuffers socket buffers that programs' configurations fix.
	Copies         []Copy          `json:"copies,omitempty"`
	ProgramBuffers []ProgramBuffer `json:"program_buffers,omitempty"`
	// LoadTests are what tools that send many requests at once counted.
	LoadTests []LoadTest `json:"load_tests,omitempty"`
	// Pollers are the threads of switches in user space.
	Pollers []Poller `json:"pollers,omitempty"`
	// LossCounts are losses that tools without a reader count.
	LossCounts []LossCount `json:"loss_counts,omitempty"`
	// Alarms are numbers of which netdata warns.
	Alarms []Alarm `json:"alarms,omitempty"`
	// ProxyServers are those of HAProxy, Throttled the control groups that wait for processor time, MemoryPressure is the share
	// of the last minute in which every program waited for memory.
	ProxyServers   []ProxyServer `json:"proxy_servers,omitempty"`
	Throttled      []Throttling  `json:"throttled,omitempty"`
	MemoryPressure *Pressure     `json:"memory_pressure,omitempty"`
	FreeMemory     *FreeMemory   `json:"free_memory,omitempty"`
	FabricLinks    []FabricLink  `json:"fabric_links,omitempty"`
	GuestCards     []GuestCard   `json:"guest_cards,omitempty"`
	OSDs           []OSD         `json:"osds,omitempty"`
	// TransferEnds are the lines of iperf3's summaries, of UDP also where only intervals were posted: their sum.
	TransferEnds []TransferEnd `json:"transfer_ends,omitempty"`
	// Receipts are the intervals of TCP that iperf printed without a window: those of a receiver, and of iperf 2.
	Receipts []Transfer `json:"receipts,omitempty"`
	// Channels are those that a radio heard.
	Channels []Channel `json:"channels,omitempty"`
	// Modems are those whose status was read.
	Modems []Modem `json:"modems,omitempty"`
	// SpeedTests are those against servers of speedtest.net.
	SpeedTests []SpeedTest `json:"speed_tests,omitempty"`
	// Unanswered are the peers of connections in SYN-SENT.
	Unanswered []Unanswered `json:"unanswered,omitempty"`
	// TestProcessors are the ends of iperf3's tests with their processor time.
	TestProcessors []TestProcessor `json:"test_processors,omitempty"`
	// TestWindows are socket buffers that iperf was given and says.
	TestWindows []TestWindow `json:"test_windows,omitempty"`
	Neighbours  []Neighbour  `json:"neighbours,omitempty"`
	Memories    []Pool       `json:"pools,omitempty"`
	Disks       []Disk       `json:"disks,omitempty"`
	Rebuilds    []Rebuild    `json:"rebuilds,omitempty"`
	ZFS         *ZFS         `json:"zfs,omitempty"`
	PoolWaits   []PoolWait   `json:"pool_waits,omitempty"`
	// Boot are the values that the loader handed to the kernel (FreeBSD's
	// kenv). Those that have no running value are in Settings too.
	Boot      map[string]Setting `json:"boot,omitempty"`
	Modules   []string           `json:"modules,omitempty"`
	Messages  []Message          `json:"messages,omitempty"`
	NetISR    []NetISR           `json:"netisr,omitempty"`
	HostCache []HostEntry        `json:"host_cache,omitempty"`
	CARP      []CARPGroup        `json:"carp,omitempty"`
	// Handshakes are those that tcpdump printed as text.
	Handshakes []Handshake `json:"handshakes,omitempty"`
	// Talks are the directions of connections in such a text in which something was lost, refused or waited for.
	Talks []Talk `json:"talks,omitempty"`
	// Shapers are the pipes and queues of dummynet.
	Shapers []Class `json:"shapers,omitempty"`

	// Told is the path that the words of a post tell.
	Told Told `json:"told_path,omitzero"`
	// NoOutput says why only the words of a post are known, nil where outputs are.
	NoOutput error `json:"-"`
	// SystemGuessed is set where nothing that was posted tells the system.
	SystemGuessed bool `json:"system_guessed,omitempty"`
	// Requested is how many lines of access logs stand beside the outputs.
	Requested int `json:"access_log_lines,omitempty"`
	// Unread is what was posted and not understood: nothing is known of what it would have said.
	Unread []Unread `json:"unread,omitempty"`
	// Rest is what a post holds besides outputs, such as lines of configuration: each line at its place in the post, the
	// others empty.
	Rest string `json:"-"`

	// Unfit are names of the host that its system cannot have: nothing else here
	// is named so.
	Unfit []Unfit `json:"unfit_names,omitempty"`

	Parts map[string]Part `json:"parts"`

	texts map[string][]string
	// masters are the bundles and bridges of their ports, by the ports' names.
	masters map[string]string
	// commands are those that printed the texts, as they were typed.
	commands map[string]string
	// before is how many lines of each source came before those of texts, used which of all were quoted for a fact.
	before map[string]int
	used   map[string]map[int]bool
	pasted bool // by somebody, who may have cut it
	// places are where the lines of texts stand in the file that was posted.
	places   map[string][]int
	pciLinks map[string]*PCIe
	pciShown map[string]Source
	// partitions are the device numbers of partitions by their names.
	partitions map[string]string
}

// Setting returns the running value of a setting and whether it is known.
func (f *Facts) Setting(name string) (string, bool) {
	s, ok := f.Settings[name]
	return s.Value, ok && s.State == Read
}

// Integer returns the running value of a setting that is one whole number.
func (f *Facts) Integer(name string) (int64, bool) {
	v, ok := f.Setting(name)
	if !ok {
		return 0, false
	}
	return wholeNumber(v)
}

// Triple returns a setting that is three whole numbers, such as
// net.ipv4.tcp_rmem.
func (f *Facts) Triple(name string) (values [3]int64, ok bool) {
	v, ok := f.Setting(name)
	words := strings.Fields(v)
	if !ok || len(words) != 3 {
		return values, false
	}
	for i, w := range words {
		if values[i], ok = wholeNumber(w); !ok {
			return values, false
		}
	}
	return values, values[0] <= values[2] // a line that was cut ends in a part of a number
}

// InterfaceSetting returns a setting of one interface, by its catalog name.
func (f *Facts) InterfaceSetting(name, nic string) (string, bool) {
	return f.Setting(name + "@" + nic)
}

// NIC returns an interface by its name, nil when there is none.
func (f *Facts) NIC(name string) *NIC {
	for i := range f.NICs {
		if f.NICs[i].Name == name {
			return &f.NICs[i]
		}
	}
	return nil
}

// Outlet returns the interface of the default route, else the fastest one that
// is up and no loopback; nil when there is none.
func (f *Facts) Outlet() *NIC {
	for _, r := range f.Routes {
		if r.Default() {
			if n := f.NIC(r.Interface); n != nil {
				return n
			}
		}
	}
	var best *NIC
	for i := range f.NICs {
		n := &f.NICs[i]
		if n.Kind != "loopback" && n.Up && (best == nil || n.Speed > best.Speed) {
			best = n
		}
	}
	return best
}

// SystemWords names the host's system and release, and says where they are not known or only resemble it.
func (f *Facts) SystemWords() string {
	title := f.System.Title()
	switch {
	case f.Relative != "":
		return f.Relative + ", read as " + title
	case f.SystemGuessed:
		return "operating system unknown, read as " + title
	case f.Release == "unknown":
		return title + ", release unknown"
	}
	return strings.TrimSpace(title + " " + f.Release)
}

// Counter returns a running total and whether it is known.
func (f *Facts) Counter(name string) (Counter, bool) {
	c, ok := f.Counters[name]
	return c, ok
}

// Why says why a part is not known; empty when it was read.
func (f *Facts) Why(part string) string {
	p, ok := f.Parts[part]
	switch {
	case !ok && part == "threads":
		return "top -SH: not recorded"
	case !ok:
		return part + " is not collected on " + string(f.System)
	case p.State == Read:
		return ""
	case p.Because == "":
		return p.From + ": " + string(p.State)
	}
	return p.From + ": " + p.Because
}

// Line quotes a line of a source that was read; 0 or a line that does not
// exist quotes no text.
func (f *Facts) Line(from string, line int) Source {
	s := Source{From: from, Line: line}
	if lines := f.texts[from]; line >= 1 && line <= len(lines) {
		s.Text = shorten(lines[line-1])
		s.Line += f.before[from]
		f.use(from, line)
	}
	return s
}

// use notes that a line said something.
func (f *Facts) use(from string, line int) {
	if f.used == nil {
		return
	}
	if f.used[from] == nil {
		f.used[from] = map[int]bool{}
	}
	f.used[from][line+f.before[from]] = true
}

// shorten keeps a quoted line at a readable length and without control
// characters, which a terminal would obey.
func shorten(s string) string {
	const limit = 240
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r):
			return '?'
		}
		return r
	}, strings.TrimSpace(strings.ToValidUTF8(s, "?")))
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + " ..."
}

// CongestionControls returns the algorithms that can be chosen now, those
// that unprivileged programs may choose, and the default one.
func (f *Facts) CongestionControls() (available, allowed []string, current string) {
	list := func(name string) []string { v, _ := f.Setting(name); return strings.Fields(v) }
	switch f.System {
	case "linux":
		current, _ = f.Setting("net.ipv4.tcp_congestion_control")
		return list("net.ipv4.tcp_available_congestion_control"), list("net.ipv4.tcp_allowed_congestion_control"), current
	case "freebsd":
		current, _ = f.Setting("net.inet.tcp.cc.algorithm")
		available = f.freebsdControls()
		return available, available, current
	}
	return nil, nil, ""
}

// freebsdControls reads the table that net.inet.tcp.cc.available prints: names
// in its first column, or a plain comma-separated list in older releases.
func (f *Facts) freebsdControls() []string {
	v, _ := f.Setting("net.inet.tcp.cc.available")
	var names []string
	for _, w := range strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' }) {
		w = strings.TrimSuffix(w, "*")
		if w == "" || w == "CCmod" || w == "D" || w == "PCB" || w == "count" || w[0] >= '0' && w[0] <= '9' {
			continue
		}
		if !slices.Contains(names, w) {
			names = append(names, w)
		}
	}
	return names
}

// Lines returns the lines of a source that was read.
func (f *Facts) Lines(from string) []string { return f.texts[from] }
