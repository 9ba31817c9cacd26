package facts

import "github.com/wirerate/wirerate/internal/units"

// NIC is one network interface.
type NIC struct {
	Name string `json:"name"`
	// Kind is ethernet, loopback, bond, lagg, bridge, vlan, veth, tun, or
	// what the system calls it.
	Kind     string   `json:"kind"`
	Driver   string   `json:"driver,omitempty"`
	Version  string   `json:"driver_version,omitempty"`
	Firmware string   `json:"firmware,omitempty"`
	Bus      string   `json:"bus,omitempty"`    // PCI address
	Device   string   `json:"device,omitempty"` // parent device: virtio2, 0000:3b:00.0
	MAC      string   `json:"mac,omitempty"`
	Addrs    []string `json:"addresses,omitempty"` // with prefix length
	Up       bool     `json:"up"`                  // administratively up, with carrier
	// StateUnknown is set where nothing said whether it is up (a table of counters, a tool that was given its name): then
	// Up says no more than that it is used.
	StateUnknown bool       `json:"state_unknown,omitempty"`
	Speed        units.Rate `json:"speed_bps"` // 0 is unknown
	Fastest      units.Rate `json:"fastest_supported_bps,omitempty"`
	// Advertised and Offered are the fastest modes that this end and the other
	// one advertise.
	Advertised units.Rate `json:"advertised_bps,omitempty"`
	Offered    units.Rate `json:"offered_bps,omitempty"`
	Duplex     string     `json:"duplex,omitempty"` // full, half
	Media      string     `json:"media,omitempty"`
	MTU        int        `json:"mtu_bytes"`
	Master     string     `json:"master,omitempty"` // bond, bridge, lagg
	TXQueue    int        `json:"tx_queue_length,omitempty"`
	Queues     Queues     `json:"queues"`
	Rings      Rings      `json:"rings"`
	NUMANode   *int       `json:"numa_node,omitempty"`
	PCIe       *PCIe      `json:"pcie,omitempty"`
	Pause      *Pause     `json:"pause,omitempty"`
	EEE        string     `json:"eee,omitempty"` // enabled, disabled, "" unknown
	Optic      *Optic     `json:"optic,omitempty"`

	// Features are the offloads by ethtool's names (Linux) or the options of
	// ifconfig (FreeBSD, OpenBSD).
	Features map[string]Feature `json:"features,omitempty"`
	// Coalesce are the interrupt moderation values by ethtool's names.
	Coalesce map[string]string  `json:"coalesce,omitempty"`
	Counters map[string]Counter `json:"counters,omitempty"`
	Qdiscs   []Qdisc            `json:"qdiscs,omitempty"`
	Classes  []Class            `json:"classes,omitempty"`
	// RPS are the CPU masks of receive packet steering by queue.
	RPS map[string]string `json:"rps,omitempty"`
	// XPS are the CPU masks of transmit packet steering by queue.
	XPS map[string]string `json:"xps,omitempty"`
	// Hash is the transmit hash policy of a bond or lagg.
	Hash string `json:"hash,omitempty"`
	// BondMode is that of a bond, as its file in /proc says it.
	BondMode string `json:"bond_mode,omitempty"`
	// Aggregator is the one of 802.3ad that a member belongs to, and of a bond the one that is active: "none" is without
	// one.
	Aggregator string `json:"aggregator,omitempty"`
	Source     Source `json:"source"`
	// Shown are the lines that show a field, by the field's JSON name.
	Shown map[string]Source `json:"-"`
}

// Queues are the hardware queues in use and at most.
type Queues struct {
	RX          int `json:"rx"`
	TX          int `json:"tx"`
	Combined    int `json:"combined,omitempty"`
	MaxCombined int `json:"max_combined,omitempty"`
	MaxRX       int `json:"max_rx,omitempty"`
	// Hashed is how many of HashedOf receive queues the table has to which the card spreads connections.
	Hashed   int `json:"hashed,omitempty"`
	HashedOf int `json:"hashed_of,omitempty"`
}

// Rings are the descriptor rings in use and at most; 0 is unknown.
type Rings struct {
	RX    int `json:"rx,omitempty"`
	RXMax int `json:"rx_max,omitempty"`
	TX    int `json:"tx,omitempty"`
	TXMax int `json:"tx_max,omitempty"`
}

