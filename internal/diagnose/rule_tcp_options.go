package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/system"
)

// windowScalingOff finds window scaling switched off.
func windowScalingOff() Rule {
	r := switchedOff("window-scaling-off", "TCP window scaling is disabled", Critical,
		map[system.System]string{"linux": "net.ipv4.tcp_window_scaling", "freebsd": "net.inet.tcp.rfc1323",
			"openbsd": "net.inet.tcp.rfc1323"})
	r.Because = "Without the window scale option a connection carries at most 65,535 bytes per round trip (RFC 7323)."
	return r
}

// sackOff finds selective acknowledgements switched off.
func sackOff() Rule {
	r := switchedOff("sack-off", "TCP selective acknowledgements (SACK) are disabled", Warning,
		map[system.System]string{"linux": "net.ipv4.tcp_sack", "freebsd": "net.inet.tcp.sack.enable",
			"openbsd": "net.inet.tcp.sack"})
	r.Because = "After a loss the sender cannot tell which segments arrived, and repairs one per round trip (RFC 2018)."
	return r
}

// timestampsOff finds timestamps switched off.
func timestampsOff() Rule {
	r := switchedOff("timestamps-off", "TCP timestamps are disabled", Warning,
		map[system.System]string{"linux": "net.ipv4.tcp_timestamps"})
	r.Because = "Without timestamps the RTT is measured less often, and wrapped sequence numbers at high rates are not " +
		"detected (RFC 7323)."
	return r
}

func switchedOff(id, title string, s Severity, names map[system.System]string) Rule {
	r := Rule{ID: id, Title: title, Needs: []string{"settings"}, Severity: s,
		Check: func(in Input) []Finding {
			name := names[in.Facts.System]
			v, src, ok := setting(in.Facts, name)
			if !ok || v != 0 {
				return nil
			}
			found := one(name, []facts.Source{src}, "%s is 0", name)
			found[0].Fix = []Fix{{Setting: name, Value: "1"}}
			return found
		},
		Fires: linuxExample("sysctl -a", names["linux"]+" = 0\n"),
		Quiet: linuxExample("sysctl -a", names["linux"]+" = 1\n"),
	}
	for _, s := range []system.System{system.Linux, system.FreeBSD, system.OpenBSD} {
		if names[s] != "" {
			r.Systems = append(r.Systems, string(s))
		}
	}
	return r
}
