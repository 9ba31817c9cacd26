package transcript

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// outputs collects texts by their names.
type outputs struct {
	// texts and places are those of the first round: what was pasted once of each output, and the numbers of its lines in
	// the session.
	texts  map[string]string
	places map[string][]int
	rounds *[]round
	now    *moment
	lead   *string       // the sentence before the section that is taken
	fenced *bool         // it stands between fences
	typed  *bool         // it is the output of a command
	over   *facts.Unread // what came after roundLimit rounds of one output
}

// round is what was pasted once of each output. Of counters whose lines stand for themselves it holds what several
// greps left, as long as none of them shows a counter again.
type round struct {
	texts    map[string]string
	places   map[string][]int
	commands map[string]string
	at       map[string]moment
	keys     map[string]map[key]bool
	grown    map[string]*strings.Builder // the texts that several outputs made: each is added without a copy of those before it
}

// roundLimit bounds how often one output counts.
const roundLimit = 60

func newOutputs() outputs {
	o := outputs{rounds: &[]round{}, now: &moment{}, lead: new(string), fenced: new(bool), typed: new(bool), over: &facts.Unread{}}
	first := o.round(0)
	o.texts, o.places = first.texts, first.places
	return o
}

func (o outputs) round(i int) *round {
	for len(*o.rounds) <= i {
		*o.rounds = append(*o.rounds, round{map[string]string{}, map[string][]int{}, map[string]string{}, map[string]moment{},
			map[string]map[key]bool{}, map[string]*strings.Builder{}})
	}
	return &(*o.rounds)[i]
}

// linesOfCounters are outputs whose lines stand for themselves: what several
// greps left of them are parts of one answer.
var linesOfCounters = []string{"netstat -s", "netstat -m", "nstat -az", "vmstat -z", "pfctl -si", "sysctl -a",
	"/proc/net/sockstat", "/sys/class/net", "/sys"}

func isOfCounters(name string) bool {
	return slices.Contains(linesOfCounters, name) || strings.HasPrefix(name, "ethtool -S ")
}

// named are outputs whose lines begin with the whole name of what they show: all other numbers are values.
var named = []string{"vmstat -z", "sysctl -a", "/sys/class/net", "/sys"}

// standing finds the numbers that stand alone, or between slashes: those of a
// counter, and not of its name.
var standing = regexp.MustCompile(`(^|[^\[\w])\d+(?:[./]\d+)*\b`)

// key is a line of counters without its numbers, and the title of its section, where a grep did not take it.
type key struct{ section, line string }

// anySection is in the keys of a round for each line, whatever its section is.
const anySection = "*"

// overlaps reports whether a round may have the counter of a line.
func overlaps(have map[key]bool, k key) bool {
	if k.section == "" {
		return have[key{anySection, k.line}]
	}
	return have[k] || have[key{"", k.line}]
}

// keysOf are the keys of the lines of a text.
func keysOf(name string, lines []string) (keys []key) {
	section := ""
	for _, line := range lines {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		switch {
		case isTitle(line):
			section = line
			continue
		case strings.HasPrefix(name, "ethtool -S "):
			if cut := strings.LastIndexByte(line, ':'); cut > 0 {
				line = line[:cut]
			}
		case slices.Contains(named, name):
			if cut := strings.IndexAny(line, ":="); cut > 0 {
				line = line[:cut]
			}
		default:
			line = standing.ReplaceAllString(line, "$1#")
		}
		keys = append(keys, key{section, line})
	}
	return keys
}

// isTitle reports whether a line names the section of a counter table: "tcp:".
func isTitle(line string) bool {
	return strings.HasSuffix(line, ":") && !strings.ContainsAny(line, " \t")
}

// period is after how many lines a text shows the same counters again, as a loop prints them; 0 when it does not.
func period(name string, lines []string) int {
	if !isOfCounters(name) || len(lines) > 1000 ||
		strings.HasPrefix(name, "ethtool -S ") && facts.RepeatsPerQueue(strings.Join(lines, "\n")) {
		return 0
	}
	keys := keysOf(name, lines)
	if len(keys) < 2 || len(keys) != len(lines) {
		return 0
	}
	n := 1 + slices.Index(keys[1:], keys[0])
	if n == 0 || len(keys)%n != 0 {
		return 0
	}
	seen := map[key]bool{}
	for i, k := range keys {
		if i < n && seen[k] || k != keys[i%n] {
			return 0
		}
		seen[k] = true
	}
	return n
}

