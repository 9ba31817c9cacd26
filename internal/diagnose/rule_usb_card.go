package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// usbErrors finds network cards on USB whose transfers fail.
func usbErrors() Rule {
	return Rule{
		ID: "usb-card-errors", Title: "A network card on USB loses transfers", Systems: onLinux(), Needs: []string{"messages"},
		Severity: Warning,
		Because: "The bus damages or refuses what is sent to the card (-71 and -84 are errors of its protocol, -75 and " +
			"-110 of its length and time): the packets in it are lost, and the card may stop until it is reset.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, usbFailure)
			if n == 0 {
				return leftBus(in.Facts)
			}
			card := firstGroup(usbFailure, lines[0].Text)
			return do("use another port and cable, without a hub, and no USB 3 device beside it; if that does not help, a "+
				"newer firmware and driver of the card, or a card on PCI Express",
				one(card, lines, "the kernel reported failed transfers of %s in %s", card, counted(n, "line")))
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

// usbGone is what drivers say of a card that left the bus: usbnet.c, and Realtek's own drivers of wireless cards.
var usbGone = regexp.MustCompile(`\b(\w+) \d+-[\d.]+:\d+\.\d+ \S+: unregister '\w+' usb-|\b(RTW): rtw_ndev_uninit\((\w+)\)`)

// leftBus finds cards that left the bus: once is somebody who pulled them out.
func leftBus(f *facts.Facts) []Finding {
	lines, n := matching(f, usbGone)
	if n == 0 {
		return nil
	}
	card := firstGroup(usbGone, lines[0].Text)
	found := with(repeated(n, 3), one(card, lines, "the card of the driver %s left the bus, in %s", card, counted(n, "line")))
	found[0].Because = "Where nobody pulled it out, the card was reset or had too little power, or the contact is bad; it carries " +
		"nothing until it is set up again."
	return do("use another port without a hub, and a supply of enough current; keep the card's power saving off "+
		"(usbcore.autosuspend=-1 in the kernel command line)", found)
}
