package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// bundlePort finds ports of an LACP bundle that carry nothing.
func bundlePort() Rule {
	return Rule{
		ID: "bundle-port-idle", Title: "A lagg port carries nothing", Systems: onBSD(), Needs: []string{"ifconfig"},
		Severity: Warning,
		Because: "A port that has no carrier, or has not negotiated LACP with the switch, carries no traffic: the lagg has " +
			"only the rate of the rest.",
		Check: func(in Input) (out []Finding) {
			bundle, lacp := "", false
			for i, line := range in.Facts.Lines("ifconfig -a") {
				if name, _, ok := strings.Cut(line, ": flags="); ok {
					bundle, lacp = name, false
				}
				lacp = lacp || strings.Contains(line, "laggproto lacp") || strings.Contains(line, "trunkproto lacp")
				m := bundlePortLine.FindStringSubmatch(line)
				if m == nil || !lacp || strings.Contains(strings.ToLower(m[2]), "distributing") ||
					strings.Contains(m[2], "<") && !strings.Contains(m[2], ">") {
					continue // a line that was cut off may say more
				}
				out = append(out, do("check the switch port: same LACP group, LACP enabled, same speed; check the cable",
					one(m[1], []facts.Source{in.Facts.Line("ifconfig -a", i+1)}, "it is not an active member of %s", bundle))...)
			}
			return out
		},
		Fires: freebsdExample("ifconfig -a", bundleExample("0<>")),
		Quiet: freebsdExample("ifconfig -a", bundleExample("1c<ACTIVE,COLLECTING,DISTRIBUTING>")),
	}
}

// bundlePortLine is FreeBSD's "laggport: ix1 flags=1c<ACTIVE,COLLECTING,DISTRIBUTING>" and OpenBSD's "trunkport em1
// active,collecting,distributing".
var bundlePortLine = regexp.MustCompile(`^\s+(?:laggport:|trunkport) ([a-z]\w*)(.*)$`)

func bundleExample(flags string) string {
	return "lagg0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tlaggproto " +
		"lacp lagghash l2,l3,l4\n" +
		"\tlaggport: ix0 flags=1c<ACTIVE,COLLECTING,DISTRIBUTING>\n\tlaggport: ix1 flags=" + flags + "\n\tstatus: active\n"
}
