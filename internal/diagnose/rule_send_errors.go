package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// sendErrors finds interfaces of the BSDs that refused what was to be sent: netstat -i counts that of bundles, tunnels
// and bridges too.
func sendErrors() Rule {
	return Rule{
		ID: "send-errors", Title: "Transmit errors on an interface", Severity: Warning,
		Systems: onBSD(), Needs: []string{"interface counters|interface rates"},
		Because: "The interface did not accept these packets: no link, no member port up, a full queue or ring, or no memory " +
			"in the driver.",
		Confirm: "The counter grows with the traffic, not only while a link is down.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				name, c := largest(nicCounters(n, "netstat.Oerrs", "netstat.Ofail"))
				if c.Value == 0 || silentPort.MatchString(n.Name) {
					continue
				}
				sent := n.Counters["netstat.Opkts"].Value
				found := lost(c, sent, do("check with ifconfig that it is up (for a lagg, each port), and with netstat -w 1 -I "+
					n.Name+" whether errors continue under load",
					one(n.Name, []facts.Source{c.Source}, "transmit errors, with %d packets sent: %s (%s)", sent, happened(c),
						name)))
				out = append(out, found...)
			}
			return atMost(Warning, out) // a link that was down for a while counts as well
		},
		Fires: freebsdExample("netstat -idnW", "Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts "+
			"Oerrs  Coll\nlagg0  1500 <Link#5>      02:00:00:00:00:01    99000     0     0    98000   4100     0\n"),
		Quiet: freebsdExample("netstat -idnW", "Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts "+
			"Oerrs  Coll\nlagg0  1500 <Link#5>      02:00:00:00:00:01    99000     0     0    98000      0     0\n"),
	}
}

var silentPort = regexp.MustCompile(`^(?:lo|pflog|pfsync|enc|usbus)\d*$`)
