package facts

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// folderLimit bounds what is read of all files of a folder, in bytes.
const folderLimit = 128 << 20

// LoadFolder reads outputs that were saved as files: an unpacked sosreport
// (sos_commands/networking/ethtool_-S_eth0, proc/net/snmp), or files named after
// their commands (netstat_-m.txt, "sysctl -a"). It returns the texts by the
// names that FromTexts takes; files that are nothing known are left out. A file
// under another name is read as a session, but in a sosreport, where the names are
// known and logs hold anything.
func LoadFolder(root fs.FS) (map[string]string, error) {
	reports, _ := fs.Glob(root, "*/sos_commands") // the pattern is good
	_, err := fs.Stat(root, "sos_commands")
	isReport := err == nil || len(reports) > 0
	texts := map[string]string{}
	left := int64(folderLimit)
	var sessions []string // what a file of its own says counts before what is in them
	err = fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && d.IsDir() && p != "." {
				return fs.SkipDir // not readable: the rest still counts
			}
			return err
		}
		name := outputName(p)
		if !d.Type().IsRegular() || texts[name] != "" || name == "" && isReport || left <= 0 {
			return nil
		}
		if info, err := d.Info(); err != nil || name == "" && info.Size() > transcriptLimit {
			return nil
		}
		data, err := readStart(root, p)
		if err != nil {
			return nil // not readable: the rest still counts
		}
		left -= int64(len(data))
		if name == "" {
			sessions = append(sessions, string(data))
		} else {
			texts[name] = withoutPrompt(string(data))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, s := range sessions {
		splitTranscript(s, texts)
	}
	return identified(texts)
}

// readStart reads as much of a file as is used of one source; one byte more
// tells that it is longer.
func readStart(root fs.FS, p string) ([]byte, error) {
	file, err := root.Open(p)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, textLimit+1))
	return plainText(data), err
}

// transcriptLimit bounds a file that is read only to see what it is.
const transcriptLimit = 4 << 20

// LoadTranscript reads a session as people paste it: prompts with commands,
// each followed by what it printed; of a long one the first 16 MiB.
func LoadTranscript(s string) (map[string]string, error) {
	texts := map[string]string{}
	splitTranscript(string(plainText([]byte(s[:min(len(s), textLimit)]))), texts)
	return identified(texts)
}

// ErrNoOutputs is returned for files in which no output is known.
var ErrNoOutputs = errors.New("no output in it is known; a capture, a sosreport, files named like netstat_-m.txt, or a session with its prompts is expected")

// identified completes the texts with what follows from them.
func identified(texts map[string]string) (map[string]string, error) {
	if len(texts) == 0 {
		return nil, ErrNoOutputs
	}
	if all := texts["ss -tinm"]; texts["ss -ltn"] == "" && strings.Contains(all, "LISTEN ") {
		texts["ss -ltn"] = all // of all states
	}
	if texts["uname -a"] == "" {
		if guess := guessIdentity(texts); guess != "" {
			texts["uname -a"] = guess
		}
	}
	return texts, nil
}

var promptLine = regexp.MustCompile(`^\s*(?:[\w@.:~/\[\] -]*)?[#$%>]+\s*(\S.*)$`)

