package diagnose

import (
	"cmp"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// outOfMemory finds programs that the kernel ended for want of memory: FreeBSD (vm_pageout.c), Linux (mm/oom_kill.c).
func outOfMemory() Rule {
	return Rule{
		ID: "out-of-memory", Title: "The kernel killed programs because it was out of memory",
		Systems: []string{"freebsd", "linux"}, Needs: []string{"messages"}, Severity: Critical,
		Because: "Clients of the killed program wait until it is restarted; before the kill, everything was slow, network " +
			"allocations included.",
		Check: func(in Input) []Finding {
			if in.Facts.System == "linux" {
				return killedOnLinux(in.Facts)
			}
			for _, mark := range []string{"was killed: out of swap space", "was killed: failed to reclaim memory",
				"swap_pager: out of swap space"} {
				if lines, n := logged(in.Facts, mark); n > 0 {
					return do("find what uses the memory (top -o res); add memory, or limit the program",
						one("memory", lines, "the kernel reported it (%s)", counted(n, "line")))
				}
			}
			return nil
		},
		Fires: freebsdExample("dmesg", "pid 31231 (unbound), jid 0, uid 59, was killed: out of swap space\n"),
		Quiet: freebsdExample("dmesg", "pid 31231 (unbound), jid 0, uid 59: exited on signal 11\n"),
	}
}

// killed is what Linux logs of a program that it ended; of a control group that met its own limit the host may have memory
// left.
var killed = regexp.MustCompile(`([Mm]emory cgroup o|\bO)ut of memory: Kill(?:ed)? process \d+ \(([^)]{1,32})\)`)

func killedOnLinux(f *facts.Facts) []Finding {
	lines, n := matching(f, killed)
	if n == 0 {
		return memoryDumped(f)
	}
	m := killed.FindStringSubmatch(lines[0].Text)
	if m == nil {
		m = []string{"", "O", ""}
	}
	if m[1] != "O" {
		return with(Warning, do("raise the memory limit of the container or unit (resources.limits.memory, --memory, "+
			"MemoryMax=), or reduce the "+
			"program's use", one(cmp.Or(m[2], "memory"), lines, "its control group reached its memory limit: %s",
			counted(n, "line"))))
	}
	return with(Warning, do("find what uses the memory (ps aux --sort -rss); add memory, or limit the program",
		one(cmp.Or(m[2], "memory"), lines, "the OOM killer killed it: %s", counted(n, "line"))))
}

// dumpedProcess is a row of the list of processes that Linux prints before it ends one of them (dump_tasks of mm/oom_kill.c):
// pid, uid, tgid, total_vm, rss and others up to oom_score_adj, name.
var dumpedProcess = regexp.MustCompile(`\[ *(\d{1,7})\] +\d+ +(\d{1,7}) +\d+ +\d+(?: +\d+){1,5} +-?\d{1,4} [\w./:-]+ *$`)

// memoryDumped finds such a list of which the other lines were cut away.
func memoryDumped(f *facts.Facts) []Finding {
	const rows = 5
	lines, n := logLines(f, func(line string) bool {
		m := dumpedProcess.FindStringSubmatch(line[:min(len(line), 1024)])
		return m != nil && m[1] == m[2] // a process, not a thread
	})
	if n < rows {
		return nil
	}
	return with(Warning, do("find what uses the memory (ps aux --sort -rss); if the preceding lines name a memory cgroup, "+
		"raise the limit of that container or "+
		"unit", one("memory", lines, "the kernel listed its processes, as it does before the "+
		"OOM killer kills one: %s", counted(n, "line"))))
}
