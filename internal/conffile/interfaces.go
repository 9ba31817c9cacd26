package conffile

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/spelling"
)

// interfaces reads ifupdown's /etc/network/interfaces (interfaces(5)): a
// backslash continues a line, '#' at the start of a line is a comment, iface
// opens a stanza whose lines are options. up, pre-up and post-up hold command
// lines; what runs when an interface goes down sets nothing and is left out.
// The method of a stanza is an entry interfaces:inet or interfaces:inet6.
// The options of the ethtool package's scripts are named like the ethtool
// command lines that they become.
func (s *scanner) interfaces() {
	iface := ""
	s.logicalLines(textStart(s.src), "#", func(line, from, to int, raw Span) {
		key := from
		for key < to && !isBlank(s.src[key]) {
			key++
		}
		v0, v1 := s.trim(key, to)
		e := Entry{Key: s.src[from:key], Line: line, KeySpan: Span{from, key}, ValueSpan: Span{v0, v1},
			Value: unfold(s.src[v0:v1]), Raw: raw, Iface: iface}
		switch e.Key {
		case "iface":
			words := s.fields(v0, v1, line)
			if iface = ""; len(words) > 0 {
				iface = words[0].text
			}
			if len(words) > 2 {
				e.Iface, e.Name, e.Value, e.ValueSpan = iface, "interfaces:"+words[1].text, words[2].text, words[2].span
				s.emit(e)
			}
			return
		case "auto", "mapping", "no-auto-down", "no-scripts", "rename", "template":
			iface = ""
			return
		case "source", "source-directory":
			iface, e.Iface = "", ""
			e.Name = "interfaces:" + e.Key
			s.emit(e)
			return
		case "up", "pre-up", "post-up":
			s.ifVariable = iface
			s.script(v0, v1, line)
			return
		case "down", "pre-down", "post-down":
			return
		}
		if iface == "" {
			return
		}
		e.Name = interfacesName(e.Key)
		s.addressed(e.Key, line, e.ValueSpan)
		s.emit(e)
	})
}

// interfacesPrefixes maps prefixes of options to ethtool groups.
var interfacesPrefixes = []struct{ prefix, group string }{
	{"offload-", "features"},
	{"hardware-irq-coalesce-", "coalesce"},
	{"hardware-dma-ring-", "ring"},
	{"ethernet-pause-", "pause"},
}

func interfacesName(key string) string {
	switch key {
	case "mtu", "txqueuelen":
		return "link:" + key
	}
	for _, p := range interfacesPrefixes {
		if rest, ok := strings.CutPrefix(key, p.prefix); ok {
			return ethtoolName(p.group, rest)
		}
	}
	if feature, ok := strings.CutSuffix(key, "-offload"); ok { // ifupdown2
		return ethtoolName("features", feature)
	}
	return "interfaces:" + key
}

// bondAlias is the name that a bond has in old guides, which an alias gives to the module.
var bondAlias = regexp.MustCompile(`^bond[0-9]+$`)

// modprobe reads modprobe.d (modprobe.d(5)): options, blacklist, install.
// Modules are named with '_' whatever the file writes.
func (s *scanner) modprobe() {
	s.logicalLines(textStart(s.src), "#", func(line, from, to int, raw Span) {
		words := s.fields(from, to, line)
		if len(words) < 2 {
			s.reject(line, Span{from, to}, "modprobe.d expects a command and a module on this line")
			return
		}
		verb, module := words[0], words[1]
		if near := modprobeVerb(verb.text); near != "" {
			s.rejected(Reject{Line: line, Span: verb.span, Reason: "modprobe.d has no command " + verb.text + "; did you mean " + near + "?",
				Because: "modprobe prints a warning and ignores the line.", certain: true})
			return
		}
		base := Entry{Raw: raw, Line: line}
		name := "module:" + strings.ReplaceAll(module.text, "-", "_")
		if verb.text == "options" && bondAlias.MatchString(module.text) {
			name = "module:bonding" // by an alias line
		}
		switch verb.text {
		case "options":
			s.moduleOptions(words[2:], name, base)
		case "blacklist":
			s.emitModule(module, base, name, "blacklist")
		case "install":
			v0, v1 := s.trim(module.span.End, to)
			s.emitModule(module, base, name, strings.TrimSpace("install "+unfold(s.src[v0:v1])))
		}
	})
}

