package diagnose

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// retransmissions finds a high share of repeated segments.
func retransmissions() Rule {
	return Rule{
		ID: "retransmissions", Title: "TCP retransmits a notable share of segments",
		Needs: []string{"linux:counters|activity|handshakes|retransmitted segments",
			"linux:protocols|activity|handshakes|retransmitted segments",
			"freebsd:counters|flows|handshakes", "openbsd:counters|handshakes"},
		Severity: Warning,
		Because:  "Loss limits loss-based congestion control on long paths; finding its cause matters more than any setting.",
		Confirm: "ss -ti or netstat shows per connection which peers see loss; loss towards all of them points at this host's " +
			"link.",
		Check: func(in Input) []Finding {
			f := in.Facts
			if found := shownAgain(f); found != nil {
				return found
			}
			if found := tracedAgain(f); found != nil {
				return found
			}
			if f.System == "freebsd" && f.Counters["tcp.packet_sent.data_packet"].Value == 0 {
				return sentAgain(f)
			}
			again, sent := f.Counters["Tcp.RetransSegs"], f.Counters["Tcp.OutSegs"]
			if f.System != "linux" {
				again, sent = f.Counters["tcp.packet_sent.data_packet_retransmitted"], f.Counters["tcp.packet_sent.data_packet"]
			}
			measured := again.Rate != nil && sent.Rate != nil && *sent.Rate > 100
			if !measured && sent.Value < 10000 || !still(again) {
				return nil
			}
			share := float64(again.Value) / float64(sent.Value)
			when := "since boot"
			if a, b := again.Earlier, sent.Earlier; a != nil && b != nil && again.Value >= a.Value && sent.Value > b.Value+1000 {
				share, when = float64(again.Value-a.Value)/float64(sent.Value-b.Value), "between the two readings"
			}
			if measured {
				share, when = *again.Rate / *sent.Rate, "over the window"
			}
			s := Info
			switch {
			case share == 0:
				return nil
			case share < 0.002:
				s = trifling
			case share*(1-needless(f)) >= 0.01: // what was needless was not lost
				s = Warning
			}
			return do("find which peers see loss, then where: check the error counters of this host's link first, "+
				"then mtr -rwc 200 to one of the peers", with(s, one("tcp", []facts.Source{again.Source, sent.Source},
				"%s%% of segments were retransmitted %s", units.Digits(100*share, 2), when)))
		},
		Fires: linuxExample("/proc/net/netstat", "TcpExt: TCPTimeouts\nTcpExt: 3\n", "/proc/net/snmp",
			"Tcp: OutSegs RetransSegs\nTcp: 1000000 21000\n"),
		Quiet: linuxExample("/proc/net/netstat", "TcpExt: TCPTimeouts\nTcpExt: 3\n", "/proc/net/snmp",
			"Tcp: OutSegs RetransSegs\nTcp: 1000000 210\n"),
	}
}

// shownAgain finds a direction of a connection of which a text of packets shows many segments twice.
func shownAgain(f *facts.Facts) []Finding {
	const least, share = 3, 0.02
	var worst facts.Talk
	for _, d := range f.Talks {
		if d.Stuck == 0 && d.Again > worst.Again && float64(d.Again) >= share*float64(d.Data) {
			worst = d
		}
	}
	if worst.Again < least {
		return nil
	}
	return one("tcp "+worst.To, []facts.Source{worst.AgainLine}, "of %d data segments shown, %d were retransmitted or out "+
		"of order", worst.Data, worst.Again)
}

// tracedAgain finds the peer to which most segments were sent again while somebody traced it.
func tracedAgain(f *facts.Facts) []Finding {
	const few, many, of = 10, 100, 0.5
	var most facts.Counter
	peer, peers, all := "", 0, uint64(0)
	for _, name := range slices.Sorted(maps.Keys(f.Counters)) {
		to, ok := strings.CutPrefix(name, "retransmits.")
		if !ok {
			continue
		}
		c := f.Counters[name]
		peers, all = peers+1, all+c.Value
		if c.Value > most.Value {
			peer, most = to, c
		}
	}
	if all == 0 {
		return nil
	}
	s := trifling
	switch {
	case all >= many:
		s = Warning
	case all >= few:
		s = Info
	}
	host := peer
	if address, err := netip.ParseAddrPort(peer); err == nil {
		host = address.Addr().String()
	}
	if peers > 1 && float64(most.Value) < of*float64(all) {
		return with(s, do("check this host's own link, which they share: ip -s link, ethtool -S NAME; then mtr -rwbzc 200 "+host,
			one("tcp", []facts.Source{most.Source}, "%d segments were retransmitted to %d peers, the largest number (%d) to %s", all,
				peers, most.Value, peer)))
	}
	summary := fmt.Sprintf("%d segments were retransmitted to this peer while it was traced", most.Value)
	if peers > 1 {
		summary = fmt.Sprintf("%d of %d retransmitted segments went to this one of %d peers", most.Value, all, peers)
	}
	return with(s, do("find where packets to it are lost: ip -s link and ethtool -S NAME on that host, mtr -rwbzc 200 "+host+
		"; ss -ti dst "+host+" shows the share (retrans and segs_out)", one("tcp "+peer, []facts.Source{most.Source}, "%s", summary)))
}

// sentAgain finds the connection that sent most again, where only netstat -T shows it.
func sentAgain(f *facts.Facts) []Finding {
	var most facts.Flow
	for _, fl := range f.Flows {
		if fl.Values["Rexmit"] > most.Values["Rexmit"] {
			most = fl
		}
	}
	const many = 1000
	if most.Values["Rexmit"] < many {
		return nil
	}
	return with(Info, one("tcp "+most.Peer, []facts.Source{most.Source}, "%.0f segments to this peer were retransmitted "+
		"(total unknown)", most.Values["Rexmit"]))
}
