package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/units"
)

// readIostatExtended reads iostat -x of Linux's sysstat and of FreeBSD, and
// FreeBSD's iostat -Ix with totals (usr.sbin/iostat/iostat.c: r/i, kr/i, sb/i),
// by the names in the heading. Of several reports the last counts; a single
// one covers the time since boot.
func (f *Facts) readIostatExtended(t text) error {
	var heads []string
	lines := t.lines()
	reports := 0
	for _, line := range lines {
		if iostatHeading(strings.Fields(line)) {
			reports++
		}
	}
	found := false
	for i, line := range lines {
		words := strings.Fields(line)
		if len(words) < 5 {
			continue
		}
		if iostatHeading(words) {
			heads = words
			continue
		}
		if len(heads) == 0 || len(words) < min(len(heads), 7) || !plainName(words[0]) || strings.Contains(words[0], ":") {
			continue
		}
		src := f.Line(t.from, i+1)
		d := f.diskNamed(words[0], src)
		load := &DiskLoad{SinceBoot: reports == 1, Source: src}
		known := 0
		for j := 1; j < len(heads) && j < len(words); j++ {
			// A comma stands for the point in some languages.
			if v, ok := positive(strings.ReplaceAll(words[j], ",", ".")); ok && d.iostatColumn(load, heads[j], v, src) {
				known++
			}
		}
		if known < 4 {
			continue
		}
		found = true
		if d.BusyTime.Source == src { // totals
			d.Operations = Counter{Value: d.Reads.Value + d.Writes.Value, Source: src}
			d.Bytes = Counter{Value: d.ReadBytes.Value + d.WriteBytes.Value, Source: src}
			continue
		}
		load.Operations, load.Bytes = load.Reads+load.Writes, load.ReadBytes+load.WriteBytes
		d.observe(load)
	}
	return nothingUnless(found)
}

func iostatHeading(words []string) bool {
	return len(words) >= 5 && strings.EqualFold(strings.TrimSuffix(words[0], ":"), "device")
}

// observe keeps a load, unless what is known is of an interval and the new one
// is not, or says more of the same time.
func (d *Disk) observe(l *DiskLoad) {
	if old := d.Load; old != nil && l.SinceBoot && (!old.SinceBoot || old.BusyKnown && !l.BusyKnown) {
		return
	}
	d.Load = l
}

// iostatColumn keeps one column and reports whether it is known.
func (d *Disk) iostatColumn(l *DiskLoad, head string, v float64, src Source) bool {
	total := func(into *Counter, v float64) bool {
		*into = Counter{Value: uint64(v), Source: src}
		return true
	}
	for name, into := range map[string]*float64{"r/s": &l.Reads, "w/s": &l.Writes, "ms/r": &l.ReadLatency,
		"ms/w":    &l.WriteLatency,
		"r_await": &l.ReadLatency, "w_await": &l.WriteLatency, "qlen": &l.Queue, "avgqu-sz": &l.Queue, "aqu-sz": &l.Queue} {
		if name == head {
			*into = v
			return true
		}
	}
	switch head {
	case "kr/s", "rkB/s":
		l.ReadBytes = v * 1024
	case "kw/s", "wkB/s":
		l.WriteBytes = v * 1024
	case "rMB/s":
		l.ReadBytes = v * (1 << 20)
	case "wMB/s":
		l.WriteBytes = v * (1 << 20)
	case "rsec/s", "rd_sec/s":
		l.ReadBytes = v * 512
	case "wsec/s", "wr_sec/s":
		l.WriteBytes = v * 512
	case "await", "svc_t":
		l.ReadLatency, l.WriteLatency = v, v
	case "%b", "%util":
		l.Busy, l.BusyKnown = min(v/100, 1), true
	case "r/i":
		return total(&d.Reads, v)
	case "w/i":
		return total(&d.Writes, v)
	case "kr/i":
		return total(&d.ReadBytes, v*1024)
	case "kw/i":
		return total(&d.WriteBytes, v*1024)
	case "sb/i": // seconds busy
		return total(&d.BusyTime, v*1000)
	default:
		return false
	}
	return true
}

