package conffile

import (
	"cmp"
	"slices"
	"strings"
)

// yamlLimit is what the fields of an item say about a limit of pam_limits, and
// yamlModule what those of a task say about a module of the kernel, or about a variable of rc.conf.
type (
	yamlLimit  struct{ domain, kind, item, value word }
	yamlModule struct {
		name, value word
		path        string
		variable    bool
		indent      int
		absent      bool
	}
)

// limit takes a field of an item that sets a limit: Ansible's pam_limits, and lists of
// such items. An item begins with its domain.
func (y *yamlReader) limit(key, value word) {
	if key.text == "domain" {
		y.limits = &yamlLimit{domain: value}
		return
	}
	l := y.limits
	if l == nil {
		return
	}
	switch key.text {
	case "limit_type", "type":
		l.kind = value
	case "limit_item", "item":
		l.item = value
	case "value":
		l.value = value
	default:
		return
	}
	if l.kind.text == "" || l.item.text == "" || l.value.text == "" {
		return
	}
	y.limits = nil
	all := strings.ToLower(l.domain.text + " " + l.kind.text + " " + l.item.text + " " + l.value.text)
	kind := strings.ToLower(l.kind.text)
	if len(strings.Fields(all)) != 4 || strings.ContainsAny(all, "{}$") || !slices.Contains([]string{"soft", "hard", "-"}, kind) {
		return
	}
	if kind == "-" {
		kind = "hard"
	}
	y.s.emit(Entry{Key: l.domain.text + " " + l.kind.text + " " + l.item.text, In: Limits, style: styleFixed,
		Name:  "limits:" + kind + "/" + strings.ToLower(l.item.text),
		Value: strings.ToLower(l.value.text), Line: l.item.line, KeySpan: l.item.span,
		ValueSpan: l.value.span, Raw: y.s.wholeLines(l.item.span)})
}

// into returns a scanner whose entries are marked as written into a file of FreeBSD or OpenBSD, nil for other files.
func (y *yamlReader) into(kind Kind, line int) *scanner {
	if y.s.system == Linux || kind != Sysctl && kind != Loader && kind != RC {
		return nil
	}
	return y.s.marking(func(e *Entry) {
		e.In, e.Block, e.style = kind, line, styleFixed
		if strings.ContainsAny(e.Value, "{}$") {
			e.Flags |= Expands
		}
	})
}

// moduleTask is the name of a task about a module of the kernel, or about a variable of rc.conf, whose fields come next.
func moduleTask(key string) (is, variable bool) {
	last := key[strings.LastIndexByte(key, '.')+1:]
	variable = last == "sysrc" || key == "sysrc.managed"
	return variable || last == "modprobe", variable
}

// module takes a field of such a task, whose own fields are indented deeper.
func (y *yamlReader) module(key, value word) {
	at := y.depth
	if m := y.modules; m != nil && at <= m.indent {
		y.loadModule()
	}
	m := y.modules
	switch task, variable := moduleTask(key.text); {
	case value.text == "" && task:
		y.modules = &yamlModule{indent: at, variable: variable}
	case m == nil:
	case key.text == "name":
		m.name = value
	case key.text == "value":
		m.value = value
	case key.text == "path" || key.text == "dest" || key.text == "file":
		m.path = value.text
	case key.text == "state":
		m.absent = value.text != "present"
	}
}

// loadModule emits the module of the task that ends.
func (y *yamlReader) loadModule() {
	m := y.modules
	y.modules = nil
	if m == nil || m.absent || m.name.text == "" || strings.ContainsAny(m.name.text, "{}$ ") {
		return
	}
	if m.variable {
		y.variable(m)
		return
	}
	y.s.emitModule(m.name, Entry{Raw: y.s.wholeLines(m.name.span)}, y.s.moduleLoadName(m.name.text), "load")
}

// variable emits the variable of rc.conf, or of the file that sysrc is given instead.
func (y *yamlReader) variable(m *yamlModule) {
	kind := fromPath(cmp.Or(m.path, "/etc/rc.conf"), "").Kind
	inner := y.into(kind, m.name.line)
	if inner == nil || m.value.text == "" {
		return
	}
	e := Entry{Key: m.name.text, Name: m.name.text, Value: m.value.text, Line: m.name.line, KeySpan: m.name.span,
		ValueSpan: m.value.span, Raw: y.s.wholeLines(m.name.span)}
	if kind == RC {
		inner.rcVariable(e)
		return
	}
	if strings.HasSuffix(e.Key, "_load") {
		e.Flags |= Module
	}
	inner.emit(e)
}

// target takes the file that a task writes, which may be named before the line that it adds or behind it.
func (y *yamlReader) target(file string) {
	y.path = file
	if line := y.added; line != nil && y.s.system != Linux && slices.Contains([]Kind{PF, HostnameIf, RC}, fromPath(file, "").Kind) {
		y.fileLine(*line)
	}
}

// fileLine reads a line that a task writes into another file: of a file of the BSDs, an assignment of a sysctl, a kernel
// command line, a limit, or options of a module.
func (y *yamlReader) fileLine(value word) {
	kind := fromPath(y.path, "").Kind
	inner := y.into(kind, value.line)
	plain := !strings.ContainsAny(value.text, `{}\`)
	if y.added = nil; y.path == "" {
		y.added = &value
	}
	switch {
	case inner != nil && !strings.ContainsRune(value.text, '\\'):
		inner.written(kind, value.line, value.span.Start, value.span.End)
	case y.s.system != Linux && (kind == PF || kind == HostnameIf) && !strings.Contains(value.text, "{{"):
		y.whole(kind, value.span.Start, value.span.End, value.line)
	case plain && (kind == ModulesLoad || kind == Modprobe || kind == Limits):
		y.s.wholeAs(kind, value.span.Start, value.span.End, value.line)
	case y.s.yamlAssigns(value.text):
		name, _, _ := strings.Cut(value.text, "=")
		at := value.span.Start + len(name)
		y.emit(y.scalar(value.line, value.span.Start, at), y.scalar(value.line, at+1, value.span.End))
	case strings.HasPrefix(value.text, "GRUB_CMDLINE_LINUX") && !strings.ContainsAny(value.text, `\{`):
		y.s.wholeAs(Cmdline, value.span.Start, value.span.End, value.line)
	default:
		y.s.otherFile(value.line, value.span.Start, value.span.End)
	}
}

// isTrue are the words of YAML for yes and no that the programs which read the files
// hand on as 1 and 0.
var isTrue = map[string]string{"true": "1", "yes": "1", "on": "1", "false": "0", "no": "0", "off": "0"}
