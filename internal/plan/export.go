package plan

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/shell"
)

// Export writes a plan for another tool: ansible (a role and a play), tuned (a
// profile) or script (a plain shell script).
func Export(p Plan, kind string) ([]File, error) {
	p = p.sound()
	switch kind {
	case "ansible":
		return ansible(p), nil
	case "tuned":
		if p.System != catalog.Linux {
			return nil, fmt.Errorf("export tuned: TuneD runs on Linux only")
		}
		return tuned(p), nil
	case "script":
		return []File{script(p)}, nil
	}
	return nil, fmt.Errorf("export %q: ansible, tuned or script is expected", kind)
}

func exportHeader(p Plan) string {
	return "# wirerate plan: " + strings.TrimPrefix(remark(fmt.Sprintf("role %s, path %s, %s %s", p.Role, p.Path,
		p.System, p.Release)), "# ")
}

// ansible writes a role that uses the modules made for each kind of file:
// ansible.posix.sysctl, community.general.sysrc and modprobe; sysrc takes no
// names with dots, so that loader tunables are lines.
func ansible(p Plan) []File {
	var tasks strings.Builder
	tasks.WriteString("---\n" + exportHeader(p))
	for _, ch := range p.Changes {
		if t := ansibleTask(p, ch); t != "" {
			tasks.WriteString("\n" + reasons(ch) + t)
		}
	}
	for _, f := range interfaceFiles(p, All) {
		if f.Format != "" || strings.Contains(f.Path, "modules-load") {
			continue
		}
		fmt.Fprintf(&tasks, "\n- name: %s\n  ansible.builtin.copy:\n    dest: %s\n    mode: \"%04o\"\n    content: %s",
			yamlText("Write "+f.Path), yamlText(f.Path), f.Mode, yamlBlock(f.Content, "      "))
	}
	play := "---\n" + exportHeader(p) + "- name: Tune hosts for their path\n  hosts: all\n  become: true\n  " +
		"roles:\n    - wirerate\n"
	needs := "---\ncollections:\n  - name: ansible.posix\n  - name: community.general\n"
	meta := "---\ngalaxy_info:\n  author: wirerate\n  description: Settings planned by wirerate\n  license: " +
		"BSD-2-Clause\n  min_ansible_version: \"2.14\"\ndependencies: []\n"
	return []File{
		{Name: "ansible/site.yml", Content: play}, {Name: "ansible/requirements.yml", Content: needs},
		{Name: "ansible/roles/wirerate/tasks/main.yml", Content: tasks.String()},
		{Name: "ansible/roles/wirerate/meta/main.yml", Content: meta},
	}
}

// ansibleTask is a task with one module and its options, each a pair of a name
// and a text; empty for what no module of Ansible sets.
func ansibleTask(p Plan, ch Change) string {
	task := func(module string, options ...[2]string) string {
		text := "- name: " + yamlText(ch.Setting+" = "+ch.To) + "\n  " + module + ":\n"
		for _, o := range options {
			text += "    " + o[0] + ": " + yamlText(o[1]) + "\n"
		}
		return text
	}
	pair := func(name, value string) [2]string { return [2]string{name, value} }
	setting, value := pair("name", ch.Setting), pair("value", ch.To)
	switch {
	case p.System == catalog.Linux && isModule(ch.Setting):
		return task("community.general.modprobe", setting, pair("state", "present"), pair("persistent", "present"))
	case ch.Belongs == "sysctl" && p.System == catalog.Linux:
		return task("ansible.posix.sysctl", setting, value, pair("sysctl_file", "/etc/sysctl.d/90-wirerate.conf"),
			pair("sysctl_set", "true"), pair("state", "present"))
	case ch.Belongs == "sysctl":
		return task("ansible.posix.sysctl", setting, value, pair("state", "present"))
	case ch.Belongs == "rc":
		return task("community.general.sysrc", setting, value)
	case ch.Belongs == "loader" && !strings.Contains(ch.Setting, "."):
		return task("community.general.sysrc", setting, value, pair("path", "/boot/loader.conf"))
	case ch.Belongs == "loader":
		line, _ := place{belongs: "loader", format: "loader.conf"}.line(p.System, ch.Setting, ch.To)
		return task("ansible.builtin.lineinfile", pair("path", "/boot/loader.conf"), pair("create", "true"),
			pair("mode", "0644"),
			pair("regexp", "^"+regexp.QuoteMeta(ch.Setting)+"="), pair("line", strings.TrimSpace(line)))
	case ch.Belongs == "pf":
		line, _ := place{belongs: "pf", format: "pf.conf"}.line(p.System, ch.Setting, ch.To)
		words := strings.Fields(regexp.QuoteMeta(line))
		return task("ansible.builtin.lineinfile", pair("path", "/etc/pf.conf"), pair("insertbefore", "BOF"),
			pair("regexp", "^"+strings.Join(words[:len(words)-1], `\s+`)+`\s`), pair("line", strings.TrimSpace(line)))
	case strings.HasPrefix(ch.Setting, "ifconfig:"):
		_, nic, _ := strings.Cut(ch.Setting, "@")
		at := map[catalog.System]string{catalog.FreeBSD: "/etc/start_if.",
			catalog.OpenBSD: "/etc/hostname."}[p.System] + nic
		line := commands(p.System, ch)[0]
		if p.System == catalog.OpenBSD {
			line = hostnameLine(nic, ch)
		}
		return task("ansible.builtin.lineinfile", pair("path", at), pair("create", "true"), pair("mode", "0640"),
			pair("line", line))
	}
	return ""
}

