package diagnose

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/shell"
	"github.com/wirerate/wirerate/internal/system"
)

// linkFlaps finds links that go up and down.
func linkFlaps() Rule {
	return Rule{
		ID: "link-flaps", Title: "A link went down several times", Severity: Warning,
		Needs:   []string{"linux:messages|bonding|statistics *|interfaces", "freebsd:messages", "openbsd:messages"},
		Because: "Each time, everything in flight is lost and routes change; cable, optic or power saving is the usual cause.",
		Check: func(in Input) []Finding {
			logs := linkLogs(in.Facts)
			said := func(name string) bool { return logs[name] != nil && len(logs[name].downs) >= oftenDown }
			var out []Finding
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if c := n.Counters["bond.link_failures"]; c.Value >= 3 && !said(n.Name) {
					out = append(out, do("replace the cable or optic", one(n.Name, []facts.Source{c.Source},
						"the bond counted %d link failures", c.Value))...)
				}
				if !said(n.Name) {
					out = append(out, countedFlaps(n)...)
				}
			}
			maps.DeleteFunc(logs, func(name string, _ *linkLog) bool {
				return builtOn.MatchString(name) && len(logs) > 1
			})
			for _, name := range slices.Sorted(maps.Keys(logs)) {
				if how, seen := logs[name].flaps(); how != "" {
					out = append(out, do(flapAction(in.Facts, name), one(name, seen, "the kernel log shows the link %s", how))...)
				} else if how, seen := logs[name].outage(); how != "" && !builtOn.MatchString(name) {
					found := with(Info, one(name, seen, "the log shows the link %s", how))
					found[0].Because = "Everything in flight was lost. A single time may be a pulled cable, a restarted device, or a " +
						"settings change."
					out = append(out, do("if it happens again: "+flapAction(in.Facts, name), found)...)
				}
			}
			return slices.Concat(out, leftBundle(in.Facts), withdrawnFunction(in.Facts))
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "dmesg",
			strings.Repeat("[ 9.1] igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down\n", 3)),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "dmesg",
			"[ 9.1] igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down\n"),
	}
}

// countedFlaps finds a link whose driver counted how often it changed: going down (mlx5, sysfs), or both ways (sysfs, the
// link status interrupts of ixgbe, which come a few times while the link is first set up).
func countedFlaps(n *facts.NIC) []Finding {
	for _, c := range []struct {
		name  string
		least uint64
		what  string
	}{{"link_down_events_phy", 3, "going down"}, {"carrier_down_count", 3, "going down"}, {"carrier_changes", 10, "changing its state"}, {"lsc_int",
		10, "changing its state"}} {
		const many = 3 // times the least: fewer may be restarts of the switch and changes of settings since the start
		if seen := n.Counters[c.name]; seen.Value >= c.least && physical(n) {
			found := do("replace the cable or optic", one(n.Name, []facts.Source{seen.Source},
				"the driver counted the link %s %d times", c.what, seen.Value))
			if seen.Value < many*c.least {
				found = with(Info, found)
			}
			return found
		}
	}
	return nil
}

// builtOn are interfaces that go down with the one they are built on.
var builtOn = regexp.MustCompile(`^(?:vlan|lagg|bridge|trunk|aggr)\d+$|^\w+[._]\w*\d+$`)

// flapAction is what is done about a link that flaps.
func flapAction(f *facts.Facts, name string) string {
	if wirelessName.MatchString(name) {
		return "check the signal and the wpa_supplicant log"
	}
	if f.System == system.FreeBSD && usbCardName.MatchString(name) {
		return "try another USB port and cable, then another adapter: USB adapters often drop off the bus or lose their link; for a " +
			"router use a PCI Express card"
	}
	if f.System != system.Linux { // whose energy saving is off unless somebody switched it on
		rates := shell.Join("ifconfig", "-m", name)
		if f.System == system.OpenBSD {
			rates = shell.Join("ifconfig", name, "media")
		}
		return "replace the cable or optic, then change the switch port; if it continues, fix a lower rate (" + rates +
			" lists the supported rates)"
	}
	if strings.Contains(name, ": port ") {
		return "replace the cable, then change the port; check whether the device at the other end restarts"
	}
	return "replace the cable or optic, then change the switch port; if it continues, disable Energy Efficient Ethernet (" +
		shell.Join("ethtool", "--set-eee", name, "eee", "off") + ") or fix a lower rate"
}

// usbCardName are cards on USB of FreeBSD, whatever their driver.
var usbCardName = regexp.MustCompile(`^ue\d+$`)

// withoutCable are interfaces of the BSDs that no cable holds up: they go up and down as programs make and end them.
var withoutCable = regexp.MustCompile(`^(?:gif|gre|ovpn[cs]|tun|tap|wg|epair|enc|ipsec|lo|vxlan|pfsync|pflog)\d+[ab]?$`)

var wirelessName = regexp.MustCompile(`^(?:wl|ath|ra|iw[imnx]\d|wpi|wifi|phy|run\d|rum\d|u?r?rtwn\d|urtw|bwfm|` +
	`bwi\d|mwx|qwx|zyd|otus)`)

// leftBundle finds ports that left their LACP bundle, as FreeBSD's ieee8023ad_lacp.c says it.
func leftBundle(f *facts.Facts) []Finding {
	const often = 3 // each port of a bundle says it once when it starts
	lines, n := matching(f, stoppedDistributing)
	if n < often {
		return nil
	}
	return do("compare LACP with the switch (timeout, mode, ports in the group), then check cables and optics",
		one(cmp.Or(firstGroup(stoppedDistributing, lines[0].Text), "LACP"), lines,
			"ports left their LACP group %d times", n))
}

// withdrawnFunction finds a virtual machine of Hyper-V or Azure whose SR-IOV device the host took away (drivers/net/hyperv/
// netvsc_drv.c, netvsc_vf_changed).
func withdrawnFunction(f *facts.Facts) []Finding {
	const often = 3 // a host is serviced now and then
	lines, n := matching(f, switchedFromVF)
	if n == 0 {
		return nil
	}
	found := one(cmp.Or(firstGroup(switchedFromVF, lines[0].Text), "hv_netvsc"), lines, "the host withdrew its virtual function (%s)",
		counted(n, "time"))
	if n < often {
		found = with(Info, found)
	}
	found[0].Because = "Hyper-V and Azure withdraw the SR-IOV device while they service the host: meanwhile traffic takes the " +
		"slower software path, and programs that use the device itself (DPDK) lose it."
	found[0].Confirm = "The times match scheduled events of the VM, or the log of the hypervisor."
	return decisive(do("nothing while it is rare; leave the virtual function itself without addresses, unmanaged by NetworkManager "+
		"and netplan; if it happens often, redeploy the VM to another host and report it to the provider", found))
}

var switchedFromVF = regexp.MustCompile(`hv_netvsc \S+(?: (\S+))?: Data path switched from VF`)

var stoppedDistributing = regexp.MustCompile(`(?i)(?:\b([a-z]\w*): )?interface stopped distributing`)
