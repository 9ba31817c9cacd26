package conffile

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/spelling"
)

// script reads a shell script: the command lines of sysctl, ethtool, ip, tc,
// ifconfig, route, modprobe, kldload and sysrc in it, and values that are
// written into /proc/sys, /proc/irq and /sys by redirection. Everything else
// is opaque.
func (s *scanner) script(from, to, line int) {
	outer := s.groups
	if strings.Contains(s.src[from:to], "/") {
		s.groups = s.findGroups(from, to)
	}
	s.shell(from, to, line, func(c *command) { s.command(c) })
	s.groups = outer
}

// wholeScript reads a file that is a script, and rejects what its commands do together.
func (s *scanner) wholeScript() {
	s.script(0, len(s.src), 1)
	s.uncopied()
	s.ipfw.conclude(s)
	s.marks.conclude(s)
	s.vyos.conclude(s)
	s.unread()
}

// commandReaders are the programs whose command lines make settings.
var commandReaders = map[string]func(*scanner, []word, Entry){
	"sysctl":   (*scanner).sysctlCommand,
	"ethtool":  (*scanner).ethtoolCommand,
	"ip":       (*scanner).ipCommand,
	"tc":       (*scanner).tcCommand,
	"ifconfig": (*scanner).ifconfigCommand,
	"ipfw":     (*scanner).ipfwCommand,
	"route":    (*scanner).routeCommand,
	"modprobe": (*scanner).modprobeCommand,
	"insmod":   (*scanner).modprobeCommand,
	"iptables": (*scanner).iptablesCommand, "ip6tables": (*scanner).ip6tablesCommand,
	"kldload": (*scanner).kldloadCommand,
	"sysrc":   (*scanner).sysrcCommand,
	"rcctl":   (*scanner).rcctlCommand,
	"ulimit":  (*scanner).ulimitCommand,
	"docker":  (*scanner).containerCommand,
	"podman":  (*scanner).containerCommand,
	"nerdctl": (*scanner).containerCommand,
	"nmcli":   (*scanner).nmcliCommand,
	"grubby":  (*scanner).grubbyCommand, "kernelstub": (*scanner).grubbyCommand, "rpm-ostree": (*scanner).grubbyCommand,
	"uci":      (*scanner).uciCommand,
	"cpupower": (*scanner).governorCommand, "tuned-adm": (*scanner).profileCommand,
}

// rcSysctl are the variables in which FreeBSD's rc.subr has the program for all scripts.
var rcSysctl = regexp.MustCompile(`^\$\{?SYSCTL(?:_[WN])?\}?$`)

// serviceCommands start and stop services.
var serviceCommands = []string{"systemctl", "service", "chkconfig", "update-rc.d", "killall", "pkill"}

// wrappers are commands that run the command in their arguments.
var wrappers = map[string]bool{"sudo": true, "doas": true, "exec": true, "nohup": true, "time": true,
	"command": true, "env": true, "busybox": true}

// declarations are commands whose arguments are assignments.
var declarations = map[string]bool{"readonly": true, "local": true, "export": true, "declare": true, "typeset": true}

