package diagnose

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// linkFlaps finds links that go up and down.
func linkFlaps() Rule {
	return Rule{
		ID: "link-flaps", Title: "A link went down several times", Needs: []string{"messages|bonding"}, Severity: Warning,
		Because: "Each time everything in flight is lost and routes change; cable, optic or power saving is the usual cause.",
		Check: func(in Input) []Finding {
			downs := map[string][]facts.Source{}
			for _, m := range in.Facts.Messages {
				down := linkDown.FindStringSubmatch(m.Text)
				if down == nil {
					continue
				}
				name := down[1] + down[2]
				if n := in.Facts.NIC(name); n == nil || physical(n) {
					downs[name] = append(downs[name], m.Source)
				}
			}
			var out []Finding
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if c := n.Counters["bond.link_failures"]; c.Value >= 3 && len(downs[n.Name]) < 3 {
					out = append(out, do("change the cable or optic", one(n.Name, []facts.Source{c.Source},
						"its bond saw the link fail %d times", c.Value))...)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(downs)) {
				if seen := downs[name]; len(seen) >= 3 {
					out = append(out, do("change the cable or optic",
						one(name, sample(seen), "the kernel's log shows the link going down %d times", len(seen)))...)
				}
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "dmesg",
			strings.Repeat("[ 9.1] igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down\n", 3)),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "dmesg",
			"[ 9.1] igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down\n"),
	}
}

// linkDown is what drivers of Linux and the kernels of FreeBSD and OpenBSD say
// of a link that went down.
var linkDown = regexp.MustCompile(`(?i)(?:([a-z][\w.@-]*):? (?:NIC )?link is down|([a-z][\w.@-]*): link state changed to DOWN)`)
