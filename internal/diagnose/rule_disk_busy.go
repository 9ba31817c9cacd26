package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// diskBusy finds a disk that has no time left.
func diskBusy() Rule {
	return Rule{
		ID: "disk-saturated", Title: "A disk is saturated or slow", Severity: Info, Needs: []string{"disks|disk load"},
		Because: "Reads and writes wait for this disk: the network may not be the bottleneck.",
		Confirm: "A transfer without disk I/O (iperf3, wirerate measure bulk) is faster.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.Disks {
				d := &in.Facts.Disks[i]
				l := d.Load
				if l == nil || !l.BusyKnown || l.Busy < 0.95 && !slowToAnswer(l) || len(d.Below) > 0 {
					continue
				}
				when := "while observed"
				if l.SinceBoot {
					when = "on average (since boot, if this is a first report)"
				}
				found := decisive(do("measure without the disk (iperf3); then use a faster disk, more disks, or more memory for "+
					"caching",
					one(d.Name, []facts.Source{l.Source}, "%.0f%% busy %s, %s/s moved%s",
						100*min(l.Busy, 1), when, units.Bytes(l.Bytes), waits(l))))
				if in.Role == "file" {
					found = with(Warning, found)
				}
				out = append(out, found...)
			}
			return out
		},
		Fires: diskExample(99),
		Quiet: diskExample(40),
	}
}

// slowToAnswer reports whether a disk that has work half of the time takes longer for a request than a seek lasts.
func slowToAnswer(l *facts.DiskLoad) bool {
	const long = 50 // ms
	return l.Busy >= 0.5 && max(l.ReadLatency, l.WriteLatency) >= long
}

// waits says how long requests took, where the tool told.
func waits(l *facts.DiskLoad) string {
	if l.ReadLatency+l.WriteLatency == 0 {
		return ""
	}
	if l.ReadLatency == l.WriteLatency {
		return fmt.Sprintf(", requests took %s ms", rounded(l.ReadLatency))
	}
	if l.ReadLatency == 0 || l.WriteLatency == 0 {
		return fmt.Sprintf(", %s took %s ms", map[bool]string{true: "writes", false: "reads"}[l.ReadLatency == 0],
			rounded(l.ReadLatency+l.WriteLatency))
	}
	return fmt.Sprintf(", reads took %s ms, writes %s ms", rounded(l.ReadLatency), rounded(l.WriteLatency))
}

// rounded prints three digits of a number, all that stand before the point.
func rounded(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return units.Digits(v, 3)
}

func diskExample(busy int) Example {
	return freebsdExample("gstat -b", fmt.Sprintf("dT: 1.001s  w: 1.000s\n L(q)  ops/s    r/s   kBps   ms/r    w/s  "+
		" kBps   ms/w   %%busy Name\n    4    110     80   9000   41.0     30   3000   55.0   %d.0  ada0\n", busy))
}

// diskWait finds a host whose processors idle while programs wait for disks.
func diskWait() Rule {
	return Rule{
		ID: "disk-wait", Title: "Programs wait for disks", Severity: Info, Needs: []string{"all processors"}, Systems: onLinux(),
		Because: "The kernel counts idle time as iowait while a program waits for a disk or a file server such as NFS " +
			"(proc_stat(5)): what such a program serves is late, whatever the network does.",
		Confirm: "vmstat 1 shows programs in column b while it is slow; a transfer without disk I/O (iperf3) is faster.",
		Check: func(in Input) []Finding {
			const much = 0.3
			p := in.Facts.AllProcessors
			if p == nil || p.Waiting < much {
				return nil
			}
			for i := range in.Facts.Disks {
				if l := in.Facts.Disks[i].Load; l != nil && l.BusyKnown && l.Busy >= 0.95 {
					return nil // disk-saturated names it
				}
			}
			when := ""
			if !p.Sampled {
				when = ", on average since boot"
			}
			return decisive(do("find the disk with iostat -x 1 (w_await, r_await, %util), the mount with nfsiostat 1, the "+
				"program with pidstat -d 1",
				one("disks", []facts.Source{p.Source}, "%.0f%% of the CPU time was iowait%s, %.0f%% was used",
					100*p.Waiting, when, 100*(1-min(p.Idle, 1)))))
		},
		Fires: linuxExample("top", "%Cpu(s):  2.1 us,  3.0 sy,  0.0 ni, 11.9 id, 83.0 wa,  0.0 hi,  0.0 si,  0.0 st\n"),
		Quiet: linuxExample("top", "%Cpu(s):  2.1 us,  3.0 sy,  0.0 ni, 91.9 id,  3.0 wa,  0.0 hi,  0.0 si,  0.0 st\n"),
	}
}
