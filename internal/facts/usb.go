package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// USBDevice is a device with its driver and the rate of its bus.
type USBDevice struct {
	Driver string     `json:"driver"`
	Rate   units.Rate `json:"rate_bps"`
	Source Source     `json:"source"`
}

// usbLine is a device in lsusb's tree (usbutils lsusb-t.c).
var usbLine = regexp.MustCompile(`^[ |_/:-]*(?:Bus \d+\.)?Port \d+: Dev \d+,.* Driver=([\w./-]+), (\d+)M\b`)

// readUSB reads lsusb -t.
func (f *Facts) readUSB(t text) error {
	for i, line := range t.lines() {
		m := usbLine.FindStringSubmatch(strings.TrimRight(line, " \r"))
		if m != nil && len(f.USBDevices) < rowLimit {
			f.USBDevices = append(f.USBDevices, USBDevice{Driver: m[1], Rate: units.Rate(amount(m[2])) * units.Mbit,
				Source: f.Line(t.from, i+1)})
		}
	}
	return nothingUnless(len(f.USBDevices) > 0)
}
