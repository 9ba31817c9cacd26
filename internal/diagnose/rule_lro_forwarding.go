package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// lroForwarding finds receive offload on a host that forwards.
func lroForwarding() Rule {
	return Rule{
		ID: "lro-on-router", Title: "Large receive offload is on where packets are forwarded", Systems: []string{"linux", "freebsd"}, Severity: Warning,
		Needs:   []string{"settings", "linux:features *", "freebsd:ifconfig"},
		Because: "LRO joins segments in a way that cannot be taken apart exactly: forwarded packets are changed or too large. TSO on the way out goes with it on FreeBSD.",
		Check: func(in Input) (out []Finding) {
			src, on := reallyForwards(in.Facts, in.Role)
			if !on {
				return nil
			}
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if f := n.Features["large-receive-offload"]; f.On && n.Up {
					found := one(n.Name, []facts.Source{f.Source, src}, "large-receive-offload is on and the host forwards")
					found[0].Fix = []Fix{{Setting: "ethtool:features/large-receive-offload"}}
					out = append(out, found...)
				}
				if f := n.Features["LRO"]; f.On && n.Up {
					found := one(n.Name, []facts.Source{f.Source, src}, "LRO is on and the host forwards")
					found[0].Fix = []Fix{{Setting: "ifconfig:lro"}, {Setting: "ifconfig:tso"}}
					out = append(out, found...)
				}
			}
			return out
		},
		Fires: lroExample("LRO,VLAN_HWTSO"),
		Quiet: lroExample("VLAN_HWTSO"),
	}
}

func lroExample(options string) Example {
	return freebsdExample("sysctl -a", "net.inet.ip.forwarding: 1\n", "ifconfig -a",
		"ix0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\toptions=4e53fbb<RXCSUM,TXCSUM,"+options+">\n\tether 00:00:5e:00:53:01\n").as("router")
}
