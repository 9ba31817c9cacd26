package diagnose

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// memoryExhausted finds messages about memory and limits that ran out.
func memoryExhausted() Rule {
	return Rule{
		ID: "kernel-limit-reached", Title: "The kernel reported an exhausted network limit",
		Needs: []string{"messages"}, Severity: Critical,
		Because: "At the time of the message, connections or packets were refused.",
		Check: func(in Input) (out []Finding) {
			log := strings.ToLower(strings.Join(in.Facts.Lines("dmesg"), "\n"))
			out = namedLimits(in.Facts)
			for _, mark := range []string{"out of socket memory", "too many orphaned sockets", "mbuf_cluster limit reached",
				"mbuf limit reached", "clusters exhausted", "out of mbuf address space", "out of mbufs", "mclpool limit reached",
				"mclpools limit reached",
				"kern.maxfiles limit exceeded", "kmem_map too small",
				"dst cache overflow", "route cache is full", "is full, maxelem"} {
				if !strings.Contains(log, mark) {
					continue
				}
				lines, n := logged(in.Facts, mark)
				// "nmbclusters limit reached" stands in lines that name the zone as well.
				if n == 0 || slices.ContainsFunc(out, func(f Finding) bool { return f.Evidence[0].Line == lines[0].Line }) {
					continue
				}
				fix := limitFix(in.Facts, mark)
				found := one("kernel log", lines, "%q (%s)", mark, counted(n, "line"))
				if mark == "out of socket memory" {
					found[0].Because = "Old kernels report exhausted TCP memory and too many orphaned connections in the " +
						"same words; connections were reset."
				}
				if strings.Contains(mark, "limit") && fix.Setting != "" {
					found = one(fix.Setting, lines, "the kernel reached this limit (%s)", counted(n, "line"))
				}
				out = append(out, withFix(fix, found)...)
			}
			return out
		},
		Fires: freebsdExample("dmesg", "[zone: mbuf_cluster] kern.ipc.nmbclusters limit reached\n"),
		Quiet: openbsdExample("dmesg", "mtrr: Pentium Pro MTRR support\n"),
	}
}

// namedLimit is how FreeBSD names the limit of a zone (uma_zone_set_warning in sys/kern/kern_mbuf.c and uipc_socket.c).
var namedLimit = regexp.MustCompile(`\b(kern\.ipc\.(?:nmb\w+|maxsockets)) limit (?:is )?reached`)

// namedLimits finds the limits that the kernel names, each with its lines.
func namedLimits(f *facts.Facts) (out []Finding) {
	const most = 8 // the kernel has no more
	for i, line := range f.Lines("dmesg") {
		m := namedLimit.FindStringSubmatch(line)
		if m == nil || len(out) == most || slices.ContainsFunc(out, func(found Finding) bool { return found.Subject == m[1] }) {
			continue
		}
		lines, n := logged(f, strings.ToLower(m[0]))
		if n == 0 {
			lines, n = []facts.Source{f.Line("dmesg", i+1)}, 1
		}
		out = append(out, withFix(limitFix(f, m[1]), one(m[1], lines, "the kernel reached this limit (%s)", counted(n, "line")))...)
	}
	return out
}

// limitFix is the setting behind a message about a limit.
func limitFix(f *facts.Facts, mark string) Fix {
	setting := ""
	switch {
	case strings.Contains(mark, "maxelem"):
		return Fix{Action: "recreate the set with a larger size: ipset create NEW TYPE maxelem 262144, fill it, then ipset " +
			"swap NEW OLD"}
	case strings.Contains(mark, "kmem_map"):
		return Fix{Action: "find what fills kernel memory: run vmstat -z, vmstat -m and netstat -m twice, an hour " +
			"apart, and compare; a zone that only grows is leaking"}
	case strings.Contains(mark, "route cache"):
		setting = "net.ipv6.route.max_size"
	case strings.Contains(mark, "dst cache"):
		setting = "net.ipv4.route.max_size"
	case strings.Contains(mark, "orphan"):
		setting = "net.ipv4.tcp_max_orphans"
	case mark == "out of socket memory":
		return socketMemoryFix(f)
	case f.System == "openbsd":
		setting = "kern.maxclusters"
	case strings.Contains(mark, "maxfiles"):
		setting = "kern.maxfiles"
	case strings.HasPrefix(mark, "kern.ipc."):
		setting = mark
	default:
		setting = "kern.ipc.nmbclusters"
	}
	return Fix{Setting: setting}
}

// socketMemoryFix tells which of the two limits behind one message was reached. An orphan that seems stuck counts up to
// four times (torvalds/linux v3.2 net/ipv4/tcp_timer.c, tcp_out_of_resources).
func socketMemoryFix(f *facts.Facts) Fix {
	used, known := f.Counter("sockstat.TCP.mem")
	mem, ok := f.Triple("net.ipv4.tcp_mem")
	orphans, limit := total(f, "sockstat.TCP.orphan"), f.Settings["net.ipv4.tcp_max_orphans"].Value
	most, err := strconv.ParseUint(limit, 10, 64)
	switch {
	case known && ok && int64(used.Value) >= mem[1]:
		return Fix{Setting: "net.ipv4.tcp_mem"}
	case err == nil && orphans > most/8:
		return Fix{Setting: "net.ipv4.tcp_max_orphans"}
	}
	return Fix{Action: "while it happens, compare mem in /proc/net/sockstat with the second number of net.ipv4.tcp_mem, and " +
		"orphan with a quarter of net.ipv4.tcp_max_orphans; raise the limit that is reached"}
}
