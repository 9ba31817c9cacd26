package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// tunnelSilent finds peers of tunnels that do not answer.
func tunnelSilent() Rule {
	return Rule{
		ID: "tunnel-silent", Title: "A tunnel's peer does not respond",
		Needs: []string{"wireguard|ipsec peers|messages"}, Severity: Warning,
		Because: "This end sends, but nothing comes back: the peer is down, its port is blocked, a key does not " +
			"match, or the path loses packets.",
		Confirm: "tcpdump at the peer (WireGuard: udp port 51820) shows whether the packets arrive.",
		Check: func(in Input) []Finding {
			var silent []facts.Source
			var names []string
			for _, p := range in.Facts.TunnelPeers {
				if p.Silent && (p.IPsec || !p.Shaken && p.Endpoint != "") {
					silent = append(silent, p.Source)
					names = append(names, cmp.Or(p.Interface, "wg")+" "+p.Endpoint)
				}
			}
			if lines, n := matching(in.Facts, gaveUpPeer); len(silent) == 0 && n > 0 {
				return do(openPort, one("wireguard", lines, "the handshake with %s timed out (%s)",
					gaveUpPeer.FindStringSubmatch(lines[0].Text)[1], counted(n, "line")))
			}
			if len(silent) == 0 {
				return lostPeers(in.Facts)
			}
			if slices.ContainsFunc(in.Facts.TunnelPeers, func(p facts.TunnelPeer) bool { return p.IPsec }) {
				return silentIPsec(in.Facts)
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

// silentIPsec finds associations that are up, and through which nothing comes back.
func silentIPsec(f *facts.Facts) (out []Finding) {
	for _, p := range f.TunnelPeers {
		if !p.IPsec || !p.Silent || len(out) > 2 {
			continue
		}
		found := one("IPsec "+p.Interface, []facts.Source{p.Source}, "packets are sent to %s, but none arrived", cmp.Or(p.Endpoint, "the peer"))
		found[0].Because = "The key exchange works, so the peer is reachable: ESP is blocked on the path, the peer has no route or policy " +
			"for the way back, or it sends through another association."
		found[0].Confirm = "tcpdump -ni IF esp or udp port 4500 shows packets to the peer and none from it."
		out = append(out, do("at the peer, check that its packet counter for this association grows in both directions, that it routes "+
			"these networks into the tunnel, and that no NAT rule comes first; allow ESP (IP protocol 50), or UDP port 4500 "+
			"with NAT, on the path", found)...)
	}
	return out
}

const openPort = "open the peer's UDP port, and compare the public keys of both ends"

// gaveUpPeer is what the kernel logs with its debugging messages on (drivers/net/wireguard/timers.c).
var gaveUpPeer = regexp.MustCompile(`Handshake for peer \d+ \(\(?([^)]{1,64})\)?\) did not complete after \d+ attempts, giving up`)

func wireguardExample(transfer string) Example {
	return linuxExample("wg show", "interface: wg0\n  listening port: 51820\n\npeer: "+strings.Repeat("A", 43)+"=\n"+
		"  endpoint: 192.0.2.7:51820\n  "+transfer+"\n")
}

// lostTunnels are the kinds of tunnels that facts.LostPeer tells apart.
var lostTunnels = []struct{ program, said, action string }{
	{"IKE", "the peer did not respond to the key exchange", "allow UDP ports 500 and 4500 at both ends and on the " +
		"path, compare the configured addresses of both ends, and ping the peer to check for loss"},
	{"IKE proposals", "the peer refused the offered algorithms (NO_PROPOSAL_CHOSEN)", "set the same encryption, " +
		"integrity and Diffie-Hellman group at both ends (ipsec.conf: ike= and esp=, swanctl.conf: proposals and " +
		"esp_proposals), and the same IKE version"},
	{"OpenVPN", "it timed out because nothing came from the peer", "ping the peer to check for loss; if a NAT or " +
		"firewall drops idle connections, set keepalive 10 60 on the server"},
	{"WireGuard keys", "handshakes from a peer were rejected", "compare the keys: the peer's public key that each " +
		"end shows (wg show) must be the one that the other end derives from its private key (wg pubkey < FILE); " +
		"a peer whose clock was set back is rejected as well"},
	{"WireGuard routes", "packets from a peer were dropped because AllowedIPs does not contain their source address",
		"add the peer's networks to its AllowedIPs on this host, or masquerade them at the peer"},
	{"WireGuard", "the peer did not respond to the handshake", openPort},
	{"QUIC", "the Cloudflare edge did not respond to cloudflared", "allow outbound UDP port 7844, or use TCP: " +
		"cloudflared tunnel --protocol http2 run"},
	{"PPPoE", "no PPPoE server of the ISP answered (PADI)", "check that the port to the modem is up, that the " +
		"modem is in sync, and that the VLAN ID is the one the ISP requires; after a broken session, the ISP may " +
		"refuse a new one for minutes"},
	{"LCP", "the ISP terminated the session", "check the preceding log lines: a loss of sync at the modem, a " +
		"second session with the same login, or the ISP's daily disconnect"},
	{"PPP setup", "the other end did not answer the first requests", "check that the tunnel or modem below it is " +
		"up (L2TP: UDP port 1701, IPsec: 500 and 4500 and ESP), then the other end's log for that time"},
	{"PPP", "the session ended because the other end did not " +
		"answer LCP echoes", "check the modem's status and log for loss of " +
		"signal; on a saturated link, set lcp-echo-interval 10 and lcp-echo-failure 6 in pppd to tolerate more"},
}

// lostPeers finds in a log the peers of other tunnels that were given up.
func lostPeers(f *facts.Facts) (out []Finding) {
	if _, n := matching(f, facts.LostPeerForm); n == 0 {
		return nil
	}
	_, refused := logLines(f, func(line string) bool { return facts.LostPeer(line) == "IKE proposals" })
	for _, t := range lostTunnels {
		lines, n := logLines(f, func(line string) bool { return facts.LostPeer(line) == t.program })
		if t.program == "IKE" && n > 0 && refused > 0 {
			continue // the peer does answer
		}
		if n > 0 {
			name, _, _ := strings.Cut(t.program, " ")
			found := decisive(do(t.action, with(repeated(n, 2), one(name, lines, "%s (%s)", t.said, counted(n, "line")))))
			found[0].Confirm = "The messages coincide with the outages."
			switch t.program {
			case "IKE proposals":
				found[0].Because = "No tunnel is set up until both ends have a proposal in common."
			case "WireGuard keys":
				found[0].Because = "A handshake that does not match the configured keys is dropped without an " +
					"answer: no traffic passes through the tunnel."
			case "WireGuard routes":
				found[0].Because = "After decryption, WireGuard drops packets whose source address is outside the " +
					"peer's AllowedIPs."
			case "LCP":
				found[0].Because = "The other end asked to terminate the session; no traffic passes until a new " +
					"session is up."
			}
			out = append(out, found...)
		}
	}
	return out
}
