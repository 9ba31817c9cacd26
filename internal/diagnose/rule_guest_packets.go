package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

// guestPackets finds packets that a virtual machine's driver or its hypervisor rejected.
func guestPackets() Rule {
	return Rule{
		ID: "guest-packets-rejected", Title: "A virtual machine's driver or its hypervisor rejects packets of the other",
		Severity: Warning, Systems: onLinux(), Needs: []string{"messages"},
		Because: "The rejected packets are dropped: TCP sends them again and slows down. The kernel logs only a part of them.",
		Check: func(in Input) []Finding {
			if lines, n := matching(in.Facts, badSegmentation); n > 0 {
				found := one(firstGroup(badSegmentation, lines[0].Text), lines,
					"virtio_net dropped packets for what the hypervisor said of their segments (%s)", counted(n, "line"))
				found[0].Confirm = "The messages stop, and it is fast, with another kernel or with rx-gro-hw off."
				return decisive(do("update this guest's kernel: 6.6.44 and 6.6.45, and others of August 2024, reject good packets; "+
					"until then, ethtool -K NAME rx-gro-hw off makes the hypervisor send single packets", found))
			}
			lines, n := matching(in.Facts, rejectedSend)
			if n == 0 {
				return nil
			}
			found := with(Info, one(firstGroup(rejectedSend, lines[0].Text), lines,
				"Hyper-V rejected packets that this guest sent (%s)", counted(n, "line")))
			found[0].Confirm = "The messages appear when it is slow; a few in an hour cost little."
			return do("update this guest's kernel: hv_netvsc sends what Hyper-V rejects until a fix of May 2025", found)
		},
		Fires: linuxExample("dmesg", "[  140.932766] ens3: bad gso: type: 1, size: 1432\n"),
		Quiet: linuxExample("dmesg", "[  140.932766] ens3: renamed from eth0\n"),
	}
}

// badSegmentation is what virtio_net says of a packet that it drops because of its header (receive_buf in
// drivers/net/virtio_net.c).
var badSegmentation = regexp.MustCompile(`(\S+): bad gso: type: \d+, size: \d`)

// rejectedSend is what hv_netvsc says of a packet that the host did not take (netvsc_send_completion in
// drivers/net/hyperv/netvsc.c).
var rejectedSend = regexp.MustCompile(`(\S+): nvsp_rndis_pkt_complete error status: [1-9a-f]`)
