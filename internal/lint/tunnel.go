package lint

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

// WireGuard adds 60 bytes to a packet over IPv4: the header of IPv4, that of UDP, and 32 of its own.
const (
	ethernetMTU  = 1500
	wireguardMTU = ethernetMTU - 60
)

// largeMTU is a line that makes an interface carry more than Ethernet's 1500 bytes.
var largeMTU = regexp.MustCompile(`\bmtu[ \t]+(?:[2-9][0-9]{3}|1[6-9][0-9]{2})\b`)

// tunnelMTU judges the MTU of a WireGuard interface whose host has other interfaces of 1500 bytes, as far as is told. Of
// Linux' commands and files those of wg-quick alone are judged, which work the MTU out where none is given.
func (k *checker) tunnelMTU(e conffile.Entry) *finding {
	number, ok := strings.CutPrefix(e.Iface, "wg")
	if k.system == catalog.Linux && k.kindOf(e) != conffile.WGQuick || !ok || number == "" || strings.Trim(number, "0123456789") != "" || k.jumbo ||
		!strings.HasSuffix(e.Name, ":mtu") || e.Has(conffile.Expands) {
		return nil
	}
	n, err := strconv.Atoi(e.Value)
	if err != nil || n <= wireguardMTU || n > ethernetMTU {
		return nil
	}
	return &finding{code: "harmful", severity: Warning, value: true,
		sources: []string{"wg(4): the MTU is 1420", "WireGuard: Next Generation Kernel Network Tunnel, section 5.4.6"},
		message: fmt.Sprintf("mtu %d leaves no room for WireGuard's headers: write mtu 1420", n),
		because: "A packet grows by 60 bytes over IPv4 and by 80 over IPv6, so that on a path of 1500 bytes each full one " +
			"becomes two fragments, or is lost where fragments do not pass."}
}
