package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// diskBusy finds a disk that has no time left.
func diskBusy() Rule {
	return Rule{
		ID: "disk-saturated", Title: "A disk is busy all the time", Severity: Info, Needs: []string{"disks|disk load"},
		Because: "Reads and writes wait for this disk: the network is not the bottleneck.",
		Confirm: "A transfer that touches no disk (iperf3, wirerate measure bulk) is faster.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.Disks {
				d := &in.Facts.Disks[i]
				l := d.Load
				if l == nil || !l.BusyKnown || l.Busy < 0.95 || len(d.Below) > 0 {
					continue
				}
				when := "while it was observed"
				if l.SinceBoot {
					when = "on the average, since boot if this is a first report"
				}
				found := decisive(do("measure without the disk; then a faster disk, more of them, or more memory to cache in",
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

// waits says how long requests took, where the tool told.
func waits(l *facts.DiskLoad) string {
	if l.ReadLatency+l.WriteLatency == 0 {
		return ""
	}
	return fmt.Sprintf(", reads took %.3g ms, writes %.3g ms", l.ReadLatency, l.WriteLatency)
}

func diskExample(busy int) Example {
	return freebsdExample("gstat -b", fmt.Sprintf("dT: 1.001s  w: 1.000s\n L(q)  ops/s    r/s   kBps   ms/r    w/s  "+
		" kBps   ms/w   %%busy Name\n    4    110     80   9000   41.0     30   3000   55.0   %d.0  ada0\n", busy))
}

// diskWait finds a host whose processors idle while programs wait for disks.
func diskWait() Rule {
	return Rule{
		ID: "disk-wait", Title: "Programs wait for disks", Severity: Info, Needs: []string{"all processors"}, Systems: onLinux(),
		Because: "The kernel counts idle time as iowait while a program waits for a disk, or for a file server such as NFS " +
			"(proc_stat(5)): what such a program serves is late, whatever the network does.",
		Confirm: "vmstat 1 shows programs in its column b while it is slow; a transfer that touches no disk (iperf3) is faster.",
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
				when = ", on the average since boot"
			}
			return decisive(do("iostat -x 1 names the disk (w_await, r_await, %util), nfsiostat 1 the mount, pidstat -d 1 the program",
				one("disks", []facts.Source{p.Source}, "%.0f%% of the processors' time passed waiting for them%s, %.0f%% was used",
					100*p.Waiting, when, 100*(1-min(p.Idle, 1)))))
		},
		Fires: linuxExample("top", "%Cpu(s):  2.1 us,  3.0 sy,  0.0 ni, 11.9 id, 83.0 wa,  0.0 hi,  0.0 si,  0.0 st\n"),
		Quiet: linuxExample("top", "%Cpu(s):  2.1 us,  3.0 sy,  0.0 ni, 91.9 id,  3.0 wa,  0.0 hi,  0.0 si,  0.0 st\n"),
	}
}
