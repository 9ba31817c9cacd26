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
				{": watchdog: head "}, {"lost tx completion is above"}} { // ena, ena, mlx5, virtio_net, i40e, r8169, ixl
				if lines, n := logged(in.Facts, words...); n > 0 {
					found := one(hungIn(lines[0].Text), lines, "the kernel reported a card that hung in %s", counted(n, "line"))
					if virtualCard.MatchString(lines[0].Text) {
						return virtuallyHung(found)
					}
					return do("update the driver and the card's firmware; switch off ASPM for the slot", found)
				}
			}
			const several = 3
			if lines, n := logged(in.Facts, "found a tx that wasn't completed on time"); n >= several {
				return with(Warning, virtuallyHung(one(hungIn(lines[0].Text), lines,
					"the card did not complete packets in time, in %s", counted(n, "line"))))
			}
			return nil
		},
		Fires: linuxExample("dmesg", "[ 9.1] NETDEV WATCHDOG: eth0 (e1000e): transmit queue 0 timed out\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] e1000e 0000:00:19.0 eth0: NIC Link is Up 1000 Mbps Full Duplex\n"),
	}
}

// virtuallyHung explains a card that is no hardware of the host.
func virtuallyHung(found []Finding) []Finding {
	found[0].Because = "The hypervisor's card, or the processor that serves its queue, did not complete packets for seconds; " +
		"while the driver resets the card nothing is sent or received."
	return do("update the kernel and with it the driver; look in the same log for stuck processors (soft lockup) and lack of "+
		"memory", found)
}

// hungIn is the card of which a line speaks.
func hungIn(line string) string {
	if m := hungCard.FindStringSubmatch(line); m != nil {
		return m[1] + m[2] + m[3] + m[4]
	}
	return "card"
}

// virtualCard tells the drivers of cards that are no hardware of the host.
var virtualCard = regexp.MustCompile(`\b(?:ena|virtio_net|vmxnet3|hv_netvsc|gve|xen_netfront|vif)\b|lost tx completion`)

// hungCard is the interface in such a line: behind the slot of the card, or behind the name of the watchdog.
var hungCard = regexp.MustCompile(`[0-9a-f]{2}\.[0-9a-f] ([a-z_][\w.-]*)(?: \([^)]*\))?: |` +
	`NETDEV WATCHDOG: ([a-z][\w.-]*) |^(?:\[[^\]]*\] )?[\w-]+ \S+ ([a-z][\w.-]*): NETDEV WATCHDOG|` +
	`(?:^|[ >])([a-z]{2,}\d+): (?:.*: )?(?:[Ww]atchdog|WARNING: queue|The number of lost)`)
