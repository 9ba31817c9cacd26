package lint

import (
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// hostRules are what pf.conf tells about the host.
var hostRules = []string{"pf:rule/nat", "pf:rule/carp", "pf:rule/pfsync"}

// relayd judges a time of relayd.conf, and remembers entries that are judged beside other files.
func (k *checker) relayd(e conffile.Entry) *finding {
	kind := k.kindOf(e)
	switch {
	case kind == conffile.Relayd || kind == conffile.MyGate || slices.Contains(hostRules, e.Name):
		if len(k.later) < cacheLimit && (k.later[e.Name] == nil || kind == conffile.Relayd) {
			k.later[e.Name] = k.here(e)
		}
	case kind == conffile.LoginConf && len(k.later) < cacheLimit:
		k.later[e.Name+"\x00"+e.Iface] = k.here(e)
	}
	n, err := strconv.Atoi(e.Value)
	if e.Name == "relayd:buffer" && err == nil && n < 1<<20 {
		return &finding{code: "harmful", severity: Warning, value: true,
			sources: []string{"openbsd/src usr.sbin/relayd/relay.c, relay_socket", "openbsd/src sys/netinet/tcp_usrreq.c, tcp_update_sndspace"},
			message: fmt.Sprintf("socket buffer %d fixes the buffers of each connection at this size", n),
			because: fmt.Sprintf("A connection then carries at most %.0f Mbit/s at a round-trip time of 20 ms. Without the option the "+
				"kernel lets buffers grow to 2 MiB.", float64(n)*8/0.02/1e6)}
	}
	if e.Name != "relayd:timeout" || err != nil || n > 60 {
		return nil
	}
	return &finding{code: "wrong-unit", severity: Warning, value: true, sources: []string{"relayd.conf(5), timeout"},
		message: fmt.Sprintf("timeout %d is %d milliseconds: for seconds write timeout %d", n, n, n*1000),
		because: "A host that does not answer a check in this time is taken out of its table; the default is 200 milliseconds."}
}

// judgeHost judges files of an OpenBSD host beside each other.
func (k *checker) judgeHost(files []*source) {
	k.judgeOpenFiles()
	if k.system != catalog.OpenBSD {
		return
	}
	k.judgeBacklog()
	k.judgeManyFiles()
	k.judgeGate(files)
	k.judgeCarp(files)
	k.judgeHeard(files)
	k.judgeTranslated(files)
	for _, f := range files {
		k.judgePPPoE(f, files)
	}
}

// judgeOpenFiles reports a class of login.conf whose limit of open files is above the most that a process can raise it to.
func (k *checker) judgeOpenFiles() {
	for _, name := range slices.Sorted(maps.Keys(k.later)) {
		class, is := strings.CutPrefix(name, "login:openfiles-cur\x00")
		highest := k.inherited("login:openfiles-max\x00", class)
		current := k.later[name]
		if !is || highest == nil || current.file != highest.file {
			continue
		}
		low, err := strconv.Atoi(current.entry.Value)
		high, bad := strconv.Atoi(highest.entry.Value)
		if err == nil && bad == nil && low > high {
			k.reportIn(current.file, current.entry, finding{code: "conflict", severity: Warning, value: true, sources: []string{"login.conf(5)", "setrlimit(2)"},
				message: fmt.Sprintf("openfiles-cur = %d is above openfiles-max = %d in line %d", low, high, highest.entry.Line),
				because: "The first is the limit that a process starts with, the second the most that it can have."})
		}
	}
}

// judgeManyFiles reports a class of login.conf with more open files than the whole system has.
func (k *checker) judgeManyFiles() {
	most, known := k.numberOf(k.effects["kern.maxfiles"], "kern.maxfiles")
	severity := Warning
	if k.effects["kern.maxfiles"] == nil {
		severity = Info
	}
	for _, name := range slices.Sorted(maps.Keys(k.later)) {
		limit, _, is := strings.Cut(name, "\x00")
		a := k.later[name]
		n, err := strconv.ParseFloat(a.entry.Value, 64)
		if !is || limit != "login:openfiles-max" || err != nil || !known || n <= most {
			continue
		}
		k.reportIn(a.file, a.entry, finding{code: "needs", severity: severity, value: true, sources: []string{"login.conf(5)", "setrlimit(2)"},
			message: fmt.Sprintf("%s = %.0f is more than kern.maxfiles = %.0f, the open files of the whole system", a.entry.Key, n, most),
			because: fmt.Sprintf("setrlimit(2) lowers the limit to it, and one program can use up all files. Raise kern.maxfiles above %.0f, or lower this.", n)})
	}
}

// inherited is a limit of a class of login.conf, or of one that it takes the rest from.
func (k *checker) inherited(limit, class string) *assignment {
	const deepest = 16
	for range deepest {
		if own := k.later[limit+class]; own != nil {
			return own
		}
		base := k.later["login:tc\x00"+class]
		if base == nil {
			break
		}
		class = base.entry.Value
	}
	return nil
}

// judgeBacklog reports a queue of relayd that is longer than the kernel lets it be.
func (k *checker) judgeBacklog() {
	a := k.later["relayd:backlog"]
	if a == nil {
		return
	}
	most, known := k.numberOf(k.effects["kern.somaxconn"], "kern.somaxconn")
	n, err := strconv.ParseFloat(a.entry.Value, 64)
	if err != nil || !known || n <= most {
		return
	}
	severity := Warning
	if !k.kinds[conffile.Sysctl] {
		severity = Info
	}
	k.reportIn(a.file, a.entry, finding{code: "needs", severity: severity, value: true, sources: []string{"relayd.conf(5), backlog", "listen(2)"},
		message: fmt.Sprintf("backlog %.0f is more than kern.somaxconn = %.0f, which limits it", n, most),
		because: fmt.Sprintf("listen(2) shortens the queue; write kern.somaxconn=%.0f to /etc/sysctl.conf.", n)})
}

// Lines of hostname.if: an address with its mask, and what may bring others.
var (
	hostAddress = map[string]*regexp.Regexp{
		"inet":  regexp.MustCompile(`(?m)^[ \t]*inet[ \t]+(?:alias[ \t]+)?([0-9.]+)(?:/([0-9]+)|[ \t]+([0-9.]+|0x[0-9a-fA-F]+))`),
		"inet6": regexp.MustCompile(`(?m)^[ \t]*inet6[ \t]+(?:alias[ \t]+)?([0-9a-fA-F:]+)(?:/([0-9]+)|[ \t]+([0-9]+))?[ \t]*$`),
	}
	otherWays = map[string]*regexp.Regexp{
		"inet":  regexp.MustCompile(`(?m)^[ \t]*(?:dhcp|(?:inet[ \t]+)?autoconf\b|!|dest\b|inet[ \t]+[0-9.]+[ \t]*$|include\b)`),
		"inet6": regexp.MustCompile(`(?m)^[ \t]*(?:rtsol|inet6[ \t]+(?:-?autoconf|eui64)\b|!|dest\b|include\b|inet6[ \t]+[0-9a-fA-F:/]+[ \t]+[^ \t\n]*[^0-9 \t\n])`),
	}
)

// judgeGate reports a default gateway that is in no network of the host, and one that is not used.
func (k *checker) judgeGate(files []*source) {
	gate := k.later["mygate:inet"]
	for _, f := range files {
		iface := strings.TrimPrefix(path.Base(f.path), "hostname.")
		if f.kind == conffile.HostnameIf && k.leased[iface] && gate != nil {
			k.reportIn(gate.file, gate.entry, finding{code: "no-effect", severity: Warning, value: true, sources: []string{"mygate(5)"},
				message: fmt.Sprintf("this gateway is not used: hostname.%s takes the address from the network", iface),
				because: "IPv4 entries of mygate are ignored where any interface is configured by DHCP, which brings the gateway."})
			gate = nil
		}
	}
	k.judgeReached(gate, files, "inet", 32)
	gate = k.later["mygate:inet6"]
	if gate != nil && strings.HasPrefix(gate.entry.Value, "fe80:") {
		if !strings.Contains(gate.entry.Value, "%") {
			k.reportIn(gate.file, gate.entry, finding{code: "bad-value", severity: Warning, value: true, sources: []string{"mygate(5)", "route(8)"},
				message: fmt.Sprintf("%s is a link-local address without its interface: write %s%%em0", gate.entry.Value, gate.entry.Value),
				because: "The same address may be on each link, so the kernel needs the interface after a percent sign."})
		}
		return
	}
	k.judgeReached(gate, files, "inet6", 64)
}

// judgeReached reports a gateway that is in no network of its family that the files tell.
func (k *checker) judgeReached(gate *assignment, files []*source, family string, usual int) {
	var networks []netip.Prefix
	for _, f := range files {
		if f.kind != conffile.HostnameIf {
			continue
		}
		if otherWays[family].MatchString(f.text) {
			return
		}
		for _, m := range hostAddress[family].FindAllStringSubmatch(f.text, 1000) {
			address, err := netip.ParseAddr(m[1])
			bits, ok := facts.MaskBits(m[3])
			if family == "inet6" || m[2] != "" {
				bits, ok = usual, true
				if length := m[2] + m[3]; length != "" {
					n, err := strconv.Atoi(length)
					bits, ok = n, err == nil
				}
			}
			if err != nil || !ok || bits > address.BitLen() {
				return
			}
			networks = append(networks, netip.PrefixFrom(address, bits).Masked())
		}
	}
	if gate == nil || len(networks) == 0 {
		return
	}
	router, err := netip.ParseAddr(gate.entry.Value)
	if err != nil || slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(router) }) {
		return
	}
	k.reportIn(gate.file, gate.entry, finding{code: "conflict", severity: Warning, value: true, sources: []string{"mygate(5)", "route(8)"},
		message: fmt.Sprintf("the gateway %s is in none of the networks of the interfaces (%s)", gate.entry.Value, listOf(networks)),
		because: "The kernel refuses a router that it cannot reach directly, so the host has no default route."})
}

