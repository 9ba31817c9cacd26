package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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
				} else if moved := carpMoved(in.Facts, name, logs[name]); moved != nil {
					out = append(out, moved...)
				} else if how, seen := logs[name].outage(); how != "" && !builtOn.MatchString(name) {
					found := with(Info, one(name, seen, "the log shows the link %s", how))
					found[0].Because = "Packets in flight were lost. A single event may be a pulled cable, a restarted device, or a " +
						"settings change."
					out = append(out, do("if it happens again: "+flapAction(in.Facts, name), found)...)
				}
			}
			return slices.Concat(withoutMember(in.Facts), out, stillDown(in.Facts, logs), leftBundle(in.Facts), withdrawnFunction(in.Facts))
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "dmesg",
			strings.Repeat("[ 9.1] igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down\n", 3)),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "dmesg",
			"[ 9.1] igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down\n"),
	}
}

// carpMoved finds a link that went down and took CARP's groups to the other node (carp_sc_state in FreeBSD's
// sys/netinet/ip_carp.c): with preempt those of all interfaces.
func carpMoved(f *facts.Facts, name string, l *linkLog) []Finding {
	for i, line := range f.Lines("dmesg") {
		m := carpChange.FindStringSubmatch(line)
		if m == nil || len(l.downs) == 0 || m[3] != "MASTER" || !strings.HasPrefix(m[5], "hardware interface down") {
			continue
		}
		_, on, _ := strings.Cut(m[1], "@")
		if on != name && !strings.HasPrefix(on, name+".") && !strings.HasPrefix(on, name+"_vlan") {
			continue
		}
		found := with(Info, one(name, []facts.Source{l.downs[0], f.Line("dmesg", i+1)}, "its link went down, and CARP gave up the master role"))
		found[0].Because = "A node without this link advertises a higher skew for all groups (net.inet.carp.ifdown_demotion_factor): the other " +
			"node takes over. This works as designed; the link is what to look at."
		return decisive(do("find out why the link failed (cable, switch port, optic, or somebody who pulled it); "+flapAction(f, name), found))
	}
	return nil
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
	if dialledName.MatchString(name) {
		return "check the log of pppd and of the modem for the reason: a link without answers to LCP echoes, a loss of sync, or a " +
			"session that the provider ended"
	}
	if bypassCard.MatchString(f.Rest) || slices.ContainsFunc(slices.Concat(f.Lines("dmesg"), f.Lines("lspci -vv")), bypassCard.MatchString) {
		return "check whether the card's bypass relays switched (the program that feeds their watchdog, and its log): each switch " +
			"interrupts the link; if they did not, replace the cable or optic"
	}
	if inNetmap(f, name) {
		return "compare the times with the log of the program that uses the interface through netmap (such as an IPS): each " +
			"start and stop of it resets the card; if they differ, replace the cable or optic"
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

// bypassCard is a card whose relays connect two of its ports with each other when the host does not serve them.
var bypassCard = regexp.MustCompile(`(?i)\bbypass[- ](?:NICs?|(?:network )?(?:cards?|adapters?)|relays?|ports?|watchdog|controller)\b|` +
	`\b(?:NICs?|cards?|adapters?|ports?) with (?:\w+ )?bypass\b|\b(?:LAN|hardware) bypass\b`)

// inNetmap reports whether the log shows netmap on the interface: a program that opens or closes it stops and starts the card
// (iflib_netmap_register in sys/net/iflib.c).
func inNetmap(f *facts.Facts, name string) bool {
	return slices.ContainsFunc(f.Lines("dmesg"), func(line string) bool {
		at := strings.Index(line, "netmap")
		return at >= 0 && slices.Contains(strings.FieldsFunc(line[at:], func(r rune) bool { return strings.ContainsRune(" :,;^/@'\"", r) }), name)
	})
}

// dialledName are interfaces of PPP, which no cable of their own holds up.
var dialledName = regexp.MustCompile(`^(?:ppp(?:oe|oa|tp)?[-\d]|l2tp-)`)

// usbCardName are cards on USB of FreeBSD, whatever their driver.
var usbCardName = regexp.MustCompile(`^ue\d+$`)

// withoutCable are interfaces of the BSDs that no cable holds up: they go up and down as programs make and end them.
var withoutCable = regexp.MustCompile(`^(?:gif|gre|ovpn[cs]|tun|tap|wg|epair|enc|ipsec|lo|vxlan|pfsync|pflog)\d+[ab]?$`)

var wirelessName = regexp.MustCompile(`^(?:wl|ath|ra|iw[imnx]\d|wpi|wifi|phy|run\d|rum\d|u?r?rtwn\d|urtw|bwfm|` +
	`bwi\d|mwx|qwx|zyd|otus)`)

// stillDown finds links that the log leaves down.
func stillDown(f *facts.Facts, logs map[string]*linkLog) []Finding {
	const most = 4
	var names []string
	var seen []facts.Source
	var at []float64
	var on []time.Time
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		if logs[name].stayedDown() && !builtOn.MatchString(name) {
			names, seen = append(names, name), append(seen, logs[name].downs...)
			at, on = append(at, logs[name].downAt...), append(on, logs[name].downOn...)
		}
	}
	if len(names) == 0 || f.System != system.Linux { // on the BSDs it is said of each change of settings as well
		return nil
	}
	slices.Sort(at)
	slices.SortFunc(on, time.Time.Compare)
	found := with(Info, one(shortList(names, most), sample(seen), "the link went down once, and the log does not "+
		"show it coming up again"))
	found[0].Because = "Packets in flight were lost. A single event may be a pulled cable, a restarted device, or " +
		"a settings change."
	found = do("if it happens again: "+flapAction(f, names[0]), found)
	if n := len(names); n > 1 && (together(at, n, closely) || near(on, n, closely)) {
		found = with(Warning, one(shortList(names, most), sample(seen), "these links went down together, and the "+
			"log does not show them coming up again"))
		found[0].Because = "Links that fail together point to something they share: the switch, the card, its " +
			"driver or its power supply."
		found = do("compare the times with the switch's log (restart, err-disabled ports); ip -br link shows "+
			"which links are still down, "+
			shell.Join("ethtool", names[0])+" whether a link is detected", found)
	}
	return found
}

// shortList are names, of many the first.
func shortList(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

// withoutMember finds a bond that lost its last member with a link (bond_select_active_slave in drivers/net/bonding/bond_main.c);
// while the system starts each bond may say it.
func withoutMember(f *facts.Facts) []Finding {
	var lines []facts.Source
	name := ""
	for i, line := range f.Lines("dmesg") {
		if m := noMember.FindStringSubmatch(line); m != nil && (name == "" || name == m[1]) &&
			!slices.ContainsFunc(stamped(nil, line), func(at float64) bool { return at <= afterStart }) {
			name, lines = m[1], append(lines, f.Line("dmesg", i+1))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	found := one(name, sample(lines), "the bond lost its last active member (%s)", counted(len(lines), "time"))
	found[0].Because = "No traffic passes until a member's link is up again. Members that fail together point to " +
		"something they share: the switch, the card, its firmware, or the bond's own link monitoring (arp_ip_target)."
	found[0].Confirm = "The switch's log shows the ports down at the same times; if it does not, the driver or " +
		"the bond's link monitoring is at fault."
	return decisive(do("compare the times with the switch's log (restart, err-disabled ports, LACP); "+shell.Join("cat", "/proc/net/bonding/"+name)+
		" shows each member's state and failure count; spread the members over two cards and two switches", found))
}

var noMember = regexp.MustCompile(`\b([a-z][\w.-]*): now running without any active interface`)

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
	found := one(cmp.Or(firstGroup(switchedFromVF, lines[0].Text), "hv_netvsc"), lines, "the hypervisor withdrew "+
		"the SR-IOV virtual function (%s)",
		counted(n, "time"))
	if n < often {
		found = with(Info, found)
	}
	found[0].Because = "Hyper-V and Azure withdraw the SR-IOV device during host maintenance: traffic takes the " +
		"slower software path meanwhile, and programs that use the device directly (DPDK) lose it."
	found[0].Confirm = "The times match the VM's scheduled events or the hypervisor's log."
	return decisive(do("if it is rare, nothing needs fixing, but the virtual function itself must have no address "+
		"and must not be managed by NetworkManager or netplan; if it happens often, redeploy the VM to another "+
		"host and report it to the provider", found))
}

var switchedFromVF = regexp.MustCompile(`hv_netvsc \S+(?: (\S+))?: Data path switched from VF`)

var stoppedDistributing = regexp.MustCompile(`(?i)(?:\b([a-z]\w*): )?interface stopped distributing`)
