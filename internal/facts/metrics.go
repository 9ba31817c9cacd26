package facts

import (
	"math"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// metricLine is a sample in the text format of Prometheus: a name, labels, a value.
var (
	metricLine  = regexp.MustCompile(`^([a-zA-Z_]\w*)(?:\{([^}]*)\})?\s+([0-9][0-9.e+]*)(?:\s+\d+)?$`)
	metricLabel = regexp.MustCompile(`\b(device|reason|interface)="([^"\\]{1,64})"`)
)

// settingMetrics are gauges of node_exporter that are values of /proc/sys.
var settingMetrics = map[string]string{"node_nf_conntrack_entries": "net.netfilter.nf_conntrack_count",
	"node_nf_conntrack_entries_limit": "net.netfilter.nf_conntrack_max"}

// wholeMetric is the value of a counter; large ones are printed as 1.5e+06.
func wholeMetric(s string) (uint64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < 0 || v > 1e18 || v != math.Trunc(v) {
		return 0, false
	}
	return uint64(v), true
}

// metricOf is the label that tells of what a sample is.
func metricOf(labels string) string {
	if m := metricLabel.FindStringSubmatch(labels); m != nil {
		return m[2]
	}
	return ""
}

// readMetrics reads what node_exporter serves of the network: the counters of /proc/net and /sys/class/net under longer
// names.
func (f *Facts) readMetrics(t text) error {
	found := false
	for i, line := range t.lines() {
		m := metricLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		if v, ok := wholeMetric(m[3]); ok && f.metric(m[1], metricOf(m[2]), v, f.Line(t.from, i+1)) {
			f.use(t.from, i+1)
			found = true
		}
	}
	return nothingUnless(found)
}

// readHere marks parts as read, where the sources that print them whole were not.
func (f *Facts) readHere(from string, parts ...string) {
	for _, part := range parts {
		if f.Parts[part].State != Read {
			f.Parts[part] = Part{From: from, State: Read}
		}
	}
}

func (f *Facts) metric(name, label string, v uint64, src Source) bool {
	c := Counter{Value: v, Source: src}
	if rest, ok := strings.CutPrefix(name, "node_netstat_"); ok {
		f.readHere(src.From, "counters", "protocols")
		return f.nstatCounter(strings.Replace(rest, "_", "", 1), c)
	}
	if rest, ok := strings.CutPrefix(name, "node_sockstat_"); ok {
		f.readHere(src.From, "sockets")
		f.keepCounter(f.Counters, "sockstat."+strings.Replace(rest, "_", ".", 1), c)
		return true
	}
	if setting, ok := settingMetrics[name]; ok {
		f.readHere(src.From, "settings")
		f.Settings[setting] = Setting{Value: strconv.FormatUint(v, 10), Source: src, State: Read}
		return true
	}
	if driver, ok := driverMetric(name); ok {
		if label == "" || !plainName(label) {
			label = UnnamedLink
		}
		f.readHere(src.From, "links", "statistics "+label)
		f.keepCounter(f.linuxLink(label, src).Counters, driver, c)
		return true
	}
	rest, ok := strings.CutPrefix(name, "node_network_")
	counter, total := strings.CutSuffix(rest, "_total")
	if !ok || !total || label == "" {
		return false
	}
	way, what, _ := strings.Cut(counter, "_")
	short := map[string]string{"receive": "rx_", "transmit": "tx_"}[way]
	file := map[string]string{"errs": "errors", "drop": "dropped", "packets": "packets", "bytes": "bytes",
		"fifo":  "fifo_errors",
		"frame": "frame_errors", "carrier": "carrier_errors"}[what]
	if short == "" || file == "" {
		return false
	}
	f.readHere(src.From, "links")
	f.linuxLink(label, src).statistic(short+file, strconv.FormatUint(v, 10), src)
	return true
}

// driverMetric is the counter of a driver that a metric is: those of node_exporter's collector for ethtool, and the
// allowances of ena as its agents serve them.
func driverMetric(name string) (counter string, ok bool) {
	for _, prefix := range []string{"node_ethtool_", "ethtool_"} {
		if rest, cut := strings.CutPrefix(name, prefix); cut {
			return strings.TrimSuffix(rest, "_total"), true
		}
	}
	if allowance, cut := strings.CutSuffix(name, "_allowance_exceeded"); cut {
		for _, kind := range []string{"bw_in", "bw_out", "pps", "conntrack", "linklocal"} {
			if strings.HasSuffix(allowance, kind) {
				return kind + "_allowance_exceeded", true
			}
		}
	}
	return "", false
}
