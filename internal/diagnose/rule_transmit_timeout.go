package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

// transmitTimeout finds cards that hung.
func transmitTimeout() Rule {
	return Rule{
		ID: "transmit-timeout", Title: "A network card hung and was reset", Needs: []string{"messages"}, Severity: Critical,
		Because: "While a card is reset nothing is sent or received; driver, firmware, power saving of the slot or " +
			"the hardware is at fault.",
		Check: func(in Input) []Finding {
			for _, words := range [][]string{{"netdev watchdog"}, {"detected tx unit hang"},
				{"detected hardware unit hang"}, {"reset adapter unexpectedly"}, {": watchdog timeout"},
				{"lost tx completions is above"}, {"keep alive watchdog timeout"}, {"tx timeout detected"},
				{"tx timeout on queue"}, {"tx_timeout recovery level"}, {"_cond == 0 (loop"},
				{"firmware crashed!"}, {"microcode sw error detected"}, {"appears to be hung!"},
				{": watchdog: head "}, {"lost tx completion is above"}, // ena, ena, mlx5, virtio_net, i40e, r8169, ixl
				{": trigger reset is on"}, {"ena admin queue is not in running state"}} { // ena of FreeBSD
				if lines, n := logged(in.Facts, words...); n > 0 {
					card := "card"
					if m := hungCard.FindStringSubmatch(lines[0].Text); m != nil {
						card = m[1] + m[2] + m[3] + m[4]
					}
					return do(hungRemedy(card),
						one(card, lines, "the kernel reported a card that hung in %s", counted(n, "line")))
				}
			}
			if lines, n := matching(in.Facts, retoldWatchdog); n > 0 {
				return do(hungRemedy("card"),
					one(retoldWatchdog.FindStringSubmatch(lines[0].Text)[1], lines, "the kernel reported a card that hung in %s",
						counted(n, "line")))
			}
			return nil
		},
		Fires: linuxExample("dmesg", "[ 9.1] NETDEV WATCHDOG: eth0 (e1000e): transmit queue 0 timed out\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] e1000e 0000:00:19.0 eth0: NIC Link is Up 1000 Mbps Full Duplex\n"),
	}
}

// hungRemedy is what to do about a card that hangs; the slot of a virtual machine's is nobody's to set.
func hungRemedy(card string) string {
	if virtualCard.MatchString(card) {
		return "update its driver; where it stays so, move the virtual machine to another host (in a cloud: stop and start it)"
	}
	return "update the driver and the card's firmware; switch off ASPM for the slot"
}

var virtualCard = regexp.MustCompile(`^(?:ena|vtnet|vmx|hn|xn|vio|virtio_net|vmxnet3|gve)\d*$`)

// hungCard is the interface in such a line: behind the slot of the card, or behind the name of the watchdog.
var hungCard = regexp.MustCompile(`[0-9a-f]{2}\.[0-9a-f] ([a-z_][\w.-]*)(?: \([^)]*\))?: |` +
	`NETDEV WATCHDOG: ([a-z][\w.-]*) |^(?:\[[^\]]*\] )?[\w-]+ \S+ ([a-z][\w.-]*): NETDEV WATCHDOG|` +
	`(?:^|[ >])([a-z]{2,}\d+): (?:.*: )?(?:[Ww]atchdog|WARNING: queue|The number of lost|Trigger reset|ENA admin queue)`)

// retoldWatchdog is the message of the BSDs' drivers without its colon, as people type it from a screen.
var retoldWatchdog = regexp.MustCompile(`^\W*([a-z]{2,}\d+) [Ww]atchdog timeout\W*$`)
