package conffile

import "strings"

// tuned reads a TuneD profile as TuneD does (tuned/profiles/loader.py, Python's ConfigParser):
// sections of option=value, '#' and ';' begin a comment line, " #" a comment after a value, and
// variables of the section [variables] stand in values as ${NAME}. A value that is to be raised or
// lowered to (>N, <N) is taken as that value.
//
// Names are those of the settings behind the options: a sysctl, a file of /sys, ethtool:KIND/NAME
// and link:NAME of the interfaces of a net section; what is no setting of the system is
// tuned:PLUGIN/OPTION, such as tuned:main/include.
func (s *scanner) tuned() {
	section, plugin, device := "", "", ""
	variables := map[string]string{}
	s.lines(textStart(s.src), len(s.src), 1, func(line, from, to int) bool {
		raw := Span{from, trimCR(s.src, from, to)}
		from, to = s.trim(from, to)
		switch {
		case from == to || s.src[from] == '#' || s.src[from] == ';':
			return true
		case s.src[from] == '[' && s.src[to-1] == ']':
			section = strings.TrimSpace(s.src[from+1 : to-1])
			plugin, _, _ = strings.Cut(section, "_")
			device = ""
			return true
		}
		eq := strings.IndexByte(s.src[from:to], '=')
		if eq <= 0 {
			s.reject(line, Span{from, to}, "not an assignment: no '=' on this line")
			return true
		}
		k0, k1 := s.trim(from, from+eq)
		v0, v1 := s.trim(from+eq+1, to)
		if i := strings.Index(s.src[v0:v1], " #"); i >= 0 {
			v0, v1 = s.trim(v0, v0+i)
		}
		e := Entry{Key: s.src[k0:k1], Line: line, KeySpan: Span{k0, k1}, Raw: raw, Iface: device}
		if v1-v0 >= 2 && s.src[v0] == '"' && s.src[v1-1] == '"' {
			v0, v1, e.Flags, e.style = v0+1, v1-1, Quoted, styleDouble
		}
		e.ValueSpan = Span{v0, v1}
		e.Value = s.src[v0:v1]
		if expanded, known := expand(e.Value, variables); !known {
			e.Flags |= Expands
		} else if expanded != e.Value {
			e.Value, e.style = expanded, styleFixed
		}
		if value := strings.TrimLeft(e.Value, "<>"); value != e.Value {
			e.Value, e.style = value, styleFixed
		}
		switch {
		case section == "variables":
			variables[e.Key] = e.Value
		case e.Key == "type":
			plugin = e.Value
			return true
		case e.Key == "devices":
			if !strings.ContainsAny(e.Value, ",*!? ") {
				device = e.Value
			}
			return true
		case e.Key == "summary" || e.Key == "replace" || e.Key == "enabled":
			return true
		}
		s.tunedOption(section, plugin, e)
		return true
	})
}

// expand puts variables in; known is false when one of them is not known, or a function of TuneD's.
func expand(value string, variables map[string]string) (expanded string, known bool) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(value, "${")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		name, rest, closed := strings.Cut(after, "}")
		v, ok := variables[name]
		if !closed || !ok || b.Len()+len(v) > maxExpanded {
			return value, false
		}
		b.WriteString(v)
		value = rest
	}
}

// maxExpanded bounds a value with its variables, in bytes.
const maxExpanded = 64 << 10

// tunedFiles are the settings behind options of TuneD's plug-ins.
var tunedFiles = map[string]string{
	"vm/transparent_hugepages":  "/sys/kernel/mm/transparent_hugepage/enabled",
	"vm/transparent_hugepage":   "/sys/kernel/mm/transparent_hugepage/enabled",
	"cpu/governor":              "/sys/devices/system/cpu/*/cpufreq/scaling_governor",
	"disk/readahead":            "/sys/block/*/queue/read_ahead_kb",
	"disk/elevator":             "/sys/block/*/queue/scheduler",
	"net/nf_conntrack_hashsize": "net.netfilter.nf_conntrack_buckets",
}

func (s *scanner) tunedOption(section, plugin string, e Entry) {
	switch {
	case section == "main" || section == "variables":
		e.Name = "tuned:" + section + "/" + e.Key
	case plugin == "sysctl":
		e.Name = LinuxName(e.Key)
	case plugin == "sysfs":
		e.Name = e.Key
	case plugin == "modules":
		e.Name = e.Key
		e.Flags |= Module
	case tunedFiles[plugin+"/"+e.Key] != "":
		e.Name = tunedFiles[plugin+"/"+e.Key]
	case plugin == "net" && (e.Key == "mtu" || e.Key == "txqueuelen"):
		e.Name = "link:" + e.Key
	case plugin == "net" && tunedPairs[e.Key]:
		s.tunedPairs(e)
		return
	case plugin == "bootloader" && strings.HasPrefix(e.Key, "cmdline") && !e.Has(Expands):
		from := e.ValueSpan.Start + len(s.text(e.ValueSpan)) - len(strings.TrimLeft(s.text(e.ValueSpan), "+- "))
		s.kernelArguments(s.fields(from, e.ValueSpan.End, e.Line), Entry{Raw: e.Raw})
		return
	default:
		e.Name = "tuned:" + plugin + "/" + strings.TrimPrefix(e.Key, "kernel.")
	}
	s.emit(e)
}

// tunedPairs are the options of the net plug-in that are pairs of ethtool's names and values.
var tunedPairs = map[string]bool{"features": true, "coalesce": true, "pause": true, "ring": true, "channels": true}

func (s *scanner) tunedPairs(e Entry) {
	whole, option := e, e.Key
	words := strings.FieldsFunc(whole.Value, func(c rune) bool { return strings.ContainsRune(" \t,;:", c) })
	for i := 0; i+1 < len(words); i += 2 {
		e.Key, e.Name, e.Value, e.style = words[i], "ethtool:"+option+"/"+words[i], words[i+1], styleFixed
		s.emit(e)
	}
}

// governorCommand reads the governor that cpupower frequency-set sets.
func (s *scanner) governorCommand(words []word, base Entry) {
	for i, w := range words {
		if i > 0 && (words[i-1].text == "-g" || words[i-1].text == "--governor") && !w.expands {
			s.chosen("governor", tunedFiles["cpu/governor"], w, base)
		}
	}
}

// profileCommand reads the profiles that tuned-adm profile switches to.
func (s *scanner) profileCommand(words []word, base Entry) {
	if len(words) == 0 || words[0].text != "profile" {
		return
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w.text, "-") && !w.expands {
			s.chosen("profile", "tuned:main/include", w, base)
		}
	}
}

// chosen emits a word that a command chooses.
func (s *scanner) chosen(key, name string, w word, base Entry) {
	base.Key, base.Name, base.Value, base.Line, base.style = key, name, w.text, w.line, styleFixed
	base.KeySpan, base.ValueSpan = w.span, w.span
	s.emit(base)
}
