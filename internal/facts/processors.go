package facts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func hexadecimal(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 16, 64)
	return n, err == nil
}

// processor returns the entry of a CPU, made when it is new.
func (f *Facts) processor(id int) *Processor {
	i, found := slices.BinarySearchFunc(f.Processors, id, func(p Processor, id int) int { return p.ID - id })
	if !found {
		f.Processors = slices.Insert(f.Processors, i, Processor{ID: id})
	}
	return &f.Processors[i]
}

// maxProcessors bounds CPU numbers in damaged input (Linux NR_CPUS is at most
// 8192).
const maxProcessors = 8192

// readStat reads the cpu lines of /proc/stat: ticks of user, nice, system,
// idle, iowait, irq, softirq, steal (Linux Documentation/filesystems/proc.rst).
func (f *Facts) readStat(t text) error {
	found := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) < 8 || !strings.HasPrefix(words[0], "cpu") {
			continue
		}
		id, ok := count(strings.TrimPrefix(words[0], "cpu"))
		if !ok || id >= maxProcessors {
			continue
		}
		ticks := make([]uint64, 0, 8)
		for _, w := range words[1:min(len(words), 9)] {
			v, ok := count(w)
			if !ok {
				return atLine(i+1, "%q is no number of ticks", shorten(w))
			}
			ticks = append(ticks, v)
		}
		found = true
		p := f.processor(int(id))
		p.ticks, p.Source = ticks, f.Line(t.from, i+1)
		p.share(ticks)
	}
	if !found {
		return errNothing
	}
	return nil
}

// share turns ticks into shares of time.
func (p *Processor) share(ticks []uint64) {
	var total float64
	for _, v := range ticks {
		total += float64(v)
	}
	if total == 0 {
		return
	}
	at := func(i int) float64 {
		if i >= len(ticks) {
			return 0
		}
		return float64(ticks[i]) / total
	}
	p.User, p.Nice, p.System, p.Idle = at(0), at(1), at(2), at(3)+at(4)
	p.Interrupt, p.Stolen = at(5)+at(6), at(7)
}

// readSoftnet reads /proc/net/softnet_stat (Linux net/core/net-procfs.c):
// hexadecimal columns, a line for each CPU that is online: processed, dropped,
// time_squeeze, ...; column 10 counts packets steered here (since 2.6.35), 13
// is the CPU (since 5.10).
func (f *Facts) readSoftnet(t text) error {
	next := 0
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) < 9 {
			return atLine(i+1, "%d columns, at least 9 are expected", len(words))
		}
		values := make([]uint64, len(words))
		for j, w := range words {
			v, ok := hexadecimal(w)
			if !ok || len(w) != 8 { // printed as %08x: another width is a cut line
				return atLine(i+1, "column %d is no 32-bit hexadecimal number", j+1)
			}
			values[j] = v
		}
		id := next
		next++
		if len(values) >= 13 {
			id = int(values[12])
		}
		if id >= maxProcessors {
			return atLine(i+1, "CPU %d cannot be", id)
		}
		src := f.Line(t.from, i+1)
		s := &Softnet{Processed: Counter{Value: values[0], Source: src}, Dropped: Counter{Value: values[1], Source: src},
			Squeezed: Counter{Value: values[2], Source: src}}
		if len(values) >= 10 {
			s.Steered = Counter{Value: values[9], Source: src}
		}
		f.processor(id).Softnet = s
	}
	return nil
}

var interruptName = regexp.MustCompile(`^\s*([A-Za-z0-9_]+):(.*)$`)

