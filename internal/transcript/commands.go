package transcript

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// withHead puts back the line that names what follows, where a grep took it,
// and returns where the lines stand.
func withHead(name, command string, p passage) (body string, at []int) {
	body, at = strings.Join(p.lines, "\n"), p.at()
	typed, _, _ := strings.Cut(command, "|")
	typed = strings.TrimSpace(typed)
	switch {
	case name == "ifconfig -a" && ofOneLink.MatchString(typed) && !linkBegin.MatchString(body):
		return headOfLink(typed[strings.LastIndex(typed, " ")+1:], body) + body, at
	case name == "mtr": // only the command names the size of its probes
		return command + "\n" + body, at
	case name == "/proc/interrupts" || strings.Contains(body, "RX packets"):
		return headOf(name, body) + body, at
	case name == "ip -s -d link show":
		kept := withoutAddresses(p)
		return strings.Join(kept.lines, "\n"), kept.at
	}
	return body, at
}

// ofOneLink is ifconfig that shows one interface; with more words behind its name it sets it, and prints nothing.
var ofOneLink = regexp.MustCompile(`^ifconfig(?: -\S+)* [a-z][\w.:@-]{0,15}$`)

// headOf is the line that names what follows, where it was not copied with it.
func headOf(name, body string) string {
	switch {
	case name == "/proc/interrupts" && !cpuTitles.MatchString(body):
		return cpuHead(body)
	case name == "ifconfig -a" && !linkBegin.MatchString(body):
		return headOfLink(facts.UnnamedLink, body)
	case name == "netstat -s":
		if m := firstOfProtocol.FindStringSubmatch(body); m != nil {
			return map[string]string{"packets sent": "tcp:\n", "datagrams received": "udp:\n", "total packets received": "ip:\n"}[m[1]]
		}
	}
	return ""
}

// firstOfProtocol is the first row of a protocol in netstat -s of the BSDs.
var firstOfProtocol = regexp.MustCompile(`^\s+\d+ (packets sent|datagrams received|total packets received)\n`)

// cpuTitles is the heading of /proc/interrupts.
var cpuTitles = regexp.MustCompile(`(?m)^\s*CPU\d`)

// headOfLink is the first line of an interface of ifconfig, where it was not copied, as the system prints it whose lines
// follow; its flags are not known.
func headOfLink(name, body string) string {
	if linkOfBSD.MatchString(body) {
		return name + ": flags=?\n"
	}
	return name + "  Link encap:Ethernet\n"
}

var linkOfBSD = regexp.MustCompile(`(?m)^\s*(?:media: |status: |(?:nd6 )?options=|laggproto |laggport: |lladdr )`)

// withoutAddresses leaves of ip address what ip link prints.
func withoutAddresses(p passage) (kept scattered) {
	for i, line := range p.lines {
		w := strings.Fields(line)
		if len(w) > 0 && (w[0] == "inet" || w[0] == "inet6" || w[0] == "valid_lft") {
			continue
		}
		kept.lines, kept.at = append(kept.lines, line), append(kept.at, p.first+i)
	}
	return kept
}

// cpuHead makes the heading of /proc/interrupts for lines that came without.
func cpuHead(body string) string {
	cpus := 0
	for _, line := range strings.Split(body, "\n") {
		_, rest, _ := strings.Cut(line, ":")
		n := 0
		for _, w := range strings.Fields(rest) {
			if strings.Trim(w, "0123456789") != "" {
				break
			}
			n++
		}
		cpus = max(cpus, n)
	}
	var b strings.Builder
	for id := range min(cpus, 8192) {
		fmt.Fprintf(&b, " CPU%d", id)
	}
	return b.String() + "\n"
}

// takeFiles keeps what cat prints of several files of a line each.
func (o outputs) takeFiles(words []string, part section) bool {
	names, lines := words[1:], slices.DeleteFunc(slices.Clone(part.lines), func(s string) bool { return strings.TrimSpace(s) == "" })
	if words[0] != "cat" || len(names) < 2 || len(names) != len(lines) ||
		slices.ContainsFunc(names, func(n string) bool { return !strings.HasPrefix(n, "/proc/sys/") && !strings.HasPrefix(n, "/sys/") }) {
		return false
	}
	for i, name := range names {
		o.takeFile(name, part.command, passage{part.lines[i : i+1], part.first + i})
	}
	return true
}

