package plan

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/shell"
)

// File is a configuration file in a system's own format.
type File struct {
	Name    string // in the output folder
	Install string // where it belongs on the target, in words
	Content string
	// Path is where it is installed; empty for a file that is only shown.
	Path string
	Mode fs.FileMode
	// Format is conffile's kind of a file into which Entries are merged when
	// it is there already; without entries the file is wirerate's own.
	Format  string
	Entries []Entry
	// Now marks a file for the next boot alone, which apply writes.
	Now bool
}

// Entry is one assignment of a file.
type Entry struct {
	Key, Value string
	Text       string // the line with its comment
}

// Keep decides whether a setting is written; what it refuses becomes a comment
// with the reason.
type Keep func(setting string) (bool, string)

// All keeps every setting.
func All(string) (bool, string) { return true, "" }

// NativeFiles writes the plan's changes in the system's own formats, commented
// line by line.
func NativeFiles(p Plan, keep Keep) []File {
	p = p.sound()
	var files []File
	for _, place := range places(p.System) {
		var f File
		for _, ch := range p.Changes {
			if ch.Belongs != place.belongs {
				continue
			}
			ok, why := keep(ch.Setting)
			text := place.entry(p.System, ch, ok, why)
			f.Content += text
			if ok {
				f.Entries = append(f.Entries, Entry{ch.Setting, ch.To, text})
			}
		}
		if f.Content == "" {
			continue
		}
		f.Name, f.Install, f.Path, f.Mode = place.name, place.install, place.path, 0o644
		if place.merged {
			f.Format = place.format
		}
		f.Content = header(p, place) + f.Content
		files = append(files, f)
	}
	return append(files, interfaceFiles(p, keep)...)
}

// place is one kind of file.
type place struct {
	belongs, name, path, install, load string
	format                             string // conffile's kind
	merged                             bool   // its lines go into a file that may be there already
}

func places(s catalog.System) []place {
	pf := place{"pf", "pf.conf", "/etc/pf.conf", "/etc/pf.conf (before the rules)", "pfctl -f /etc/pf.conf", "pf.conf",
		true}
	switch s {
	case catalog.Linux:
		return []place{
			{"sysctl", "90-wirerate.conf", "/etc/sysctl.d/90-wirerate.conf", "/etc/sysctl.d/90-wirerate.conf",
				"sysctl --system", "sysctl.conf", true},
			{"module", "wirerate.conf", "/etc/modprobe.d/wirerate.conf", "/etc/modprobe.d/wirerate.conf",
				"loading the module", "modprobe", false},
		}
	case catalog.FreeBSD:
		return []place{
			{"sysctl", "sysctl.conf", "/etc/sysctl.conf", "/etc/sysctl.conf (append)", "service sysctl restart",
				"sysctl.conf", true},
			{"loader", "loader.conf", "/boot/loader.conf", "/boot/loader.conf (append)", "a reboot", "loader.conf",
				true},
			{"rc", "rc.conf", "/etc/rc.conf", "/etc/rc.conf (append)", "a reboot, or service NAME restart", "rc.conf",
				true},
			pf,
		}
	}
	return []place{{"sysctl", "sysctl.conf", "/etc/sysctl.conf", "/etc/sysctl.conf (append)",
		"a reboot, or sysctl for each line", "sysctl.conf", true}, pf}
}

func header(p Plan, pl place) string {
	return exportHeader(p) + remark("Install as "+pl.install+"; loaded by: "+pl.load)
}

func (pl place) entry(system catalog.System, ch Change, keep bool, why string) string {
	line, _ := pl.line(system, ch.Setting, ch.To) // a sound change has one
	if keep {
		return "\n" + reasons(ch) + line
	}
	return "\n" + reasons(ch) + comment("Not set: "+why) + "#" + line
}

