package diagnose

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// slowPart is the time from which on a part of a request is late on any path: a second is what the first repetition of a
// SYN, and more than what a query to a resolver, takes.
const slowPart = 0.9

// nameLookupSlow finds requests that waited for the address of a name.
func nameLookupSlow() Rule {
	return Rule{
		ID: "name-lookup-slow", Title: "Requests wait for name resolution",
		Needs: []string{"requests"}, Severity: Warning,
		Because: "A resolver responds late or not at all (the next one is tried after 5 s), search domains are tried first, " +
			"or queries are lost. Nothing is sent until the name resolves.",
		Confirm: "dig @SERVER NAME is just as slow for one of the servers in /etc/resolv.conf, and curl --resolve, which " +
			"bypasses DNS, is fast.",
		Check: func(in Input) []Finding {
			found := waited(in.Facts, "DNS", "for name resolution", func(r facts.RequestTime) float64 { return r.Lookup })
			for i := range found {
				found[i].Subject = "DNS"
			}
			if len(found) > 0 && strings.Contains(found[0].Evidence[0].Text, "recursion") {
				return slowRecursion(in.Facts.Requests, found)
			}
			return do("query each server in /etc/resolv.conf by itself (dig @SERVER NAME) and remove the one that does not "+
				"respond; in Kubernetes, end full names with a dot or lower ndots, and check for lost queries (conntrack -S; "+
				"NodeLocal DNSCache avoids them)", found)
		},
		Fires: linuxExample("curl", "    time_namelookup:  5.523\n       time_connect:  5.560\n         time_total:  5.581\n"),
		Quiet: linuxExample("curl", "    time_namelookup:  0.004\n       time_connect:  0.030\n         time_total:  5.581\n"),
	}
}

// slowRecursion words what unbound says of its own queries: means, and no single requests.
func slowRecursion(all []facts.RequestTime, found []Finding) []Finding {
	mean := 0.0
	for _, r := range all {
		mean = max(mean, r.Lookup)
	}
	found[0].Subject, found[0].Summary = "unbound", fmt.Sprintf("recursive queries take %s s on average", units.Digits(mean, 3))
	found[0].Because = "Some of the servers that Unbound asks answer late or not at all, or their answers are " +
		"lost; a few timeouts raise the mean far above the median. Answers from the cache are not affected."
	found[0].Confirm = "unbound-control dump_infra shows servers with a high rto or many timeouts."
	return do("find them with unbound-control dump_infra (rto, timeouts) and query them with dig @SERVER NAME; if "+
		"Unbound forwards (forward-addr), replace the forwarder that does not respond; without IPv6 connectivity, "+
		"set do-ip6: no in unbound.conf", found)
}

// connectSlow finds requests that waited for the handshake of TCP.
func connectSlow() Rule {
	return Rule{
		ID: "connect-slow", Title: "Requests wait for the TCP handshake",
		Needs: []string{"requests|messages|server statistics"}, Severity: Warning,
		Because: "A lost SYN or SYN-ACK is retransmitted after 1, 3 and 7 seconds: the listener's queue is full, or a " +
			"firewall or the path drops it. Less than a second points at a long path or a server that accepts late.",
		Confirm: "On the server, nstat -az TcpExtListenDrops grows; tcpdump shows the SYN more than once.",
		Check: func(in Input) []Finding {
			found := waited(in.Facts, "TCP", "for the TCP handshake", func(r facts.RequestTime) float64 { return r.Connect })
			if found == nil {
				if found = connectLate(in.Facts); found != nil {
					return found
				}
				found = repeatedSYN(in.Facts)
			}
			return do("check the server for full accept queues (ss -ltn) and dropped SYNs (nstat -az TcpExtListenDrops), and the "+
				"path for conntrack limits and firewalls; between the nodes of a Kubernetes overlay, try it without transmit checksum offload on "+
				"the overlay's interface (ethtool -K flannel.1 tx-checksum-ip-generic off)", found)
		},
		Fires: linuxExample("curl", "    time_namelookup:  0.004\n       time_connect:  3.044\n         time_total:  3.581\n"),
		Quiet: linuxExample("curl", "    time_namelookup:  0.004\n       time_connect:  0.044\n         time_total:  3.581\n"),
	}
}

// repeatedSYN finds requests of which only the whole time is known, and whose time is that after which lost SYNs get through: the
// first one is repeated after 1 s, each further one after twice as long (net/ipv4/tcp_timer.c). A server that always takes a
// second is none: other requests are answered at once, or after another of these times.
func repeatedSYN(f *facts.Facts) []Finding {
	const usual, atOnce = 7, 0.5 // s: a single time up to the usual ones says nothing
	var evidence []facts.Source
	longest, all, varied := 0.0, 0, false
	for _, r := range f.Requests {
		if r.Connect >= 0 || r.Lookup >= 0 || r.Answer >= 0 || r.Queue >= 0 {
			continue
		}
		all++
		varied = varied || r.Total < atOnce
		for _, after := range []float64{1, 3, 7, 63, 127} {
			if late := r.Total - after; late >= 0 && late < 0.06+after/100 {
				varied = varied || longest > 0 && after != longest
				evidence, longest = append(evidence, r.Source), max(longest, after)
			}
		}
	}
	if len(evidence) == 0 || longest <= usual && (len(evidence) < 2 || !varied) {
		return nil
	}
	return decisive(with(Info, one("TCP", sample(evidence), "%d of %s took just over %g s, as after lost SYNs", len(evidence),
		counted(all, "request"), longest)))
}

// waited finds the requests of which a part was slow and most of the whole, and shows the slowest; what says for what
// they waited, and subject stands for a server that is not known.
func waited(f *facts.Facts, subject, what string, part func(facts.RequestTime) float64) []Finding {
	slow, all := 0, 0
	var worst facts.RequestTime
	for _, r := range f.Requests {
		took := part(r)
		if took < 0 {
			continue
		}
		if all++; took >= slowPart && took*2 >= r.Total {
			if slow++; slow == 1 || took >= part(worst) {
				worst = r
			}
		}
	}
	if slow == 0 {
		return nil
	}
	if all == 1 {
		return with(Warning, one(cmp.Or(worst.Server, subject), []facts.Source{worst.Source, worst.End},
			"a request waited %s, %s s%s", what, units.Digits(part(worst), 3), ofTotal(part(worst), worst.Total)))
	}
	return with(partSeverity(slow, all), one(cmp.Or(worst.Server, subject), []facts.Source{worst.Source, worst.End},
		"%d of %s waited %s, up to %s s%s", slow, counted(all, "request"), what, units.Digits(part(worst), 3),
		ofTotal(part(worst), worst.Total)))
}

// partSeverity is an info where a few of many requests were slow.
func partSeverity(slow, all int) Severity {
	if slow*20 < all {
		return Info
	}
	return Warning
}

func ofTotal(part, total float64) string {
	if total <= part {
		return ""
	}
	return fmt.Sprintf(" of %s s in total", units.Digits(total, 3))
}
