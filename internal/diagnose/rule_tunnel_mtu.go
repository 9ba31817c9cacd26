package diagnose

import (
	"fmt"
	"strconv"

	"github.com/wirerate/wirerate/internal/regexp"
)

// tunnelMTU finds tunnels that send packets larger than the path takes.
func tunnelMTU() Rule {
	return Rule{
		ID: "tunnel-mtu", Title: "A tunnel's packets exceed the path MTU", Needs: []string{"messages"},
		Severity: Warning,
		Because: "Packets that exceed the path MTU with the tunnel headers added are dropped or fragmented: full-sized " +
			"segments are lost while small packets pass.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, tooLong)
			if n == 0 {
				return nil
			}
			if mtu := told(lines[0].Text); mtu > 0 {
				return do(fmt.Sprintf("OpenVPN 2.6 or later: mssfix %d mtu, earlier: mssfix %d; for non-TCP traffic also fragment "+
					"with the same "+
					"value, at both ends", mtu, mtu-ipAndUDP), one("openvpn", lines, "the path MTU is %d bytes, and larger packets "+
					"were sent (%s)", mtu, counted(n, "line")))
			}
			return do("lower the MSS inside the tunnel (OpenVPN: mssfix 1360, and the same tun-mtu at both ends; WireGuard: MTU "+
				"= 1420 or less), or clamp it on the forwarding router ("+clampedMSS(in.Facts.System,
				1360)+")", one("tunnel", lines, "its log reports packets that are too large (%s)", counted(n, "line")))
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

var tooLong = regexp.MustCompile(`EMSGSIZE Path-MTU=\d{3,5}\]|huge packet, ?data len=\d+ \(>=\d+\)|write UDPv?[46]?: Message too long|'(?:link|tun)-mtu' is used inconsistently`)