// signatures recognise outputs that were pasted without their command by the
// line that they begin with. An empty line ends them.
var signatures = []struct {
	begin *regexp.Regexp
	name  string
}{
	{regexp.MustCompile(`^\d+(/\d+)+ mbufs in use|^\d+ mbufs in use:`), "netstat -m"},
	{regexp.MustCompile(`^\s*NIC statistics:`), "ethtool -S " + unnamedLink},
	{regexp.MustCompile(`^\s*Ring parameters for (\S+):`), "ethtool -g "},
	{regexp.MustCompile(`^\s*Channel parameters for (\S+):`), "ethtool -l "},
	{regexp.MustCompile(`^\s*Pause parameters for (\S+):`), "ethtool -a "},
	{regexp.MustCompile(`^\s*Features for (\S+):`), "ethtool -k "},
	{regexp.MustCompile(`^\s*Settings for (\S+):`), "ethtool "},
	{regexp.MustCompile(`^Current listen queue sizes`), "netstat -Lan"},
	{regexp.MustCompile(`^Name\s+Mtu\s+Network`), "netstat -idnW"},
	{regexp.MustCompile(`^interrupt\s+total\s+rate`), "vmstat -ia"},
	{regexp.MustCompile(`^ITEM\s+SIZE\s+LIMIT`), "vmstat -z"},
	{regexp.MustCompile(`^Workstreams:`), "netstat -Q"},
	{regexp.MustCompile(`^\s+CPU0\s+CPU1`), "/proc/interrupts"},
	{regexp.MustCompile(`^qdisc \S+ \S+: `), "tc -s qdisc show"},
	{regexp.MustCompile(`^\d+: \S+: <[A-Z_,-]+> mtu `), "ip -s -d link show"},
	{regexp.MustCompile(`^\S+: flags=\S+<|^\S+\s+Link encap:`), "ifconfig -a"},
	{regexp.MustCompile(`^(tcp|udp|ip):$|^(Ip|Tcp|TcpExt|Udp):$`), "netstat -s"},
	{regexp.MustCompile(`^(TcpExt|IpExt): [A-Z]`), "/proc/net/netstat"},
	{regexp.MustCompile(`^State +Recv-Q +Send-Q `), "ss -tinm"},
}

// splitTranscript takes the outputs of known commands out of a session. What a
// grep let through is taken as well: its lines say the same.
func splitTranscript(s string, texts map[string]string) {
	name, oneBlock := "", false
	done := map[string]bool{}
	for name := range texts {
		done[name] = true // of a file of its own
	}
	bodies := map[string]*strings.Builder{}
	begin := func(output string, block bool) {
		if done[name] = true; name == "" || name == "sysctl -a" { // asked for one by one
			done[name] = false
		}
		if name, oneBlock = output, block; done[output] {
			name = "" // the first one counts
		}
		if bodies[name] == nil {
			bodies[name] = &strings.Builder{}
		}
	}
	for _, line := range strings.SplitAfter(s, "\n") {
		if strings.ContainsAny(line, "#$%>") {
			if m := promptLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
				known := commandOutput(m[1])
				if known != "" || strings.HasPrefix(strings.TrimSpace(line), "$ ") || strings.Contains(line, "@") {
					begin(known, false)
					continue
				}
			}
		}
		if strings.TrimSpace(line) == "" && oneBlock {
			begin("", false)
		}
		if name == "" {
			if output := signed(line); output != "" {
				begin(output, true)
			}
		}
		if name != "" {
			bodies[name].WriteString(line)
		}
	}
	for name, body := range bodies {
		if name != "" && body.Len() > 0 && texts[name] == "" {
			texts[name] = body.String()
		}
	}
}

// signed finds the output that a line begins.
func signed(line string) string {
	for _, sig := range signatures {
		if m := sig.begin.FindStringSubmatch(line); m != nil {
			if strings.HasSuffix(sig.name, " ") {
				return sig.name + m[1]
			}
			return sig.name
		}
	}
	return ""
}