// command emits the settings that a simple command makes. The program's name
// may carry a path and may follow assignments and wrappers.
func (s *scanner) command(c *command) {
	words, echoed := s.constants(c.words), s.echoed
	s.echoed = nil
	if c.list {
		s.listed(words, Entry{Raw: c.raw, style: styleFixed})
		return
	}
	words, raised := s.unwrapped(split(words, c.words))
	if len(words) == 0 || declarations[words[0].text] {
		for _, w := range c.words {
			s.settingLines(w, Entry{Raw: c.raw, style: styleFixed})
		}
		s.remember(c)
		return
	}
	base := Entry{Raw: c.raw, Flags: c.flags()}
	if len(words) > 2 && words[1].text == "in" && !words[1].quoted {
		s.loopOver(words[0].text, words[2:min(len(words), maxLoop+3)])
		return
	}
	name := words[0].text[strings.LastIndexByte(words[0].text, '/')+1:]
	if rcSysctl.MatchString(name) {
		name = "sysctl"
	}
	if !slices.Contains(keepsRoutes, name) {
		clear(s.routes)
	}
	s.reload.ran(name, words[1:])
	s.overwrites(c, name, words[1:], echoed)
	switch {
	case (name == "echo" || name == "printf") && c.piped:
		s.echoed = slices.Clone(words[1:])
	case name == "echo" || name == "printf":
		if raised && rootOnly.MatchString(c.target.text) && !s.byRoot() {
			s.reject(c.target.line, c.target.span, "the shell opens this file before sudo runs, and without its "+
				"rights: pipe to sudo tee instead")
		}
		if c.target.text == "" {
			c.target = s.groupTarget(c.raw.Start)
		}
		s.echoCommand(words[1:], c.target, base)
	case name == "tee" && len(echoed) > 0:
		for _, w := range words[1:] {
			if !strings.HasPrefix(w.text, "-") {
				s.echoCommand(echoed, w, base)
			}
		}
	case name == "cp" || name == "mv" || name == "install":
		s.copied(words[1:])
	case name == "sed":
		s.sedCommand(words[1:], base)
	case name == "sh" || name == "bash" || name == "su":
		s.inner(words[1:])
	case name == "sysrc" && len(words) > 3 && words[1].text == "-f":
		s.sysrcFile(words[2], words[3:], base)
	case name == "add" && s.system == FreeBSD && strings.Contains(s.path, "ipfw"): // a line of the file that ipfw is given
		s.ipfwCommand(words, base)
	case name == "set" && len(words) > 3 && vyosSet.MatchString(s.text(Span{words[0].span.Start, words[len(words)-1].span.End})):
		s.vyosPath(words[1:], base)
	case s.sysctlLineAlone(c, words[0]):
	case slices.Contains(serviceCommands, name):
		s.serviceCommand(name, words[1:], base)
	case commandReaders[name] != nil:
		commandReaders[name](s, words[1:], base)
	case setter.MatchString(name) && strings.Contains(name, "sysctl") && len(words) > 1 && strings.Contains(words[1].text, "="):
		s.sysctlCommand(words[1:], base)
	case s.misspeltProgram(words):
	case len(words) == 3 && setter.MatchString(name) && strings.Contains(words[1].text, "=") && strings.HasPrefix(words[2].text, "/"):
		s.echoCommand(words[1:2], words[2], base)
	case len(words) == 3 && setter.MatchString(name) && (isSysctl(words[1].text) || isSetting(words[1])):
		e := base
		e.Key, e.Line, e.KeySpan, e.style = words[1].text, words[1].line, words[1].span, styleFixed
		s.sysctlValue(e, words[2].text, words[2])
	}
}

// loopOver remembers the words of a for loop, each once.
func (s *scanner) loopOver(name string, words []word) {
	s.loop, s.over = name, nil
	for _, w := range words {
		if !slices.ContainsFunc(s.over, func(o word) bool { return o.text == w.text }) {
			s.over = append(s.over, w)
		}
	}
}

// misspeltProgram rejects a command whose name is a slip from sysctl or ethtool and whose arguments are theirs.
func (s *scanner) misspeltProgram(words []word) bool {
	for _, program := range []string{"sysctl", "ethtool"} {
		if !spelling.Slip(words[0].text, program) || len(words) < 3 || words[0].quoted || words[0].expands {
			continue
		}
		name, _, assigned := strings.Cut(words[2].text, "=")
		if program == "sysctl" && words[1].text == "-w" && assigned && isSetting(word{text: name}) ||
			program == "ethtool" && ethtoolGroups[words[1].text] != "" {
			s.reject(words[0].line, words[0].span, "there is no command "+words[0].text+"; did you mean "+program+"?")
			return true
		}
	}
	return false
}

// unwrapped takes off what may stand before a program's name, and reports whether sudo is among it, which does not reach
// redirections.
func (s *scanner) unwrapped(words []word) (rest []word, raised bool) {
	for len(words) > 0 {
		if _, isAssignment := s.assignment(words[0]); !isAssignment && !wrappers[words[0].text] {
			break
		}
		raised = raised || words[0].text == "sudo" || words[0].text == "doas"
		words = words[1:]
	}
	return words, raised
}

