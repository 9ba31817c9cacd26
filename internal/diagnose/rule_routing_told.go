package diagnose

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// routingLoop finds packets that go round between routers.
func routingLoop() Rule {
	return Rule{
		ID: "routing-loop", Title: "Packets loop between routers",
		Needs:    []string{"linux:path|round trips", "freebsd:round trips", "openbsd:round trips"},
		Severity: Critical,
		Because: "Each of these routers uses the other as next hop for the destination, until the TTL expires. Often the last " +
			"router has only a default route, because the destination network is not configured or is down.",
		Check: func(in Input) []Finding {
			for _, t := range in.Facts.Traces {
				if found := circle(t); found != nil {
					return found
				}
			}
			return expired(in.Facts)
		},
		Fires: linuxExample("mtr", "traceroute to 198.51.100.9 (198.51.100.9), 30 hops max, 60 byte packets\n"+
			" 1  192.0.2.1  0.412 ms  0.401 ms  0.399 ms\n 2  192.0.2.2  1.012 ms  1.001 ms  0.998 ms\n"+
			" 3  192.0.2.1  1.412 ms  1.401 ms  1.399 ms\n 4  192.0.2.2  1.912 ms  1.901 ms  1.899 ms\n"+
			" 5  192.0.2.1  2.412 ms  2.401 ms  2.399 ms\n 6  192.0.2.2  2.912 ms  2.901 ms  2.899 ms\n"),
		Quiet: linuxExample("mtr", "traceroute to 198.51.100.9 (198.51.100.9), 30 hops max, 60 byte packets\n"+
			" 1  192.0.2.1  0.412 ms  0.401 ms  0.399 ms\n 2  198.51.100.9  1.012 ms  1.001 ms  0.998 ms\n"),
	}
}

// rightRoute is the remedy of a loop.
const rightRoute = "check the route to the destination on both routers (ip route get ADDRESS): one of them must forward " +
	"it elsewhere, or reject it (ip route add unreachable NETWORK)"

// circle finds a router that a trace meets three times, with others between.
func circle(t facts.Trace) []Finding {
	seen := map[string][]int{}
	for i, hop := range t.Hops {
		at := seen[hop.Name]
		if hop.Name == "" || hop.Loss >= 1 || len(at) > 0 && i == at[len(at)-1]+1 {
			continue // what did not answer has no name, and a router that asks itself is none
		}
		if seen[hop.Name] = append(at, i); len(at) == 2 {
			before := t.Hops[i-1]
			return do(rightRoute, one(hop.Name, []facts.Source{t.Hops[at[0]].Source, hop.Source},
				"it reappears at hops %d, %d and %d, with %s in between", t.Hops[at[0]].Number, t.Hops[at[1]].Number, hop.Number,
				before.Name))
		}
	}
	return nil
}

// expired finds pings whose packets used up all their hops.
func expired(f *facts.Facts) []Finding {
	who, first, ok := toldToPing(f, expiredAt)
	if !ok {
		return nil
	}
	return do(rightRoute, do("traceroute -n to the same address shows the routers involved", one(who,
		[]facts.Source{first}, "the TTL of all pings expired there, and none was answered")))
}

// toldToPing is who said something to a ping again and again in place of an answer, with the first line of it; not ok where
// any ping was answered. The pattern's first group is the address.
func toldToPing(f *facts.Facts, pattern *regexp.Regexp) (who string, first facts.Source, ok bool) {
	const least = 2
	if slices.ContainsFunc(f.Pings, func(p facts.Ping) bool { return p.Answered > 0 }) {
		return "", first, false
	}
	n := 0
	for _, m := range f.Messages {
		if told := pattern.FindStringSubmatch(m.Text); told != nil {
			if n++; n == 1 {
				first, who = m.Source, strings.TrimSuffix(told[1], ":")
			}
		}
	}
	return who, first, n >= least
}

var expiredAt = regexp.MustCompile(`(?i)from (\S+) .*(?:time to live exceeded|ttl expired in transit)`)

