package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// TunnelPeer is one of WireGuard's, as wg(8) shows it, or of IPsec, as strongSwan does.
type TunnelPeer struct {
	Interface string `json:"interface"`
	// Name is the start of its public key.
	Name     string `json:"name"`
	Endpoint string `json:"endpoint,omitempty"`
	// Shaken tells that a handshake was seen; Silent that packets were sent to it and none came back.
	Shaken bool   `json:"shaken"`
	Silent bool   `json:"silent"`
	Source Source `json:"source"`
	// IPsec tells that Interface is the name of its association.
	IPsec bool `json:"ipsec,omitempty"`
}

var (
	wgPeer     = regexp.MustCompile(`^peer: (\S{1,8})`)
	wgTransfer = regexp.MustCompile(`^transfer: (\d[\d.]*) ([KMGT]?i?B) received, (\d[\d.]*) ([KMGT]?i?B) sent`)
)

// readWireGuard reads the peers of WireGuard (wireguard-tools, src/show.c).
func (f *Facts) readWireGuard(t text) error {
	found, link := false, ""
	var p *TunnelPeer
	for i, line := range t.lines() {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, ": ")
		if !ok || len(line) > 1024 {
			continue
		}
		f.use(t.from, i+1)
		switch name {
		case "interface":
			link, p, found = value, nil, true
		case "peer":
			if m := wgPeer.FindStringSubmatch(line); m != nil && len(f.TunnelPeers) < rowLimit {
				f.TunnelPeers = append(f.TunnelPeers, TunnelPeer{Interface: link, Name: m[1], Source: f.Line(t.from, i+1)})
				p, found = &f.TunnelPeers[len(f.TunnelPeers)-1], true
			}
		case "endpoint":
			if p != nil {
				p.Endpoint = value
			}
		case "latest handshake":
			if p != nil {
				p.Shaken = true
			}
		case "transfer":
			if m := wgTransfer.FindStringSubmatch(line); m != nil && p != nil {
				p.Silent = strings.Trim(m[1], "0.") == "" && strings.Trim(m[3], "0.") != ""
				p.Source = f.Line(t.from, i+1)
			}
		}
	}
	return nothingUnless(found)
}

// LostPeerForm is what programs log of a tunnel whose other end does not answer: strongSwan (libcharon sa/ikev2/
// task_manager_v2.c, its third repetition after 24 s, and sa/ike_sa.c), libreswan (pluto/retry.c), OpenVPN (ping.c, ssl.c), pppd
// (lcp.c, plugins/pppoe/discovery.c), mpd,
// cloudflared and WireGuard (device/timers.go of wireguard-go, drivers/net/wireguard/receive.c of Linux).
var LostPeerForm = regexp.MustCompile(`(giving up after \d+ retransmits|STATE_\w*I1 \([^)]*\); EVENT_RETRANSMIT|IKE_SA failed, peer not responding|` +
	`second timeout exceeded after \d+ retransmits|retransmit [3-9] of request with message ID|` +
	`STATE_\w+: retransmission; will wait (?:[4-9]|\d\d+) seconds for response)|` +
	`(Inactivity timeout \(--ping-(?:restart|exit)\)|TLS key negotiation failed to occur within \d+ seconds)|` +
	`(No response to \d+ echo-requests|LCP: peer not responding to echo)|` +
	`(failed to dial to edge with quic: timeout)|(Timeout waiting for PADO packets)|(LCP terminated by peer)|` +
	`((?i:handshake )(?:for peer \d+ \(\(?[^)]{1,64}\)?\) )?did not complete after \d+ seconds, retrying)|` +
	`(LCP: timeout sending Config-Requests|Maximum retries exceeded for tunnel \d+)|` +
	`(Invalid handshake (?:initiation|response) from|Invalid MAC of handshake, dropping)|(Packet has unallowed src IP)|` +
	`((?:received|ignoring informational payload) (?:unauthenticated v2N_)?NO_PROPOSAL_CHOSEN)`)

