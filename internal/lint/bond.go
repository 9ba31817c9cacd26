package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

var bondSource = []string{"torvalds/linux v6.12 Documentation/networking/bonding.rst",
	"torvalds/linux v6.12 drivers/net/bonding/bond_main.c, bond_check_params",
	"torvalds/linux v6.12 drivers/net/bonding/bond_options.c, bond_opts, bond_option_mode_set"}

// bonded are the options of one bond, by the bonding driver's names for them.
type bonded struct {
	place
	options map[string]conffile.Entry
}

// bondOption returns the driver's name of an option of a bond, "" for what is none.
func bondOption(r *catalog.Record, e conffile.Entry) string {
	if r != nil {
		if option, ok := strings.CutPrefix(r.Name, "module:bonding/"); ok {
			return option
		}
	}
	for _, prefix := range []string{"module:bonding/", "interfaces:bond-", "interfaces:bond_", "link:bond-"} {
		if option, ok := strings.CutPrefix(e.Name, prefix); ok {
			return strings.ReplaceAll(option, "-", "_")
		}
	}
	if e.Name == "network-file:Bond/ARPIntervalSec" {
		return "arp_interval"
	}
	return ""
}

// bond remembers an option of a bond.
func (k *checker) bond(r *catalog.Record, e conffile.Entry) {
	option := bondOption(r, e)
	if option == "" || e.Has(conffile.Expands) || isTemplate(e.Value) {
		return
	}
	name := e.Iface
	if strings.HasPrefix(e.Name, "module:") {
		name = fmt.Sprint(e.Raw) // each line of options is of other bonds
	}
	at := slices.IndexFunc(k.bonds, func(b named[bonded]) bool { return b.name == name && b.of.place == place{k.file, e.Block} })
	if at < 0 {
		if len(k.bonds) >= cacheLimit/64 {
			return
		}
		at = len(k.bonds)
		k.bonds = append(k.bonds, named[bonded]{name, bonded{place{k.file, e.Block}, map[string]conffile.Entry{}}})
	}
	k.bonds[at].of.options[option] = e
}

// named is something with its name.
type named[T any] struct {
	name string
	of   T
}

// bondModes are the modes by their numbers.
var bondModes = []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}

// judgeBonds judges the options of each bond together.
func (k *checker) judgeBonds() {
	for _, b := range k.bonds {
		options := b.of.options
		mode, given := options["mode"]
		if len(mode.Value) == 1 && mode.Value[0] >= '0' && mode.Value[0] <= '6' {
			mode.Value = bondModes[mode.Value[0]-'0']
		}
		report := func(option, code, message, because string) {
			k.reportIn(b.of.file, options[option], finding{code: code, severity: Warning, value: true, sources: bondSource,
				message: message, because: because})
		}
		unwatched := strings.Trim(options["miimon"].Value, "0ms") == "" && options["miimon"].Value != ""
		forced := strings.HasPrefix(mode.Name, "module:") && slices.Contains(bondModes[4:], mode.Value) // by the driver
		if _, arp := options["arp_interval"]; unwatched && !arp && !forced {
			report("miimon", "harmful", options["miimon"].Key+" = "+options["miimon"].Value+" switches off link monitoring",
				"The bond keeps sending over a link without carrier. Set it to 100 milliseconds.")
		}
		if e := options["miimon"]; !strings.HasPrefix(e.Name, "network-file:") && len(e.Value) == 1 && e.Value[0] > '0' {
			report("miimon", "harmful", fmt.Sprintf("%s = %s checks the links every %s ms", e.Key, e.Value, e.Value),
				"The value is in milliseconds: the driver then checks every member hundreds of times a second without benefit. Set it to 100.")
		}
		if !given || !slices.Contains(bondModes, mode.Value) {
			continue
		}
		arp, asks := options["arp_interval"]
		asks = asks && strings.Trim(arp.Value, "0ms") != ""
		_, mii := options["miimon"]
		switch {
		case asks && slices.Contains(bondModes[4:], mode.Value):
			report("arp_interval", "no-effect", fmt.Sprintf("%s is refused in mode %s", arp.Key, mode.Value),
				"The driver monitors links by ARP only in the other modes. In this mode use miimon.")
		case asks && mii && !unwatched:
			report("arp_interval", "conflict", fmt.Sprintf("%s and %s cannot be combined", arp.Key, options["miimon"].Key),
				"A bond has only one link monitor: setting either option switches the other off, so the last one applies.")
		}
		if _, set := options["xmit_hash_policy"]; !set && mode.Value == "802.3ad" {
			k.judgeHash(b.of, mode)
		}
		if _, set := options["lacp_rate"]; set && mode.Value != "802.3ad" {
			report("lacp_rate", "no-effect", fmt.Sprintf("%s has no effect in mode %s", options["lacp_rate"].Key, mode.Value),
				"Only mode 802.3ad uses LACP; in other modes the driver ignores or refuses the option.")
		}
		if _, set := options["xmit_hash_policy"]; set &&
			slices.Contains([]string{"balance-rr", "active-backup", "broadcast", "balance-alb"}, mode.Value) {
			report("xmit_hash_policy", "no-effect", fmt.Sprintf("%s has no effect in mode %s",
				options["xmit_hash_policy"].Key, mode.Value),
				"The driver uses it only in balance-xor, 802.3ad and balance-tlb.")
		}
	}
}

// judgeHash reports a bond of LACP that tells connections apart by their MAC addresses alone.
func (k *checker) judgeHash(b bonded, mode conffile.Entry) {
	name, option := mode.Iface, "xmit_hash_policy"
	switch b.options["mode"].Name {
	case "link:bond-mode":
		option = "its transmit hash policy"
	case "network-file:Bond/Mode":
		option = "TransmitHashPolicy"
	case "interfaces:bond-mode", "interfaces:bond_mode":
		option = "bond-xmit-hash-policy"
	}
	if name == "" {
		name = "the bond"
	}
	k.reportIn(b.file, mode, finding{code: "needs", severity: Info, value: true, sources: bondSource,
		message: fmt.Sprintf("%s distributes outgoing packets by MAC address only: %s is not set", name, option),
		because: "The default policy, layer2, sends everything for one router over a single link. layer2+3 or layer3+4 uses all links."})
}
