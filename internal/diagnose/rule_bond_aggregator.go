package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// bondAggregator finds members of a bond that LACP leaves out.
func bondAggregator() Rule {
	return Rule{
		ID: "bond-members-unused", Title: "Members of a bond carry nothing", Systems: onLinux(), Needs: []string{"bonding|messages|interfaces"},
		Severity: Warning,
		Because: "With 802.3ad only the members of the active aggregator carry traffic: those whose switch ports run LACP " +
			"with the same key and speed.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.NICs {
				bond := &in.Facts.NICs[i]
				if !strings.Contains(bond.BondMode, "802.3ad") {
					continue
				}
				out = append(out, leftOut(in.Facts, bond)...)
			}
			if len(out) == 0 {
				return noPartner(in.Facts)
			}
			return out
		},
		Fires: linuxExample(facts.BondingFolder+"bond0", aggregatorExample("1")),
		Quiet: linuxExample(facts.BondingFolder+"bond0", aggregatorExample("2")),
	}
}

// noPartner finds bonds of which the kernel says that nobody answers LACP (bond_3ad.c).
func noPartner(f *facts.Facts) []Finding {
	lines, n := matching(f, noResponse)
	if n == 0 {
		return alone(f)
	}
	return do(groupPorts, one(cmp.Or(firstGroup(noResponse, lines[0].Text), "bond"), lines,
		"no LACP partner responds (%s): it sends through one member only", counted(n, "line")))
}

// alone finds members of bonds that hear nothing of LACP: the address of the other end is zero.
func alone(f *facts.Facts) (out []Finding) {
	for i := range f.NICs {
		if m := &f.NICs[i]; m.Up && m.Shown["no_partner"].Text != "" {
			out = append(out, do(groupPorts, one(m.Name, []facts.Source{m.Shown["no_partner"]},
				"its link is up, but no LACP partner responds on it"))...)
		}
	}
	return out
}

var noResponse = regexp.MustCompile(`(?:([\w.-]+): )?(?:Warning: |\(warning\): )?No 802\.3ad response from the link partner`)

// groupPorts is what is done about members that LACP leaves out.
const groupPorts = "put all its switch ports into one LACP group (same key, speed and duplex); the bond sends nothing " +
	"through other ports"

// apart reports whether the members of a bond whose own aggregator was not read (the kernel shows it to root alone) are
// in several: only one of these is active.
func apart(f *facts.Facts, bond *facts.NIC) (names []string, evidence []facts.Source, several bool) {
	ids := map[string]bool{}
	for i := range f.NICs {
		if m := &f.NICs[i]; m.Master == bond.Name && m.Aggregator != "" {
			ids[m.Aggregator] = true
			names, evidence = append(names, m.Name), append(evidence, m.Shown["aggregator"])
		}
	}
	return names, evidence, len(ids) > 1
}

// leftOut finds the members that are not in the aggregator that is active.
func leftOut(f *facts.Facts, bond *facts.NIC) []Finding {
	var names []string
	evidence := []facts.Source{bond.Shown["aggregator"]}
	members := 0
	for i := range f.NICs {
		m := &f.NICs[i]
		if m.Master != bond.Name {
			continue
		}
		members++
		if m.Aggregator == "" || bond.Aggregator == "" || m.Aggregator == bond.Aggregator {
			continue
		}
		names = append(names, m.Name)
		evidence = append(evidence, m.Shown["aggregator"])
	}
	action := groupPorts
	switch {
	case bond.Aggregator == "":
		if names, evidence, several := apart(f, bond); several {
			return do(action, one(bond.Name, evidence, "its members are in different aggregators (%s), of which only one is "+
				"active", strings.Join(names, ", ")))
		}
		return nil
	case bond.Aggregator == "none":
		found := do(action, one(bond.Name, evidence, "it has no active aggregator: no LACP partner responds on %s",
			counted(members, "member")))
		return with(Critical, found)
	case len(names) == 0:
		return nil
	}
	slices.Sort(names)
	if len(names) == members { // the text ends before the others
		return do(action, one(bond.Name, evidence, "member %s carries nothing: it is not in the active aggregator %s",
			strings.Join(names, ", "), bond.Aggregator))
	}
	return do(action, one(bond.Name, evidence, "%d of %s carry nothing: %s; they are not in the active aggregator %s",
		len(names), counted(members, "member"), strings.Join(names, ", "), bond.Aggregator))
}

func aggregatorExample(second string) string {
	member := func(name, id string) string {
		return "\nSlave Interface: " + name + "\nMII Status: up\nSpeed: 1000 Mbps\nDuplex: full\nLink Failure Count: 0\n" +
			"Aggregator ID: " + id + "\n"
	}
	return "Ethernet Channel Bonding Driver: v3.7.1\n\nBonding Mode: IEEE 802.3ad Dynamic link aggregation\n" +
		"Transmit Hash Policy: layer3+4 (1)\nMII Status: up\n\n802.3ad info\nLACP rate: slow\nActive Aggregator Info:\n" +
		"\tAggregator ID: 2\n\tNumber of ports: 1\n" + member("eth0", "2") + member("eth1", second)
}
