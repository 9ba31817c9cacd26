package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// The least number of probes that tell a loss, the share of them, and how many lost ones tell where it begins; of fewer
// probes a heavy loss tells as much.
const (
	enoughLost   = 5
	enoughProbes = 20
	probesLost   = 0.01
	fewProbes    = 8
	heavilyLost  = 0.3
)

// pathLoss finds probes of ping and mtr that did not come back from the end of a path.
func pathLoss() Rule {
	return Rule{
		ID: "path-loss", Title: "Probes are lost on the path", Needs: []string{"path|round trips|speed " +
			"tests|messages"}, Severity: Warning,
		Because: "Loss at this rate holds loss-based congestion control far below the link rate. Routers rate-limit replies " +
			"to probes: loss counts only if it continues to the end of the path.",
		Confirm: "TCP on this path retransmits about the same share of segments (Retr in iperf3; ss -ti, netstat -s -p tcp).",
		Check: func(in Input) []Finding {
			for _, t := range in.Facts.Traces {
				if found := lossyTrace(t); found != nil {
					return found
				}
			}
			for i, p := range in.Facts.Pings {
				lost := p.Sent - p.Answered
				share := float64(lost) / max(float64(p.Sent), 1)
				if p.Swept && p.Largest < p.Data {
					continue // pmtu-black-hole says it
				}
				if p.Answered > 0 && (p.Sent >= enoughProbes && lost >= 2 && share >= probesLost ||
					p.Sent >= fewProbes && lost >= enoughLost && share >= heavilyLost && p.Max < slowPart) {
					found := one(cmp.Or(p.Peer, "ping"), []facts.Source{cmp.Or(p.Counted, p.Missing, p.Source)}, "%s%% of %d pings were not answered",
						units.Digits(100*share, 2), p.Sent)
					if later := unharmed(p, in.Facts.Pings[i+1:]); later.Sent > 0 {
						found[0].Summary += fmt.Sprintf("; a later run lost none of %d", later.Sent)
						found[0].Evidence = append(found[0].Evidence, cmp.Or(later.Counted, later.Source))
					}
					if answersLimited(p) {
						found[0].Summary += fmt.Sprintf("; %.0f per second were, about FreeBSD's limit", float64(p.Answered)/p.Took)
						found[0].Because = "FreeBSD, and systems based on it, answer at most 200 pings per second " +
							"(net.inet.icmp.icmplim): what ping -f sends above that is not lost on the path."
						found[0].Confirm = "ping -i 0.02 to the same host shows no loss; its log says: Limiting " +
							"icmp ping response."
						return do("use a lower ping rate before looking for loss: ping -i 0.02 -c 1000", with(Info, found))
					}
					return do("find where it is lost: mtr -rwc 200 to the same host; check the local link first "+
						"(Wi-Fi, cable, duplex)", found)
				}
			}
			if found := unanswered(in.Facts); found != nil {
				return found
			}
			for _, s := range in.Facts.SpeedTests {
				if s.Loss >= probesLost && s.Loss < 1 {
					return do("find where it is lost: mtr -rwc 200 to a host on the Internet; check the local link "+
						"first (Wi-Fi, cable, duplex)",
						one("speed test", []facts.Source{s.LossLine}, "%s%% of its packets were lost", units.Digits(100*s.Loss, 2)))
				}
			}
			return slices.Concat(lossyGateway(in.Facts), unsentProbes(in.Facts), silentSession(in.Facts),
				foreignGateway(in.Facts), failedChecks(in.Facts))
		},
		Fires: linuxExample("mtr", traceExample("12.0", "13.0", "12.5")),
		Quiet: linuxExample("mtr", traceExample("12.0", "80.0", "0.0")),
	}
}

// unharmed is a later run of pings to the same host that lost none: the loss comes and goes, or what was changed in between
// ended it.
func unharmed(lossy facts.Ping, later []facts.Ping) facts.Ping {
	for _, p := range later {
		if p.Peer == lossy.Peer && p.Sent >= enoughProbes && p.Answered == p.Sent {
			return p
		}
	}
	return facts.Ping{}
}

// answersLimited reports whether more pings were sent than FreeBSD answers in a second, and about as many answered
// (badport_bandlim in sys/netinet/ip_icmp.c; newer releases vary the limit a little).
func answersLimited(p facts.Ping) bool {
	const least, most = 170, 210
	rate := float64(p.Answered) / max(p.Took, 1)
	return p.Took >= 2 && rate >= least && rate <= most
}

