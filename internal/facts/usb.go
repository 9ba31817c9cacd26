package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// USBDevice is a device with its driver and the rate of its bus.
type USBDevice struct {
	Driver string     `json:"driver"` // empty where only its name was shown
	Name   string     `json:"name,omitempty"`
	Rate   units.Rate `json:"rate_bps"`
	Source Source     `json:"source"`
}

// usbLine is a device in lsusb's tree (usbutils lsusb-t.c).
var usbLine = regexp.MustCompile(`^[ |_/:-]*(?:Bus \d+\.)?Port \d+: Dev \d+,.* Driver=([\w./-]+), (\d+)M\b`)

// usbName is a device, or the root of a bus, in lsusb's list, usbHub what a root says of its bus: "2.0 root hub".
var (
	usbName = regexp.MustCompile(`^Bus (\d{3}) Device (\d{3}): ID [0-9a-f]{4}:[0-9a-f]{4} ?(.*)$`)
	usbHub  = regexp.MustCompile(`\b([123]\.[01]) root hub`)
	usbRate = map[string]units.Rate{"1.1": 12 * units.Mbit, "2.0": 480 * units.Mbit, "3.0": 5 * units.Gbit, "3.1": 10 * units.Gbit}
)

// usbOfNAS is a device in the list of Synology's lsusb: its number, its class, its version of USB, its rate.
var usbOfNAS = regexp.MustCompile(`^[ |]*\|__[\d.-]+ +[0-9a-f]{4}(?::[0-9a-f]{4}){2} +[0-9a-f]{2} +\d\.\d+ +(\d{2,5})MBit/s .*?\(([^()]*)\)`)

// usbConfig is a device in usbconfig's list (usr.sbin/usbconfig/dump.c).
var usbConfig = regexp.MustCompile(`^ugen\d+\.\d+: <([^>]*)> at usbus\d+, .*\bspd=[A-Z]+ \(([0-9.]+)([MG])bps\)`)

// readUSBConfig reads usbconfig.
func (f *Facts) readUSBConfig(t text) error {
	for i, line := range t.lines() {
		m := usbConfig.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || len(f.USBDevices) >= rowLimit {
			continue
		}
		rate, err := units.ParseRate(m[2] + map[string]string{"M": "mbit", "G": "gbit"}[m[3]])
		if err != nil {
			continue
		}
		f.USBDevices = append(f.USBDevices, USBDevice{Name: m[1], Rate: rate, Source: f.Line(t.from, i+1)})
	}
	return nothingUnless(len(f.USBDevices) > 0)
}

// readUSB reads lsusb -t, and lsusb (of Synology too), in which the root of each bus tells how fast it is at most.
func (f *Facts) readUSB(t text) error {
	buses := map[string]units.Rate{}
	for _, line := range t.lines() {
		if m := usbName.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			if hub := usbHub.FindStringSubmatch(m[3]); hub != nil {
				buses[m[1]] = usbRate[hub[1]]
			}
		}
	}
	for i, line := range t.lines() {
		if m := usbName.FindStringSubmatch(strings.TrimSpace(line)); m != nil && len(f.USBDevices) < rowLimit {
			src := f.Line(t.from, i+1)
			if !strings.Contains(m[3], "root hub") {
				f.USBDevices = append(f.USBDevices, USBDevice{Name: m[3], Rate: buses[m[1]], Source: src})
			}
			continue
		}
		if m := usbOfNAS.FindStringSubmatch(line); m != nil && len(f.USBDevices) < rowLimit {
			f.USBDevices = append(f.USBDevices, USBDevice{Name: m[2], Rate: units.Rate(amount(m[1])) * units.Mbit,
				Source: f.Line(t.from, i+1)})
			continue
		}
		m := usbLine.FindStringSubmatch(strings.TrimRight(line, " \r"))
		if m != nil && len(f.USBDevices) < rowLimit {
			f.USBDevices = append(f.USBDevices, USBDevice{Driver: m[1], Rate: units.Rate(amount(m[2])) * units.Mbit,
				Source: f.Line(t.from, i+1)})
		}
	}
	return nothingUnless(len(f.USBDevices) > 0)
}
