package conffile

import (
	"slices"
	"strings"
)

// yamlLimit is what the fields of an item say about a limit of pam_limits, and
// yamlModule what those of a task say about a module of the kernel.
type (
	yamlLimit  struct{ domain, kind, item, value word }
	yamlModule struct {
		name   word
		indent int
		absent bool
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

// module takes a field of Ansible's task modprobe, whose own fields are indented deeper.
func (y *yamlReader) module(key, value word) {
	at := y.depth
	if m := y.modules; m != nil && at <= m.indent {
		y.loadModule()
	}
	m := y.modules
	switch {
	case value.text == "" && key.text[strings.LastIndexByte(key.text, '.')+1:] == "modprobe":
		y.modules = &yamlModule{indent: at}
	case m == nil:
	case key.text == "name":
		m.name = value
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
	y.s.emitModule(m.name, Entry{Raw: y.s.wholeLines(m.name.span)}, y.s.moduleLoadName(m.name.text), "load")
}

// target takes the file that a task writes a line into, which may be named before the line or behind it.
func (y *yamlReader) target(file string) {
	y.path = file
	if y.added != nil {
		y.addedLine(*y.added)
	}
}

// addedLine reads a line that a task adds to a file of the BSDs of which each line stands for itself; read is false for others.
func (y *yamlReader) addedLine(value word) (read bool) {
	kind := fromPath(y.path, "").Kind
	if y.s.system == Linux || !slices.Contains([]Kind{PF, HostnameIf, RC}, kind) || strings.Contains(value.text, "{{") {
		y.added = &value
		return false
	}
	y.added = nil
	silenced := y.s.rejected
	y.s.rejected = y.rejected
	y.s.wholeAs(kind, value.span.Start, value.span.End, value.line)
	y.s.rejected = silenced
	return true
}

// fileLine reads a line that a task writes into another file: an assignment of a
// sysctl, a kernel command line, a limit, or options of a module.
func (y *yamlReader) fileLine(value word) {
	switch {
	case y.addedLine(value):
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
