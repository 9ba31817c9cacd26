package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// offloadsOff finds offloads that are off and could be on.
func offloadsOff() Rule {
	return Rule{
		ID: "offloads-off", Title: "Offloads are off that cost nothing", Systems: onLinux(),
		Needs: []string{"features *"}, Severity: Warning,
		Because: "Segmentation and receive offload carry up to 64 KiB through the stack at the cost of one packet.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				if !physical(n) || !n.Up {
					continue
				}
				var evidence []facts.Source
				var names []string
				var fix []Fix
				for _, name := range []string{"tcp-segmentation-offload", "generic-segmentation-offload",
					"generic-receive-offload", "tx-checksumming", "rx-checksumming", "scatter-gather"} {
					if f, ok := n.Features[name]; ok && !f.On && !f.Fixed {
						names = append(names, name)
						evidence = append(evidence, f.Source)
						fix = append(fix, Fix{Setting: "ethtool:features/" + name})
					}
				}
				if len(names) > 0 {
					found := one(n.Name, evidence, "off: %s", strings.Join(names, ", "))
					found[0].Fix = fix
					out = append(out, found...)
				}
			}
			return out
		},
		Fires: featuresExample("off"),
		Quiet: featuresExample("off [fixed]"),
	}
}

func featuresExample(tso string) Example {
	return linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0), "ethtool -k eth0",
		"Features for eth0:\nrx-checksumming: on\ntx-checksumming: on\ntcp-segmentation-offload: "+tso+"\ngeneric-receive-offload: on\n")
}
