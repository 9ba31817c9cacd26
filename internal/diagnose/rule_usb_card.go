package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

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
				return nil
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
// to the registers in ax88179_178a.c, asix_common.c, smsc75xx.c, smsc95xx.c, lan78xx.c, and Realtek's own r8152.
var usbFailure = regexp.MustCompile(`\d+-[\d.]+:\d+\.\d+ ([a-z_][\w.-]*)(?: \([^)]*\))?: (?:[TR][xX] status |` +
	`Failed to (?:read|write) (?:reg(?:ister)? )?(?:index )?0x[0-9a-f]+[:,] (?:ret = )?)-(?:71|75|84|110)\b|` +
	`\b(r8152 \d+-[\d.]+:\d+\.\d+): (?:read|write) type=0x[0-9a-f]+, index=0x[0-9a-f]+ fail -(?:71|75|84|110)\b`)
