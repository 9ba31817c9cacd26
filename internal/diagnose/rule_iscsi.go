package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

// iscsiLost finds iSCSI sessions that ended since the other end did not answer.
func iscsiLost() Rule {
	return Rule{
		ID: "iscsi-sessions-lost", Title: "iSCSI sessions were dropped because the other end did not " +
			"respond", Systems: onFreeBSD(),
		Needs: []string{"messages"}, Severity: Warning,
		Because: "The other end did not answer an iSCSI ping (NOP) for seconds: the path stalled, or the other end did. Each " +
			"time, I/O waits until the session is re-established.",
		Confirm: "At the same time the port's link goes down, its error or drop counters grow, or the storage does not " +
			"respond (gstat).",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, iscsiPing)
			if n == 0 {
				return nil
			}
			who := iscsiPing.FindStringSubmatch(lines[0].Text)[1]
			down, downs := matching(in.Facts, linkDown)
			if downs == 0 {
				return do("find what stalled at that time: the link, the switch, or the storage",
					one("iscsi "+who, lines, "no answer to iSCSI pings (%s)", counted(n, "line")))
			}
			return do("fix the link first: cable, optic, switch port", one("iscsi "+who, append(lines, down...),
				"no answer to iSCSI pings (%s), and the link went down (%s)", counted(n, "line"), counted(downs, "line")))
		},
		Fires: freebsdExample("dmesg", "WARNING: 192.0.2.7 (iqn.1994-09.org.freebsd:a): no ping reply (NOP-Out) after 5 "+
			"seconds; dropping connection\n"),
		Quiet: freebsdExample("dmesg", "WARNING: 192.0.2.7 (iqn.1994-09.org.freebsd:a): connection "+
			"error; dropping connection\n"),
	}
}

// iscsiPing is what the target (sys/cam/ctl/ctl_frontend_iscsi.c) and the initiator (sys/dev/iscsi/iscsi.c) say.
var iscsiPing = regexp.MustCompile(`(\S+) \([^)]*\): no ping reply \(NOP-(?:In|Out)\) after \d+ seconds`)
