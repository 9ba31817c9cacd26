package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// oneQueue finds fast cards whose packets all go through one core.
func oneQueue() Rule {
	return Rule{
		ID: "one-receive-queue", Title: "All packets of a card are received on one core", Systems: onLinux(),
		Needs: []string{"channels *|softnet|indirection *"}, Severity: Warning,
		Because: "Without several hardware queues, or software steering (RPS), one core handles every received packet.",
		Confirm: "One CPU is busy in softirq under load while the others are idle.",
		Check: func(in Input) (out []Finding) {
			rps := "RPS is off"
			if in.Facts.Why("interfaces") != "" {
				rps = "the RPS setting is unknown"
			}
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if n.Queues.Hashed == 1 && n.Queues.HashedOf > 1 {
					out = append(out, do(fmt.Sprintf("ethtool -X %s equal %d", n.Name, n.Queues.HashedOf), one(n.Name,
						[]facts.Source{n.Shown["indirection"]}, "its indirection table sends everything to 1 of %d receive queues",
						n.Queues.HashedOf))...)
					continue
				}
				if !physical(n) || !n.Up || in.Facts.Cores < 2 || n.Queues.RX != 1 || steered(n) {
					continue
				}
				if n.Queues.MaxCombined > 1 {
					found := one(n.Name, []facts.Source{n.Shown["ethtool:channels/combined"],
						n.Shown["ethtool:channels/combined/max"]},
						"1 of %d queues is in use on %d cores, and %s", n.Queues.MaxCombined, in.Facts.Cores, rps)
					found[0].Fix = []Fix{{Setting: "ethtool:channels/combined", Interface: n.Name,
						Value: strconv.Itoa(min(n.Queues.MaxCombined, in.Facts.Cores))}}
					out = append(out, found...)
					continue
				}
				guest := n.Queues.MaxCombined == 1 && (n.Driver == "virtio_net" || n.Driver == "")
				if n.Speed >= 10*units.Gbit || n.Speed == 0 && in.Role != "" || guest {
					found := with(Info, one(n.Name, []facts.Source{n.Shown["ethtool:channels/combined"]},
						"the card has one queue on %d cores, and %s", in.Facts.Cores, rps))
					found[0].Fix = []Fix{{Setting: steering}}
					if guest {
						found = decisive(do(guestQueues, found))
					}
					out = append(out, found...)
				}
			}
			if len(out) == 0 {
				out = oneReceiver(in.Facts)
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "/proc/cpuinfo",
			"processor\t: 0\nprocessor\t: 1\n", "/sys/class/net",
			"eth0/queues/rx-0:\neth0/queues/tx-0:\neth0/queues/rx-0/rps_cpus:0\n",
			"ethtool -l eth0", "Channel parameters for eth0:\nPre-set maximums:\nCombined:\t8\nCurrent hardware "+
				"settings:\nCombined:\t1\n"),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "/proc/cpuinfo",
			"processor\t: 0\nprocessor\t: 1\n", "/sys/class/net",
			"eth0/queues/rx-0:\neth0/queues/tx-0:\neth0/queues/rx-0/rps_cpus:3\n",
			"ethtool -l eth0", "Channel parameters for eth0:\nPre-set maximums:\nCombined:\t8\nCurrent hardware "+
				"settings:\nCombined:\t1\n"),
	}
}

// guestQueues is what to do about a virtual machine's card with one queue.
const guestQueues = "give the virtual machine's card several queues, up to one per core (libvirt: <driver name='vhost' queues='4'/>; " +
	"Proxmox VE: queues=4 of net0), and use them in the guest: ethtool -L NAME combined 4"

// oneReceiver finds a processor that took nearly all packets, where nothing
// says which interrupts brought them.
func oneReceiver(f *facts.Facts) []Finding {
	var sum, steered uint64
	var most facts.Processor
	for _, p := range f.Processors {
		if p.Softnet == nil {
			continue
		}
		sum += p.Softnet.Processed.Value
		steered += p.Softnet.Steered.Value
		if most.Softnet == nil || p.Softnet.Processed.Value > most.Softnet.Processed.Value {
			most = p
		}
	}
	if len(f.Processors) < 4 || len(f.Interrupts) > 0 || sum < 100e6 ||
		float64(most.Softnet.Processed.Value) < 0.9*float64(sum) || steered > sum/10 {
		return nil
	}
	s := Info
	if most.Softnet.Squeezed.Value >= 1000 || most.Softnet.Dropped.Value > 0 {
		s = Warning
	}
	found := with(s, one(fmt.Sprintf("CPU %d", most.ID), []facts.Source{most.Softnet.Processed.Source},
		"it received %.0f%% of the %d packets on %d CPUs; it ran out of budget %d times (time_squeeze)",
		100*float64(most.Softnet.Processed.Value)/float64(sum), sum, len(f.Processors), most.Softnet.Squeezed.Value))
	found[0].Fix = []Fix{{Setting: steering}}
	return do("check where the card's interrupts go (/proc/interrupts), and spread them", found)
}

// steered reports whether receive packet steering is on for any queue.
func steered(n *facts.NIC) bool {
	for _, mask := range n.RPS {
		if strings.Trim(mask, "0,") != "" {
			return true
		}
	}
	return false
}
