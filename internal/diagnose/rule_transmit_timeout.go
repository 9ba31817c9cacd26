package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// transmitTimeout finds cards that hung.
func transmitTimeout() Rule {
	return Rule{
		ID: "transmit-timeout", Title: "A network card hung and was reset", Needs: []string{"messages"}, Severity: Critical,
		Because: "While a card is reset nothing is sent or received; driver, firmware, power saving of the slot or " +
			"the hardware is at fault.",
		Check: func(in Input) []Finding {
			for _, words := range [][]string{{"netdev watchdog"}, {"detected tx unit hang"},
				{unitHang}, {"reset adapter unexpectedly"}, {": watchdog timeout"},
				{"lost tx completions is above"}, {"keep alive watchdog timeout"}, {"tx timeout detected"},
				{"tx timeout on queue"}, {"tx_timeout recovery level"}, {"_cond == 0 (loop"},
				{"firmware crashed!"}, {"microcode sw error detected"}, {"appears to be hung!"},
				{": watchdog: head "}, {"lost tx completion is above"}} { // ena, ena, mlx5, virtio_net, i40e, r8169, ixl
				if lines, n := logged(in.Facts, words...); n > 0 {
					card := "card"
					if m := hungCard.FindStringSubmatch(lines[0].Text); m != nil {
						card = m[1] + m[2] + m[3] + m[4]
					}
					found := one(card, lines, "the kernel reported a card that hung in %s", counted(n, "line"))
					if words[0] == unitHang && strings.Contains(lines[0].Text, "e1000e ") {
						found = withFix(Fix{Setting: "ethtool:features/tcp-segmentation-offload", Interface: card, Value: "off"}, found)
					}
					return do("update the driver and the card's firmware; switch off ASPM for the slot", found)
				}
			}
			return nil
		},
		Fires: linuxExample("dmesg", "[ 9.1] NETDEV WATCHDOG: eth0 (e1000e): transmit queue 0 timed out\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] e1000e 0000:00:19.0 eth0: NIC Link is Up 1000 Mbps Full Duplex\n"),
	}
}

// unitHang is what e1000e says when its queue does not move. Its driver switches TSO off by itself for the chips of
// which that is known to help (Linux f29801030ac6, "e1000e: Disable TSO for buffer overrun workaround").
const unitHang = "detected hardware unit hang"

// hungCard is the interface in such a line: behind the slot of the card, or behind the name of the watchdog.
var hungCard = regexp.MustCompile(`[0-9a-f]{2}\.[0-9a-f] ([a-z_][\w.-]*)(?: \([^)]*\))?: |` +
	`NETDEV WATCHDOG: ([a-z][\w.-]*) |^(?:\[[^\]]*\] )?[\w-]+ \S+ ([a-z][\w.-]*): NETDEV WATCHDOG|` +
	`(?:^|[ >])([a-z]{2,}\d+): (?:.*: )?(?:[Ww]atchdog|WARNING: queue|The number of lost)`)
