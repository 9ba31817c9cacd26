package transcript

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// identityMarks tell systems by what only one of them prints.
var identityMarks = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`(?m)^net\.(ipv4|core|netfilter|ipv6\.neigh)\.|^%Cpu|ksoftirqd/|[Nn]eighbou?r table overflow|` +
		`nf_conntrack|kernel: \[ *\d+\.\d+\]|^(?:<\d+>)?\[ *\d+\.\d{6}\] |neighbour: |arp_cache|NETDEV WATCHDOG|NIC Link is |` +
		`SYNs to LISTEN|Link encap:|Lien encap:|Encapsulamento do Link:|Possible SYN flooding|` +
		`possible SYN flooding|^TCP: inuse|allowance_exceeded|` +
		`packets pruned from|packet receive errors|TCPTimeWaitOverflow|TcpExt|SYN cookies sent|Hardware Unit Hang|` +
		`GT/s|` +
		`LnkSta|^top - \d|^PING .*\) \d+(?:\(\d+\))? bytes of data|^Kernel (Interface|IP routing) table|` +
		`^Iface +MTU|^Active Internet connections \((w/o|` +
		`servers and|only)|PID/Program|^\s*Cpu\(s\):`), "Linux"},
	{regexp.MustCompile(`(?m)^net\.inet6?\.[a-z0-9_.]+=|mbuf 2048 byte clusters|OpenBSD|Ifail|Iface$|` +
		`net\.inet\.ip\.ifq\.|hwfeatures=|% spin|mcl2k2|DROP_P|Requests +FrcSync|min/avg/max/std-dev`), "OpenBSD"},
	{regexp.MustCompile(`(?m)sonewconn|interrupt storm|\[zone: [a-z_0-9]+\] kern\.|is using my IP|` +
		`\(current/cache|FreeBSD|dropped due to full socket buffers|watchdog timeout|link state changed|^(net\.inet|` +
		`kern\.ipc|hw\.[a-z]\S*: |dev\.|vfs\.)|% interrupt|qlen/incqlen|metric 0 mtu|` +
		`output packets dropped due to no bufs|` +
		`cpu0:timer|SSTRESH|(kernel|intr|idle)\{|State Table|hard limit|<Link#|Idrop|Netif|syncache|Juno|` +
		`embryonic connections dropped|acks for unsent data|completely duplicate packets|` +
		`netmask 0x[0-9a-f]{8}|media: Ethernet|^CPU states?:.* interrupt|` +
		`/kernel: |drop mbuf that needs|setsockopt: no buffer space|^last pid: |^ *PID USERNAME +THR +PRI +NICE |` +
		`TimedOut +Invalid +X Replies +Retries +Requests$|dpinger|` +
		`rc\.gateway_alarm|packets received, \d+\.\d% packet loss|nfs server \S+: not responding|` +
		`^[a-z]+\d+: (Missed Packets|Receive No Buffers|Good Packets) |Limiting (?:closed|open) port|mi_switch|` +
		`(?i:interface stopped distributing)|no ping reply \(NOP-|^Proto +Rexmit|netmap_transmit|` +
		`(?i:state table size|mbufs? usage|mbuf clusters)|min/avg/max/stddev|Vr HL TOS|` +
		`swap_pager: |limit exceeded by uid|rx packet lost|` +
		`discard oversize frame|PF states limit reached|: invalid MTU: \d+\(|ifconfig: BRDGADD |netmap data via polling|syncache_socket|` +
		`carp: (?:VHID )?\d+@[a-z]|^\((?:a?da|nda)\d+:\w+:\d+:\d+:\d+\): |\bipfw\b|netmap:[a-z]+\d|kmem_map too small|` +
		`lost tx completion is above|OVER TEMP!!|apinger: |LCP: (?:peer not responding|no reply to) |` +
		`arpresolve: can't allocate llinfo|\(code=(?:4[09]|5[015]|6[45])\)|\bOs \{ code: (?:4[09]|5[015]|6[45]), |^iw[mnx]\d+: |` +
		`^kern\.[a-z_.]+: |desc avail = \d+, pidx = |(?:^|\n)(?:tcp|udp|ip6?|icmp6?|ipsec6?|esp|ah):\n\s+\d`),
		"FreeBSD"},
}