// tuned writes a profile: sysctls, what its net plug-in sets, and a script for
// the rest (TuneD's manual, "TuneD plug-ins").
func tuned(p Plan) []File {
	var conf strings.Builder
	conf.WriteString(exportHeader(p) + "[main]\n" + iniLine("summary", "wirerate plan for role "+p.Role))
	section := func(name string, match func(Change) bool, line func(Change) string) {
		first := true
		for _, ch := range p.Changes {
			if !match(ch) {
				continue
			}
			if first {
				conf.WriteString("\n[" + name + "]\n")
				first = false
			}
			conf.WriteString(reasons(ch) + line(ch))
		}
	}
	section("modules", func(ch Change) bool { return isModule(ch.Setting) },
		func(ch Change) string { return iniLine(ch.Setting, "") })
	section("sysctl", func(ch Change) bool { return ch.Belongs == "sysctl" },
		func(ch Change) string { return iniLine(ch.Setting, ch.To) })
	var rest []string
	byNIC := map[string]map[string][]string{}
	for _, ch := range p.Changes {
		name, nic, _ := strings.Cut(ch.Setting, "@")
		option, words := tunedNet(name, ch.To)
		if option == "" {
			if !isModule(ch.Setting) {
				rest = append(rest, commands(p.System, ch)...)
			}
			continue
		}
		if byNIC[nic] == nil {
			byNIC[nic] = map[string][]string{}
		}
		byNIC[nic][option] = append(byNIC[nic][option], words)
	}
	for _, nic := range sortedKeys(byNIC) {
		conf.WriteString("\n[net_" + nic + "]\n" + iniLine("type", "net") + iniLine("devices", nic))
		for _, option := range sortedKeys(byNIC[nic]) {
			conf.WriteString(iniLine(option, strings.Join(byNIC[nic][option], " ")))
		}
	}
	files := []File{}
	if len(rest) > 0 {
		conf.WriteString("\n[script]\nscript=${i:PROFILE_DIR}/interfaces.sh\n")
		files = append(files, File{Name: "tuned/wirerate/interfaces.sh", Mode: 0o755,
			Content: "#!/bin/sh\n" + exportHeader(p) + "[ \"$1\" = start ] || exit 0\n" + strings.Join(rest, "\n") +
				"\n"})
	}
	return append([]File{{Name: "tuned/wirerate/tuned.conf", Content: conf.String()}}, files...)
}

// tunedNet is the option of TuneD's net plug-in for a setting.
func tunedNet(name, value string) (option, words string) {
	form, key, _ := strings.Cut(name, ":")
	group, what, _ := strings.Cut(key, "/")
	if form == "link" && (key == "mtu" || key == "txqueuelen") {
		return key, value
	}
	option = map[string]string{"features": "features", "ring": "ring", "coalesce": "coalesce", "channels": "channels",
		"pause": "pause"}[group]
	if form != "ethtool" || option == "" {
		return "", ""
	}
	return option, what + " " + value
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// script writes what can be done on the running system as shell commands, and
// the rest as comments.
func script(p Plan) File {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n" + exportHeader(p) +
		"# Values last until the next boot; wirerate apply writes them with a way back.\nset -u\n")
	for _, ch := range p.Changes {
		b.WriteString("\n" + reasons(ch))
		commands := commands(p.System, ch)
		switch {
		case len(commands) > 0:
			b.WriteString(strings.Join(commands, "\n") + "\n")
		case ch.Belongs == "sysctl" && p.System == catalog.Linux:
			b.WriteString(shell.Join("sysctl", "-w", ch.Setting) + "=" + shell.Quote(ch.To) + "\n")
		case ch.Belongs == "sysctl":
			b.WriteString(shell.Join("sysctl", ch.Setting) + "=" + shell.Quote(ch.To) + "\n")
		case p.System == catalog.FreeBSD && strings.HasSuffix(ch.Setting, "_load"):
			b.WriteString(shell.Join("kldload", "-n", strings.TrimSuffix(ch.Setting, "_load")) + "\n")
		default:
			b.WriteString(remark("at boot only, in " + ch.Belongs + ": " + ch.Setting + " = " + ch.To))
		}
	}
	return File{Name: "wirerate.sh", Content: b.String(), Mode: 0o755}
}

