package diagnose

import (
	"fmt"
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
)

// raised are limits of FreeBSD and OpenBSD of which twice the present one is a start where a finding says to raise them,
// with the smallest start that is worth it, and the pools of network memory and zones that show the present one.
var raised = map[string]struct {
	least int64
	pools []string
}{
	"kern.ipc.nmbclusters":   {1, []string{"mbuf clusters", "zone mbuf_cluster"}},
	"kern.ipc.nmbjumbop":     {1, []string{"4k (page size) jumbo clusters", "zone mbuf_jumbo_page", "zone mbuf_jumbo_pagesize"}},
	"kern.ipc.nmbjumbo9":     {1, []string{"9k jumbo clusters", "zone mbuf_jumbo_9k"}},
	"kern.ipc.nmbjumbo16":    {1, []string{"16k jumbo clusters", "zone mbuf_jumbo_16k"}},
	"kern.ipc.maxsockets":    {1, []string{"zone socket"}},
	"kern.ipc.maxsockbuf":    {1, nil},
	"kern.ipc.soacceptqueue": {1024, nil},
	"kern.ipc.somaxconn":     {1024, nil},
	"kern.somaxconn":         {1024, nil},
	"kern.maxclusters":       {1, nil},
	"net.isr.defaultqlimit":  {1, nil},
	"net.inet.ip.ifq.maxlen": {1, nil},
	"pf:set/limit/states":    {1, []string{"zone pf states", "zone pfstatepl", "zone pf state keys"}},
	"pf:set/limit/src-nodes": {1, []string{"zone pf source nodes", "zone pf src nodes", "zone pfsrctrpl"}},
	"pf:set/limit/frags":     {1, []string{"zone pf frags", "zone pf frag entries"}},
	"net.inet.ip.maxfrags":   {1, nil},
	"net.inet.udp.recvspace": {1, nil},
}

// start fills in a value to start with for a limit that is to be raised and whose present value was read.
func (f *Fix) start(host *facts.Facts) {
	r, known := raised[f.Setting]
	if f.Value != "" || !known {
		return
	}
	present, from := host.Integer(f.Setting)
	for _, p := range host.Memories {
		for _, name := range r.pools {
			if !from && p.Name == name && p.Limit > 0 && p.Limit < 1<<40 {
				present, from = int64(p.Limit), true
			}
		}
	}
	if !from || present <= 0 || present >= 1<<40 {
		return
	}
	value := max(2*present, r.least)
	f.Value = strconv.FormatInt(value, 10)
	f.ValueFor = fmt.Sprintf("a start, twice the present limit of %d", present)
	if value != 2*present {
		f.ValueFor = fmt.Sprintf("a start; the present limit is %d", present)
	}
}
