package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
)

// lostBetween compares what one end of a connection sent with what the other end received.
func lostBetween() Rule {
	return Rule{
		ID: "lost-between", Title: "Segments were lost between the two ends", Severity: Warning, OfBothEnds: true,
		Systems: onLinux(), Needs: []string{"flows"},
		Because: "Both kernels count the segments of the same connection: the missing ones were lost between them, at a " +
			"queue, a bad link or a policer, not in either program.",
		Check: func(in Input) (out []Finding) {
			if in.Peer == nil {
				return nil
			}
			for _, dir := range []struct{ from, to *facts.Facts }{{in.Facts, in.Peer}, {in.Peer, in.Facts}} {
				found := worstLoss(dir.from, dir.to)
				for i := range found {
					for j, end := range []*facts.Facts{dir.from, dir.to} {
						if end == in.Peer {
							found[i].Evidence[j] = peerSource(end, found[i].Evidence[j])
						}
					}
				}
				out = append(out, found...)
			}
			return out
		},
		Fires: lostExample(98000),
		Quiet: lostExample(100000),
	}
}

// betweenSegments is from how many segments on the two counts of a connection are compared: they are read one after
// the other, and what is under way counts for one end only.
const betweenSegments = 10_000

// worstLoss finds the connection between two hosts of which the largest share was lost in one direction.
func worstLoss(from, to *facts.Facts) []Finding {
	received := map[[2]string]facts.Flow{}
	for _, fl := range to.Flows {
		received[[2]string{fl.Peer, fl.Local}] = fl
	}
	var best []Finding
	for _, fl := range from.Flows {
		other, same := received[[2]string{fl.Local, fl.Peer}]
		sent, arrived := fl.Values["segs_out"], other.Values["segs_in"]
		missing := sent - arrived - fl.Values["unacked"]
		if !same || loopback(&fl) || sent < betweenSegments || arrived <= 0 || missing < 0.001*sent {
			continue
		}
		c := facts.Counter{Value: uint64(missing)}
		found := lost(c, uint64(arrived), one(from.Host+" to "+to.Host, []facts.Source{
			flowLine(from, fl, "segs_out", "unacked", "retrans"), flowLine(to, other, "segs_in")},
			"%.0f of %.0f segments from %s to %s did not arrive (%s)", missing, sent, fl.Local, fl.Peer,
			percent(missing/sent)))
		if best == nil || found[0].Share > best[0].Share {
			best = found
		}
	}
	return best
}

func lostExample(arrived int) Example {
	e := linuxExample("ss -tinm", "State Recv-Q Send-Q Local Peer\nESTAB 0 0 192.0.2.1:443 198.51.100.9:5000\n\t cubic "+
		"rtt:20/1 mss:1448 cwnd:40 segs_out:100000 segs_in:50000\n")
	e.Peer = linuxExample("ss -tinm", "State Recv-Q Send-Q Local Peer\nESTAB 0 0 198.51.100.9:5000 "+
		"192.0.2.1:443\n\t cubic "+
		"rtt:20/1 mss:1448 cwnd:10 segs_out:50000 segs_in:"+strconv.Itoa(arrived)+"\n").Texts
	return e
}
