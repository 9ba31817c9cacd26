package diagnose

import "github.com/wirerate/wirerate/internal/facts"

// nfsSlow finds reads and writes of NFS that take long, and says where: nfsiostat and mountstats (nfs-utils) tell the time
// that a request waited here from that of its round trip.
func nfsSlow() Rule {
	return Rule{
		ID: "nfs-slow", Title: "Reads or writes of NFS take long", Systems: onLinux(), Needs: []string{"nfs"}, Severity: Info,
		Because: "A request waits here while as many as the mount allows are on their way; its round trip holds the network and " +
			"the server with its disks.",
		Confirm: "ping to the server is far shorter than the round trip: then the server takes the time.",
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
				return decisive(do("mount it with nconnect=8, and allow more requests at once (options sunrpc "+
					"tcp_max_slot_table_entries=128 in /etc/modprobe.d; on the server more threads of nfsd)", one(from,
					[]facts.Source{worst.Source}, "a request (%s) waits %.3g ms here before it is sent, then %.3g ms for its answer",
					worst.Name, 1000*waited, 1000*worst.RoundTrip)))
			}
			return decisive(do("compare ping to the server with it; look at the server's disks (iostat -x 1) and threads of nfsd "+
				"(/proc/net/rpc/nfsd)", one(from, []facts.Source{worst.Source}, "the answer to a request (%s) takes %.3g ms",
				worst.Name, 1000*worst.RoundTrip)))
		},
		Fires: linuxExample("nfsstat", nfsOperationExample("8123122 4122310 12345000")),
		Quiet: linuxExample("nfsstat", nfsOperationExample("8123 412231 432231")),
	}
}

func nfsOperationExample(times string) string {
	return "device nas:/a mounted on /mnt with fstype nfs4 statvers=1.1\n" +
		"\t        READ: 412231 412231 0 57712340 431221112 " + times + "\n"
}