// appended are outputs of which several pastes stand one behind the other: each says what it speaks of.
var appended = []string{"dmesg", "pciconf -lvc", "lspci -vv", "iperf3", "ping", "top", "uname -a", "/proc/cpuinfo",
	"iw", "mtr", "nfsstat", "/proc/irq", "wg show", "ovs-appctl dpif-netdev/pmd-stats-show", "perf top", "curl", "wrk", "tailscale status", facts.BondingFolder + "bond",
	facts.OtherCounters, facts.Reports, facts.Firewall, "ibstat", "virsh domiflist"}

// add keeps a paste of an output in the first round that has room for it. Its last lines are those of the passage; what
// is put before them stands nowhere.
func (o outputs) add(name, command, body string, at []int) {
	if name == "" || strings.TrimSpace(body) == "" {
		return
	}
	lead := max(0, strings.Count(body, "\n")+1-len(at))
	lines := strings.Split(strings.TrimRight(body, "\n"), "\n")
	at = at[:max(0, min(len(at), len(lines)-lead))]
	if n := period(name, lines); n > 0 && n < len(lines) && len(at) == len(lines) {
		for i := 0; i < len(lines); i += n {
			o.keep(name, command, lines[i:i+n], at[i:i+n])
			o.now.pass(o.now.every)
		}
		return
	}
	o.keep(name, command, lines, at)
}

func (o outputs) keep(name, command string, lines []string, at []int) {
	var keys []key
	if isOfCounters(name) {
		keys = keysOf(name, lines)
	}
	for i := range roundLimit {
		r := o.round(i)
		switch {
		case r.texts[name] == "", slices.Contains(appended, name):
		case isOfCounters(name) && !slices.ContainsFunc(keys, func(k key) bool { return overlaps(r.keys[name], k) }):
		default:
			continue
		}
		if r.grown[name] == nil {
			r.grown[name] = &strings.Builder{}
		}
		r.grown[name].WriteString(strings.Join(lines, "\n") + "\n")
		r.texts[name] = r.grown[name].String()
		r.places[name] = append(append(r.places[name], make([]int, len(lines)-len(at))...), at...)
		r.commands[name] = cmp.Or(r.commands[name], command)
		r.at[name] = *o.now
		if r.keys[name] == nil {
			r.keys[name] = map[key]bool{}
		}
		for _, k := range keys {
			r.keys[name][k], r.keys[name][key{anySection, k.line}] = true, true
		}
		return
	}
	if o.over.Lines == 0 {
		*o.over = facts.Unread{Command: cmp.Or(command, name), Words: words(lines),
			Because: fmt.Sprintf("only the first %d outputs of a command are read", roundLimit)}
		if len(at) > 0 {
			o.over.Line = at[0]
		}
	}
	o.over.Lines += len(lines)
}

