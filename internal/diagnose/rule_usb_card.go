package diagnose

import (
	"slices"
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// usbErrors finds network cards on USB whose transfers fail.
func usbErrors() Rule {
	return Rule{
		ID: "usb-card-errors", Title: "A USB network card has failed transfers", Systems: onLinux(), Needs: []string{"messages"},
		Severity: Warning,
		Because: "USB transfers fail (-71 and -84: protocol errors, -75: overflow, -110: timeout): the packets in them are " +
			"lost, and the card may hang until it is reset.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, usbFailure)
			if n == 0 {
				return append(stalledOnBus(in.Facts), leftBus(in.Facts)...)
			}
			card := firstGroup(usbFailure, lines[0].Text)
			return do("use another port and cable, without a hub and away from other USB 3 devices; otherwise update the card's "+
				"firmware and driver, or use a PCI Express card",
				one(card, lines, "the kernel reported failed transfers of %s (%s)", card, counted(n, "line")))
		},
		Fires: linuxExample("dmesg", "[ 307.1] r8152 2-1:1.0 eth2: Tx status -71\n"),
		Quiet: linuxExample("dmesg", "[ 307.1] r8152 2-1:1.0 eth2: Tx status -108\n"),
	}
}

// usbFailure is a transfer that failed in a way that unplugging does not explain: r8152.c, ASIX's own driver, and access
// to the registers in ax88179_178a.c, asix_common.c, smsc75xx.c, smsc95xx.c, lan78xx.c, Realtek's own r8152, and its drivers of wireless cards.
var usbFailure = regexp.MustCompile(`\d+-[\d.]+:\d+\.\d+:? (eth\d+): Failed to (?:read|write) register index 0x[0-9a-f]{8}\s*$|` +
	`\d+-[\d.]+:\d+\.\d+ ([a-z_][\w.-]*)(?: \([^)]*\))?: (?:[TR][xX] status |` +
	`Failed to (?:read|write) (?:reg(?:ister)? )?(?:index )?0x[0-9a-f]+[:,] (?:ret = )?)-(?:71|75|84|110)\b|` +
	`\b(r8152 \d+-[\d.]+:\d+\.\d+): (?:read|write) type=0x[0-9a-f]+, index=0x[0-9a-f]+ fail -(?:71|75|84|110)\b|` +
	`\b(RTL\w+|RTW): .*\burb status\(-(?:71|75|84|110)\)`)

// usbStalled is what drivers/net/usb/usbnet.c, until it became a debug message, and lan78xx.c say while they still work on the same
// event: 0 and 1 are EVENT_TX_HALT and EVENT_RX_HALT of usbnet.h, a transfer that the card refused.
var usbStalled = regexp.MustCompile(`\b(\S+): kevent [01] may have been dropped`)

// stalledOnBus finds cards whose transfers stall faster than the driver restarts them.
func stalledOnBus(f *facts.Facts) []Finding {
	lines, n := matching(f, usbStalled)
	if n == 0 {
		return nil
	}
	card := firstGroup(usbStalled, lines[0].Text)
	found := with(repeated(n, 3), one(card, lines, "transfers of %s stall faster than its driver restarts them (%s)", card,
		counted(n, "line")))
	found[0].Because = "The card refuses USB transfers (a halted endpoint): the driver clears the halt, and until then nothing " +
		"is received or sent."
	found[0].Confirm = "The messages come when the transfer stops."
	return do("use another port and cable, without a hub, and a sufficient power supply; update the kernel and the card's firmware",
		found)
}

// usbGone is what drivers say of a card that left the bus: usbnet.c, and Realtek's own drivers of wireless cards.
var usbGone = regexp.MustCompile(`\b(\w+) \d+-[\d.]+:\d+\.\d+ \S+: unregister '\w+' usb-|\b(RTW): rtw_ndev_uninit\((\w+)\)`)

// leftBus finds cards that left the bus: once is somebody who pulled them out.
func leftBus(f *facts.Facts) []Finding {
	lines, n := matching(f, usbGone)
	if n == 0 {
		return resetOnBus(f)
	}
	card := firstGroup(usbGone, lines[0].Text)
	found := with(repeated(n, 3), one(card, lines, "the card with driver %s disconnected from the "+
		"bus (%s)", card, counted(n, "line")))
	found[0].Because = "Unless it was unplugged, the card was reset, had too little power, or has a bad contact; it " +
		"carries nothing until it is reinitialised."
	return do("use another USB port without a hub, and a sufficient power supply; disable USB autosuspend "+
		"(usbcore.autosuspend=-1 on the kernel command line)", found)
}

// usbReset is what the kernel says when it resets a device (drivers/usb/core/hub.c), usbNIC what drivers say of a card on the
// bus; the first groups are the port.
var (
	usbReset = regexp.MustCompile(`\busb (\d+-[\d.]+): reset [\w-]+(?: [\w-]+)? USB device number \d+`)
	usbNIC   = regexp.MustCompile(`\b(?:r815\d|ax\w+|asix|aqc111|cdc_(?:ncm|ether|mbim)|smsc\w+|lan78xx|rndis_host|qmi_wwan|mt7\w+|rtl8\w+|` +
		`rtw\w*|ath9k_htc) (\d+-[\d.]+):\d+\.\d+`)
)

// usbSetUp is a device that comes, or a driver that was loaded.
var usbSetUp = regexp.MustCompile(`\busb \d+-[\d.]+: new |\busbcore: registered new (?:interface|device) driver`)

// bootTime is the time since the start of the system, wherever it stands in a line.
var bootTime = regexp.MustCompile(`\[ *(\d{1,9})\.\d+\]`)

// resetOnBus finds cards that were reset while the host ran: at the start, and when one comes, drivers do so to set it up.
func resetOnBus(f *facts.Facts) []Finding {
	const settling = 2 // seconds in which a driver sets up a card that was plugged in, or for which it was loaded
	var ports []string
	var setUp []float64
	for _, line := range f.Lines("dmesg") {
		if line = line[:min(len(line), 1024)]; usbSetUp.MatchString(line) {
			s, err := strconv.ParseFloat(firstGroup(bootTime, line), 64)
			if err == nil {
				setUp = append(setUp, s)
			}
		}
	}
	slices.Sort(setUp)
	lines, n := logLines(f, func(line string) bool {
		line = line[:min(len(line), 1024)]
		m := usbReset.FindStringSubmatch(line)
		if m == nil {
			return false
		}
		if ports == nil {
			ports = append(namedIn(f, usbNIC), "")
		}
		at := bootTime.FindStringSubmatch(line)
		if at == nil || !slices.Contains(ports, m[1]) {
			return false
		}
		s, err := strconv.ParseFloat(at[1], 64)
		before, same := slices.BinarySearch(setUp, s)
		justSetUp := same || before > 0 && s < setUp[before-1]+settling
		return err == nil && s > afterStart && !justSetUp
	})
	if n == 0 {
		return nil
	}
	found := decisive(with(repeated(n, 3), one("usb "+firstGroup(usbReset, lines[0].Text), lines, "the USB network card was reset "+
		"while the host ran (%s)", counted(n, "time"))))
	found[0].Because = "The kernel resets a device that does not respond, because of too little power, a bad " +
		"contact or its firmware. The link is down meanwhile."
	return do("use another USB port without a hub, and a sufficient power supply; disable USB autosuspend "+
		"(usbcore.autosuspend=-1 on the kernel command line); update its driver and firmware", found)
}
