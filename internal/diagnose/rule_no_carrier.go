package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// noCarrier finds cards that are switched on and have no link.
func noCarrier() Rule {
	return Rule{
		ID: "no-carrier", Title: "A network card is administratively up but has no link", Severity: Warning,
		Needs: []string{"linux:links|link *", "freebsd:ifconfig", "openbsd:ifconfig"},
		Because: "No signal arrives from the other end: a missing, damaged or unsupported cable or optic, a port that is shut " +
			"down, or different fixed speeds at the two ends.",
		Confirm: "The link comes up with another cable, optic or port.",
		Check: func(in Input) (out []Finding) {
			others := 0
			for i := range in.Facts.NICs {
				if n := &in.Facts.NICs[i]; physical(n) && n.Up && !n.StateUnknown {
					others++
				}
			}
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				src, without := carrierLost(in.Facts, n)
				says := "it is administratively up, but has no carrier"
				if !without && in.Facts.System == "linux" && strings.HasPrefix(n.Source.From, "ethtool ") {
					src, without = undetected(in.Facts, n)
					says = "it has no carrier (ethtool does not show whether it is administratively up)"
				}
				if !without || !physical(n) || inner(n) { // a bridge of containers has no carrier while none runs
					continue
				}
				s := Warning
				if others > 0 && len(n.Addrs) == 0 && n.Master == "" {
					s = Info // a spare port
				}
				because, confirm := "", ""
				next := "check the cable, the optic and the port at the other end; compare the configured speeds of both ends"
				if wirelessName.MatchString(n.Name) || strings.TrimSpace(src.Text) == notJoined {
					says, next = "it is administratively up, but has not joined a wireless "+
						"network", "compare SSID and key with those of the "+
						"access point; check dmesg for firmware that fails to load"
					because = "Without an association nothing is sent: wrong SSID or key, weak signal, a channel not allowed in the " +
						"regulatory domain, or missing firmware."
					confirm = "ifconfig " + n.Name + " scan shows the network, and the status becomes active once it is joined."
				}
				found := with(s, one(n.Name, []facts.Source{src}, "%s", says))
				found[0].Because, found[0].Confirm = because, confirm
				out = append(out, do(next, found)...)
			}
			return out
		},
		Fires: freebsdExample("ifconfig -a", "igb1: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n"+
			"\tether 02:00:00:00:00:02\n\tmedia: Ethernet autoselect\n\tstatus: no carrier\n"),
		Quiet: freebsdExample("ifconfig -a", "igb1: flags=8802<BROADCAST,SIMPLEX,MULTICAST> metric 0 mtu 1500\n"+
			"\tether 02:00:00:00:00:02\n\tmedia: Ethernet autoselect\n\tstatus: no carrier\n"),
	}
}

// notJoined is what ifconfig of OpenBSD says of a wireless card without an access point.
const notJoined = "status: no network"

// carrierLost reports an interface that is administratively up without carrier, with the line that says so: the flags
// of ip link, the status of ifconfig, or ethtool's.
func carrierLost(f *facts.Facts, n *facts.NIC) (facts.Source, bool) {
	if strings.Contains(n.Source.Text, "NO-CARRIER") && flagUp(n.Source.Text) {
		return n.Source, true
	}
	if f.System == "linux" {
		src, without := undetected(f, n)
		return src, without && flagUp(n.Source.Text)
	}
	lines := f.Lines("ifconfig -a")
	if !flagUp(n.Source.Text) || n.Source.From != "ifconfig -a" || n.Source.Line < 1 || n.Source.Line > len(lines) {
		return facts.Source{}, false
	}
	for i, line := range lines[n.Source.Line:] {
		if strings.Contains(line, ": flags=") {
			break
		}
		if s := strings.TrimSpace(line); s == "status: no carrier" || s == notJoined {
			return f.Line("ifconfig -a", n.Source.Line+i+1), true
		}
	}
	return facts.Source{}, false
}

// undetected reports what ethtool says of a link that it does not detect, switched on or not.
func undetected(f *facts.Facts, n *facts.NIC) (facts.Source, bool) {
	for i, line := range f.Lines("ethtool " + n.Name) {
		if strings.TrimSpace(line) == "Link detected: no" {
			return f.Line("ethtool "+n.Name, i+1), true
		}
	}
	return facts.Source{}, false
}

// flagUp reports whether UP is among the flags of an interface's line.
func flagUp(line string) bool {
	_, flags, ok := strings.Cut(line, "<")
	flags, _, _ = strings.Cut(flags, ">")
	return ok && strings.Contains(","+flags+",", ",UP,")
}
