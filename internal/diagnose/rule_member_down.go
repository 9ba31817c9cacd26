package diagnose

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// memberDown finds a virtual machine's or jail's interface in a bridge that nobody switched on.
func memberDown() Rule {
	return Rule{
		ID: "member-down", Title: "A bridge member is in use but not UP", Severity: Warning,
		Systems: []string{"freebsd"}, Needs: []string{"ifconfig"},
		Because: "A program has opened it (RUNNING), but without UP it forwards nothing: the machine behind it has no network.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if cardNotUp(n) {
					found := decisive(with(Info, one(n.Name, []facts.Source{n.Source}, "it is PROMISC, as bridge members are, but not UP")))
					found[0].Because = "A bridge makes its members promiscuous, and does not switch them on: nothing passes this card."
					out = append(out, do("ifconfig "+n.Name+" up, and ifconfig_"+n.Name+"=\"up\" in /etc/rc.conf", found)...)
					continue
				}
				if !virtualPort.MatchString(n.Name) || n.Source.From != "ifconfig -a" || flagUp(n.Source.Text) ||
					!hasFlag(n.Source.Text, "RUNNING") || !hasFlag(n.Source.Text, "PROMISC") {
					continue
				}
				found := do("ifconfig "+n.Name+" up", one(n.Name, []facts.Source{n.Source},
					"it is RUNNING and PROMISC, as bridge members are, but not UP"))
				if strings.HasPrefix(n.Name, "tap") {
					found = withFix(Fix{Setting: "net.link.tap.up_on_open", Value: "1"}, found)
				}
				out = append(out, found...)
			}
			return out
		},
		Fires: freebsdExample("ifconfig -a", "tap3: flags=8942<BROADCAST,RUNNING,PROMISC,SIMPLEX,MULTICAST> metric 0 mtu 1500\n"+
			"\tether 02:00:00:00:00:02\n"),
		Quiet: freebsdExample("ifconfig -a", "tap3: flags=8902<BROADCAST,PROMISC,SIMPLEX,MULTICAST> metric 0 mtu 1500\n"+
			"\tether 02:00:00:00:00:02\n"),
	}
}

// cardNotUp reports whether a card was given to a bridge, which makes it PROMISC, and nobody switched it on.
func cardNotUp(n *facts.NIC) bool {
	return physical(n) && n.Source.From == "ifconfig -a" && hasFlag(n.Source.Text, "PROMISC") &&
		!hasFlag(n.Source.Text, "PPROMISC") && !flagUp(n.Source.Text) && !hasFlag(n.Source.Text, "RUNNING")
}

// hasFlag reports whether a flag is among those of an interface's line.
func hasFlag(line, flag string) bool {
	_, flags, _ := strings.Cut(line, "<")
	flags, _, _ = strings.Cut(flags, ">")
	return slices.Contains(strings.Split(flags, ","), flag)
}

var virtualPort = regexp.MustCompile(`^(?:tap|epair|vmnet)\d`)
