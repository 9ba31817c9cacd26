package diagnose

import (
	"cmp"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// kernelWarning finds what Linux says of packets that a card, a tunnel or a service cannot handle.
func kernelWarning() Rule {
	return Rule{
		ID: "kernel-warning", Title: "The kernel warns about a card, a tunnel or a service", Severity: Warning,
		Systems: onLinux(), Needs: []string{"messages"},
		Because: "The kernel logs only a part of these packets.",
		Confirm: "The message appears when it is slow.",
		Check: func(in Input) (out []Finding) {
			for _, w := range kernelWarnings {
				lines, n := matching(in.Facts, w.form)
				if n == 0 {
					continue
				}
				found := with(w.severity, do(w.action, one(cmp.Or(nameIn(in.Facts, w.form), "kernel"), lines, "%s (%s)", w.what,
					counted(n, "line"))))
				found[0].Because, found[0].Confirm = w.because, w.confirm
				out = append(out, decisive(found)...)
			}
			return out
		},
		Fires: linuxExample("dmesg", "[ 9.1] Dead loop on virtual device gre1, fix it urgently!\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] gre1: entered promiscuous mode\n"),
	}
}

// nameIn is the first name that the lines of a form tell: some of them have none.
func nameIn(f *facts.Facts, form *regexp.Regexp) string {
	if names := namedIn(f, form); len(names) > 0 {
		return names[0]
	}
	return ""
}

// kernelWarnings are from net/core/dev.c (skb_warn_bad_offload, __dev_queue_xmit) and ip_tunnel_core.c, net/ipv4/tcp_input.c
// (tcp_gro_dev_warn), net/netfilter/ipvs (ip_vs_scheduler_err), drivers/net/xen-netfront.c, net/sunrpc/svc_xprt.c, and mlx5
// (core/en/txrx.h, core/events.c).
var kernelWarnings = []struct {
	form                           *regexp.Regexp
	severity                       Severity
	what, because, confirm, action string
}{
	{regexp.MustCompile(facts.BadOffload), Warning,
		"packets arrived at a device that cannot segment or checksum them",
		"Something before the device (LRO of another card, a bridge, a tunnel, a virtual machine or the driver) made large packets " +
			"whose description does not fit its offloads. They are segmented slowly by the CPU, or dropped.",
		"The messages stop with LRO off on the card that receives the packets.",
		"update the kernel, which contains the driver; turn LRO off on the cards that receive forwarded or bridged packets (ethtool -K " +
			"NAME lro off), and test with ethtool -K NAME tso off gso off on the one that sends them"},
	{regexp.MustCompile(facts.SuspectGRO), Info,
		"the driver merges received packets in a way that TCP cannot measure",
		"TCP received a merged packet without its segment size, so it delays acknowledgments wrongly and announces too small a window. " +
			"LRO or the hypervisor's own merging does this. The kernel logs it once.",
		"It is faster with lro off (or gro off) on this card.",
		"update the kernel, which contains the driver; test with ethtool -K NAME lro off, then gro off"},
	{regexp.MustCompile(facts.DeadLoop), Warning,
		"packets of this device are sent into it again, and dropped",
		"The route to the tunnel's other end leads through the tunnel itself, or virtual devices are stacked in a circle.",
		"ip route get ADDRESS, with the address of the tunnel's other end, shows this device.",
		"add a route to the tunnel's other end through the physical interface (ip route add ADDRESS via GATEWAY dev NAME)"},
	{regexp.MustCompile(facts.NoRealServer), Warning,
		"no server of this virtual service can take new connections",
		"IPVS refuses them: the service has no real server, all weights are 0, or all servers are overloaded.",
		"ipvsadm -Ln lists the service without a server of a weight above 0.",
		"check the servers and the health check that set their weights (ipvsadm -Ln; keepalived's log; in Kubernetes kubectl get " +
			"endpointslices)"},
	{regexp.MustCompile(facts.TooManySlots), Warning,
		"packets in too many pieces for Xen were sent",
		"Netfront passes at most 18 pages of a packet to the host. Old kernels drop such packets, newer ones copy them together.",
		"The messages stop, and it is faster, with sg off.",
		"update the guest's kernel; until then, ethtool -K NAME sg off, or tso off and gso off"},
	{regexp.MustCompile(facts.FullNFSD), Warning,
		"the server closed connections because it had more than its threads allow",
		"Before Linux 6.12 the limit of connections is (threads + 3) * 20, so with 8 threads it closes the oldest beyond 220; their clients " +
			"reconnect and stall.",
		"The message stops with more threads.",
		"raise threads in the [nfsd] section of /etc/nfs.conf (64, for example), or rpc.nfsd 64 at once; check for clients that " +
			"open connections again and again (ss -tn sport = :2049)"},
	{regexp.MustCompile(facts.RejectedWork), Warning,
		"the card rejected work of a queue, and the driver had to recover it",
		"Packets in the queue are lost. The syndrome in the message says why: memory that the card may not read (0x4), or a packet " +
			"that the firmware refuses (0x2).",
		"ethtool -S NAME counts tx_recover or rx_recover.",
		"update the driver and the card's firmware together; test without the offload in use (ethtool -K NAME tso off, or XDP or TLS " +
			"offload off); check for IOMMU faults in the same log"},
	{regexp.MustCompile(facts.WeakSlot), Info,
		"the slot reports less power than the card may need",
		"With active cables or optics of high power, the card may shut its ports down. Many servers report no power although " +
			"enough is available.",
		"Ports fail with \"Power budget exceeded\" in the same log.",
		"check the slot's power in the server's manual, and update the server's firmware; with passive cables, ignore it if links are stable"},
}
