package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

// netmapOffload finds packets that netmap threw away since it leaves checksums and segmentation to no card.
func netmapOffload() Rule {
	return Rule{
		ID: "netmap-offload", Title: "netmap drops packets because of offloads", Needs: []string{"messages"},
		Severity: Critical,
		Because: "With offloads enabled, packets from the host stack reach a netmap port without a checksum or unsegmented, " +
			"and netmap drops them.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, netmapDrop)
			if n == 0 {
				return nil
			}
			name := netmapDrop.FindStringSubmatch(lines[0].Text)[1]
			found := do("disable the offloads on "+name+" and on everything below it (ports of a lagg, parent of a VLAN, "+
				"members of a bridge), or do not use netmap on it",
				one(name, lines, "netmap dropped packets that rely on an offload (%s)", counted(n, "line")))
			command := "ifconfig " + name + " -txcsum -txcsum6 -rxcsum -rxcsum6 -tso -lro"
			if in.Facts.System == "linux" {
				command = "ethtool -K " + name + " tx off rx off tso off gso off gro off"
			}
			found[0].Fix = append(found[0].Fix, Fix{Command: command})
			return found
		},
		Fires: freebsdExample("dmesg", "lagg1 drop mbuf that needs checksum offload\n"),
		Quiet: freebsdExample("dmesg", "generic_netmap_register Emulated adapter for lagg1 activated\n"),
	}
}

// netmapDrop is what netmap_transmit says (sys/dev/netmap/netmap.c).
var netmapDrop = regexp.MustCompile(`([a-z][\w.]*) drop mbuf that needs (?:checksum|generic segmentation) offload`)