// lossyTrace finds the hop from which on all lose.
func lossyTrace(t facts.Trace) []Finding {
	end := t.Hops[len(t.Hops)-1]
	if end.Sent < enoughProbes || end.Loss < probesLost || end.Loss > 0.99 || math.Round(end.Loss*float64(end.Sent)) < 2 {
		return nil
	}
	first := len(t.Hops) - 1
	for first > 0 && t.Hops[first-1].Loss >= 0.5*end.Loss {
		first--
	}
	if first == len(t.Hops)-1 && end.Loss > 0.5 && end.Number > 1 {
		return nil // a router that answers few probes, or a host that does
	}
	from := t.Hops[first]
	evidence := []facts.Source{from.Source}
	if first < len(t.Hops)-1 {
		evidence = append(evidence, end.Source)
	}
	if math.Round(end.Loss*float64(end.Sent)) < enoughLost && first > 0 {
		return do("send more probes to locate the loss: mtr -rwc 500 to the same host",
			one(end.Name, []facts.Source{end.Source}, "%s%% of %d probes are lost on the path", units.Digits(100*end.Loss, 2), end.Sent))
	}
	found := one(end.Name, evidence, "%s%% of %d probes are lost, from hop %d on (%s)",
		units.Digits(100*end.Loss, 2), end.Sent, from.Number, from.Name)
	if t.Cut { // the hops behind it may answer all
		found[0].Summary += "; the report ends there"
		return with(Info, do("show the complete report down to the last hop: loss counts only if it continues to the end", found))
	}
	if from.Number <= 1 {
		return do("the loss begins on the local network: check this host's link (Wi-Fi, cable) and the first router",
			found)
	}
	return do(fmt.Sprintf("show this, with a report from the other end, to the operator of hop %d and of the hop before it",
		from.Number), found)
}

func traceExample(loss ...string) string {
	s := "HOST: a                          Loss%   Snt   Last   Avg  Best  Wrst StDev\n" +
		"  1.|-- 192.0.2.1                  0.0%   200    0.5   0.6   0.4   1.0   0.1\n"
	for i, l := range loss {
		s += fmt.Sprintf("  %d.|-- 198.51.100.%d             %s%%   200   20.5  20.6  20.4  21.0   0.1\n", i+2, i+2, l)
	}
	return s
}

// unanswered finds a peer that answers no ping at all.
func unanswered(f *facts.Facts) []Finding {
	const least = 5
	for _, p := range f.Pings {
		if p.Sent < least || p.Answered > 0 {
			continue
		}
		if _, smaller := smallerAnswered(f.Pings, p); smaller {
			continue // path-mtu says it
		}
		found := one(cmp.Or(p.Peer, "ping"), []facts.Source{cmp.Or(p.Counted, p.Missing, p.Source)}, "none of %d pings was answered",
			p.Sent)
		found[0].Because = "The peer is down, a firewall drops pings (other traffic may pass), or there is no path to it or " +
			"back (route, tunnel, filter rule)."
		found[0].Confirm = "tcpdump -ni any icmp at the peer shows whether pings arrive and are answered; a TCP connection " +
			"(nc -zv PEER PORT) shows whether only pings are lost."
		if small, ok := bySize(f, p); ok {
			found[0].Summary = fmt.Sprintf("none of %d pings with %d bytes of data was answered, but %d of %d with %d bytes were", p.Sent, p.Data,
				small.Answered, small.Sent, small.Data)
			found[0].Evidence = append(found[0].Evidence, cmp.Or(small.Counted, small.Source))
			found[0].Because = "The pings differ only in size, and both sizes are far below any MTU: something on " +
				"the path (a tunnel, an offload, a firewall rule) drops packets by length."
			return decisive(do(fmt.Sprintf("ping each hop on the path with both sizes (ping -s %d HOP, ping -s %d "+
				"HOP; traceroute PEER lists the hops): the fault is just before the first hop that answers only "+
				"the smaller one; to test the offloads, disable them on this host and its hypervisor (ethtool -K "+
				"NAME tx off gso off tso off)",
				small.Data, p.Data), with(Warning, found)))
		}
		return decisive(do("ping the hops before it (traceroute PEER), then check the first that does not respond: route "+
			"back, filter, tunnel state", with(Info, found)))
	}
	return nil
}

// bySize is a smaller ping to the same peer that was answered; larger ones meet the MTU.
func bySize(f *facts.Facts, large facts.Ping) (facts.Ping, bool) {
	const smallest = 1000
	if large.Data >= smallest {
		return facts.Ping{}, false
	}
	i := slices.IndexFunc(f.Pings, func(p facts.Ping) bool {
		return p.Peer == large.Peer && p.Peer != "" && p.Data < large.Data && p.Data > 0 && 2*p.Answered > p.Sent
	})
	if i < 0 {
		return facts.Ping{}, false
	}
	return f.Pings[i], true
}

// failedChecks finds lines whose check by mwan3 of OpenWrt fails (mwan3track).
func failedChecks(f *facts.Facts) []Finding {
	lines, failed := matching(f, checkFailed)
	_, passed := matching(f, checkPassed)
	if failed == 0 || passed > 20*failed {
		return nil
	}
	names := map[string]bool{}
	for _, line := range f.Lines("dmesg") {
		if name := firstGroup(checkFailed, line); name != "" {
			names[name] = true
		}
	}
	const most = 3
	all := slices.Sorted(maps.Keys(names))
	found := with(repeated(failed, 3), one(strings.Join(all[:min(len(all), most)], ", "), lines,
		"the WAN check failed %s", counted(failed, "time")))
	found[0].Confirm = "ping -I NAME to the same address also loses packets; if not, the target rate-limits pings: " +
		"configure a second target in mwan3."
	return do("ping -I NAME both the ISP's first router and the target: if the router answers, add more targets "+
		"(/etc/config/mwan3: list track_ip); otherwise check the modem and the cable", found)
}

var (
	checkFailed = regexp.MustCompile(`mwan3track\[\d+\]: Check \(ping\) failed for target "[^"]{1,64}" on interface (\S+)`)
	checkPassed = regexp.MustCompile(`mwan3track\[\d+\]: Check \(ping\) success`)
)
