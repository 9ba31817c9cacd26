package diagnose

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// pastSeverity is that of a table which was full and is not now. The kernel names
// the namespace of a table that is not its first one's (nf_conntrack_core.c, "in
// netns"): its log is the whole machine's, and the table may be another's.
func pastSeverity(lines []facts.Source) Severity {
	for _, l := range lines {
		if !strings.Contains(l.Text, " in netns") {
			return Warning
		}
	}
	return Info
}

// conntrackFull finds a connection table that is nearly full.
func conntrackFull() Rule {
	return Rule{
		ID: "conntrack-near-full", Title: "The connection tracking table is nearly full", Systems: onLinux(),
		Needs: []string{"settings|messages|alarms"}, Severity: Critical,
		Settings: []string{"net.netfilter.nf_conntrack_max"},
		Because:  "When the table is full, packets of new connections are dropped.",
		Check: func(in Input) []Finding {
			used, src, ok := firstSetting(in.Facts, trackedNow...)
			limit, src2, ok2 := firstSetting(in.Facts, trackedMost...)
			if !ok || !ok2 || limit <= 0 || float64(used) < 0.8*float64(limit) {
				lines, n := matching(in.Facts, trackingFull)
				if n == 0 {
					return alarmedConntrack(in.Facts)
				}
				found := one("conntrack", lines, "the kernel reported a full table (%s)", counted(n, "line"))
				if ok && ok2 && limit > 0 { // it is not full any longer
					found[0].Evidence = append(found[0].Evidence, src, src2)
					found[0].Summary += fmt.Sprintf("; now %d of %d entries", used, limit)
					found = with(pastSeverity(lines), found)
				}
				return found
			}
			return one("conntrack", []facts.Source{src, src2}, "%d of %d entries in use (%s%%)", used, limit,
				units.Digits(100*float64(used)/float64(limit), 3))
		},
		Fires: linuxExample("sysctl -a", "net.netfilter.nf_conntrack_count = 250000\nnet.netfilter.nf_conntrack_max "+
			"= 262144\n"),
		Quiet: linuxExample("sysctl -a", "net.netfilter.nf_conntrack_count = 250\nnet.netfilter.nf_conntrack_max = 262144\n"),
	}
}

// How many connections are tracked, and how many may be, by the names of all releases (nf_conntrack_standalone.c,
// ip_conntrack_standalone.c).
var (
	trackedNow  = []string{"net.netfilter.nf_conntrack_count", "net.ipv4.netfilter.ip_conntrack_count"}
	trackedMost = []string{"net.netfilter.nf_conntrack_max", "net.nf_conntrack_max", "net.ipv4.netfilter.ip_conntrack_max",
		"net.ipv4.ip_conntrack_max"}
)

// alarmedConntrack finds an alarm of netdata about the table (its health.d/netfilter.conf, which warns from 90% on).
func alarmedConntrack(f *facts.Facts) []Finding {
	for _, a := range f.Alarms {
		if a.Name == "conntrack full" && a.Share >= 0.8 {
			return with(Warning, one("conntrack", []facts.Source{a.Source}, "the monitoring reports %s%% of the table in use",
				units.Digits(100*a.Share, 3)))
		}
	}
	return nil
}

// trackingFull is the message about the table of connections, not the one about expected connections.
var trackingFull = regexp.MustCompile(`(?i)conntrack: ?table full`)