// serviceCommand reads whether a script starts or stops irqbalance.
func (s *scanner) serviceCommand(name string, words []word, base Entry) {
	e := base
	if name == "killall" || name == "pkill" {
		e.Value = "off"
	}
	for _, w := range words {
		switch w.text {
		case "stop", "disable", "mask", "off":
			e.Value = "off"
		case "start", "enable", "restart", "on":
			e.Value = "on"
		case "irqbalance", "irqbalance.service":
			e.Key, e.Name, e.Line, e.KeySpan, e.ValueSpan = w.text, "service:irqbalance", w.line, w.span, w.span
		}
	}
	if e.style = styleFixed; e.Value != "" {
		s.emit(e)
	}
}

// ulimitCommand reads the limit of open files that a shell sets.
func (s *scanner) ulimitCommand(words []word, base Entry) {
	for i, w := range words {
		if !strings.HasPrefix(w.text, "-") || !strings.HasSuffix(w.text, "n") || i+1 == len(words) {
			continue
		}
		e := base
		e.Key, e.Name, e.Value, e.Line, e.style = w.text, "ulimit:nofile", words[i+1].text, w.line, styleFixed
		e.KeySpan, e.ValueSpan = w.span, words[i+1].span
		if words[i+1].expands {
			e.Flags |= Expands
		}
		s.emit(e)
	}
}

// asRootOnly is a command that root alone can run, without sudo, or a question whether root runs the script.
var asRootOnly = regexp.MustCompile(`(?m)^[ \t]*(?:(?:apt|apt-get|yum|dnf|apk|pacman|ufw|useradd|modprobe)[ \t]+[a-z-]|` +
	`systemctl[ \t]+(?:enable|start|restart|daemon-reload)|service[ \t]+[^ \t]+[ \t]+(?:re)?start|sysctl[ \t]+(?:-p|-w|--system))|` +
	`\bEUID\b|\bid -u\b|\bwhoami\b`)

// byRoot reports a script that root runs, whatever it puts sudo before. In a guide each reader types some of the commands.
func (s *scanner) byRoot() bool {
	if s.root == nil {
		root := strings.HasPrefix(s.src, "#!") && asRootOnly.MatchString(s.src[:min(len(s.src), maxSearched)])
		s.root = &root
	}
	return *s.root
}

// rootOnly are files that root alone can write.
var rootOnly = regexp.MustCompile(`^/(?:proc/sys|proc/irq|sys|etc)/`)

// listed reads the words of an array that are sysctls with their values: NAME=VALUE
// and [NAME]=VALUE.
func (s *scanner) listed(words []word, base Entry) {
	for _, w := range words {
		name, value, assigned := strings.Cut(w.text, "=")
		name = strings.TrimSpace(strings.NewReplacer("[", "", "]", "", `"`, "", "'", "").Replace(name))
		if assigned && (isSysctl(name) || isSetting(word{text: name})) {
			e := base
			e.Key, e.Line, e.KeySpan = name, w.line, w.span
			s.sysctlValue(e, strings.TrimSpace(value), w)
		}
	}
}

// ifaceOf returns the interface that a word names.
func (s *scanner) ifaceOf(w word) string {
	if !w.expands {
		return w.text
	}
	switch strings.Trim(w.text, `"`) {
	case "$if", "${if}", "$IFACE", "${IFACE}", "$iface", "${iface}":
		if s.ifVariable != "" {
			return s.ifVariable
		}
	}
	return "*"
}

// containerCommand reads the sysctls that a container is started with: --sysctl
// NAME=VALUE, as one word or as two.
func (s *scanner) containerCommand(words []word, base Entry) {
	const option = "--sysctl"
	base.Flags |= Container
	for i, w := range words {
		name, network, joined := strings.Cut(w.text, "=")
		if !joined && i+1 < len(words) {
			network = words[i+1].text
		}
		if network == "host" && (name == "--net" || name == "--network") {
			base.Flags |= HostNetwork
		}
	}
	for i, w := range words {
		rest, given := strings.CutPrefix(w.text, option)
		switch {
		case !given:
		case rest == "" && i+1 < len(words):
			s.sysctlCommand(words[i+1:i+2], base)
		case strings.HasPrefix(rest, "=") && strings.HasPrefix(s.text(w.span), option+"="):
			w.text, w.span.Start = rest[1:], w.span.Start+len(option)+1
			s.sysctlCommand([]word{w}, base)
		}
	}
}

// isNumber reports a word of digits alone.
func isNumber(w word) bool { return w.text != "" && strings.Trim(w.text, "0123456789") == "" }

