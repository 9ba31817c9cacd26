package diagnose

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/shell"
	"github.com/wirerate/wirerate/internal/system"
)

// Fix is one thing to do: a setting of the catalog with its value and where it is written, or an action.
type Fix struct {
	Setting   string `json:"setting,omitempty"`
	Interface string `json:"interface,omitempty"`
	// Value is what the setting shall be, empty where it depends on what is not known: Formula then says on what.
	Value   string `json:"value,omitempty"`
	Formula string `json:"formula,omitempty"`
	// ValueFor says for what path and role the value is, where nobody declared them.
	ValueFor string `json:"value_for,omitempty"`
	// Command sets it on the running system, Line in File for the next start.
	Command string `json:"command,omitempty"`
	File    string `json:"file,omitempty"`
	Line    string `json:"line,omitempty"`
	// Action says in words what no setting does.
	Action string `json:"action,omitempty"`
}

// Said is what a finding says of its subject, which a summary may begin with.
func (f Finding) Said() string {
	if f.Host != "" {
		at := f.Host
		f.Host = ""
		return "at " + at + ": " + f.Said()
	}
	if f.Subject == "" || strings.HasPrefix(f.Summary, f.Subject+" ") {
		return f.Summary
	}
	return f.Subject + ": " + f.Summary
}

// typed is the name of an interface in a command to type; the reader fills in one that was not shown.
func typed(name string) string {
	if name == facts.UnnamedLink {
		return "NAME"
	}
	return name
}

// linuxCard and bsdCard tell a network card by its name, where only a message named it.
var linuxCard = regexp.MustCompile(`^(?:eth|en[opsx]|em|p\d+p)\w*\d\w*$`)

// unknownValue stands in commands and lines for a value that is not known.
const unknownValue = "VALUE"

// remedies fills in what to type and to write for each setting of a finding.
func (f *Finding) remedies(in Input) {
	if in.Facts.Relative != "" { // the settings are another system's
		f.Fix = slices.DeleteFunc(f.Fix, func(x Fix) bool { return x.Setting != "" })
	}
	nic, _, _ := strings.Cut(f.Subject, " ")
	named := func(text string) string { return text }
	if nic != facts.UnnamedLink && (in.Facts.NIC(nic) != nil || linuxCard.MatchString(nic)) {
		named = func(text string) string { return strings.ReplaceAll(text, " NAME", " "+nic) }
	}
	native := nativeTools(in.Facts.System, in.Facts.Relative)
	f.Confirm = named(native.Replace(f.Confirm))
	for i := range f.Fix {
		f.Fix[i].Action = named(native.Replace(f.Fix[i].Action))
		if f.Fix[i].Setting != "" && f.Fix[i].Interface == "" && in.Facts.NIC(nic) != nil {
			f.Fix[i].Interface = nic
		}
		if f.Fix[i].Setting == "link:mtu" && f.Fix[i].Interface == "" && bsdCard.MatchString(nic) {
			f.Fix[i].Interface = nic // a message named it, and nothing else was shown of it
		}
		f.Fix[i].remedy(in.Catalog, in)
	}
}

// remedy fills in what a finding tells to set: the value that a plan proposes, or the formula of the catalog, the
// command and the line of a file.
func (f *Fix) remedy(c *catalog.Catalog, in Input) {
	if f.Setting == "" {
		return
	}
	if f.Value == "" {
		f.Value = cmp.Or(in.Proposed[f.Setting+"@"+f.Interface], in.Proposed[f.Setting])
		f.ValueFor = map[bool]string{true: in.ProposedFor}[f.Value != ""]
	}
	r, known := c.Lookup(in.Facts.System, f.Setting)
	if known && f.Value == "" && f.Formula == "" {
		if f.Formula = formulaFor(r, in.Role); constant.MatchString(f.Formula) {
			f.Value, f.Formula = strings.Trim(f.Formula, `"`), ""
		}
	}
	if f.Value == "" {
		f.Value, f.ValueFor = start(in.Facts, f.Setting, f.Interface)
	}
	if f.Value == "" && f.Setting == steering {
		f.Value, f.ValueFor = everyProcessor(cores(in.Facts))
	}
	value := cmp.Or(f.Value, unknownValue)
	if f.Setting == "link:mtu" && in.Facts.System != system.Linux && f.Command == "" {
		f.Command = shell.Join("ifconfig", cmp.Or(f.Interface, "INTERFACE"), "mtu", value)
	}
	if !known {
		return
	}
	on := in.Facts.System
	f.Command = setCommand(on, r, f.Setting, f.Interface, value)
	f.File, f.Line = fileLine(on, r, f.Setting, f.Interface, value)
	if f.File != "" {
		f.File, f.Line = keptByFirewall(in.Facts.Distribution, f, value)
	}
}

