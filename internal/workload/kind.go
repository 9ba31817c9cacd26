package workload

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Names of metrics, as in Run.Metrics and in JSON; quantities are in base
// units.
const (
	Goodput      = "goodput_bps"
	Packets      = "packets_per_s"
	Transactions = "transactions_per_s"
	Connections  = "connections_per_s"
	Requests     = "requests_per_s"
	RPM          = "rpm" // round trips per minute under load
	Loss         = "loss"
	Errors       = "errors"
	LatencyMin   = "latency_min_s"
	LatencyMean  = "latency_mean_s"
	LatencyP50   = "latency_p50_s"
	LatencyP90   = "latency_p90_s"
	LatencyP99   = "latency_p99_s"
	LatencyP999  = "latency_p999_s"
	LatencyMax   = "latency_max_s"
	IdleLatency  = "idle_latency_p50_s"
	Jitter       = "jitter_s"
	LatencyBound = "latency_bound_s" // of the 99th percentile, in a search
	ClosedRate   = "closed_loop_per_s"
	Clients      = "closed_loop_clients"
	DelayP50     = "delay_p50_s" // one way, beyond the shortest
	DelayP99     = "delay_p99_s"
	Duplicates   = "duplicates"       // share
	Reordered    = "reordered"        // share
	SlowGoodput  = "slow_goodput_bps" // of the slow reader's own stream
	SentPackets  = "sent_packets_per_s"
	Retransmits  = "retransmits"
	MeanRTT      = "mean_rtt_s"
	ClientCPU    = "client_cpu" // busy part, 0 to 1
	ServerCPU    = "server_cpu"
)

// Live is the workload of a host in production: no load of its own, and a metric
// that is read from elsewhere. Its metrics are in the unit that they have there.
const (
	Live     = "live"
	LiveCost = "live_cost"
	LiveGain = "live_gain"
)

func liveKind() Kind {
	return Kind{Name: Live, Imitates: "nothing: what the host does in production, by a metric of it",
		Metrics: []Metric{{LiveCost, "", "the metric; lower is better", true}, {LiveGain, "",
			"the metric; higher is better", false}},
		Tools: []string{Live}, Streams: 1, Duration: 5 * time.Minute, Omit: 30 * time.Second, Alone: true,
		WarmUp: "the start of each run is left out, while what the other arm did washes out"}
}

// Metric is one quantity that a workload measures.
type Metric struct {
	Name  string `json:"name"`
	Unit  string `json:"unit"`
	Means string `json:"means"`
	Lower bool   `json:"lower_is_better"`
}

// Kind describes a workload.
type Kind struct {
	Name     string `json:"name"`
	Imitates string `json:"imitates"`
	// Metrics are what a run measures; the first one decides a trial.
	Metrics []Metric `json:"metrics"`
	// Tools can run it, in the order of preference.
	Tools []string `json:"tools"`
	// Streams is how many connections or flows it has unless told.
	Streams   int       `json:"streams"`
	Direction Direction `json:"direction"`
	// Duration counts, Omit before it does not; 0 means that it follows from
	// the path's round-trip time.
	Duration time.Duration `json:"duration_ns"`
	Omit     time.Duration `json:"omit_ns"`
	WarmUp   string        `json:"warm_up"`
	// Search is a workload that goes beyond what a path carries to find out what
	// that is.
	Search bool `json:"search,omitempty"`
	// Alone is a workload of one host, without a peer.
	Alone bool `json:"alone,omitempty"`
}

// Primary is the metric that decides a trial.
func (k Kind) Primary() Metric { return k.Metrics[0] }

// mostStreams is how many connections or flows it can have.
func (k Kind) mostStreams() int {
	if k.Search && k.Primary().Name != Packets {
		return 100_000
	}
	return 128
}

// Metric finds a metric of the workload by its name.
func (k Kind) Metric(name string) (Metric, bool) {
	i := slices.IndexFunc(k.Metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return Metric{}, false
	}
	return k.Metrics[i], true
}

// MetricOf describes a metric of a run by its name: as the named workload has
// it, else as any other has it, else by how its name ends.
func MetricOf(kind, name string) Metric {
	kinds := append(Kinds(), liveKind())
	for _, k := range kinds {
		if m, ok := k.Metric(name); ok && k.Name == kind {
			return m
		}
	}
	for _, k := range kinds {
		if m, ok := k.Metric(name); ok {
			return m
		}
	}
	m := Metric{Name: name, Lower: true}
	switch {
	case strings.HasSuffix(name, "_per_s"):
		m.Unit, m.Lower = "1/s", false
	case strings.HasSuffix(name, "_s"):
		m.Unit = "s"
	case strings.HasSuffix(name, "_bps"):
		m.Unit, m.Lower = "bit/s", false
	case strings.HasSuffix(name, "_cpu"):
		m.Unit = "share"
	}
	return m
}

