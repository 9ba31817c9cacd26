package facts

import (
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/regexp"
)

// PoolWait is how long requests of a ZFS pool, or of one of its devices, took: a row of zpool iostat -l.
type PoolWait struct {
	Pool string `json:"pool"`
	// Device is empty for the whole pool.
	Device string `json:"device,omitempty"`
	Role   string `json:"role"` // of a device, as that of ZVdev
	// Reads and Writes are operations per second.
	Reads  float64 `json:"reads_per_second"`
	Writes float64 `json:"writes_per_second"`
	// ReadWait and WriteWait are milliseconds that the disks took for a request, without the time in ZFS' queues; 0 where
	// there was none.
	ReadWait  float64 `json:"disk_read_wait_ms,omitempty"`
	WriteWait float64 `json:"disk_write_wait_ms,omitempty"`
	// First says that it is of the first report, which is of all the time since the pool was imported unless -y left that out.
	First  bool   `json:"first_report,omitempty"`
	Source Source `json:"source"`
}

// PoolWaitHead is the first line of zpool iostat -l (OpenZFS cmd/zpool/zpool_main.c, iostat_top_labels).
var PoolWaitHead = regexp.MustCompile(`^\s+capacity\s+operations\s+bandwidth\s+total_wait\s+disk_wait\b`)

// readPoolWaits reads zpool iostat -l, with -v or without. Of several reports each row keeps the slowest after the first.
func (f *Facts) readPoolWaits(t text) error {
	const columns = 11 // name, and two each of capacity, operations, bandwidth, total_wait, disk_wait
	pool, role, inTable := "", "data", false
	var rows []PoolWait
	lines := t.lines()
	for i, line := range lines {
		words := strings.Fields(line)
		switch {
		case PoolWaitHead.MatchString(line):
			inTable = true
			continue
		case !inTable || len(words) < columns || strings.HasPrefix(words[0], "-") || words[1] == "alloc":
			continue
		case indent(line) == 0 && vdevRoles[words[0]] != "":
			role = vdevRoles[words[0]]
			continue
		case indent(line) == 0:
			pool, role = words[0], "data"
		}
		row := PoolWait{Pool: pool, Role: role, First: true, Source: f.Line(t.from, i+1)}
		if indent(line) > 0 {
			if i+1 < len(lines) && indent(lines[i+1]) > indent(line) {
				continue // a mirror or raidz: its devices follow
			}
			row.Device = words[0]
		}
		row.Reads, row.Writes = perSecond(words[3]), perSecond(words[4])
		row.ReadWait, row.WriteWait = waited(words[9]), waited(words[10])
		at := slices.IndexFunc(rows, func(r PoolWait) bool { return r.Pool == row.Pool && r.Device == row.Device })
		if at < 0 {
			rows = append(rows, row)
			continue
		}
		row.First = false
		if old := rows[at]; old.First || max(row.ReadWait, row.WriteWait) > max(old.ReadWait, old.WriteWait) {
			rows[at] = row
		}
	}
	f.PoolWaits = append(f.PoolWaits, rows[:min(len(rows), rowLimit)]...)
	return nothingUnless(len(rows) > 0)
}

func perSecond(s string) float64 {
	n, _ := binarySize(s)
	return float64(n)
}

// waited returns milliseconds of a time such as 269us or 1.05s, or with -p nanoseconds alone; - is 0.
func waited(s string) float64 {
	if ns, ok := positive(s); ok {
		return ns / 1e6
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0
	}
	return d.Seconds() * 1000
}
