package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// cardNotStarted finds network cards that their driver could not start.
func cardNotStarted() Rule {
	return Rule{
		ID: "card-not-started", Title: "A network card failed to initialise", Severity: Critical,
		Systems: onLinux(), Needs: []string{"messages"},
		Because: "The card has no interface until its driver attaches. Driver and firmware do not match, the card does not " +
			"respond, or memory is short: no network setting helps.",
		Confirm: "ip link does not show the interface; lspci -k shows the card without \"Kernel driver in use\".",
		Check:   func(in Input) []Finding { return notStarted(in.Facts) },
		Fires:   linuxExample("dmesg", "[    9.412231] igc: probe of 0000:05:00.0 failed with error -2\n"),
		Quiet:   linuxExample("dmesg", "[    9.412231] i2c_designware: probe of AMDI0010:00 failed with error -2\n"),
	}
}

// notStarted names the first card of those, and what the error says.
func notStarted(f *facts.Facts) []Finding {
	lines, n := matching(f, failedProbe)
	if n == 0 {
		return withoutFirmware(f)
	}
	m := failedProbe.FindStringSubmatch(lines[0].Text)
	driver, card, code := m[1]+m[5], m[2]+m[4], m[3]+m[6]
	found := one("card at "+card, lines, "its driver (%s) failed with error -%s%s", driver, code, errorMeans[code])
	return do(startAction(code), found)
}

// withoutFirmware finds cards whose driver attaches without their firmware and needs it when the interface comes up.
func withoutFirmware(f *facts.Facts) []Finding {
	lines, n := matching(f, noFirmware)
	if n == 0 {
		return nil
	}
	m := noFirmware.FindStringSubmatch(lines[0].Text)
	found := one("card of "+m[1], lines, "the firmware file %s is missing (%s)", m[2], counted(n, "line"))
	found[0].Confirm = "The file is not in /lib/firmware; the interface exists, and ip link set NAME up fails."
	return do("install the package that contains "+m[2]+" (Debian: firmware-"+m[1]+"; others: linux-firmware), also into the initramfs, and "+
		"reload the driver", found)
}

// noFirmware is what bnx2 and bnx2x say of it (bnx2.c, bnx2x_main.c); other drivers do without, or end their probe.
var noFirmware = regexp.MustCompile(`\b(bnx2x?): .*Can't load firmware file "?([\w./-]{1,80})`)

// failedProbe is what the kernel says of it (drivers/base/dd.c), before and since 6.11.
var failedProbe = regexp.MustCompile(`\b(` + cardDrivers + `): probe of (\S+) failed with error -(\d+)|` +
	` (\S+): probe with driver (` + cardDrivers + `) failed with error -(\d+)`)

// errorMeans are the errors (errno) that a driver gives up with most.
var errorMeans = map[string]string{
	"2": " (a file is missing, usually the firmware)", "5": " (I/O error)", "12": " (out of memory)",
	"22": " (invalid argument)", "110": " (timed out)",
}

// startAction is what is done about a card that gave an error.
func startAction(code string) string {
	switch code {
	case "2":
		return "install the card's firmware (package linux-firmware) and reload the driver; the preceding lines name the file"
	case "12":
		return "enable \"Above 4G Decoding\" in the BIOS, add memory, or configure fewer virtual functions on the card"
	}
	return "read the driver's preceding messages; use a newer kernel or driver and update the card's firmware; then try a " +
		"cold boot and another slot"
}
