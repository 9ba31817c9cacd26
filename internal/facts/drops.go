package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

var (
	dropsAt    = regexp.MustCompile(`^(\d+) drops? at (\S+?)(?:\+\S+)? \(`)
	dropPlace  = regexp.MustCompile(`^drop at: (\S+?)(?:\+\S+)? \(`)
	dropReason = regexp.MustCompile(`(?:drop[_ ]|\b)reason[:=] ?"?(?:SKB_DROP_REASON_)?([A-Za-z0-9_]+)`)
	dropMap    = regexp.MustCompile(`^@\w*\[(?:.*[, ])?(?:SKB_DROP_REASON_)?([A-Za-z0-9_.]+)(?:\+\d+)?\]: (\d+)$`)
	dropEvent  = regexp.MustCompile(`kfree_skb.*\blocation[:=] ?(?:0x[0-9a-f]+ )?\(?([a-z_][\w.]*)`)
)

// readDrops reads what tells where or why the kernel of Linux dropped packets: dropwatch ("12 drops at tcp_v4_rcv+88
// (0xffff...)", "drop reason: NO_SOCKET"), the trace event skb:kfree_skb of perf and ftrace ("reason: NO_SOCKET", Linux
// 5.17 and later), maps of bpftrace and metrics of ebpf_exporter by reason. A counter is named drops.PLACE or
// drop_reason.REASON, counts from when the tool was started.
func (f *Facts) readDrops(t text) error {
	sums, shown := map[string]uint64{}, map[string]Source{}
	keep := func(name string, n uint64, line int) {
		if sums[name] == 0 {
			shown[name] = f.Line(t.from, line)
		}
		f.use(t.from, line)
		sums[name] += n
	}
	for i, line := range t.lines() {
		line = strings.TrimSpace(line)
		if len(line) > 4096 || len(sums) >= rowLimit {
			continue
		}
		if m := metricLine.FindStringSubmatch(line); m != nil { // of ebpf_exporter
			if v, ok := wholeMetric(m[3]); ok && strings.HasSuffix(m[1], "kfree_skb_total") {
				keep(dropName(strings.TrimPrefix(metricOf(m[2]), "SKB_DROP_REASON_")), v, i+1)
			}
		} else if m := dropsAt.FindStringSubmatch(line); m != nil {
			if v, ok := count(m[1]); ok {
				keep("drops."+m[2], v, i+1)
			}
		} else if m := dropMap.FindStringSubmatch(line); m != nil {
			if v, ok := count(m[2]); ok {
				keep(dropName(m[1]), v, i+1)
			}
		} else if m := dropReason.FindStringSubmatch(line); m != nil {
			keep("drop_reason."+strings.ToUpper(m[1]), 1, i+1)
		} else if m := dropPlace.FindStringSubmatch(line); m != nil {
			keep("drops."+m[1], 1, i+1)
		} else if m := dropEvent.FindStringSubmatch(line); m != nil {
			keep("drops."+m[1], 1, i+1)
		}
	}
	if len(sums) == 0 {
		return errNothing
	}
	for name, n := range sums {
		f.Counters[name] = Counter{Value: n, Partial: true, Source: shown[name]}
	}
	return nil
}

// dropName tells a reason from a place: reasons are in capitals.
func dropName(s string) string {
	if s == strings.ToUpper(s) {
		return "drop_reason." + s
	}
	return "drops." + s
}
