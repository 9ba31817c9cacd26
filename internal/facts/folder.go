package facts

import (
	"fmt"
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
		if !d.Type().IsRegular() || name == "" || texts[name] != "" {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > folderLimit {
			return nil
		}
		if data, err := fs.ReadFile(root, p); err == nil {
			texts[name] = withoutPrompt(string(data))
			if name == "ss -tinm" && texts["ss -ltn"] == "" && strings.Contains(texts[name], "LISTEN ") {
				texts["ss -ltn"] = texts[name] // of all states
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("no output in it is known; a capture, a sosreport, or files named like netstat_-m.txt are expected")
	}
	if texts["uname -a"] == "" {
		if guess := guessIdentity(texts); guess != "" {
			texts["uname -a"] = guess
		}
	}
	return texts, nil
}

// fileNames are the outputs that are files of the host.
var fileNames = []string{
	"/proc/meminfo", "/proc/cpuinfo", "/etc/os-release", "/proc/uptime", "/proc/modules", "/proc/net/sockstat", "/proc/net/stat/arp_cache", "/proc/net/stat/nf_conntrack",
	"/proc/stat", "/proc/net/netstat", "/proc/net/snmp", "/proc/net/snmp6", "/proc/net/softnet_stat", "/proc/interrupts", "/proc/softirqs",
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
	{"nstat -az", `^nstat( -\S+)*$`}, {"mpstat -P ALL 1 1", `^mpstat -P ALL( \d+)*$`}, {"top -Pb -d 2 -s 1 0", `^top -\S*P\S*( .*)?$`},
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
	words = strings.Join(strings.Fields(strings.ReplaceAll(words, "_", " ")), " ")
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