// carpWords are the number of a virtual host and the interface that carries it.
var carpWords = regexp.MustCompile(`\b(vhid|carpdev)[ \t]+([a-z]*[0-9]+)`)

// judgeCarp reports two virtual hosts of one number on one interface, and several of them that fail over separately.
func (k *checker) judgeCarp(files []*source) {
	hosts, first := map[string]string{}, []int(nil)
	var carps []*source
	for _, f := range files {
		name := path.Base(f.path)
		if f.kind != conffile.HostnameIf || !strings.HasPrefix(name, "hostname.carp") {
			continue
		}
		words, at := map[string]string{}, []int{0, 0}
		for _, m := range carpWords.FindAllStringSubmatchIndex(f.text, 8) {
			words[f.text[m[2]:m[3]]] = f.text[m[4]:m[5]]
			at = m[:2]
		}
		key := words["carpdev"] + " " + words["vhid"]
		if other := hosts[key]; words["vhid"] != "" && words["carpdev"] != "" && other != "" {
			k.reportAt(f, at, finding{code: "conflict", severity: Warning, sources: []string{"carp(4)", "ifconfig(8), vhid"},
				message: fmt.Sprintf("vhid %s on %s is that of %s too", words["vhid"], words["carpdev"], other),
				because: "The number tells the virtual hosts of a network apart, in their Ethernet addresses too: each needs its own."})
		} else {
			hosts[key] = name
		}
		if carps = append(carps, f); first == nil {
			first = at
		}
	}
	if a := k.effects["net.inet.carp.allow"]; a != nil && a.entry.Value == "0" && len(carps) > 0 {
		k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, value: true, sources: []string{"carp(4), net.inet.carp.allow"},
			message: "carp is off, but " + path.Base(carps[0].path) + " sets up a shared address: write 1, the default",
			because: "The kernel drops the announcements of the other hosts, so each host takes itself for the master."})
	}
	if len(carps) > 1 && k.kinds[conffile.Sysctl] && k.effects["net.inet.carp.preempt"] == nil {
		k.reportAt(carps[0], first, finding{code: "needs", severity: Warning, sources: []string{"carp(4), net.inet.carp.preempt"},
			message: fmt.Sprintf("%d carp interfaces without net.inet.carp.preempt=1 fail over one by one", len(carps)),
			because: "When one link fails, this host remains the master of the others, so that packets arrive at a host that cannot pass them on. " +
				"Write net.inet.carp.preempt=1 to /etc/sysctl.conf of all of them."})
	}
}