const (
	// mostClients is how many wrk and its like have at once on a long path, and
	// clientsPerSecond how many it takes for each second of its round trip: each
	// makes one request in a round trip.
	mostClients      = 4096
	clientsPerSecond = 20_000
	bulkWarmUp       = "the start of each run is left out, until the connections have reached their rate"
	searchWarmUp     = "none: the search starts far below the result"
)

// Kinds lists the workloads.
func Kinds() []Kind {
	goodput := Metric{Goodput, "bit/s", "payload that arrived", false}
	closed := Metric{ClosedRate, "1/s", "the same with a closed loop: clients that wait for each answer, as many as fit",
		false}
	latency := []Metric{
		{LatencyP50, "s", "time of the median exchange", true},
		{LatencyP99, "s", "time exceeded by one exchange in 100", true},
		{LatencyP999, "s", "time exceeded by one exchange in 1000", true},
	}
	bulkTools := []string{"builtin", "iperf3", "nuttcp", "netperf", "iperf", "tcpbench"}
	httpTools := []string{"wrk", "h2load", "ab", "builtin"}
	udpTools := []string{"builtin", "iperf3", "nuttcp"}
	packets := Metric{Packets, "1/s", "packets that arrived", false}
	udp := []Metric{
		{Loss, "share", "packets sent that did not arrive", true}, {Reordered, "share",
			"packets that arrived after a later one of their flow", true},
		{Duplicates, "share", "packets that arrived twice", true}, {DelayP99, "s",
			"one-way delay above the minimum, exceeded by one packet in 100", true},
	}
	with := func(first Metric, more ...Metric) []Metric { return append([]Metric{first}, more...) }
	return []Kind{
		{Name: "bulk", Imitates: "one large transfer: a backup, a copy, a download", Metrics: with(goodput), Tools: bulkTools,
			Streams: 1, Direction: Up, WarmUp: bulkWarmUp},
		{Name: "streams", Imitates: "a large transfer over parallel connections", Metrics: with(goodput), Tools: bulkTools,
			Streams: 4, Direction: Up, WarmUp: bulkWarmUp},
		{Name: "bidir", Imitates: "large transfers in both directions at once",
			Metrics: with(goodput), Tools: []string{"builtin", "iperf3"},
			Streams: 1, Direction: Both, WarmUp: bulkWarmUp},
		{Name: "udp-pps", Imitates: "small packets: voice, games, a packet filter's worst case; the highest rate of 64 " +
			"bytes of UDP payload that loses at most 1% (throughput of RFC 2544, but with some loss " +
			"allowed)", Metrics: with(packets, udp...),
			Tools: udpTools, Streams: 4, Direction: Up, Search: true, WarmUp: searchWarmUp},
		{Name: "udp-flood", Imitates: "small packets as fast as the sender can, whether they arrive or not",
			Metrics: with(packets, udp...),
			Tools:   udpTools, Streams: 4, Direction: Up, Duration: 3 * time.Second, WarmUp: "none: all packets count"},
		{Name: "rr", Imitates: "requests and answers of 64 bytes on open connections: databases, remote calls",
			Metrics: with(Metric{Transactions, "1/s", "requests that were answered, at the highest rate at " +
				"which 99% end within a bound", false}, append(slices.Clone(latency), closed)...),
			Tools: []string{"builtin", "netperf", "sockperf"}, Streams: 1, Direction: Up, Search: true, WarmUp: searchWarmUp},
		{Name: "crr", Imitates: "a connection for every request: plain HTTP/1.0, health checks; the server closes",
			Metrics: with(Metric{Connections, "1/s", "connections opened, used once and closed, at the highest rate at " +
				"which 99% end within a bound", false}, append(slices.Clone(latency), closed)...),
			Tools: []string{"builtin", "netperf"}, Streams: 16, Direction: Up, Search: true, WarmUp: searchWarmUp},
		{Name: "http-small", Imitates: "a web server with files of 1 KiB on persistent connections",
			Metrics: with(Metric{Requests, "1/s", "requests that were answered; by builtin at the highest rate at which 99% " +
				"end within a bound, those of new clients among them", false},
				latency[0], latency[1], Metric{Errors, "", "requests that failed", true}, closed),
			Tools: httpTools, Streams: 32, Direction: Down, Search: true,
			WarmUp: "none: the server has the file in memory after the first request"},
		{Name: "http-large", Imitates: "a web server with files of 10 MiB",
			Metrics: with(goodput, Metric{Requests, "1/s", "requests that were answered", false}, latency[0], latency[1]),
			Tools:   httpTools, Streams: 4, Direction: Down, Duration: 5 * time.Second, WarmUp: "none: the files fill many " +
				"round trips"},
		{Name: "loaded-latency", Imitates: "a call or a game while others load the path both ways",
			Metrics: with(Metric{RPM, "1/min", "round trips per minute under load: draft-ietf-ippm-responsiveness without TLS",
				false},
				latency[0], latency[1], Metric{IdleLatency, "s", "median exchange before the load", true}, goodput),
			Tools: []string{"builtin"}, Streams: 4, Direction: Both, WarmUp: bulkWarmUp},
		{Name: "slow-receiver", Imitates: "a fast transfer next to one whose receiver takes only 10 Mbit/s",
			Metrics: with(goodput, Metric{SlowGoodput, "bit/s", "payload that the slow receiver took", false},
				latency[0], latency[1]),
			Tools: []string{"builtin"}, Streams: 1, Direction: Up, WarmUp: bulkWarmUp},
		{Name: "dns-like", Imitates: "a name server: questions of 64 bytes over UDP, answers of 256",
			Metrics: with(Metric{Transactions, "1/s", "questions that were answered, at the highest rate at " +
				"which 99% end within a bound", false},
				append(slices.Clone(latency), Metric{Loss, "share", "questions without an answer within a second", true})...),
			Tools: []string{"builtin", "sockperf"}, Streams: 16, Direction: Up, Search: true, WarmUp: searchWarmUp},
		diskKind(),
	}
}

