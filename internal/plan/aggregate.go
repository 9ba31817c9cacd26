package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/name"
	"github.com/wirerate/wirerate/internal/shell"
)

// Aggregate is several links that one interface uses together.
type Aggregate struct {
	Name  name.Interface   `json:"name"`
	Links []name.Interface `json:"links"`
	// Hash says by which headers flows are spread, as the system writes it;
	// empty where it cannot be chosen or is not known.
	Hash string `json:"hash,omitempty"`
	// Exists marks one that the host has already.
	Exists bool `json:"exists,omitempty"`
}

// hashes are what spreads the connections between two hosts over the links: by
// addresses and ports. OpenBSD's aggr(4) goes by the flow that a packet belongs
// to, and has no option for it.
var hashes = map[catalog.System]struct {
	name         name.Interface
	hash, source string
}{
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
	why := fmt.Sprintf("A flow stays on one link: an aggregate of %d helps %.0f connections together and a single "+
		"one not at all. ", n, r.Load.Connections)
	if a.Hash == "" {
		why += "aggr(4) takes the link from the number that the stack gives each connection by its addresses and " +
			"ports, and has no option for it; the older trunk(4) hashes addresses alone."
	} else {
		why += fmt.Sprintf("A hash of %s spreads the connections between two hosts too; one of layers 2 and 3 would "+
			"put all that a peer sends on one link.", a.Hash)
	}
	if r.Load.Connections < float64(4*n) {
		why += fmt.Sprintf(" With %.0f connections the links are filled unevenly: the fullest of %d carries about "+
			"%.0f of them.", r.Load.Connections, n, math.Ceil(r.Load.Connections/float64(n))+1)
	}
	why += " The files beside the plan hold it for the next boot."
	p.Steps = append(p.Steps, Step{Title: title, Why: why, Commands: aggregateCommands(p.System, a),
		Sources: []string{own.source}})
}

func aggregateCommands(s catalog.System, a Aggregate) []string {
	own := string(a.Name)
	switch s {
	case catalog.Linux:
		commands := []string{shell.Join("ip", "link", "add", own, "type", "bond", "mode", "802.3ad", "miimon", "100",
			"xmit_hash_policy", a.Hash)}
		for _, link := range a.Links {
			commands = append(commands, shell.Join("ip", "link", "set", string(link), "down")+" && "+shell.Join("ip",
				"link", "set", string(link), "master", own))
		}
		return commands
	case catalog.FreeBSD:
		return []string{shell.Join("ifconfig", own, "create") + " " + laggWords(a)}
	}
	return []string{shell.Join("ifconfig", own, "create") + " " + ports("trunkport", a.Links)}
}

// ports are the words that add links to an aggregate of a BSD.
func ports(word string, links []name.Interface) string {
	var words []string
	for _, link := range links {
		words = append(words, word, string(link))
	}
	return shell.Join(words...)
}

// laggWords are what ifconfig(8) makes a lagg of.
func laggWords(a Aggregate) string {
	return shell.Join("laggproto", "lacp", "lagghash", a.Hash) + " " + ports("laggport", a.Links)
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
	command := shell.Join("ifconfig", string(a.Name), "lagghash", a.Hash)
	if p.System == catalog.Linux {
		// The policy of a bond in another mode is shown too, and means nothing.
		title += ", if its mode is 802.3ad or balance-xor"
		command = writeFile("/sys/class/net/"+string(a.Name)+"/bonding/xmit_hash_policy", a.Hash)
	}
	p.Steps = append(p.Steps, Step{Title: title,
		Why: fmt.Sprintf("Its hash is %s: all connections between two hosts share one of its links (%s). With %s "+
			"each connection goes by itself. Only packets that are fragmented can then arrive out of order. It "+
			"takes effect on the running interface; the file beside the plan holds it for the next boot.",
			running, name.Join(a.Links, ", "), a.Hash),
		Commands: []string{command}, Sources: []string{own.source}})
}

