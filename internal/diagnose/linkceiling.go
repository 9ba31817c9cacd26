package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// link is the TCP payload rate of full frames at the slowest link that is
// known: the declared path or an end's own interface.
func link(path facts.Path, ends ...*facts.Facts) Ceiling {
	c := Ceiling{Resource: "link", Metric: Goodput,
		Sources: []string{"RFC 6349, section 4.1.1", "IEEE 802.3, clauses 3 and 4", "RFC 7323, section 3.2"}}
	rate, where := path.Rate, "the path"
	mtu := path.MTU
	for _, f := range ends {
		if f == nil {
			continue
		}
		n := f.Outlet()
		if n == nil {
			continue
		}
		if n.Speed > 0 && (rate == 0 || n.Speed < rate) {
			rate, where, c.Host = n.Speed, n.Name, f.Host
		}
		if n.MTU >= 576 && (mtu == 0 || n.MTU < mtu) {
			mtu = n.MTU
		}
	}
	if rate == 0 {
		return c.unknown("the path was not declared and no interface tells its speed; give --path rate=")
	}
	if mtu == 0 {
		return c.unknown("the MTU is not known")
	}
	p := facts.Path{Rate: rate, MTU: mtu}
	return c.known(p.LinkGoodput(), map[string]any{"rate_bps": int64(rate), "mtu_bytes": mtu, "mss_bytes": p.MSS(), "overhead_bytes": facts.EthernetOverhead},
		"%s carries %s; a full frame is %d bytes on the wire with %d of payload", where, rate, mtu+facts.EthernetOverhead, p.MSS())
}
