package lint

import (
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

// excused reports a finding that what stands around the line makes pointless.
func (k *checker) excused(e conffile.Entry, code string) bool {
	return code == "harmful" && k.captured(e) || e.Name == "link:mtu" && smallFrames.MatchString(e.Iface) || code == "no-effect" && k.boundedIdle(e)
}

// smallFrames are interfaces whose frames are smaller than IPv6 needs, and that carry none: CAN's and those of 802.15.4. A tunnel
// may be one for IPv4 alone.
var smallFrames = regexp.MustCompile(`^(?:v?can|slcan|wpan|lowpan|tun|tap|gre|ipip|ppp|ib)[a-z]*[0-9]*$`)

// sensor is a program that looks at packets as they are on the wire, for which the card must not join or cut them.
var sensor = regexp.MustCompile(`(?i)\b(?:snort[0-9]?|suricata|zeek|arkime|moloch|stenographer|fastnetmon|ntopng|security ?onion|netsniff-ng|pf_ring|(?:capture|sniffing|monitoring)[ -](?:nic|interface|port|card))\b`)

// captured reports whether a line switches off what joins segments in a file about such a program.
func (k *checker) captured(e conffile.Entry) bool {
	switch e.Name {
	case "ethtool:features/gro", "ethtool:features/gso", "ethtool:features/tso", "ethtool:features/sg", "ethtool:features/rx", "ethtool:features/tx":
	default:
		return false
	}
	about, known := k.sensors[k.file]
	if !known {
		about = sensor.MatchString(k.file.text)
		k.sensors[k.file] = about
	}
	return about
}

// boundedIdle reports a command line that bounds the idle states of the driver which takes the place of intel_idle.
func (k *checker) boundedIdle(e conffile.Entry) bool {
	const longest = 16 << 10
	return e.Name == "module:intel_idle/max_cstate" && e.Raw.End-e.Raw.Start < longest &&
		strings.Contains(k.file.text[e.Raw.Start:e.Raw.End], "processor.max_cstate=")
}