func (o outputs) take(part section) {
	o.now.read(part)
	*o.lead, *o.fenced, *o.typed = part.lead, part.fenced, part.command != ""
	if changesQueue.MatchString(part.command) {
		if strings.Contains(part.command, " netem ") { // it says what tc would show
			o.add("tc -s qdisc show", part.command, part.command, []int{part.first - 1})
		}
		part.command = ""
	}
	if strings.TrimSpace(strings.Join(part.lines, "")) == "" {
		return
	}
	words := strings.Fields(part.command)
	switch {
	case len(words) == 0:
		o.takeLoose(part.passage)
		return
	case o.takeCounted(part):
		return
	case strings.Contains(part.command, "/statistics/"):
		o.takeStatistics(part)
		return
	case slices.Contains([]string{"cat", "grep", "egrep", "fgrep", "zgrep", "tail", "head", "less", "more", "zcat"},
		words[0]):
		if o.takeFiles(words, part) {
			return
		}
		if name := words[len(words)-1]; strings.HasPrefix(name, "/") {
			o.takeFile(name, part.command, part.passage)
			return
		} else if known := typedOutput(fileCommand(name)); known != "" && strings.ContainsAny(name, "_/") {
			body, at := withHead(known, part.command, part.passage) // a saved output
			o.add(known, part.command, body, at)
			return
		}
	}
	o.takeConsole(part)
	if words[0] == "sysctl" || words[0] == "uname" || words[0] == "lscpu" {
		o.takeTool(words, part)
		return
	}
	if o.takeSeveral(part) {
		return
	}
	if name := typedOutput(part.command); name != "" && !setsLink(part) {
		rest := o.takeFollowing(name, part.passage)
		body, at := withHead(name, part.command, rest)
		o.add(name, part.command, body, at)
		if name == "curl" { // what it says of a server that does not answer is of no time
			for i, line := range rest.lines {
				if facts.LookupFailed.MatchString(line) {
					o.add("dmesg", part.command, line, []int{rest.first + i})
				} else if _, ok := facts.UnstampedReport(line); ok {
					o.add(facts.Reports, part.command, line, []int{rest.first + i})
				}
			}
		}
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

// setsLink reports whether ifconfig set something, and said at most why not.
func setsLink(part section) bool {
	words := strings.Fields(part.command)
	return len(words) > 2 && words[0] == "ifconfig" && words[1][0] != '-' && !strings.Contains(part.command, "|") &&
		!slices.ContainsFunc(part.lines, func(line string) bool { return linkBegin.MatchString(line) || linkOfBSD.MatchString(line) })
}

// takeFollowing keeps the outputs that stand without a prompt, after an empty
// line, behind that of a command, and returns what is before them.
func (o outputs) takeFollowing(name string, p passage) passage {
	if name == "dmesg" || name == "top" || strings.HasPrefix(name, "/proc/net/") {
		return p
	}
	for i := 1; i < len(p.lines); i++ {
		if name != "sysctl -a" && settingRow.MatchString(p.lines[i]) && !advised(*o.lead, p.lines[:i]) {
			o.takeLoose(p.from(i))
			return passage{p.lines[:i], p.first}
		}
		if strings.Trim(p.lines[i-1], " \t-") != "" { // neither empty nor a line that iperf draws
			continue
		}
		begun := blockBegun(p.lines[i])
		if l := looseForm(p.lines[i]); l != nil && l.name == "dmesg" {
			begun = l.name
		}
		if begun == "" && isProse(p.lines[i]) && !strings.HasPrefix(strings.TrimSpace(p.lines[i]), "#") {
			begun = announced(p.lines[i+1:])
		}
		if begun != "" && begun != name && !strings.HasPrefix(begun, name[:min(len(name), 7)]) {
			o.takeLoose(p.from(i))
			return passage{p.lines[:i], p.first}
		}
	}
	return p
}

// announced is the output that begins in the line behind a sentence, empty where none does.
func announced(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	if begun := blockBegun(lines[0]); begun != "" {
		return begun
	}
	if l := looseForm(lines[0]); l != nil {
		return l.name
	}
	return ""
}

// settingRow is a row that sysctl prints, at the begin of its line; no other output has such rows.
var settingRow = regexp.MustCompile(`^(?:net|kern|hw|dev|vm|vfs|kernel)\.[a-z0-9_%]+\.[a-z0-9_.%-]+(?: ?= ?|: )-?\d`)

// manyBlocks are the outputs of which several blocks are one: each names what
// it speaks of. Of the others the first block counts, a later one is a later
// sample.
var manyBlocks = []string{"netstat -s", "ifconfig -a", "ip -s -d link show", "tc -s qdisc show", "dmesg",
	"/proc/net/snmp", "/proc/net/netstat", "pciconf -lvc", "ss -tinm", "top", "netstat -rnW", "iperf3", "ping",
	"tc -s class show", "tc -s filter show", "sar",
	"iw", "mtr", "nfsstat", "perf top", facts.BondingFolder + "bond", facts.Firewall, "ibstat", "virsh domiflist"}

// rowsAnywhere are outputs whose rows no other one has, whatever block they stand in.
var rowsAnywhere = []string{"nstat -az", "sysctl -a"}

// takeLoose sorts lines that no known command printed: blocks that begin as
// outputs do, then lines by their form.
func (o outputs) takeLoose(p passage) {
	if o.takeAgain(p) {
		return
	}
	p = o.takeClocked(p)
	blocks, loose := map[string]*scattered{}, map[string]*scattered{}
	done := map[string]bool{}
	block := ""
	var rest []int // lines of a log that say nothing that is known
	for i, line := range p.lines {
		if further := goesOn[block]; further != nil && i+1 < len(p.lines) && strings.TrimSpace(line) == "" &&
			further.MatchString(p.lines[i+1]) {
			continue
		}
		if strings.TrimSpace(line) == "" && block != "dmesg" {
			done[block] = true
			block = ""
		}
		if block != "dmesg" {
			begun := blockBegun(line)
			if begun == "ethtool "+facts.UnnamedLink && strings.HasPrefix(block, "ethtool ") {
				begun = "" // its title named the interface
			}
			if begun == "ifconfig -a" && (blocks[begun] != nil || o.texts[begun] != "") && pieceOfLink.MatchString(line) {
				begun = "" // of which link is not known
			}
			if begun != "" && begun != strings.TrimRight(block, "\x00") {
				done[block] = true
				again := begun
				for done[again] && !slices.Contains(manyBlocks, begun) {
					again += "\x00" // a later sample
				}
				block = again
			}
		}
		l := looseForm(line)
		if block != "" && (l == nil || !slices.Contains(rowsAnywhere, l.name) || strings.HasPrefix(block, l.name)) {
			collect(blocks, block, line, p.first+i)
			continue
		}
		if w := strings.Fields(line); len(w) > 3 && slices.Contains([]string{"Linux", "FreeBSD", "OpenBSD"}, w[0]) &&
			releaseNumber.MatchString(w[2]) {
			collect(loose, "uname -a", strings.TrimSpace(line), p.first+i)
		}
		if l != nil && !(l.name == "sysctl -a" && !driverCounter.MatchString(line) && advised(*o.lead, p.lines[:i])) {
			if said := quoted(line, l); said != "" {
				collect(loose, l.name, said, p.first+i)
			}
		} else if l == nil && len(rest) < logLines && facts.IsLogLine(line) && !isTableRow(line) {
			rest = append(rest, i)
		}
	}
	o.takeCounters(p, blocks, loose)
	timed := slices.ContainsFunc(rest, func(i int) bool { return facts.IsTimed(p.lines[i]) })
	if (len(rest) >= often || (*o.fenced || timed) && len(rest) > 0) && blocks["dmesg"] == nil && loose["dmesg"] == nil {
		loose["dmesg"] = &scattered{} // a log that tells no failure
	}
	if loose["dmesg"] != nil {
		loose["dmesg"].join(p, rest)
	}
	for _, all := range []map[string]*scattered{blocks, loose} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			output, _, _ := strings.Cut(name, "\x00")
			body := strings.Join(all[name].lines, "\n")
			o.add(output, "", headOf(output, body)+body, all[name].at)
		}
	}
}