// pairs emits name value pairs of a command line whose names are wanted.
func (s *scanner) pairs(words []word, base Entry, name func(key string) string) {
	for i := 0; i+1 < len(words); i++ {
		n := name(words[i].text)
		if n == "" {
			continue
		}
		k := words[i]
		i++
		if words[i].text == "lock" && i+1 < len(words) {
			i++
		}
		v := words[i]
		e := base
		e.Key, e.Name, e.Value, e.Line = k.text, n, v.text, k.line
		e.KeySpan, e.ValueSpan = k.span, v.span
		if v.expands {
			e.Flags |= Expands
		}
		s.emit(e)
	}
}

// modprobeCommand reads modprobe MODULE OPTION=VALUE…
func (s *scanner) modprobeCommand(words []word, base Entry) {
	for i, w := range words {
		if w.text == "-r" || w.text == "--remove" {
			return
		}
		if strings.HasPrefix(w.text, "-") || w.expands {
			continue
		}
		name := s.moduleLoadName(w.text)
		base.Line = w.line
		s.emitModule(w, base, name, "load")
		s.moduleOptions(words[i+1:], name, base)
		return
	}
}

// moduleOptions emits option=value words of a module.
func (s *scanner) moduleOptions(words []word, module string, base Entry) {
	for _, w := range words {
		e, ok := s.assignment(w)
		if !ok {
			continue
		}
		e.Name, e.Raw = module+"/"+e.Key, base.Raw
		e.Flags |= base.Flags | Module
		s.emit(e)
	}
}

// kldloadCommand reads kldload MODULE…
func (s *scanner) kldloadCommand(words []word, base Entry) {
	for _, w := range words {
		if !strings.HasPrefix(w.text, "-") && !w.expands {
			s.emitModule(w, base, s.moduleLoadName(w.text), "YES")
		}
	}
}

// sysrcCommand reads sysrc NAME=VALUE… of FreeBSD, which writes rc.conf; with
// -f it writes another file (sysrcFile).
func (s *scanner) sysrcCommand(words []word, base Entry) {
	for _, w := range words {
		if strings.HasPrefix(w.text, "-") {
			if strings.ContainsAny(w.text, "fRj") {
				return
			}
			continue
		}
		if name, value, assigned := strings.Cut(w.text, "="); assigned && strings.Contains(name, ".") && s.system == FreeBSD {
			s.rejected(Reject{Line: w.line, Span: w.span,
				Reason: "sysrc writes rc.conf variables, but " + name + " is a kernel setting: write " + name + "=" + value +
					" to /etc/sysctl.conf, or to /boot/loader.conf if it is read only at boot",
				Because: "sysrc refuses a name with a dot, which is none of a variable of the shell."})
			continue
		}
		if e, ok := s.assignment(w); ok {
			e.Raw = base.Raw
			e.Flags |= base.Flags
			if e.In = RC; e.Has(Append) {
				e.In = "" // to what the file holds
			}
			s.rcVariable(e)
		}
	}
}

// rcctlCommand reads which daemons OpenBSD's rcctl enables, as it writes NAME_flags= to rc.conf.local.
func (s *scanner) rcctlCommand(words []word, base Entry) {
	if len(words) < 2 || words[0].text != "enable" {
		return
	}
	for _, w := range words[1:] {
		if w.expands || !isName(w.text) {
			continue
		}
		e := base
		e.Flags |= Part // which keeps the arguments that the file has
		e.Key, e.Name, e.Line, e.KeySpan, e.ValueSpan, e.In, e.style = w.text, w.text+"_flags", w.line, w.span, w.span, RC, styleFixed
		s.emit(e)
	}
}

