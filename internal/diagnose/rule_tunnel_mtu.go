package diagnose

import (
	"fmt"
	"strconv"

	"github.com/wirerate/wirerate/internal/regexp"
)

// tunnelMTU finds tunnels that send packets larger than the path takes.
func tunnelMTU() Rule {
	return Rule{
		ID: "tunnel-mtu", Title: "A tunnel's packets do not fit into the path", Needs: []string{"messages"},
		Severity: Warning,
		Because: "What is larger than the path's MTU once the tunnel's headers are added is refused or fragmented: full " +
			"segments are lost while small packets pass.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, tooLong)
			if n == 0 {
				return nil
			}
			if mtu := told(lines[0].Text); mtu > 0 {
				return do(fmt.Sprintf("OpenVPN from 2.6 on: mssfix %d mtu, before: mssfix %d; for what is no TCP the same with "+
					"fragment, at both ends", mtu, mtu-ipAndUDP), one("openvpn", lines, "the path takes packets of %d bytes, and "+
					"larger ones were sent (%s)", mtu, counted(n, "line")))
			}
			return do("lower the MSS inside the tunnel (OpenVPN: mssfix 1360 and one tun-mtu at both ends; WireGuard: MTU = that of "+
				"the interface it sends through less 80, 1420 on 1500 and 1200 on 1280), or clamp it where packets are forwarded ("+clampedMSS(in.Facts.System,
				1360)+")", one("tunnel", lines, "its log says so in %s", counted(n, "line")))
		},
		Fires: linuxExample("dmesg", "ovpn-server[812]: client/192.0.2.9:1194 write UDPv4: Message too long (code=90)\n"),
		Quiet: linuxExample("dmesg", "ovpn-server[812]: client/192.0.2.9:1194 TLS: soft reset sec=3600/3600\n"),
	}
}

// ipAndUDP is what mssfix of OpenVPN before 2.6 leaves out (doc/man-sections/link-options.rst).
const ipAndUDP = 28

// told is the MTU of the path that a line of OpenVPN says, 0 where it says none.
func told(line string) int {
	const least, most = 576, 9000
	if mtu, err := strconv.Atoi(firstGroup(pathTold, line)); err == nil && mtu >= least && mtu <= most {
		return mtu
	}
	return 0
}

var pathTold = regexp.MustCompile(`EMSGSIZE Path-MTU=(\d{3,5})\]`)

var tooLong = regexp.MustCompile(`EMSGSIZE Path-MTU=\d{3,5}\]|huge packet, ?data len=\d+ \(>=\d+\)|write UDPv?[46]?: Message too long|` +
	`write udp[46]? \S+: (?:\S+ )?send\w+: message too long|'(?:link|tun)-mtu' is used inconsistently`)
