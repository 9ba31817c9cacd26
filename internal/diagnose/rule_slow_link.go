package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/shell"
	"github.com/wirerate/wirerate/internal/system"
	"github.com/wirerate/wirerate/internal/units"
)

// slowLink finds a copper link that negotiated below both ends' ability.
func slowLink() Rule {
	return Rule{
		ID: "slow-link", Title: "A link runs below the speed that its card supports",
		Needs: []string{"linux:link *|hardware|messages|fabric links", "freebsd:ifconfig", "openbsd:ifconfig"}, Severity: Warning,
		Because: "A damaged pair in the cable, or a port fixed at a lower speed, makes a gigabit card run at 100 Mbit/s.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if in.Facts.System != "linux" {
					out = append(out, fastCard(n)...)
				}
				if n.Up && n.Speed > 100*units.Mbit {
					out = append(out, belowOffers(n)...)
				}
				if n.Up && n.Speed > 0 && n.Speed <= 100*units.Mbit && n.Fastest == 0 && n.Offered == 0 {
					out = append(out, ofUnknownCard(in.Facts, n)...)
					continue
				}
				if n.Speed == 0 && n.Shown["link"].Text == "" {
					out = append(append(out, partnerSlow(in.Facts, n)...), advertisesLess(in.Facts, n)...)
				}
				if !n.Up || n.Speed == 0 || n.Speed > 100*units.Mbit || n.Fastest < units.Gbit ||
					n.Media != "" && n.Media != "Twisted Pair" && n.Media != "MII" {
					continue
				}
				found := one(n.Name, []facts.Source{n.Shown["speed_bps"]}, "%s on a card that supports %s", n.Speed, n.Fastest)
				switch {
				case n.Advertised > 0 && n.Advertised <= n.Speed && !fixedSpeed(n) && (n.Offered == 0 || n.Offered > n.Speed):
					found[0].Summary += "; this end advertises nothing faster"
					found[0].Evidence = append(found[0].Evidence, modesShown(in.Facts, n, advertisedModes...)...)
					if n.Offered > 0 {
						found[0].Summary += fmt.Sprintf(", the other end offers %s", n.Offered)
					}
					found[0].Because = "Autonegotiation chooses among what both ends advertise: something on this host limited " +
						"the card to this speed (a configuration file, power saving, ethtool -s)."
					found = do("advertise all the card's speeds ("+shell.Join("ethtool", "-s", n.Name)+
						" autoneg on speed 1000 duplex full)", found)
				case n.Advertised > n.Speed && n.Offered > 0 && n.Offered <= n.Speed:
					found[0].Summary += "; the other end offers nothing faster"
					found = do("enable autonegotiation on the switch port, or use a faster port", found)
				case min(n.Advertised, n.Offered) >= units.Gbit && !fixedSpeed(n):
					found[0].Summary += fmt.Sprintf(", though both ends advertise %s", min(n.Advertised, n.Offered))
					found = do("replace the cable, check plugs and sockets for a damaged pair, and try another "+
						"switch port", found)
				case fixedSpeed(n):
					found[0].Summary += "; autonegotiation is disabled, the speed is fixed"
					found[0].Evidence = append(found[0].Evidence, n.Shown["autonegotiation"])
					found = do("enable autonegotiation on the card ("+shell.Join("ethtool", "-s", n.Name)+" "+
						"autoneg on) and on the switch port; remove the fixed speed from the interface's "+
						"configuration", found)
				default:
					found = do("replace the cable; check the speed setting of the switch port", found)
				}
				out = append(out, found...)
			}
			if lines, n := matching(in.Facts, downshifted); n > 0 && len(out) == 0 {
				out = do("replace the cable, and check plug and socket for a damaged pair",
					one("link", lines, "the card fell back from the negotiated speed (downshift; %s)", counted(n, "message")))
			}
			if out = append(out, slowFabric(in.Facts)...); len(out) == 0 {
				return slowedInLog(in.Facts)
			}
			return out
		},
		Fires: slowLinkExample(100),
		Quiet: slowLinkExample(1000),
	}
}

