package diagnose

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// arrayRebuilds finds a pass over all disks of an array, which competes with everything that it serves.
func arrayRebuilds() Rule {
	return Rule{
		ID: "array-rebuild", Title: "A disk array is being rebuilt or checked", Severity: Info, Needs: []string{"arrays|replicated disks|pool status|messages"},
		Because: "A rebuild or check reads every disk of the array from end to end, and competes with normal reads and writes.",
		Confirm: "Transfers are fast again once it has finished or is paused; a test without disk I/O (iperf3) is fast now.",
		Check: func(in Input) []Finding {
			if len(in.Facts.Rebuilds) == 0 {
				return cephRecovers(in.Facts)
			}
			r := in.Facts.Rebuilds[0]
			action := "allow it to finish, or slow it down: sysctl -w dev.raid.speed_limit_max=20000 (KiB/s, 200000 by default)"
			switch {
			case strings.HasPrefix(r.Array, "drbd"):
				found := one(r.Array, []facts.Source{r.Source}, "a resync or verify over the network is in "+
					"progress (%s)", r.Action)
				found[0].Because = "DRBD throttles a resync to leave room for normal writes, so the speed of the " +
					"resync says nothing about the network. Normal writes compete with it until it has finished."
				return decisive(do("to resync faster, raise c-max-rate and c-min-rate in the disk section "+
					"(drbdadm disk-options --c-max-rate=500M --c-min-rate=100M RESOURCE, in bytes per second), "+
					"and max-buffers in the net section (max-buffers 8000)", found))
			case r.Action == "scrub":
				action = "allow it to finish, or pause it: zpool scrub -p " + r.Array
			case r.Action == "resilver":
				action = "allow it to finish: until then, another disk failure may lose the pool"
			}
			return decisive(do(action, one(r.Array, []facts.Source{r.Source}, "a %s is in progress", r.Action)))
		},
		Fires: linuxExample("/proc/mdstat", "md1 : active raid5 sdc1[2] sdb1[1] sda1[0]\n      3906764800 blocks level 5, 512k chunk "+
			"[3/3] [UUU]\n      [==>..........]  check = 12.6% (246812416/1953382400) finish=301.2min speed=94412K/sec\n"),
		Quiet: linuxExample("/proc/mdstat", "md1 : active raid5 sdc1[2] sdb1[1] sda1[0]\n      3906764800 blocks level 5, 512k chunk "+
			"[3/3] [UUU]\n"),
	}
}

// cephRecovers finds a cluster that copies data between its disks.
func cephRecovers(f *facts.Facts) []Finding {
	lines, n := matching(f, facts.CephRecovery)
	if n == 0 {
		return nil
	}
	found := one("ceph", lines, "recovery or backfill is in progress")
	found[0].Because = "Recovery reads and writes the same disks, and crosses the same network, as the clients' requests."
	found[0].Confirm = "Clients are fast again once ceph -s shows all placement groups active+clean."
	return decisive(do("allow it to finish; to favour clients: ceph config set osd osd_mclock_profile high_client_ops (before Ceph Quincy: "+
		"osd_max_backfills 1 and osd_recovery_max_active 1); bring back OSDs that are down (ceph osd tree)", found))
}
