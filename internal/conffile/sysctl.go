package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// sysctl reads sysctl.conf by the rules of the system at hand. An unknown
// system is read by Linux' rules, the narrowest of the three about comments.
func (s *scanner) sysctl() {
	start := textStart(s.src)
	s.lines(start, len(s.src), 1, func(line, from, to int) bool {
		if line == 1 && start > 0 {
			s.markedLine(from, to)
			return true
		}
		s.sysctlLine(line, from, to)
		return true
	})
}

func (s *scanner) sysctlLine(line, from, to int) {
	switch s.system {
	case FreeBSD:
		s.sysctlFreeBSD(line, from, to)
	case OpenBSD:
		s.sysctlOpenBSD(line, from, to)
	default:
		s.sysctlLinux(line, from, to)
	}
}

// markedLine handles a first line that begins with a byte-order mark: its key
// is unknown to the system, a comment merely becomes a refused line.
func (s *scanner) markedLine(from, to int) {
	from, to = s.trim(from, to)
	if from == to || s.src[from] == '#' || s.src[from] == ';' {
		return
	}
	s.reject(1, Span{0, to}, "the byte-order mark before this line becomes part of its key, so the line has no "+
		"effect; save the file without it")
}

// sysctlLinux reads a line as procps (sysctl.c, 3.3 and 4.0) and systemd
// (src/sysctl/sysctl.c) both do: blanks around the line, key and value are
// dropped; '#' and ';' make a comment only as the first character; a '-'
// before the key ignores errors, and without '=' takes the key out of globs;
// everything after the first '=' is the value, a trailing comment included.
// There are no quotes and no continuation lines.
func (s *scanner) sysctlLinux(line, rawFrom, rawTo int) {
	from, to := s.trim(rawFrom, rawTo)
	if from == to || s.src[from] == '#' || s.src[from] == ';' {
		return
	}
	raw := Span{rawFrom, trimCR(s.src, rawFrom, rawTo)}
	e := Entry{Line: line, Raw: raw}
	eq := strings.IndexByte(s.src[from:to], '=')
	if s.src[from] == '-' {
		e.Flags |= IgnoreErrors
		from++
	}
	switch {
	case eq < 0 && e.Has(IgnoreErrors):
		e.Flags |= Exclude
		k0, k1 := s.trim(from, to)
		e.KeySpan, e.ValueSpan, e.style = Span{k0, k1}, Span{k1, k1}, styleFixed
	case eq < 0:
		s.reject(line, Span{from, to}, "not an assignment: no '=' on this line")
		return
	default:
		eq += rawFromTrimmed(s.src, rawFrom, rawTo)
		k0, k1 := s.trim(from, max(from, eq))
		v0, v1 := s.trim(eq+1, to)
		e.KeySpan, e.ValueSpan = Span{k0, k1}, Span{v0, v1}
	}
	e.Key, e.Value = s.text(e.KeySpan), s.text(e.ValueSpan)
	if e.Key == "" {
		s.reject(line, Span{from, to}, "no key before the '='")
		return
	}
	e.Name = LinuxName(e.Key)
	if strings.ContainsAny(e.Key, "*?[") {
		e.Flags |= Glob
	}
	e.Iface = linuxIface(e.Name)
	s.emit(e)
}

// rawFromTrimmed returns the offset of the first byte of a line that is not
// blank.
func rawFromTrimmed(src string, from, to int) int {
	for from < to && isBlank(src[from]) {
		from++
	}
	return from
}

// trimCR drops the carriage return of a CRLF line end.
func trimCR(src string, from, to int) int {
	if to > from && src[to-1] == '\r' {
		return to - 1
	}
	return to
}

// LinuxName returns the dotted name of a sysctl key in either spelling. The
// first separator decides: after a '/' first, slashes separate and dots are
// plain; after a '.' first, dots separate and a '/' stands for a dot
// (sysctl_normalize in systemd's sysctl-util.c, slashdot in procps). In the
// result dots separate, and a dot inside a component is written '/', as
// sysctl -a prints it: net.ipv4.conf.eth0/100.rp_filter.
func LinuxName(key string) string {
	key = strings.TrimPrefix(key, "/proc/sys/")
	i := strings.IndexAny(key, "./")
	if i < 0 || key[i] == '.' {
		return key
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '/':
			return '.'
		case '.':
			return '/'
		}
		return r
	}, key)
}

// linuxIface returns the interface of a per-interface sysctl: the fourth
// component below net.{ipv4,ipv6}.{conf,neigh}, without all and default.
func linuxIface(name string) string {
	if !strings.HasPrefix(name, "net.ipv") || len(name) < 10 {
		return ""
	}
	rest, ok := strings.CutPrefix(name[len("net.ipv4."):], "conf.")
	if !ok {
		if rest, ok = strings.CutPrefix(name[len("net.ipv4."):], "neigh."); !ok {
			return ""
		}
	}
	dev, _, ok := strings.Cut(rest, ".")
	if !ok || dev == "all" || dev == "default" {
		return ""
	}
	return strings.ReplaceAll(dev, "/", ".")
}