// aggregateFiles are the plan's aggregates in the forms in which each system
// keeps them.
func aggregateFiles(p Plan) []File {
	var files []File
	for _, a := range p.sound().Aggregates {
		own := string(a.Name)
		head := exportHeader(p) + remark(own+" over "+name.Join(a.Links,
			" and ")+". A connection stays on one link; the hash decides on which.")
		switch {
		case p.System == catalog.FreeBSD && a.Exists:
			files = append(files, File{Name: "rc.conf-" + own, Install: "the line of " + own + " in /etc/rc.conf",
				Content: head + remark("Add to the words of "+ifconfigVariable(a.Name)+" in /etc/rc.conf:") +
					remark("lagghash "+a.Hash)})
		case p.System == catalog.FreeBSD:
			files = append(files, File{Name: "rc.conf-" + own, Install: "/etc/rc.conf", Content: head +
				remark("In place of the lines of "+name.Join(a.Links,
					" and ")+"; their address goes to the last one, as") +
				"# \"... inet ADDRESS/PREFIX\" or \"... DHCP\".\n" + laggLines(a)})
		case p.System == catalog.OpenBSD:
			files = append(files, File{Name: "hostname." + own, Install: "/etc/hostname." + own, Mode: 0o640,
				Content: head + remark("hostname."+name.Join(a.Links,
					" and hostname.")+" then say \"up\" alone; their address goes here.") +
					ports("trunkport", a.Links) + "\nup\n"})
		default:
			files = append(files, bondFiles(a, head)...)
		}
	}
	return files
}

// ifconfigVariable is the variable of rc.conf(5) with an interface's words:
// network.subr(8) writes an underscore for what no variable's name can hold.
func ifconfigVariable(nic name.Interface) string {
	return "ifconfig_" + strings.NewReplacer(".", "_", "-", "_").Replace(string(nic))
}

func laggLines(a Aggregate) string {
	rc := func(variable, value string) string {
		line, _ := conffile.Line(conffile.RC, conffile.FreeBSD, variable, value) // of a sound aggregate
		return line
	}
	var b strings.Builder
	b.WriteString(rc("cloned_interfaces", string(a.Name)))
	for _, link := range a.Links {
		b.WriteString(rc(ifconfigVariable(link), "up"))
	}
	b.WriteString("# wirerate: ignore same-as-default the hash is what this file is about\n")
	b.WriteString(rc(ifconfigVariable(a.Name), laggWords(a)))
	return b.String()
}

// bondFiles are a bond for systemd-networkd (systemd.netdev(5)) and for
// ifupdown with Debian's ifenslave.
func bondFiles(a Aggregate, head string) []File {
	own := string(a.Name)
	netdev := "[NetDev]\n" + unitOption("Name", own) + "Kind=bond\n\n[Bond]\n"
	stanza := "iface " + own + " inet manual\n"
	hash := "    bond-xmit-hash-policy " + a.Hash + "\n"
	if a.Exists {
		only := head + "# The mode stays as it is.\n"
		return []File{
			{Name: "wirerate-" + own + ".netdev", Install: "the [Bond] section of the interface's .netdev file",
				Content: only + netdev + unitOption("TransmitHashPolicy", a.Hash)},
			{Name: "interfaces-" + own, Install: "/etc/network/interfaces, in the stanza of " + own, Content: only +
				stanza + hash},
		}
	}
	const folder = "/etc/systemd/network/"
	device, links := "10-wirerate-"+own+".netdev", "10-wirerate-"+own+"-ports.network"
	return []File{
		{Name: device, Install: folder + device, Content: head + netdev + "Mode=802.3ad\n" +
			unitOption("TransmitHashPolicy", a.Hash) + "MIIMonitorSec=100ms\n"},
		{Name: links, Install: folder + links, Content: head + "[Match]\n" +
			unitOption("Name", name.Join(a.Links, " ")) + "\n[Network]\n" + unitOption("Bond", own)},
		{Name: "interfaces-" + own, Install: "/etc/network/interfaces", Content: head + "auto " + own + "\n" + stanza +
			"    bond-slaves " + name.Join(a.Links, " ") + "\n    bond-mode 802.3ad\n    bond-miimon 100\n" + hash},
	}
}
