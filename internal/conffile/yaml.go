package conffile

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// yaml reads the sysctls in YAML: tasks, variables and states of Ansible and Salt,
// and what else holds them in one of these forms, each on lines of its own:
//
//	net.core.rmem_max: 1          a mapping
//	- name: net.core.rmem_max     an item or a task, with value: after it
//	- { name: a.b, value: 1 }     the same on one line
//	sysctl: name=a.b value="1"    the arguments of a task
//	- "net.core.rmem_max=1"       a line of a file that a task writes
//	content: |                    a file of sysctl's, or a script, as block of text
//	- sysctl -w net.core.x=1      a command, also inside of quotes
//
// Only names that begin like a sysctl of the system count, so that other YAML has none.
func (s *scanner) yaml() {
	if s.system == Linux && isNMState.MatchString(s.src) {
		s.nmstate()
	}
	rejected := s.rejected
	y := &yamlReader{s: s, starts: startsContainers(s.src), rejected: rejected,
		shared: sharedNetworks(s.src)}
	s.rejected = func(Reject) {} // what a program makes of the text may be right
	s.lines(textStart(s.src), len(s.src), 1, func(line, from, to int) bool {
		if from >= y.read && !y.block(line, from, to) {
			y.line(line, from, to)
		}
		return true
	})
	y.loadModule()
	s.rejected = rejected
}

// block reads a block of text that begins below a line which ends in | or >: the
// lines of a file of sysctl's, or a script. ok is false for other text.
func (y *yamlReader) block(line, from, to int) (ok bool) {
	s := y.s
	a, b := s.trim(from, to)
	if !blockMark.MatchString(s.src[a:b]) {
		return false
	}
	start, depth := min(to+1, len(s.src)), a-from
	end, sysctls, others, commands := start, 0, 0, false
	s.lines(start, len(s.src), line+1, func(_, from, to int) bool {
		a, b := s.trim(from, to)
		switch text := s.src[a:b]; {
		case a == b:
		case a-from <= depth:
			return false
		case text[0] == '#' && !strings.HasPrefix(text, "#!"):
		case s.yamlAssigns(text):
			sysctls++
		default:
			others++
			commands = commands || runs.MatchString(text+" ") || strings.HasPrefix(text, "#!")
		}
		end = min(to+1, len(s.src))
		return true
	})
	switch {
	case y.written(start, end, line+1):
	case y.file(start, end, line+1):
	case sysctls > 0 && others == 0:
		inner := s.marking(func(e *Entry) { e.In, e.Block, e.style = Sysctl, line+1, styleFixed })
		inner.lines(start, end, line+1, func(line, from, to int) bool { inner.sysctlLine(line, from, to); return true })
	case commands:
		y.commands(start, end, line+1)
	default:
		return false
	}
	y.read = end
	return true
}

// namedBelow is a field of a task that tells the file which it writes, namedKinds are those of the BSDs that are read as
// they stand in a task.
var (
	namedBelow = regexp.MustCompile(`^[ \t]*(?:dest|path):[ \t]*["']?(/[^ \t\n"']+)`)
	namedKinds = []Kind{PF, HostnameIf, Relayd, LoginConf, MyGate}
)

// written reads a block of text that goes into the file of FreeBSD or OpenBSD that its task names, above it or below.
func (y *yamlReader) written(from, to, line int) bool {
	s := y.s
	path := y.path
	if m := namedBelow.FindStringSubmatch(s.src[to:s.lineOf(to).End]); m != nil && path == "" {
		path = m[1]
	}
	kind, text := fromPath(path, "").Kind, s.src[from:to]
	inner := y.into(kind, line)
	if inner != nil {
		inner.rejected = func(r Reject) {
			if line := s.wholeLines(r.Span); r.certain || !strings.ContainsAny(s.text(line), "{$") { // without a template's variable
				y.rejected(r)
			}
		}
	}
	switch {
	case inner != nil && kind == RC:
		inner.rcText(from, to, line, inner.rcCommand)
	case inner != nil:
		inner.lines(from, to, line, func(line, from, to int) bool { inner.written(kind, line, from, to); return true })
	case s.system != Linux && slices.Contains(namedKinds, kind) && !strings.Contains(text, "{{") && !strings.Contains(text, "{%"):
		y.whole(kind, from, to, line)
	default:
		return false
	}
	return true
}

