package change

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/shell"
)

// knob is how one setting is read and written in a POSIX shell. get puts the
// running value into the variable v; when that fails v says why. put writes $1
// and says on standard error what is wrong.
type knob struct {
	get, put string
	// file is the file that put writes, where that is all it does: many are
	// then read by one program.
	file string
	// sysctl is the name that sysctl(8) of a BSD reads and writes, where that
	// is all there is to do: many are then read by one program.
	sysctl string
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:/@%-]*$`)

// knobFor returns how a setting of a system is reached. Only settings that can
// be written on the running system have a knob. Settings of one interface or
// route are named NAME@INTERFACE and route:NAME@DESTINATION. root stands before
// the kernel's own paths; it is empty on a real system.
func knobFor(system catalog.System, setting, root string) (knob, error) {
	if !plainName.MatchString(strings.TrimPrefix(setting, "/")) || strings.Contains(setting, "..") {
		return knob{}, fmt.Errorf("%s: not the name of one setting", setting)
	}
	if strings.HasPrefix(setting, "/sys/") || strings.HasPrefix(setting, "/proc/") {
		return fileKnob(root + path.Clean(setting)), nil
	}
	name, on, _ := strings.Cut(setting, "@")
	form, key, colon := strings.Cut(name, ":")
	switch {
	case form == "firewall":
		return firewallKnob(system, setting, root)
	case colon && system == catalog.Linux:
		return linuxKnob(form, key, on, root)
	case colon:
		return bsdKnob(system, form, key, on)
	case system == catalog.Linux && isModule(name):
		return modprobeKnob(name, root), nil
	case system == catalog.FreeBSD && strings.HasSuffix(name, "_load"):
		return kldKnob(strings.TrimSuffix(name, "_load")), nil
	case !strings.Contains(name, "."):
		return knob{}, fmt.Errorf("%s: not a sysctl: it is set by the written files", setting)
	case system == catalog.Linux:
		file := procPath(name)
		if slices.Contains(strings.Split(file, "/"), "..") {
			return knob{}, fmt.Errorf("%s: not the name of one setting", setting)
		}
		return fileKnob(root + "/proc/sys/" + file), nil
	case system == catalog.FreeBSD, system == catalog.OpenBSD:
		return knob{sysctl: name}, nil
	}
	return knob{}, fmt.Errorf("%s: system %q is not known", setting, system)
}

// procPath is the path of a sysctl below /proc/sys: dots separate, and a slash
// stands for a dot inside a component (eth0/100 for eth0.100), as sysctl.d(5)
// has it.
func procPath(name string) string {
	return strings.NewReplacer(".", "/", "/", ".").Replace(name)
}

// fileKnob reads and writes a file of /proc/sys or /sys. It reads with cat: the
// shell's own read takes single bytes, of which /proc/sys gives only the first.
// tee runs only to say why the kernel refused a value.
func fileKnob(file string) knob {
	f := quote(file)
	return knob{
		file: file,
		get:  "v=$(cat " + f + " 2>/dev/null) || { v=$(cat " + f + " 2>&1); return 1; }",
		put: "[ -e " + f + " ] || { echo " + f + `': no such file' >&2; return 1; }; { printf '%s\n' "$1" >` + f +
			`; } 2>/dev/null || { printf '%s\n' "$1" | tee ` + f + " >/dev/null; }",
	}
}

// The values of a module's setting.
const (
	loaded    = "loaded"
	notLoaded = "not-loaded"
)

var moduleName = regexp.MustCompile(`^[a-z0-9_]+$`)

// isLoadedModule tells whether a setting is that a module is loaded.
func isLoadedModule(system catalog.System, setting string) bool {
	return system == catalog.Linux && isModule(setting) ||
		system == catalog.FreeBSD && strings.HasSuffix(setting, "_load")
}

func isModule(name string) bool { return moduleName.MatchString(name) }

// modprobeKnob loads and removes a Linux module. What is built into the kernel
// is loaded, and stays so.
func modprobeKnob(name, root string) knob {
	q := quote(name)
	return knob{
		get: "if [ -d " + quote(root+"/sys/module/"+name) + " ] || grep -qs " + quote("/"+name+`\.ko`) +
			" /lib/modules/$(uname -r)/modules.builtin; then v=" + loaded + "; else v=" + notLoaded + "; fi",
		put: `case "$1" in ` + loaded + `) modprobe ` + q + ` ;; *) modprobe -r ` + q + ` ;; esac`,
	}
}

// kldKnob loads and unloads a FreeBSD kernel module by its loader.conf name:
// YES and NO are its values there. kldstat -m finds what is compiled in under
// the file's name; congestion control and TCP stacks are compiled in under
// their own, which the kernel's lists show.
func kldKnob(name string) knob {
	q := quote(name)
	inKernel := "false"
	if _, algorithm, ok := strings.Cut(name, "_"); ok &&
		(strings.HasPrefix(name, "cc_") || strings.HasPrefix(name, "tcp_")) {
		inKernel = "v=$(sysctl -n net.inet.tcp.cc.available net.inet.tcp.functions_available 2>/dev/null); plain; " +
			`case ",$v," in *[\ ,]` + quote(algorithm) + `[\ ,]*) true ;; *) false ;; esac`
	}
	get := "if { " + inKernel + "; } || kldstat -q -n " + quote(name+".ko") + " 2>/dev/null || kldstat -q -m " + q +
		" 2>/dev/null; then v=YES; " +
		"elif command -v kldload >/dev/null 2>&1; then v=NO; else v='kldload is not installed'; return 1; fi"
	return knob{
		get: get,
		put: get + `; [ "$v" != "$1" ] || return 0; case "$1" in YES) m=$(kldload -n ` + q +
			` 2>&1) ;; *) m=$(kldunload ` + q + ` 2>&1) ;; esac || { echo "$m" >&2; return 1; }`,
	}
}

// quote makes one word of a POSIX shell out of s.
func quote(s string) string { return shell.Quote(s) }

// masks are settings whose value is a set of processors in hexadecimal, which
// Linux writes in groups of eight digits.
var masks = regexp.MustCompile(`/(rps_cpus|xps_cpus|xps_rxqs|smp_affinity)$`)

// Same tells whether two ways to write a setting's value are one to its system:
// numbers may be hexadecimal or octal (sysctl(8) of all three systems), switches
// are words or numbers.
func Same(setting, a, b string) bool {
	if masks.MatchString(setting) {
		trim := func(s string) string { return strings.TrimLeft(strings.ReplaceAll(strings.ToLower(s), ",", ""), "0") }
		return trim(a) == trim(b)
	}
	x, err := strconv.ParseInt(a, 0, 64)
	y, err2 := strconv.ParseInt(b, 0, 64)
	return a == b || err == nil && err2 == nil && x == y || plan.SameSwitch(a, b)
}

// Supports returns nil when a setting of a system can be changed while the
// system runs, else why not.
func Supports(system catalog.System, setting string) error {
	_, err := knobFor(system, setting, "")
	return err
}
