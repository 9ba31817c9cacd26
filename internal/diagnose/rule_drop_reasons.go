package diagnose

import (
	"maps"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
)

// dropReason is what follows from a reason that the kernel gives for a drop, or from the function in which it happened
// on releases that give none.
type dropReason struct {
	names         []string
	what, because string
	fix           Fix
	severity      Severity // at most
}

// dropReasons are the reasons that name a cause (include/net/dropreason-core.h); the others are the ordinary end of a
// packet, or say only where it was.
var dropReasons = []dropReason{
	{[]string{"drop_reason.SOCKET_RCVBUFF", "drops.__udp_enqueue_schedule_skb", "drops.sock_queue_rcv_skb_reason"},
		"socket receive buffers were full", "A program reads its sockets too slowly, or their receive buffers are small.",
		Fix{Setting: "net.core.rmem_max"}, Critical},
	{[]string{"drop_reason.CPU_BACKLOG", "drops.enqueue_to_backlog"}, "a CPU's receive backlog was full",
		"Packets of RPS and of virtual interfaces pass through this queue.",
		Fix{Setting: "net.core.netdev_max_backlog"}, Critical},
	{[]string{"drop_reason.SOCKET_BACKLOG", "drops.tcp_add_backlog"}, "a socket's backlog was full",
		"Segments that arrive while the program is inside a system call on the socket wait in this backlog.",
		Fix{Setting: "net.ipv4.tcp_rmem"}, Warning},
	{[]string{"drop_reason.QDISC_DROP", "drop_reason.QDISC_OVERLIMIT", "drops.pfifo_fast_enqueue"},
		"an interface's send queue was full", "This host sends faster than the interface, or a shaper in front of it, " +
			"transmits.",
		Fix{Action: "tc -s qdisc show identifies the interface and queue"}, Warning},
	{[]string{"drop_reason.FULL_RING"}, "the queue of a TUN or TAP device was full",
		"The program behind the device (VPN, hypervisor) reads its packets too slowly.",
		Fix{Action: "give that program more CPU time, or the device a longer queue (ip link set dev NAME " +
			"txqueuelen 10000)"}, Critical},
	{[]string{"drop_reason.NEIGH_FAILED", "drop_reason.NEIGH_QUEUEFULL"}, "neighbours did not respond",
		"Packets for a host on the local network wait for ARP or neighbour discovery, and are dropped when no answer comes.",
		Fix{Action: "ip neigh show nud failed lists the addresses"}, Warning},
	{[]string{"drop_reason.PKT_TOO_BIG"}, "packets were larger than the interface's MTU",
		"There is a tunnel or interface with a smaller MTU on the path, and the senders do not know it.",
		Fix{Action: "clamp the MSS on the forwarding host, or lower the MTU on the senders"}, Warning},
	{[]string{"drop_reason.UNHANDLED_PROTO", "drops.__netif_receive_skb_core"},
		"packets of protocols that nothing on this host handles were dropped",
		"Frames of unhandled protocols (LLDP or STP from switches, other VLANs, IPv6 where disabled) end there and count as " +
			"drops of the interface: this is not a loss.",
		Fix{Action: "tcpdump -eni NAME 'not ip and not ip6 and not arp' shows them"}, Info},
	{[]string{"drop_reason.NETFILTER_DROP", "drops.nf_hook_slow"}, "the packet filter dropped packets",
		"An iptables or nftables rule drops them: this is a problem only if the rule is not meant for these packets.",
		Fix{Action: "nft list ruleset or iptables -nvL shows which rule counts them"}, Info},
}

// dropNamed finds the causes that the kernel itself names for the packets it dropped.
func dropNamed() Rule {
	return Rule{
		ID: "drop-reason", Title: "The kernel recorded why it " +
			"dropped packets", Systems: onLinux(), Needs: []string{"drops|metrics"},
		Severity: Warning,
		Because: "Since Linux 5.17 the trace event skb:kfree_skb gives the reason for each drop; older releases give only the " +
			"location.",
		Confirm: "The count for this reason grows at the rate of the loss.",
		Check: func(in Input) (out []Finding) {
			for _, r := range dropReasons {
				all := counters(in.Facts, r.names...)
				if len(all) == 0 {
					continue
				}
				severity := gradedCount(all[0])
				if severity != trifling && !r.severity.AtLeast(severity) {
					severity = r.severity
				}
				found := with(severity, one("kernel", sources(all), "%s: %d of %d recorded drops", r.what, all[0].Value,
					drops(in.Facts)))
				found[0].Because, found[0].Fix = r.because, []Fix{r.fix}
				out = append(out, found...)
			}
			return out
		},
		Fires: linuxExample("dropwatch", "dropwatch> start\n5120 drops at enqueue_to_backlog+11f "+
			"(0xffffffff8a7b1c2f) [software]\n"),
		Quiet: linuxExample("dropwatch", "dropwatch> start\n413 drops at skb_release_data+b1 "+
			"(0xffffffff816ea931) [software]\n"),
	}
}

// drops are all that were counted by reason or by place.
func drops(f *facts.Facts) (sum uint64) {
	for _, name := range slices.Sorted(maps.Keys(f.Counters)) {
		if isDrop(name) {
			sum += f.Counters[name].Value
		}
	}
	return sum
}

func isDrop(name string) bool {
	return len(name) > 6 && name[:6] == "drops." || len(name) > 12 && name[:12] == "drop_reason."
}