// takeFile keeps what was read of a file.
func (o outputs) takeFile(name, command string, p passage) {
	for len(p.lines) > 1 && strings.TrimSpace(p.lines[0]) == "" {
		p = p.from(1)
	}
	lines, one := p.lines, p.at()[:1]
	if strings.HasPrefix(name, "/proc/sys/") && isProse(lines[0]) { // advice, with what comes after it
		o.takeLoose(p)
		return
	}
	if strings.HasPrefix(name, "/proc/sys/") || strings.HasPrefix(name, "/sys/") && !strings.Contains(name, "/tracing/") &&
		!strings.HasPrefix(name, "/sys/fs/cgroup/") {
		o.takeLoose(p.from(1)) // they are of one line
	}
	switch {
	case strings.Contains(name, "/tracing/") || strings.HasPrefix(name, "/sys/fs/cgroup/"):
		o.takeLoose(p)
	case strings.HasPrefix(name, "/proc/sys/"):
		key := strings.ReplaceAll(strings.TrimPrefix(name, "/proc/sys/"), "/", ".")
		o.add("sysctl -a", command, key+" = "+strings.TrimSpace(lines[0]), one)
	case strings.HasPrefix(name, "/proc/irq/") && strings.HasSuffix(name, "/smp_affinity_list"):
		o.add("/proc/irq", command, strings.TrimPrefix(name, "/proc/irq/")+":"+strings.TrimSpace(lines[0]), one)
	case strings.HasPrefix(name, "/sys/class/net/"):
		o.add("/sys/class/net", command, strings.TrimPrefix(name, "/sys/class/net/")+":"+strings.TrimSpace(lines[0]), one)
	case strings.HasPrefix(name, "/sys/"):
		o.add("/sys", command, name+":"+strings.TrimSpace(lines[0]), one)
	case strings.HasPrefix(name, "/var/log/") || strings.HasPrefix(name, "/var/run/dmesg"):
		o.add("dmesg", command, strings.Join(lines, "\n"), p.at())
	default:
		if known := typedOutput("cat " + name); known != "" {
			body, at := withHead(known, command, p)
			o.add(known, command, body, at)
			return
		}
		o.takeLoose(p)
	}
}

// takeCounted keeps a number of lines that wc counted: of sockets in one state, as netstat -an | grep CLOSE_WAIT | wc -l prints
// it, and of the connections that Linux tracks.
func (o outputs) takeCounted(part section) bool {
	if m := wordCount.FindStringSubmatch(part.lines[0]); m != nil && countsTracked.MatchString(part.line) {
		o.takeLoose(part.from(1))
		o.add("sysctl -a", part.command, "net.netfilter.nf_conntrack_count = "+m[1], part.at()[:1])
		return true
	}
	m := countsState.FindStringSubmatch(part.line)
	if m == nil || !plainNumber.MatchString(part.lines[0]) {
		return false
	}
	o.takeLoose(part.from(1))
	state := m[1]
	if whole := wholeState[state]; whole != "" {
		state = whole
	}
	o.add("netstat -an", part.command, strings.TrimSpace(part.lines[0])+" "+state, part.at()[:1])
	return true
}

var (
	countsState = regexp.MustCompile(`\b(?:netstat|ss|sockstat)\b[^|]*\|(?:.*\| *)? *grep +(?:-[a-uw-zA-Z]+ +)*["']?` +
		`(ESTABLISHED|ESTAB|CLOSE[_-]WAIT|TIME[_-]WAIT|FIN[_-]WAIT[_-]?[12]|LAST[_-]ACK|SYN[_-]SENT|SYN_RCVD|SYN[_-]RECV|` +
		`CLOSED|CLOSE|TIME|EST)\b`)
	wholeState = map[string]string{"CLOSE": "CLOSE_WAIT", "TIME": "TIME_WAIT", "EST": "ESTABLISHED"}
	// countsTracked counts all of them: a grep in between would leave a part.
	countsTracked = regexp.MustCompile(`(?:\bcat +/proc/net/(?:nf|ip)_conntrack *|\bconntrack -L(?: 2> ?/dev/null)? *)\| *wc -l *$|` +
		`\bwc -l +/proc/net/(?:nf|ip)_conntrack *$`)
	trackedFile = regexp.MustCompile(`^/proc/net/(?:nf|ip)_conntrack$`)
	wordCount   = regexp.MustCompile(`^\s*(\d{1,9})(?: +/proc/net/\w+)?\s*$`)
	plainNumber = regexp.MustCompile(`^\s*\d{1,9}\s*$`)
)

// takeTool keeps the outputs of tools that say it in words of their own.
func (o outputs) takeTool(words []string, part section) bool {
	first, one := strings.TrimSpace(part.lines[0]), part.at()[:1]
	switch words[0] {
	case "sysctl":
		if strings.Contains(first, "hostcache.list") || strings.HasSuffix(part.command, "hostcache.list") {
			o.add("sysctl net.inet.tcp.hostcache.list", part.command, strings.Join(part.lines, "\n"), part.at())
		} else if len(words) == 3 && words[1] == "-n" {
			o.add("sysctl -a", part.command, words[2]+" = "+first, one)
		} else {
			p := o.takeFollowing("sysctl -a", part.passage)
			o.add("sysctl -a", part.command, strings.Join(p.lines, "\n"), p.at())
		}
	case "uname":
		o.takeLoose(part.from(1))
		if relativeOf(first) == "" { // else the rest is read in the formats of FreeBSD
			o.add("uname -a", part.command, unameLine(first), one)
		}
	case "freebsd-version": // of the kernel first, where -k stands before -u
		o.add("uname -a", part.command, unameLine(first), one)
	case "conntrack":
		if slices.Contains(words, "-C") || slices.Contains(words, "--count") {
			o.add("sysctl -a", part.command, "net.netfilter.nf_conntrack_count = "+first, one)
			return true
		}
		return false
	case "curl", "nc", "ncat":
		return o.takeTimed(part)
	case "nproc":
		o.add("/proc/cpuinfo", part.command, cpuinfo(first), one)
	case "lscpu":
		o.add("lscpu", part.command, strings.Join(part.lines, "\n"), part.at())
	case "systemd-detect-virt":
		if first != "none" && plainWord.MatchString(first) {
			o.add("lscpu", part.command, "Hypervisor vendor: "+first, one)
		}
	case "numactl":
		for i, line := range part.lines {
			if w := strings.Fields(line); len(w) > 3 && w[0] == "node" && w[2] == "cpus:" {
				o.add("/sys", line, "/sys/devices/system/node/node"+w[1]+"/cpulist:"+strings.Join(w[3:], ","),
					[]int{part.first + i})
			}
		}
	default:
		return false
	}
	return true
}

