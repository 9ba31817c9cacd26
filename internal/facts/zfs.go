package facts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/units"
)

// ZFS is what is known about ZFS on a host; nil in Facts without it.
type ZFS struct {
	Pools    []ZPool    `json:"pools,omitempty"`
	Datasets []ZDataset `json:"datasets,omitempty"`
	// ARC are the values of arcstats by the kernel's names: size, c, c_max,
	// hits, misses, ... in bytes or events since boot.
	ARC map[string]Counter `json:"arc,omitempty"`
}

// ZPool is one pool. Zero sizes are unknown.
type ZPool struct {
	Name      string      `json:"name"`
	Size      units.Bytes `json:"size_bytes,omitempty"`
	Allocated units.Bytes `json:"allocated_bytes,omitempty"`
	Free      units.Bytes `json:"free_bytes,omitempty"`
	// Fragmentation and Capacity are shares, 0 to 1; nil is unknown.
	Fragmentation *float64 `json:"fragmentation,omitempty"`
	Capacity      *float64 `json:"capacity,omitempty"`
	Health        string   `json:"health,omitempty"` // ONLINE, DEGRADED, FAULTED, ...
	Scan          string   `json:"scan,omitempty"`   // scrub or resilver, as zpool status says it
	Vdevs         []ZVdev  `json:"vdevs,omitempty"`
	Source        Source   `json:"source"`
}

// ZVdev is one device or group of a pool.
type ZVdev struct {
	Name string `json:"name"`
	// Role is data, log, cache, special, dedup or spare.
	Role string `json:"role"`
	// Kind is mirror, raidz1, raidz2, raidz3, draid for groups, else disk.
	Kind     string `json:"kind"`
	Group    string `json:"group,omitempty"` // the group that a disk belongs to
	State    string `json:"state"`
	Read     uint64 `json:"read_errors"`
	Write    uint64 `json:"write_errors"`
	Checksum uint64 `json:"checksum_errors"`
	Source   Source `json:"source"`
}

// ZDataset is a file system or volume with the properties that were asked.
type ZDataset struct {
	Name       string               `json:"name"`
	Properties map[string]ZProperty `json:"properties"`
}

// ZProperty is a property's value and where it comes from: default, local,
// inherited from a dataset, or - for what is not settable.
type ZProperty struct {
	Value  string `json:"value"`
	Origin string `json:"origin,omitempty"`
	Source Source `json:"source"`
}

func (f *Facts) zfs() *ZFS {
	if f.ZFS == nil {
		f.ZFS = &ZFS{}
	}
	return f.ZFS
}

func (z *ZFS) pool(name string, src Source) *ZPool {
	i := slices.IndexFunc(z.Pools, func(p ZPool) bool { return p.Name == name })
	if i < 0 {
		z.Pools = append(z.Pools, ZPool{Name: name, Source: src})
		i = len(z.Pools) - 1
	}
	return &z.Pools[i]
}

// someDatasets bounds what a backup server with many snapshots' parents
// answers. The properties are those that every release since pool version 28
// knows.
const someDatasets = `zfs get -p -t filesystem,volume recordsize,volblocksize,compression,sync,primarycache,` +
	`secondarycache,atime,logbias,mountpoint | head -n 8192`

// readZpoolList reads zpool list, with -v and -p or without, by the names in
// its heading (OpenZFS cmd/zpool/zpool_main.c): NAME SIZE ALLOC FREE CKPOINT
// EXPANDSZ FRAG CAP DEDUP HEALTH ALTROOT; the first releases say USED AVAIL.
func (f *Facts) readZpoolList(t text) error {
	var heads []string
	left := 0
	found := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) > 4 && words[0] == "NAME" {
			heads, left = words, indent(line)
			continue
		}
		if len(heads) == 0 || len(words) < len(heads) || indent(line) != left { // deeper are devices
			continue
		}
		if at := slices.Index(heads, "SIZE"); at < 0 || words[at] == "-" {
			continue // a heading of -v: logs, cache
		}
		p := f.zfs().pool(words[0], f.Line(t.from, i+1))
		found = true
		for j, head := range heads {
			p.column(head, words[j])
		}
	}
	return nothingUnless(found)
}

func (p *ZPool) column(head, value string) {
	size := func(into *units.Bytes) {
		if n, ok := binarySize(value); ok {
			*into = units.Bytes(n)
		}
	}
	share := func(into **float64) {
		if v, ok := positive(strings.TrimSuffix(value, "%")); ok && v <= 100 {
			v /= 100
			*into = &v
		}
	}
	switch head {
	case "SIZE":
		size(&p.Size)
	case "ALLOC", "USED":
		size(&p.Allocated)
	case "FREE", "AVAIL":
		size(&p.Free)
	case "FRAG":
		share(&p.Fragmentation)
	case "CAP":
		share(&p.Capacity)
	case "HEALTH":
		p.Health = value
	}
}

