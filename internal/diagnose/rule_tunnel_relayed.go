package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// tunnelRelayed finds peers of Tailscale whose packets a relay carries.
func tunnelRelayed() Rule {
	return Rule{
		ID: "tunnel-relayed", Title: "A tunnel's packets take the way over a relay",
		Needs: []string{"tunnels"}, Severity: Warning,
		Because: "Relays (DERP) carry packets over TCP, share their rate among all users and lengthen the round trip: " +
			"a direct path between the two ends is much faster.",
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
				return do("let UDP pass to the Internet, from port 41641 on too, or forward that port to this host",
					one("tailscale", append(blocked[:1], sample(evidence)...), "no UDP passes to the Internet: peers behind "+
						"other routers are reached over a relay alone"))
			case len(peers) == 0 && len(hard) > 0:
				found := decisive(with(Info, one("tailscale", hard[:1], "this router gives each destination another port (hard NAT): "+
					"a peer behind another such router is reached over a relay alone")))
				found[0].Confirm = "tailscale ping PEER answers \"via DERP\" only."
				return do("forward UDP port 41641 to one of the ends, or allow its router UPnP, NAT-PMP or a port that does not "+
					"change with the destination", found)
			case len(peers) == 0:
				return nil
			}
			return do("let one end be reached: forward UDP port 41641 to it, or allow its router UPnP or NAT-PMP; tailscale "+
				"netcheck says what is in the way", one("tailscale", sample(evidence), "%s over the relay %s: %s",
				counted(len(peers), "peer"), via, strings.Join(peers[:min(len(peers), 5)], ", ")))
		},
		Fires: linuxExample("tailscale status",
			"100.64.0.7  nas  me@  linux  active; relay \"fra\", tx 123456 rx 654321\n"),
		Quiet: linuxExample("tailscale status",
			"100.64.0.7  nas  me@  linux  active; direct 192.0.2.7:41641, tx 123456 rx 654321\n"),
	}
}