// echoCommand reads echo VALUE > FILE for files below /proc and /sys.
func (s *scanner) echoCommand(words []word, target word, base Entry) {
	for len(words) > 1 && strings.HasPrefix(words[0].text, "-") && len(words[0].text) == 2 {
		words = words[1:]
	}
	looped := s.loop != "" && (strings.Contains(target.text, "$"+s.loop) || strings.Contains(target.text, "${"+s.loop))
	if looped {
		target.text = s.overPattern(target.text)
	} else if s.severalFiles(target) {
		return
	}
	if s.otherwise(target, base) {
		return
	}
	if len(words) == 0 || !strings.HasPrefix(target.text, "/proc/") && !strings.HasPrefix(target.text, "/sys/") {
		s.echoInto(words, target, base)
		return
	}
	e := base
	e.Key, e.Line, e.KeySpan = target.text, words[0].line, target.span
	e.ValueSpan = Span{words[0].span.Start, words[len(words)-1].span.End}
	var parts []string
	for _, w := range words {
		parts = append(parts, w.text)
		if w.expands {
			e.Flags |= Expands
		}
	}
	e.Value = strings.TrimSpace(strings.ReplaceAll(strings.Join(parts, " "), `\n`, ""))
	e.style = styleFixed
	if len(words) == 1 && !words[0].quoted {
		e.style = stylePlain
	}
	e.Name, e.Iface = s.fileName(target)
	if looped {
		e.Flags |= Looped
	}
	s.emit(e)
}

// severalFiles rejects a redirection into files of the kernel that a pattern stands for.
func (s *scanner) severalFiles(target word) bool {
	if !fitsSeveral.MatchString(target.text) || s.text(target.span) == "" || s.teed(target) {
		return false
	}
	s.rejected(Reject{Line: target.line, Span: target.span, certain: true,
		Reason: "a redirection writes one file: write | tee " + target.text + " >/dev/null, or a loop",
		Because: "bash refuses a pattern that fits several files (ambiguous redirect), and other shells look for a file of that very " +
			"name; then nothing is set."})
	return true
}

// fitsSeveral is a pattern below /proc or /sys that fits several files on nearly every machine. bash writes to the only one that
// another pattern fits, as hwmon/hwmon* may.
var fitsSeveral = regexp.MustCompile(`^/(?:proc|sys)/(?:.*/)?(?:(?:cpu|policy|rx-|tx-|eth|en|sd|nvme)(?:\[0-9\])?\*|(?:irq|net|block|conf|neigh)/\*(?:/|$))`)

// kernelFile is a file below /proc or /sys.
var kernelFile = regexp.MustCompile(`^/(?:proc|sys)/`)

// teed reports whether a file is an argument of tee, which the shell gives every file that a pattern fits.
func (s *scanner) teed(target word) bool {
	line := s.src[s.lineOf(target.span.Start).Start:target.span.Start]
	return !strings.HasSuffix(strings.TrimRight(strings.TrimSuffix(line, `"`), " \t"), ">")
}

// otherwise reports whether the command behind || writes the same file: what the first one writes may be refused.
func (s *scanner) otherwise(target word, base Entry) bool {
	const near = 300
	if target.span.End >= base.Raw.End {
		return false
	}
	_, rest, ok := strings.Cut(s.src[target.span.End:min(base.Raw.End, target.span.End+near)], "||")
	return ok && kernelFile.MatchString(target.text) && strings.Contains(rest, s.text(target.span))
}

// overPattern puts the pattern that a loop runs over into a path that begins with its variable.
func (s *scanner) overPattern(path string) string {
	rest, begins := strings.CutPrefix(path, "$"+s.loop)
	if !begins {
		rest, begins = strings.CutPrefix(path, "${"+s.loop+"}")
	}
	if !begins || len(s.over) != 1 || s.over[0].quoted || !strings.HasPrefix(s.over[0].text, "/") || rest != "" && rest[0] != '/' {
		return path
	}
	return s.over[0].text + rest
}

// fileName returns the catalog's name of a file below /proc or /sys: the
// sysctl's name, or the path with the interface, queue and interrupt as '*'.
func (s *scanner) fileName(target word) (name, iface string) {
	path := target.text
	if rest, ok := strings.CutPrefix(path, "/proc/sys/"); ok {
		name = LinuxName(strings.ReplaceAll(rest, "$", "*"))
		if target.expands {
			return name, "*"
		}
		return name, linuxIface(name)
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		switch {
		case i == 4 && strings.HasPrefix(path, "/sys/class/net/"):
			iface, parts[i] = p, "*"
			if strings.Contains(p, "$") {
				iface = "*"
			}
		case strings.HasPrefix(p, "rx-"):
			parts[i] = "rx-*"
		case strings.HasPrefix(p, "tx-"):
			parts[i] = "tx-*"
		case i == 3 && strings.HasPrefix(path, "/proc/irq/"):
			parts[i] = "*"
		case i == 3 && strings.HasPrefix(path, "/sys/block/"):
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/"), iface
}
