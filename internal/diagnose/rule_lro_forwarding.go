package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/shell"
)

// lroForwarding finds receive offload on a host that forwards.
func lroForwarding() Rule {
	return Rule{
		ID: "lro-on-router", Title: "Large receive offload is on where packets are forwarded",
		Systems: []string{"linux", "freebsd"}, Severity: Warning,
		Needs: []string{"linux:settings", "linux:features *", "freebsd:ifconfig"},
		Because: "LRO joins segments in a way that cannot be taken apart exactly: forwarded packets are changed or " +
			"too large. On FreeBSD this includes TSO when sending.",
		Check: func(in Input) (out []Finding) {
			src, on := reallyForwards(in.Facts, in.Role)
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				why, what := src, "the host forwards"
				if bridge := in.Facts.NIC(n.Master); bridge != nil && bridge.Kind == "bridge" {
					why, what = bridge.Source, "it is a port of "+bridge.Name
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
		{"rx-gro-hw", Info, []Fix{{Action: "try without it",
			Command: shell.Join("ethtool", "-K", n.Name, "rx-gro-hw", "off")}}},
		{"TSO4", Info, []Fix{{Setting: "ifconfig:tso", Interface: n.Name, Value: "off"}}},
	} {
		if f := n.Features[o.name]; f.On {
			found := with(o.severity, one(n.Name, []facts.Source{f.Source, why}, "%s is on and %s", o.name, what))
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
