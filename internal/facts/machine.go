package facts

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
	"github.com/wirerate/wirerate/internal/units"
)

// readMeminfo reads /proc/meminfo (Linux Documentation/filesystems/proc.rst).
func (f *Facts) readMeminfo(t text) error {
	for i, line := range t.lines() {
		name, value, ok := strings.Cut(line, ":")
		if !ok || name != "MemTotal" {
			continue
		}
		n, ok := count(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
		if !ok || n > 1<<50 {
			return atLine(i+1, "MemTotal is not a number of kB")
		}
		f.Memory = units.Bytes(n) * units.KiB
		return nil
	}
	return errNothing
}

// readFree reads free of procps, in any language: the first number of the row Mem is the memory. It is in KiB where no
// flag says otherwise, as -h with its unit behind it (procps-ng src/free.c).
func (f *Facts) readFree(t text) error {
	unit := units.Bytes(units.KiB)
	for _, flag := range strings.Fields(t.typed) {
		switch flag {
		case "-b":
			unit = 1
		case "-m":
			unit = units.MiB
		case "-g":
			unit = units.GiB
		}
	}
	lines := t.lines()
	for i, line := range lines {
		words := strings.Fields(line)
		if len(words) < 4 || !freeRow.MatchString(words[0]) {
			continue
		}
		m := freeNumber.FindStringSubmatch(words[1])
		if m == nil {
			return atLine(i+1, "the memory is not a number")
		}
		v, err := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64)
		switch {
		case err != nil || v > 1<<50:
			return atLine(i+1, "the memory is not a number")
		case m[2] != "":
			unit = units.Bytes(freeUnits[m[2]])
		}
		src := f.Line(t.from, i+1)
		if f.Memory == 0 {
			f.Memory = units.Bytes(v * float64(unit))
		}
		const columns = 7 // with the available memory, which old versions do not print
		if left, ok := freeAmount(words[len(words)-1]); ok && len(words) == columns && v > 0 {
			free := FreeMemory{Available: left / (v * freeUnits[m[2]]), Source: src}
			if i+1 < len(lines) {
				free.swap(strings.Fields(lines[i+1]))
				f.Line(t.from, i+2)
			}
			f.FreeMemory = &free
		}
		return nil
	}
	return errNothing
}

// FreeMemory are shares: what programs can still have of the memory, and what is used of the space for swapping, if there is any.
type FreeMemory struct {
	Available float64 `json:"available_share"`
	Swapped   float64 `json:"swap_used_share,omitempty"`
	HasSwap   bool    `json:"has_swap,omitempty"`
	Source    Source  `json:"source"`
}

// swap takes free's row of the space for swapping: total, used, free.
func (m *FreeMemory) swap(row []string) {
	const columns = 4
	if len(row) != columns || !strings.HasSuffix(row[0], ":") && !strings.HasSuffix(row[0], "：") {
		return
	}
	total, ok := freeAmount(row[1])
	used, known := freeAmount(row[2])
	if m.HasSwap = ok && known && total > 0; m.HasSwap {
		m.Swapped = used / total
	}
}

// freeUnits are those that free -h prints, in bytes; the numbers of a row without them have one unit.
var freeUnits = map[string]float64{"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

func freeAmount(word string) (float64, bool) {
	m := freeNumber.FindStringSubmatch(word)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64)
	return v * freeUnits[m[2]], err == nil && v < 1<<50
}

var (
	freeRow    = regexp.MustCompile(`^(?:Mem|Mem\.|Mém|Speicher|Memoria|Memória|内存|メモリ)\s*[:：]$`)
	freeNumber = regexp.MustCompile(`^(\d+(?:[.,]\d+)?)([BKMGT])?i?$`)
)

// readCPUInfo counts the processors of /proc/cpuinfo. Those of one core share
// its physical id and core id.
func (f *Facts) readCPUInfo(t text) error {
	cores := map[string]bool{}
	physical := ""
	n := 0
	for _, line := range t.lines() {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(name) {
		case "# processors": // s390
			if v, number := count(value); number && v <= maxProcessors {
				n = int(v)
			}
		case "processor":
			if _, number := count(value); number {
				n++
			}
		case "model name", "Model", "cpu model":
			if f.Processor == "" {
				f.Processor = shorten(value)
			}
		case "physical id":
			physical = value
		case "core id":
			cores[physical+"/"+value] = true
		}
	}
	if n == 0 {
		return errNothing
	}
	f.Cores = n
	if len(cores) > 0 && n%len(cores) == 0 {
		f.ThreadsPerCore = n / len(cores)
	}
	return nil
}

func (f *Facts) readPageSize(t text) error {
	n, ok := count(strings.TrimSpace(string(t.data)))
	if !ok || n < 512 || n > 1<<30 {
		return atLine(1, "no page size")
	}
	f.PageSize = units.Bytes(n)
	return nil
}

func (f *Facts) readOSRelease(t text) error {
	for _, line := range t.lines() {
		if v, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			f.Distribution = shorten(strings.Trim(v, `"'`))
			return nil
		}
	}
	return errNothing
}

// firewallName finds the distributions of FreeBSD that are firewalls, by their names and by the prompt of pfSense:
// [2.7.2-RELEASE][admin@gw.example]/root:
var firewallName = regexp.MustCompile(`(?i)\b(pfsense|opnsense)(?:\b|_)|^\W*(\[\d+\.\d[\w.]*-RELEASE\]\[\w+@)`)

// Named keeps the distribution that a line names, where it is a firewall made of FreeBSD, and reports whether it does.
func (f *Facts) Named(line string, src Source) bool {
	m := firewallName.FindStringSubmatch(line)
	if m == nil || f.System != system.FreeBSD || f.Distribution != "" {
		return false
	}
	f.Distribution, f.DistributionSource = "pfSense", src
	if strings.EqualFold(m[1], "opnsense") {
		f.Distribution = "OPNsense"
	}
	return true
}

func (f *Facts) readUptime(t text) error {
	words := strings.Fields(string(t.data))
	if len(words) == 0 {
		return errNothing
	}
	v, err := strconv.ParseFloat(words[0], 64)
	if err != nil || v < 0 {
		return atLine(1, "no uptime")
	}
	f.Uptime = v
	return nil
}

// readLscpu reads lscpu of util-linux.
func (f *Facts) readLscpu(t text) error {
	found := false
	colonFields(t, func(line int, name, value string) {
		v, number := count(value)
		switch {
		case name == "CPU(s)" && number && v > 0 && v <= maxProcessors:
			found = true
			if f.Cores == 0 {
				f.Cores = int(v)
			}
		case name == "Hypervisor vendor":
			found = true
		case name == "Thread(s) per core" && number && v <= 8:
			f.ThreadsPerCore = int(v)
		case name == "Model name" && f.Processor == "":
			f.Processor = shorten(value)
		case strings.HasPrefix(name, "NUMA node") && strings.HasSuffix(name, " CPU(s)"): // "NUMA node0 CPU(s): 0-7"
			node := strings.TrimSuffix(strings.TrimPrefix(name, "NUMA "), " CPU(s)")
			key := "/sys/devices/system/node/" + node + "/cpulist"
			found = true
			f.readHere(t.from, "system files")
			if _, have := f.Settings[key]; !have {
				f.Settings[key] = Setting{Value: value, State: Read, Source: f.Line(t.from, line)}
			}
		}
	})
	return nothingUnless(found)
}
