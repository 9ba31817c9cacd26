package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// slowRadios finds radio links of FreeBSD and OpenBSD that fell back to one of the slowest rates.
func slowRadios(f *facts.Facts) (out []Finding) {
	const slow = 12 // Mbit/s
	for i := range f.NICs {
		n := &f.NICs[i]
		m := radioRate.FindStringSubmatch(n.Media)
		if m == nil || !n.Up {
			continue
		}
		if v, err := strconv.Atoi(m[1] + m[2]); err != nil || v == 0 || v > slow {
			continue
		}
		out = append(out, do("move the stations closer, or use another channel (ifconfig NAME list scan) or the 5 GHz band",
			one(n.Name, []facts.Source{n.Shown["media"]}, "the radio transmits at %s Mbit/s", m[1]+m[2]))...)
	}
	return out
}

// radioRate is the rate in the media of FreeBSD ("IEEE 802.11 Wireless Ethernet OFDM/6Mbps mode 11g") and OpenBSD
// ("IEEE802.11 autoselect (OFDM6 mode 11a)").
var radioRate = regexp.MustCompile(`802\.11.*?\b(?:(?:OFDM|DS|FH)/(\d+)(?:\.5)?Mbps|\((?:OFDM|DS)(\d+) )`)
