package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// functionDrop is what a card counts of one virtual function (i40e's driver of Intel: vf000.rx_discards; ip -s link:
// vf0.rx_dropped).
var functionDrop = regexp.MustCompile(`^(vf_?\d{1,4})[._]rx_(?:discards|dropped|drops)$`)

// virtualFunctionDrops finds packets that a virtual machine's function of a card dropped.
func virtualFunctionDrops() Rule {
	return Rule{
		ID: "virtual-function-drops", Title: "A card dropped packets of a virtual function", Severity: Warning,
		Systems: onLinux(), Needs: []string{"statistics *|links|messages"},
		Because: "The guest or program that owns the virtual function does not drain its receive ring fast enough; the host " +
			"cannot fix that.",
		Confirm: "In the guest, the card's no-descriptor counters grow.",
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
					of = append(of, do("in the guest, enlarge the receive ring (ethtool -G NAME rx 4096), use more queues (ethtool -L "+
						"NAME combined N), and give it dedicated CPUs", found)...)
				}
				slices.SortFunc(of, func(a, b Finding) int { return cmp.Compare(a.Subject, b.Subject) })
				out = append(out, of...)
			}
			return append(out, refusedFunctions(in.Facts)...)
		},
		Fires: functionExample(90000),
		Quiet: functionExample(0),
	}
}

// refusedFunctions finds virtual functions whose packets their card refused to send: with the address of another one
// (ixgbe_main.c, igb_main.c), or as descriptors that no driver should make (i40e_main.c, ice_main.c).
func refusedFunctions(f *facts.Facts) (out []Finding) {
	if lines, n := matching(f, spoofed); n > 0 {
		found := do("if the guest bridges or forwards, allow other MAC addresses (ip link set NAME vf N spoofchk off trust "+
			"on); otherwise find the guest that sends with a foreign address", one(cardOf(lines...), lines,
			"spoofed packets of virtual functions were dropped (%s)", counted(n, "line")))
		found[0].Because = "With spoof checking, the card drops packets of a virtual function whose source MAC address is not " +
			"the one assigned by the host."
		out = append(out, found...)
	}
	if lines, n := matching(f, malicious); n > 0 {
		found := do("update the driver in the guest, and the card's driver and firmware on the host; check whether the guest "+
			"sends frames larger than the function's MTU", one(cardOf(lines...), lines,
			"the card stopped a queue because of malicious or invalid descriptors (%s)", counted(n, "line")))
		found[0].Because = "The card treats invalid descriptors as an attack: the queue is stopped until the function is " +
			"reset, and its packets are lost."
		out = append(out, found...)
	}
	for i := range out {
		out[i].Confirm = "The messages coincide with packet loss in the guest."
	}
	return out
}

var (
	spoofed   = regexp.MustCompile(`\b\d+ Spoofed packets detected`)
	malicious = regexp.MustCompile(`[1-9]\d* [TR]x Malicious Driver Detection events|` +
		`Malicious Driver Detection event 0x[0-9a-f]+ on [TR]X queue|[TR]X driver issue detected on VF`)
)

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
