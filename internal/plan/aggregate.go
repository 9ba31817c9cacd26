package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
)

// Aggregate is several links that one interface uses together.
type Aggregate struct {
	Name  string   `json:"name"`
	Links []string `json:"links"`
	// Hash says by which headers flows are spread, as the system writes it;
	// empty where it cannot be chosen or is not known.
	Hash string `json:"hash,omitempty"`
	// Exists marks one that the host has already.
	Exists bool `json:"exists,omitempty"`
}

// hashes are what spreads the connections between two hosts over the links: by
// addresses and ports. OpenBSD's aggr(4) goes by the flow that a packet belongs
// to, and has no option for it.
var hashes = map[catalog.System]struct{ name, hash, source string }{
	catalog.Linux:   {"bond0", "layer3+4", "Linux Documentation/networking/bonding.rst, xmit_hash_policy"},
	catalog.FreeBSD: {"lagg0", "l2,l3,l4", "FreeBSD lagg(4)"},
	catalog.OpenBSD: {"aggr0", "", "OpenBSD sys/net/if_aggr.c; aggr(4), trunk(4)"},
}

// aggregate says how links are used together: of a host that has an aggregate,
// whether its hash suits; of several interfaces, how to make one.
func (p *Plan) aggregate(r Request) {
	have := false
	for _, a := range r.Machine.Aggregates {
		have = true
		p.rehash(a)
	}
	if have || len(r.Machine.Interfaces) < 2 || !slices.Contains([]string{"file", "bulk", "web"}, r.Role) {
		return
	}
	own := hashes[p.System]
	a := Aggregate{Name: own.name, Hash: own.hash}
	for _, nic := range r.Machine.Interfaces {
		a.Links = append(a.Links, nic.Name)
	}
	p.Aggregates = append(p.Aggregates, a)
	n := len(a.Links)
	title := fmt.Sprintf("If the %d interfaces lead to one switch that speaks LACP, aggregate them", n)
	why := fmt.Sprintf("A flow stays on one link: an aggregate of %d helps %.0f connections together and a single one not at all. ", n, r.Load.Connections)
	if a.Hash == "" {
		why += "aggr(4) takes the link from the number that the stack gives each connection by its addresses and ports, and has no option for it; the older trunk(4) hashes addresses alone."
	} else {
		why += fmt.Sprintf("A hash of %s spreads the connections between two hosts too; one of layers 2 and 3 would put all that a peer sends on one link.", a.Hash)
	}
	if r.Load.Connections < float64(4*n) {
		why += fmt.Sprintf(" With %.0f connections the links are filled unevenly: the fullest of %d carries about %.0f of them.", r.Load.Connections, n, math.Ceil(r.Load.Connections/float64(n))+1)
	}
	why += " The files beside the plan hold it for the next boot."
	p.Steps = append(p.Steps, Step{Title: title, Why: why, Commands: aggregateCommands(p.System, a), Sources: []string{own.source}})
}

func aggregateCommands(s catalog.System, a Aggregate) []string {
	switch s {
	case catalog.Linux:
		commands := []string{"ip link add " + a.Name + " type bond mode 802.3ad miimon 100 xmit_hash_policy " + a.Hash}
		for _, link := range a.Links {
			commands = append(commands, "ip link set "+link+" down && ip link set "+link+" master "+a.Name)
		}
		return commands
	case catalog.FreeBSD:
		return []string{"ifconfig " + a.Name + " create laggproto lacp lagghash " + a.Hash + " laggport " + strings.Join(a.Links, " laggport ")}
	}
	return []string{"ifconfig " + a.Name + " create trunkport " + strings.Join(a.Links, " trunkport ")}
}

// coarse are the hashes that put all connections between two hosts on one
// link.
func coarse(s catalog.System, hash string) bool {
	if s == catalog.Linux {
		return slices.Contains([]string{"layer2", "layer2+3", "vlan+srcmac"}, hash)
	}
	return hash != "" && !slices.Contains(strings.Split(hash, ","), "l4")
}

// rehash proposes the hash with ports for an aggregate that has another one.
func (p *Plan) rehash(a Aggregate) {
	own := hashes[p.System]
	if own.hash == "" || !coarse(p.System, a.Hash) {
		return
	}
	running := a.Hash
	a.Hash = own.hash
	p.Aggregates = append(p.Aggregates, a)
	title := fmt.Sprintf("Spread the flows of %s by ports too", a.Name)
	command := "ifconfig " + a.Name + " lagghash " + a.Hash
	if p.System == catalog.Linux {
		// The policy of a bond in another mode is shown too, and means nothing.
		title += ", if its mode is 802.3ad or balance-xor"
		command = "echo " + a.Hash + " > /sys/class/net/" + a.Name + "/bonding/xmit_hash_policy"
	}
	p.Steps = append(p.Steps, Step{Title: title,
		Why: fmt.Sprintf("Its hash is %s: all connections between two hosts share one of its links (%s). With %s each connection goes by itself. Only packets that are fragmented can then arrive out of order. It takes effect on the running interface; the file beside the plan holds it for the next boot.",
			running, strings.Join(a.Links, ", "), a.Hash),
		Commands: []string{command}, Sources: []string{own.source}})
}