// perCPU reads a table whose first line names CPUs (CPU0 CPU1 ...) and whose
// others are "NAME: numbers rest". Terminals and posts wrap long lines: what
// does not begin with a name belongs to the line before.
func perCPU(t text, each func(line int, name string, numbers []uint64, rest []string)) error {
	lines := t.lines()
	top := 0
	for top < len(lines)-1 && strings.TrimSpace(lines[top]) == "" {
		top++
	}
	first := top + 1
	cpus := strings.Fields(lines[top])
	if len(cpus) == 0 || !strings.HasPrefix(cpus[0], "CPU") {
		return atLine(top+1, "no line of CPUs at the top")
	}
	for top+1 < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[top+1]), "CPU") {
		top++
		cpus = append(cpus, strings.Fields(lines[top])...)
	}
	if len(cpus) > maxProcessors {
		return atLine(first, "%d CPUs cannot be", len(cpus))
	}
	row := func(i int) (line string, next int) {
		line, next = lines[i], i+1
		for next < len(lines) && strings.TrimSpace(lines[next]) != "" && !interruptName.MatchString(lines[next]) {
			line += " " + lines[next]
			next++
		}
		return line, next
	}
	for i := top + 1; i < len(lines); {
		at := i
		var line string
		line, i = row(i)
		m := interruptName.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name, words := m[1], strings.Fields(m[2])
		if len(words) == 0 {
			continue
		}
		var numbers []uint64
		for len(numbers) < len(cpus) && len(numbers) < len(words) {
			v, ok := count(words[len(numbers)])
			if !ok {
				break
			}
			numbers = append(numbers, v)
		}
		each(at+1, name, numbers, words[len(numbers):])
	}
	return nil
}

// readInterrupts reads /proc/interrupts. Only numbered interrupts are kept:
// the others (LOC, RES, ...) are no devices.
func (f *Facts) readInterrupts(t text) error {
	return perCPU(t, func(line int, name string, numbers []uint64, rest []string) {
		if _, ok := count(name); !ok || len(rest) == 0 || len(numbers) == 0 || len(f.Interrupts) >= rowLimit {
			return
		}
		var total uint64
		for _, v := range numbers {
			total += v
		}
		f.Interrupts = append(f.Interrupts, Interrupt{ID: name, Name: strings.Join(rest[max(0, min(len(rest)-1, 2)):], " "),
			Total: Counter{Value: total, Source: f.Line(t.from, line)}, PerCPU: numbers})
	})
}

func (f *Facts) readSoftirqs(t text) error {
	found := false
	err := perCPU(t, func(line int, name string, numbers []uint64, _ []string) {
		if name != "NET_RX" {
			return
		}
		for id, v := range numbers {
			found = true
			f.processor(id).NetRX = &Counter{Value: v, Source: f.Line(t.from, line)}
		}
	})
	if err == nil && !found {
		return errNothing
	}
	return err
}

// readAffinity reads the smp_affinity_list files as grep prints them:
// 24/smp_affinity_list:0-3.
func (f *Facts) readAffinity(t text) error {
	lists := map[string]string{}
	for _, line := range t.lines() {
		if irq, list, ok := strings.Cut(line, "/smp_affinity_list:"); ok {
			lists[irq] = strings.TrimSpace(list)
		}
	}
	if len(lists) == 0 {
		return errNothing
	}
	for i := range f.Interrupts {
		f.Interrupts[i].Affinity = lists[f.Interrupts[i].ID]
	}
	return nil
}

// attribute names the interface of each interrupt: by its name in the
// interrupt's, by its PCI address or by its parent device (virtio2-input.0).
func (f *Facts) attribute() {
	for i := range f.Interrupts {
		irq := &f.Interrupts[i]
		for j := range f.NICs {
			n := &f.NICs[j]
			if hasToken(irq.Name, n.Name) || !isNotQueue(irq.Name) &&
				(n.Bus != "" && strings.Contains(irq.Name, n.Bus) || n.Device != "" && hasToken(irq.Name, n.Device)) {
				irq.NIC = n.Name
			}
		}
	}
}

// isNotQueue tells interrupts of a device that carry no packets.
func isNotQueue(name string) bool {
	for _, mark := range []string{"async", "config", "PME", "mgmnt", "misc", "adminq", "mailbox", "aeq"} {
		if strings.Contains(name, mark) {
			return true
		}
	}
	return false
}

// hasToken reports whether word stands in s between characters that are no
// letters or digits.
func hasToken(s, word string) bool {
	if word == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if (start == 0 || !wordByte(s[start-1])) && (end == len(s) || !wordByte(s[end])) {
			return true
		}
		from = start + 1
	}
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
