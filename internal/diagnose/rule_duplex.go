package diagnose

import (
	"maps"
	"slices"
	"strconv"
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
	for _, l := range linksInLog(f) {
		if l.half {
			out = append(out, do(negotiate(f, l.name), one(l.name, []facts.Source{l.at}, "half duplex at %d Mbit/s", l.mbit))...)
		}
	}
	return out
}

// loggedLink is the last that a log says of a link that came up.
type loggedLink struct {
	name string
	chip string // the driver and the device that it is a port of; empty where the line does not say it
	mbit int    // best is the highest so far
	best int
	half bool
	at   facts.Source
}

// linksInLog are the links of a log by their names, as they came up last.
func linksInLog(f *facts.Facts) (out []loggedLink) {
	last := map[string]loggedLink{}
	for i, line := range f.Lines("dmesg") {
		if l, ok := linkCameUp(line); ok {
			l.best, l.at = max(l.mbit, last[l.name].best), f.Line("dmesg", i+1)
			last[l.name] = l
		}
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		out = append(out, last[name])
	}
	return out
}

// linkCameUp reads a line that says that a link came up, or is up.
func linkCameUp(line string) (loggedLink, bool) {
	if m := switchPort.FindStringSubmatch(line); m != nil {
		mbit, _ := strconv.Atoi(m[2])
		return loggedLink{name: "switch port " + m[1], chip: "the switch", mbit: mbit, half: m[3] == "half"}, true
	}
	m := linkMessage.FindStringSubmatch(line)
	if m == nil {
		if m = memberUp.FindStringSubmatch(line); m == nil {
			return loggedLink{}, false
		}
	}
	speed, _ := strconv.ParseFloat(m[2], 64)
	if m[3] == "G" {
		speed *= 1000
	}
	l := loggedLink{name: m[1], mbit: int(speed), half: strings.EqualFold(m[4], "half")}
	if m := portOfChip.FindStringSubmatch(line); m != nil {
		l.chip = m[1]
	}
	return l, true
}

// memberUp is what bonding says of a member (bond_main.c): "(slave eth1): link status definitely up, 100 Mbps half
// duplex", before 5.3 "link status definitely up for interface eth1, 100 Mbps full duplex".
var memberUp = regexp.MustCompile(`(?:slave |definitely up for interface )([a-z][\w.-]*)(?:\): link status definitely up)?, ` +
	`(\d{1,7}) (M)bps (full|half) duplex`)

// linkMessage is what drivers say of a link that came up: phylib "Link is Up - 100Mbps/Full" and "1Gbps/Full" (phy.c,
// phy-core.c), mii "link up, 100Mbps, full-duplex", Intel's "NIC Link is Up 1000 Mbps Full Duplex".
var linkMessage = regexp.MustCompile(`([a-z][\w.-]*): (?:NIC )?[Ll]ink (?:is )?[Uu]p[ ,-]+(?:at )?(\d{1,7}(?:\.\d)?) ?([MG])bps[,/ ]+` +
	`([FfHh][aul]+[lf])\b`)

// switchPort is a port of swconfig of OpenWrt (swlib's switch_port_link), portOfChip one that DSA names.
var (
	switchPort = regexp.MustCompile(`\blink: ?port: ?(\d{1,2}) link: ?up speed: ?(\d{2,5})base\S* (full|half)-duplex`)
	portOfChip = regexp.MustCompile(`([a-z]\w+ \S+) (?:lan|wan|swp|port)[\w.-]*: Link is Up`)
)

// negotiate is what is done about a link that one end has fixed.
func negotiate(f *facts.Facts, name string) string {
	command := shell.Join("ethtool", "-s", name, "autoneg", "on")
	if f.System != system.Linux {
		command = shell.Join("ifconfig", name, "media", "autoselect")
	}
	if strings.Contains(name, " ") { // a port without an interface
		return "enable autonegotiation at both ends of the link"
	}
	return "enable autonegotiation at both ends of the link: " + command + " here, and auto on the switch port"
}