// reasons are the comment above a change's line.
func reasons(ch Change) string {
	var b strings.Builder
	b.WriteString(comment(ch.Does))
	def := cmp.Or(ch.Default, ch.DefaultNote, "depends on the machine")
	b.WriteString(comment(fmt.Sprintf("Default: %s. Before: %s. Evidence: %s.", def, shownValue(ch.From),
		ch.EvidenceWords())))
	working := ch.Because
	if ch.Formula != "" {
		working += " " + ch.Formula
		if ch.Working != ch.Formula {
			working += " = " + ch.Working
		}
		if ch.Working != ch.To {
			working += " = " + ch.To
		}
	}
	b.WriteString(comment(working))
	if ch.Capped != "" {
		b.WriteString(comment("Capped: " + ch.Capped))
	}
	if ch.Risk != "" {
		b.WriteString(comment("Risk: " + ch.Risk))
	}
	if len(ch.Sources) > 0 {
		b.WriteString(comment("Source: " + ch.Sources[0]))
	}
	if ch.ByMemory {
		b.WriteString("# wirerate: ignore below-default the default of machines with more memory\n")
	}
	return b.String()
}

// interfaceFiles write what is no line of a configuration file: commands at
// boot, in the form that each system has for them.
func interfaceFiles(p Plan, keep Keep) []File {
	var kept []Change
	for _, ch := range p.Changes {
		if ok, _ := keep(ch.Setting); ok && len(commands(p.System, ch)) > 0 {
			kept = append(kept, ch)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	switch p.System {
	case catalog.Linux:
		return append(modulesLoad(p, kept), service(p, kept)...)
	case catalog.FreeBSD:
		return perInterface(p, kept, "start_if.%s", "/etc/start_if.%s", "script",
			func(_ string, ch Change) string { return commands(p.System, ch)[0] })
	}
	return perInterface(p, kept, "hostname.%s", "/etc/hostname.%s", "hostname.if", hostnameLine)
}

// hostnameLine is a line of OpenBSD's hostname.if(5): the words of ifconfig(8)
// behind the interface.
func hostnameLine(nic string, ch Change) string {
	return strings.TrimPrefix(commands(catalog.OpenBSD, ch)[0], shell.Join("ifconfig", nic)+" ")
}

// perInterface writes a file for each interface: FreeBSD's start_if.NAME, which
// rc(8) runs before the interface is configured, and OpenBSD's hostname.if(5).
func perInterface(p Plan, changes []Change, name, at, format string, line func(nic string, ch Change) string) []File {
	var files []File
	for _, ch := range changes {
		_, nic, _ := strings.Cut(ch.Setting, "@")
		i := slices.IndexFunc(files, func(f File) bool { return f.Name == fmt.Sprintf(name, nic) })
		if i < 0 {
			i = len(files)
			pl := place{install: fmt.Sprintf(at, nic) + " (append)", load: "sh /etc/netstart " + nic}
			mode := fs.FileMode(0o640) // a hostname.if may hold keys: netstart(8) takes it from others
			if p.System == catalog.FreeBSD {
				pl.load, mode = "service netif restart "+nic, 0o644
			}
			files = append(files, File{Name: fmt.Sprintf(name, nic), Path: fmt.Sprintf(at, nic), Install: pl.install,
				Mode: mode, Format: format, Content: header(p, pl)})
		}
		text := "\n" + reasons(ch) + line(nic, ch) + "\n"
		files[i].Content += text
		files[i].Entries = append(files[i].Entries, Entry{ch.Setting, ch.To, text})
	}
	return files
}

func modulesLoad(p Plan, changes []Change) []File {
	f := File{Name: "modules-load.conf", Path: "/etc/modules-load.d/wirerate.conf", Mode: 0o644}
	f.Install = f.Path
	for _, ch := range changes {
		if isModule(ch.Setting) {
			f.Content += "\n" + reasons(ch) + ch.Setting + "\n"
		}
	}
	if f.Content == "" {
		return nil
	}
	f.Content = header(p, place{install: f.Path, load: "systemd-modules-load"}) + f.Content
	return []File{f}
}

func isModule(name string) bool { return !strings.ContainsAny(name, ".:/@") }

// service writes a systemd unit that runs the commands once the interfaces are
// there, and the drop-in that asks for it at boot.
func service(p Plan, changes []Change) []File {
	var b strings.Builder
	for _, ch := range changes {
		if isModule(ch.Setting) {
			continue
		}
		b.WriteString("\n" + reasons(ch))
		for _, c := range commands(p.System, ch) {
			b.WriteString("ExecStart=-" + unitCommand(c) + "\n")
		}
	}
	if b.Len() == 0 {
		return nil
	}
	unit := File{Name: "wirerate.service", Path: "/etc/systemd/system/wirerate.service", Mode: 0o644}
	unit.Install = unit.Path
	unit.Content = header(p, place{install: unit.Path, load: "systemctl start wirerate"}) +
		"[Unit]\nDescription=Interface settings planned by " +
		"wirerate\nAfter=network.target\n\n[Service]\nType=oneshot\nRemainAfterExit=yes\n" + b.String()
	want := File{Name: "multi-user.target.d-wirerate.conf",
		Path: "/etc/systemd/system/multi-user.target.d/wirerate.conf", Mode: 0o644}
	want.Install = want.Path
	want.Content = header(p, place{install: want.Path, load: "systemctl daemon-reload"}) +
		"[Unit]\nWants=wirerate.service\n"
	return []File{unit, want}
}

// unitCommand writes a shell command as ExecStart= takes it: the programs that
// need no shell by themselves, with their absolute path.
func unitCommand(c string) string {
	program, rest, _ := strings.Cut(c, " ")
	if (program == "ethtool" || program == "ip") && !strings.ContainsAny(rest, "$|'\\\"%") {
		return "/usr/sbin/" + c
	}
	return "/bin/sh -c " + unitWord(c)
}

// commands are the shell commands that make a change which is no line of a
// configuration file; none for the others.
func commands(system catalog.System, ch Change) []string {
	setting, on, _ := strings.Cut(ch.Setting, "@")
	form, key, colon := strings.Cut(setting, ":")
	switch {
	case strings.HasPrefix(ch.Setting, "/sys/"), strings.HasPrefix(ch.Setting, "/proc/"):
		return []string{writeFile(path.Clean(ch.Setting), ch.To)}
	case system == catalog.Linux && isModule(ch.Setting):
		return []string{shell.Join("modprobe", ch.Setting)}
	case !colon || on == "":
		return nil
	case form == "ifconfig":
		return []string{shell.Join(append([]string{"ifconfig", on}, ifconfigWords(key, ch.To)...)...)}
	case form == "link":
		return []string{shell.Join("ip", "link", "set", "dev", on, key, ch.To)}
	case form == "route":
		// The old words of the route, without the one that is changed.
		old := "$(" + shell.Join("ip", "route", "show", on) + " | head -n 1 | sed " +
			shell.Quote("s/ "+patternText(key)+" [^ ]*//") + ")"
		return []string{"ip route change " + old + " " + shell.Join(key, ch.To)}
	case form == "ethtool":
		return ethtoolCommand(key, on, ch.To)
	}
	return nil
}

// writeFile is the command that writes a value into a file of the kernel.
func writeFile(file, value string) string {
	return "echo " + shell.Word(value) + " > " + shell.Word(file)
}

// patternText escapes what sed(1) takes for a pattern.
func patternText(s string) string {
	return strings.NewReplacer(`\`, `\\`, ".", `\.`, "*", `\*`, "[", `\[`, "]", `\]`, "^", `\^`, "$", `\$`, "/", `\/`,
		"\n", " ").Replace(s)
}

func ifconfigWords(key, value string) []string {
	switch value {
	case "on":
		return []string{key}
	case "off":
		return []string{"-" + key}
	}
	return append([]string{key}, strings.Fields(value)...)
}

func ethtoolCommand(key, nic, value string) []string {
	group, option, _ := strings.Cut(key, "/")
	flag := map[string]string{"features": "-K", "ring": "-G", "channels": "-L", "coalesce": "-C", "pause": "-A",
		"eee": "--set-eee"}[group]
	if flag == "" {
		return nil
	}
	if group == "eee" {
		option = "eee"
	}
	return []string{shell.Join("ethtool", flag, nic, option, value)}
}

// NextBoot is the file with which FreeBSD tries loader tunables for one boot:
// nextboot(8) writes it, and loader(8) takes its first line back. Empty when
// the plan has none.
func NextBoot(p Plan) []File {
	body := ""
	for _, ch := range p.sound().Changes {
		if p.System == catalog.FreeBSD && ch.Belongs == "loader" {
			line, _ := place{belongs: "loader", format: "loader.conf"}.line(p.System, ch.Setting, ch.To)
			body += line
		}
	}
	if body == "" {
		return nil
	}
	return []File{{Name: "nextboot.conf", Install: "/boot/nextboot.conf", Path: "/boot/nextboot.conf", Mode: 0o644,
		Content: "nextboot_enable=\"YES\"\n" + body, Now: true}}
}

func shownValue(v string) string {
	if v == "" {
		return "not known"
	}
	return v
}