// fixedSpeed reports whether ethtool shows a link that does not negotiate.
func fixedSpeed(n *facts.NIC) bool {
	_, negotiates, _ := strings.Cut(n.Shown["autonegotiation"].Text, "negotiation: ")
	return negotiates == "off" || negotiates == "No"
}

// partnerSlow finds, in an answer of ethtool that was cut off before its speed, another end that offers no gigabit.
func partnerSlow(f *facts.Facts, n *facts.NIC) []Finding {
	if n.Offered == 0 || n.Offered > 100*units.Mbit || n.Fastest < units.Gbit || n.Advertised <= n.Offered {
		return nil
	}
	return do("enable autonegotiation on the switch port, or use a faster port; change the cable",
		one(n.Name, modesShown(f, n, "Link partner advertised link modes:"), "the other end offers %s at most, this card %s",
			n.Offered, n.Advertised))
}

// advertisesLess finds, in such an answer, a card that advertises less than it can.
func advertisesLess(f *facts.Facts, n *facts.NIC) []Finding {
	if n.Offered > 0 || n.Advertised == 0 || n.Advertised >= n.Fastest || n.Fastest < units.Gbit {
		return nil
	}
	found := one(n.Name, modesShown(f, n, advertisedModes...), "it advertises %s at most, and "+
		"supports %s", n.Advertised, n.Fastest)
	found[0].Because = "A link comes up at a speed that both ends advertise: speeds that the card does not " +
		"advertise are never used."
	return with(Info, decisive(do("advertise all the card's speeds ("+shell.Join("ethtool", "-s", n.Name)+" autoneg on, or "+
		"advertise with the mask of all modes)", found)))
}

// advertisedModes are titles of what this end advertises: with another word before them it is the other end.
var advertisedModes = []string{"\tAdvertised link modes:", "  Advertised link modes:"}

// modesShown are the lines of ethtool's answer with one of the titles, and the last one that goes on with it: the fastest.
func modesShown(f *facts.Facts, n *facts.NIC, titles ...string) (shown []facts.Source) {
	from := "ethtool " + n.Name
	lines := f.Lines(from)
	for i, line := range lines {
		if !holdsAny(line, titles...) {
			continue
		}
		shown = append(shown, f.Line(from, i+1))
		last := i
		for last+1 < len(lines) && !strings.Contains(lines[last+1], ":") && strings.Contains(lines[last+1], "base") {
			last++
		}
		if last > i {
			shown = append(shown, f.Line(from, last+1))
		}
	}
	return shown
}

// slowedInLog finds links that came up at 1 Gbit/s or more before, and last at 100 Mbit/s or less.
func slowedInLog(f *facts.Facts) (out []Finding) {
	const slow, fast = 100, 1000
	links := linksInLog(f)
	for _, l := range links {
		n := f.NIC(l.name)
		if l.mbit > slow || l.best < fast || n != nil && (!physical(n) || n.Speed > slow*units.Mbit) {
			continue
		}
		out = append(out, do("replace the cable, and check plug and socket for a damaged pair; try another switch port",
			one(l.name, []facts.Source{l.at}, "the link last came up at %d Mbit/s, previously at %d", l.mbit, l.best))...)
	}
	if len(out) > 0 {
		return out
	}
	return slowPorts(links)
}

// slowPorts finds ports of a switch chip that run at 100 Mbit/s or less while others of the same chip do not: what is
// connected there may support no more.
func slowPorts(links []loggedLink) (out []Finding) {
	const slow, fast = 100, 1000
	for _, l := range links {
		faster := func(o loggedLink) bool { return o.chip == l.chip && o.mbit >= fast }
		at := slices.IndexFunc(links, faster)
		if l.chip == "" || l.mbit > slow || at < 0 {
			continue
		}
		found := with(Info, one(l.name, []facts.Source{l.at, links[at].at}, "%d Mbit/s; %s of the same chip runs at %d", l.mbit, links[at].name,
			links[at].mbit))
		found[0].Because = "A damaged pair in the cable, or a device that supports no more, makes a gigabit port run at 100 Mbit/s."
		out = append(out, do("if the device on this port supports 1 Gbit/s, replace the cable and try another port", found)...)
	}
	if len(out) == 1 {
		return decisive(out)
	}
	return out
}

