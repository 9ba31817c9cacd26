package lint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
)

var uciSource = []string{"OpenWrt, SQM configuration /etc/config/sqm: upload and download in kbit/s, 0 switches one off"}

// uci remembers options of OpenWrt's configuration.
func (k *checker) uci(e conffile.Entry) {
	name, is := strings.CutPrefix(e.Name, "uci:")
	if !is || e.Has(conffile.Expands) || len(k.options) >= cacheLimit {
		return
	}
	if f := misplacedUCI(name, e); f != nil {
		k.report(e, *f)
		return
	}
	k.options[uciOption{name, e.Iface}] = k.here(e)
	if name == "firewall/flow_offloading_hw" && slices.Contains(uciTrue, e.Value) {
		k.offloads = k.options[uciOption{name, e.Iface}]
	}
}

// uciHomes are the package and the type of section in which alone an option is read.
var uciHomes = map[string][2]string{"packet_steering": {"network", "globals"}, "flow_offloading": {"firewall", "defaults"},
	"flow_offloading_hw": {"firewall", "defaults"}, "synflood_protect": {"firewall", "defaults"}, "ula_prefix": {"network", "globals"}}

// misplacedUCI finds an option in a package or section where nothing reads it.
func misplacedUCI(name string, e conffile.Entry) *finding {
	pkg, option, _ := strings.Cut(name, "/")
	home, ok := uciHomes[option]
	section, numbered := strings.CutPrefix(e.Iface, "@")
	section, _, _ = strings.Cut(section, "[")
	known := pkg == "network" || pkg == "firewall" || pkg == "sqm" // a file may be called anything
	if !ok || !known || pkg == home[0] && (!numbered || section == home[1]) {
		return nil
	}
	return &finding{code: "no-effect", severity: Warning,
		sources: []string{"OpenWrt, /etc/config/network: globals; /etc/config/firewall: defaults"},
		message: fmt.Sprintf("nothing reads %s here: it is an option of %s in /etc/config/%s", option, home[1], home[0]),
		because: fmt.Sprintf("Write uci set %s.@%s[0].%s=%s.", home[0], home[1], option, e.Value)}
}

// uciTrue are the values of a switch that is on.
var uciTrue = []string{"1", "on", "true", "yes", "enabled"}

// uciOption is an option with its section.
type uciOption struct{ name, section string }

// sqmRate is the number of an option in kbit/s, 0 where it is none.
func (k *checker) sqmRate(name, section string) (a *assignment, kbit int) {
	if a = k.options[uciOption{name, section}]; a == nil {
		return nil, 0
	}
	kbit, _ = strconv.Atoi(a.entry.Value)
	return a, kbit
}

// judgeSQM judges the queues of OpenWrt's SQM.
func (k *checker) judgeSQM() {
	sections := map[string]bool{}
	for of := range k.options {
		sections[of.section] = true
	}
	k.judgeOffload()
	for _, section := range slices.Sorted(maps.Keys(sections)) {
		down, d := k.sqmRate("sqm/download", section)
		up, u := k.sqmRate("sqm/upload", section)
		slow := d > 0 && d < 1000
		if slow {
			k.inMegabits(down, d)
		}
		if u > 0 && (u < 64 || slow && u < 1000) {
			k.inMegabits(up, u)
		}
		enabled := k.options[uciOption{"sqm/enabled", section}]
		if enabled != nil && slices.Contains(uciTrue, enabled.entry.Value) && down != nil && down.entry.Value == "0" && up != nil && up.entry.Value == "0" {
			k.reportIn(enabled.file, enabled.entry, finding{code: "no-effect", severity: Warning, sources: uciSource,
				message: "SQM is enabled for " + section + " with download = 0 and upload = 0, which shapes nothing",
				because: "0 leaves a direction as it is; write some 90% of the rates that were measured, in kbit/s."})
		}
		if k.offloads != nil && enabled != nil && slices.Contains(uciTrue, enabled.entry.Value) {
			k.reportIn(k.offloads.file, k.offloads.entry, finding{code: "conflict", severity: Warning,
				sources: []string{"torvalds/linux v6.12 Documentation/networking/nf_flowtable.rst, hardware offload"},
				message: "flow_offloading_hw makes forwarded flows bypass SQM, which is enabled for " + section,
				because: "The hardware forwards these packets without the CPU, so no queue shapes them. Switch one of the two off."})
			return
		}
	}
}

// judgeOffload finds hardware offload without flow_offloading, which alone makes the flow table. What a script does not
// set may stand in the file.
func (k *checker) judgeOffload() {
	if k.offloads == nil {
		return
	}
	f := finding{code: "needs", severity: Warning, sources: []string{"openwrt/firewall4 root/usr/share/ucode/fw4.uc, resolve_offload_devices"},
		message: "flow_offloading_hw does nothing without flow_offloading = 1",
		because: "It only marks the flow table that flow_offloading makes; set both."}
	for of, a := range k.options {
		if of.name != "firewall/flow_offloading" {
			continue
		}
		if slices.Contains(uciTrue, a.entry.Value) {
			return
		}
		k.reportIn(k.offloads.file, k.offloads.entry, f)
		return
	}
	if k.offloads.kind == conffile.Script {
		f.severity, f.message = Info, f.message+", which this script does not set"
	}
	k.reportIn(k.offloads.file, k.offloads.entry, f)
}

// inMegabits reports a rate that was meant in Mbit/s.
func (k *checker) inMegabits(a *assignment, kbit int) {
	k.reportIn(a.file, a.entry, finding{code: "wrong-unit", severity: Warning, value: true, sources: uciSource,
		message: fmt.Sprintf("%s = %d means %d kbit/s; for %d Mbit/s write %d000", a.entry.Key, kbit, kbit, kbit, kbit),
		because: "SQM limits the link to this rate, in kbit/s."})
}
