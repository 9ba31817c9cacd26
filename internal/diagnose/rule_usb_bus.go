package diagnose

import (
	"cmp"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// usbBus finds network cards of a gigabit and more on a bus of USB 2.
func usbBus() Rule {
	return Rule{
		ID: "usb-bus-slow", Title: "A network card's USB connection is slower than its link", Systems: []string{"linux", "freebsd"},
		Needs: []string{"usb"}, Severity: Warning,
		Because: "USB 2 carries 480 Mbit/s minus protocol overhead, about 300 Mbit/s of TCP: the chips of this " +
			"driver are made for USB 3.",
		Confirm: "The card's link runs at 1 Gbit/s or more (ethtool, ifconfig), and a test does not exceed 350 " +
			"Mbit/s.",
		Check: func(in Input) []Finding {
			for _, d := range in.Facts.USBDevices {
				if (slices.Contains([]string{"r8152", "ax88179_178a", "aqc111"}, d.Driver) || gigabitUSB.MatchString(d.Name)) &&
					d.Rate > 0 && d.Rate < units.Gbit {
					return do("plug it into a USB 3 port (blue, or marked SS), without a USB 2 hub or extension",
						one(cmp.Or(d.Driver, d.Name), []facts.Source{d.Source}, "connected at %s", d.Rate))
				}
			}
			return nil
		},
		Fires: linuxExample("lsusb -t", usbTree("480M")),
		Quiet: linuxExample("lsusb -t", usbTree("5000M")),
	}
}

// gigabitUSB are the names of network cards that were made for USB 3, as usb.ids lists them.
var gigabitUSB = regexp.MustCompile(`\bRTL815[3-7]\b|\bAX88179|\bAQC111|\bLAN7800\b|(?i:(?:2\.5|5)G Ethernet)|` +
	`\bUSB 10/?100/?1(?:000|G)\b`)

func usbTree(rate string) string {
	return "/:  Bus 01.Port 1: Dev 1, Class=root_hub, Driver=xhci_hcd/1p, " + rate + "\n" +
		"    |__ Port 3: Dev 5, If 0, Class=Vendor Specific Class, Driver=r8152, " + rate + "\n"
}
