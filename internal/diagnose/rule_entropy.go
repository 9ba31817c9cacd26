package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// entropy finds entropy harvesting on FreeBSD's packet path.
func entropy() Rule {
	return Rule{
		ID: "entropy-on-packet-path", Title: "Entropy is harvested from packets and interrupts", Systems: onFreeBSD(),
		Needs: []string{"settings"}, Severity: Info,
		Settings: []string{"kern.random.harvest.mask"},
		Because: "Every packet then costs a queue operation that adds little entropy, which is noticeable on routers at high " +
			"packet rates.",
		Check: func(in Input) []Finding {
			v, ok := in.Facts.Setting("kern.random.harvest.mask_symbolic")
			if _, on := reallyForwards(in.Facts, in.Role); !ok || !on {
				return nil
			}
			for _, w := range strings.Split(v, ",") { // what is off stands in brackets
				if strings.TrimSpace(w) == "NET_ETHER" {
					return one("random", []facts.Source{in.Facts.Settings["kern.random.harvest.mask_symbolic"].Source},
						"NET_ETHER is harvested on a forwarding host")
				}
			}
			return nil
		},
		Fires: freebsdExample("sysctl -a", "net.inet.ip.forwarding: 1\nkern.random.harvest.mask_symbolic: "+
			"PURE_RDRAND,[UMA],[FS_ATIME],SWI,INTERRUPT,NET_NG,NET_ETHER,NET_TUN,MOUSE,KEYBOARD,ATTACH,CACHED\n").as("router"),
		Quiet: freebsdExample("sysctl -a", "net.inet.ip.forwarding: 1\nkern.random.harvest.mask_symbolic: "+
			"PURE_RDRAND,[UMA],[FS_ATIME],SWI,INTERRUPT,NET_NG,[NET_ETHER],NET_TUN,MOUSE,KEYBOARD,ATTACH,CACHED\n").as("router"),
	}
}
