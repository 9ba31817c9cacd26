package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// checksums finds packets that arrived damaged past the link's own check.
func checksums() Rule {
	return Rule{
		ID: "checksum-errors", Title: "Packets arrive with wrong checksums", Systems: []string{"linux", "freebsd"},
		Needs: []string{"linux:protocols|messages", "freebsd:counters"}, Severity: Info,
		Because: "The frame's own CRC was good, so the corruption happened in a device or in a driver's offload, not on the " +
			"wire.",
		Check: func(in Input) []Finding {
			found := counters(in.Facts, "Tcp.InCsumErrors", "tcp.packet_received.discarded_for_bad_checksum")
			arrived := total(in.Facts, "Tcp.InSegs") + total(in.Facts, "tcp.packet_received")
			if lines, n := matching(in.Facts, cardsChecksum); n > 0 {
				return wrongOfCard(lines, n)
			}
			if lines, n := matching(in.Facts, badDatagrams); n > 0 {
				return badOfSender(lines, n)
			}
			if len(found) == 0 || arrived == 0 || float64(found[0].Value) < 1e-5*float64(arrived) || !still(found[0]) {
				return nil
			}
			return one("tcp", sources(found), "%s of %d segments", happened(found[0]), arrived)
		},
		Fires: linuxExample("/proc/net/snmp", "Tcp: InSegs InCsumErrors\nTcp: 1000000 900\n"),
		Quiet: linuxExample("/proc/net/snmp", "Tcp: InSegs InCsumErrors\nTcp: 1000000 1\n"),
	}
}

// cardsChecksum is what the kernel says of a packet that is whole and whose checksum by the card is not
// (netdev_rx_csum_fault in net/core/dev.c).
var cardsChecksum = regexp.MustCompile(`(\S+|\(NULL net_device\)): hw csum failure\b`)

// badDatagrams is what the kernel says of a datagram that it drops (net/ipv4/udp.c, csum_error).
var badDatagrams = regexp.MustCompile(`UDP(?:Lite)?: bad checksum\. From ([0-9.]+):\d+ to [0-9.]+:(\d+) ulen \d+`)

// badOfSender is about datagrams with wrong checksums, of which the kernel logs a few. Those of a tunnel come from its
// other end, whose offload did not fill them in, or from a NAT in between.
func badOfSender(lines []facts.Source, n int) []Finding {
	m := badDatagrams.FindStringSubmatch(lines[0].Text)
	if tunnel := overlays[m[2]]; tunnel != "" {
		found := with(Warning, one(tunnel, lines, "tunnel packets from %s arrive with wrong UDP checksums and are "+
			"dropped (%s)",
			m[1], counted(n, "message")))
		found[0].Because = "The sender leaves the checksum to a hardware offload that does not compute it " +
			"for " + tunnel +
			" packets, or a NAT device on the path rewrites addresses without updating it. Only packets whose " +
			"checksum is verified are lost, such as those of cluster services; others pass."
		found[0].Confirm = "The messages stop once the offload is disabled on the sender."
		return decisive(do("on the sender, disable transmit checksum offload on the tunnel's interface: ethtool "+
			"-K NAME tx-checksum-ip-generic off (NAME is flannel.1, vxlan.calico or similar); make it permanent "+
			"with a udev rule, and update the sender's kernel", found))
	}
	const often = 3 // single ones come from anywhere on the Internet
	if n < often {
		return nil
	}
	found := with(Warning, one("udp", lines, "datagrams from %s to port %s arrive with wrong checksums and are dropped (%s)", m[1], m[2],
		counted(n, "message")))
	found[0].Because = "The sender's checksum offload, or a device on the path that rewrites packets, leaves a " +
		"wrong checksum."
	found[0].Confirm = "The messages stop once the sender's offload is disabled; a capture on the sender itself " +
		"shows wrong checksums even if the offload works."
	return decisive(do("on the sender, disable transmit checksum offload (ethtool -K NAME tx off), and update its driver", found))
}

// overlays are the ports of tunnels whose packets are datagrams, with 8472 as Linux chose it before one was assigned.
var overlays = map[string]string{"8472": "VXLAN", "4789": "VXLAN", "6081": "Geneve"}

// wrongOfCard is about checksums that a card computed wrong, or that something between it and TCP made wrong.
func wrongOfCard(lines []facts.Source, n int) []Finding {
	name := strings.Trim(firstGroup(cardsChecksum, lines[0].Text), "[]")
	if strings.Contains(name, "net_device") || strings.Contains(name, "unknown") {
		name = "card"
	}
	found := one(name, lines, "the card's receive checksums are wrong (%s)", counted(n, "message"))
	found[0].Because = "The kernel recomputed them and found the packets intact: the driver, the card's LRO, or " +
		"something that modifies packets before TCP (XDP, BPF, Open vSwitch, a tunnel) is at fault. Each such " +
		"packet costs CPU time."
	found[0].Confirm = "The messages stop with rx off."
	return decisive(do("disable receive checksum offload (ethtool -K NAME rx off), and update the kernel, which "+
		"contains the driver; if LRO is on, try ethtool -K NAME lro off first", found))
}
