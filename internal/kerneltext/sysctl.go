package kerneltext

import (
	"fmt"
	"strconv"
	"strings"
)

// PortRange reads net.ipv4.ip_local_port_range: the first and the last port that Linux gives to connections out, as
// "32768	60999".
func PortRange(s string) (first, last uint16, err error) {
	words := strings.Fields(s)
	if len(words) != 2 {
		return 0, 0, fmt.Errorf("ip_local_port_range holds two ports, not %d words", len(words))
	}
	low, err := strconv.ParseUint(words[0], 10, 16)
	if err != nil {
		return 0, 0, fmt.Errorf("ip_local_port_range: %w", err)
	}
	high, err := strconv.ParseUint(words[1], 10, 16)
	if err != nil {
		return 0, 0, fmt.Errorf("ip_local_port_range: %w", err)
	}
	if low < 1 || high < low {
		return 0, 0, fmt.Errorf("ip_local_port_range: %d to %d is no range of ports", low, high)
	}
	return uint16(low), uint16(high), nil
}
