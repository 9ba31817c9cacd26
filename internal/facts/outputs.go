package facts

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// outputName is how evidence, folders and posts name what a collector reads.
func (c collector) outputName() string { return cmp.Or(c.name, c.op.String()) }

// outputForms are the forms of one output.
type outputForms struct {
	name         string
	files, typed *regexp.Regexp // nil: none
}

// known are the outputs of commands, made when they are first needed: a live host needs none.
var known = sync.OnceValue(func() []outputForms {
	var all []outputForms
	compiled := func(pattern string) *regexp.Regexp {
		if pattern == "" {
			return nil
		}
		return regexp.MustCompile(pattern)
	}
	for _, c := range collectors() {
		if c.files != "" || c.typed != "" {
			all = append(all, outputForms{c.outputName(), compiled(c.files), compiled(c.typed)})
		}
	}
	return all
})

// named are the names of those collectors whose name is not the words of what is asked, by these.
var named = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, c := range collectors() {
		if c.name != "" {
			names[c.op.String()] = c.name
		}
	}
	return names
})

// readerName is how evidence names a source; a script is named by the files that it reads.
func readerName(op host.Op) string {
	if name := named()[op.String()]; name != "" {
		return name
	}
	if len(op.Args) == 3 && op.Args[0] == "sh" {
		return secondSample
	}
	return op.String()
}

// secondSample names what was read at the end of a window.
const secondSample = "second sample"

// UnnamedLink stands for the interface of an output that names none.
const UnnamedLink = "interface"

// BondingFolder is where Linux's bonding driver has a file for each bond.
const BondingFolder = "/proc/net/bonding/"

var (
	ethtoolForm    = regexp.MustCompile(`^ethtool(?: -I| --include-statistics)?(?: (-[iklgcaSmx]|--[a-z-]+))? ([A-Za-z0-9._@][A-Za-z0-9._@-]*)( .*)?$`)
	ethtoolOptions = map[string]string{"driver": "-i", "show-features": "-k", "show-offload": "-k", "show-channels": "-l",
		"show-ring": "-g", "show-coalesce": "-c", "show-pause": "-a", "statistics": "-S", "show-eee": "--show-eee",
		"show-fec": "-I --show-fec", "show-rxfh": "-x", "show-rxfh-indir": "-x", "module-info": "-m", "dump-module-eeprom": "-m"}
)

// ethtoolOutput finds the output of an ethtool and its interface, and what is typed behind it.
func ethtoolOutput(words string) (name, nic, more string) {
	m := ethtoolForm.FindStringSubmatch(words)
	if m == nil {
		return "", "", ""
	}
	option := m[1]
	if long, ok := strings.CutPrefix(option, "--"); ok {
		if option = ethtoolOptions[long]; option == "" {
			return "", "", ""
		}
	}
	return strings.Join(strings.Fields("ethtool "+option+" "+m[2]), " "), m[2], m[3]
}

// InterfaceOf returns the interface whose output of ethtool a name is, empty for any other.
func InterfaceOf(name string) string {
	_, nic, more := ethtoolOutput(name)
	if more != "" {
		return ""
	}
	return nic
}

// OutputOfCommand finds what a command's words print, by the name that FromTexts takes; empty when it is nothing known.
func OutputOfCommand(words string) string {
	if name, _, more := ethtoolOutput(words); name != "" && more == "" {
		return name
	}
	best := ""
	for _, o := range known() {
		if len(o.name) > len(best) && o.files != nil && o.files.MatchString(words) {
			best = o.name
		}
	}
	return best
}

// OutputAsTyped finds what a command prints that people type in other forms or for a part of it.
func OutputAsTyped(words string) string {
	if name := OutputOfCommand(words); name != "" {
		return name
	}
	for _, o := range known() {
		if o.typed != nil && o.typed.MatchString(words) {
			return o.name
		}
	}
	name, _, _ := ethtoolOutput(words)
	return name
}

// OutputOfFile finds which file of a host a path ends in that is read; empty when it is none.
func OutputOfFile(path string) string {
	path = "/" + strings.TrimPrefix(path, "/")
	for _, c := range collectors() {
		if c.op.Action == host.ActRead && strings.HasSuffix(path, c.op.Path) {
			return c.op.Path
		}
	}
	if i := strings.LastIndex(path, BondingFolder); i >= 0 && plainName(path[i+len(BondingFolder):]) {
		return path[i:]
	}
	return ""
}

// Tools are the programs whose outputs are read.
func Tools() []string {
	names := []string{"ethtool"}
	for _, c := range collectors() {
		if tool, _, _ := strings.Cut(c.outputName(), " "); c.op.Action == host.ActRun && !strings.HasPrefix(tool, "/") {
			names = append(names, tool)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// OutputsOnlyOf lists the outputs of commands that one system alone prints.
func OutputsOnlyOf(s system.System) []string {
	var names []string
	all := collectors()
	for _, c := range all {
		name := c.outputName()
		if c.op.Action != host.ActRun || slices.ContainsFunc(all, func(o collector) bool {
			return !slices.Equal(o.on, []system.System{s}) && cmp.Or(OutputOfCommand(o.outputName()), o.outputName()) == name
		}) {
			continue
		}
		names = append(names, name)
	}
	return names
}

// Documented is how the documentation names the sources of one area on a system, in Markdown.
func Documented(s system.System, area Area) []string {
	var shown []string
	for _, c := range collectors() {
		words := cmp.Or(c.shown, "`"+c.outputName()+"`")
		if c.area == area && slices.Contains(c.on, s) && !slices.Contains(shown, words) {
			shown = append(shown, words)
		}
	}
	if s == system.Linux && area == Interfaces {
		flags := ""
		for _, r := range ethtoolReaders("NAME")[1:] {
			flags += " " + r.op.Args[len(r.op.Args)-2]
		}
		shown = append(shown, "`ethtool NAME` and with `"+strings.TrimSpace(flags)+"`", "`"+BondingFolder+"NAME`")
	}
	return shown
}