// PCIe is the link of a device: as trained, and as the device could.
type PCIe struct {
	Speed    float64 `json:"gigatransfers_per_second"`
	Width    int     `json:"width"`
	MaxSpeed float64 `json:"max_gigatransfers_per_second,omitempty"`
	MaxWidth int     `json:"max_width,omitempty"`
	// Form is pcie, pci or pci-x.
	Form string `json:"form"`
	// Clock and Bits describe a parallel bus: MHz and data lines.
	Clock float64 `json:"clock_mhz,omitempty"`
	Bits  int     `json:"bits,omitempty"`
}

// Pause is IEEE 802.3x flow control.
type Pause struct {
	Autonegotiate, RX, TX bool
}

// Feature is an offload; a fixed one cannot be changed.
type Feature struct {
	On     bool   `json:"on"`
	Fixed  bool   `json:"fixed,omitempty"`
	Source Source `json:"-"`
}

// Route is one entry of the routing table.
type Route struct {
	Destination string            `json:"destination"`
	Gateway     string            `json:"gateway,omitempty"`
	Interface   string            `json:"interface"`
	Attributes  map[string]string `json:"attributes,omitempty"` // mtu, initcwnd, rto_min, congctl, ...
	Source      Source            `json:"-"`
}

// Default reports whether the route is a default route.
func (r Route) Default() bool {
	return r.Destination == "default" || r.Destination == "0.0.0.0/0" || r.Destination == "::/0"
}

// Processor is one CPU: shares of time, 0 to 1, since boot or over the window.
type Processor struct {
	ID   int     `json:"id"`
	User float64 `json:"user"`
	// Nice is the time of programs that give way to all others.
	Nice      float64 `json:"nice,omitempty"`
	System    float64 `json:"system"`
	Interrupt float64 `json:"interrupt"` // hard and soft
	Idle      float64 `json:"idle"`
	// Waiting is the part of Idle in which a program waited for a disk (Linux).
	Waiting float64 `json:"waiting,omitempty"`
	Stolen  float64 `json:"stolen,omitempty"`
	Sampled bool    `json:"sampled"` // over the window rather than since boot
	// Softnet are the receive counters of the CPU (Linux).
	Softnet *Softnet `json:"softnet,omitempty"`
	// NetRX are the receive soft interrupts handled (Linux).
	NetRX  *Counter `json:"net_rx,omitempty"`
	Source Source   `json:"source"`

	ticks []uint64
}

// Thread is a thread of the kernel that top shows, with its share of one
// processor, or of all where OfAll is set.
type Thread struct {
	Name   string  `json:"name"`
	Share  float64 `json:"share"`
	OfAll  bool    `json:"of_all,omitempty"`
	Source Source  `json:"source"`
}

// Softnet is a line of /proc/net/softnet_stat.
type Softnet struct {
	Processed Counter `json:"processed"`
	Dropped   Counter `json:"dropped"`
	Squeezed  Counter `json:"squeezed"`
	Steered   Counter `json:"received_rps"`
}

// Interrupt is one interrupt source.
type Interrupt struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	NIC    string   `json:"nic,omitempty"`
	Total  Counter  `json:"total"`
	Rate   uint64   `json:"per_second,omitempty"` // since the start, where it is shown
	PerCPU []uint64 `json:"per_cpu,omitempty"`
	// Grown is PerCPU's growth over the window.
	Grown    []uint64 `json:"per_cpu_grown,omitempty"`
	Affinity string   `json:"affinity,omitempty"`
}

// Flow is an established TCP connection with the kernel's view of it.
type Flow struct {
	Local string `json:"local"`
	Peer  string `json:"peer"`
	RecvQ int64  `json:"recv_queue_bytes"`
	SendQ int64  `json:"send_queue_bytes"`
	// Values are the numbers of ss -i by its names: rtt (ms), cwnd, mss,
	// rwnd_limited (share), retrans_total, ...
	Values map[string]float64 `json:"values,omitempty"`
	// Words are what ss -i prints without a number: ts, sack, cubic.
	Words  []string `json:"words,omitempty"`
	Source Source   `json:"source"`
}

// Listener is a listening socket and its accept queue.
type Listener struct {
	Local   string `json:"local"`
	Queue   int    `json:"queue"`
	Backlog int    `json:"backlog"` // 0 is unknown
	Source  Source `json:"source"`
}

// DatagramSocket is a UDP socket with what waits in it.
type DatagramSocket struct {
	Local  string `json:"local"`
	Unread uint64 `json:"unread_bytes"`
	// Limit is its receive buffer, Drops what it had no room for; 0 is unknown.
	Limit   uint64 `json:"limit_bytes,omitempty"`
	Drops   uint64 `json:"drops,omitempty"`
	Program string `json:"program,omitempty"`
	Source  Source `json:"source"`
}