// readIostat reads iostat of FreeBSD and OpenBSD without -x: a line of device
// names, one of three columns for each ("KB/t tps MB/s", OpenBSD's -D "KB xfr
// time"), then the numbers; and with -I totals ("KB/t xfrs MB"). Of several
// lines the last counts.
func (f *Facts) readIostat(t text) error {
	var names, heads []string
	skip, reports := 0, 0
	found := false
	previous := []string{}
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if h := strings.Fields(strings.NewReplacer("tin", " ", "tout", " ", "us ni sy in id", " ", "us ni sy sp in id",
			" ").Replace(line)); len(h) >= 3 && (h[0] == "KB/t" || h[0] == "KB") {
			names, heads, skip = nil, h, 0
			for _, w := range previous {
				if w != "tty" && w != "cpu" {
					names = append(names, w)
				}
			}
			if strings.Contains(line, "tin") {
				skip = 2
			}
			continue
		}
		previous = words
		if len(names)*3 != len(heads) || len(heads) == 0 || len(words) < skip+len(heads) {
			continue
		}
		reports++
		src := f.Line(t.from, i+1)
		for j, name := range names {
			var v [3]float64
			good := plainName(name)
			for k := range v {
				var ok bool
				v[k], ok = positive(words[skip+j*3+k])
				good = good && ok
			}
			if good {
				found = true
				f.diskNamed(name, src).iostatTriple(heads[j*3:j*3+3], v, reports == 1, src)
			}
		}
	}
	return nothingUnless(found)
}

func (d *Disk) iostatTriple(heads []string, v [3]float64, first bool, src Source) {
	total := func(v float64) Counter { return Counter{Value: uint64(v), Source: src} }
	switch strings.Join(heads, " ") {
	case "KB/t tps MB/s", "KB/t t/s MB/s":
		d.observe(&DiskLoad{Operations: v[1], Bytes: v[2] * (1 << 20), SinceBoot: first, Source: src})
	case "KB xfr time":
		// With -I these are totals and seconds, without it rates and a share of
		// time, which is never above 1.
		if strings.Contains(src.From, "I") {
			d.Bytes, d.Operations, d.BusyTime = total(v[0]*1024), total(v[1]), total(v[2]*1000)
		} else {
			d.observe(&DiskLoad{Bytes: v[0] * 1024, Operations: v[1], Busy: min(v[2], 1), BusyKnown: true, SinceBoot: first,
				Source: src})
		}
	case "KB/t xfrs MB", "KB/t xfr MB":
		d.Operations, d.Bytes = total(v[1]), total(v[2]*(1<<20))
	}
}

// readGstat reads FreeBSD's gstat -b (usr.sbin/gstat/gstat.c): a heading "L(q)
// ops/s r/s kBps ms/r w/s kBps ms/w [d/s kBps ms/d] [o/s ms/o] %busy Name" and
// a line for each provider.
func (f *Facts) readGstat(t text) error {
	var heads []string
	found := false
	for i, line := range t.lines() {
		words := strings.Fields(strings.ReplaceAll(line, "|", " "))
		if len(words) >= 10 && words[0] == "L(q)" {
			heads = words
			continue
		}
		if len(heads) == 0 || len(words) != len(heads) || !plainName(words[len(words)-1]) {
			continue
		}
		l := &DiskLoad{BusyKnown: true, Source: f.Line(t.from, i+1)}
		last, good := "", true
		for j, head := range heads[:len(heads)-1] {
			v, ok := positive(words[j])
			good = good && ok
			switch head {
			case "L(q)":
				l.Queue = v
			case "ops/s":
				l.Operations = v
			case "r/s":
				l.Reads, last = v, "r"
			case "w/s":
				l.Writes, last = v, "w"
			case "d/s":
				last = "d"
			case "kBps":
				if into := map[string]*float64{"r": &l.ReadBytes, "w": &l.WriteBytes}[last]; into != nil {
					*into = v * 1024
				}
			case "ms/r":
				l.ReadLatency = v
			case "ms/w":
				l.WriteLatency = v
			case "%busy":
				l.Busy = min(v/100, 1)
			}
		}
		if good {
			found = true
			l.Bytes = l.ReadBytes + l.WriteBytes
			f.diskNamed(words[len(words)-1], l.Source).observe(l)
		}
	}
	if !found {
		return errNothing
	}
	f.dropPartitions()
	return nil
}

// readGeomDisks reads FreeBSD's geom disk list: "Geom name: ada0", below it
// Mediasize, descr and rotationrate, which is 0 for what does not turn.
func (f *Facts) readGeomDisks(t text) error {
	var d *Disk
	found := false
	for i, line := range t.lines() {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		if key == "Geom name" && plainName(value) {
			d, found = f.diskNamed(value, f.Line(t.from, i+1)), true
			continue
		}
		if d == nil {
			continue
		}
		switch key {
		case "Mediasize":
			word, _, _ := strings.Cut(value, " ")
			if v, ok := count(word); ok && v < 1<<60 {
				d.Size = units.Bytes(v)
			}
		case "descr":
			d.Model = shorten(value)
		case "rotationrate":
			if v, ok := count(value); ok {
				rotates := v > 0
				d.Rotational = &rotates
			}
		}
	}
	return nothingUnless(found)
}

