package transcript

import (
	"regexp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// outputs collects texts by their names.
type outputs struct {
	texts map[string]string
	// places are the numbers of the lines of each text in the session.
	places map[string][]int
	// typed are the commands that made each text: the same command again is a
	// later sample, of which what the first did not show counts where each line
	// is a counter of its own.
	typed map[string][]string
}

// linesOfCounters are outputs whose lines stand for themselves: what several
// greps left of them are parts of one answer.
var linesOfCounters = []string{"netstat -s", "netstat -m", "nstat -az", "vmstat -z", "pfctl -si", "sysctl -a",
	"/proc/net/sockstat"}

func isOfCounters(name string) bool {
	return slices.Contains(linesOfCounters, name) || strings.HasPrefix(name, "ethtool -S ")
}

// standing finds the numbers that stand alone, or between slashes: those of a
// counter, and not of its name.
var standing = regexp.MustCompile(`(^|[^\[\w])\d+(?:[./]\d+)*\b`)

// shapes are the lines of a text without their numbers, under the titles of
// their sections; without a section they fit any.
func shapes(text string) map[string]bool {
	all := map[string]bool{}
	section := ""
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); isTitle(line) {
			section = line
		}
		all[section+standing.ReplaceAllString(line, "$1#")] = true
	}
	return all
}

// isTitle reports whether a line names the section of a counter table: "tcp:".
func isTitle(line string) bool {
	return strings.HasSuffix(line, ":") && !strings.ContainsAny(line, " \t")
}

// unseen leaves of a later output the lines that are not in the text before,
// with the titles of their sections.
func unseen(text string, lines []string, at []int) (kept scattered) {
	seen := shapes(text)
	section, title := "", -1
	keep := func(i int) {
		kept.lines, kept.at = append(kept.lines, lines[i]), append(kept.at, at[i])
	}
	for i, line := range lines {
		line = strings.TrimSpace(line)
		shape := standing.ReplaceAllString(line, "$1#")
		switch {
		case isTitle(line):
			section, title = line, i
		case line == "" || seen[shape] || seen[section+shape]:
		default:
			if title >= 0 {
				keep(title)
				title = -1
			}
			keep(i)
		}
	}
	return kept
}

// add appends an output. Its last lines are those of the passage; what is put
// before them stands nowhere.
func (o outputs) add(name, command, body string, at []int) {
	if name == "" || strings.TrimSpace(body) == "" {
		return
	}
	lead := strings.Count(body, "\n") + 1 - len(at)
	switch again := command != "" && slices.Contains(o.typed[name], command); {
	case o.texts[name] != "" && isOfCounters(name) && lead == 0:
		news := unseen(o.texts[name], strings.Split(body, "\n"), at)
		if len(news.lines) == 0 {
			return
		}
		body, at = strings.Join(news.lines, "\n"), news.at
	case again:
		return
	}
	o.typed[name] = append(o.typed[name], command)
	body = strings.TrimRight(body, "\n")
	o.texts[name] += body + "\n"
	for i := range strings.Count(body, "\n") + 1 {
		place := 0
		if i >= lead && i-lead < len(at) {
			place = at[i-lead]
		}
		o.places[name] = append(o.places[name], place)
	}
}

func (o outputs) take(part section) {
	if strings.TrimSpace(strings.Join(part.lines, "")) == "" {
		return
	}
	words := strings.Fields(part.command)
	switch {
	case len(words) == 0:
		o.takeLoose(part.passage)
		return
	case slices.Contains([]string{"cat", "grep", "egrep", "fgrep", "zgrep", "tail", "head", "less", "more", "zcat"},
		words[0]):
		if name := words[len(words)-1]; strings.HasPrefix(name, "/") {
			o.takeFile(name, part.command, part.passage)
			return
		}
	}
	if words[0] == "sysctl" || words[0] == "uname" || words[0] == "lscpu" {
		o.takeTool(words, part)
		return
	}
	if name := typedOutput(part.command); name != "" {
		rest := o.takeFollowing(name, part.passage)
		body, at := withHead(name, part.command, rest)
		o.add(name, part.command, body, at)
		if name == "ip -o address show" { // it shows what ip link shows as well
			links := "ip -s -d link show"
			body, at = withHead(links, part.command, rest)
			if linkBegin.MatchString(body) && strings.Contains(body, " mtu ") {
				o.add(links, part.command, body, at)
			}
		}
		return
	}
	if !o.takeTool(words, part) {
		o.takeLoose(part.passage)
	}
}