// Shown are files that apply does not install: what steps are about, such as
// links to aggregate; and on Linux other formats of what it does install,
// systemd.link and systemd.network files and ifupdown stanzas, for who keeps
// interfaces there.
func Shown(p Plan) []File {
	p = p.sound()
	shown := append(aggregateFiles(p), interruptFiles(p)...)
	if p.System != catalog.Linux {
		return shown
	}
	link, stanza := map[string]string{}, map[string]string{}
	network := ""
	for _, ch := range p.Changes {
		name, on, _ := strings.Cut(ch.Setting, "@")
		if strings.HasPrefix(name, "route:") {
			if option := networkRoute[strings.TrimPrefix(name, "route:")]; option != "" {
				network += reasons(ch) + unitOption(option, ch.To)
			}
			continue
		}
		if on == "" || len(commands(p.System, ch)) == 0 {
			continue
		}
		if l := linkLine(name, ch.To); l != "" {
			link[on] += reasons(ch) + l
		}
		stanza[on] += reasons(ch) + "    post-up " + commands(p.System, ch)[0] + " || true\n"
	}
	var files []File
	for _, nic := range sortedKeys(link) {
		files = append(files, File{Name: "10-wirerate-" + nic + ".link", Install: "/etc/systemd/network/10-wirerate-" +
			nic + ".link",
			Content: exportHeader(p) + "# It takes the place of 99-default.link for this interface, whose policies " +
				"it therefore repeats.\n" +
				"[Match]\n" + unitOption("OriginalName", nic) +
				"\n[Link]\nNamePolicy=keep kernel database onboard slot path\nAlternativeNamesPolicy=database " +
				"onboard slot path\nMACAddressPolicy=persistent\n" + link[nic]})
	}
	for _, nic := range sortedKeys(stanza) {
		files = append(files, File{Name: "interfaces-" + nic, Install: "/etc/network/interfaces, in the stanza of " +
			nic,
			Content: exportHeader(p) + remark("Add to the stanza of "+nic+" in /etc/network/interfaces") + "iface " +
				nic + " inet manual\n" + stanza[nic]})
	}
	if network != "" {
		files = append(files, File{Name: "wirerate-route.network",
			Install: "the [Route] section of the interface's .network file",
			Content: exportHeader(p) + "# No file of its own, which would take every interface: copy the lines of " +
				"[Route] into the section\n# of the default route (Gateway=) in the interface's own .network " +
				"file.\n[Match]\nName=INTERFACE\n\n[Route]\n" + network})
	}
	return append(files, shown...)
}

// networkRoute are systemd.network(5)'s names in its [Route] section.
var networkRoute = map[string]string{"initcwnd": "InitialCongestionWindow",
	"initrwnd": "InitialAdvertisedReceiveWindow", "quickack": "QuickAck",
	"mtu": "MTUBytes", "congctl": "TCPCongestionControlAlgorithm", "advmss": "TCPAdvertisedMaximumSegmentSize",
	"rto_min": "TCPRetransmissionTimeoutSec", "hoplimit": "HopLimit"}

// linkOptions are systemd.link(5)'s names in its [Link] section.
var linkOptions = map[string]string{
	"ethtool:features/tso": "TCPSegmentationOffload", "ethtool:features/gso": "GenericSegmentationOffload",
	"ethtool:features/gro": "GenericReceiveOffload",
	"ethtool:features/lro": "LargeReceiveOffload", "ethtool:features/rx": "ReceiveChecksumOffload",
	"ethtool:features/tx":        "TransmitChecksumOffload",
	"ethtool:features/rx-gro-hw": "GenericReceiveOffloadHardware", "ethtool:ring/rx": "RxBufferSize",
	"ethtool:ring/tx":           "TxBufferSize",
	"ethtool:channels/combined": "CombinedChannels", "ethtool:channels/rx": "RxChannels",
	"ethtool:channels/tx": "TxChannels",
	"ethtool:pause/rx":    "RxFlowControl", "ethtool:pause/tx": "TxFlowControl",
	"ethtool:pause/autoneg":        "AutoNegotiationFlowControl",
	"ethtool:coalesce/adaptive-rx": "UseAdaptiveRxCoalesce", "ethtool:coalesce/adaptive-tx": "UseAdaptiveTxCoalesce",
	"ethtool:coalesce/rx-frames": "RxMaxCoalescedFrames", "link:mtu": "MTUBytes",
	"link:txqueuelen": "TransmitQueueLength",
}

// SettingOfLink is the setting that an option of a systemd .link or .network
// file sets, named as conffile names it (link-file:RxBufferSize); other names
// are returned as they are.
func SettingOfLink(name string) string {
	option, isLink := strings.CutPrefix(name, "link-file:")
	if isLink {
		for _, setting := range sortedKeys(linkOptions) {
			if linkOptions[setting] == option {
				return setting
			}
		}
	}
	if option, ok := strings.CutPrefix(name, "network-file:"); ok {
		for _, key := range sortedKeys(networkRoute) {
			if networkRoute[key] == option[strings.LastIndex(option, "/")+1:] {
				return "route:" + key
			}
		}
	}
	return name
}

func linkLine(name, value string) string {
	if name == "ethtool:coalesce/rx-usecs" {
		return unitOption("RxCoalesceSec", value+"us")
	}
	option := linkOptions[name]
	if option == "" {
		return ""
	}
	return unitOption(option, cmp.Or(map[string]string{"on": "yes", "off": "no"}[value], value))
}
