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
	s.tree.conclude(s)
	s.iptables.conclude(s)
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
	base := Entry{Raw: c.raw, Flags: c.flags(), body: c.body}
	if len(words) > 2 && words[1].text == "in" && !words[1].quoted {
		s.loopOver(words[0].text, words[2:min(len(words), maxLoop+3)])
		return
	}
	name := program(words[0])
	s.before(c, name, words[1:], echoed)
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

// program is the name of the program that a word starts.
func program(w word) string {
	name := w.text[strings.LastIndexByte(w.text, '/')+1:]
	if rcSysctl.MatchString(name) {
		return "sysctl"
	}
	return name
}

// before keeps what the commands of a script do together.
func (s *scanner) before(c *command, name string, words, echoed []word) {
	if !slices.Contains(keepsRoutes, name) {
		clear(s.routes)
	}
	s.reload.ran(name, words)
	s.overwrites(c, name, words, echoed)
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
	return strings.HasPrefix(s.src, "#!") && s.says(asRootOnly)
}

// says reports whether the text has something, as far as it is searched, which happens once for each expression.
func (s *scanner) says(what *regexp.Regexp) bool {
	said, known := s.said[what]
	if !known {
		said = what.MatchString(s.src[:min(len(s.src), maxSearched)])
		if s.said == nil {
			s.said = map[*regexp.Regexp]bool{}
		}
		s.said[what] = said
	}
	return said
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
func isNumber(w word) bool { return isDigits(w.text) }

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

// split takes the words apart that a variable before the command's own words stands for.
func split(words, written []word) []word {
	if len(words) == 0 || !written[0].expands || written[0].quoted || words[0].expands {
		return words
	}
	parts := strings.Fields(words[0].text)
	if len(parts) < 2 {
		return words
	}
	var out []word
	for _, part := range parts {
		w := words[0]
		w.text = part
		out = append(out, w)
	}
	return append(out, words[1:]...)
}
