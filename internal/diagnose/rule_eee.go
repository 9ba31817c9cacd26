package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// energyEthernet finds energy saving on the link of a latency role.
func energyEthernet() Rule {
	return Rule{
		ID: "eee-latency", Title: "Energy Efficient Ethernet is enabled on a latency-sensitive host", Systems: onLinux(),
		Needs: []string{"eee *"}, Severity: Warning,
		Settings: []string{"ethtool:eee"},
		Because:  "A sleeping link needs microseconds to wake before the first packet.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if in.Role == "latency" && n.EEE == "enabled" && n.Up {
					out = append(out, one(n.Name, []facts.Source{n.Shown["eee"]}, "EEE is enabled")...)
				}
			}
			return out
		},
		Fires: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "ethtool --show-eee eth0",
			"EEE settings for eth0:\n\tEEE status: enabled - active\n").as("latency"),
		Quiet: linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000, 0, 0, 0), "ethtool --show-eee eth0",
			"EEE settings for eth0:\n\tEEE status: disabled\n").as("latency"),
	}
}
