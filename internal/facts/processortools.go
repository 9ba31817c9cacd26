package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// readMpstat reads mpstat -P ALL (sysstat): a heading that names the columns,
// and a line for each CPU. The last block counts. What a mail program cut off the headings or a row follows on the next
// line; a row that has not all its numbers is none.
func (f *Facts) readMpstat(t text) error {
	f.toolCores(t)
	var heads []string
	found := false
	lines := t.lines()
	for i := 0; i < len(lines); i++ {
		words, _ := toolRow(lines[i])
		at := i
		if len(words) > 1 && words[0] == "CPU" && strings.Contains(words[1], "%") {
			for heads = words; i+1 < len(lines) && headsFollow(lines[i+1]); i++ {
				heads = append(heads, strings.Fields(lines[i+1])...)
			}
			continue
		}
		for len(words) > 0 && len(words) < len(heads) && i+1 < len(lines) && continues(lines[i+1]) {
			i++
			words = append(words, strings.Fields(lines[i])...)
		}
		if heads == nil {
			heads = usualHeads(words)
		}
		if len(heads) >= 4 && len(words) == len(heads) {
			found = f.cpuRow(heads, words, f.Line(t.from, at+1)) || found
		}
	}
	return nothingUnless(found)
}

// usualHeads are the columns of a row whose headings somebody cut off: those of
// sysstat since 10.1 and before, if its shares add up to a whole.
func usualHeads(row []string) []string {
	heads := strings.Fields("CPU %usr %nice %sys %iowait %irq %soft %steal %guest %gnice %idle")
	if len(row) == len(heads)-1 {
		heads = slices.Delete(heads, 9, 10)
	}
	if len(row) != len(heads) {
		return nil
	}
	sum := 0.0
	for _, w := range row[1:] {
		v, ok := positive(strings.ReplaceAll(w, ",", "."))
		if !ok {
			return nil
		}
		sum += v
	}
	if sum < 99 || sum > 101 {
		return nil
	}
	return heads
}

// headsFollow reports whether a line goes on with headings: shares and rates alone.
func headsFollow(line string) bool {
	words := strings.Fields(line)
	for _, w := range words {
		if !strings.HasPrefix(w, "%") && w != "intr/s" {
			return false
		}
	}
	return len(words) > 0
}

// cpuRow takes a row of shares of one processor, or of all.
func (f *Facts) cpuRow(heads, row []string, src Source) bool {
	p := Processor{Sampled: true, Source: src}
	for j, head := range heads[1:] {
		if head[0] != '%' { // intr/s of old releases
			continue
		}
		v, ok := positive(strings.ReplaceAll(row[j+1], ",", "."))
		if !ok || v > 100.5 {
			return false
		}
		p.add(strings.TrimPrefix(head, "%"), v/100)
	}
	if row[0] == "all" || row[0] == "alle" {
		f.AllProcessors = &p
		f.Parts["all processors"] = Part{From: src.From, State: Read}
		return true
	}
	id, ok := count(row[0])
	if !ok || id >= maxProcessors {
		return false
	}
	p.ID = int(id)
	p.Softnet, p.NetRX = f.processor(p.ID).Softnet, f.processor(p.ID).NetRX
	*f.processor(p.ID) = p
	return true
}

var (
	topLine  = regexp.MustCompile(`^\s*(?:CPU ?|%?Cpu)(\d+)(?: states)?\s*:`)
	topShare = regexp.MustCompile(`([0-9]+(?:[.,][0-9]+)?)\s?%?\s?([a-z]+)`)
)

// readTop reads the lines of processors of FreeBSD's top -P ("CPU 0:  0.4%
// user, ..."), OpenBSD's top -1 ("CPU0 states:  0.1% user, ...") and Linux's ("%Cpu0
// :  1.0 us, ..."); the last ones count.
func (f *Facts) readTop(t text) error {
	defer func() {
		if len(f.Threads) > 0 {
			f.Parts["threads"] = Part{From: t.from, State: Read}
		}
	}()
	found := false
	for i, line := range t.lines() {
		if m := topThread.FindStringSubmatch(line); m != nil {
			share := strings.Replace(m[1]+m[3]+m[5]+m[7], ",", ".", 1)
			if v, ok := positive(share); ok && v <= 105 && len(f.Threads) < rowLimit {
				f.Threads = append(f.Threads, Thread{Name: strings.TrimRight(m[2]+m[4]+m[6]+m[8], " ]"), Share: v / 100,
					Source: f.Line(t.from, i+1)})
				found = true
			}
			continue
		}
		if m := topProcess.FindStringSubmatch(line); m != nil {
			if v, ok := positive(m[1]); ok && v >= 50 && v <= 6400 && len(f.Threads) < rowLimit {
				f.Threads = append(f.Threads, Thread{Name: shorten(strings.Trim(m[2], " []")), Share: v / 100,
					Source: f.Line(t.from, i+1)})
				found = true
			}
			continue
		}
		if m := busyboxRow.FindStringSubmatch(line); m != nil {
			// Of idle threads those of the processors tell how many there are.
			if v, ok := positive(m[1]); ok && (v >= 20 || strings.Contains(m[2], "ksoftirqd/")) && v <= 100 && len(f.Threads) < rowLimit {
				name := strings.Trim(m[2], "[]{}")
				if strings.HasPrefix(name, "/") {
					name = path.Base(name)
				}
				f.Threads = append(f.Threads, Thread{Name: name, Share: v / 100, OfAll: true, Source: f.Line(t.from, i+1)})
				found = true
			}
			continue
		}
		if m := topWhole.FindString(line); m != "" && f.AllProcessors == nil {
			p := Processor{Sampled: true, Source: f.Line(t.from, i+1)}
			if p.shares(topShare.FindAllStringSubmatch(line[len(m):], -1)) {
				f.AllProcessors, found = &p, true
				f.Parts["all processors"] = Part{From: t.from, State: Read}
			}
			continue
		}
		m := topLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		id, ok := count(m[1])
		shares := topShare.FindAllStringSubmatch(line[len(m[0]):], -1)
		if !ok || id >= maxProcessors || len(shares) < 4 {
			continue
		}
		p := Processor{ID: int(id), Sampled: true, Source: f.Line(t.from, i+1)}
		if !p.shares(shares) {
			continue
		}
		found = true
		p.Softnet = f.processor(p.ID).Softnet
		p.NetRX = f.processor(p.ID).NetRX
		*f.processor(p.ID) = p
	}
	return nothingUnless(found)
}

