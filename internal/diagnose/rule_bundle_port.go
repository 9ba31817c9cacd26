package diagnose

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// bundlePort finds ports of an LACP bundle that carry nothing.
func bundlePort() Rule {
	return Rule{
		ID: "bundle-port-idle", Title: "A port of a link aggregation carries nothing",
		Needs:    []string{"linux:messages", "freebsd:ifconfig|messages", "openbsd:ifconfig|messages"},
		Severity: Warning,
		Because: "A port that has no carrier, or has not negotiated LACP with the switch, carries no traffic: the lagg has " +
			"only the rate of the rest.",
		Check: func(in Input) (out []Finding) {
			bundle, lacp := "", slices.ContainsFunc(in.Facts.Lines("ifconfig -a"), negotiates)
			for i, line := range in.Facts.Lines("ifconfig -a") {
				if name, _, ok := strings.Cut(line, ": flags="); ok {
					bundle, lacp = name, false
				}
				lacp = lacp || negotiates(line)
				m := bundlePortLine.FindStringSubmatch(line)
				if m == nil || !lacp || carries(m[3], in.Facts.System) || strings.Contains(m[3], "<") && !strings.Contains(m[3], ">") {
					continue // a line that was cut off may say more
				}
				out = append(out, do("check the switch port: same LACP group, LACP enabled, same speed; check the cable",
					one(cmp.Or(m[1], m[2]), []facts.Source{in.Facts.Line("ifconfig -a", i+1)}, "it is not an active member of %s",
						cmp.Or(bundle, "its group")))...)
			}
			return append(out, leftOutBySwitch(in.Facts)...)
		},
		Fires: freebsdExample("ifconfig -a", bundleExample("0<>")),
		Quiet: freebsdExample("ifconfig -a", bundleExample("1c<ACTIVE,COLLECTING,DISTRIBUTING>")),
	}
}

// bundlePortLine is FreeBSD's "laggport: ix1 flags=1c<ACTIVE,COLLECTING,DISTRIBUTING>" and OpenBSD's "trunkport em1
// active,collecting,distributing", since 7.0 "em1 port active,collecting,distributing".
var bundlePortLine = regexp.MustCompile(`^\s+(?:(?:laggport:|trunkport) ([a-z]\w*)|([a-z]\w*) (?:trunk)?port\b)(.*)$`)

// negotiates reports whether a line is of a group that speaks LACP, whose ports alone collect and distribute.
func negotiates(line string) bool {
	return strings.Contains(line, "laggproto lacp") || strings.Contains(line, "trunkproto lacp") ||
		bundlePortLine.MatchString(line) && strings.Contains(strings.ToLower(line), "collecting")
}

// carries reports whether a port is in use. On FreeBSD one that distributes without being ACTIVE is in another aggregator than the
// one that was chosen (lacp_isactive in sys/net/ieee8023ad_lacp.c).
func carries(flags string, on system.System) bool {
	flags, _, _ = strings.Cut(strings.ToUpper(flags), ">") // behind it stands the state of -v
	words := strings.FieldsFunc(flags, func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.Contains(words, "DISTRIBUTING") && (on != system.FreeBSD || slices.Contains(words, "ACTIVE"))
}

// leftOutBySwitch finds ports of which the switch says that it leaves them out of a group.
func leftOutBySwitch(f *facts.Facts) []Finding {
	lines, n := matching(f, facts.SwitchLeftOut)
	if n == 0 {
		return nil
	}
	found := do("compare both ends of each port: LACP (active) on both, or on neither; one group with the same key on the host and one "+
		"port-channel on the switch; the same speed, VLANs and MTU; the cables in the ports that belong together",
		one(cmp.Or(firstGroup(facts.SwitchLeftOut, lines[0].Text), "LACP"), lines, "the switch leaves this port out of its group"))
	found[0].Because = "A port that the switch does not bundle carries none of the group's traffic, or carries it alone."
	found[0].Confirm = "The switch shows the port as bundled (P, active) once both ends agree."
	return found
}

func bundleExample(flags string) string {
	return "lagg0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tlaggproto " +
		"lacp lagghash l2,l3,l4\n" +
		"\tlaggport: ix0 flags=1c<ACTIVE,COLLECTING,DISTRIBUTING>\n\tlaggport: ix1 flags=" + flags + "\n\tstatus: active\n"
}
