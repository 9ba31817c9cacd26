package conffile

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// service reads the limits that a unit of systemd sets, and those that systemd's own
// configuration sets for all, by the rules of unit files; and the commands that a unit
// runs. Entries are named service:KEY.
func (s *scanner) service() {
	var order unitOrder
	s.assignments(func(section string, e Entry) {
		s.misplacedInUnit(section, e)
		if section == "Unit" || section == "Install" || section == "" {
			order.line(section, e)
			return
		}
		lower := strings.ToLower(e.Key)
		order.service(e)
		switch {
		case strings.HasPrefix(e.Key, "ExecStartP") && onlyLimits.MatchString(e.Value):
			s.rejected(Reject{Line: e.Line, Span: e.ValueSpan, Idle: true, certain: true,
				Reason:  "this limit ends with the shell that " + e.Key + "= starts: write LimitNOFILE= instead",
				Because: "Each command of a unit is a process of its own, and ulimit reaches that process and its children only."})
		case strings.HasPrefix(e.Key, "Exec") && !templateUnit.MatchString(e.Value) && needsShell(unitSeparators.ReplaceAllString(e.Value, "")):
			s.rejected(Reject{Line: e.Line, Span: e.ValueSpan, Idle: true, certain: true,
				Reason:  "systemd runs this without a shell, so the program gets these characters as arguments: write /bin/sh -c '...'",
				Because: "Redirections, pipes, && and $( ) are the shell's (systemd.service(5), COMMAND LINES)."})
		case strings.HasPrefix(e.Key, "Exec"):
			command := strings.TrimLeft(e.Value, "@-:+!|")
			s.script(e.ValueSpan.End-len(command), e.ValueSpan.End, e.Line)
		case strings.HasPrefix(lower, "limit") || strings.HasPrefix(lower, "defaultlimit") || lower == "nice" ||
			lower == "cpuquota":
			if e.Value == "" {
				return
			}
			e.Name = "service:" + e.Key
			if section == "Manager" {
				e.Name = "service:Manager/" + e.Key
			}
			e.Value, e.style = unfold(e.Value), styleFixed
			s.emit(e)
		}
	})
	if after := order.after; after.Line > 0 && order.judged() && !strings.Contains(s.path, ".d/") {
		s.rejected(Reject{Line: after.Line, Span: after.ValueSpan, Idle: true, certain: true,
			Reason: "After=network-online.target orders, and nothing in this unit starts that target: add Wants=network-online.target",
			Because: "Where no other unit wants it either, this one starts without waiting for the network (systemd.special(7), " +
				"network-online.target)."})
	}
}

// unitSeparators are what systemd itself reads in a command line: quoted arguments, and a semicolon between commands.
// templateUnit is a command whose program a build fills in.
var (
	unitSeparators = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[ \t];[ \t]`)
	templateUnit   = regexp.MustCompile(`^[-@:+!|]*[^ \t]*(?:\$\(|\{\{|<)`)
)

// onlyLimits is a command of a unit that does no more than set limits of its own process.
var onlyLimits = regexp.MustCompile(`^[-@:+!|]*(?:/(?:usr/)?bin/)?(?:ba|da)?sh[ \t]+-c[ \t]+["']?ulimit[ \t]+-[A-Za-z]*n[ \t]+[0-9a-z]+["']?$`)

// unitOrder is what a unit says about network-online.target.
type unitOrder struct {
	after Entry
	wants bool // the unit wants it, or a service that may want it
	whole bool // which a file beside a unit is not
	added bool // to a unit, whose command is replaced
	once  bool // the service ends, and a timer may start it
	boot  bool // the system starts the unit by itself
}

// service takes a line of another section.
func (o *unitOrder) service(e Entry) {
	switch e.Key {
	case "ExecStart":
		o.whole, o.added = true, o.added || e.Value == ""
	case "Type":
		o.once = e.Value == "oneshot"
	}
}

// judged reports whether the unit must want the target, as far as is told.
func (o *unitOrder) judged() bool { return o.whole && !o.added && !o.wants && (o.boot || !o.once) }

// networkService is a service that brings the network up.
var networkService = regexp.MustCompile(`\b(?:NetworkManager|systemd-networkd|networking|connman|network)(?:-wait-online)?\.service\b`)

// onlineTarget is a target of the system. The manager of a user, whose units stand in default.target, has none of that name.
const (
	onlineTarget = "network-online.target"
	userTarget   = "default.target"
)

// line takes a line of [Unit] or [Install].
func (o *unitOrder) line(section string, e Entry) {
	words := strings.Fields(e.Value)
	if section == "Install" {
		o.boot = o.boot || e.Key == "WantedBy" || e.Key == "RequiredBy"
		o.wants = o.wants || slices.Contains(words, userTarget)
	}
	switch e.Key {
	case "After":
		if section == "Unit" && slices.Contains(words, onlineTarget) {
			o.after = e
		}
		o.wants = o.wants || networkService.MatchString(e.Value) // which it waits for instead
	case "Wants", "Requires", "Requisite", "BindsTo", "PartOf", "Upholds", "WantedBy", "RequiredBy":
		o.wants = o.wants || slices.ContainsFunc(words, func(w string) bool {
			return w == onlineTarget || section == "Unit" && !strings.HasSuffix(w, ".target")
		})
	}
}