// FindKind returns the workload of that name.
func FindKind(name string) (Kind, error) {
	if name == Live {
		return liveKind(), nil
	}
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, fmt.Errorf("workload %q: one of %s is expected", name, strings.Join(names, ", "))
}

// SuiteRow is one line of a suite's table.
type SuiteRow struct {
	Title string
	Spec  Spec
}

// Names of suites.
const (
	SuiteHost   = "host"
	SuiteRouter = "router"
)

// Suite returns the rows of a named suite: host is the five measurements by
// which tuning guides judge a server, with both directions at once and the
// latency under load; router is what a host between two others is judged by.
func Suite(name string) ([]SuiteRow, error) {
	single := SuiteRow{"single stream", Spec{Workload: "bulk"}}
	packets := SuiteRow{"UDP 64-byte packets", Spec{Workload: "udp-pps"}}
	connections := SuiteRow{"TCP connections", Spec{Workload: "crr"}}
	switch name {
	case SuiteHost:
		return []SuiteRow{single, {"four streams", Spec{Workload: "streams", Streams: 4}},
			{"HTTP small files", Spec{Workload: "http-small"}}, packets, connections,
			{"both directions", Spec{Workload: "bidir"}}, {"loaded latency", Spec{Workload: "loaded-latency"}}}, nil
	case SuiteRouter:
		return []SuiteRow{packets, connections, single}, nil
	}
	return nil, fmt.Errorf("suite %q: %s or %s is expected", name, SuiteHost, SuiteRouter)
}

// WithDefaults fills in what the workload's record says and the path's
// round-trip time (0: not known) suggests.
func (s Spec) WithDefaults(rtt time.Duration) (Spec, error) {
	if s.Workload == "" {
		s.Workload = "bulk"
	}
	k, err := FindKind(s.Workload)
	if err != nil {
		return s, err
	}
	if s.Streams == 0 {
		s.Streams = k.Streams
		if k.Name == "http-small" { // enough that the round trip is not what binds
			s.Streams = min(s.Streams+int(clientsPerSecond*rtt.Seconds()), mostClients)
		}
	}
	if s.Direction == "" {
		s.Direction = k.Direction
	}
	if s.Duration == 0 {
		s.Duration = k.Duration
	}
	if s.Duration == 0 && k.Search { // some dozen steps, each with a few round trips
		s.Duration = min(5*time.Second+25*rtt, 15*time.Second).Round(time.Second)
	}
	if s.Duration == 0 { // long against slow start and a sawtooth's period
		s.Duration = min(max(40*rtt, 2*time.Second), 15*time.Second).Round(time.Second)
	}
	if s.Omit == 0 {
		s.Omit = k.Omit
	}
	if s.Omit == 0 && k.Duration == 0 && !k.Search {
		s.Omit = min(max(20*rtt, time.Second), 5*time.Second).Round(time.Second)
	}
	return s, s.check()
}
