package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// transmitTimeout finds cards that hung.
func transmitTimeout() Rule {
	return Rule{
		ID: "transmit-timeout", Title: "A network card hung and was reset", Needs: []string{"messages"}, Severity: Critical,
		Because: "While a card is reset, nothing is sent or received; driver, firmware, ASPM or the hardware is at fault.",
		Check: func(in Input) []Finding {
			if lines, n := logLines(in.Facts, saysHung); n > 0 {
				return ofRealtek(in.Facts, hungCards(in.Facts, lines, n))
			}
			if lines, n := matching(in.Facts, retoldWatchdog); n > 0 {
				return do(hungAction(lines[0].Text), ofKind(one(firstGroup(retoldWatchdog, lines[0].Text), lines,
					"the kernel reported a hung card (%s)", counted(n, "line"))))
			}
			if found := resetCards(in.Facts); found != nil {
				return found
			}
			if found := lateCompletions(in); found != nil {
				return found
			}
			return crashedFirmware(in)
		},
		Fires: linuxExample("dmesg", "[ 9.1] NETDEV WATCHDOG: eth0 (e1000e): transmit queue 0 timed out\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] e1000e 0000:00:19.0 eth0: NIC Link is Up 1000 Mbps Full Duplex\n"),
	}
}

// hungWords are what drivers and the kernel say of a card that hung, in lower case.
func hungWords() []string {
	return []string{"netdev watchdog", "detected tx unit hang", ": detected tx h", "detected hardware unit hang",
		"reset adapter unexpectedly", ": watchdog timeout", ": transmit timed out", ": transmit timeout", "tx timeout detected", "tx timeout on queue", // e1000e, BSDs, mlx5, virtio_net
		"lost tx completions is above", "lost tx completion is above", "keep alive watchdog timeout", // ena
		" desc avail = ", ": trigger reset is on", "ena admin queue is not in running state", // iflib, ena of FreeBSD
		"driver issue detected, pf reset", "appears to be hung!", ": watchdog: head ", // i40e, ixl, virtio_net
		"mc assert!", "storm stats were not updated for", "- start ftq dump -", // bnx2x and bxe, bnx2
		"firmware reports adapter error", "encountered fatal error, adapter stopped", ": host status block [", // cxgb4, tg3's dump of its state
		"error detected in the adapter", "will cause a leak of a command resource", // be2net, mlx5
		"the mfw failed to respond to command", "hmc error", "pf reset failed", "pf_reset failed", // qed, i40e and ice
		"firmware not responding, status", "firmware error detected fwsm", "detected firmware fatal condition", // bnxt, ixgbe
		"tx stalled? resetting chipset", "tx timeout. lost interrupt?", "fatal interrupt. reset", "fatal interrupt 0x", // drivers of other makers for macOS, alx
		"malicious driver detection event",                                                                          // i40e, ice, ixl
		"_cond == 0 (loop", "rtl_chipcmd_cond == 1 (loop", "rtl_phyar_cond == 1 (loop", "rtl_eriar_cond == 1 (loop"} // r8169
}

func saysHung(line string) bool {
	return holdsAny(strings.ToLower(line), hungWords()...) || hungQueue.MatchString(line)
}

// hungQueue is what drivers say of a queue that hung, behind the device and its interface: i40e, ice, ixgbe, idpf, sfc, qlcnic, be2net,
// vmxnet3, ionic, hns3, myri10ge, sky2, xgbe, r8152; and bnxt of its firmware. The stamps of time that hang are of PTP.
var hungQueue = regexp.MustCompile(`(?i)(?:[0-9a-f]{2}\.[0-9a-f]|\d+-[\d.]+:\d+\.\d+|\b[0-9a-f]{6,10}\.[\w-]+) [a-z_][\w.-]*: ` +
	`(?:slice \d+: |detected |initiating reset due to )?tx[ _](?:timeout|hang|stuck)(?:$|[^:\w]|: \D)|` +
	`\bbnxt_en \S+ (?:\S+: )?Error \(timeout: \d+\) msg \{`)

