package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// functionDrop is what a card counts of one virtual function (i40e's driver of Intel: vf000.rx_discards).
var functionDrop = regexp.MustCompile(`^(vf_?\d{1,4})[._]rx_(?:discards|dropped|drops)$`)

// virtualFunctionDrops finds packets that a virtual machine's function of a card dropped.
func virtualFunctionDrops() Rule {
	return Rule{
		ID: "virtual-function-drops", Title: "A card dropped packets of a virtual function", Severity: Warning,
		Systems: onLinux(), Needs: []string{"statistics *"},
		Because: "The guest or program that owns the virtual function does not empty its receive ring fast enough: the host " +
			"cannot help it.",
		Confirm: "In the guest, the card's counters of packets without a descriptor grow.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				var of []Finding
				for name, c := range n.Counters {
					m := functionDrop.FindStringSubmatch(name)
					if m == nil || c.Value == 0 {
						continue
					}
					carried := functionReceived(n, m[1])
					found := lost(c, carried, one(n.Name+" "+m[1], []facts.Source{c.Source}, "%s is %s", name, happened(c)))
					if carried > 0 {
						found[0].Summary += ", " + percent(lossShare(c, carried)) + " of its packets"
					}
					of = append(of, do("in the guest: a larger receive ring (ethtool -G), more queues, and processors that are "+
						"not shared", found)...)
				}
				slices.SortFunc(of, func(a, b Finding) int { return cmp.Compare(a.Subject, b.Subject) })
				out = append(out, of...)
			}
			return out
		},
		Fires: functionExample(90000),
		Quiet: functionExample(0),
	}
}

// functionReceived is what a virtual function received.
func functionReceived(n *facts.NIC, function string) (sum uint64) {
	for _, kind := range []string{"rx_unicast", "rx_multicast", "rx_broadcast", "rx_packets"} {
		for _, sign := range []string{".", "_"} {
			sum += n.Counters[function+sign+kind].Value
		}
	}
	return sum
}

func functionExample(dropped int) Example {
	return linuxExample("ip -s -d link show", ipLink("eth0", 1500, 9000000, 0, 0, 0), "ethtool -S eth0",
		fmt.Sprintf("NIC statistics:\n     vf000.rx_bytes: 9000000000\n     vf000.rx_unicast: 6000000\n"+
			"     vf000.rx_discards: %d\n", dropped))
}
