package diagnose

import (
	"net/netip"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/shell"
	"github.com/wirerate/wirerate/internal/system"
)

// lroForwarding finds receive offload on a host that forwards.
func lroForwarding() Rule {
	return Rule{
		ID: "lro-on-router", Title: "Large receive offload (LRO) is enabled on a forwarding host",
		Systems: []string{"linux", "freebsd"}, Severity: Warning,
		Needs: []string{"linux:settings", "linux:features *", "freebsd:ifconfig"},
		Because: "LRO merges segments in a way that cannot be undone exactly: forwarded packets are altered or too large. On " +
			"FreeBSD the same applies to TSO when sending.",
		Check: func(in Input) (out []Finding) {
			src, on := reallyForwards(in.Facts, in.Role)
			only, switched := lonePort(in.Facts)
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				why, what := src, "the host forwards packets"
				if bridge := in.Facts.NIC(n.Master); bridge != nil && bridge.Kind == "bridge" {
					why, what = bridge.Source, "it is a port of "+bridge.Name
				} else if between, is := betweenNetworks(in.Facts); !on && is && n.Up && physical(n) {
					out = append(out, hint(joinsSegments(n, between, "the host has a public and a private address"))...)
					continue
				} else if !on && n == only {
					out = append(out, hint(joinsSegments(n, switched, "forwarding is enabled"))...)
					continue
				} else if !on {
					continue
				}
				if n.Up && physical(n) {
					out = append(out, joinsSegments(n, why, what)...)
				}
			}
			return out
		},
		Fires: lroExample("LRO,VLAN_HWTSO"),
		Quiet: lroExample("VLAN_HWTSO"),
	}
}

// lonePort is the only card that was shown of a FreeBSD host on which somebody switched forwarding on: where its
// traffic goes is not known, but nothing says that it is no router.
func lonePort(f *facts.Facts) (*facts.NIC, facts.Source) {
	src, on := forwards(f)
	if !on || f.System != system.FreeBSD || total(f, "ip.total_packet_received") > 0 || addressed(f) > 1 {
		return nil, facts.Source{}
	}
	var only *facts.NIC
	for i := range f.NICs {
		if n := &f.NICs[i]; physical(n) && n.Up {
			if only != nil {
				return nil, facts.Source{}
			}
			only = n
		}
	}
	return only, src
}

// betweenNetworks reports whether a FreeBSD host of which nothing says whether it forwards has a card with a public address and
// one with a private address, as a router has, and some servers.
func betweenNetworks(f *facts.Facts) (src facts.Source, is bool) {
	if _, known := f.Integer("net.inet.ip.forwarding"); known || f.System != system.FreeBSD {
		return src, false
	}
	public, private := false, false
	for i := range f.NICs {
		n := &f.NICs[i]
		if !physical(n) || !n.Up {
			continue
		}
		for _, s := range n.Addrs {
			address, _, _ := strings.Cut(s, "/")
			if a, err := netip.ParseAddr(address); err == nil && a.Is4() && a.IsGlobalUnicast() {
				public, private = public || !a.IsPrivate(), private || a.IsPrivate()
				if a.IsPrivate() {
					src = n.Source
				}
			}
		}
	}
	return src, public && private
}

// hint makes a finding one that holds only where the host forwards what this card receives.
func hint(found []Finding) []Finding {
	for i := range found {
		found[i].Severity = Info
		found[i].Confirm = "The card receives packets that the host forwards: netstat -s -p ip counts them as forwarded."
	}
	return found
}

// joinsSegments finds the offloads that make large packets of small ones: LRO
// cannot be taken back exactly; what the card joins as GRO does can, and TSO
// matters where LRO or a bridge hands large packets to it.
func joinsSegments(n *facts.NIC, why facts.Source, what string) []Finding {
	for _, o := range []struct {
		name     string
		severity Severity
		fixes    []Fix
	}{
		{"large-receive-offload", Warning, []Fix{{Setting: "ethtool:features/lro", Interface: n.Name,
			Value: "off"}}},
		{"LRO", Warning, []Fix{{Setting: "ifconfig:lro", Interface: n.Name, Value: "off"},
			{Setting: "ifconfig:tso", Interface: n.Name, Value: "off"}}},
		{"rx-gro-hw", Info, []Fix{{Action: "disable it for a test",
			Command: shell.Join("ethtool", "-K", n.Name, "rx-gro-hw", "off")}}},
		{"TSO4", Info, []Fix{{Setting: "ifconfig:tso", Interface: n.Name, Value: "off"}}},
	} {
		if f := n.Features[o.name]; f.On {
			found := with(o.severity, one(n.Name, []facts.Source{f.Source, why}, "%s is enabled and %s", o.name, what))
			for _, fix := range o.fixes {
				if fix.Setting != "ifconfig:tso" || n.Features["TSO4"].On || n.Features["TSO6"].On {
					found[0].Fix = append(found[0].Fix, fix)
				}
			}
			return found
		}
	}
	return nil
}

func lroExample(options string) Example {
	return freebsdExample("sysctl -a", "net.inet.ip.forwarding: 1\n", "ifconfig -a",
		"ix0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\toptions=4e53fbb<RXCSUM,TXCSUM,"+options+">\n\tether 00:00:5e:00:53:01\n").as("router")
}