// takeTimed keeps how long the shell says that a request took, and that nc connected: the rest is what was fetched.
func (o outputs) takeTimed(part section) bool {
	var lines []string
	var at []int
	timed := false
	for i, line := range part.lines {
		shown := facts.ClockLine.MatchString(strings.TrimSpace(line))
		if shown || facts.Connected.MatchString(line) {
			lines, at = append(lines, line), append(at, part.first+i)
		}
		timed = timed || shown
	}
	if timed && timesIt.MatchString(part.line) {
		o.add("curl", part.command, strings.Join(lines, "\n"), at)
		return true
	}
	return false
}

var timesIt = regexp.MustCompile(`(?:^|[^\w-])time (?:sudo )?(?:curl|nc|ncat) `)

// wholeIdentity is what uname -a prints, wherever it stands in a line.
var wholeIdentity = regexp.MustCompile(`\b(Linux|FreeBSD|OpenBSD) \S+ \d+\.\d.*$`)

// unameLine completes what uname printed with fewer flags.
func unameLine(s string) string {
	if m := wholeIdentity.FindString(s); m != "" {
		return m
	}
	words := strings.Fields(s)
	systems := []string{"Linux", "FreeBSD", "OpenBSD"}
	switch {
	case len(words) == 1 && strings.Contains(s, "-RELEASE") || strings.Contains(s, "-STABLE") && len(words) == 1:
		return "FreeBSD unknown " + s
	case len(words) == 1 && regexp.MustCompile(`^\d+\.\d+\.`).MatchString(s):
		return "Linux unknown " + s
	case len(words) == 2 && slices.Contains(systems, words[0]):
		return words[0] + " unknown " + words[1]
	case len(words) > 2 && slices.Contains(systems, words[0]) && regexp.MustCompile(`^\d+\.\d`).MatchString(words[1]):
		return words[0] + " unknown " + strings.Join(words[1:], " ") // uname -srm
	}
	return s
}

// cpuinfo lists as many processors, as /proc/cpuinfo does.
func cpuinfo(count string) string {
	n := 0
	fmt.Sscan(count, &n)
	var b strings.Builder
	for id := range min(max(n, 0), 8192) {
		fmt.Fprintf(&b, "processor\t: %d\nphysical id\t: 0\ncore id\t: %d\n\n", id, id)
	}
	return strings.TrimRight(b.String(), "\n")
}

// takeStatistics keeps counters of /sys/class/net: as grep prints several, or the number of one file alone. Numbers of
// several files that cat printed are not told apart.
func (o outputs) takeStatistics(part section) {
	words := strings.Fields(part.command)
	name := strings.TrimPrefix(words[len(words)-1], "/sys/class/net/")
	for i, line := range part.lines {
		line = strings.TrimPrefix(strings.TrimSpace(line), "/sys/class/net/")
		at := []int{part.first + i}
		switch {
		case strings.Contains(line, "/statistics/"):
			o.add("/sys/class/net", part.command, line, at)
		case line != "" && strings.Trim(line, "0123456789") == "" && len(words) == 2 && !strings.ContainsAny(name, "*?["):
			o.add("/sys/class/net", part.command, name+":"+line, at)
		case strings.Contains(line, ":"): // grep . in the folder: rx_dropped:12
			folder := name[:strings.Index(name+"/statistics/", "/statistics/")] + "/statistics/"
			o.add("/sys/class/net", part.command, folder+line, at)
		}
	}
}

// takeSeveral takes what several commands of one line printed, where their outputs consist of lines that stand for
// themselves: the readers of each find theirs.
func (o outputs) takeSeveral(part section) bool {
	const most = 8
	commands := map[string]string{}
	for i, c := range strings.SplitN(strings.ReplaceAll(part.line, "&&", ";"), ";", most) {
		if i == 0 {
			c = part.command // without its prompt
		}
		name := typedOutput(strings.TrimSpace(c))
		if !isOfCounters(name) && name != "pfctl -sm" {
			return false
		}
		commands[name] = c
	}
	if len(commands) < 2 {
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		o.add(name, commands[name], strings.Join(part.lines, "\n"), part.at())
	}
	return true
}
