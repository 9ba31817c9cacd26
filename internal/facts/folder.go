package facts

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// folderLimit bounds one file of a folder of outputs.
const folderLimit = 64 << 20

// LoadFolder reads outputs that were saved as files: an unpacked sosreport
// (sos_commands/networking/ethtool_-S_eth0, proc/net/snmp), or files named after
// their commands (netstat_-m.txt, "sysctl -a"). It returns the texts by the
// names that FromTexts takes; files that are nothing known are left out.
func LoadFolder(root fs.FS) (map[string]string, error) {
	texts := map[string]string{}
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && d.IsDir() && p != "." {
				return fs.SkipDir // not readable: the rest still counts
			}
			return err
		}
		name := outputName(p)
		if !d.Type().IsRegular() || texts[name] != "" {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > folderLimit || name == "" && info.Size() > transcriptLimit {
			return nil
		}
		data, err := fs.ReadFile(root, p)
		if err != nil {
			return nil // not readable: the rest still counts
		}
		if name == "" {
			splitTranscript(string(data), texts)
		} else {
			texts[name] = withoutPrompt(string(data))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return identified(texts)
}

// transcriptLimit bounds a file that is read only to see what it is.
const transcriptLimit = 4 << 20

// LoadTranscript reads a session as people paste it: prompts with commands,
// each followed by what it printed.
func LoadTranscript(s string) (map[string]string, error) {
	texts := map[string]string{}
	splitTranscript(s, texts)
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
	begin := func(output string, block bool) {
		if done[name] = true; name == "" {
			done[name] = false
		}
		if name, oneBlock = output, block; done[output] {
			name = "" // the first one counts
		}
	}
	for _, line := range strings.SplitAfter(s, "\n") {
		if m := promptLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			known := commandOutput(m[1])
			if known != "" || strings.HasPrefix(strings.TrimSpace(line), "$ ") || strings.Contains(line, "@") {
				begin(known, false)
				continue
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
			texts[name] += line
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
	"/proc/diskstats", "/proc/self/mountinfo", "/proc/spl/kstat/zfs/arcstats",
}

// commandNames are commands under their names and the other forms in which
// people save the same output.
var commandNames = []struct{ name, pattern string }{
	{"uname -a", `^uname( -a)?$`},
	{"sysctl -a", `^sysctl -a$`},
	{"ip -s -d link show", `^ip (-s -d|-d -s|-s|-d) link( show)?$`},
	{"ip -o address show", `^ip -o addr(ess)?( show)?$`},
	{"ip route show table main", `^ip route( show)?( table (main|all))?$`},
	{"ip neigh show", `^ip (-s )?neigh(bour)?( show)?( nud noarp)?$`},
	{"ss -tinm", `^ss -(tinm|tin|ti|tmpie|tnpie|peaonmi)$`},
	{"ss -ltn", `^ss -(ltn|lnt|tln|lntp|ltnp)$`},
	{"tc -s qdisc show", `^tc -s qdisc( show)?( dev \S+)?$`},
	{"lspci -vv", `^lspci (-vv|-vvv|-nnvv|-nvv|-nnvvv)$`},
	{"nstat -az", `^nstat( -\S+)*$`}, {"mpstat -P ALL 1 1", `^mpstat -P ALL( \d+)*$`}, {"top", `^top( .*)?$`},
	{"dmesg", `^dmesg( -T)?(\.boot)?$`},
	{"netstat -s", `^netstat -s(n|sn)?$`},
	{"netstat -m", `^netstat -m(n)?$`},
	{"netstat -Q", `^netstat -Q$`},
	{"netstat -Lan", `^netstat -Lan?$`},
	{"netstat -xn -p tcp", `^netstat -x(n|an)?( -p tcp| -ptcp)?( head)?$`},
	{"netstat -idnW", `^netstat -(idnW|idn|ibdnW|ibdn|ibn|in|i|ib|ndi|nid)$`},
	{"netstat -rnW", `^netstat -rnW?$`},
	{"ifconfig -a", `^ifconfig( -a| -v| -av| -vma| -A)?$`},
	{"ifconfig hwfeatures", `^ifconfig hwfeatures$`},
	{"vmstat -z", `^vmstat -z$`}, {"vmstat -ia", `^vmstat -(ia|i|ai)$`},
	{"pciconf -lvc", `^pciconf -l(v|c|vc|cv|vbc)$`}, {"pcidump -v", `^pcidump -v+$`},
	{"kldstat", `^kldstat( -v)?$`}, {"pfctl -si", `^pfctl -s ?i(nfo)?$`}, {"pfctl -sm", `^pfctl -s ?m(emory)?$`},
	{"sysctl net.inet.tcp.hostcache.list", `^sysctl (-n )?net\.inet\.tcp\.hostcache\.list$`},
	{"lsblk -o NAME,SIZE,ROTA,TYPE,SCHED,MOUNTPOINT", `^lsblk( -[abto]| [A-Z,:-]+)*$`},
	{"iostat -Ix", `^iostat -(\S*I\S*x|\S*x\S*I)\S*( \S+)*$`}, {"iostat -x", `^iostat( -\S+)* -\S*x\S*( \S+)*$`},
	{"iostat -DI", `^iostat -(DI|ID)( \S+)*$`}, {"iostat -D", `^iostat -D( \S+)*$`}, {"iostat", `^iostat( [\w.-]+)*$`},
	{"gstat -b", `^gstat( -\S+)*( \S+)*$`}, {"geom disk list", `^geom disk list( \S+)?$`}, {"camcontrol devlist", `^camcontrol devlist( -v)?$`},
	{"zpool list -p", `^zpool list( -\S+)*( \S+)?$`}, {"zpool status", `^zpool status( -\S+)*( \S+)?$`}, {"zfs get all", `^zfs get( \S+)+$`},
	{"kenv", `^kenv$`}, {"systat -ab -d 2 cpu 1", `^systat( -\S+)*( \d+)? cpu( \d+)?$`}, {"systat -ab mbufs", `^systat( -\S+)*( \d+)? mbufs( \d+)?$`},
	{"getconf PAGESIZE", `^getconf PAGE_?SIZE$`},
}

var ethtoolName = regexp.MustCompile(`^ethtool( -[iklgcaS]| --show-eee)? ([A-Za-z0-9._@-]+)$`)

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

// namedOutput finds what a command's words print.
func namedOutput(words string) string {
	if m := ethtoolName.FindStringSubmatch(words); m != nil {
		return words
	}
	for _, c := range commandNames {
		if ok, _ := regexp.MatchString(c.pattern, words); ok {
			return c.name
		}
	}
	return ""
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
	all := strings.Join([]string{texts["netstat -s"], texts["netstat -m"], texts["ifconfig -a"], texts["dmesg"]}, "\n")
	switch {
	case settings["kernel.osrelease"].Value != "":
		return "Linux unknown " + release("kernel.osrelease")
	case settings["kern.ostype"].Value != "":
		return settings["kern.ostype"].Value + " unknown " + release("kern.osrelease")
	case strings.Contains(all, "mbuf clusters in use (current/cache/total/max)") || strings.Contains(all, " metric 0 mtu ") || strings.Contains(all, "syncache entries added") ||
		settings["kern.ipc.maxsockbuf"].Value != "" || texts["netstat -Q"] != "" || texts["pciconf -lvc"] != "":
		return "FreeBSD unknown " + release("kern.osrelease")
	case strings.Contains(all, "mbuf 2048 byte clusters in use") || strings.Contains(all, "OpenBSD") || texts["pcidump -v"] != "":
		return "OpenBSD unknown " + release("kern.osrelease")
	}
	for name := range texts {
		if strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "ethtool ") || strings.HasPrefix(name, "ip ") || strings.HasPrefix(name, "ss ") || strings.HasPrefix(name, "tc ") {
			return "Linux unknown " + release("kernel.osrelease")
		}
	}
	if settings["net.ipv4.tcp_rmem"].Value != "" {
		return "Linux unknown unknown"
	}
	return ""
}