// readZpoolStatus reads zpool status: "pool: NAME", "state:", "scan:" and the
// tree below "config:", whose depth tells groups from disks and in which
// "logs", "cache", "special", "dedup" and "spares" begin other roles.
func (f *Facts) readZpoolStatus(t text) error {
	var p *ZPool
	inTree, role, group, left := false, "data", "", 0
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] == "pool:" && len(words) == 2 {
			p, inTree = f.zfs().pool(words[1], f.Line(t.from, i+1)), false
			p.Vdevs = nil
			continue
		}
		if p == nil {
			continue
		}
		switch {
		case words[0] == "state:" && len(words) > 1:
			p.Health = words[1]
		case words[0] == "scan:" || words[0] == "scrub:":
			p.Scan = shorten(strings.TrimSpace(line))
			f.zfsScan(p.Name, line, f.Line(t.from, i+1))
		case words[0] == "NAME" && len(words) >= 5:
			inTree, role, group, left = true, "data", "", indent(line)
		case words[0] == "errors:":
			inTree = false
		case inTree:
			role, group = p.vdev(words, indent(line)-left, role, group, f.Line(t.from, i+1))
		}
	}
	return nothingUnless(p != nil)
}

// indent is the width of the white space before a line; a tab counts 8.
func indent(line string) int {
	n := 0
	for _, r := range line {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		default:
			return n
		}
	}
	return n
}

// vdevRoles are the lines of the tree that begin a role.
var vdevRoles = map[string]string{"logs": "log", "log": "log", "cache": "cache", "special": "special", "dedup": "dedup",
	"spares": "spare"}

func (p *ZPool) vdev(words []string, depth int, role, group string, src Source) (newRole, newGroup string) {
	if r, ok := vdevRoles[words[0]]; ok && depth == 0 {
		return r, ""
	}
	if words[0] == p.Name && depth == 0 {
		return "data", ""
	}
	v := ZVdev{Name: words[0], Role: role, Kind: vdevKind(words[0]), Source: src}
	if len(words) > 1 {
		v.State = words[1]
	}
	if len(words) >= 5 {
		for k, into := range []*uint64{&v.Read, &v.Write, &v.Checksum} {
			*into, _ = binarySize(words[2+k])
		}
	}
	switch {
	case depth <= 2:
		group = v.Name
		if v.Kind == "disk" {
			group = ""
		}
	case v.Kind == "disk":
		v.Group = group
	}
	p.Vdevs = append(p.Vdevs, v)
	return role, group
}

func vdevKind(name string) string {
	base, number, ok := strings.Cut(name, "-")
	base, _, _ = strings.Cut(base, ":") // draid2:11d:15c:2s-0
	if !ok || strings.Trim(number, "0123456789:dcs-") != "" {
		return "disk"
	}
	for _, kind := range []string{"mirror", "raidz1", "raidz2", "raidz3", "draid1", "draid2", "draid3", "spare",
		"replacing"} {
		if base == kind {
			return kind
		}
	}
	return "disk"
}

// readZfsGet reads zfs get: NAME PROPERTY VALUE SOURCE, with words separated
// by white space; the source may be "inherited from X". Snapshots are left
// out.
func (f *Facts) readZfsGet(t text) error {
	found := false
	index := map[string]int{}
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] == "NAME" || strings.Contains(words[0], "@") || !propertyName(words[1]) {
			continue
		}
		found = true
		at, known := index[words[0]]
		if !known {
			at = len(f.zfs().Datasets)
			index[words[0]] = at
			f.ZFS.Datasets = append(f.ZFS.Datasets, ZDataset{Name: words[0], Properties: map[string]ZProperty{}})
		}
		if words[2] != "-" {
			f.ZFS.Datasets[at].Properties[words[1]] = ZProperty{Value: words[2], Origin: strings.Join(words[3:], " "),
				Source: f.Line(t.from, i+1)}
		}
	}
	return nothingUnless(found)
}

func propertyName(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') &&
			!strings.ContainsRune("0123456789_:@.-", r)
	})
}

// readArcstats reads Linux's /proc/spl/kstat/zfs/arcstats: two lines of
// heading, then "name type data" (OpenZFS module/os/linux/spl/spl-kstat.c).
func (f *Facts) readArcstats(t text) error {
	arc := map[string]Counter{}
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) != 3 {
			continue
		}
		if _, number := count(words[0]); number {
			continue
		}
		if v, ok := count(words[2]); ok {
			arc[words[0]] = Counter{Value: v, Source: f.Line(t.from, i+1)}
		}
	}
	if len(arc) == 0 {
		return errNothing
	}
	f.zfs().ARC = arc
	return nil
}

// arcSettings takes FreeBSD's kstat.zfs.misc.arcstats from the settings.
func (f *Facts) arcSettings() {
	for name, s := range f.Settings {
		key, ok := strings.CutPrefix(name, "kstat.zfs.misc.arcstats.")
		if !ok {
			continue
		}
		if v, err := strconv.ParseUint(s.Value, 10, 64); err == nil {
			if f.zfs().ARC == nil {
				f.ZFS.ARC = map[string]Counter{}
			}
			f.ZFS.ARC[key] = Counter{Value: v, Source: s.Source}
		}
	}
}
