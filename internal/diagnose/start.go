package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// raised are limits of which twice the present one is a start where a finding says to raise them, with the smallest
// start that is worth it, and the pools of network memory and zones that show the present one where the setting was not
// read.
var raised = map[string]struct {
	least int64
	pools []string
}{
	"net.core.somaxconn":                    {},
	"net.core.netdev_max_backlog":           {},
	"net.core.rmem_max":                     {},
	"net.core.wmem_max":                     {},
	"net.core.rmem_default":                 {},
	"net.netfilter.nf_conntrack_max":        {},
	"net.netfilter.nf_conntrack_expect_max": {},
	"net.ipv4.tcp_max_syn_backlog":          {},
	"net.ipv4.tcp_max_orphans":              {},
	"net.ipv4.tcp_max_tw_buckets":           {},
	"net.ipv4.neigh.default.gc_thresh3":     {},
	"net.ipv6.neigh.default.gc_thresh3":     {},
	"net.ipv4.tcp_rmem":                     {},
	"net.ipv4.tcp_wmem":                     {},
	"vm.min_free_kbytes":                    {},
	"link:txqueuelen":                       {},
	"kern.ipc.nmbufs":                       {pools: []string{"zone mbuf"}},
	"kern.ipc.nmbclusters":                  {pools: []string{"mbuf clusters", "zone mbuf_cluster"}},
	"kern.ipc.nmbjumbop": {pools: []string{"4k (page size) jumbo clusters", "zone mbuf_jumbo_page",
		"zone mbuf_jumbo_pagesize"}},
	"kern.ipc.nmbjumbo9":              {pools: []string{"9k jumbo clusters", "zone mbuf_jumbo_9k"}},
	"kern.ipc.nmbjumbo16":             {pools: []string{"16k jumbo clusters", "zone mbuf_jumbo_16k"}},
	"kern.ipc.maxsockets":             {pools: []string{"zone socket"}},
	"kern.ipc.maxsockbuf":             {},
	"kern.ipc.soacceptqueue":          {least: 1024},
	"kern.ipc.somaxconn":              {least: 1024},
	"kern.somaxconn":                  {least: 1024},
	"kern.maxclusters":                {},
	"net.isr.defaultqlimit":           {},
	"net.inet.ip.intr_queue_maxlen":   {},
	"net.inet6.ip6.intr_queue_maxlen": {},
	"net.inet.ip.ifq.maxlen":          {},
	"pf:set/limit/states":             {pools: []string{"zone pf states", "zone pfstatepl", "zone pf state keys"}},
	"pf:set/limit/table-entries":      {least: 1000000},
	"pf:set/limit/src-nodes":          {pools: []string{"zone pf source nodes", "zone pf src nodes", "zone pfsrctrpl"}},
	"pf:set/limit/frags":              {pools: []string{"zone pf frags", "zone pf frag entries"}},
	"net.inet.ip.maxfrags":            {},
	"net.inet.udp.recvspace":          {},
	"net.inet.tcp.sendbuf_max":        {},
	"net.inet.tcp.recvbuf_max":        {},
}

// raisedFrom reports whether a multiple of the present value is a start.
func raisedFrom(setting string) bool {
	_, known := raised[setting]
	return known
}

// largestStart bounds a value that was made by doubling.
const largestStart = 1 << 30

// start is a value to begin with where the present limit is the only thing known: twice that limit; of several numbers
// the last one is doubled. from says so.
func start(f *facts.Facts, name, nic string) (value, from string) {
	r, known := raised[name]
	if !known {
		return "", ""
	}
	words := strings.Fields(presentLimit(f, name, nic, r.pools))
	if said := saidLimit(f, name); len(words) == 0 && said > 0 && said <= largestStart/2 {
		return strconv.FormatInt(max(2*said, r.least), 10), fmt.Sprintf("a starting point: twice the %d that the text names", said)
	}
	if len(words) == 0 && r.least > 0 {
		return strconv.FormatInt(r.least, 10), "a starting point; keep the current value if it is larger"
	}
	if len(words) == 0 {
		return "", ""
	}
	last := len(words) - 1
	present, err := strconv.ParseInt(words[last], 10, 64)
	if err != nil || present <= 0 || present > largestStart/2 {
		return "", ""
	}
	words[last] = strconv.FormatInt(max(2*present, r.least), 10)
	if 2*present < r.least {
		return strings.Join(words, " "), fmt.Sprintf("a starting point; the current limit is %d", present)
	}
	return strings.Join(words, " "), fmt.Sprintf("a starting point: twice the current limit of %d", present)
}

// saidLimit is the largest number that the words of a post give a setting: "I raised kern.ipc.soacceptqueue to 8192".
func saidLimit(f *facts.Facts, name string) (most int64) {
	const near = 24 // characters between the name and its number
	for rest := f.Rest; ; {
		_, after, found := strings.Cut(rest, name)
		if !found {
			return most
		}
		rest = after
		window := after[:min(near, len(after))]
		at := strings.IndexAny(window, "0123456789")
		if at <= 0 || !strings.ContainsRune(" =:", rune(after[0])) || strings.ContainsAny(window[:at], ".\n") {
			continue
		}
		digits := after[at:]
		if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
			digits = digits[:end]
		}
		if v, err := strconv.ParseInt(digits, 10, 64); err == nil {
			most = max(most, v)
		}
	}
}

// presentLimit is the value of a setting, of the interface where it is one's, or what a pool shows of it.
func presentLimit(f *facts.Facts, name, nic string, pools []string) string {
	if v, known := f.InterfaceSetting(name, nic); known {
		return v
	}
	if v, known := f.Setting(name); known {
		return v
	}
	for _, p := range f.Memories {
		for _, pool := range pools {
			if p.Name == pool && p.Limit > 0 && p.Limit < largestStart {
				return strconv.FormatUint(p.Limit, 10)
			}
		}
	}
	return ""
}
