package facts

import (
	"cmp"
	"math"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// sarColumns are the columns of sar of sysstat by the counters that they are rates of: those of an interface
// behind "link.", those of the host with their table. Columns of kilobytes are counted in bytes.
var sarColumns = map[string]string{
	"rxpck/s": "link.rx_packets", "txpck/s": "link.tx_packets", "rxkB/s": "link.rx_bytes", "txkB/s": "link.tx_bytes",
	"rxbyt/s": "link.rx_bytes", "txbyt/s": "link.tx_bytes", "rxmcst/s": "link.rx_mcast",
	"rxerr/s": "link.rx_errors", "txerr/s": "link.tx_errors", "coll/s": "link.tx_collsns", "rxdrop/s": "link.rx_dropped",
	"txdrop/s": "link.tx_dropped", "%ifutil": "link.ifutil", "txcarr/s": "link.tx_carrier",
	"rxfram/s": "link.rx_errors_frame",
	"rxfifo/s": "link.rx_errors_fifo", "txfifo/s": "link.tx_errors_fifo",
	"active/s": "Tcp.ActiveOpens", "passive/s": "Tcp.PassiveOpens", "iseg/s": "Tcp.InSegs", "oseg/s": "Tcp.OutSegs",
	"atmptf/s": "Tcp.AttemptFails", "estres/s": "Tcp.EstabResets", "retrans/s": "Tcp.RetransSegs",
	"isegerr/s": "Tcp.InErrs", "orsts/s": "Tcp.OutRsts",
	"idgm/s": "Udp.InDatagrams", "odgm/s": "Udp.OutDatagrams", "noport/s": "Udp.NoPorts", "idgmerr/s": "Udp.InErrors",
	"irec/s": "Ip.InReceives", "fwddgm/s": "Ip.ForwDatagrams", "idel/s": "Ip.InDelivers", "orq/s": "Ip.OutRequests",
	"idisc/s": "Ip.InDiscards", "odisc/s": "Ip.OutDiscards", "onort/s": "Ip.OutNoRoutes", "fragf/s": "Ip.FragFails",
	"asmf/s": "Ip.ReasmFails", "pgpgin/s": "VM.PagedIn", "pgscank/s": "VM.ScannedAside", "pgscand/s": "VM.ScannedByPrograms",
	"majflt/s": "VM.MajorFaults", "pswpin/s": "VM.SwappedIn", "pswpout/s": "VM.SwappedOut",
}

// sarStates are the columns of sar that are no rates.
var sarStates = map[string]string{"tcpsck": "sockstat.TCP.inuse", "udpsck": "sockstat.UDP.inuse",
	"tcp-tw": "sockstat.TCP.tw"}

// toolHead is the first line of sysstat's tools: "Linux 5.14.0 (web1)  07/22/2024  _x86_64_  (8 CPU)".
var toolHead = regexp.MustCompile(`^Linux \d\S* .*\((\d+) CPU\)`)

// toolCores takes the number of processors from the first line of sysstat's tools.
func (f *Facts) toolCores(t text) {
	for i, line := range t.lines() {
		m := toolHead.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		if v, ok := count(m[1]); ok && v > 0 && v <= maxProcessors && f.Cores == 0 {
			f.Cores = int(v)
			f.use(t.from, i+1)
		}
		return
	}
}

// clockWord is what stands before a row of sysstat's tools.
var clockWord = regexp.MustCompile(`^(Time|\d{1,2}[:.]\d\d[:.]\d\d|AM|PM|\d{4}-\d\d-\d\d|[A-Z]\p{L}+[.:]+)$`)

// row is a line of sysstat's tools without the clock, and the clock.
func toolRow(line string) (words []string, clock string) {
	words = strings.Fields(line)
	if len(words) > 1 && words[1] == ":" { // French: "Moyenne :"
		words = append([]string{words[0] + ":"}, words[2:]...)
	}
	for len(words) > 0 && clockWord.MatchString(words[0]) {
		clock = strings.TrimSpace(clock + " " + words[0])
		words = words[1:]
	}
	return words, clock
}

// sarMean is what the rows of one column say: the mean of those of single moments, or the line of means.
type sarMean struct {
	sum, rows float64
	closed    bool // by the line of means
	src       Source
}

// readSar reads sar of sysstat: -n DEV, EDEV, TCP, ETCP, UDP, IP, SOCK and the use of processors. A line of headings
// names the columns; in one that the terminal cut the rest follows on the next line. What it prints are rates.
func (f *Facts) readSar(t text) error {
	f.toolCores(t)
	means := map[[2]string]*sarMean{}
	var order [][2]string // interfaces are known in the order in which they are printed
	var heads []string
	found := false
	lines := t.lines()
	for i := 0; i < len(lines); i++ {
		words, clock := toolRow(lines[i])
		if len(words) == 0 {
			continue
		}
		if words = nicstatHeads(words); sarHead(words) {
			heads = words
			continue
		}
		if f.atopLink(lines[i], t.from, i+1) {
			found = true
			continue
		}
		at := i
		for len(words) < len(heads) && i+1 < len(lines) && len(heads) > 0 && continues(lines[i+1]) { // wrapped
			i++
			words = append(words, strings.Fields(lines[i])...)
		}
		if len(heads) == 0 || len(words) != len(heads) || impossible(heads, words) {
			continue
		}
		src := f.Line(t.from, at+1)
		if heads[0] == "DEV" {
			found = f.sarDisk(heads, words, src) || found
			continue
		}
		if heads[0] == "CPU" && strings.HasPrefix(heads[1], "%") {
			found = f.cpuRow(heads, words, src) || found
			continue
		}
		for j, head := range heads {
			v, ok := positive(strings.ReplaceAll(words[j], ",", "."))
			if !ok || sarColumns[head] == "" && sarStates[head] == "" {
				continue
			}
			found = true
			key := [2]string{"", head}
			if heads[0] == "IFACE" {
				key[0] = words[0]
			}
			if means[key] == nil {
				means[key], order = &sarMean{}, append(order, key)
			}
			means[key].add(v, strings.HasSuffix(clock, ":"), src)
		}
	}
	if !found {
		return errNothing
	}
	for _, key := range order {
		f.keepMean(key[0], key[1], means[key])
	}
	return nil
}

// sarDisk reads a row of sar -d: the means of an interval. The busiest row of a disk counts.
func (f *Facts) sarDisk(heads, words []string, src Source) bool {
	if !plainName(words[0]) {
		return false
	}
	load := &DiskLoad{Source: src}
	d := f.diskNamed(words[0], src)
	for j := 1; j < len(heads); j++ {
		if v, ok := positive(strings.ReplaceAll(words[j], ",", ".")); ok {
			d.iostatColumn(load, heads[j], v, src)
		}
	}
	load.Bytes = load.ReadBytes + load.WriteBytes
	if d.Load == nil || load.Busy > d.Load.Busy {
		d.observe(load)
	}
	f.readHere(src.From, "disk load")
	return load.BusyKnown
}

// impossible reports whether a row has more packets or kilobytes in a second than any interface carries: counters that
// were reset between two readings look so.
func impossible(heads, words []string) bool {
	const packets, kilobytes = 2e9, 2e8 // of 1.6 Tbit/s
	for j, head := range heads {
		v, ok := positive(strings.ReplaceAll(words[j], ",", "."))
		if ok && (strings.HasSuffix(head, "pck/s") && v > packets || strings.HasSuffix(head, "kB/s") && v > kilobytes ||
			strings.HasSuffix(head, "byt/s") && v > 1000*kilobytes) {
			return true
		}
	}
	return false
}

// sarHead reports whether words are the headings of a table.
func sarHead(words []string) bool {
	if words[0] == "CPU" && len(words) > 1 && (strings.HasPrefix(words[1], "%") || strings.HasSuffix(words[1], "/s")) {
		return true
	}
	return words[0] == "IFACE" || words[0] == "DEV" && words[len(words)-1] == "%util" ||
		sarColumns[words[0]] != "" || words[0] == "totsck"
}

// continues reports whether a line has nothing but numbers: the rest of a row.
func continues(line string) bool {
	words := strings.Fields(line)
	for _, w := range words {
		if _, ok := positive(strings.ReplaceAll(w, ",", ".")); !ok {
			return false
		}
	}
	return len(words) > 0
}

func (m *sarMean) add(v float64, mean bool, src Source) {
	if mean && !m.closed { // of all rows before it
		m.sum, m.rows, m.closed, m.src = 0, 0, true, src
	}
	if m.closed && !mean {
		return
	}
	if v > 0 || m.src.Text == "" {
		m.src = src
	}
	m.sum += v
	m.rows++
}

// keepMean keeps a rate as what is counted in a second of it, or a state as it is.
func (f *Facts) keepMean(nic, head string, m *sarMean) {
	v := m.sum / m.rows
	if name := sarStates[head]; name != "" {
		f.keepCounter(f.Counters, name, Counter{Value: uint64(min(v, 1e15)), Source: m.src})
		return
	}
	if strings.HasSuffix(head, "kB/s") {
		v *= 1024
	}
	c := Counter{Value: uint64(min(math.Ceil(v), 1e15)), Rate: &v, Partial: true, Over: 1, Source: m.src}
	switch {
	case nic == "":
		f.keepCounter(f.Counters, sarColumns[head], c)
	case plainName(nic) && nic != "lo" && nic != "all":
		n := f.linuxLink(nic, m.src)
		f.keepCounter(n.Counters, sarColumns[head], c)
	}
}

// keepCounter keeps a counter that nothing has said yet.
func (f *Facts) keepCounter(into map[string]Counter, name string, c Counter) {
	if _, have := into[name]; !have {
		into[name] = c
	}
}

// nicstatNames are the columns of nicstat as sar has them.
var nicstatNames = map[string]string{"Int": "IFACE", "rKB/s": "rxkB/s", "wKB/s": "txkB/s", "rPk/s": "rxpck/s", "wPk/s": "txpck/s",
	"%Util": "%ifutil"}

// nicstatHeads are the headings of nicstat by the names of sar, other words as they are.
func nicstatHeads(words []string) []string {
	if len(words) < 6 || words[0] != "Int" || words[1] != "rKB/s" {
		return words
	}
	heads := make([]string, len(words))
	for i, w := range words {
		heads[i] = cmp.Or(nicstatNames[w], w)
	}
	return heads
}

// AtopRow is an interface of atop, with the share of its rate: "NET | eth0 98% | pcki 1812 | pcko 901 | si 981 Mbps | so 41 Mbps |".
var AtopRow = regexp.MustCompile(`^NET +\| +(\S+) +(\d{1,3})% +\| .*\bsi +(\d{1,6}) ([KMG])bps +\| +so +(\d{1,6}) ([KMG])bps\b`)

func (f *Facts) atopLink(line, from string, at int) bool {
	m := AtopRow.FindStringSubmatch(line)
	if m == nil || !plainName(m[1]) {
		return false
	}
	src := f.Line(from, at)
	n := f.linuxLink(m[1], src)
	used, _ := count(m[2])
	n.Counters["link.ifutil"] = Counter{Value: used, Source: src}
	for i, name := range []string{"link.rx_bytes", "link.tx_bytes"} {
		bytes := amount(m[3+2*i]) * map[string]float64{"K": 1e3, "M": 1e6, "G": 1e9}[m[4+2*i]] / 8
		n.Counters[name] = Counter{Rate: &bytes, Partial: true, Source: src}
	}
	return true
}