// strongMarks are what one system alone prints, whatever else a text speaks of.
var strongMarks = []struct {
	form *regexp.Regexp
	name system.System
}{
	{regexp.MustCompile(`(?m)^net\.(ipv4|core|ipv6\.conf)\.|^kernel\.[a-z_]+ ?=|Link encap:|txqueuelen|` +
		`Lien encap:|Encapsulamento do Link:|^\s+[RT]X (?:packets \d+  bytes|errors \d+  dropped) |^(Ip|Tcp|Udp|TcpExt|IpExt):$|` +
		`segments sen[dt] out|segments retransmit|` +
		`connections? openings|^Iface +MTU|^Kernel (Interface|IP routing) table|Linux version \d|` +
		`\b[a-z]\w+ [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7](?: [a-z][\w.-]*)?: \S`), system.Linux},
	{regexp.MustCompile(`(?m)FreeBSD|metric 0 mtu |\d% \[?(?:kernel|intr|idle)\{|cpu0:timer|^ +packets +errs +idrops |%Intr |^kstat\.zfs\.|` +
		`mbuf clusters in use \(current/cache/total/max\)|` +
		`syncache entries added|^\s*dev\.[a-z]+\.\d+\.[a-z%]| Ierrs Idrop | Netif Expire|ms/r +ms/w +ms/o|` +
		`^TCP connection count by state:|^kern\.ipc\.maxsockbuf|` +
		`^[a-z]+\d+: PCI Express Bus: |@pci\d+:\d+:\d+:\d+:|^\s*(?:net\.isr\.|net\.link\.|kern\.ipc\.|` +
		`net\.inet\.tcp\.(?:tso|cc\.|hostcache|` +
		`(?:send|recv)(?:buf_|space)|delayed_ack|syncookies|msl)|net\.inet\.ip\.(?:intr_queue|portrange\.))`),
		system.FreeBSD},
	{regexp.MustCompile(`(?m)OpenBSD|mbuf 2048 byte clusters in use|irq0/clock|total in +total out|%Spn |` +
		`SYN cache entries added|^\s*lladdr [0-9a-f]{2}:|ieee80211: (?:nwid|join) |^\s*status: no network$|` +
		`<Link>  | Prio +Iface|Ifail|hwfeatures=|^CPU\d+ states: |half-open tcp|Debug: err$|` +
		`^pktdelay-pkts +hard limit|: watchdog: head |^queue \S+ parent \S+ on |` +
		`^kern\.(?:nfiles|nprocs|maxclusters)=\d`), system.OpenBSD},
}

// Votes of one paste.
const (
	strongVote = 4 // only this system prints such a line
	nameVote   = 3 // only this system has the command
	weakVote   = 1 // it is more usual there
)

// onlyOf are the outputs that one system alone prints.
var onlyOf = sync.OnceValue(func() map[system.System][]string {
	only := map[system.System][]string{}
	for _, s := range system.All() {
		only[s] = facts.OutputsOnlyOf(s)
	}
	return only
})

// guessIdentity makes a line of uname for outputs that came without one: each paste votes by what only one system
// prints, so that no single one decides against the others. It is empty where no system has more votes than another,
// and sure where one has more than what is merely more usual there.
func guessIdentity(rounds []facts.Round) (line string, sure bool) {
	votes, strong := map[system.System]int{}, map[system.System]bool{}
	release := map[system.System]string{}
	only := onlyOf()
	for _, r := range rounds {
		for _, name := range slices.Sorted(maps.Keys(r.Texts)) {
			text := r.Texts[name][:min(len(r.Texts[name]), markedLimit)]
			if name == "sysctl -a" {
				text = r.Texts[name] // the release may stand anywhere
			}
			for s, names := range only {
				if slices.Contains(names, name) || s == system.Linux && ofLinux(name) {
					votes[s], strong[s] = votes[s]+nameVote, true
				}
			}
			for _, m := range strongMarks {
				if m.form.MatchString(text) {
					votes[m.name], strong[m.name] = votes[m.name]+strongVote, true
				}
			}
			for _, m := range identityMarks { // an earlier one is the surer one
				if m.form.MatchString(text) {
					votes[system.Named(m.name)] += weakVote
					break
				}
			}
			for _, form := range releaseForms {
				if m := form.form.FindStringSubmatch(text); m != nil {
					votes[form.name], strong[form.name] = votes[form.name]+form.votes, true
					release[form.name] = cmp.Or(release[form.name], m[1])
				}
			}
		}
	}
	best, most, tie := system.System(""), 0, false
	for _, s := range system.All() {
		switch {
		case votes[s] > most:
			best, most, tie = s, votes[s], false
		case votes[s] == most:
			tie = true
		}
	}
	if most == 0 || tie {
		return "", false
	}
	return best.Title() + " unknown " + cmp.Or(release[best], "unknown"), strong[best]
}