// whole reads a part as a file that stands for itself, with what its program refuses.
func (y *yamlReader) whole(kind Kind, from, to, line int) {
	silenced := y.s.rejected
	y.s.rejected = y.rejected
	y.s.wholeAs(kind, from, to, line)
	y.s.rejected = silenced
}

// profileSection is a section of a profile of TuneD.
var profileSection = regexp.MustCompile(`(?m)^[ \t]*\[(?:sysctl|bootloader|sysfs|main)\][ \t]*\r?$`)

// file reads a block of text that is a profile of TuneD, or a file that guides show as a whole too.
func (y *yamlReader) file(from, to, line int) bool {
	s := y.s
	text := s.src[from:to]
	if profileSection.MatchString(text) && strings.Contains(text, "=") {
		s.wholeAs(Tuned, from, to, line)
		return true
	}
	r := &otherReader{s: s}
	found := false
	s.lines(from, to, line, func(line, from, to int) bool {
		a, b := s.trim(from, to)
		if from >= r.read && r.region(line, a, b) {
			found = true
		}
		return found || a == b || s.src[a] == '#' // the first line tells
	})
	return found
}

// commands reads a script.
func (y *yamlReader) commands(from, to, line int) {
	inner := *y.s
	inner.indented, inner.variables, inner.elsewhere = true, nil, nil
	inner.entry = func(e Entry) bool {
		e.style = styleFixed
		y.s.emit(e)
		return !y.s.stopped
	}
	inner.script(from, to, line)
}

// blockMark ends a line below which a block of text begins.
var blockMark = regexp.MustCompile(`(?:^|:|-)[ \t]*[|>][-+0-9]*(?:[ \t]+#.*)?$`)

// yamlAssigns reports whether a line sets a sysctl.
func (s *scanner) yamlAssigns(text string) bool {
	key, _, assigned := strings.Cut(text, "=")
	return assigned && s.yamlSysctl(strings.TrimPrefix(strings.TrimSpace(key), "-"))
}

// ranInline is a command in a line of YAML.
var ranInline = regexp.MustCompile(`(?:^|["'(;&|\[,]|- |` +
	`: )[ \t]*((?:sudo[ \t]+)?(?:/[a-z/]*/)?(?:sysctl[ \t]+(?:-[a-z]+[ \t]+)*["']?[a-z][a-z0-9_]*[./]|ethtool[ \t]+-|` +
	`tc[ \t]+qdisc|ip[ \t]+(?:link|route)[ \t]|nmcli[ \t]+c|grubby[ \t]+-|modprobe[ \t]+[a-z]|ifconfig[ \t]+[a-z]+[0-9]+[ \t]+[a-z]|echo[ \t].*>))`)

// inline reads the commands in a line; quotes around them end them.
func (y *yamlReader) inline(line, from, to int) (ok bool) {
	m := ranInline.FindStringSubmatchIndex(y.s.src[from:to])
	if m == nil {
		return false
	}
	start, end := from+m[2], to
	if quote := strings.LastIndexAny(y.s.src[from:start], `"'`); quote >= 0 {
		if i := strings.IndexByte(y.s.src[start:to], y.s.src[from+quote]); i >= 0 {
			end = start + i
		}
	}
	y.commands(start, end, line)
	return true
}

// Lines of what containers are started by: a file of Docker Compose, a manifest of Kubernetes, a task of Ansible.
var (
	manifest = regexp.MustCompile(`(?m)^services:|^[ \t]*(?:podSecurityContext|securityContext):|^[ \t]*(?:- )?(?:[a-z.]+\.)?(?:docker|podman)_container:`)
	imageKey = regexp.MustCompile(`(?m)^[ \t]+(?:- )?(?:image|build|securityContext):|^[ \t]*podSecurityContext:`)
)

// hostNetwork is the line by which a container shares the network of its host.
var hostNetwork = regexp.MustCompile(`(?m)^[ \t]*(?:network_mode:[ \t]*["']?host["']?|hostNetwork:[ \t]*true)[ \t\r]*$`)

// sharedNetworks are the parts of a text that describe what shares the network of its host: around each such line,
// the lines that are indented as it is or further.
func sharedNetworks(text string) (parts []Span) {
	for _, m := range hostNetwork.FindAllStringIndex(text, maxLoop) {
		if n := len(parts); n > 0 && m[0] < parts[n-1].End {
			continue // in such a part already
		}
		depth := indent(text[m[0]:m[1]])
		outside := func(line string) bool { return strings.TrimSpace(line) != "" && indent(line) < depth }
		part := Span{m[0], m[1]}
		for part.Start > 0 {
			start := strings.LastIndexByte(text[:part.Start-1], '\n') + 1
			if outside(text[start:part.Start]) {
				break
			}
			part.Start = start
		}
		for part.End < len(text) {
			line, _, _ := strings.Cut(text[part.End+1:], "\n")
			if outside(line) {
				break
			}
			part.End += 1 + len(line)
		}
		parts = append(parts, part)
	}
	return parts
}

