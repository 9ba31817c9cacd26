package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// udevPart is a match, an assignment or a command of a rule of udev.
var udevPart = regexp.MustCompile(`([A-Z_]+)(\{[^}\n]*\})?[ \t]*(==|!=|\+=|:=|=)[ \t]*e?"((?:[^"\\\n]|\\.)*)"`)

// shellSyntax is what a shell alone understands in a command.
var shellSyntax = regexp.MustCompile("\\$\\(|\x60|[ \\t](?:[|;]|&&|>>?|\\|\\|)[ \\t]")

// passesCommand is an option behind which a shell, or su, gets a command; quotedText is one argument.
var (
	passesCommand = regexp.MustCompile(`[ \t]-[a-z]*c[ \t]`)
	quotedText    = regexp.MustCompile(`'[^']*'`)
)

// udevRule tells a rule of udev about interfaces or disks that sets something.
var udevRule = regexp.MustCompile(`\bSUBSYSTEM=="(?:net|block|module)".*\b(?:RUN(?:\{program\})?\+?=|ATTR\{[^}]+\}[ \t]*=[ \t]*"|SYSCTL\{)|` +
	`(?m:^)[ \t]*(?:ACTION|KERNEL)==".*\bATTR\{queue/[^}]+\}[ \t]*=[ \t]*"`)

// udev reads rules of udev (udev(7)): attributes of interfaces and disks, sysctls, and the commands that RUN starts.
func (s *scanner) udev() {
	s.logicalLines(textStart(s.src), "#", func(line, from, to int, raw Span) {
		subsystem, iface := "", "*"
		for _, m := range udevPart.FindAllStringSubmatchIndex(s.src[from:to], maxLoop) {
			part := func(i int) string {
				if m[2*i] < 0 {
					return ""
				}
				return s.src[from+m[2*i] : from+m[2*i+1]]
			}
			key, attribute, sign, value := part(1), strings.Trim(part(2), "{}"), part(3), part(4)
			span := Span{from + m[8], from + m[9]}
			e := Entry{Key: key, Value: value, Iface: iface, Line: line, KeySpan: Span{from + m[2], from + m[3]}, ValueSpan: span, Raw: raw,
				style: styleFixed}
			switch {
			case sign == "==" && key == "SUBSYSTEM":
				subsystem = value
			case sign == "==" && (key == "KERNEL" || key == "NAME") && !strings.ContainsAny(value, "*?[|"):
				iface = value
			case sign == "==" || sign == "!=":
			case key == "SYSCTL" && isSysctl(LinuxName(attribute)):
				e.Key, e.Name = attribute, LinuxName(attribute)
				e.Iface = linuxIface(e.Name)
				s.emit(e)
			case key == "ATTR":
				e.Key, e.Name = attribute, s.udevAttribute(subsystem, attribute)
				s.emit(e)
			case key == "RUN" && !strings.Contains(attribute, "builtin"):
				if needsShell(value) {
					s.rejected(Reject{Line: line, Span: span, Idle: true, certain: true,
						Reason:  "udev runs this without a shell, so the program gets these characters as arguments: write /bin/sh -c '...'",
						Because: "Redirections, pipes and $( ) are the shell's (udev(7), RUN)."})
					continue
				}
				inner := s.marking(func(e *Entry) {
					e.style = styleFixed
					if strings.ContainsAny(e.Iface, "%$") {
						e.Iface = iface
					}
				})
				inner.rejected = func(Reject) {}
				inner.script(span.Start, span.End, line)
			}
		}
	})
}

// needsShell reports a command of a program that starts others without a shell, with what only a shell understands.
func needsShell(command string) bool {
	return shellSyntax.MatchString(quotedText.ReplaceAllString(command, "")) && !passesCommand.MatchString(command)
}

// udevAttribute is the setting that an attribute of a device is, "" for others.
func (s *scanner) udevAttribute(subsystem, attribute string) string {
	switch {
	case subsystem == "net" && attribute == "mtu":
		return "link:mtu"
	case subsystem == "net" && attribute == "tx_queue_len":
		return "link:txqueuelen"
	case subsystem == "net":
		name, _ := s.fileName(word{text: "/sys/class/net/*/" + attribute})
		return name
	case subsystem == "block", subsystem == "" && strings.HasPrefix(attribute, "queue/"): // only disks have such a folder of files
		return "/sys/block/*/" + attribute
	}
	return ""
}
