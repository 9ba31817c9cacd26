package diagnose

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// cephSlow finds daemons of Ceph whose operations take half a minute and more (osd_op_complaint_time: IBM Storage Ceph,
// "Slow requests or requests are blocked"; Ceph's "Health checks" has the names of the alarms).
func cephSlow() Rule {
	return Rule{
		ID: "ceph-slow", Title: "Ceph operations are blocked or slow", Needs: []string{"messages|osd latencies"}, Severity: Warning,
		Because: "A daemon did not complete an operation within 30 s. A write waits for its slowest replica: a slow or " +
			"failing disk, recovery or scrubbing, or packet loss between the daemons.",
		Confirm: "ceph osd perf shows the commit latency of one OSD far above the others: its disk. Slow heartbeats or loss " +
			"between the hosts (nstat TcpRetransSegs, ping -M do -s 8972 with jumbo frames): the network.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, cephBlocked)
			if n == 0 {
				return slowOSDs(in.Facts)
			}
			who, waits := cephDaemons(in.Facts)
			subject := "ceph"
			if len(who) > 0 {
				subject = shortList(who, 3)
			}
			found := one(subject, lines, "operations are blocked or slow (%s)", counted(n, "line"))
			if _, m := matching(in.Facts, ofBlueStore); m == n {
				found[0].Because = "BlueStore waited longer than bluestore_log_op_age (5 s by default) for the " +
					"OSD's own disk, which is busy, slow or failing. The network is not the cause."
			}
			daemon := "osd.N"
			switch i := slices.IndexFunc(who, func(w string) bool { return strings.HasPrefix(w, "osd.") }); {
			case waits != "":
				found[0].Summary += "; they wait for osd." + waits
				daemon = "osd." + waits
			case i >= 0:
				daemon = who[i]
			case len(who) > 0 && !slices.ContainsFunc(who, func(w string) bool { return !strings.HasPrefix(w, "mon.") }):
				found[0].Because = "These are monitor operations, not client I/O: a request is stuck inside the monitor, or the " +
					"monitor's own disk is slow."
				found[0].Confirm = "ceph daemon " + who[0] + " ops on its host shows the stuck requests."
				return do("list them (ceph daemon "+who[0]+" ops); restart the monitor if they never complete", found)
			}
			return do("check ceph health detail and ceph osd perf; on the host: ceph daemon "+daemon+" dump_historic_ops for the slow "+
				"step, iostat -x 1 and smartctl for its disk", found)
		},
		Fires: linuxExample("dmesg", "2023-02-08 16:36:43.461 7f20b2b6c700 -1 osd.3 5419 get_health_metrics reporting 4 slow ops, "+
			"oldest is osd_op(client.1.0:1 10.6)\n"),
		Quiet: linuxExample("dmesg", "2023-02-08T16:36:43+0000 mon.a (mon.0) 97 : cluster [WRN] Health check update: 0 slow ops, "+
			"oldest one blocked for 41 sec, osd.3 has slow ops (SLOW_OPS)\n"),
	}
}

// What the daemons and the log of the cluster say of it.
var (
	cephBlocked = regexp.MustCompile(`\b[1-9]\d* slow (?:ops|requests)(?:,? oldest one blocked for| are blocked > |, \d+ included below)|` +
		`get_health_metrics reporting [1-9]\d* slow ops|slow request \d+\.\d+ seconds old, received|` +
		`\b[1-9]\d* (?:requests|ops) are blocked > [\d.]+ sec|BLUESTORE_SLOW_OP_ALERT|` +
		`observed slow operation indications in BlueStore|slow operation observed for \w+, latency = \d+|` +
		`slow metadata IOs are blocked`)
	cephDaemon = regexp.MustCompile(`\b(osd\.\d+)\b(?: \d+ get_health| has slow ops| +observed slow| \S+ \d+ : cluster \[WRN\] slow request)|` +
		`\b(mon\.[\w-]+)(?:@\d+\(\w+\) e\d+ get_health| has slow ops)|are blocked > [\d.]+ sec on (osd\.\d+)|daemons \[([^\]]{1,400})\]|/ceph-(\d+)\)`)
	ofBlueStore = regexp.MustCompile(`BLUESTORE_SLOW_OP_ALERT|in BlueStore|slow operation observed for \w+, latency`)
	// cephBlocks is how long an operation is blocked on a daemon.
	cephBlocks = regexp.MustCompile(`are blocked > ([\d.]{1,12}) sec on (osd\.\d+)`)
	cephWaits  = regexp.MustCompile(`currently (?:sub_op_commit_rec from|waiting for subops from) \[?(\d+)`)
)

// cephDaemons are those that have slow operations, those first whose operations are blocked longest, and the one that others wait for where it is a single one.
func cephDaemons(f *facts.Facts) (who []string, waits string) {
	const most = 64
	alone, longest := true, map[string]float64{}
	for _, line := range f.Lines("dmesg") {
		line = line[:min(len(line), 4096)]
		if !cephBlocked.MatchString(line) {
			continue
		}
		if m := cephWaits.FindStringSubmatch(line); m != nil {
			alone = alone && (waits == "" || waits == m[1])
			waits = m[1]
		}
		m := cephDaemon.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if b := cephBlocks.FindStringSubmatch(line); b != nil {
			seconds, _ := strconv.ParseFloat(b[1], 64)
			longest[b[2]] = max(longest[b[2]], seconds)
		}
		if m[5] != "" {
			m[5] = "osd." + m[5]
		}
		for name := range strings.SplitSeq(m[1]+m[2]+m[3]+m[4]+m[5], ",") {
			if name != "" && !slices.Contains(who, name) && len(who) < most {
				who = append(who, name)
			}
		}
	}
	slices.SortStableFunc(who, func(a, b string) int { return cmp.Compare(longest[b], longest[a]) })
	if !alone {
		waits = ""
	}
	return who, waits
}

// slowOSDs finds OSDs that take far longer to commit a write than the others do.
func slowOSDs(f *facts.Facts) []Finding {
	const slow, times, least = 100, 10, 3 // milliseconds, of the median, OSDs
	if len(f.OSDs) < least {
		return nil
	}
	all := slices.Clone(f.OSDs)
	slices.SortStableFunc(all, func(a, b facts.OSD) int { return cmp.Compare(b.Commit, a.Commit) })
	median := all[len(all)/2].Commit
	var worst, late []string
	var evidence []facts.Source
	for _, osd := range all[:least] {
		if osd.Commit >= slow && osd.Commit >= times*median {
			worst, late = append(worst, "osd."+osd.ID), append(late, strconv.Itoa(osd.Commit))
			evidence = append(evidence, osd.Source)
		}
	}
	if len(worst) == 0 {
		return nil
	}
	found := one(strings.Join(worst, ", "), evidence, "commit latency %s ms; the median of %d OSDs is %d ms",
		strings.Join(late, ", "), len(all), median)
	found[0].Because = "A write waits for its slowest replica, so a few slow disks slow all virtual machines down. A slow " +
		"network would slow all OSDs of a host."
	found[0].Confirm = "iostat -x 1 on the OSD's host shows its disk busy or with waits of as many milliseconds."
	id := strings.TrimPrefix(worst[0], "osd.")
	return do("find its host and disk (ceph osd find "+id+", ceph device ls-by-daemon "+worst[0]+"), check them (smartctl -a, iostat -x 1); "+
		"take a failing disk out: ceph osd out "+id, found)
}