// readCamcontrol reads FreeBSD's camcontrol devlist: "<MODEL REVISION>  at
// scbus0 target 0 lun 0 (pass0,ada0)", and nvmecontrol devlist: " nvme0: MODEL".
func (f *Facts) readCamcontrol(t text) error {
	found := false
	for i, line := range t.lines() {
		model, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "<"), ">")
		_, devices, ok2 := strings.Cut(rest, "(")
		if !ok || !ok2 {
			continue
		}
		for _, name := range strings.Split(strings.TrimSuffix(strings.TrimSpace(devices), ")"), ",") {
			found = true
			base, _ := splitUnit(name)
			if base != "pass" && base != "ses" && plainName(name) {
				f.diskNamed(name, f.Line(t.from, i+1)).Model = shorten(model)
			}
		}
	}
	return nothingUnless(found)
}

// readLsblk reads lsblk of util-linux with the columns that its heading names:
// NAME (with the tree's branches), SIZE, ROTA, TYPE, SCHED, MOUNTPOINT or
// MOUNTPOINTS, MODEL. A cell may be empty, so columns are taken by position.
func (f *Facts) readLsblk(t text) error {
	lines := t.lines()
	columns := lsblkColumns(lines[0])
	if columns["NAME"].end == 0 && columns["KNAME"].end == 0 {
		return atLine(1, "no column NAME")
	}
	disk := ""
	found := false
	for i, line := range lines[1:] {
		runes := []rune(line)
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		name := strings.TrimLeft(words[0], "├└─|`-│ ")
		if name == "" && len(words) > 1 {
			name = strings.TrimLeft(words[1], "├└─|`-")
		}
		if name == "" {
			continue
		}
		top := !strings.ContainsAny(string(runes[0]), " ├└|`│")
		cell := func(head string) string { return columns[head].of(runes) }
		if top {
			disk = name
			if kind := diskKind(name); (kind == "loop" || kind == "memory") && f.disk(name) == nil {
				found = true
				continue // made in advance, or no disk
			}
			d := f.diskNamed(name, f.Line(t.from, i+2))
			found = true
			d.lsblk(cell)
		}
		if point := cell("MOUNTPOINT") + cell("MOUNTPOINTS"); strings.HasPrefix(point, "/") {
			if d := f.disk(disk); d != nil {
				d.mounted(point)
			}
		}
	}
	return nothingUnless(found)
}

func (d *Disk) lsblk(cell func(string) string) {
	if v := cell("ROTA"); v == "0" || v == "1" {
		rotates := v == "1"
		d.Rotational = &rotates
	}
	if v := cell("SCHED"); v != "" && d.Scheduler == "" {
		d.Scheduler = v
	}
	if v := cell("MODEL"); v != "" {
		d.Model = shorten(v)
	}
	if v := cell("SIZE"); d.Size == 0 {
		if n, ok := binarySize(v); ok {
			d.Size = units.Bytes(n)
		}
	}
}

// column is a column of a table by position: its words touch those of its
// heading.
type column struct{ start, end, next int }

func lsblkColumns(heading string) map[string]column {
	columns := map[string]column{}
	var order []string
	for at := 0; at < len(heading); {
		if heading[at] == ' ' {
			at++
			continue
		}
		end := at
		for end < len(heading) && heading[end] != ' ' {
			end++
		}
		columns[heading[at:end]] = column{start: at, end: end, next: 1 << 20}
		order = append(order, heading[at:end])
		at = end
	}
	for i := 0; i+1 < len(order); i++ {
		c := columns[order[i]]
		c.next = columns[order[i+1]].start
		columns[order[i]] = c
	}
	return columns
}

// of takes the cell: the words that overlap the heading's span. Mount points
// and models stand left and may be longer than their heading.
func (c column) of(line []rune) string {
	if c.end == 0 || c.start >= len(line) {
		return ""
	}
	start, end := c.start, min(c.end, len(line))
	for start > 0 && line[start-1] != ' ' && line[start] != ' ' {
		start--
	}
	if c.next > 1<<19 {
		end = len(line)
	}
	for end < len(line) && line[end-1] != ' ' && line[end] != ' ' {
		end++
	}
	return strings.TrimSpace(string(line[start:end]))
}

// binarySize reads 512, 931.5G, 1,8T and 20M in powers of 1024.
func binarySize(s string) (uint64, bool) {
	s = strings.TrimSuffix(strings.ReplaceAll(s, ",", "."), "B")
	factor := float64(1)
	if i := strings.IndexByte("KMGTPE", lastByte(s)); i >= 0 {
		factor = float64(uint64(1) << (10 * (i + 1)))
		s = s[:len(s)-1]
	}
	v, ok := positive(s)
	if !ok || v*factor >= 1<<62 {
		return 0, false
	}
	return uint64(v * factor), true
}

func lastByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}
