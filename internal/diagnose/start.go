package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// limits are settings that bound how much there may be of something: one that was reached is raised.
var limits = []string{"net.core.somaxconn", "net.core.netdev_max_backlog", "net.core.rmem_max", "net.core.wmem_max",
	"net.core.rmem_default", "net.netfilter.nf_conntrack_max", "net.ipv4.tcp_max_syn_backlog", "net.ipv4.tcp_max_orphans",
	"net.ipv4.tcp_max_tw_buckets", "net.ipv4.neigh.default.gc_thresh3", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
	"link:txqueuelen"}

// largestStart bounds a value that was made by doubling.
const largestStart = 1 << 30

// start is a value to begin with where a limit that was read is the only thing known: twice that limit; from says so.
func start(f *facts.Facts, name, nic string) (value, from string) {
	if !slices.Contains(limits, name) {
		return "", ""
	}
	now, known := f.InterfaceSetting(name, nic)
	if !known {
		now, known = f.Setting(name)
	}
	words := strings.Fields(now)
	if !known || len(words) == 0 {
		return "", ""
	}
	last := len(words) - 1
	v, err := strconv.ParseInt(words[last], 10, 64)
	if err != nil || v <= 0 || v > largestStart/2 {
		return "", ""
	}
	words[last] = strconv.FormatInt(2*v, 10)
	return strings.Join(words, " "), fmt.Sprintf("a start: twice the limit that was read (%d)", v)
}