// routeDetour finds routers that tell of a shorter way.
func routeDetour() Rule {
	return Rule{
		ID: "route-detour", Title: "A router sends ICMP redirects: another gateway is better", Needs: []string{"round trips"},
		Severity: Info,
		Because: "Packets enter and leave that router through the same interface, while replies often come back directly: it " +
			"carries the traffic twice, and a stateful firewall on it sees only one direction and drops it.",
		Confirm: "ip route get ADDRESS shows the wrong gateway; after ip route flush cache the first packet is redirected again.",
		Check: func(in Input) []Finding {
			for _, m := range in.Facts.Messages {
				// A host that names the destination itself is no router, but one that shares the address.
				if told := redirected.FindStringSubmatch(m.Text); told != nil && !pinged(in.Facts, told[2]) {
					return decisive(do("ip route add NETWORK via "+told[2]+" on this host, or distribute the route by DHCP (option 121)",
						one(strings.TrimSuffix(told[1], ":"), []facts.Source{m.Source}, "it redirects packets for this destination to %s, "+
							"in the same network", told[2])))
				}
			}
			return nil
		},
		Fires: linuxExample("ping", "PING 192.0.2.200 (192.0.2.200) 56(84) bytes of data.\nFrom 192.0.2.1: icmp_seq=1 Redirect "+
			"Host(New nexthop: 192.0.2.2)\n64 bytes from 192.0.2.200: icmp_seq=1 ttl=63 time=1.10 ms\n"),
		Quiet: linuxExample("ping", "PING 192.0.2.200 (192.0.2.200) 56(84) bytes of data.\n64 bytes from 192.0.2.200: "+
			"icmp_seq=1 ttl=63 time=1.10 ms\n"),
	}
}

// pinged reports whether an address is that of a ping's destination.
func pinged(f *facts.Facts, address string) bool {
	return slices.ContainsFunc(f.Pings, func(p facts.Ping) bool { return p.Peer == address }) ||
		slices.ContainsFunc(f.Lines("ping"), func(line string) bool {
			return strings.HasPrefix(line, "PING ") && strings.Contains(line, "("+address+")")
		})
}

// redirected is what ping of iputils says of such a message (ping/ping.c, pr_icmph).
var redirected = regexp.MustCompile(`(?i)from (\S+) .*redirect (?:host|network)\(new nexthop: (?:\S+ \()?([0-9a-f.:]+)\)`)

// neighbourSilent finds addresses of an attached network that do not answer.
func neighbourSilent() Rule {
	return Rule{
		ID: "neighbour-silent", Title: "A local host does not answer ARP or neighbour discovery",
		Needs:    []string{"linux:round trips|neighbours", "freebsd:round trips", "openbsd:round trips"},
		Severity: Warning,
		Because: "The sender, or the last router, got no answer to ARP or neighbour discovery for the next hop: " +
			"that host is down, has another address or netmask, or the request does not reach it (VLAN, switch, " +
			"hypervisor network).",
		Confirm: "tcpdump -eni INTERFACE arp on both ends shows whether the request arrives.",
		Check: func(in Input) []Finding {
			who, first, ok := toldToPing(in.Facts, hostUnreachable)
			if !ok || slices.ContainsFunc(in.Facts.NICs, func(n facts.NIC) bool { return discardsAll(&n) != nil }) {
				return nil // not even the question leaves the host
			}
			return do("find the next hop (ip route get ADDRESS; BSD: route -n get ADDRESS); check that it is up, "+
				"and compare its address, netmask, VLAN and switch port with this end's",
				one(who, []facts.Source{first}, "the next hop (the host itself or the gateway to it) did not "+
					"answer ARP or neighbour discovery"))
		},
		Fires: linuxExample("ping", "PING 192.0.2.9 (192.0.2.9) 56(84) bytes of data.\nFrom 192.0.2.5 icmp_seq=1 Destination Host "+
			"Unreachable\nFrom 192.0.2.5 icmp_seq=2 Destination Host Unreachable\n"),
		Quiet: linuxExample("ping", "PING 192.0.2.9 (192.0.2.9) 56(84) bytes of data.\n64 bytes from 192.0.2.9: icmp_seq=1 ttl=64 "+
			"time=0.3 ms\n"),
	}
}

var hostUnreachable = regexp.MustCompile(`(?i)from (\S+) .*destination host unreachable`)
