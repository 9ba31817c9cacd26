package diagnose

import (
	"cmp"
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
)

// slowPart is the time from which on a part of a request is late on any path: a second is what the first repetition of a
// SYN, and more than what a query to a resolver, takes.
const slowPart = 0.9

// nameLookupSlow finds requests that waited for the address of a name.
func nameLookupSlow() Rule {
	return Rule{
		ID: "name-lookup-slow", Title: "Requests wait for the address of a name",
		Needs: []string{"requests"}, Severity: Warning,
		Because: "Nothing is sent before the name is known: a resolver answers late or not at all (the next one is asked after " +
			"5 s), search domains are tried first, or queries are lost.",
		Confirm: "dig @SERVER NAME is as slow for one of the servers of /etc/resolv.conf, and curl --resolve, which asks none, " +
			"is quick.",
		Check: func(in Input) []Finding {
			found := waited(in.Facts, "DNS", "for the name", func(r facts.RequestTime) float64 { return r.Lookup })
			for i := range found {
				found[i].Subject = "DNS"
			}
			return do("ask each server of /etc/resolv.conf alone (dig @SERVER NAME) and take out the one that does not answer; in "+
				"Kubernetes end full names with a dot or lower ndots, and look for lost queries (conntrack -S, "+
				"NodeLocal DNSCache)", found)
		},
		Fires: linuxExample("curl", "    time_namelookup:  5.523\n       time_connect:  5.560\n         time_total:  5.581\n"),
		Quiet: linuxExample("curl", "    time_namelookup:  0.004\n       time_connect:  0.030\n         time_total:  5.581\n"),
	}
}

// connectSlow finds requests that waited for the handshake of TCP.
func connectSlow() Rule {
	return Rule{
		ID: "connect-slow", Title: "Requests wait for the handshake of TCP",
		Needs: []string{"requests|messages|server statistics"}, Severity: Warning,
		Because: "A lost SYN, or a lost answer to it, is sent again after 1, 3 and 7 seconds: the listener's queue is full, or a " +
			"packet filter or the path drops them. Less than a second is a long path or a server that accepts late.",
		Confirm: "On the server nstat -az TcpExtListenDrops grows; tcpdump shows the SYN more than once.",
		Check: func(in Input) []Finding {
			found := waited(in.Facts, "TCP", "for the connection", func(r facts.RequestTime) float64 { return r.Connect })
			if found == nil {
				return connectLate(in.Facts)
			}
			return do("look at the server for full accept queues (ss -ltn) and dropped SYNs (nstat), on the way for conntrack "+
				"and filters", found)
		},
		Fires: linuxExample("curl", "    time_namelookup:  0.004\n       time_connect:  3.044\n         time_total:  3.581\n"),
		Quiet: linuxExample("curl", "    time_namelookup:  0.004\n       time_connect:  0.044\n         time_total:  3.581\n"),
	}
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
			"a request waited %s, %.3g s%s", what, part(worst), ofTotal(part(worst), worst.Total)))
	}
	return with(partSeverity(slow, all), one(cmp.Or(worst.Server, subject), []facts.Source{worst.Source, worst.End},
		"%d of %s waited %s, up to %.3g s%s", slow, counted(all, "request"), what, part(worst),
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
	return fmt.Sprintf(" of %.3g s in all", total)
}
