package facts

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Relay is what Tailscale says of how its packets travel.
type Relay struct {
	Peer string `json:"peer,omitempty"`
	// Via is the relay that carries a peer's packets; empty in Blocked ones.
	Via string `json:"via,omitempty"`
	// Blocked is set where no UDP passes to the Internet: every peer behind another router is relayed over TCP.
	Blocked bool `json:"udp_blocked,omitempty"`
	// HardNAT is set where the router gives each destination another port: two such ends need a relay.
	HardNAT bool   `json:"hard_nat,omitempty"`
	Source  Source `json:"source"`
}

// What tailscale status, ping and netcheck print (tailscale cmd/tailscale/cli: status.go, ping.go, netcheck.go).
var (
	relayStatus = regexp.MustCompile(`^\d+\.\d+\.\d+\.\d+ +(\S+) .*\bactive; relay "([\w.-]+)"`)
	relayPong   = regexp.MustCompile(`^pong from (\S+) \([^)]*\) via DERP\(([\w.-]+)\) in `)
	relayNAT    = regexp.MustCompile(`^\* MappingVariesByDestIP: ?(true|false)?$`)
	relayUDP    = regexp.MustCompile(`^\* UDP: (true|false)$|\bnetcheck: report: udp=(true|false)\b`)
	directPong  = regexp.MustCompile(`^pong from (\S+) \([^)]*\) via [\d.\[]|` +
		`^\d+\.\d+\.\d+\.\d+ +(\S+) .*\bactive; direct `)
)

// readTailscale reads which peers a relay carries. A peer that is reached directly in the end is not relayed.
func (f *Facts) readTailscale(t text) error {
	found := false
	at := map[string]int{}
	for i, line := range t.lines() {
		line = strings.TrimSpace(line)
		src := func() Source { found = true; return f.Line(t.from, i+1) }
		if m := relayUDP.FindStringSubmatch(line); m != nil {
			s := src()
			// A later report tells how it is now.
			f.Relays = slices.DeleteFunc(f.Relays, func(r Relay) bool { return r.Blocked })
			clear(at)
			for k, r := range f.Relays {
				if r.Peer != "" {
					at[r.Peer] = k
				}
			}
			if m[1]+m[2] == "false" {
				f.Relays = append(f.Relays, Relay{Blocked: true, Source: s})
			}
			continue
		}
		if m := relayNAT.FindStringSubmatch(line); m != nil {
			if s := src(); m[1] == "true" {
				f.Relays = append(f.Relays, Relay{HardNAT: true, Source: s})
			}
			continue
		}
		if m := directPong.FindStringSubmatch(line); m != nil {
			src()
			if k, ok := at[m[1]+m[2]]; ok {
				f.Relays[k].Via = ""
			}
			continue
		}
		m := relayStatus.FindStringSubmatch(line)
		if m == nil {
			m = relayPong.FindStringSubmatch(line)
		}
		if m == nil || len(f.Relays) >= rowLimit {
			continue
		}
		s := src()
		if _, have := at[m[1]]; !have {
			at[m[1]] = len(f.Relays)
			f.Relays = append(f.Relays, Relay{Peer: m[1], Via: m[2], Source: s})
		}
	}
	return nothingUnless(found)
}
