package diagnose

import "github.com/wirerate/wirerate/internal/facts"

// clusterHostsSilent finds hosts of a cluster that do not hear each other.
func clusterHostsSilent() Rule {
	return Rule{
		ID: "cluster-hosts-silent", Title: "Cluster nodes did not hear each other in time", Systems: onLinux(),
		Needs: []string{"messages"}, Severity: Warning,
		Because: "Corosync circulates a token and pings every node over every link: loss or delays of about a " +
			"second can cost the quorum, and with high availability, nodes without quorum reboot.",
		Confirm: "corosync-cfgtool -s shows a disconnected link, or the messages coincide with backups, migrations " +
			"or storage traffic on the same network.",
		Check: func(in Input) []Finding {
			const several = 3
			lines, n := matching(in.Facts, facts.ClusterForm)
			if n == 0 {
				return nil
			}
			return decisive(do("check what else uses this network at those times (ip -s link, sar -n DEV 1) and "+
				"whether the "+
				"path loses or delays packets: ping -i 0.01 -c 3000 HOST; use a dedicated network for corosync, "+
				"and a second link over another switch (link1 in corosync.conf, ring1_addr of each node)", with(repeated(n, several), one("corosync", lines,
				"it did not hear from other nodes in time (%s)", counted(n, "line")))))
		},
		Fires: linuxExample("dmesg", "Mar  3 02:10:11 pve2 corosync[1411]:   [KNET  ] link: host: 3 link: 0 is down\n"+
			"Mar  3 02:10:12 pve2 corosync[1411]:   [TOTEM ] Token has not been received in 2737 ms\n"+
			"Mar  3 02:10:14 pve2 corosync[1411]:   [TOTEM ] A processor failed, forming new configuration.\n"),
		Quiet: linuxExample("dmesg", "Mar  3 02:12:31 pve2 corosync[1411]:   [KNET  ] rx: host: 3 link: 0 is up\n"),
	}
}