// relatives print in the formats of FreeBSD, from which they took their tools, and have other settings.
var relatives = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`(?m)/System/Library/|\bagrCtlRSSI: |\d checksummed in software\n|` +
		`\d received packets dropped due to low memory|SMART,RUNNING|` +
		`inet6 \S+ prefixlen \d+ secured|\butun\d+: flags=|CHANNEL_IO|Darwin Kernel Version|^Darwin \S+ \d|mbufs allocated to ancillary data|` +
		`iperf3-darwin|mbuf 2KB clusters in use|^(?:.*\W)?Ethernet \[[A-Z]\w+\]: |\]: Tx stalled\? Resetting chipset|` +
		`^Request timeout for icmp_seq \d|^(?:\(\S+\) )?[\w.-]+@\S*(?:[Mm]ac[Bb]ook|i[Mm]ac|[Mm]ac-?[Mm]ini|-Air\b)\S* \S+ % |` +
		`^\d{4}-\d\d-\d\d [\d:.]+[+-]\d{4} 0x`), macOS},
	{regexp.MustCompile(`(?m)^DragonFly \S+ \d|\b[Dd]ragon[Ff]ly(?: ?BSD)? v?\d+\.\d`), "DragonFly BSD"},
	{regexp.MustCompile(`\bNetBSD \S+ \d+\.\d\S* NetBSD |\bNetBSD \d+\.\d\S* \(|\bec_capabilities=`), "NetBSD"},
	{regexp.MustCompile(`(?m)^[\w.-]+@[\w.-]+> show |\bJUNOS\b|9k \(page size\) jumbo clusters|^\{(?:master|` +
		`backup)(?::\d+)?\}`), "Junos"},
}

// relativeOf is the system that a text is of, where it only looks like FreeBSD's; empty where it is FreeBSD's.
func relativeOf(text string) string {
	for _, r := range relatives {
		if r.form.MatchString(text) {
			return r.name
		}
	}
	return ""
}

// otherAppliance are distributions of FreeBSD that are no firewalls.
var otherAppliance = regexp.MustCompile(`(?i)\b(freenas|truenas|xigmanas|nas4free)`)

// prose are all lines of a post.
func (p *Posted) prose() string {
	var all []string
	for _, part := range p.parts {
		all = append(append(all, part.line), part.lines...)
	}
	return strings.Join(all, "\n")
}

// nameDistribution finds a firewall's distribution in the prompts, and in what is written beside the outputs.
func (p *Posted) nameDistribution(f *facts.Facts, file string) {
	for _, part := range p.parts {
		if f.Named(part.prompt(), facts.Source{From: file, Line: part.first - 1, Text: strings.TrimSpace(part.line)}) {
			return
		}
	}
	// What is behind or beside a firewall speaks of it too, and prints neither its release nor the rows of its start page.
	several := (len(f.NICs) >= 2 || p.showsStartPage()) && !otherAppliance.MatchString(p.prose())
	for _, part := range p.parts {
		for i, line := range part.lines {
			src := facts.Source{From: file, Line: part.first + i, Text: words([]string{line})}
			if (several || firewallRelease.MatchString(line)) && f.Named(line, src) {
				return
			}
		}
	}
}

// showsStartPage reports whether the rows of a firewall's start page were read.
func (p *Posted) showsStartPage() bool {
	return facts.DashboardStates.MatchString(p.Texts["pfctl -si"]) || facts.DashboardMbufs.MatchString(p.Texts["netstat -m"])
}

// firewallRelease is a release as the first page of the firewalls shows it: OPNsense 24.1.4-amd64, with FreeBSD's in the
// next line.
var firewallRelease = regexp.MustCompile(`^\W*(?:Versions? +|[\w.-]+: )?(?i:OPNsense|pfSense(?: CE|\+| Plus)?)(?: [Vv]ersion:?)? ` +
	`\d\d?\.\d[\w.]*(?:-[\w.-]+| \(amd64/\w+\)\W*)?$`)