// takeFollowing keeps the outputs that stand without a prompt, after an empty
// line, behind that of a command, and returns what is before them.
func (o outputs) takeFollowing(name string, p passage) passage {
	if name == "dmesg" || name == "top" || strings.HasPrefix(name, "/proc/net/") {
		return p
	}
	for i := 1; i < len(p.lines); i++ {
		if strings.TrimSpace(p.lines[i-1]) != "" {
			continue
		}
		if begun := blockBegun(p.lines[i]); begun != "" && begun != name &&
			!strings.HasPrefix(begun, name[:min(len(name), 7)]) {
			o.takeLoose(p.from(i))
			return passage{p.lines[:i], p.first}
		}
	}
	return p
}

// manyBlocks are the outputs of which several blocks are one: each names what
// it speaks of. Of the others the first block counts, a later one is a later
// sample.
var manyBlocks = []string{"netstat -s", "ifconfig -a", "ip -s -d link show", "tc -s qdisc show", "dmesg",
	"/proc/net/snmp", "/proc/net/netstat", "pciconf -lvc", "ss -tinm", "top", "netstat -rnW", "iperf3",
	facts.BondingFolder + "bond"}

// takeLoose sorts lines that no known command printed: blocks that begin as
// outputs do, then lines by their form.
func (o outputs) takeLoose(p passage) {
	blocks, loose := map[string]*scattered{}, map[string]*scattered{}
	done := map[string]bool{}
	block := ""
	for i, line := range p.lines {
		if strings.TrimSpace(line) == "" && block != "dmesg" {
			done[block] = true
			block = ""
		}
		if block != "dmesg" {
			if begun := blockBegun(line); begun != "" && begun != block {
				done[block] = true
				block = begun
				if done[block] && !slices.Contains(manyBlocks, block) {
					block = "more of the same"
				}
			}
		}
		if block != "" {
			collect(blocks, block, line, p.first+i)
			continue
		}
		if w := strings.Fields(line); len(w) > 3 && slices.Contains([]string{"Linux", "FreeBSD", "OpenBSD"}, w[0]) &&
			releaseNumber.MatchString(w[2]) {
			collect(loose, "uname -a", strings.TrimSpace(line), p.first+i)
		}
		if l := looseForm(line); l != nil {
			collect(loose, l.name, line, p.first+i)
		}
	}
	delete(blocks, "more of the same")
	for name, all := range blocks {
		if o.texts[name] == "" || slices.Contains(manyBlocks, name) {
			o.add(name, "", strings.Join(all.lines, "\n"), all.at)
		}
	}
	for name, all := range loose {
		if o.texts[name] == "" || name == "dmesg" || name == "sysctl -a" {
			o.add(name, "", strings.Join(all.lines, "\n"), all.at)
		}
	}
}

// scattered are lines of one output and where they stand.
type scattered struct {
	lines []string
	at    []int
}

func collect(into map[string]*scattered, name, line string, at int) {
	if into[name] == nil {
		into[name] = &scattered{}
	}
	into[name].lines = append(into[name].lines, line)
	into[name].at = append(into[name].at, at)
}

var releaseNumber = regexp.MustCompile(`^\d+\.\d`)

// blockBegun finds the output that a line begins.
func blockBegun(line string) string {
	if len(line) > 4096 {
		return ""
	}
	for i := range looseBlocks {
		b := &looseBlocks[i]
		if !slices.ContainsFunc(b.words, func(w string) bool { return strings.Contains(line, w) }) {
			continue
		}
		if m := b.begin.FindStringSubmatchIndex(line); m != nil {
			return string(b.begin.ExpandString(nil, b.name, line, m))
		}
	}
	return ""
}

var linkBegin = regexp.MustCompile(`(?m)^(?:\d+: )?([a-z][a-zA-Z0-9_.-]*)(?:@\S+)?(?:: flags=|: <|\s+Link encap:)`)

// nameOnlyLink gives an output that names no interface to the only one that
// was pasted.
func (o outputs) nameOnlyLink() {
	names := map[string]bool{}
	for name, text := range o.texts {
		if nic := facts.InterfaceOf(name); nic != "" && nic != facts.UnnamedLink {
			names[nic] = true
		}
		if name == "ifconfig -a" || name == "ip -s -d link show" {
			for _, m := range linkBegin.FindAllStringSubmatch(text, -1) {
				names[m[1]] = true
			}
		}
	}
	delete(names, "lo")
	if len(names) != 1 {
		return
	}
	for only := range names {
		for _, prefix := range []string{"ethtool -S ", "ethtool -i "} {
			if text := o.texts[prefix+facts.UnnamedLink]; text != "" && o.texts[prefix+only] == "" {
				o.texts[prefix+only], o.places[prefix+only] = text, o.places[prefix+facts.UnnamedLink]
				delete(o.texts, prefix+facts.UnnamedLink)
			}
		}
	}
}
