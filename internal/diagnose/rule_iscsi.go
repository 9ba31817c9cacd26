package diagnose

import "github.com/wirerate/wirerate/internal/regexp"

// iscsiLost finds iSCSI sessions that ended since the other end did not answer.
func iscsiLost() Rule {
	return Rule{
		ID: "iscsi-sessions-lost", Title: "iSCSI sessions were dropped for want of an answer", Systems: onFreeBSD(),
		Needs: []string{"messages"}, Severity: Warning,
		Because: "The other end did not answer a ping of the protocol for seconds: the path between them stood still, or " +
			"the end itself did. Each time the disks behind it wait until the session is made again.",
		Confirm: "At the same time the port's link goes down, its counters of errors or drops grow, or the storage does not " +
			"respond (gstat).",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, iscsiPing)
			if n == 0 {
				return nil
			}
			who := iscsiPing.FindStringSubmatch(lines[0].Text)[1]
			down, downs := matching(in.Facts, linkDown)
			if downs == 0 {
				return do("look for what stood still at that time: the link, the switch, the storage",
					one("iscsi "+who, lines, "no answer to a ping of iSCSI in %s", counted(n, "line")))
			}
			return do("mend the link first: the cable, the optic, the switch's port", one("iscsi "+who, append(lines, down...),
				"no answer to a ping of iSCSI in %s, and the link went down in %s", counted(n, "line"), counted(downs, "line")))
		},
		Fires: freebsdExample("dmesg", "WARNING: 192.0.2.7 (iqn.1994-09.org.freebsd:a): no ping reply (NOP-Out) after 5 "+
			"seconds; dropping connection\n"),
		Quiet: freebsdExample("dmesg", "WARNING: 192.0.2.7 (iqn.1994-09.org.freebsd:a): connection "+
			"error; dropping connection\n"),
	}
}

// iscsiPing is what the target (sys/cam/ctl/ctl_frontend_iscsi.c) and the initiator (sys/dev/iscsi/iscsi.c) say.
var iscsiPing = regexp.MustCompile(`(\S+) \([^)]*\): no ping reply \(NOP-(?:In|Out)\) after \d+ seconds`)