// logLines bounds the lines that are kept of a log for what they do not say.
const logLines = 5000

// join adds lines of a passage where they stood: a failure that comes once in a long log says little.
func (s *scattered) join(p passage, more []int) {
	var all scattered
	for i, line := range s.lines {
		for len(more) > 0 && p.first+more[0] < s.at[i] {
			all.lines, all.at, more = append(all.lines, p.lines[more[0]]), append(all.at, p.first+more[0]), more[1:]
		}
		all.lines, all.at = append(all.lines, line), append(all.at, s.at[i])
	}
	for _, i := range more {
		all.lines, all.at = append(all.lines, p.lines[i]), append(all.at, p.first+i)
	}
	*s = all
}

// often is how many times a line stands in a text that a program wrote; a line of prose that is continued on the next is
// longer than proseLength.
const (
	often       = 3
	proseLength = 45
)

// message begins as messages do, continues as the next line of a sentence does.
var (
	message   = regexp.MustCompile("^\\s*(?:> ?)?[\"'`]?(?:[A-Z0-9\\[(<]|[\\w.-]+: )")
	continues = regexp.MustCompile(`^ *[a-z]+,? `)
)

// takeAgain keeps lines without a command that show the counters of an output before them once more, and nothing else:
// what was pasted behind "after:".
func (o outputs) takeAgain(p passage) bool {
	const least = 3
	full := slices.DeleteFunc(slices.Clone(p.lines), func(line string) bool { return strings.TrimSpace(line) == "" })
	if len(full) < least || looseForm(full[0]) != nil || blockBegun(full[0]) != "" {
		return false
	}
	have := o.round(0)
	for _, name := range slices.Sorted(maps.Keys(have.keys)) {
		if !isOfCounters(name) || len(have.keys[name]) < least {
			continue
		}
		keys := keysOf(name, full)
		if len(keys) >= least && !slices.ContainsFunc(keys, func(k key) bool { return !overlaps(have.keys[name], k) }) {
			o.add(name, have.commands[name], strings.Join(p.lines, "\n"), p.at())
			return true
		}
	}
	return false
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

var releaseNumber = regexp.MustCompile(`^\d+\.\d[\w.+~-]*$`)

// blockBegun finds the output that a line begins.
func blockBegun(line string) string {
	for b := range looseBlocks.of(line) {
		return string(b.form.ExpandString(nil, b.name, line, b.form.FindStringSubmatchIndex(line)))
	}
	return ""
}

// changesQueue sets up a discipline, and prints nothing.
var changesQueue = regexp.MustCompile(`^tc qdisc (?:add|replace|change|del|delete|link) `)
