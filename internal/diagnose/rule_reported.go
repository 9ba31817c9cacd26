package diagnose

import (
	"cmp"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// reported finds failures that a log tells in words for which no rule has a form. Its findings are possible causes, and
// are told only where no other rule found one.
func reported() Rule {
	return Rule{
		ID: "log-reports-failure", Title: "A log message reports a failure", Needs: []string{"messages"}, Severity: Info,
		LastResort: true,
		Because:    "No rule knows this message; its wording says what failed.",
		Confirm:    "The message appears while it is slow, and not otherwise.",
		Check:      func(in Input) []Finding { return reportsIn(in.Facts) },
		Fires: linuxExample("dmesg", "Mar  4 11:02:59 edge1 relayd[881]: send queue to peer 192.0.2.7 is full, dropping\n"+
			"Mar  4 11:03:04 edge1 relayd[881]: send queue to peer 192.0.2.7 is full, dropping\n"),
		Quiet: linuxExample("dmesg", "Mar  4 11:02:59 edge1 relayd[881]: send queue length set to 512\n"),
	}
}

// shortLog is the number of lines up to which one line of a log says something; in a longer one it has to come again.
const shortLog = 40

// mostReports bounds the findings from one log.
const mostReports = 2

type reportGroup struct {
	facts.Report
	lines []facts.Source
	n     int
}

// reportsIn are the failures that are told most, those first that explain others.
func reportsIn(f *facts.Facts) (out []Finding) {
	var groups []reportGroup
	all := f.Lines("dmesg")
	for i, line := range all {
		r, ok := facts.ReportOf(line)
		if !ok {
			continue
		}
		at := slices.IndexFunc(groups, func(g reportGroup) bool { return g.Report == r })
		if at < 0 {
			at, groups = len(groups), append(groups, reportGroup{Report: r})
		}
		g := &groups[at]
		if g.n++; len(g.lines) < 2 {
			g.lines = append(g.lines, f.Line("dmesg", i+1))
		} else {
			g.lines[1] = f.Line("dmesg", i+1)
		}
	}
	groups = slices.DeleteFunc(groups, func(g reportGroup) bool { return g.n < 2 && len(all) > shortLog })
	slices.SortStableFunc(groups, func(a, b reportGroup) int {
		return cmp.Or(cmp.Compare(a.Failure, b.Failure), cmp.Compare(b.n, a.n))
	})
	for _, g := range groups[:min(len(groups), mostReports)] {
		out = append(out, g.finding())
	}
	return out
}

func (g reportGroup) finding() Finding {
	said := reportTexts[g.Failure]
	found := one(cmp.Or(g.Program, "log"), g.lines, "%s (%s)", said.summary, counted(g.n, "line"))
	action := said.do
	if m := addressIn.FindStringSubmatch(g.lines[0].Text); m != nil && (g.Failure == facts.Silent || g.Failure == facts.Refused) {
		action = "ping -c 100 " + m[1] + " and mtr -rwbzc 100 " + m[1] + "; " + action
	}
	return decisive(do(action, found))[0]
}

var addressIn = regexp.MustCompile(`\b((?:\d{1,3}\.){3}\d{1,3})\b`)

// reportTexts are what each failure means, and what to do about it.
var reportTexts = map[facts.Failure]struct{ summary, do string }{
	facts.DeviceFails: {"a device or its firmware hung, failed or was reset", "update its driver and firmware (dmesg and " +
		"ethtool -i show the versions); check cable, slot, power and temperature; try it with power saving disabled"},
	facts.Exhausted: {"a limit was reached or a buffer was full", "find the named limit in the program's manual and raise " +
		"it as far as memory allows; if usage only grows it is a leak, if it peaks it is load; a full queue to a peer means " +
		"that the peer or the path is slower than the sender"},
	facts.Lost: {"packets or messages were dropped", "check the reason given in the message, and the queue or buffer " +
		"in front of the program (nstat -az, ss -uamn) while it is slow"},
	facts.Damaged: {"received data was corrupted", "check for errors on the path (ethtool -S, ip -s link), disable checksum " +
		"offloads as a test (ethtool -K NAME rx off tx off), and compare keys and versions of both ends"},
	facts.LinkLost: {"a link was lost", "check cable, optic, port and signal, and the log at the other end of the link"},
	facts.Throttled: {"the rate is limited", "find the limit that the message names: of the program, of the account, " +
		"or of the provider"},
	facts.Refused: {"connections were refused or reset", "at the other end, check that the program is running and " +
		"listening on that address and port (ss -ltnp), and its log at that time; check whether a firewall or load balancer " +
		"in between closes idle connections"},
	facts.Silent: {"the other end did not respond in time", "check at the other end whether the packets arrive (tcpdump), " +
		"how busy it is, and whether a firewall drops them"},
	facts.Slow: {"something took longer than the program expects", "check CPU, memory and disks of the host while it " +
		"happens (vmstat 1, iostat -x 1, cat /proc/pressure/*), then the path to the peer named in the message"},
}
