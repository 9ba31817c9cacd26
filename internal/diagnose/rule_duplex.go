package diagnose

import (
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/shell"
	"github.com/wirerate/wirerate/internal/system"
)

// halfDuplex finds links that run at half duplex.
func halfDuplex() Rule {
	return Rule{
		ID: "half-duplex", Title: "A link runs at half duplex", Severity: Critical,
		Needs:   []string{"linux:interfaces|link *|mii|messages", "freebsd:ifconfig", "openbsd:ifconfig"},
		Because: "Usually one end autonegotiates and the other is fixed: frames collide and are lost under load.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if n.Duplex == "half" && n.Up && physical(n) {
					out = append(out, do(negotiate(in.Facts, n.Name),
						one(n.Name, []facts.Source{n.Shown["duplex"], n.Shown["speed_bps"]}, "half duplex at %s", n.Speed))...)
				}
			}
			if len(out) == 0 {
				return halfDuplexMessages(in.Facts)
			}
			return out
		},
		Fires: freebsdExample("ifconfig -a", "em0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu "+
			"1500\n\tmedia: Ethernet autoselect (100baseTX <half-duplex>)\n\tstatus: active\n"),
		Quiet: openbsdExample("ifconfig -a", "em0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> mtu "+
			"1500\n\tmedia: Ethernet autoselect (1000baseT full-duplex,rxpause,txpause)\n\tstatus: active\n"),
	}
}

// halfDuplexMessages finds links of which the kernel's last word was half duplex.
func halfDuplexMessages(f *facts.Facts) (out []Finding) {
	last := map[string][]string{}
	at := map[string]facts.Source{}
	for i, line := range f.Lines("dmesg") {
		if m := linkCameUp(line); m != nil {
			last[m[1]], at[m[1]] = m, f.Line("dmesg", i+1)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if m := last[name]; strings.EqualFold(m[3], "half") {
			out = append(out, do(negotiate(f, name),
				one(name, []facts.Source{at[name]}, "half duplex at %s Mbit/s", m[2]))...)
		}
	}
	return out
}

// linkCameUp takes the interface, the speed and the duplex out of a line; nil where it says no link came up.
func linkCameUp(line string) []string {
	if m := linkMessage.FindStringSubmatch(line); m != nil {
		return m
	}
	return memberUp.FindStringSubmatch(line)
}

// memberUp is what bonding says of a member (bond_main.c): "(slave eth1): link status definitely up, 100 Mbps half
// duplex", before 5.3 "link status definitely up for interface eth1, 100 Mbps full duplex".
var memberUp = regexp.MustCompile(`(?:slave |definitely up for interface )([a-z][\w.-]*)(?:\): link status definitely up)?, ` +
	`(\d+) Mbps (full|half) duplex`)

// linkMessage is what drivers say of a link that came up: phylib "Link is Up - 100Mbps/Full", mii "link up, 100Mbps,
// full-duplex", Intel's "NIC Link is Up 1000 Mbps Full Duplex".
var linkMessage = regexp.MustCompile(`([a-z][\w.-]*): (?:NIC )?[Ll]ink (?:is )?[Uu]p[ ,-]+(?:at )?(\d+) ?Mbps[,/ ]+([FfHh][aul]+[lf])\b`)

// negotiate is what is done about a link that one end has fixed.
func negotiate(f *facts.Facts, name string) string {
	command := shell.Join("ethtool", "-s", name, "autoneg", "on")
	if f.System != system.Linux {
		command = shell.Join("ifconfig", name, "media", "autoselect")
	}
	return "enable autonegotiation at both ends of the link: " + command + " here, and auto on the switch port"
}