func startsContainers(text string) bool {
	return manifest.MatchString(text) && imageKey.MatchString(text)
}

// yamlReader remembers a name until its value comes.
type yamlReader struct {
	s    *scanner
	name *word // of an item whose value is still to come

	rejected func(Reject)
	path     string // that the task writes to
	added    *word  // a line that it adds to a file which is not named yet
	read     int    // where the block of text ends that was read

	depth   int    // by which the line is indented
	starts  bool   // containers, by the manifest that this is
	shared  []Span // of what shares the host's network
	sysctls int    // by which the key is indented below which their sysctls stand, 0 outside of it
	limits  *yamlLimit
	modules *yamlModule
}

func (y *yamlReader) line(line, from, to int) {
	s := y.s
	if i := strings.Index(s.src[from:to], " #"); i >= 0 {
		to = from + i
	}
	start := from
	from, to = s.trim(from, to)
	for to-from > 1 && s.src[from] == '-' && s.src[from+1] == ' ' {
		from, to = s.trim(from+1, to)
		if y.added = nil; y.modules == nil {
			y.path = "" // another item
		}
	}
	y.depth = from - start
	if y.starts && from < to && s.src[from] != '#' {
		if y.sysctls > 0 && y.depth <= y.sysctls {
			y.sysctls = 0
		}
		if s.src[from:to] == "sysctls:" {
			y.sysctls = y.depth
		}
	}
	if from == to || s.src[from] == '#' || y.inline(line, from, to) {
		return
	}
	if i := strings.IndexByte(s.src[from:to], ':'); i > 0 && strings.HasSuffix(s.src[from:from+i], "modprobe") && from+i+1 < to {
		y.modules = &yamlModule{indent: y.depth - 1} // its fields follow on this line
	}
	if i := max(strings.Index(s.src[from:to], "name="), strings.Index(s.src[from:to], "domain=")); i >= 0 || s.src[from] == '{' {
		y.pairs(line, from+max(i, 0), to)
		return
	}
	colon, equals := strings.Index(s.src[from:to], ": "), strings.IndexByte(s.src[from:to], '=')
	if colon < 0 && s.src[to-1] == ':' {
		colon = to - 1 - from
	}
	switch {
	case equals > 0 && (colon < 0 || equals < colon):
		w := y.scalar(line, from, to)
		if eq := strings.IndexByte(w.text, '='); eq > 0 {
			at := w.span.Start + eq
			y.emit(y.scalar(line, w.span.Start, at), y.scalar(line, at+1, w.span.End))
		}
	case colon > 0:
		y.field(y.scalar(line, from, from+colon), y.scalar(line, from+colon+1, to))
	}
}

// pairs reads several fields of one line.
func (y *yamlReader) pairs(line, from, to int) {
	s := y.s
	for from < to {
		n := strings.IndexAny(s.src[from:to], ":=")
		if n < 0 {
			return
		}
		key := y.scalar(line, max(from, from+strings.LastIndexAny(s.src[from:from+n], " ,{")+1), from+n)
		v0, v1 := s.trim(from+n+1, to)
		end := v1
		if v0 < v1 && (s.src[v0] == '"' || s.src[v0] == '\'') {
			if i := strings.IndexByte(s.src[v0+1:v1], s.src[v0]); i >= 0 {
				end = v0 + i + 2
			}
		} else if i := strings.IndexAny(s.src[v0:v1], ",} "); i >= 0 {
			end = v0 + i
		}
		y.field(key, y.scalar(line, v0, end))
		from = max(end, from+n+1)
	}
}

// field takes one key with its value.
func (y *yamlReader) field(key, value word) {
	y.limit(key, value)
	y.module(key, value)
	switch {
	case y.s.yamlSysctl(key.text) && value.text != "":
		y.emit(key, value)
	case y.s.yamlSysctl(key.text):
		y.name = &key
	case slices.Contains(yamlNames, key.text) && y.s.yamlSysctl(value.text):
		y.name = &value
	case key.text == "name":
		y.name = nil
	case key.text == "path" || key.text == "dest":
		y.target(value.text)
	case key.text == "line":
		y.fileLine(value)
	case slices.Contains(yamlValues, key.text) && y.name != nil:
		y.emit(*y.name, value)
		y.name = nil
	}
}

