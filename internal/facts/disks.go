package facts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// Disk is one whole block device; its partitions are part of it.
type Disk struct {
	Name string `json:"name"`
	// Kind is disk, dm, raid, loop, memory or optical.
	Kind  string      `json:"kind"`
	Model string      `json:"model,omitempty"`
	Size  units.Bytes `json:"size_bytes,omitempty"`
	// Rotational is nil when the system does not say; a virtual disk may say
	// anything.
	Rotational *bool       `json:"rotational,omitempty"`
	Scheduler  string      `json:"scheduler,omitempty"`        // Linux: mq-deadline, none, ...
	Requests   int         `json:"queue_requests,omitempty"`   // Linux nr_requests
	ReadAhead  units.Bytes `json:"read_ahead_bytes,omitempty"` // Linux
	Mounts     []string    `json:"mounts,omitempty"`           // of the disk and its partitions
	Below      []string    `json:"built_on,omitempty"`         // disks of a dm or md device
	// Operations and Bytes are both directions together; tools of OpenBSD do
	// not tell them apart.
	Operations Counter   `json:"operations"`
	Bytes      Counter   `json:"bytes"`
	Reads      Counter   `json:"reads"`
	Writes     Counter   `json:"writes"`
	ReadBytes  Counter   `json:"read_bytes"`
	WriteBytes Counter   `json:"write_bytes"`
	ReadTime   Counter   `json:"read_milliseconds"`  // summed over operations
	WriteTime  Counter   `json:"write_milliseconds"` // summed over operations
	BusyTime   Counter   `json:"busy_milliseconds"`  // with at least one operation under way
	Load       *DiskLoad `json:"load,omitempty"`     // nil is unknown
	Source     Source    `json:"source"`

	number string // major:minor
}

// DiskLoad is what a disk did in an interval: the sampling window, that of the
// tool that was asked, or the time since boot.
type DiskLoad struct {
	Operations float64 `json:"operations_per_second"`
	Bytes      float64 `json:"bytes_per_second"`
	Reads      float64 `json:"reads_per_second,omitempty"`
	Writes     float64 `json:"writes_per_second,omitempty"`
	ReadBytes  float64 `json:"read_bytes_per_second,omitempty"`
	WriteBytes float64 `json:"write_bytes_per_second,omitempty"`
	// ReadLatency and WriteLatency are milliseconds for an operation, 0 where
	// there was none or the tool does not say.
	ReadLatency  float64 `json:"read_latency_ms,omitempty"`
	WriteLatency float64 `json:"write_latency_ms,omitempty"`
	Queue        float64 `json:"queue_length,omitempty"` // operations waiting or under way
	Busy         float64 `json:"busy"`                   // share of time, 0 to 1
	// BusyKnown is false for tools that do not say how busy a disk was.
	BusyKnown bool `json:"busy_known"`
	// SinceBoot says that the interval is all the time since boot.
	SinceBoot bool   `json:"since_boot,omitempty"`
	Source    Source `json:"source"`
}

// Bounds below which a quotient of small numbers says nothing.
const (
	leastBusyShare = 0.05
	leastBusyTime  = 60_000 // ms
)

// Throughput returns the bytes per second that the disk moved while it was
// busy: bytes over busy time, of the observed interval if it was busy for
// some of that, else of all the time since boot. For a disk that serves one
// request at a time that is what it can do with these requests (the utilisation
// law, X = U/S); one that serves many at once can do more, so it is a lower
// bound. ok is false when there is too little to divide.
func (d *Disk) Throughput() (bytesPerSecond float64, src Source, ok bool) {
	l := d.Load
	usable := l != nil && l.BusyKnown && l.Busy >= leastBusyShare && l.Bytes > 0
	switch {
	case usable && !l.SinceBoot:
	case d.BusyTime.Value >= leastBusyTime && d.Bytes.Value > 0: // finer than a mean of the same time
		return float64(d.Bytes.Value) / (float64(d.BusyTime.Value) / 1000), d.BusyTime.Source, true
	case !usable:
		return 0, Source{}, false
	}
	return l.Bytes / min(l.Busy, 1), l.Source, true
}

