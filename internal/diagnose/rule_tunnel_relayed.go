package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// tunnelRelayed finds peers of Tailscale whose packets a relay carries.
func tunnelRelayed() Rule {
	return Rule{
		ID: "tunnel-relayed", Title: "A tunnel goes through a relay",
		Needs: []string{"tunnels"}, Severity: Warning,
		Because: "Relays (DERP) carry packets over TCP, share their bandwidth among all users and add latency: a direct path " +
			"between the two ends is much faster.",
		Check: func(in Input) []Finding {
			var evidence, blocked, hard []facts.Source
			var peers []string
			via := ""
			for _, r := range in.Facts.Relays {
				switch {
				case r.Blocked:
					blocked = append(blocked, r.Source)
				case r.HardNAT:
					hard = append(hard, r.Source)
				case r.Via != "":
					evidence, peers, via = append(evidence, r.Source), append(peers, r.Peer), r.Via
				}
			}
			switch {
			case len(blocked) > 0:
				return do("allow outbound UDP to the Internet, including from port 41641, or forward that port to this host",
					one("tailscale", append(blocked[:1], sample(evidence)...), "no UDP gets out to the Internet: peers behind NAT are "+
						"reachable only through a relay"))
			case len(peers) == 0 && len(hard) > 0:
				found := decisive(with(Info, one("tailscale", hard[:1], "this router uses a different NAT port per destination "+
					"(hard NAT): peers behind another hard NAT are reachable only through a relay")))
				found[0].Confirm = "tailscale ping PEER answers only \"via DERP\"."
				return do("forward UDP port 41641 to one of the ends, or enable UPnP, NAT-PMP or static-port NAT on its router", found)
			case len(peers) == 0:
				return nil
			}
			return do("make one end reachable: forward UDP port 41641 to it, or enable UPnP or NAT-PMP on its router; tailscale "+
				"netcheck shows what blocks it", one("tailscale", sample(evidence), "%s through the relay %s: %s",
				counted(len(peers), "peer"), via, strings.Join(peers[:min(len(peers), 5)], ", ")))
		},
		Fires: linuxExample("tailscale status",
			"100.64.0.7  nas  me@  linux  active; relay \"fra\", tx 123456 rx 654321\n"),
		Quiet: linuxExample("tailscale status",
			"100.64.0.7  nas  me@  linux  active; direct 192.0.2.7:41641, tx 123456 rx 654321\n"),
	}
}