// yamlNames and yamlValues are the keys of items by which people call names and values.
var (
	yamlNames  = []string{"name", "key", "param", "k", "sysctl", "setting", "parameter"}
	yamlValues = []string{"value", "val", "v"}
)

// scalar is a plain or quoted text between two offsets.
func (y *yamlReader) scalar(line, from, to int) word {
	from, to = y.s.trim(from, to)
	w := word{line: line}
	if to-from >= 2 && (y.s.src[from] == '"' || y.s.src[from] == '\'') && y.s.src[to-1] == y.s.src[from] {
		from, to, w.quoted = from+1, to-1, true
	}
	w.span, w.text = Span{from, to}, y.s.src[from:to]
	return w
}

func (y *yamlReader) emit(name, value word) {
	if !y.s.yamlSysctl(name.text) || value.text == "" {
		return
	}
	e := Entry{Key: name.text, Name: name.text, Value: value.text, Line: name.line, KeySpan: name.span,
		ValueSpan: value.span, Raw: Span{name.span.Start, value.span.End}, style: styleFixed}
	if y.s.system == Linux {
		e.Name = LinuxName(name.text)
		e.Iface = linuxIface(e.Name)
	}
	if truth := isTrue[strings.ToLower(value.text)]; truth != "" {
		e.Value = truth
	}
	if y.sysctls > 0 {
		inside := func(p Span) bool { return p.Start <= name.span.Start && name.span.End <= p.End }
		if e.Flags |= Container; slices.ContainsFunc(y.shared, inside) {
			e.Flags |= HostNetwork
		}
	}
	y.s.emit(e)
}

// isSysctl reports whether a word is the name of a sysctl of Linux by its beginning.
func isSysctl(name string) bool {
	if strings.ContainsAny(name, " \t{}$(),") || strings.Count(name, ".")+strings.Count(name, "/") == 0 {
		return false
	}
	system, known := SystemOfKey(name)
	return known && system == Linux
}

// bsdSysctls are the beginnings of the BSDs' names that settings of other programs do not have.
var bsdSysctls = []string{"net.inet.", "net.inet6.", "kern.ipc.", "net.isr.", "net.link.", "net.pf.", "vfs.zfs.",
	"kern.maxfiles", "kern.maxproc", "kern.maxvnodes", "kern.maxclusters", "kern.bufcachepercent", "security.bsd.",
	"hw.ix.", "hw.igb.", "hw.igc.", "hw.em.", "hw.ixl.", "hw.vtnet.", "hw.cxgbe."}

// yamlSysctl reports whether a word is the name of a sysctl of the system by its beginning.
func (s *scanner) yamlSysctl(name string) bool {
	if s.system == Linux {
		return isSysctl(name)
	}
	return !strings.ContainsAny(name, " \t{}$(),/:=") && slices.ContainsFunc(bsdSysctls, func(b string) bool { return strings.HasPrefix(name, b) })
}

// otherBSD are systems whose sysctls have such names too.
var otherBSD = regexp.MustCompile(`(?i)darwin|mac ?os|\bosx\b|netbsd|dragonfly`)

// yamlSystem is the system that the sysctls in a YAML text are of, "" for a text without.
func yamlSystem(text string) System {
	for _, system := range []System{Linux, FreeBSD} {
		votes := map[System]int{}
		s := &scanner{src: text, system: system, rejected: func(Reject) {}, entry: func(e Entry) bool {
			of, known := SystemOfKey(e.Name)
			if system == Linux && known && of != Linux {
				return true // a command that both have
			}
			if e.In == PF || e.In == RC && !strings.HasSuffix(e.Key, "_enable") { // whose names both have
				if of = onlyNamed(text); of == "" {
					return true
				}
			}
			votes[of]++
			return system != Linux
		}}
		s.yaml()
		switch {
		case len(votes) > 0 && system == Linux:
			return Linux
		case system == Linux && otherBSD.MatchString(text):
			return ""
		case votes[OpenBSD] > votes[FreeBSD], len(votes) > 0 && onlyNamed(text) == OpenBSD:
			return OpenBSD
		case votes[FreeBSD]+votes[""] > 0:
			return FreeBSD
		}
	}
	return ""
}