// disk returns a disk by its name, nil when there is none.
func (f *Facts) disk(name string) *Disk {
	i := slices.IndexFunc(f.Disks, func(d Disk) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return &f.Disks[i]
}

// diskLimit bounds the disks that are kept.
const diskLimit = 1024

func (f *Facts) diskNamed(name string, src Source) *Disk {
	if d := f.disk(name); d != nil {
		return d
	}
	if len(f.Disks) >= diskLimit {
		return &Disk{} // counted nowhere
	}
	f.Disks = append(f.Disks, Disk{Name: name, Kind: diskKind(name), Source: src})
	return &f.Disks[len(f.Disks)-1]
}

func diskKind(name string) string {
	base, _ := splitUnit(name)
	switch base {
	case "dm-":
		return "dm"
	case "md", "raid":
		return "raid"
	case "loop", "vnd":
		return "loop"
	case "ram", "zram", "rd":
		return "memory"
	case "sr", "cd", "fd":
		return "optical"
	}
	return "disk"
}

// readDiskstats reads /proc/diskstats (Linux Documentation/admin-guide/
// iostats.rst): major, minor, name, then reads, merged, sectors of 512 bytes,
// ms; the same of writes; requests under way; ms busy; ms weighted. Kernels of
// 4.18 added discards, 5.5 flushes. Lines of partitions are left out; kernels
// before 2.6.25 print four numbers for them.
func (f *Facts) readDiskstats(t text) error {
	found := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) == 7 && found {
			continue
		}
		if len(words) < 14 {
			return atLine(i+1, "%d columns, at least 14 are expected", len(words))
		}
		var v [10]uint64
		for j := range v {
			n, ok := count(words[j+3])
			if !ok {
				return atLine(i+1, "column %d is not a number", j+4)
			}
			v[j] = n
		}
		found = true
		if v[0]+v[4] == 0 && (diskKind(words[2]) == "loop" || diskKind(words[2]) == "memory") {
			continue // made in advance, not in use
		}
		src := f.Line(t.from, i+1)
		d := f.diskNamed(words[2], src)
		d.number = words[0] + ":" + words[1]
		at := func(v uint64) Counter { return Counter{Value: v, Source: src} }
		d.Reads, d.ReadBytes, d.ReadTime = at(v[0]), at(v[2]*512), at(v[3])
		d.Writes, d.WriteBytes, d.WriteTime = at(v[4]), at(v[6]*512), at(v[7])
		d.Operations, d.Bytes, d.BusyTime = at(v[0]+v[4]), at((v[2]+v[6])*512), at(v[9])
	}
	if !found {
		return errNothing
	}
	f.dropPartitions()
	return nil
}

// grepDisks prints the small files of every block device as PATH:CONTENT.
const grepDisks = `cd /sys/block && grep -s '' */queue/rotational */queue/scheduler */queue/nr_requests ` +
	`*/queue/read_ahead_kb ` +
	`*/size */device/model */dm/name; for s in */slaves/*; do [ -e "$s" ] && echo "$s:"; done; true`

// readSysBlock reads the files of /sys/block as grep prints them:
// DISK/FILE:CONTENT.
func (f *Facts) readSysBlock(t text) error {
	sizes := map[string]uint64{}
	for _, line := range t.lines() {
		if path, value, ok := strings.Cut(line, ":"); ok && strings.Count(path, "/") == 1 {
			sizes[path], _ = count(strings.TrimSpace(value))
		}
	}
	found := false
	for i, line := range t.lines() {
		path, value, ok := strings.Cut(line, ":")
		name, file, ok2 := strings.Cut(path, "/")
		if !ok || !ok2 || name == "" || strings.ContainsAny(name, " \t") {
			continue
		}
		found = true
		if sizes[name+"/size"] == 0 && f.disk(name) == nil {
			continue
		}
		d := f.diskNamed(name, f.Line(t.from, i+1))
		value = strings.TrimSpace(value)
		d.sysFile(file, value)
		if strings.HasPrefix(file, "queue/") {
			f.Settings["/sys/block/"+path] = Setting{Value: value, State: Read,
				Source: Source{From: "/sys/block/" + path, Line: 0, Text: value}}
		}
	}
	return nothingUnless(found)
}

func (d *Disk) sysFile(file, value string) {
	n, number := count(value)
	switch {
	case file == "queue/rotational" && number:
		rotates := n == 1
		d.Rotational = &rotates
	case file == "queue/scheduler": // "none [mq-deadline] kyber"; alone without brackets
		d.Scheduler = value
		if _, rest, ok := strings.Cut(value, "["); ok {
			d.Scheduler, _, _ = strings.Cut(rest, "]")
		}
	case file == "queue/nr_requests" && number:
		d.Requests = int(min(n, 1<<20))
	case file == "queue/read_ahead_kb" && number && n < 1<<40:
		d.ReadAhead = units.Bytes(n) * units.KiB
	case file == "size" && number && n < 1<<50: // sectors of 512 bytes
		d.Size = units.Bytes(n) * 512
	case file == "device/model":
		d.Model = shorten(value)
	case file == "dm/name":
		d.Model = shorten(value)
	case strings.HasPrefix(file, "slaves/"):
		d.Below = append(d.Below, strings.TrimPrefix(file, "slaves/"))
	}
}