// releaseForms find the release where a setting, a boot message or a tool's heading says it.
var releaseForms = []struct {
	form  *regexp.Regexp
	name  system.System
	votes int
}{
	{regexp.MustCompile(`(?m)^kernel\.osrelease ?[:=] *(\S+)`), system.Linux, 2 * strongVote},
	{regexp.MustCompile(`(?m)^kern\.ostype ?[:=] *FreeBSD\n(?:.*\n)*?kern\.osrelease ?[:=] *(\S+)`),
		system.FreeBSD, 2 * strongVote},
	{regexp.MustCompile(`(?m)^kern\.ostype ?[:=] *OpenBSD\n(?:.*\n)*?kern\.osrelease ?[:=] *(\S+)`),
		system.OpenBSD, 2 * strongVote},
	{regexp.MustCompile(`(?m)^kern\.osrelease ?[:=] *(\d+\.\d+-(?:RELEASE|STABLE|CURRENT)\S*)`),
		system.FreeBSD, 2 * strongVote},
	{regexp.MustCompile(`(?m)^kern\.osrelease=(\d+\.\d+)$`), system.OpenBSD, strongVote},
	{regexp.MustCompile(`(?m)^Linux (\d+\.\S+) `), system.Linux, strongVote},
	{regexp.MustCompile(`Linux version (\d+\.\S+) `), system.Linux, strongVote},
	{regexp.MustCompile(`(?m)^FreeBSD (\d+\.\d+-\S+) `), system.FreeBSD, strongVote},
	{regexp.MustCompile(`(?m)^OpenBSD (\d+\.\d+)\S* \(`), system.OpenBSD, strongVote},
}

