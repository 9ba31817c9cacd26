package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// transmitTimeout finds cards that hung.
func transmitTimeout() Rule {
	return Rule{
		ID: "transmit-timeout", Title: "A network card hung and was reset", Needs: []string{"messages"}, Severity: Critical,
		Because: "While a card is reset nothing is sent or received; driver, firmware, power saving of the slot or the hardware is at fault.",
		Check: func(in Input) []Finding {
			for _, words := range [][]string{{"netdev watchdog"}, {"tx unit hang"}, {"watchdog timeout"}} {
				if m, ok := in.Facts.Message(words...); ok {
					return do("update the driver and the card's firmware; switch off ASPM for the slot", one("card", []facts.Source{m.Source}, "the kernel reported a transmit timeout"))
				}
			}
			return nil
		},
		Fires: linuxExample("dmesg", "[ 9.1] NETDEV WATCHDOG: eth0 (e1000e): transmit queue 0 timed out\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] e1000e 0000:00:19.0 eth0: NIC Link is Up 1000 Mbps Full Duplex\n"),
	}
}
