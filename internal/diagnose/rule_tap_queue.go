package diagnose

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// tapQueue finds the host's end of a virtual machine's card whose queue was full (drivers/net/tun.c: tun_net_xmit counts a
// packet for which there was no room as dropped, before Linux 3.8 as an overrun).
func tapQueue() Rule {
	return Rule{
		ID: "tap-queue-full", Title: "A virtual machine or VPN reads its packets too slowly", Systems: []string{"linux", "freebsd"},
		Needs: []string{"linux:links|messages", "freebsd:interface counters"}, Severity: Warning,
		Because: "Packets sent to a TAP or TUN device wait for the program behind it (hypervisor, VPN): the queue was full " +
			"because that program got too little CPU time, or because of a burst longer than the queue.",
		Confirm: "The counter grows while it is slow, and less so with a longer queue.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if n.Driver != "tun" && !tapName.MatchString(n.Name) {
					continue
				}
				name, c := largest(nicCounters(n, "link.tx_dropped", "link.tx_overrun", "link.tx_overruns", "netstat.Drop"))
				sent := sentPackets(n)
				if c.Value < 100 || sent == 0 {
					continue
				}
				out = append(out, lost(c, sent, one(n.Name, []facts.Source{c.Source}, "%s: %s%s",
					strings.TrimPrefix(name, "link."), happened(c), ofSent(n, c)))...)
			}
			out = atMost(Warning, out) // what it carries is not known
			if in.Facts.System == "freebsd" {
				return do("give the virtual machine or VPN more CPU time; for bursts, lengthen the queue: net.link.ifqmaxlen=512 in "+
					"/boot/loader.conf", out)
			}
			for i := range out {
				out[i].Fix = []Fix{{Setting: "link:txqueuelen"}}
			}
			if lines, n := matching(in.Facts, guestStalled); n > 0 {
				vif := guestStalled.FindStringSubmatch(lines[0].Text)[1]
				stalled := do("check the virtual machine at that time: whether it hung or was paused, and its CPU load and "+
					"steal time (xl list, xentop on the host; vmstat 1 inside)", one(vif, lines, "the virtual machine behind it "+
					"took no packets for seconds, and the host stopped sending to it (%s)", counted(n, "line")))
				stalled[0].Because = "The virtual machine did not empty its receive ring; until it does, the host drops all packets " +
					"to it."
				stalled[0].Confirm = "The virtual machine is unreachable between this message and \"Guest Rx ready\"."
				return append(out, stalled...)
			}
			return do("use vhost-net and multiqueue for the virtual machine's card (libvirt: <driver name='vhost' queues='4'/>), "+
				"give it more CPU time, and lengthen the queue", out)
		},
		Fires: linuxExample("ifconfig -a", tapExample(9000)),
		Quiet: linuxExample("ifconfig -a", tapExample(9)),
	}
}

// tapName tells the devices that libvirt, Proxmox, Open vSwitch, OpenStack and VPNs name so.
var tapName = regexp.MustCompile(`^(?:vnet\d+|tap[\w.-]+|tun\d+|macvtap\d+|qvo[\w-]+)$`)

// guestStalled is what Xen's backend says (drivers/net/xen-netback/rx.c) when a queue of the guest takes nothing for a while.
var guestStalled = regexp.MustCompile(`\b(vif\d+\.\d+): Guest Rx stalled`)

func tapExample(overruns int) string {
	return "vnet0     Link encap:Ethernet  HWaddr FE:52:00:01:01:94\n          UP BROADCAST RUNNING MULTICAST  MTU:1500  " +
		"Metric:1\n          RX packets:1352052 errors:0 dropped:0 overruns:0 frame:0\n          TX packets:13098674 " +
		"errors:0 dropped:0 overruns:" + fmt.Sprint(overruns) + " carrier:0\n"
}
