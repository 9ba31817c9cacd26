package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// wirelessRate finds a radio link that fell back to one of the slowest rates.
func wirelessRate() Rule {
	return Rule{
		ID: "wireless-slow-rate", Title: "A radio link runs at one of its slowest rates", Systems: onBSD(),
		Needs: []string{"ifconfig"}, Severity: Warning,
		Because: "The rate of a radio link follows its signal: at the lowest rates distance, noise or other stations leave little, " +
			"and half of what remains is the protocol's.",
		Confirm: "The rate rises near the access point, or on another channel (ifconfig wlan0 list scan).",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				n := &in.Facts.NICs[i]
				m := radioRate.FindStringSubmatch(n.Media)
				if m == nil || !n.Up {
					continue
				}
				const slow = 12 // Mbit/s
				if v, err := strconv.Atoi(m[1] + m[2]); err != nil || v == 0 || v > slow {
					continue
				}
				out = append(out, do("bring the stations nearer, or choose another channel or the 5 GHz band; a wire is faster",
					one(n.Name, []facts.Source{n.Shown["media"]}, "the radio sends at %s Mbit/s", m[1]+m[2]))...)
			}
			return out
		},
		Fires: freebsdExample("ifconfig -a", radioExample("OFDM/6Mbps")),
		Quiet: freebsdExample("ifconfig -a", radioExample("OFDM/54Mbps")),
	}
}

// radioRate is the rate in the media of FreeBSD ("IEEE 802.11 Wireless Ethernet OFDM/6Mbps mode 11g") and OpenBSD
// ("IEEE802.11 autoselect (OFDM6 mode 11a)").
var radioRate = regexp.MustCompile(`802\.11.*?\b(?:(?:OFDM|DS|FH)/(\d+)(?:\.5)?Mbps|\((?:OFDM|DS)(\d+) )`)

func radioExample(rate string) string {
	return "wlan0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tether 02:00:00:00:00:01\n" +
		"\tmedia: IEEE 802.11 Wireless Ethernet " + rate + " mode 11g\n\tstatus: associated\n"
}
