package diagnose

import (
	"fmt"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// poolWait finds a device of a ZFS pool that is much slower than the others, or a pool whose disks all answer late.
func poolWait() Rule {
	return Rule{
		ID: "pool-wait", Title: "The disks of a ZFS pool are slow", Severity: Info, Needs: []string{"pool waits"},
		Because: "A write to a raidz or mirror finishes only when its slowest disk has answered, and the server's " +
			"clients wait for it: the network may not be the bottleneck.",
		Confirm: "A transfer without disk I/O (iperf3) is fast; zpool iostat -vl shows the same during the next " +
			"slow transfer.",
		Check: func(in Input) (out []Finding) {
			waits := in.Facts.PoolWaits
			for i := range waits {
				pool := &waits[i]
				if pool.Device != "" {
					continue
				}
				found := slowDevice(pool.Pool, waits)
				if found == nil {
					found = slowPool(pool)
				}
				if in.Role == "file" {
					found = with(Warning, found)
				}
				out = append(out, decisive(found)...)
			}
			return out
		},
		Fires: linuxExample("zpool iostat -l", poolWaitExample("910ms", "650ms")),
		Quiet: linuxExample("zpool iostat -l", poolWaitExample("15ms", "9ms")),
	}
}

// wholeDisk is a name below /dev that is a disk, rather than a partition, a label or a link elsewhere.
var wholeDisk = regexp.MustCompile(`^(?:sd[a-z]+|vd[a-z]+|a?da\d+|nda\d+|nvd\d+|nvme\d+n\d+)$`)

// slowDevice names the device that takes several times as long as the median of the others with the same part.
func slowDevice(pool string, waits []facts.PoolWait) []Finding {
	const late, times = 50, 5 // ms
	var devices []facts.PoolWait
	for _, w := range waits {
		if w.Pool == pool && w.Device != "" && w.Role == "data" && w.Reads+w.Writes >= 1 {
			devices = append(devices, w)
		}
	}
	if len(devices) < 2 {
		return nil
	}
	slices.SortStableFunc(devices, func(a, b facts.PoolWait) int { return int(slowest(&a)*1000) - int(slowest(&b)*1000) })
	worst := &devices[len(devices)-1]
	median := slowest(&devices[(len(devices)-1)/2])
	if slowest(worst) < late || slowest(worst) < times*median {
		return nil
	}
	path := "DEVICE"
	if wholeDisk.MatchString(worst.Device) {
		path = "/dev/" + worst.Device
	}
	return do(fmt.Sprintf("check the disk with smartctl -x %s (reallocated and pending sectors, error log; SMR "+
		"models are slow at writes), then replace it: zpool replace %s %s NEWDISK", path, pool, worst.Device),
		one(worst.Device, []facts.Source{worst.Source}, "this disk of pool %s took %s per request%s; the median of the "+
			"%d data disks is %s", pool, seconds(slowest(worst)/1000), ofReport(worst), len(devices), seconds(median/1000)))
}

func slowPool(pool *facts.PoolWait) []Finding {
	const late = 100 // ms
	if slowest(pool) < late || pool.Reads+pool.Writes < 1 {
		return nil
	}
	return do(fmt.Sprintf("find the load with zpool iostat -vr %s 5 (request sizes) and zpool status %s (a scrub "+
		"or resilver); if all disks are equally slow, add mirrors or use faster disks, and add a log device for "+
		"synchronous writes: zpool add %s log DEVICE", pool.Pool, pool.Pool, pool.Pool),
		one(pool.Pool, []facts.Source{pool.Source}, "the disks of pool %s took %s per read, %s per write%s (%.0f reads/s, "+
			"%.0f writes/s)", pool.Pool, seconds(pool.ReadWait/1000), seconds(pool.WriteWait/1000), ofReport(pool),
			pool.Reads, pool.Writes))
}

func slowest(w *facts.PoolWait) float64 { return max(w.ReadWait, w.WriteWait) }

func ofReport(w *facts.PoolWait) string {
	if w.First {
		return " (the average since the pool was imported, if this is the first report)"
	}
	return ""
}

func poolWaitExample(total, disk string) string {
	return `              capacity     operations     bandwidth    total_wait     disk_wait    syncq_wait    asyncq_wait  scrub
pool        alloc   free   read  write   read  write   read  write   read  write   read  write   read  write   wait
----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
tank        1.47T  85.5T     13    210  1.32M  28.1M   16ms   20ms   14ms   18ms  133ns    2us    1ms   40ms      -
  raidz2    1.47T  85.5T     13    210  1.32M  28.1M   16ms   20ms   14ms   18ms  133ns    2us    1ms   40ms      -
    da1         -      -      3     52   330K  7.0M    16ms   14ms    5ms    9ms  115ns    1us    1ms    5ms      -
    da2         -      -      3     52   330K  7.0M    16ms   15ms    5ms    8ms  115ns    1us    1ms    5ms      -
    da3         -      -      3     52   330K  7.0M    16ms  ` + total + `    5ms  ` + disk + `  115ns    1us    1ms  260ms      -
    da4         -      -      3     52   330K  7.0M    16ms   15ms    5ms    9ms  115ns    1us    1ms    5ms      -
`
}
