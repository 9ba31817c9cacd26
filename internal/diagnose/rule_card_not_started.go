package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// cardNotStarted finds network cards that their driver could not start.
func cardNotStarted() Rule {
	return Rule{
		ID: "card-not-started", Title: "A network card's driver could not start it", Severity: Critical,
		Systems: onLinux(), Needs: []string{"messages"},
		Because: "The card has no interface until its driver starts. The driver and the card's firmware do not fit " +
			"together, the card does not answer, or memory is missing: no setting of the network helps.",
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
		return nil
	}
	m := failedProbe.FindStringSubmatch(lines[0].Text)
	driver, card, code := m[1]+m[5], m[2]+m[4], m[3]+m[6]
	found := one("card at "+card, lines, "its driver (%s) gave up with error -%s%s", driver, code, errorMeans[code])
	return do(startAction(code), found)
}

// failedProbe is what the kernel says of it (drivers/base/dd.c), before and since 6.11.
var failedProbe = regexp.MustCompile(`\b(` + cardDrivers + `): probe of (\S+) failed with error -(\d+)|` +
	` (\S+): probe with driver (` + cardDrivers + `) failed with error -(\d+)`)

// errorMeans are the errors (errno) that a driver gives up with most.
var errorMeans = map[string]string{
	"2": " (a file is missing, mostly its firmware's)", "5": " (input or output failed)", "12": " (no memory)",
	"22": " (invalid argument)", "110": " (timed out)",
}

// startAction is what is done about a card that gave an error.
func startAction(code string) string {
	switch code {
	case "2":
		return "install the card's firmware (package linux-firmware) and load the driver anew; the lines before name " +
			"the file"
	case "12":
		return "give the bus a larger window (BIOS: above 4G decoding), the machine more memory, or the card fewer " +
			"virtual functions"
	}
	return "read what the driver says before it; use a newer kernel or driver and update the card's firmware; then a " +
		"cold start, and another slot"
}