// hostLink is the interface over which hosts of a cluster tell each other what they do.
var hostLink = regexp.MustCompile(`(?m)^[^#!\n]*\b(?:carpdev|syncdev)[ \t]+([a-z]+[0-9]+)`)

// judgeHeard reports a filter that keeps hosts of a cluster from hearing each other.
func (k *checker) judgeHeard(files []*source) {
	for _, told := range [][2]string{
		{"carp", "Each host takes itself for the master then, and all of them answer for the address."},
		{"pfsync", "The other host knows no states of this one, so that connections break when it takes over."},
	} {
		protocol, then := told[0], told[1]
		heard := k.later["pf:rule/"+protocol]
		for _, f := range files {
			m := hostLink.FindStringSubmatch(f.text)
			if heard == nil || f.kind != conffile.HostnameIf || !strings.HasPrefix(path.Base(f.path), "hostname."+protocol) || m == nil ||
				slices.Contains(strings.Fields(heard.entry.Value), m[1]) {
				continue
			}
			k.reportIn(heard.file, heard.entry, finding{code: "harmful", severity: Warning, sources: []string{"carp(4)", "pfsync(4)"},
				message: fmt.Sprintf("this rule blocks %s on %s, and no other rule passes it", protocol, m[1]),
				because: then + fmt.Sprintf(" Add pass on %s proto %s keep state (no-sync) below it.", m[1], protocol)})
			break
		}
	}
}

