package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// linkFlaps finds links that go up and down.
func linkFlaps() Rule {
	return Rule{
		ID: "link-flaps", Title: "A link went down several times", Needs: []string{"messages"}, Severity: Warning,
		Because: "Each time everything in flight is lost and routes change; cable, optic or power saving is the usual cause.",
		Check: func(in Input) []Finding {
			downs := map[string][]facts.Source{}
			for _, m := range in.Facts.Messages {
				lower := strings.ToLower(m.Text)
				if !strings.Contains(lower, "link is down") && !strings.Contains(lower, "link state changed to down") {
					continue
				}
				for i := range in.Facts.NICs {
					n := &in.Facts.NICs[i]
					if physical(n) && strings.Contains(m.Text, n.Name+":") || strings.Contains(m.Text, n.Name+" NIC") {
						downs[n.Name] = append(downs[n.Name], m.Source)
					}
				}
			}
			var out []Finding
			for i := range in.Facts.NICs {
				if seen := downs[in.Facts.NICs[i].Name]; len(seen) >= 3 {
					out = append(out, do("change the cable or optic", one(in.Facts.NICs[i].Name, sample(seen), "the kernel's log shows the link going down %d times", len(seen)))...)
				}
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "dmesg", strings.Repeat("[ 9.1] igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down\n", 3)),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "dmesg", "[ 9.1] igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down\n"),
	}
}
