package diagnose

import "github.com/wirerate/wirerate/internal/facts"

// nfsSlow finds reads and writes of NFS that take long, and says where: nfsiostat and mountstats (nfs-utils) tell the time
// that a request waited here from that of its round trip.
func nfsSlow() Rule {
	return Rule{
		ID: "nfs-slow", Title: "NFS reads or writes are slow", Systems: onLinux(), Needs: []string{"nfs"}, Severity: Info,
		Because: "A request waits on the client while the mount's maximum number of requests is in flight; its RTT includes " +
			"the network and the server with its disks.",
		Confirm: "If ping to the server is far shorter than the RTT, the server takes the time.",
		Check: func(in Input) []Finding {
			const late, many = 0.02, 100
			var worst facts.NFSOperation
			from := ""
			for _, m := range in.Facts.NFSMounts {
				for _, o := range m.Operations {
					if o.Total > worst.Total && (o.Count == 0 || o.Count >= many) {
						worst, from = o, m.From
					}
				}
			}
			waited := worst.Total - worst.RoundTrip
			switch {
			case worst.Total < late:
				return nil
			case waited >= worst.RoundTrip:
				return decisive(do("mount it with nconnect=8, and allow more concurrent requests (options sunrpc "+
					"tcp_max_slot_table_entries=128 in /etc/modprobe.d; on the server, more nfsd threads: threads=64 in "+
					"/etc/nfs.conf)", one(from,
					[]facts.Source{worst.Source}, "a %s request waits %s ms on the client before it is sent, then %s ms for its reply",
					worst.Name, rounded(1000*waited), rounded(1000*worst.RoundTrip))))
			}
			return decisive(do("compare with ping to the server; check the server's disks (iostat -x 1) and nfsd threads "+
				"(/proc/net/rpc/nfsd)", one(from, []facts.Source{worst.Source}, "the reply to a %s request takes %s ms",
				worst.Name, rounded(1000*worst.RoundTrip))))
		},
		Fires: linuxExample("nfsstat", nfsOperationExample("8123122 4122310 12345000")),
		Quiet: linuxExample("nfsstat", nfsOperationExample("8123 412231 432231")),
	}
}

func nfsOperationExample(times string) string {
	return "device nas:/a mounted on /mnt with fstype nfs4 statvers=1.1\n" +
		"\t        READ: 412231 412231 0 57712340 431221112 " + times + "\n"
}
