package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/workload"
)

// DiskFigures are what a plan takes from measurements of a disk.
type DiskFigures struct {
	Rate       float64 // sustained writes, bytes/s
	IOPS       float64 // random reads per second with many at once
	Latency    float64 // of one random read, s
	SyncWrites float64 // per second, one after the other
}

// Disk are the figures among the medians of what was measured.
func (m *Measured) Disk() DiskFigures {
	return DiskFigures{m.Median[workload.WriteBytes], m.Median[workload.DeepReads], m.Median[workload.RandomReadTime],
		m.Median[workload.SyncWrites]}
}

// ReadDisk reads the figures from the JSON of a Measured.
func ReadDisk(data []byte) (*DiskFigures, error) {
	var m Measured
	if err := json.Unmarshal(data, &m); err != nil || m.Schema != MeasuredSchema {
		return nil, errors.New("the output of wirerate measure disk --json is expected")
	}
	d := m.Disk()
	if !(d.Rate > 0 && d.Rate < 1e15) && !(d.SyncWrites > 0 && d.SyncWrites < 1e9) {
		return nil, fmt.Errorf("no figures of a disk in it: neither %s nor %s", workload.WriteBytes,
			workload.SyncWrites)
	}
	return &d, nil
}

// Describe puts the figures into a machine. A pool's random reads are spread
// over its disks.
func (d *DiskFigures) Describe(m *plan.Machine) {
	m.DiskRate, m.SyncWrites = d.Rate, d.SyncWrites
	if d.IOPS > 0 && d.IOPS < 1e9 && d.Latency > 0 && d.Latency < 100 {
		m.DiskDepth = DiskDepth(d.IOPS/float64(max(1, m.Disks)), d.Latency)
	}
}

// DiskDepth is how many operations are under way at once in a disk that does so
// many a second when each takes so long, in s (Little's law).
func DiskDepth(iops, latency float64) float64 { return math.Ceil(iops * latency) }
