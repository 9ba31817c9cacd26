package diagnose

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// conntrackDrops finds packets that connection tracking dropped.
func conntrackDrops() Rule {
	return Rule{
		ID: "conntrack-drops", Title: "Connection tracking dropped packets", Systems: onLinux(),
		Needs: []string{"conntrack statistics|conntrack|firewall"}, Severity: Warning,
		Because: "A packet whose entry cannot be created is dropped: the table was full, or two packets of one connection raced.",
		Check: func(in Input) []Finding {
			found := counters(in.Facts, "nf_conntrack.drop", "nf_conntrack.early_drop", "nf_conntrack.insert_failed")
			if len(found) == 0 {
				return invalidPackets(in.Facts)
			}
			s := Info
			if total(in.Facts, "nf_conntrack.drop")+total(in.Facts, "nf_conntrack.early_drop") > 0 {
				s = Warning
			}
			out := with(s, one("conntrack", sources(found), "packets dropped: %s", conntrackLost(in.Facts)))
			now, nowLine, known := firstSetting(in.Facts, trackedNow...)
			most, _, limited := firstSetting(in.Facts, trackedMost...)
			room := known && limited && float64(now) < 0.8*float64(most)
			raced, dropped := total(in.Facts, "nf_conntrack.insert_failed"), total(in.Facts, "nf_conntrack.drop")
			if room && 2*raced >= dropped || raced > 0 && raced == dropped && total(in.Facts, "nf_conntrack.early_drop") == 0 {
				out[0].Because = "Two packets of one connection (such as a resolver's A and AAAA queries from one port), or two " +
					"connections for one NAT port, raced for the same entry: the later packet is dropped, and DNS waits 5 s."
				if room {
					out[0].Summary += fmt.Sprintf("; the table is not full (%d of %d)", now, most)
					out[0].Evidence = append(out[0].Evidence, nowLine)
				}
				return do("use random NAT ports (--random-fully), and for DNS a cache on the host (Kubernetes: NodeLocal DNSCache) "+
					"or TCP (options use-vc or single-request-reopen in resolv.conf)", out)
			}
			out[0].Fix = []Fix{{Setting: "net.netfilter.nf_conntrack_max"}}
			return out
		},
		Fires: linuxExample("/proc/net/stat/nf_conntrack", "entries  searched found new invalid ignore delete "+
			"delete_list insert insert_failed drop early_drop icmp_error  expect_new expect_create expect_delete "+
			"search_restart\n"+
			"00000009  00000000 00000000 00000000 00000005 00000000 00000000 00000000 00000000 00000000 00000031 "+
			"00000000 00000000  00000000 00000000 00000000 00000000\n"),
		Quiet: linuxExample("/proc/net/stat/nf_conntrack", "entries  searched found new invalid ignore delete "+
			"delete_list insert insert_failed drop early_drop icmp_error  expect_new expect_create expect_delete "+
			"search_restart\n"+
			"00000009  00000000 00000000 00000000 00000005 00000000 00000000 00000000 00000000 00000000 00000000 "+
			"00000000 00000000  00000000 00000000 00000000 00000000\n"),
	}
}

// conntrackLost lists the counters of what connection tracking lost.
func conntrackLost(f *facts.Facts) string {
	var said []string
	for _, name := range []string{"drop", "early_drop", "insert_failed"} {
		if c := f.Counters["nf_conntrack."+name]; c.Value > 0 {
			said = append(said, name+" "+happened(c))
		}
	}
	return strings.Join(said, ", ")
}

// invalidPackets finds a packet filter that drops packets of which connection tracking knows no connection, and many beside
// those that it let pass: single ones come after connections that are closed.
func invalidPackets(f *facts.Facts) []Finding {
	const few, share = 10, 0.01
	dropped, passed := f.Counters["firewall.invalid"], f.Counters["firewall.established"]
	if dropped.Value < few {
		return nil
	}
	found := one("firewall", []facts.Source{dropped.Source}, "a rule dropped %d packets as invalid", dropped.Value)
	if passed.Source.Text != "" {
		found[0].Summary += fmt.Sprintf(", compared with %d accepted in established connections", passed.Value)
		found[0].Evidence = append(found[0].Evidence, passed.Source)
	}
	text := reportTexts[facts.Filtered]
	found[0].Because = text.because
	found = with(Info, do(text.do, found))
	if passed.Source.Text != "" && float64(dropped.Value) >= share*float64(passed.Value) {
		return decisive(found)
	}
	return found
}
