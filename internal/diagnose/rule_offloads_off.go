package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/shell"
)

// offloadsOff finds offloads that are off and could be on.
func offloadsOff() Rule {
	return Rule{
		ID: "offloads-off", Title: "Offloads that cost nothing are disabled", Systems: onLinux(),
		Needs: []string{"features *|messages"}, Severity: Warning,
		Because: "Segmentation and receive offloads carry up to 64 KiB through the stack at the cost of one packet.",
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
						fix = append(fix, Fix{Setting: "ethtool:features/" + name, Value: "on"})
					}
				}
				if len(names) > 0 {
					found := one(n.Name, evidence, "disabled: %s", strings.Join(names, ", "))
					found[0].Fix = fix
					if offByTrial.MatchString(in.Facts.Rest) {
						found = with(Info, found)
						found[0].Summary += "; according to the text this was a test"
					}
					out = append(out, found...)
				}
			}
			return append(out, forwardedUDP(in.Facts)...)
		},
		Fires: featuresExample("off"),
		Quiet: featuresExample("off [fixed]"),
	}
}

// offByTrial is how the author of a post says that offloads were disabled to see whether that helps: they were on while it was
// slow.
var offByTrial = regexp.MustCompile(`(?i)\b(?:try|tried|trying|test(?:ed|ing)?|even|already)\b[^.\n]{0,60}` +
	`\b(?:disabl\w+|(?:turn|switch)\w* off|without)\b[^.\n]{0,60}\b(?:offload|tso|gso|gro|lro|checksum)|` +
	`\boffload(?:s|ing)?\b[^.\n]{0,80}\b(?:no|any) (?:change|difference|effect|improvement)`)

// forwardedUDP finds what tailscale says of a card whose datagrams are forwarded one by one.
func forwardedUDP(f *facts.Facts) []Finding {
	for i, line := range f.Lines("dmesg") {
		m := suboptimalGRO.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		found := one(m[1], []facts.Source{f.Line("dmesg", i+1)}, "UDP packets are forwarded one by one: rx-udp-gro-forwarding "+
			"is off, or rx-gro-list is on")
		found[0].Fix = []Fix{{Action: "forward them in batches (lasts until the next reboot)",
			Command: shell.Join("ethtool", "-K", m[1], "rx-udp-gro-forwarding", "on", "rx-gro-list", "off")}}
		return found
	}
	return nil
}

// suboptimalGRO is tailscale's health warning (tailscale net/netkernelconf/netkernelconf_linux.go).
var suboptimalGRO = regexp.MustCompile(`UDP GRO forwarding is suboptimally configured on ([\w.-]{1,15})`)

func featuresExample(tso string) Example {
	return linuxExample("ip -s -d link show", ipLink("eth0", 1500, 1000000, 0, 0, 0), "ethtool -k eth0",
		"Features for eth0:\nrx-checksumming: on\ntx-checksumming: on\ntcp-segmentation-offload: "+tso+"\ngeneric-receive-offload: on\n")
}