// aggregateFiles are the plan's aggregates in the forms in which each system
// keeps them.
func aggregateFiles(p Plan) []File {
	var files []File
	for _, a := range p.Aggregates {
		head := exportHeader(p) + fmt.Sprintf("# %s over %s. A connection stays on one link; the hash decides on which.\n", a.Name, strings.Join(a.Links, " and "))
		switch {
		case p.System == catalog.FreeBSD && a.Exists:
			files = append(files, File{Name: "rc.conf-" + a.Name, Install: "the line of " + a.Name + " in /etc/rc.conf",
				Content: head + "# Add to the words of ifconfig_" + a.Name + " in /etc/rc.conf:\n# lagghash " + a.Hash + "\n"})
		case p.System == catalog.FreeBSD:
			files = append(files, File{Name: "rc.conf-" + a.Name, Install: "/etc/rc.conf", Content: head +
				"# In place of the lines of " + strings.Join(a.Links, " and ") + "; their address goes to the last one, as\n# \"... inet ADDRESS/PREFIX\" or \"... DHCP\".\n" + laggLines(a)})
		case p.System == catalog.OpenBSD:
			files = append(files, File{Name: "hostname." + a.Name, Install: "/etc/hostname." + a.Name, Mode: 0o640,
				Content: head + "# hostname." + strings.Join(a.Links, " and hostname.") + " then say \"up\" alone; their address goes here.\ntrunkport " + strings.Join(a.Links, " trunkport ") + "\nup\n"})
		default:
			files = append(files, bondFiles(a, head)...)
		}
	}
	return files
}

func laggLines(a Aggregate) string {
	var b strings.Builder
	fmt.Fprintf(&b, "cloned_interfaces=\"%s\"\n", a.Name)
	for _, link := range a.Links {
		fmt.Fprintf(&b, "ifconfig_%s=\"up\"\n", link)
	}
	b.WriteString("# wirerate: ignore same-as-default the hash is what this file is about\n")
	fmt.Fprintf(&b, "ifconfig_%s=\"laggproto lacp lagghash %s laggport %s\"\n", a.Name, a.Hash, strings.Join(a.Links, " laggport "))
	return b.String()
}

// bondFiles are a bond for systemd-networkd (systemd.netdev(5)) and for
// ifupdown with Debian's ifenslave.
func bondFiles(a Aggregate, head string) []File {
	netdev := head + "[NetDev]\nName=" + a.Name + "\nKind=bond\n\n[Bond]\nMode=802.3ad\nTransmitHashPolicy=" + a.Hash + "\nMIIMonitorSec=100ms\n"
	ports := head + "[Match]\nName=" + strings.Join(a.Links, " ") + "\n\n[Network]\nBond=" + a.Name + "\n"
	stanza := head + "auto " + a.Name + "\niface " + a.Name + " inet manual\n    bond-slaves " + strings.Join(a.Links, " ") +
		"\n    bond-mode 802.3ad\n    bond-miimon 100\n    bond-xmit-hash-policy " + a.Hash + "\n"
	if a.Exists {
		only := "# The mode stays as it is.\n"
		return []File{
			{Name: "wirerate-" + a.Name + ".netdev", Install: "the [Bond] section of the interface's .netdev file", Content: head + only + "[NetDev]\nName=" + a.Name + "\nKind=bond\n\n[Bond]\nTransmitHashPolicy=" + a.Hash + "\n"},
			{Name: "interfaces-" + a.Name, Install: "/etc/network/interfaces, in the stanza of " + a.Name, Content: head + only + "iface " + a.Name + " inet manual\n    bond-xmit-hash-policy " + a.Hash + "\n"},
		}
	}
	return []File{
		{Name: "10-wirerate-" + a.Name + ".netdev", Install: "/etc/systemd/network/10-wirerate-" + a.Name + ".netdev", Content: netdev},
		{Name: "10-wirerate-" + a.Name + "-ports.network", Install: "/etc/systemd/network/10-wirerate-" + a.Name + "-ports.network", Content: ports},
		{Name: "interfaces-" + a.Name, Install: "/etc/network/interfaces", Content: stanza},
	}
}