// ofLinux reports whether an output is of a tool or file of Linux alone.
func ofLinux(name string) bool {
	if name == "ss -tinm" || name == "ss -ltn" {
		return true
	}
	return slices.ContainsFunc([]string{"/proc/", "/sys", "ethtool ", "ip ", "tc ", "nstat ", "mpstat ",
		"conntrack ", "sar",
		"kfree_skb", "dropwatch"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// markedLimit bounds what of each text is searched for marks, in bytes.
const markedLimit = 32 << 10

// spokenLimit bounds what of a session is searched for the names of systems, in bytes.
const spokenLimit = 1 << 20

// unknownSystem stands for that of outputs that nothing tells: most of what is posted is of Linux.
const unknownSystem = "Linux unknown unknown"

// identify completes the texts with a line of uname where none was posted.
func (p *Posted) identify(all string, alone bool) {
	if p.Texts["uname -a"] != "" {
		return
	}
	guess, sure := guessIdentity(p.rounds)
	all = all[:min(len(all), spokenLimit)]
	switch named := namedSystem(all); {
	case sure || !alone:
	case guess == "" && relativeOf(all) != "":
		guess = "FreeBSD unknown unknown"
	case named == macOS:
		guess, p.relative = "FreeBSD unknown unknown", macOS
	case named == "" || strings.HasPrefix(guess, named):
	case guess != "" && macNamed.MatchString(all): // it may be of either
		p.Guessed = true
	default:
		guess = named + " unknown unknown"
	}
	if guess == "" && slices.ContainsFunc(p.parts, func(s section) bool { return cshPrompt.MatchString(s.line) }) {
		guess = "FreeBSD unknown unknown"
	}
	if guess == "" {
		guess = p.understoodBy()
	}
	if guess == "" && alone && relativeOf(all) != "" {
		guess = "FreeBSD unknown unknown"
	}
	if guess == "" {
		p.Guessed, guess = true, unknownSystem
	}
	if release := cmp.Or(pfSenseRelease(all), namedRelease(all, guess)); alone && release != "" {
		guess = strings.Replace(guess, " unknown unknown", " unknown "+release, 1)
	}
	p.Texts["uname -a"] = guess
}

// releaseName is a release as people write it: FreeBSD 13.2-RELEASE, OpenBSD 7.4.
var releaseName = regexp.MustCompile(`\b(FreeBSD|OpenBSD)(?:/amd64)?[ -](\d{1,2}\.\d)\b`)

// namedRelease is the one release of a system that a text speaks of, empty where there are several or none.
func namedRelease(text, identity string) (release string) {
	for _, m := range releaseName.FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(identity, m[1]+" ") || release != "" && release != m[2] {
			return ""
		}
		release = m[2]
	}
	return release
}

// pfSenseRelease is the release of FreeBSD below pfSense, which names its own in the prompt.
func pfSenseRelease(all string) string {
	m := pfSensePrompt.FindStringSubmatch(all)
	if m == nil {
		return ""
	}
	for _, base := range []struct{ version, release string }{{"2.2", "10.1"}, {"2.3", "10.3"}, {"2.4.4", "11.2"}, {"2.4.5", "11.3"}, {"2.4", "11.1"},
		{"2.5", "12.2"}, {"2.6", "12.3"}, {"2.7", "14.0"}, {"2.8", "15.0"}, {"21.", "12.2"}, {"22.", "12.3"}, {"23.", "14.0"}, {"24.", "15.0"},
		{"25.11", "16.0"}, {"25.", "15.0"}} {
		if strings.HasPrefix(m[1], base.version) {
			return base.release + "-STABLE"
		}
	}
	return ""
}

var pfSensePrompt = regexp.MustCompile(`\[(\d+\.\d[\w.]*)-RELEASE[\w-]*\]\[\w+@`)

// cshPrompt is the prompt that root has in FreeBSD and what is made of it: no other system has a blank before its sign.
var cshPrompt = regexp.MustCompile(`^\s*root@[\w.-]+:[~/][\w./-]* # `)

// understoodBy makes a line of uname for the system by whose readers the fewest
// lines stay unread, FreeBSD where both BSDs do as well; it is empty where that
// does not tell a BSD from Linux.
func (p *Posted) understoodBy() string {
	defer delete(p.Texts, "uname -a")
	best, least := "", 0
	for _, s := range []system.System{system.Linux, system.FreeBSD, system.OpenBSD} {
		identity := s.Title() + " unknown unknown"
		p.Texts["uname -a"] = identity
		f, err := facts.FromRounds("", p.rounds)
		if err != nil {
			continue
		}
		lines := 0
		for _, u := range p.unread(f, f.Used()) {
			lines += u.Lines
		}
		if best == "" || lines < least {
			best, least = identity, lines
		}
	}
	if best == unknownSystem {
		return ""
	}
	return best
}

// macOS prints in the formats of FreeBSD.
const macOS = "macOS"

var macNamed = regexp.MustCompile(`(?:^|[^\w.-])(?:[Mm]ac ?OS|(?i:os ?x))\b`)

// systemNames are the names by which people call what they run; in the name of a host or of an initiator
// (iqn.1993-08.org.debian) they say nothing.
var systemNames = []struct {
	form   *regexp.Regexp
	system string
}{
	{regexp.MustCompile(`(?i)(?:^|[^\w.])(free ?bsd|opnsense|pfsense|freenas|truenas[ -]core|xigmanas|` +
		`hardenedbsd)\b`), "FreeBSD"},
	{regexp.MustCompile(`(?i)(?:^|[^\w.])open ?bsd\b`), "OpenBSD"},
	{regexp.MustCompile(`(?i)(?:^|[^\w.])(linux|ubuntu|debian|centos|rhel|red ?hat|fedora|proxmox|raspbian|raspberry|openwrt|` +
		`archlinux|opensuse|truenas[ -]scale|alpine|docker|kubernetes|unraid)\b`), "Linux"},
	{macNamed, macOS},
}

// namedSystem finds the one system that the words of a session speak of.
func namedSystem(s string) string {
	found := ""
	s = strings.ReplaceAll(s, "(linux)", "") // unbound speaks of both
	for _, n := range systemNames {
		if n.form.MatchString(s) {
			if found != "" && n.system == macOS {
				break // a client, mostly
			}
			if found == "FreeBSD" && bsdLink.MatchString(s) {
				break // the other end, mostly
			}
			if found != "" {
				return "" // of several
			}
			found = n.system
		}
	}
	if found == "" && bsdLink.MatchString(s) {
		return "FreeBSD"
	}
	return found
}

// bsdLink is the name of an interface as the BSDs give it, FreeBSD more often than OpenBSD; em1 is one of Linux too.
var bsdLink = regexp.MustCompile(`\b(?:em0|(?:igb|igc|ix|ixl|re|bge|bce|vmx|vtnet|lagg)\d)\b`)
