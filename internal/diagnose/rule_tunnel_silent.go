package diagnose

import (
	"cmp"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// tunnelSilent finds peers of tunnels that do not answer.
func tunnelSilent() Rule {
	return Rule{
		ID: "tunnel-silent", Title: "A tunnel's peer does not answer",
		Needs: []string{"wireguard|messages"}, Severity: Warning,
		Because: "What this end sends goes out and nothing comes back: the peer is off, its port is not open on the way, a key " +
			"does not fit, or the path loses packets.",
		Confirm: "tcpdump at the peer (udp port 51820 of WireGuard) shows whether they arrive.",
		Check: func(in Input) []Finding {
			var silent []facts.Source
			var names []string
			for _, p := range in.Facts.TunnelPeers {
				if p.Silent && !p.Shaken && p.Endpoint != "" {
					silent = append(silent, p.Source)
					names = append(names, cmp.Or(p.Interface, "wg")+" "+p.Endpoint)
				}
			}
			if lines, n := matching(in.Facts, gaveUpPeer); len(silent) == 0 && n > 0 {
				return do(openPort, one("wireguard", lines, "the handshake with %s was given up, in %s",
					gaveUpPeer.FindStringSubmatch(lines[0].Text)[1], counted(n, "line")))
			}
			if len(silent) == 0 {
				return lostPeers(in.Facts)
			}
			const most = 3
			severity := Warning
			if len(silent) < len(in.Facts.TunnelPeers) {
				severity = Info // others work: it may be off
			}
			return do(openPort, with(severity,
				one("wireguard", sample(silent), "%s sent nothing back: %s", counted(len(silent), "peer"),
					strings.Join(names[:min(len(names), most)], ", "))))
		},
		Fires: wireguardExample("transfer: 0 B received, 14.11 KiB sent"),
		Quiet: wireguardExample("transfer: 18.20 KiB received, 14.11 KiB sent"),
	}
}

const openPort = "open the peer's UDP port, and compare the public keys of both ends"

// gaveUpPeer is what the kernel logs with its debugging messages on (drivers/net/wireguard/timers.c).
var gaveUpPeer = regexp.MustCompile(`Handshake for peer \d+ \(([^)]{1,64})\) did not complete after \d+ attempts, giving up`)

func wireguardExample(transfer string) Example {
	return linuxExample("wg show", "interface: wg0\n  listening port: 51820\n\npeer: "+strings.Repeat("A", 43)+"=\n"+
		"  endpoint: 192.0.2.7:51820\n  "+transfer+"\n")
}

// lostPeers finds in a log the peers of other tunnels that were given up.
func lostPeers(f *facts.Facts) (out []Finding) {
	if _, n := matching(f, facts.LostPeerForm); n == 0 {
		return nil
	}
	for _, t := range []struct{ program, said, action string }{
		{"IKE", "the peer did not answer the key exchange", "let UDP ports 500 and 4500 pass at both ends and on the way, " +
			"compare the addresses of both ends, and ping the peer meanwhile for loss"},
		{"OpenVPN", "it gave up, since nothing came from the peer", "ping the peer meanwhile for loss; where a " +
			"NAT or a firewall forgets idle connections, keepalive 10 60 at the server"},
		{"WireGuard", "the peer did not answer the handshake", openPort},
		{"QUIC", "nothing came back from the edge that cloudflared dials", "let UDP port 7844 out, or use TCP: cloudflared " +
			"tunnel --protocol http2 run"},
		{"PPPoE", "nobody answered the search for the provider's end (PADI)", "see that the port to the modem is up and the modem in " +
			"sync, and that the VLAN is the provider's; after a session that was cut the provider may refuse a new one for minutes"},
		{"LCP", "the provider's end took the session down", "see what stands right before it in the log: a loss of sync at the modem, a " +
			"second session with the same name, or the daily cut of the provider"},
		{"PPP setup", "the other end did not answer the first requests", "see whether the tunnel or modem below it is up (L2TP: UDP " +
			"port 1701, IPsec: 500 and 4500 and ESP), then look at the log of the other end for that time"},
		{"PPP", "the line was taken down, since its other end did not answer", "look at the modem's status and log for loss of " +
			"signal; on a line that is full, lcp-echo-interval 10 and lcp-echo-failure 6 of pppd wait longer"},
	} {
		lines, n := logLines(f, func(line string) bool { return facts.LostPeer(line) == t.program })
		if n > 0 {
			found := decisive(do(t.action, with(repeated(n, 2), one(t.program, lines, "%s, in %s", t.said, counted(n, "line")))))
			found[0].Confirm = "The lines come at the times at which nothing passes."
			if t.program == "LCP" {
				found[0].Because = "This end was asked to end the session and did; nothing passes until a new one stands."
			}
			out = append(out, found...)
		}
	}
	return out
}