// modprobeVerbs are the commands of modprobe.d(5).
var modprobeVerbs = []string{"alias", "blacklist", "install", "options", "remove", "softdep", "weakdep", "config", "include"}

// modprobeVerb returns the command that a word is a slip from, "" where it is one of them or near none.
func modprobeVerb(text string) string {
	if slices.Contains(modprobeVerbs, text) {
		return ""
	}
	if i := slices.IndexFunc(modprobeVerbs, func(v string) bool { return spelling.Slip(v, text) }); i >= 0 {
		return modprobeVerbs[i]
	}
	return ""
}

// modulesLoad reads modules-load.d(5) and Debian's /etc/modules: a module a
// line, in the latter with options after it.
func (s *scanner) modulesLoad() {
	s.logicalLines(textStart(s.src), "#;", func(line, from, to int, raw Span) {
		words := s.fields(from, to, line)
		base := Entry{Raw: raw, Line: line}
		name := "module:" + strings.ReplaceAll(words[0].text, "-", "_")
		s.emitModule(words[0], base, name, "load")
		s.moduleOptions(words[1:], name, base)
	})
}

// cmdlineForeign are prefixes of dotted kernel arguments that are no module's.
var cmdlineForeign = []string{"systemd.", "rd.", "udev.", "net.", "luks.", "vconsole.", "locale.", "ip."}

// cmdline reads a kernel command line, and /etc/default/grub, whose
// GRUB_CMDLINE_LINUX variables hold one. sysctl.NAME=VALUE (Linux 5.8 and
// later) sets a sysctl, MODULE.OPTION=VALUE a module's option; other arguments
// are named cmdline:NAME.
func (s *scanner) cmdline() {
	if !strings.Contains(s.src, "GRUB_CMDLINE_LINUX") {
		s.kernelArguments(s.fields(textStart(s.src), len(s.src), 1), Entry{})
		return
	}
	s.shell(textStart(s.src), len(s.src), 1, func(c *command) {
		for _, w := range c.words {
			e, ok := s.assignment(w)
			if ok && strings.HasPrefix(e.Key, "GRUB_CMDLINE_LINUX") {
				e.Raw = c.raw
				s.kernelArguments(s.valueWords(e), e)
			}
		}
	})
}

func (s *scanner) kernelArguments(words []word, base Entry) {
	for _, w := range words {
		if w.text[0] == '/' {
			continue // the kernel itself
		}
		eq := strings.IndexByte(w.text, '=')
		e := Entry{Key: w.text, Line: w.line, KeySpan: w.span, ValueSpan: Span{w.span.End, w.span.End}, Raw: base.Raw,
			Flags: base.Flags&Quoted | Part, style: styleFixed}
		if base.Raw == (Span{}) {
			e.Raw = s.wholeLines(w.span)
			e.Flags &^= Part
		}
		if eq > 0 {
			e.Key, e.Value, e.style = w.text[:eq], w.text[eq+1:], stylePlain
			e.KeySpan.End, e.ValueSpan = w.span.Start+eq, Span{w.span.Start + eq + 1, w.span.End}
		}
		e.Name = "cmdline:" + e.Key
		if name, ok := strings.CutPrefix(e.Key, "sysctl."); ok {
			e.Name = LinuxName(name)
			e.Iface = linuxIface(e.Name)
		} else if module, option, ok := strings.Cut(e.Key, "."); ok && !hasAnyPrefix(e.Key, cmdlineForeign) {
			e.Name = "module:" + strings.ReplaceAll(module, "-", "_") + "/" + option
			e.Flags |= Module
		}
		s.emit(e)
	}
}

func hasAnyPrefix(text string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}