// Transfer is one stream that iperf3 measured at its sender.
type Transfer struct {
	Local string `json:"local"`
	Peer  string `json:"peer"`
	// Intervals are the lines with a rate, Stalled those in which nothing moved
	// while the window was one segment, Lossy those with retransmissions.
	Intervals int `json:"intervals"`
	Stalled   int `json:"stalled_intervals"`
	Lossy     int `json:"lossy_intervals"`
	// Held are the intervals in which nothing moved and nothing was sent again although the window was open.
	Held    int     `json:"held_intervals,omitempty"`
	Bytes   float64 `json:"bytes"`
	Seconds float64 `json:"seconds"`
	// Retransmits are segments sent again, Window the largest congestion window
	// in bytes; both 0 where iperf3 did not say them.
	Retransmits uint64  `json:"retransmits"`
	Window      float64 `json:"largest_window_bytes,omitempty"`
	// Fastest is the highest rate of an interval behind the first, in which the sender's buffer fills as well.
	Fastest units.Rate `json:"fastest_interval_bps,omitempty"`
	// Before is the highest rate of an interval up to the first with retransmissions, AfterBytes and AfterSeconds what
	// came after that one.
	Before       units.Rate `json:"rate_before_loss_bps,omitempty"`
	AfterAgain   uint64     `json:"retransmits_after_loss,omitempty"`
	AfterBytes   float64    `json:"bytes_after_loss,omitempty"`
	AfterSeconds float64    `json:"after_loss_s,omitempty"`
	// Steady are the intervals at the end in which the window stayed what it is and nothing was sent again, SteadyBytes
	// and SteadySeconds what they moved.
	Steady        int     `json:"steady_intervals,omitempty"`
	SteadyBytes   float64 `json:"steady_bytes,omitempty"`
	SteadySeconds float64 `json:"steady_s,omitempty"`
	// Parallel says that other streams of the same test ran beside it.
	Parallel bool   `json:"parallel,omitempty"`
	Source   Source `json:"source"`      // the first interval that tells
	Last     Source `json:"last_source"` // the last one
	// SteadySource is the last steady interval, HeldSource the last of those that were held.
	SteadySource Source `json:"steady_source,omitzero"`
	HeldSource   Source `json:"held_source,omitzero"`
}

// TestWindow is the socket buffer of a test in bytes: what iperf asked for, and what it got of the kernel.
type TestWindow struct {
	Asked  int64  `json:"asked_bytes"`
	Got    int64  `json:"got_bytes"`
	Source Source `json:"source"`
}

// TransferEnd is a line of iperf3's summary: what one end counted of a stream, or of all (Stream SUM).
type TransferEnd struct {
	Stream string `json:"stream"`
	// Role is sender or receiver, or total where one line of iperf 2 is all; Way is TX or RX with --bidir, with the end
	// that counted behind it.
	Role    string     `json:"role,omitempty"`
	Way     string     `json:"way,omitempty"`
	Bytes   float64    `json:"bytes"`
	Seconds float64    `json:"seconds"`
	Rate    units.Rate `json:"rate_bps"`
	// Retransmits are TCP's segments sent again; Lost of Datagrams are UDP's. -1 is not said.
	Retransmits int64 `json:"retransmits"`
	Lost        int64 `json:"lost_datagrams"`
	Datagrams   int64 `json:"datagrams"`
	// Intervals are those of a receiver that was pasted without its summary, beyond the first, To the end of the last one
	// in seconds of the test.
	Intervals int     `json:"intervals,omitempty"`
	To        float64 `json:"until_s,omitempty"`
	// RTT is the round trip in seconds, where the tool says it.
	RTT    float64 `json:"rtt_s,omitempty"`
	Source Source  `json:"source"`
}

// TestProcessor is what iperf3 -V says of the processor time of one end, as a share of one core.
type TestProcessor struct {
	// End is local or remote, Role sender or receiver.
	End    string  `json:"end"`
	Role   string  `json:"role"`
	Share  float64 `json:"share"`
	Source Source  `json:"source"`
}

// Neighbour is an entry of the ARP or NDP table.
type Neighbour struct {
	Address, MAC, Interface, State string
	Source                         Source
}

// Pool is a bounded memory or object pool: mbufs, clusters, UMA zones, states.
type Pool struct {
	Name    string `json:"name"`
	Used    uint64 `json:"used"`
	Cached  uint64 `json:"cached,omitempty"`
	Limit   uint64 `json:"limit,omitempty"` // 0 is none
	Denied  uint64 `json:"denied"`
	Delayed uint64 `json:"delayed,omitempty"`
	Source  Source `json:"source"`
	// InUse is the line of the numbers in use, where that of the denied requests is another one.
	InUse Source `json:"-"`
}