// bsdCard is the driver's name and a number.
var bsdCard = regexp.MustCompile(`^[a-z]{2,}\d+$`)

// steering are the processors to which packets of a receive queue are passed on in software.
const steering = "/sys/class/net/*/queues/rx-*/rps_cpus"

// cores is how many processors a host has, 0 where nothing shows it.
func cores(f *facts.Facts) int {
	n := max(f.Cores, len(f.Processors))
	if len(f.Interrupts) > 0 {
		n = max(n, len(f.Interrupts[0].PerCPU))
	}
	return n
}

// everyProcessor is the mask of all processors as sysfs takes it: groups of 32 bits with commas between them.
func everyProcessor(n int) (mask, from string) {
	const group, most = 32, 8192
	if n <= 0 || n > most {
		return "", ""
	}
	mask = strconv.FormatUint(1<<(n-(n-1)/group*group)-1, 16)
	return mask + strings.Repeat(",ffffffff", (n-1)/group), fmt.Sprintf("the mask of all %d CPUs", n)
}

// constant is a formula that depends on nothing.
var constant = regexp.MustCompile(`^(?:-?\d+|"[^"]*")$`)

// formulaFor is the catalog's first formula for the role; for one that is not declared the first of all. A constant for
// some amount of memory is left to the plan, which knows how much there is.
func formulaFor(r *catalog.Record, role string) string {
	for _, f := range r.Formulas {
		if strings.Contains(f.When, "memory") && constant.MatchString(f.Value) {
			continue
		}
		if len(f.Roles) == 0 || role == "" || slices.Contains(f.Roles, role) {
			return f.Value
		}
	}
	return ""
}

// setCommand sets a value on the running system; empty where only a start of the system, or a file, does.
func setCommand(on system.System, r *catalog.Record, name, nic, value string) string {
	form, key, forms := strings.Cut(name, ":")
	nic = cmp.Or(nic, "INTERFACE")
	switch {
	case name == steering:
		return "for q in /sys/class/net/" + nic + "/queues/rx-*/rps_cpus; do echo " + value + " > $q; done"
	case strings.Contains(name, "*"):
		return ""
	case forms && form == "ethtool":
		group, option, _ := strings.Cut(key, "/")
		flag := map[string]string{"features": "-K", "ring": "-G", "channels": "-L", "coalesce": "-C", "pause": "-A"}[group]
		if key == "eee" {
			flag, option = "--set-eee", "eee"
		}
		if flag == "" {
			return ""
		}
		return shell.Join("ethtool", flag, nic, option, value)
	case forms && form == "link":
		return shell.Join("ip", "link", "set", "dev", nic, key, value)
	case forms && form == "ifconfig" && value == "off":
		return shell.Join("ifconfig", nic, "-"+key)
	case forms && form == "ifconfig" && value == "on":
		return shell.Join("ifconfig", nic, key)
	case forms && form == "ifconfig":
		return shell.Join("ifconfig", nic, key, value)
	case forms || strings.HasPrefix(name, "/") || r.Kind == catalog.Boot || !slices.Contains(r.Belongs, "sysctl"):
		return ""
	case on == system.Linux:
		return shell.Join("sysctl", "-w", name+"="+value)
	}
	return shell.Join("sysctl", name+"="+value)
}

// fileLine is the line that keeps a value over a start of the system, and its file.
func fileLine(on system.System, r *catalog.Record, name, nic, value string) (file, line string) {
	_, key, _ := strings.Cut(name, ":")
	switch {
	case strings.Contains(name, "*"):
		return "", ""
	case slices.Contains(r.Belongs, "sysctl") && on == system.Linux:
		return "/etc/sysctl.d/90-wirerate.conf", name + " = " + value
	case slices.Contains(r.Belongs, "sysctl") && r.Kind != catalog.Boot:
		return "/etc/sysctl.conf", name + "=" + value
	case slices.Contains(r.Belongs, "loader"):
		return "/boot/loader.conf", name + `="` + value + `"`
	case name == "ethtool:ring/rx":
		return "/etc/systemd/network/10-" + cmp.Or(nic, "INTERFACE") + ".link", "RxBufferSize=" + value
	case strings.HasPrefix(name, "ifconfig:") && on == system.FreeBSD && value == "off":
		return "/etc/rc.conf", "ifconfig_" + cmp.Or(nic, "INTERFACE") + `="... -` + key + `"`
	case strings.HasPrefix(name, "pf:set/limit/"):
		return "/etc/pf.conf", "set limit " + strings.TrimPrefix(key, "set/limit/") + " " + value
	}
	return "", ""
}