// commandOutput finds what a command as typed prints; empty when it is nothing
// known.
func commandOutput(command string) string {
	command, _, _ = strings.Cut(command, "|")
	words := strings.Fields(command)
	for len(words) > 0 && (words[0] == "sudo" || words[0] == "doas" || strings.Contains(words[0], "=")) {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	if words[0] == "cat" && len(words) == 2 && strings.HasPrefix(words[1], "/") {
		return outputName(words[1][1:])
	}
	words[0] = path.Base(words[0])
	return namedOutput(strings.Join(words, " "))
}

// fileNames are the outputs that are files of the host.
var fileNames = []string{
	"/proc/meminfo", "/proc/cpuinfo", "/etc/os-release", "/proc/uptime", "/proc/modules", "/proc/net/sockstat", "/proc/net/stat/arp_cache", "/proc/net/stat/nf_conntrack",
	"/proc/stat", "/proc/net/netstat", "/proc/net/snmp", "/proc/net/snmp6", "/proc/net/softnet_stat", "/proc/interrupts", "/proc/softirqs",
	"/proc/net/dev", "/proc/diskstats", "/proc/self/mountinfo", "/proc/spl/kstat/zfs/arcstats",
}

// outputName finds what a file in a folder of outputs is; empty when it is
// nothing known.
func outputName(p string) string {
	for _, name := range fileNames {
		if p == name[1:] || strings.HasSuffix(p, name) {
			return name
		}
	}
	words := strings.TrimSuffix(strings.TrimSuffix(path.Base(p), ".txt"), ".out")
	return namedOutput(strings.Join(strings.Fields(strings.ReplaceAll(words, "_", " ")), " "))
}

// withoutPrompt takes off a first line that shows the command as typed.
func withoutPrompt(s string) string {
	first, rest, ok := strings.Cut(s, "\n")
	if ok && (strings.HasPrefix(first, "$ ") || strings.HasPrefix(first, "# ") || strings.HasPrefix(first, "% ")) {
		return "\n" + rest // line numbers stay those of the file
	}
	return s
}

// guessIdentity makes a line of uname for outputs that came without one, from
// what only one system prints.
func guessIdentity(texts map[string]string) string {
	settings := parseSysctl(text{"sysctl -a", []byte(texts["sysctl -a"])})
	release := func(name string) string {
		if v := settings[name].Value; v != "" {
			return v
		}
		return "unknown"
	}
	all := strings.Join([]string{texts["netstat -s"], texts["netstat -m"], texts["ifconfig -a"], texts["dmesg"], texts["vmstat -ia"], texts["netstat -idnW"], texts["netstat -rnW"]}, "\n")
	holds := func(marks ...string) bool {
		return slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(all, mark) || texts[mark] != "" })
	}
	switch {
	case settings["kernel.osrelease"].Value != "":
		return "Linux unknown " + release("kernel.osrelease")
	case settings["kern.ostype"].Value != "":
		return settings["kern.ostype"].Value + " unknown " + release("kern.osrelease")
	case settings["kern.ipc.maxsockbuf"].Value != "" || holds("mbuf clusters in use (current/cache/total/max)", " metric 0 mtu ", "syncache entries added",
		"netstat -Q", "netstat -Lan", "netstat -xn -p tcp", "pciconf -lvc", "vmstat -z", "kldstat", "gstat -b", "geom disk list", "kenv", "iostat -Ix",
		"sysctl net.inet.tcp.hostcache.list", "FreeBSD", "cpu0:timer", " Ierrs Idrop ", " Netif Expire"):
		return "FreeBSD unknown " + release("kern.osrelease")
	case holds("mbuf 2048 byte clusters in use", "OpenBSD", "pcidump -v", "ifconfig hwfeatures", "systat -ab mbufs", "systat -ab -d 2 cpu 1", "iostat -DI", "irq0/clock",
		"SYN cache entries added", "\tlladdr ", "<Link>  ", " Prio Iface"):
		return "OpenBSD unknown " + release("kern.osrelease")
	}
	for name := range texts {
		if strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "ethtool ") || strings.HasPrefix(name, "ip ") || strings.HasPrefix(name, "ss ") || strings.HasPrefix(name, "tc ") || strings.HasPrefix(name, "nstat ") ||
			strings.HasPrefix(name, "lspci ") || strings.HasPrefix(name, "mpstat ") || strings.HasPrefix(name, "conntrack ") || strings.HasPrefix(name, "/sys/") {
			return "Linux unknown " + release("kernel.osrelease")
		}
	}
	linux := slices.ContainsFunc(slices.Collect(maps.Keys(settings)), func(name string) bool {
		return strings.HasPrefix(name, "net.ipv4.") || strings.HasPrefix(name, "net.core.") || strings.HasPrefix(name, "net.ipv6.conf.")
	})
	if linux || strings.Contains(texts["netstat -s"], "TcpExt:") || strings.Contains(texts["ifconfig -a"], "Link encap:") || strings.Contains(texts["ifconfig -a"], "txqueuelen") {
		return "Linux unknown unknown"
	}
	return ""
}