// Qdisc is a queueing discipline with its counters.
type Qdisc struct {
	Kind       string  `json:"kind"`
	Handle     string  `json:"handle,omitempty"`
	Parent     string  `json:"parent,omitempty"`
	Sent       Counter `json:"sent_packets"`
	Dropped    Counter `json:"dropped"`
	Overlimits Counter `json:"overlimits"`
	Requeues   Counter `json:"requeues"`
	Backlog    int64   `json:"backlog_bytes"`
	// Limit is that of its queue, in packets or bytes; 0 is unknown.
	LimitPackets int64  `json:"limit_packets,omitempty"`
	LimitBytes   int64  `json:"limit_bytes,omitempty"`
	Options      string `json:"options,omitempty"`
	// Values are the numbers of its own that it prints by name: drop_overlimit, ecn_mark, flows_plimit.
	Values map[string]uint64 `json:"values,omitempty"`
	// Rate is what it is shaped to; 0 is unknown or no limit.
	Rate units.Rate `json:"rate_bps,omitempty"`
	// MemoryUsed is the most that its queue held, in bytes (cake).
	MemoryUsed int64 `json:"memory_used_bytes,omitempty"`
	// Tins are the classes of cake.
	Tins []Tin `json:"tins,omitempty"`
}

// Tin is a class of traffic of cake: times in seconds.
type Tin struct {
	Name string     `json:"name"`
	Rate units.Rate `json:"rate_bps,omitempty"`
	// Target is the delay that is allowed, Peak and Mean are those of its busiest flow.
	Target  float64 `json:"target_s"`
	Peak    float64 `json:"peak_delay_s"`
	Mean    float64 `json:"mean_delay_s"`
	Packets uint64  `json:"packets"`
	Drops   uint64  `json:"drops"`
	Marks   uint64  `json:"marks"`
	// AckDrops are acknowledgements that ack-filter left out, as a later one says the same; Drops does not have them, the
	// qdisc's Dropped does.
	AckDrops uint64 `json:"ack_drops,omitempty"`
	// DropLine and DelayLine are the rows of the drops and of the peak delay.
	DropLine  Source `json:"-"`
	DelayLine Source `json:"-"`
}

// Class is a class of a queueing discipline (tc -s class), a queue of pf (pfctl -vsq) or a pipe of dummynet, with its
// counters.
type Class struct {
	Kind   string     `json:"kind"`
	ID     string     `json:"id"`
	Parent string     `json:"parent,omitempty"`
	Rate   units.Rate `json:"rate_bps,omitempty"`    // what it is promised
	Ceil   units.Rate `json:"ceiling_bps,omitempty"` // what it may have at most
	// Limit is its queue's, in packets.
	Limit      int64   `json:"limit_packets,omitempty"`
	Sent       Counter `json:"sent_packets"`
	Dropped    Counter `json:"dropped"`
	Overlimits Counter `json:"overlimits"`
	Backlog    int64   `json:"backlog_bytes"`
	// Named is the line that names a pipe or a queue of pf, and says its rate.
	Named   Source `json:"-"`
	Options string `json:"options,omitempty"`
	// Giants are packets longer than those for which HTB computed how long each takes.
	Giants Counter `json:"giants,omitzero"`
	// Measured is the rate that an estimator saw, 0 without one.
	Measured     units.Rate `json:"measured_bps,omitempty"`
	MeasuredLine Source     `json:"-"`
	// Loss is the share that a pipe of dummynet loses on purpose, DelayMS what it adds to the round trip.
	Loss    float64 `json:"configured_loss,omitempty"`
	DelayMS float64 `json:"configured_delay_ms,omitempty"`
}

// Message is a line of the kernel's log that concerns the network.
type Message struct {
	Text   string `json:"text"`
	Source Source `json:"source"`
}

// NetISR is a FreeBSD netisr workstream of one protocol on one CPU.
type NetISR struct {
	Protocol   string `json:"protocol"`
	CPU        int    `json:"cpu"`
	Length     int    `json:"length"`
	Watermark  int    `json:"watermark"`
	Limit      int    `json:"limit,omitempty"`
	Dispatched uint64 `json:"dispatched"`
	HDispatch  uint64 `json:"hybrid_dispatched"`
	Drops      uint64 `json:"queue_drops"`
	Queued     uint64 `json:"queued"`
	Handled    uint64 `json:"handled"`
	Source     Source `json:"source"`
}
