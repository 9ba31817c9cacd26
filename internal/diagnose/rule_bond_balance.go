package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
)

// bondBalance finds a bond whose traffic goes through one member.
func bondBalance() Rule {
	return Rule{
		ID: "bond-unbalanced", Title: "A bond sends through one of its members only",
		Systems: []string{"linux", "freebsd"}, Needs: []string{"linux:links|bonding", "freebsd:ifconfig",
			"freebsd:interface counters"}, Severity: Warning,
		Because: "The transmit hash has too little input: hashed by MAC address, all traffic to one gateway uses the same " +
			"member. A single flow never uses two members.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				bond := &in.Facts.NICs[i]
				if bond.Kind != "bond" && bond.Kind != "lagg" || !hashes(in.Facts, bond) {
					continue
				}
				members, all, most := memberTraffic(in.Facts, bond.Name)
				if len(members) < 2 || float64(most) < 0.95*float64(all) {
					continue
				}
				evidence := append([]facts.Source{bond.Shown["hash"]}, members...)
				policy := bond.Hash
				if policy == "" {
					policy = "not shown"
				}
				out = append(out, do("hash over addresses and ports if there are many flows (Linux: xmit_hash_policy layer3+4; "+
					"FreeBSD: lagghash l2,l3,l4)", one(bond.Name, evidence, "%.0f%% of the outbound traffic used "+
					"one of %d members, policy %s",
					100*float64(most)/float64(all), len(members), policy))...)
			}
			if out == nil {
				return bondTested(in.Facts)
			}
			return out
		},
		Fires: bondExample(10),
		Quiet: bondExample(4_000_000_000),
	}
}

// bondTested finds a test of several streams that reached just what one member carries, on a bond that hashes MAC or IP
// addresses alone: all packets between two hosts then use one member.
func bondTested(f *facts.Facts) []Finding {
	_, together := aloneAndTogether(f)
	link := filledLink(float64(together.Rate))
	for i := range f.NICs {
		bond := &f.NICs[i]
		if link == 0 || bond.Kind != "bond" || !hashes(f, bond) || strings.Contains(bond.Hash, "+4") || !strings.HasPrefix(bond.Hash, "layer2") {
			continue
		}
		if slices.ContainsFunc(f.NICs, func(n facts.NIC) bool { return n.Master == bond.Name && n.Speed > 0 && n.Speed != link }) {
			continue // another link held it back
		}
		return decisive(with(Info, do("hash over ports too, at both ends and in the switch (Linux: xmit_hash_policy layer3+4)",
			one(bond.Name, []facts.Source{bond.Shown["hash"], together.Source}, "several streams together reached %s, a single "+
				"member's rate, and the policy is %s", together.Rate, bond.Hash))))
	}
	return nil
}

// memberTraffic is what the members of a bond sent, in bytes where they are
// counted, else in packets; nothing when it is too little to judge.
func memberTraffic(f *facts.Facts, bond string) (shown []facts.Source, all, most uint64) {
	for _, by := range []struct {
		counter string
		least   uint64
	}{{"link.tx_bytes", 1 << 30}, {"netstat.Obytes", 1 << 30}, {"netstat.Opkts", 1e6}} {
		shown, all, most = nil, 0, 0
		for i := range f.NICs {
			m := &f.NICs[i]
			c, ok := m.Counters[by.counter]
			if m.Master != bond || !m.Up || !ok {
				continue
			}
			shown = append(shown, c.Source)
			all += c.Value
			most = max(most, c.Value)
		}
		if all >= by.least {
			return shown, all, most
		}
	}
	return nil, 0, 0
}

// hashes reports whether a bond spreads by hash at all: active-backup does not.
func hashes(f *facts.Facts, bond *facts.NIC) bool {
	if bond.Kind == "lagg" {
		shown := bond.Shown["hash"].Text
		return strings.Contains(shown, "laggproto lacp") || strings.Contains(shown, "laggproto loadbalance")
	}
	if bond.BondMode != "" {
		return strings.Contains(bond.BondMode, "802.3ad") || strings.Contains(bond.BondMode, "(xor)")
	}
	for _, line := range f.Lines("ip -s -d link show") {
		if strings.Contains(line, "bond mode ") && strings.Contains(line, "xmit_hash_policy") {
			return strings.Contains(line, "bond mode 802.3ad") || strings.Contains(line, "bond mode balance-xor")
		}
	}
	return false
}

func bondExample(second int) Example {
	member := func(i int, name string, bytes int) string {
		return fmt.Sprintf("%d: %s: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP "+
			"mode DEFAULT group default qlen 1000\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n"+
			"    RX:  bytes packets errors dropped  missed   mcast\n    1 1 0 0 0 0\n    TX:  bytes packets errors "+
			"dropped carrier collsns\n    %d 10 0 0 0 0\n", i, name, bytes)
	}
	return linuxExample("ip -s -d link show", member(2, "eth0", 5_000_000_000)+member(3, "eth1", second)+
		"4: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group "+
		"default qlen 1000\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n    bond mode 802.3ad "+
		"miimon 100 xmit_hash_policy layer2\n")
}
