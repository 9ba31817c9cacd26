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
	// later sample, and the first counts.
	typed map[string][]string
}

// add appends an output. Its last lines are those of the passage; what is put
// before them stands nowhere.
func (o outputs) add(name, command, body string, at []int) {
	if name == "" || strings.TrimSpace(body) == "" {
		return
	}
	if command != "" && slices.Contains(o.typed[name], command) {
		return
	}
	o.typed[name] = append(o.typed[name], command)
	lead := strings.Count(body, "\n") + 1 - len(at)
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
	case slices.Contains([]string{"cat", "grep", "egrep", "fgrep", "zgrep", "tail", "head", "less", "more", "zcat"}, words[0]):
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
		if begun := blockBegun(p.lines[i]); begun != "" && begun != name && !strings.HasPrefix(begun, name[:min(len(name), 7)]) {
			o.takeLoose(p.from(i))
			return passage{p.lines[:i], p.first}
		}
	}
	return p
}

// manyBlocks are the outputs of which several blocks are one: each names what
// it speaks of. Of the others the first block counts, a later one is a later
// sample.
var manyBlocks = []string{"netstat -s", "ifconfig -a", "ip -s -d link show", "tc -s qdisc show", "dmesg", "/proc/net/snmp", "/proc/net/netstat", "pciconf -lvc", "ss -tinm", "top", "netstat -rnW", "iperf3", facts.BondingFolder + "bond"}

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
		if w := strings.Fields(line); len(w) > 3 && slices.Contains([]string{"Linux", "FreeBSD", "OpenBSD"}, w[0]) && releaseNumber.MatchString(w[2]) {
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
