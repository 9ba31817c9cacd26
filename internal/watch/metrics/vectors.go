package metrics

import "github.com/prometheus/client_golang/prometheus"

// vectors are all metrics. Of labels, only host, interface, target, switch and port
// are names that are not of this program; each of them is bounded.
type vectors struct {
	build, up                                            *prometheus.GaugeVec
	limit, limitFlows, problem                           *prometheus.GaugeVec
	limitTime, findings                                  *prometheus.CounterVec
	sent, received, retransmitted                        *prometheus.CounterVec
	rttLeast, rttMedian, rttP99                          *prometheus.GaugeVec
	connections, moving, ceiling                         *prometheus.GaugeVec
	ifSent, ifReceived, ifSentPackets, ifReceivedPackets *prometheus.CounterVec
	ifDrops                                              *prometheus.CounterVec
	ifQueue, ifSpeed                                     *prometheus.GaugeVec
	busy, interrupt, busiest, used, level                *prometheus.GaugeVec
	probeRTT                                             *prometheus.HistogramVec
	probeLost, probeMissed                               *prometheus.CounterVec
	switchUp, switchSpeed                                *prometheus.GaugeVec
	switchBytes, switchPackets, switchErrors             *prometheus.CounterVec
	switchDiscards, switchPauses                         *prometheus.CounterVec
}

// newVectors registers all metrics.
func newVectors(r *prometheus.Registry) vectors {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "wirerate", Name: name, Help: help}, labels)
		r.MustRegister(v)
		return v
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "wirerate", Name: name, Help: help}, labels)
		r.MustRegister(v)
		return v
	}
	v := vectors{
		build:      gauge("build_info", "The version of wirerate; always 1.", "version"),
		up:         gauge("host_up", "Whether the host could be read.", "host"),
		limit:      gauge("limit", "Whether this is what limits the host now.", "host", "limit"),
		limitFlows: gauge("limit_flows", "Flows that have the limit that binds now.", "host"),
		limitTime:  counter("limit_seconds_total", "Time in which this was what limited the host.", "host", "limit"),
		problem:    gauge("problem", "Problems that the rules find now; 1 each.", "host", "problem", "severity"),
		findings:   counter("findings_total", "Limits and problems that began.", "host", "kind", "name", "severity"),

		sent:          counter("tcp_transmit_bytes_total", "Bytes that peers acknowledged.", "host"),
		received:      counter("tcp_receive_bytes_total", "Bytes received by TCP connections.", "host"),
		retransmitted: counter("tcp_retransmitted_segments_total", "Segments sent again.", "host"),
		rttLeast:      gauge("tcp_rtt_min_seconds", "Least round-trip time of the flow that moves most.", "host"),
		rttMedian:     gauge("tcp_rtt_median_seconds", "Median of the round-trip times of flows that move data.", "host"),
		rttP99: gauge("tcp_rtt_p99_seconds", "99th percentile of the round-trip times of flows that move data.",
			"host"),
		connections: gauge("tcp_connections", "TCP connections.", "host"),
		moving:      gauge("tcp_moving_connections", "TCP connections that move data.", "host"),
		ceiling:     gauge("path_ceiling_bytes_per_second", "Lowest known upper bound of goodput.", "host", "resource"),

		ifSent:            counter("interface_transmit_bytes_total", "Bytes sent.", "host", "interface"),
		ifReceived:        counter("interface_receive_bytes_total", "Bytes received.", "host", "interface"),
		ifSentPackets:     counter("interface_transmit_packets_total", "Packets sent.", "host", "interface"),
		ifReceivedPackets: counter("interface_receive_packets_total", "Packets received.", "host", "interface"),
		ifDrops: counter("interface_drops_total", "Drops and errors by the kernel's counter.", "host",
			"interface", "reason"),
		ifQueue: gauge("interface_queue_bytes", "Bytes that wait to be sent.", "host", "interface"),
		ifSpeed: gauge("interface_speed_bytes_per_second", "Speed of the link.", "host", "interface"),

		busy:      gauge("processor_busy_ratio", "Mean share of the processors' time that is used.", "host"),
		interrupt: gauge("processor_interrupt_ratio", "Mean share of the processors' time that interrupts use.", "host"),
		busiest:   gauge("processor_busiest_ratio", "Share of the busiest processor's time that is used.", "host"),
		used:      gauge("kernel_limit_used", "How much of a limit of the kernel is in use.", "host", "name"),
		level:     gauge("kernel_limit_max", "The limit.", "host", "name"),

		probeLost: counter("probe_lost_total", "Probes without an answer in time, or refused.", "target"),
		probeMissed: counter("probe_missed_total", "Probes that were never sent, since wirerate did not get to run.",
			"target"),

		switchUp:    gauge("switch_up", "Whether the agent of the switch answered as expected.", "switch"),
		switchSpeed: gauge("switch_port_speed_bytes_per_second", "Speed of the port.", "switch", "port"),
		switchBytes: counter("switch_port_bytes_total", "Bytes; in is what came from the host.", "switch",
			"port", "direction"),
		switchPackets: counter("switch_port_packets_total", "Unicast packets.", "switch", "port", "direction"),
		switchErrors: counter("switch_port_errors_total", "Errors by the switch's counter.", "switch", "port",
			"direction", "kind"),
		switchDiscards: counter("switch_port_discards_total", "Packets that the port dropped.", "switch",
			"port", "direction"),
		switchPauses: counter("switch_port_pause_frames_total", "Pause frames.", "switch", "port", "direction"),
	}
	v.probeRTT = prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "wirerate", Name: "probe_rtt_seconds",
		Help:    "Times of answers, from when the probe was due.",
		Buckets: []float64{0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5},
		// For servers that take native histograms: buckets of 10%.
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 200}, []string{"target"})
	r.MustRegister(v.probeRTT)
	return v
}
