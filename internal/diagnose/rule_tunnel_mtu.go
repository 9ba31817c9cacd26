package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

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
			return do("lower the MSS inside the tunnel (OpenVPN: mssfix 1360 and one tun-mtu at both ends; WireGuard: MTU = "+
				"1420 or less), or clamp it where packets are forwarded ("+clampedMSS(in.Facts.System,
				1360)+")", one("tunnel", lines, "its log says so in %s", counted(n, "line")))
		},
		Fires: linuxExample("dmesg", "ovpn-server[812]: client/192.0.2.9:1194 write UDPv4: Message too long (code=90)\n"),
		Quiet: linuxExample("dmesg", "ovpn-server[812]: client/192.0.2.9:1194 TLS: soft reset sec=3600/3600\n"),
	}
}

var tooLong = regexp.MustCompile(`write UDPv?[46]?: Message too long|'(?:link|tun)-mtu' is used inconsistently`)
