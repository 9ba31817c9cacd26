package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/system"
	"github.com/wirerate/wirerate/internal/units"
)

// link is the TCP payload rate of full frames at the slowest link that is
// known: the declared path or an end's own interface.
func link(path netpath.Path, ends ...*facts.Facts) Ceiling {
	c := Ceiling{Resource: "link", Metric: Goodput,
		Sources: []string{"RFC 6349, section 4.1.1", "IEEE 802.3, clauses 3 and 4", "RFC 7323, section 3.2"}}
	rate, where := path.Rate, "the path"
	mtu := path.MTU
	for i, f := range ends {
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
		if shaped, kind := shapedRate(n); i == 0 && shaped > 0 && // it shapes what is sent; the sender comes first
			(rate == 0 || shaped < rate) {
			rate, where, c.Host = shaped, "the shaper of "+n.Name+" ("+kind+")", f.Host
		}
		if n.MTU >= 576 && (mtu == 0 || n.MTU < mtu) {
			mtu = n.MTU
		}
	}
	if rate == 0 {
		return c.unknown("the path was not declared and no interface reports its speed; give --path rate=")
	}
	if mtu == 0 { // the rate bounds the goodput whatever the MTU is
		return c.known(float64(rate), map[string]any{"rate_bps": int64(rate)},
			"%s carries %s, headers included; the MTU is not known", where, rate)
	}
	mss, overhead, why := netpath.Path{MTU: mtu}.MSS(), netpath.EthernetOverhead, ""
	for _, f := range ends {
		if f == nil {
			continue
		}
		if n := f.Outlet(); n != nil && n.Kind == "vlan" && overhead == netpath.EthernetOverhead {
			overhead += 4 // IEEE 802.1Q
			why += ", 4 of them for the VLAN"
		}
		if on, known := timestamps(f); known && !on && mss == mtu-52 {
			mss += 12
			why += ", no timestamps"
		}
	}
	goodput := float64(rate) * float64(mss) / float64(mtu+overhead)
	return c.known(goodput, map[string]any{"rate_bps": int64(rate), "mtu_bytes": mtu, "mss_bytes": mss,
		"overhead_bytes": overhead},
		"%s carries %s; a full frame is %d bytes on the wire with %d of payload%s", where, rate, mtu+overhead, mss, why)
}

// shapedRate is what a shaper at the root of an interface lets pass, with its kind; 0 without one.
func shapedRate(n *facts.NIC) (most units.Rate, kind string) {
	for _, q := range n.Qdiscs {
		if (q.Kind == "cake" || q.Kind == "tbf") && q.Rate > 0 && (q.Parent == "" || q.Parent == "root") {
			return q.Rate, q.Kind
		}
	}
	for _, c := range n.Classes {
		if c.Kind == "htb" && (c.Parent == "" || c.Parent == "root") {
			most, kind = max(most, c.Ceiling()), c.Kind
		}
	}
	return most, kind
}

// linkGoodput is the ceiling of the link as link shows it, so that a sentence beside it names the same number.
func linkGoodput(path netpath.Path, f *facts.Facts) float64 {
	if c := link(path, f); c.Known {
		return c.Value
	}
	return path.LinkGoodput()
}

// timestamps tells whether a host uses TCP's timestamps, which take 12 bytes
// of each segment.
func timestamps(f *facts.Facts) (on, known bool) {
	name := map[system.System]string{"linux": "net.ipv4.tcp_timestamps", "freebsd": "net.inet.tcp.rfc1323",
		"openbsd": "net.inet.tcp.rfc1323"}[f.System]
	v, ok := f.Integer(name)
	return v != 0, ok
}