// readMountinfo reads /proc/self/mountinfo (proc_pid_mountinfo(5)): the third
// word is the device's number, the fifth the mount point.
func (f *Facts) readMountinfo(t text) error {
	names := map[string]string{}
	for name, number := range f.partitions {
		names[number] = name
	}
	found := false
	for _, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) < 7 || !strings.Contains(words[2], ":") {
			continue
		}
		found = true
		for i := range f.Disks {
			d := &f.Disks[i]
			if d.number == words[2] || names[words[2]] != "" && partitionOf(names[words[2]], d.Name) {
				d.mounted(words[4])
			}
		}
	}
	return nothingUnless(found)
}

// mountLimit bounds the mount points of a disk: a container host binds one
// disk hundreds of times.
const mountLimit = 16

func (d *Disk) mounted(point string) {
	if len(d.Mounts) < mountLimit && !slices.Contains(d.Mounts, point) {
		d.Mounts = append(d.Mounts, point)
	}
}

var partitionTail = regexp.MustCompile(`^(p?\d+|s\d+[a-h]?|[a-p])$`)

// partitionOf reports whether a name is that of a partition of a disk: sda1,
// nvme0n1p2, ada0p3, sd0a.
func partitionOf(name, disk string) bool {
	rest, ok := strings.CutPrefix(name, disk)
	if !ok || !partitionTail.MatchString(rest) {
		return false
	}
	numbered, digits := isDigit(disk[len(disk)-1]), isDigit(rest[0])
	return numbered != digits && (numbered || digits) // sda has no partition sdaa, md1 none that is md12
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// dropPartitions leaves whole disks only. Their numbers stay, for the mounts.
func (f *Facts) dropPartitions() {
	names := map[string]bool{}
	for _, d := range f.Disks {
		names[d.Name] = true
	}
	if f.partitions == nil {
		f.partitions = map[string]string{}
	}
	f.Disks = slices.DeleteFunc(f.Disks, func(d Disk) bool {
		for end := len(d.Name) - 1; end > 0 && end >= len(d.Name)-4; end-- {
			if names[d.Name[:end]] && partitionOf(d.Name, d.Name[:end]) {
				f.partitions[d.Name] = d.number
				return true
			}
		}
		return false
	})
}

// compareDisks fills in the rates and the load over the window.
func (f *Facts) compareDisks(later *Facts, seconds float64) {
	for i := range f.Disks {
		d := &f.Disks[i]
		l := later.disk(d.Name)
		if l == nil {
			continue
		}
		if l.Source.Text == "" {
			continue
		}
		pairs := []struct{ before, after *Counter }{{&d.Operations, &l.Operations}, {&d.Bytes, &l.Bytes},
			{&d.BusyTime, &l.BusyTime}, {&d.Reads, &l.Reads},
			{&d.Writes, &l.Writes}, {&d.ReadBytes, &l.ReadBytes}, {&d.WriteBytes, &l.WriteBytes}, {&d.ReadTime, &l.ReadTime},
			{&d.WriteTime, &l.WriteTime}}
		complete := true
		for _, p := range pairs {
			p.before.grow(*p.after, seconds)
			complete = complete && p.before.Rate != nil
		}
		if complete {
			d.loadOfRates(l.Source)
		}
	}
}

func (d *Disk) loadOfRates(src Source) {
	load := &DiskLoad{Operations: *d.Operations.Rate, Bytes: *d.Bytes.Rate, Reads: *d.Reads.Rate, Writes: *d.Writes.Rate,
		ReadBytes:  *d.ReadBytes.Rate,
		WriteBytes: *d.WriteBytes.Rate, Busy: min(*d.BusyTime.Rate/1000, 1), BusyKnown: true,
		Queue: (*d.ReadTime.Rate + *d.WriteTime.Rate) / 1000, Source: src}
	if load.Reads > 0 {
		load.ReadLatency = *d.ReadTime.Rate / load.Reads
	}
	if load.Writes > 0 {
		load.WriteLatency = *d.WriteTime.Rate / load.Writes
	}
	d.Load = load
}

func positive(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && v >= 0 && v < 1e15
}
