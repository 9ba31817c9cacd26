package facts

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/kerneltext"
	"github.com/wirerate/wirerate/internal/regexp"
)

// processor returns the entry of a CPU, made when it is new.
func (f *Facts) processor(id int) *Processor {
	i, found := slices.BinarySearchFunc(f.Processors, id, func(p Processor, id int) int { return p.ID - id })
	if !found {
		f.Processors = slices.Insert(f.Processors, i, Processor{ID: id})
	}
	return &f.Processors[i]
}

const maxProcessors = kerneltext.MaxProcessors

// readStat reads the cpu lines of /proc/stat.
func (f *Facts) readStat(t text) error {
	all, err := kerneltext.Stat(string(t.data))
	found := false
	for _, c := range all {
		if c.ID == kerneltext.AllCPUs {
			continue
		}
		found = true
		p := f.processor(c.ID)
		p.ticks, p.Source = c.Ticks, f.Line(t.from, c.Line)
		p.share(c.Ticks)
	}
	if err == nil && !found {
		return errNothing
	}
	return err
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

// readSoftnet reads /proc/net/softnet_stat.
func (f *Facts) readSoftnet(t text) error {
	all, err := kerneltext.SoftnetStat(string(t.data))
	for _, c := range all {
		of := func(v uint64) Counter { return Counter{Value: v, Source: f.Line(t.from, c.Line)} }
		f.processor(c.CPU).Softnet = &Softnet{of(c.Processed), of(c.Dropped), of(c.Squeezed), of(c.Steered)}
	}
	return err
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
		for next < len(lines) && strings.TrimSpace(lines[next]) != "" && !interruptName.MatchString(lines[next]) &&
			(len(strings.Fields(line)) <= len(cpus)+1 || len(strings.Fields(lines[next])) <= nameWords) {
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
// nameWords are at most on a line that continues the name of an interrupt; a longer one is a sentence.
const nameWords = 3

func (f *Facts) readInterrupts(t text) error {
	at := map[string]int{}
	return perCPU(t, func(line int, name string, numbers []uint64, rest []string) {
		if _, ok := count(name); !ok || len(rest) == 0 || len(numbers) == 0 || len(f.Interrupts) >= rowLimit {
			return
		}
		var total uint64
		for _, v := range numbers {
			total += v
		}
		irq := Interrupt{ID: name, Name: strings.Join(rest[max(0, min(len(rest)-1, 2)):], " "),
			Total: Counter{Value: total, Source: f.Line(t.from, line)}, PerCPU: numbers}
		if before, have := at[name]; have { // the table once more, later
			first := f.Interrupts[before].Total
			irq.Total.Earlier = &Reading{Value: first.Value, Source: first.Source}
			f.Interrupts[before] = irq
			return
		}
		at[name] = len(f.Interrupts)
		f.Interrupts = append(f.Interrupts, irq)
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
	for i, line := range t.lines() {
		if irq, list, ok := strings.Cut(line, "/smp_affinity_list:"); ok {
			lists[irq] = strings.TrimSpace(list)
			f.use(t.from, i+1)
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

// wholeTable reports whether a table has a line for each processor, so that they can be counted: one of the kernel,
// whose lines begin with the first one and leave none out. Of tools that show some of them nothing follows.
func (f *Facts) wholeTable() bool {
	if len(f.texts["/proc/stat"]) == 0 && len(f.texts["/proc/net/softnet_stat"]) == 0 {
		return false
	}
	for i := range f.Processors {
		if f.Processors[i].ID != i {
			return false
		}
	}
	return len(f.Processors) > 0
}

// EveryProcessor reports whether Processors are all that the host has: of one that was shown alone, or of a host of
// which nobody said how many it has, nothing follows for the others.
func (f *Facts) EveryProcessor() bool {
	return f.Cores > 0 && len(f.Processors) >= f.Cores
}
