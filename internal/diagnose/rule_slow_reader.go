package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// slowReader finds a program on this host that does not read its connections.
func slowReader() Rule {
	return Rule{
		ID: "slow-reader", Title: "A program on this host reads its connections slowly",
		Systems: []string{"linux", "freebsd"}, Needs: []string{"flows"}, Severity: Warning,
		Because: "Received data waits for the program: the window closes and the sender stalls, whatever the buffer sizes.",
		Confirm: "Recv-Q of the same connections is still large a few seconds later.",
		Check: func(in Input) []Finding {
			var evidence []facts.Source
			var worst facts.Flow
			for _, fl := range in.Facts.Flows {
				if fl.RecvQ < unreadLimit(fl) {
					continue
				}
				evidence = append(evidence, fl.Source)
				if fl.RecvQ > worst.RecvQ {
					worst = fl
				}
			}
			if len(evidence) == 0 {
				return nil
			}
			found := one(worst.Local, sample(evidence), "%s with unread data; %s from %s are unread",
				counted(len(evidence), "connection"), units.Bytes(worst.RecvQ), worst.Peer)
			if worst.RecvQ < manyUnread {
				found = decisive(with(Info, found))
			}
			return do("check the program that owns "+worst.Local+": CPU, disk, locks", found)
		},
		Fires: linuxExample("ss -tinm", "State Recv-Q Send-Q Local Address:Port Peer Address:Port\nESTAB 2848840 0 "+
			"192.0.2.1:873 198.51.100.9:5000\n\t skmem:(r4100000,rb6291456,t0,tb87040,f0,w0,o0,bl0,d0) cubic\n"),
		Quiet: linuxExample("ss -tinm", "State Recv-Q Send-Q Local Address:Port Peer Address:Port\nESTAB 64240 0 "+
			"192.0.2.1:873 198.51.100.9:5000\n\t skmem:(r100000,rb6291456,t0,tb87040,f0,w0,o0,bl0,d0) cubic\n"),
	}
}

// manyUnread is more than what waits for a program that reads a fast connection.
const manyUnread = 256 << 10

// unreadLimit is from how many bytes on what a connection received was not read in time: a quarter of a buffer that is
// known, else more than the window with which a connection of Linux begins, 64 KiB.
func unreadLimit(fl facts.Flow) int64 {
	const beginning = 96 << 10
	if buffer := int64(fl.Values["skmem_rb"]); buffer > 0 {
		return max(manyUnread, buffer/4)
	}
	return beginning
}