// sysctlFreeBSD reads a line as sysctl -f does (parsefile and parse in
// sbin/sysctl/sysctl.c): '#' begins a comment unless it is inside quotes or
// behind a backslash; '=' or ':' ends the key; one pair of quotes around the
// value is taken off.
func (s *scanner) sysctlFreeBSD(line, rawFrom, rawTo int) {
	end := freeBSDComment(s.src, rawFrom, rawTo)
	from, to := s.trim(rawFrom, end)
	if from == to {
		return
	}
	sep := strings.IndexAny(s.src[from:to], "=:")
	if sep < 0 {
		s.reject(line, Span{from, to}, "not an assignment: sysctl prints this variable instead of setting it")
		return
	}
	sep += from
	k0, k1 := s.trim(from, sep)
	v0, v1 := s.trim(sep+1, to)
	if s.src[sep] == ':' && s.printedBy(rawFrom, s.src[k0:k1]) {
		return
	}
	e := Entry{Line: line, Raw: Span{rawFrom, trimCR(s.src, rawFrom, rawTo)}, KeySpan: Span{k0, k1}}
	if v0 < v1 && (s.src[v0] == '"' || s.src[v0] == '\'') {
		e.Flags |= Quoted
		e.style = styleDouble
		if s.src[v0] == '\'' {
			e.style = styleSingle
		}
		if v1-v0 > 1 && s.src[v1-1] == s.src[v0] {
			v1--
		}
		v0++
	}
	e.ValueSpan = Span{v0, v1}
	e.Key, e.Value = s.text(e.KeySpan), s.text(e.ValueSpan)
	if e.Key == "" {
		s.reject(line, Span{from, to}, "no key before the separator")
		return
	}
	e.Name, e.Iface = e.Key, freeBSDIface(e.Key)
	s.emit(e)
}

// printedBy reports whether the line above one that begins at an offset is the command that prints a variable.
func (s *scanner) printedBy(from int, name string) bool {
	above := strings.TrimRight(s.src[:from], "\r\n")
	command := strings.TrimLeft(above[strings.LastIndexByte(above, '\n')+1:], "#%$ \t")
	return strings.TrimSpace(command) == "sysctl "+name
}

// freeBSDComment returns where the comment of a line begins, by the rule of
// FreeBSD's parsefile: the first '#' that is before any quote and not behind a
// backslash; a '#' inside the first quoted text ends nothing, but what follows
// the closing quote is dropped.
func freeBSDComment(src string, from, to int) int {
	line := src[from:to]
	single, double := strings.IndexByte(line, '\''), strings.IndexByte(line, '"')
	for p := 0; p < len(line); p++ {
		if line[p] != '#' {
			continue
		}
		quote := -1
		if single >= 0 && p > single {
			quote = single
		} else if double >= 0 && p > double {
			quote = double
		}
		if quote >= 0 {
			if end := strings.IndexByte(line[quote+1:], line[quote]); end >= 0 {
				return from + quote + 1 + end + 1
			}
			return to
		}
		if p == 0 || line[p-1] != '\\' {
			return from + p
		}
	}
	return to
}

// freeBSDIface returns the interface of a device sysctl: dev.DRIVER.UNIT.…
// becomes DRIVERUNIT, and the drivers whose interface is called otherwise
// (mlx5en's mce, cxgbe's cc, cxl and ncxl) keep that name.
func freeBSDIface(name string) string {
	rest, ok := strings.CutPrefix(name, "dev.")
	if !ok {
		return ""
	}
	driver, rest, ok := strings.Cut(rest, ".")
	if !ok {
		return ""
	}
	unit, _, ok := strings.Cut(rest, ".")
	if !ok || unit == "" || strings.Trim(unit, "0123456789") != "" {
		return ""
	}
	return driver + unit
}

// sysctlOpenBSD reads a line as /etc/rc does (stripcom and sysctl_conf): what
// follows the first '#' is dropped, and the rest is split at blanks into words
// that are given to sysctl(8) one by one, so that "key = value" sets nothing.
// A carriage return is no blank there and stays in the value.
func (s *scanner) sysctlOpenBSD(line, rawFrom, rawTo int) {
	end := rawTo
	if i := strings.IndexByte(s.src[rawFrom:rawTo], '#'); i >= 0 {
		end = rawFrom + i
	}
	raw, lost := Span{rawFrom, rawTo}, Span{}
	for from := rawFrom; from < end; {
		if c := s.src[from]; c == ' ' || c == '\t' {
			from++
			continue
		}
		to := from
		for to < end && s.src[to] != ' ' && s.src[to] != '\t' {
			to++
		}
		if !s.openBSDWord(line, Span{from, to}, raw) {
			if lost.End == 0 {
				lost.Start = from
			}
			lost.End = to
		}
		from = to
	}
	if lost.End > 0 {
		s.rejected(Reject{Line: line, Span: lost, certain: spacedSetting.MatchString(s.text(lost)), Reason: "not an assignment: write key=value without blanks"})
	}
}

// spacedSetting is one with blanks around its sign.
var spacedSetting = regexp.MustCompile(`^[a-z][a-z0-9_]*(?:\.[A-Za-z0-9_-]+)+[ \t]*=[ \t]*[^ \t]+$`)

// openBSDWord emits a word, and reports false for one that is no assignment.
func (s *scanner) openBSDWord(line int, w, raw Span) bool {
	word := s.text(w)
	if word == "\r" {
		return true
	}
	eq := strings.IndexByte(word, '=')
	if eq <= 0 || eq == len(word)-1 {
		return false
	}
	e := Entry{Line: line, Raw: raw, Key: word[:eq], Name: word[:eq], Value: word[eq+1:],
		KeySpan: Span{w.Start, w.Start + eq}, ValueSpan: Span{w.Start + eq + 1, w.End}}
	if c := e.Value[0]; len(e.Value) > 1 && (c == '"' || c == '\'') && e.Value[len(e.Value)-1] == c {
		// The words come from an expansion, so the shell takes no quotes off.
		e.Flags |= Quoted
	}
	s.emit(e)
	return true
}