// hungCards names the cards of the lines.
func hungCards(f *facts.Facts, lines []facts.Source, n int) []Finding {
	card := "card"
	if name := firstGroup(hungCard, lines[0].Text); name != "" {
		card = name
	} else if m := hungSlot.FindStringSubmatch(lines[0].Text); m != nil {
		card = m[1]
	}
	names := []string{card}
	for _, line := range f.Lines("dmesg") {
		if name := firstGroup(hungCard, line); name != "" && saysHung(line) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	found := one(shortList(names, 4), lines, "the kernel reported a hung card (%s)", counted(n, "line"))
	action := hungAction(lines[0].Text)
	if intelGigabit.MatchString(lines[0].Text) && offloadsTried(f) {
		action = "update the driver and the card's firmware, disable " + sleepingSlot + ", or use another card; according to the text, " +
			"disabling offloads did not help"
	}
	return do(action, ofKind(found))
}

// offloadsTried reports whether a post says that offloads were switched off, and that this did not help.
func offloadsTried(f *facts.Facts) bool {
	const longest = 2048
	for line := range strings.Lines(f.Rest) {
		if len(line) > longest {
			continue
		}
		if at := offloadsGone.FindStringIndex(line); at != nil && withoutEffect.MatchString(line[at[1]:]) {
			return true
		}
	}
	return false
}

var (
	offloadsGone = regexp.MustCompile(`(?i)\b(?:disabl\w+|(?:turn|switch)(?:ed|ing)? off|without)\b[^.]{0,60}\b(?:offload\w*|` +
		`[tg]so|gro)\b|\b(?:[tg]so|gro) off\b`)
	withoutEffect = regexp.MustCompile(`(?i)\b(?:did|does|do)(?: not|n['’]t) (?:\w+ )?(?:help|resolve|solve|fix|prevent|stop|` +
		`change|work|make a difference)|` +
		`\bno (?:effect|change|difference|luck|improvement|success)\b|\bto no avail\b|\bwithout (?:success|effect)\b`)
)

// ofRealtek names the vendor's driver for the chips that FreeBSD's own often resets (net/realtek-re-kmod of its ports;
// watchdog timeouts end with it: opnsense/core issue 6301).
func ofRealtek(f *facts.Facts, found []Finding) []Finding {
	if f.System == system.FreeBSD && realtekHung.MatchString(found[0].Evidence[0].Text) {
		if f.Distribution == "OPNsense" {
			found[0].Fix = []Fix{{Action: "install the vendor's driver, the plugin os-realtek-re (System > " +
				"Firmware > Plugins), and reboot; if it is already installed, use another card"}}
			return found
		}
		found[0].Fix = []Fix{{Action: "install the vendor's driver: pkg install realtek-re-kmod (in OPNsense the plugin " +
			"os-realtek-re), put these two lines into /boot/loader.conf and reboot; if it is already loaded (kldstat), try the " +
			"other version, realtek-re-kmod198"},
			{File: "/boot/loader.conf", Line: `if_re_load="YES"`},
			{File: "/boot/loader.conf", Line: `if_re_name="/boot/modules/if_re.ko"`}}
	}
	return found
}

var realtekHung = regexp.MustCompile(`(?:^|[ >])re\d+: .*[Ww]atchdog`)

// resetCards finds what igb and ixgbe say when they reset a card, in a log that does not show its link going down: with
// packets left to send they reset it then as well.
func resetCards(f *facts.Facts) []Finding {
	lines, n := matching(f, resetCard)
	if n == 0 {
		return nil
	}
	card := firstGroup(resetCard, lines[0].Text)
	if down, _ := logged(f, strings.ToLower(card), "nic link is down"); len(down) > 0 {
		return nil
	}
	return with(Warning, do(hungAction(lines[0].Text), one(card, lines, "its driver reset the card (%s)", counted(n, "line"))))
}

var resetCard = regexp.MustCompile(`[0-9a-f]{2}\.[0-7] ([a-z][\w.-]*): Reset adapter$`)

// lateCompletions finds what ena of Linux says of packets that the card did not complete in time.
func lateCompletions(in Input) []Finding {
	const several = 3
	lines, n := logged(in.Facts, "found a tx that wasn't completed on time")
	if n < several {
		return nil
	}
	return with(Warning, do(hungAction(lines[0].Text), ofKind(one(cmp.Or(firstGroup(hungCard, lines[0].Text), "card"), lines,
		"the card did not complete packets in time (%s)", counted(n, "line")))))
}

// ofKind explains a card that is no hardware of the host, or sits in no slot of PCI Express.
func ofKind(found []Finding) []Finding {
	switch line := found[0].Evidence[0].Text; {
	case ofVirtualMachine.MatchString(line):
		found[0].Because = "The hypervisor's card, or the CPU that serves its queue, did not complete packets for seconds; " +
			"while the driver resets the card, nothing is sent or received."
	case imitatedHung.MatchString(line):
		found[0].Because = "While a card is reset, nothing is sent or received. Hypervisors emulate this card: its emulation, a " +
			"CPU that is not scheduled, the driver or, if it is a real one, the hardware is at fault."
	case onUSB.MatchString(line) || notOnSlot.MatchString(line):
		found[0].Because = "While a card is reset, nothing is sent or received; driver, firmware, power supply or the hardware " +
			"is at fault."
	}
	return found
}

// crashedFirmware finds wireless cards whose firmware stopped.
func crashedFirmware(in Input) []Finding {
	lines, n := matching(in.Facts, firmwareCrash)
	if n == 0 {
		return nil
	}
	m := firmwareCrash.FindStringSubmatch(lines[0].Text)
	what, severity := "crashed and was restarted", Critical
	if busUnanswered.MatchString(m[0]) {
		what, severity = "did not respond to its driver", Warning
	}
	if dumped.MatchString(m[0]) { // of which the driver does not say that it starts it again
		what = "crashed"
	}
	quiet := "iw dev NAME set power_save off"
	switch in.Facts.System {
	case system.FreeBSD:
		quiet = "ifconfig wlan0 -powersave"
	case system.OpenBSD:
		quiet = "ifconfig " + m[1] + " -powersave; fw_update fetches the newest firmware"
	}
	found := do("install another version of the driver and its firmware (newer, or the one before the last "+
		"update), and test with power saving disabled: "+quiet,
		with(severity, one(cmp.Or(m[1], m[2], "Wi-Fi"), lines, "the card's firmware %s (%s)", what, counted(n, "line"))))
	found[0].Because = "The radio is down while its firmware restarts, and stations have to reassociate; firmware, driver, " +
		"power saving or the hardware is at fault, not a network setting."
	return found
}

// firmwareCrash is what drivers of wireless cards say of it: iwlwifi (pcie/rx.c; its forerunners' names), ath10k (core.c), ath11k and ath12k
// (mhi.c), brcmfmac (core.c, sdio.c, bcmsdh.c), mt76 (mt7915/mcu.c, mt7921/mcu.c), which resets the card after it, mwlwifi, iwn, iwm and iwx of the BSDs (if_iwx.c), mac80211 for all (util.c), and the kernel of the
// processor in a system on a chip that runs it (remoteproc_core.c).
var firmwareCrash = regexp.MustCompile(`\b((?:iwlwifi|iwlagn|iwl[34]\d+|iw[mnx]\d+|ath1[012]k_\w+|brcmfmac|mt7\w+)(?: [0-9a-f:.]+\.\d|` +
	` [0-9a-f]+\.wifi)?): .*` +
	`(?i:microcode sw error detected|hardware error detected|firmware crashed|firmware has halted or crashed|` +
	`mailbox indicates firmware halted|fatal firmware error|start error log dump|` +
	`bcdc_msg failed w/status -\d+|cmd53 .*failed -\d+|sdio error, abort command|` +
	`message [0-9a-f]{8} \((?:cid \w+ ext_cid: \w+ )?seq \d+\) timeout)|MCU message [0-9a-f]{1,8} \(seq \d{1,3}\) timed out|` +
	`^\W*(?:\[ *[\d.]+\] )?(MCU) message [0-9a-f]{1,8} \(seq \d{1,3}\) timed out|^\W*Microcode SW error detected\. ? ?Restarting|` +
	`\b(ieee80211 phy\d+): (?:Hardware restart was requested|cmd 0x[0-9a-f]+=\w+ timed out)|` +
	`\bremoteproc \w+: (?:crash detected in|recovering) \S*(?:wcss|wpss|wlan)`)

// busUnanswered ends what they say of a card that does not answer, crashed or not.
var busUnanswered = regexp.MustCompile(`\) timeout$|timed out$|failed (?:w/status )?-\d+$|sdio error, abort command$`)

var dumped = regexp.MustCompile(`(?i)^iw[mnx]\d+: .*(?:fatal firmware error|error log dump)`)

// hungAction is what is done about a card that a line names.
func hungAction(line string) string {
	switch {
	case onUSB.MatchString(line):
		return "use another USB port without a hub, and a sufficient power supply; disable USB autosuspend " +
			"(usbcore.autosuspend=-1 on the kernel command line); update its driver and firmware"
	case intelGigabit.MatchString(line):
		return "update the driver and the card's firmware; until then, disable segmentation offload (ethtool -K " +
			"NAME tso off gso off), and " + sleepingSlot
	case ofVirtualMachine.MatchString(line):
		return "update the system or the driver; check the same log for stuck CPUs and memory shortage; if it " +
			"persists, move the virtual machine to another host (in a cloud: stop and start it)"
	case imitatedHung.MatchString(line):
		return "in a virtual machine, use a virtio card (VMware: vmxnet3) instead of this emulated one; otherwise " +
			"update the driver or use another card"
	case notOnSlot.MatchString(line):
		return "update the kernel, which contains the driver; check the load when it happens, and the power supply"
	}
	action := "update the driver and the card's firmware; disable " + sleepingSlot
	if slot := wholeSlot.FindString(line); slot != "" {
		action += "; for this card alone: echo 0 > /sys/bus/pci/devices/" + slot + "/link/l1_aspm"
	}
	return action
}

// sleepingSlot is the power saving of a card's slot, with the way to switch it off.
const sleepingSlot = "the slot's power saving, ASPM (in the BIOS; on Linux pcie_aspm=off on the kernel command " +
	"line)"

// wholeSlot is a slot as Linux's drivers name it.
var wholeSlot = regexp.MustCompile(`\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b`)

// The kinds of cards whose remedies differ: on USB, Intel's gigabit family, imitated ones, and those of a system on a chip.
var (
	onUSB = regexp.MustCompile(`\((?:r8152|ax88179_178a|asix|aqc111|cdc_\w+|` +
		`smsc\w+|lan78xx|dm9601|rtl8150|sr9\d00)\)|\d+-[\d.]+:\d+\.\d+ `)
	ofVirtualMachine = regexp.MustCompile(`\b(?:ena|vtnet|vmx|hn|xn|vio|gve)\d+: |\((?:ena|virtio_net|vmxnet3|gve|` +
		`hv_netvsc)\)|\bena [0-9a-f]{4}:|\bvirtio_net virtio|` +
		`lost tx completions? is above`)
	intelGigabit = regexp.MustCompile(`\be1000e\b.*(?:Unit Hang|Reset adapter unexpectedly)`)
	imitatedHung = regexp.MustCompile(`\((?:e1000|8139cp|8139too|pcnet32|ne2k_pci)\): transmit queue`)
	notOnSlot    = regexp.MustCompile(`\((?:\S*dwmac\S*|\S*emac|ft(?:g)?mac100|bcmgenet|macb|st_gmac|stmmac\S*|` +
		`fec|ethoc|mvneta|mvpp2|mtk_soc_eth|ag71xx|cpsw|gianfar)\)|\b\w+ [0-9a-f]{6,10}\.\w+ [a-z]`)
)

// hungCard is the interface in such a line: behind the slot of the card, or behind the name of the watchdog.
var hungCard = regexp.MustCompile(`\b(?:virtio\d+|mlx4_en:|\d+-[\d.]+:\d+\.\d+) ([a-z_][\w.-]*): T[Xx] |\b([a-z][\w.-]*): transmit time(?:d |)out|` +
	`[0-9a-f]{2}\.[0-9a-f]:? ([a-z_][\w.-]*)(?: \([^)]*\))?: |` +
	`NETDEV WATCHDOG: ([a-z][\w.-]*):? |(?:^|[ >\]])[\w-]+ \S+ ([a-z][\w.-]*): NETDEV WATCHDOG|` +
	`(?:^|[ >])([a-z]{2,}\d+): (?:.*: )?(?:[Ww]atchdog|WARNING: queue|The number of lost|Trigger reset|` +
	`ENA admin queue)|` +
	`(?:^|[ >])([a-z]{2,}\w*\d\w*): [Dd]etected [Tt]x|\be1000e ([a-z]\w*):? Reset adapter unexpectedly|` +
	`\[(?:bnx2x|qed)\w+:\d+\(([a-z0-9][\w.:-]*)\)\]|\[([A-Z]\w+)\]: (?:Tx (?:stalled|timeout)|Fatal interrupt)`)

// hungSlot is the card by its driver and slot, where a driver does not name its interface: "igb 0000:02:00.1: ".
var hungSlot = regexp.MustCompile(`\b([a-z]\w+ (?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]): `)

// retoldWatchdog is the message of the BSDs' drivers without its colon, as people type it from a screen.
var retoldWatchdog = regexp.MustCompile(`^\W*([a-z]{2,}\d+) [Ww]atchdog timeout\W*$`)