// topThread finds the threads of the kernel in top's list: of FreeBSD
// "... 9:30 93.65% kernel{em1 taskq}", before 8 "... 99:09 5.08% 5.08% swi1: net", of OpenBSD with a number of the thread
// in place of the user, of Linux "... 99.3 0.0 10:11.11
// ksoftirqd/3" and vhost-4711, which carries the packets of a virtual machine, and programs that carry the packets of a tunnel in one thread.
var topThread = regexp.MustCompile(`^ *\d+ +(?:root|0) +.* (\d+\.\d+)% \[?((?:kernel|intr)\{[^}]*\}?)|` +
	`^ *\d+ +\S+ +.* [RSD] +(\d+[.,]\d) +\d+[.,]\d +\d+:\S+ (ksoftirqd/\d+|vhost-\d+)|` +
	`^ *\d+ +(?:root|\d+) +.* (\d+\.\d+)% ((?:irq|swi)\d+: .*|[a-z]+\d+ (?:taskq|que\b.*)|dummynet|pf ?purge|` +
	`softnet\d*)$|` +
	`^ *\d+ +\S+ +.* [RSD] +(\d+[.,]\d) +\d+[.,]\d +\d+:\S+ (` + TunnelPrograms + `)$`)

// TunnelPrograms are the programs that carry the packets of a tunnel in one thread, as a regular expression.
const TunnelPrograms = `openvpn|wireguard-go|boringtun\S*|tailscaled|tincd|zerotier-one|slirp4netns|pasta|passt|vpnkit|gvproxy|vtund`

// topProcess is any other row of the BSDs' top: "50123 root 102 0 21M 11M CPU1 1 122:01 99.31% openvpn"; what idles is
// none.
var topProcess = regexp.MustCompile(`^ *\d+ +[a-z_][\w.+-]* +.* (\d+\.\d+)% ((?:[^\[i]|\[[^i]|i[^d]).*)$`)

// busyboxRow is a process in the top of busybox (procps/top.c): number, parent, owner, state, memory and its share, the
// processor where several are shown, the share of all processors, and the program.
var busyboxRow = regexp.MustCompile(`^ *\d+ +\d+ \S+ +[RSDZTWNL<]+ +\d+m? +\d+(?:\.\d+)?% +(?:\d+ +)?(\d+(?:\.\d+)?)% (\S+)`)

// topWhole begins top's line of all processors together.
var topWhole = regexp.MustCompile(`^(?:CPU:|CPU states:|%?Cpu\(s\):) +`)

// shares takes the pairs of a percentage and its name; false when they cannot
// be.
func (p *Processor) shares(pairs [][]string) bool {
	for _, s := range pairs {
		v, ok := positive(strings.ReplaceAll(s[1], ",", "."))
		if !ok || v > 100.5 {
			return false
		}
		p.add(s[2], v/100)
	}
	// A row that was cut has lost the idle time.
	return len(pairs) >= 4 && p.User+p.Nice+p.System+p.Interrupt+p.Idle+p.Stolen > 0.9
}

// governorLine is what cpupower and cpufreq-info say of the governor.
var governorLine = regexp.MustCompile(`[Tt]he governor "(\w+)" may decide`)

// readGovernor reads cpupower frequency-info (tools/power/cpupower of Linux) as the file in /sys that it shows.
func (f *Facts) readGovernor(t text) error {
	for i, line := range t.lines() {
		if m := governorLine.FindStringSubmatch(line); m != nil {
			f.Settings["/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"] = Setting{Value: m[1], State: Read,
				Source: f.Line(t.from, i+1)}
			return nil
		}
	}
	return errNothing
}
