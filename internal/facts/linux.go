package facts

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/units"
)

// nicLimit bounds the interfaces that are asked one by one: a container host
// has hundreds that are all alike.
const nicLimit = 24

// grepInterfaces prints the small files of every interface as PATH:CONTENT.
const grepInterfaces = `cd /sys/class/net && grep -s '' */speed */duplex */address ` +
	`*/device/numa_node */device/current_link_speed */device/current_link_width */device/max_link_speed ` +
	`*/device/max_link_width ` +
	`*/queues/rx-*/rps_cpus */queues/rx-*/rps_flow_cnt */bonding/xmit_hash_policy; ` +
	`ls -ld */device */device/driver 2>/dev/null; ` +
	`for q in */queues/*; do [ -e "$q" ] && echo "$q:"; done; true`

const grepTransmit = `cd /sys/class/net && grep -s '' */queues/tx-*/xps_cpus; true`

const grepAffinity = `cd /proc/irq && grep -s '' */smp_affinity_list; true`

// systemFiles are small files whose path is the setting's name.
const grepSystem = `grep -sH '' /sys/devices/system/clocksource/clocksource0/*_clocksource ` +
	`/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor /sys/devices/system/cpu/smt/active ` +
	`/sys/devices/system/cpu/cpuidle/current_driver /sys/devices/system/node/node*/cpulist ` +
	`/sys/module/intel_idle/parameters/max_cstate; true`

// someFlows bounds what a server of a million connections answers.
const someFlows = `ss -tinm state established | head -n 8192`

// askedNICs are the interfaces that ethtool is asked about: everything of those
// that carry packets themselves, and of the others what they are.
func (f *Facts) askedNICs() (whole, brief []string) {
	for i := range f.NICs {
		n := &f.NICs[i]
		switch {
		case n.Kind == "loopback" || !plainName(n.Name):
		case n.Kind == "ethernet" && n.Up && len(whole) < nicLimit:
			whole = append(whole, n.Name)
		case linkKinds[n.Kind] && !slices.Contains([]string{"bond", "team", "bridge"}, n.Kind): // ip says all
		case len(brief) < nicLimit:
			brief = append(brief, n.Name)
		}
	}
	return whole, brief
}

// plainName reports whether a name can stand in a shell script and is no
// option.
func plainName(name string) bool {
	return name != "" && name[0] != '-' && !strings.ContainsFunc(name, func(r rune) bool {
		return r > 127 || !wordByte(byte(r)) && !strings.ContainsRune("._@:-", r)
	})
}

// readSystemFiles keeps small files of /sys under their paths.
func (f *Facts) readSystemFiles(t text) error {
	found := false
	for i, line := range t.lines() {
		if path, value, ok := strings.Cut(line, ":"); ok && strings.HasPrefix(path, "/sys/") {
			found = true
			f.Settings[path] = Setting{Value: strings.TrimSpace(value), State: Read, Source: f.Line(t.from, i+1)}
		}
	}
	return nothingUnless(found)
}

// readModules reads /proc/modules: the name is the first word.
func (f *Facts) readModules(t text) error {
	for _, line := range t.lines() {
		if words := strings.Fields(line); len(words) >= 3 {
			f.Modules = append(f.Modules, words[0])
		}
	}
	return nothingUnless(len(f.Modules) > 0)
}

// dropTwin drops the interface of outputs that name none where all that it counts is that of a named one: a line that was
// quoted before the whole output.
func (f *Facts) dropTwin() {
	i := slices.IndexFunc(f.NICs, func(n NIC) bool { return n.Name == UnnamedLink })
	if i < 0 || len(f.NICs[i].Counters) == 0 {
		return
	}
	unnamed := f.NICs[i]
	twin := func(n NIC) bool {
		for name, c := range unnamed.Counters {
			if other, ok := n.Counters[name]; !ok || other.Value != c.Value {
				return false
			}
		}
		return n.Name != UnnamedLink
	}
	if slices.ContainsFunc(f.NICs, twin) {
		f.NICs = slices.Delete(f.NICs, i, i+1)
	}
}

// finish joins what several sources say together.
func (f *Facts) finish() {
	f.dropTwin()
	f.attribute()
	if f.Cores == 0 && f.wholeTable() {
		f.Cores = len(f.Processors)
	}
	if slices.Contains([]string{"x86_64", "amd64", "i386", "i686"}, f.Machine) && f.PageSize == 0 {
		f.PageSize = 4 * units.KiB // the only one that they have
	}
	for i := range f.NICs {
		// These tell a speed that is a constant of their driver.
		if n := &f.NICs[i]; n.Kind == "tun" || n.Kind == "veth" || n.Driver == "tun" || n.Driver == "veth" {
			n.Speed, n.Duplex = 0, ""
		}
	}
	// The same counters may have come by another way.
	for _, other := range []struct{ part, by string }{{"counters", "nstat"}, {"counters", "netstat"},
		{"protocols", "nstat"}, {"protocols", "netstat"},
		{"links", "ifconfig"}, {"links", "device table"}, {"links", "interface table"}, {"links", "addresses"},
		{"processors", "mpstat"}, {"processors", "top"}} {
		if p, ok := f.Parts[other.by]; f.System == "linux" && ok && p.State == Read && f.Parts[other.part].State != Read {
			f.Parts[other.part] = p
		}
	}
	for _, by := range []string{"disk load", "disk means", "disk transfers"} {
		if f.Parts["disks"].State != Read && f.Parts[by].State == Read {
			f.Parts["disks"] = f.Parts[by]
		}
	}
	if f.System == "openbsd" {
		f.joinPcidump()
	}
}