// judgeTranslated reports translation of addresses on a host that is no router.
func (k *checker) judgeTranslated(files []*source) {
	nat := k.later["pf:rule/nat"]
	if a := k.effects["net.inet.ip.forwarding"]; a != nil && a.entry.Value == "2" && nat != nil {
		k.reportIn(a.file, a.entry, finding{code: "conflict", severity: Warning, value: true, sources: []string{"sysctl(2), net.inet.ip.forwarding"},
			message: "2 forwards only packets of IPsec, but pf.conf translates those of other hosts: write 1",
			because: "The kernel drops what comes in without IPsec and is for another host."})
	}
	if nat == nil || !k.kinds[conffile.Sysctl] || k.forwards || slices.ContainsFunc(files, func(f *source) bool {
		return f.kind != conffile.PF && strings.Contains(f.text, ".forwarding=")
	}) {
		return
	}
	k.reportIn(nat.file, nat.entry, finding{code: "needs", severity: Warning, sources: []string{"pf.conf(5), TRANSLATION", "ip(4), net.inet.ip.forwarding"},
		message: "nat-to translates packets of other hosts, but sysctl.conf does not set net.inet.ip.forwarding=1",
		because: "The kernel forwards nothing without it. Write net.inet.ip.forwarding=1 to /etc/sysctl.conf."})
}

// fullPPPoE is an MTU of a PPPoE interface that needs larger frames below it (RFC 4638).
var (
	fullPPPoE   = regexp.MustCompile(`(?m)^[^#!\n]*\bmtu[ \t]+(1500|149[3-9])\b`)
	pppoeParent = regexp.MustCompile(`(?m)^[^#!\n]*\bpppoedev[ \t]+([a-z]+[0-9]+)`)
)

// judgePPPoE reports an MTU of a PPPoE interface for which its parent has no room: its headers take eight bytes.
func (k *checker) judgePPPoE(f *source, files []*source) {
	at, parent := fullPPPoE.FindStringSubmatchIndex(f.text), pppoeParent.FindStringSubmatch(f.text)
	if f.kind != conffile.HostnameIf || !strings.HasPrefix(path.Base(f.path), "hostname.pppoe") || at == nil || parent == nil {
		return
	}
	severity := Info
	for _, below := range files {
		if below.kind != conffile.HostnameIf || path.Base(below.path) != "hostname."+parent[1] {
			continue
		}
		severity = Warning
		if m := sizedLine.FindStringSubmatch(below.text); m != nil && (m[1] >= "1508" || len(m[1]) != 4) {
			return
		}
	}
	if strings.Contains(f.text, "!ifconfig "+parent[1]) {
		return
	}
	k.reportAt(f, at[2:4], finding{code: "needs", severity: severity, sources: []string{"pppoe(4), MTU/MSS ISSUES", "RFC 4638"},
		message: fmt.Sprintf("mtu %s needs an MTU of 1508 on %s: add mtu 1508 to hostname.%s", f.text[at[2]:at[3]], parent[1], parent[1]),
		because: "PPPoE adds eight bytes to each packet; full frames do not fit through the interface below and are lost."})
}
