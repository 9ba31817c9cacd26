package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/shell"
)

// mtuMismatch finds members of a bridge or bond with different MTUs, and
// containers whose packets are larger than the way out takes.
func mtuMismatch() Rule {
	return Rule{
		ID: "mtu-mismatch", Title: "Interfaces that forward to each other have different MTUs",
		Systems: []string{"linux", "freebsd"}, Needs: []string{"linux:links", "freebsd:messages|ifconfig"},
		Severity: Warning, Settings: []string{"link:mtu"},
		Because: "A bridge does not fragment: frames larger than the outgoing member's MTU are dropped silently.",
		Check: func(in Input) (out []Finding) {
			ofBSD := in.Facts.System == "freebsd"
			if ofBSD {
				if out = refusedMember(in.Facts); out != nil {
					return out
				}
			}
			first := map[string]*facts.NIC{}
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				master := in.Facts.NIC(n.Master)
				if n.Master == "" || !n.Up || ofBSD && (master == nil || master.Kind != "bridge") {
					continue
				}
				other := first[n.Master]
				if other == nil {
					first[n.Master] = n
				} else if other.MTU != n.MTU {
					found := one(n.Master, []facts.Source{other.Source, n.Source},
						"%s has an MTU of %d, %s of %d", other.Name, other.MTU, n.Name, n.MTU)
					if ofBSD {
						small, large := n, other
						if small.MTU > large.MTU {
							small, large = large, small
						}
						mtu := strconv.Itoa(large.MTU)
						found[0].Fix = []Fix{{Action: "give all members one MTU, and the other end of an epair or tap too:", Setting: "link:mtu",
							Interface: small.Name, Value: mtu, Command: shell.Join("ifconfig", small.Name, "mtu", mtu)}}
					}
					out = append(out, found...)
				}
			}
			if ofBSD {
				return out
			}
			return append(out, behindSmaller(in.Facts)...)
		},
		Fires: linuxExample("ip -s -d link show", bridgeMembers(1500, 9000)),
		Quiet: linuxExample("ip -s -d link show", bridgeMembers(1500, 1500)),
	}
}

// refusedMember finds an interface that FreeBSD did not take into a bridge (bridge_ioctl_add, sys/net/if_bridge.c).
func refusedMember(f *facts.Facts) []Finding {
	lines, n := matching(f, invalidMTU)
	if n == 0 {
		return refusedByIfconfig(f)
	}
	m := invalidMTU.FindStringSubmatch(lines[0].Text)
	found := one(m[1], lines, "%s was not added: its MTU is %s, the bridge's is %s", m[3], m[2], m[4])
	found[0].Fix = []Fix{{Setting: "link:mtu", Interface: m[3], Value: m[4], Command: "ifconfig " + m[3] + " mtu " + m[4]},
		{Action: "then add it again: ifconfig " + m[1] + " addm " + m[3]}}
	found[0].Because = "A FreeBSD bridge accepts only members with its own MTU: the interface was not added, and what is " +
		"behind it (jail, virtual machine) has no network."
	return found
}

// refusedByIfconfig finds the same where only ifconfig's own message was read: an Ethernet interface that is in no
// bridge yet is an invalid argument for its MTU alone.
func refusedByIfconfig(f *facts.Facts) []Finding {
	lines, n := matching(f, bridgeRefused)
	if n == 0 {
		return nil
	}
	member := firstGroup(bridgeRefused, lines[0].Text)
	found := one(member, lines, "it was not added to a bridge because its MTU differs")
	found[0].Fix = []Fix{{Setting: "link:mtu", Interface: member, Command: "ifconfig " + member + " mtu " + unknownValue,
		Formula: "the MTU that ifconfig shows for the bridge"}, {Action: "then add it to the bridge again"}}
	found[0].Because = "What is behind it (jail, virtual machine) has no network."
	found[0].Confirm = "dmesg says \"invalid MTU\"."
	return found
}

var bridgeRefused = regexp.MustCompile(`ifconfig: BRDGADD ([a-z][\w.]*): Invalid argument`)

var invalidMTU = regexp.MustCompile(`([a-z][\w.]*): invalid MTU: (\d+)\(([a-z][\w.]*)\) != (\d+)`)

// behindSmaller finds the interfaces of containers and virtual machines whose
// MTU is above that of the interface their packets leave by.
func behindSmaller(f *facts.Facts) []Finding {
	out := f.Outlet()
	if out == nil || out.MTU < 1280 || inner(out) {
		return nil
	}
	var evidence []facts.Source
	var first *facts.NIC
	for i := range f.NICs {
		n := &f.NICs[i]
		if n == out || !inner(n) || n.MTU <= out.MTU || n.Master != "" && f.NIC(n.Master) == out {
			continue
		}
		if !n.Up && !flagUp(n.Source.Text) { // a bridge is up without a carrier while no container runs
			continue
		}
		if first == nil {
			first = n
		}
		evidence = append(evidence, n.Source)
	}
	if first == nil {
		return nil
	}
	action := fmt.Sprintf("set the container network's MTU to that of %s, %d, or lower if it is encapsulated in a tunnel", out.Name,
		out.MTU)
	if first.Name == "docker0" || strings.HasPrefix(first.Name, "br-") {
		action += fmt.Sprintf(": \"mtu\": %d in /etc/docker/daemon.json, then restart docker; user-defined "+
			"networks need the option com.docker.network.driver.mtu=%[1]d when they are created", out.MTU)
	}
	found := decisive(with(Info, do(action, one(first.Name, append(sample(evidence), out.Source),
		"its MTU is %d, but %s, through which its packets leave, has %d", first.MTU, out.Name, out.MTU))))
	found[0].Fix = append(found[0].Fix, Fix{Setting: "link:mtu", Interface: first.Name, Value: strconv.FormatInt(int64(out.MTU), 10)})
	found[0].Because = "Full-sized packets have to be fragmented, or depend on an ICMP message; the MSS advertised for the " +
		"other direction is too large as well."
	return found
}

// inner reports whether an interface belongs to containers or virtual machines
// on this host, by its kind or its name.
func inner(n *facts.NIC) bool {
	if n.Kind == "veth" {
		return true
	}
	for _, prefix := range []string{"docker", "br-", "cni", "veth", "cali", "lxc", "cilium", "virbr", "podman", "vnet",
		"tap"} {
		if strings.HasPrefix(n.Name, prefix) {
			return true
		}
	}
	return false
}

func bridgeMembers(a, b int) string {
	return fmt.Sprintf("2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu %d qdisc mq master br0 state UP mode DEFAULT "+
		"group default qlen 1000\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n"+
		"3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu %d qdisc mq master br0 state UP mode DEFAULT group default "+
		"qlen 1000\n    link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff\n", a, b)
}