// LostPeer is the protocol of the tunnel that a line of LostPeerForm is of, empty for other lines.
func LostPeer(line string) string {
	m := LostPeerForm.FindStringSubmatch(line[:min(len(line), 4096)])
	switch {
	case m == nil:
		return ""
	case m[1] != "":
		return "IKE"
	case m[2] != "":
		return "OpenVPN"
	case m[4] != "":
		return "QUIC"
	case m[5] != "":
		return "PPPoE"
	case m[6] != "":
		return "LCP"
	case m[7] != "":
		return "WireGuard"
	case m[8] != "":
		return "PPP setup"
	case m[9] != "":
		return "WireGuard keys"
	case m[10] != "":
		return "WireGuard routes"
	case m[11] != "":
		return "IKE proposals"
	}
	return "PPP"
}

// SaturatedForm is what OpenVPN logs of a packet for which the queue of a client has no room (multi.c).
var SaturatedForm = regexp.MustCompile(`MULTI: packet dropped due to output saturation`)

// What swanctl --list-sas (src/swanctl/commands/list_sas.c) and ipsec statusall (src/libcharon/plugins/stroke/stroke_list.c)
// say of an association and of the packets in it, and Libreswan's ipsec status; VyOS has a table of them.
var (
	swanChild   = regexp.MustCompile(`^\s+(\S+): #\d+, reqid \d+, INSTALLED`)
	swanRemote  = regexp.MustCompile(`^\s+remote .*@ ([0-9a-f.:]+)\[`)
	swanPackets = regexp.MustCompile(`^\s+(in|out) +[0-9a-f]+(?: \([^)]*\))?, +(\d+) bytes, +(\d+) packets`)
	strokeChild = regexp.MustCompile(`^\s*(\S+)\{\d+\}: +\S+, (\d+) bytes_i(?: \(\d+ pkts?[^)]*\))?, (\d+) bytes_o`)
	libreChild  = regexp.MustCompile(`^\d{3} #\d+: "([^"]+)" .*\bTraffic: ESPin=(\w+) ESPout=(\w+)`)
	vyosChild   = regexp.MustCompile(`^(\S+)\s+up\s+\S+\s+(\d\S*)/(\d\S*)\s+\d\S*/\d\S*\s+([0-9a-f.:]+)`)
)

// IPsecForm is one of these lines.
var IPsecForm = regexp.AnyOf(swanChild, swanPackets, strokeChild, libreChild, vyosChild)

// readIPsecSAs reads the associations that are up, and whether packets come through them.
func (f *Facts) readIPsecSAs(t text) error {
	found, remote, name, in := false, "", "", uint64(0)
	keep := func(name, peer string, in, out bool, line int) {
		found = true
		if src := f.Line(t.from, line); len(f.TunnelPeers) < rowLimit {
			f.TunnelPeers = append(f.TunnelPeers, TunnelPeer{Interface: name, Endpoint: peer, Silent: !in && out, Source: src, IPsec: true})
		}
	}
	for i, line := range t.lines() {
		if len(line) > 1024 {
			continue
		}
		if m := swanRemote.FindStringSubmatch(line); m != nil {
			remote = m[1]
		} else if m := swanChild.FindStringSubmatch(line); m != nil {
			name, in, found = m[1], 1, true
		} else if m := swanPackets.FindStringSubmatch(line); m != nil {
			packets, _ := count(m[3])
			if m[1] == "in" {
				in = packets
			} else if name != "" {
				keep(name, remote, in > 0, packets > 0, i+1)
			}
		} else if m := strokeChild.FindStringSubmatch(line); m != nil {
			keep(m[1], "", strings.Trim(m[2], "0") != "", strings.Trim(m[3], "0") != "", i+1)
		} else if m := libreChild.FindStringSubmatch(line); m != nil {
			keep(m[1], "", strings.Trim(m[2], "0KMGTB") != "", strings.Trim(m[3], "0KMGTB") != "", i+1)
		} else if m := vyosChild.FindStringSubmatch(line); m != nil {
			keep(m[1], m[4], strings.Trim(m[2], "0.KMGTB") != "", strings.Trim(m[3], "0.KMGTB") != "", i+1)
		} else {
			continue
		}
		f.use(t.from, i+1)
	}
	return nothingUnless(found)
}