// downshifted is what drivers/net/phy and Intel's drivers say of a pair that does not carry 1000BASE-T.
var downshifted = regexp.MustCompile(`Downshift occurred from negotiated speed \S+ to actual speed|` +
	`[Ll]ink [Ss]peed was downgraded by SmartSpeed`)

// ofUnknownCard is a link of a card of which nothing says what it could do; where others were shown beside it, it may
// be slow on purpose.
func ofUnknownCard(f *facts.Facts, n *facts.NIC) []Finding {
	others := slices.DeleteFunc(slices.Clone(f.NICs), func(o facts.NIC) bool { return o.Speed == 0 || o.Name == n.Name })
	// One of several ports may lead to something old; two cards of different drivers are those of two hosts, or of one that
	// was given a second one.
	two := len(others) == 1 && f.System != system.Linux && others[0].Driver != n.Driver
	if len(others) > 0 && !two || !physical(n) || n.Shown["speed_bps"].Text == "" || f.System != "linux" && n.Duplex == "half" {
		return nil
	}
	found := one(n.Name, []facts.Source{n.Shown["speed_bps"]}, "%s; the card's supported speeds were not read", n.Speed)
	if two {
		found = decisive(with(Info, found))
	}
	found[0].Because = "Cards and switches of the last twenty years support 1 Gbit/s or more over copper: 100 Mbit/s " +
		"usually means a damaged pair in the cable, or a port at the other end that offers no more."
	if f.System != "linux" {
		found[0].Confirm = shell.Join("ifconfig", "-m", n.Name) + " lists faster modes as supported."
		if f.System == system.OpenBSD {
			found[0].Confirm = shell.Join("ifconfig", n.Name, "media") + " lists faster modes as supported."
		}
		return do("compare with the modes that the card supports; replace the cable; check the switch port", found)
	}
	found[0].Confirm = "ethtool lists faster modes as supported."
	return do("compare supported and advertised modes (ethtool NAME); replace the cable; check the switch port", found)
}

// belowOffers finds a link of a gigabit and more that runs below what both ends
// advertise, or whose card advertises less than it could.
func belowOffers(n *facts.NIC) []Finding {
	both := min(n.Advertised, n.Offered)
	evidence := []facts.Source{n.Shown["speed_bps"]}
	switch {
	case both > n.Speed:
		return do("replace the cable; compare what both ends advertise",
			one(n.Name, evidence, "%s, though both ends advertise %s", n.Speed, both))
	case n.Advertised > 0 && n.Advertised <= n.Speed && n.Advertised < n.Fastest && n.Offered == 0:
		return with(Info, do("advertise all the card's speeds ("+shell.Join("ethtool", "-s", n.Name)+
			" autoneg on, or advertise with the mask of all modes)",
			one(n.Name, evidence, "%s on a card that supports %s; this end advertises no more", n.Speed, n.Fastest)))
	}
	return nil
}

func slowLinkExample(speed int) Example {
	return linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "ethtool eth0",
		fmt.Sprintf("Settings for eth0:\n\tSupported ports: [ TP ]\n\tSupported link modes:   100baseT/Full\n"+
			"\t                        1000baseT/Full\n\tSpeed: %dMb/s\n\tDuplex: Full\n\tPort: Twisted Pair\n\tLink "+
			"detected: yes\n", speed))
}

// fastCard is a copper link of 1 Gbit/s of a driver whose cards carry 10 Gbit/s and more.
func fastCard(n *facts.NIC) []Finding {
	if !n.Up || n.Speed != units.Gbit || !strings.Contains(n.Media, "autoselect (1000baseT ") ||
		!slices.Contains([]string{"ix", "ixl", "ice", "mce", "cxl", "cc", "oce", "aq"}, n.Driver) {
		return nil
	}
	return with(Info, do("check the switch port and the cable: 10 Gbit/s over copper needs category 6A, or 6 over short "+
		"distances",
		one(n.Name, []facts.Source{n.Shown["speed_bps"]}, "%s, though cards of its driver support 10 Gbit/s and more", n.Speed)))
}
