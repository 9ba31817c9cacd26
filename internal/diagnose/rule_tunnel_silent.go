package diagnose

import (
	"cmp"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// tunnelSilent finds peers of WireGuard that never answered.
func tunnelSilent() Rule {
	return Rule{
		ID: "tunnel-silent", Title: "A peer of WireGuard does not answer",
		Needs: []string{"wireguard|messages"}, Severity: Warning,
		Because: "Handshakes go out and nothing comes back: the peer is off, its UDP port is not open on the way, or a key " +
			"does not fit.",
		Confirm: "tcpdump -ni any udp port 51820 at the peer shows whether they arrive.",
		Check: func(in Input) []Finding {
			var silent []facts.Source
			var names []string
			for _, p := range in.Facts.TunnelPeers {
				if p.Silent && !p.Shaken && p.Endpoint != "" {
					silent = append(silent, p.Source)
					names = append(names, cmp.Or(p.Interface, "wg")+" "+p.Endpoint)
				}
			}
			const remedy = "open the peer's UDP port, and compare the public keys of both ends"
			if lines, n := matching(in.Facts, gaveUpPeer); len(silent) == 0 && n > 0 {
				return do(remedy, one("wireguard", lines, "the handshake with %s was given up, in %s",
					gaveUpPeer.FindStringSubmatch(lines[0].Text)[1], counted(n, "line")))
			}
			if len(silent) == 0 {
				return nil
			}
			const most = 3
			severity := Warning
			if len(silent) < len(in.Facts.TunnelPeers) {
				severity = Info // others work: it may be off
			}
			return do(remedy, with(severity,
				one("wireguard", sample(silent), "%s sent nothing back: %s", counted(len(silent), "peer"),
					strings.Join(names[:min(len(names), most)], ", "))))
		},
		Fires: wireguardExample("transfer: 0 B received, 14.11 KiB sent"),
		Quiet: wireguardExample("transfer: 18.20 KiB received, 14.11 KiB sent"),
	}
}

// gaveUpPeer is what the kernel logs with its debugging messages on (drivers/net/wireguard/timers.c).
var gaveUpPeer = regexp.MustCompile(`Handshake for peer \d+ \(([^)]{1,64})\) did not complete after \d+ attempts, giving up`)

func wireguardExample(transfer string) Example {
	return linuxExample("wg show", "interface: wg0\n  listening port: 51820\n\npeer: "+strings.Repeat("A", 43)+"=\n"+
		"  endpoint: 192.0.2.7:51820\n  "+transfer+"\n")
}
