package conffile

import (
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Confidence says how a guess was come by.
type Confidence int

// The degrees of confidence, weakest first.
const (
	NoIdea  Confidence = iota
	Guessed            // from the content alone, or from a hint
	Likely             // from the file's name
	Certain            // from its place on the system, with content that agrees
)

func (c Confidence) String() string {
	return [...]string{"no idea", "guessed", "likely", "certain"}[c]
}

// Guess is what Detect makes of a file.
type Guess struct {
	Kind       Kind
	System     System // "" when the content fits more than one
	BSD        bool   // with an empty System: one of the BSDs
	Confidence Confidence
}

// editedBelow is an editor that opens a file whose lines stand below, which no shell could run.
var editedBelow = regexp.MustCompile(`(?m)^` + asRoot + editors + `[ \t]+/\S*(?:sysctl|loader)\.conf(?:\.local)?[ \t]*\n` +
	`(?:[ \t]*(?:#.*)?\n)*[a-z][a-z0-9_]*\.[a-z0-9_.]+[ \t]*=`)

// DetectSize is how much of a file's content Detect looks at, in bytes.
const DetectSize = 256 << 10

// Detect tells the format and the system of a file from its path and content.
// The content decides about the system: a Linux sysctl.conf in a folder called
// freebsd is a Linux file.
func Detect(file string, data []byte) Guess {
	text := string(data[:min(len(data), DetectSize)])
	text = strings.TrimPrefix(text, bom)
	g := fromPath(file, text)
	if g.Kind == "" {
		g = fromPath(installPath(text), text)
	}
	if g.Kind == Script && strings.HasSuffix(file, ".sh") && marked.MatchString(text) &&
		(!strings.HasPrefix(text, "#!") || editedBelow.MatchString(text)) && GuideSystem(file, text) != "" {
		g.Kind = "" // notes, in which an editor opens the file whose lines come next
	}
	if g.Kind == "" && !slices.Contains(languages, path.Ext(strings.ToLower(file))) {
		if !isGuide(text) || GuideSystem(file, text) == "" {
			g.Kind = kindOfContent(text)
		}
		g.Confidence = Guessed
	}
	if g.Kind == "" {
		return Guess{}
	}
	if fixed := SystemOf(g.Kind); fixed != "" && (g.Kind != YAML || g.System == "") {
		g.System = fixed
	} else {
		votes := countVotes(g.Kind, text)
		system, bsd := votes.winner()
		switch {
		case g.Kind == PF && translates.MatchString(text) && !translatesTo.MatchString(text):
			g.System = FreeBSD // whose newer releases have the words of OpenBSD too
		case system != Linux && headed(g.Kind, text, votes) != "":
			g.System = headed(g.Kind, text, votes)
		case g.Kind == RC && strings.HasSuffix(file, "rc.conf.local") && flagsOnly(text):
			g.System = OpenBSD
		case system != "":
			g.System = system
		case g.System == Linux && bsd:
			g.System = ""
		}
		if g.System == "" && (g.Kind == PF || g.Kind == Script && bsd) {
			g.System = onlyNamed(text)
		}
		if g.System == "" {
			g.System = hintSystem(file, bsd)
			g.BSD = bsd && g.System == ""
		}
	}
	return g
}

// languages are the suffixes of files whose lines are no configuration of the system
// by themselves, whatever they look like.
var languages = []string{".nix", ".pp", ".rb", ".tf", ".hcl", ".erb", ".json", ".md", ".markdown", ".rst", ".adoc",
	".yaml", ".yml", ".toml", ".xml", ".html", ".py", ".pl", ".csv"}

// installPath is where a file that plan wrote says that it belongs, "" when it
// does not.
func installPath(text string) string {
	_, rest, ok := strings.Cut(text[:min(len(text), 500)], "\n# Install as ")
	if !ok {
		return ""
	}
	file, _, _ := strings.Cut(rest, "\n")
	file, _, _ = strings.Cut(file, " ")
	return strings.TrimRight(file, ";")
}

// SystemOf returns the system of a format that only one has, "" for others.
func SystemOf(k Kind) System {
	switch k {
	case Loader, Jail, KernelConf:
		return FreeBSD
	case HostnameIf, MyGate, Relayd:
		return OpenBSD
	case LinkFile, NetworkFile, Interfaces, Modprobe, ModulesLoad, Cmdline, Tuned, NFTables, Limits, Netplan, Ifcfg, YAML,
		Service, Keyfile, Udev, UCI, IPTables, VyOS, WGQuick, Other:
		return Linux
	}
	return ""
}

// limitLine is a line of limits.d, which other programs have directories of that name for too.
var limitLine = regexp.MustCompile(`(?m)^[ \t]*(?:[^# \t\n]+[ \t]+(?:soft|hard|-)|\*(?:soft|hard))[ \t]+(?:core|data|fsize|memlock|nofile|rss|` +
	`stack|cpu|nproc|as|max(?:sys)?logins|priority|locks|sigpending|msgqueue|nice|rtprio)[ \t]+` +
	`(-?[0-9]+|unlimited|infinity)[ \t]*$`)

// fromPath goes by the file's name and directory.
func fromPath(file, text string) Guess {
	dir, base := path.Split(strings.ReplaceAll(file, `\`, "/"))
	dir = "/" + dir
	lower := strings.ToLower(base)
	switch {
	case base == "tuned.conf":
		return Guess{Kind: Tuned, Confidence: Certain}
	case strings.HasSuffix(dir, "/etc/") && lower == "sysctl.conf":
		return Guess{Kind: Sysctl, Confidence: Certain}
	case strings.HasSuffix(dir, "/sysctl.d/") && strings.HasSuffix(base, ".conf"):
		return Guess{Kind: Sysctl, System: Linux, Confidence: Certain}
	case strings.HasSuffix(dir, "/sysctl.kld.d/"):
		return Guess{Kind: Sysctl, System: FreeBSD, Confidence: Certain}
	case strings.HasSuffix(dir, "/modprobe.d/") && strings.HasSuffix(base, ".conf"):
		return Guess{Kind: Modprobe, Confidence: Certain}
	case strings.HasSuffix(dir, "/security/limits.d/") && strings.HasSuffix(base, ".conf"),
		strings.HasSuffix(dir, "/limits.d/") && limitLine.MatchString(text),
		strings.HasSuffix(dir, "/security/") && base == "limits.conf":
		return Guess{Kind: Limits, Confidence: Certain}
	case strings.HasSuffix(lower, "limits.conf") && !strings.Contains(dir, "/systemd/"):
		return Guess{Kind: Limits, Confidence: Likely}
	case strings.HasSuffix(dir, "/modules-load.d/") || strings.HasSuffix(dir, "/etc/") && base == "modules":
		return Guess{Kind: ModulesLoad, Confidence: Certain}
	case strings.HasSuffix(dir, "/loader.conf.d/") && strings.HasSuffix(base, ".conf"):
		return Guess{Kind: Loader, Confidence: Certain}
	case strings.HasSuffix(dir, "/jail.conf.d/") && strings.HasSuffix(base, ".conf"):
		return Guess{Kind: Jail, Confidence: Certain}
	case strings.HasSuffix(dir, "/rc.conf.d/"):
		return Guess{Kind: RC, System: FreeBSD, Confidence: Certain}
	case strings.HasSuffix(dir, "/network/interfaces.d/") ||
		strings.HasSuffix(dir, "/network/") && base == "interfaces":
		return Guess{Kind: Interfaces, Confidence: Certain}
	case strings.HasSuffix(dir, "/system-connections/") && strings.Contains(text, "["):
		return Guess{Kind: Keyfile, Confidence: Certain}
	case strings.HasSuffix(dir, "/rules.d/") && strings.HasSuffix(base, ".rules"):
		return Guess{Kind: Udev, Confidence: Certain}
	case strings.HasSuffix(dir, "/etc/config/") && slices.Contains(uciPackages, base):
		return Guess{Kind: UCI, Confidence: Certain}
	case strings.HasSuffix(dir, "/netplan/") && strings.HasSuffix(base, ".yaml"):
		return Guess{Kind: Netplan, Confidence: Certain}
	case strings.HasPrefix(base, "ifcfg-") && !strings.Contains(base, ".bak"):
		return Guess{Kind: Ifcfg, Confidence: Likely}
	case strings.HasSuffix(dir, "/etc/default/") && strings.HasPrefix(base, "grub"):
		return Guess{Kind: Cmdline, Confidence: Certain}
	case strings.HasSuffix(dir, ".service.d/") && strings.HasSuffix(base, ".conf"),
		strings.HasSuffix(dir, "/systemd/system.conf.d/") && strings.HasSuffix(base, ".conf"),
		strings.HasSuffix(dir, "/systemd/") && (base == "system.conf" || base == "user.conf"):
		return Guess{Kind: Service, Confidence: Certain}
	case strings.HasSuffix(dir, "/proc/") && base == "cmdline" ||
		strings.HasSuffix(dir, "/etc/kernel/") && base == "cmdline":
		return Guess{Kind: Cmdline, Confidence: Certain}
	}
	return fromName(lower, text)
}

// fromName goes by the last component of a path, which may carry a prefix or a
// suffix (host-sysctl.conf, loader.conf.sample).
func fromName(name, text string) Guess {
	likely := func(k Kind, s System) Guess { return Guess{Kind: k, System: s, Confidence: Likely} }
	switch {
	case strings.HasSuffix(name, "tuned.conf"):
		return likely(Tuned, Linux)
	case strings.Contains(name, "nftables") && (strings.HasSuffix(name, ".conf") || strings.HasSuffix(name, ".nft")),
		strings.HasSuffix(name, ".nft"):
		return likely(NFTables, Linux)
	case strings.Contains(name, "sysctl.conf"):
		return likely(Sysctl, "")
	case strings.Contains(name, "loader.conf") || strings.Contains(name, "device.hints"):
		return likely(Loader, FreeBSD)
	case strings.Contains(name, "rc.conf"):
		return likely(RC, "")
	case strings.HasSuffix(name, "jail.conf"):
		return likely(Jail, FreeBSD)
	case isHostnameIf(name):
		return likely(HostnameIf, OpenBSD)
	case name == "mygate":
		return likely(MyGate, OpenBSD)
	case strings.HasSuffix(name, "login.conf"):
		return likely(LoginConf, "")
	case strings.HasSuffix(name, "relayd.conf"):
		return likely(Relayd, OpenBSD)
	case strings.Contains(name, "pf.conf"):
		return likely(PF, "")
	case strings.Contains(name, "modules-load") && strings.HasSuffix(name, ".conf"):
		return likely(ModulesLoad, Linux)
	case strings.HasPrefix(name, "start_if.") || strings.Contains(name, "ipfw") && (text == "[" || ipfwLine.MatchString(text)) ||
		name == "rc.firewall" || strings.HasPrefix(name, "stop_if."):
		return likely(Script, FreeBSD)
	case strings.HasSuffix(name, ".link") && strings.Contains(text, "["):
		return likely(LinkFile, Linux)
	case (strings.HasSuffix(name, ".network") || strings.HasSuffix(name, ".netdev")) && strings.Contains(text, "["):
		return likely(NetworkFile, Linux)
	case strings.HasSuffix(name, ".nmconnection"):
		return likely(Keyfile, Linux)
	case strings.HasSuffix(name, ".rules") && udevRule.MatchString(text):
		return likely(Udev, Linux)
	case name == "interfaces" || strings.HasSuffix(name, "-interfaces"):
		return likely(Interfaces, Linux)
	case strings.Contains(name, "modprobe") && strings.HasSuffix(name, ".conf"):
		return likely(Modprobe, Linux)
	case (strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml")) && isNetplan.MatchString(text) &&
		strings.Contains(text, "version:"):
		return likely(Netplan, Linux)
	case (strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".sls") || strings.HasSuffix(name, ".tpl") ||
		strings.HasSuffix(name, ".j2") ||
		strings.HasPrefix(text, "#cloud-config")) && yamlSystem(text) != "":
		return likely(YAML, yamlSystem(text))
	case strings.HasSuffix(name, ".service") && (text == "[" || unitSets.MatchString(text)):
		return likely(Service, Linux)
	case strings.HasSuffix(name, "cmdline") && !strings.Contains(name, "."):
		return likely(Cmdline, Linux)
	case strings.HasSuffix(name, ".sh") && onlySysctls(text):
		return likely(Sysctl, "")
	case strings.HasSuffix(name, ".sh") || strings.Contains(name, "rc.local"):
		return likely(Script, "")
	}
	return Guess{}
}

// isHostnameIf reports whether a name ends in hostname. and an interface: letters
// and a number.
func isHostnameIf(name string) bool {
	i := strings.LastIndex(name, "hostname.")
	if i < 0 {
		return false
	}
	dev := name[i+len("hostname."):]
	driver := strings.TrimRight(dev, "0123456789")
	return driver != "" && driver != dev && strings.Trim(driver, "abcdefghijklmnopqrstuvwxyz") == ""
}

// shells are the interpreters whose scripts are read.
var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "ash": true, "ksh": true, "mksh": true,
	"zsh": true}

// kindOfContent goes by the lines alone: at least half of them must be of a
// kind, by names that only such files have.
func kindOfContent(text string) Kind {
	if CheckText("", text) != nil {
		return ""
	}
	if line, ok := strings.CutPrefix(text, "#!"); ok {
		line, _, _ = strings.Cut(line, "\n")
		return kindOfInterpreter(line)
	}
	if hasLine(text, "```") {
		return "" // files are shown in it
	}
	if kernelText(text) {
		return KernelConf
	}
	if strings.Contains(text, "[Match]") && strings.Contains(text, "[Network]") && !amongProse(text) {
		return NetworkFile
	}
	if strings.Contains(text, "[Match]") && strings.Contains(text, "[Link]") && !amongProse(text) {
		return LinkFile
	}
	if (hasLine(text, "[Service]") || hasLine(text, "[Manager]")) && unitSets.MatchString(text) {
		return Service
	}
	for _, of := range []struct {
		form *regexp.Regexp
		kind Kind
	}{{grubLine, Cmdline}, {uciText, UCI}, {iptablesText, IPTables}, {vyosBlock, VyOS}, {nftText, NFTables}, {wgText, WGQuick}} {
		if of.form.MatchString(text) && (!slices.Contains(ofParts, of.kind) || !isGuide(text)) {
			return of.kind
		}
	}
	if hasLine(text, "[sysctl]") || hasLine(text, "[main]") {
		return Tuned
	}
	counts, lines, prose, sections := map[Kind]int{}, 0, 0, 0
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		lines++
		if iniSection.MatchString(line) {
			sections++
		}
		if k := kindOfLine(line); k != "" {
			counts[k]++
		} else if isProse(line) {
			prose++
		}
	}
	for _, k := range []Kind{Sysctl, Loader, RC, Script, PF, Modprobe} {
		if counts[k] > 0 && 2*counts[k] >= lines {
			switch {
			case sections > 0 && (k == Sysctl || k == Loader):
				return "" // the file of a program, such as a stack in user space
			case (k == Sysctl || k == Loader || k == RC) && heredocFile.MatchString(text):
				return Script
			case prose > 1 && k == Sysctl && Holds("", text):
				return Other // a guide
			case k == PF && askedSentence.MatchString(text):
				return "" // a post, which is read as a guide
			}
			return k
		}
	}
	if writesBSD.MatchString(text) && !isGuide(text) {
		return Script
	}
	return ""
}

// kindOfInterpreter goes by the first line of a script, behind its #!.
func kindOfInterpreter(line string) Kind {
	words := strings.Fields(line)
	for i, w := range words {
		words[i] = w[strings.LastIndexByte(w, '/')+1:]
	}
	switch {
	case len(words) > 0 && (words[0] == "nft" || words[0] == "env" && slices.Contains(words, "nft")):
		return NFTables
	case len(words) > 0 && words[0] == "env" && strings.Contains(line, "sysctl"):
		return Sysctl
	case len(words) > 0 && shells[words[0]] || len(words) > 1 && words[0] == "env" && shells[words[1]]:
		return Script
	}
	return ""
}

// amongProse reports whether files of systemd-networkd are shown in a text: sentences stand beside their lines.
func amongProse(text string) bool {
	prose := 0
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); !unitLine("", line, false, false) && isProse(line) {
			prose++
		}
	}
	return prose > 1
}

// askedSentence is a line of somebody who asks: it begins with a capital letter, ends as sentences do, and has no sign of a
// rule.
var askedSentence = regexp.MustCompile(`(?m)^[ \t]*\p{Lu}[^\n={}<>$"#]* [^\n={}<>$"#]*[.:?!][ \t\r]*$`)

// onlySysctls reports whether every line of a text is one of sysctl.conf.
func onlySysctls(text string) bool {
	known := false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' && !strings.HasPrefix(line, "#!") {
			continue
		}
		name, _, assigned := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !assigned || strings.ContainsAny(name, " \t\"'$") || !strings.Contains(name, ".") {
			return false
		}
		known = known || kindOfLine(line) == Sysctl
	}
	return known
}

// ipfwLine is a rule of ipfw, in a script or in a file that ipfw reads.
var ipfwLine = regexp.MustCompile(`(?m)^[ \t]*(?:(?:/sbin/)?ipfw .*|\$\{?[A-Za-z_]+\}? |(?:ipfw )?)add[ \t]+[0-9]+[ \t]|^[ \t]*[A-Za-z_]+="?(?:/sbin/)?ipfw `)

// unitSets is a line of a systemd unit that sets a limit or runs a command which sets
// something.
var unitSets = regexp.MustCompile(`(?m)^[ \t]*(?:(?i:(?:Default)?Limit[A-Z]+)[ \t]*=|Exec[A-Za-z]+=.*(?:sysctl|` +
	`ethtool|/proc/sys|\btc qdisc|\bip (?:link|route)))`)

// grubLine is a line of /etc/default/grub.
var grubLine = regexp.MustCompile(`(?m)^GRUB_CMDLINE_LINUX(_DEFAULT|_RECOVERY)?=`)

// iptablesText is the head of a file of iptables-restore.
var iptablesText = regexp.MustCompile(`\A(?:#[^\n]*\n|[ \t\r]*\n)*\*(?:filter|nat|mangle|raw|security)[ \t\r]*\n(?:#[^\n]*\n|[ \t\r]*\n)*(?::[A-Za-z0-9_-]+ |-[AIN] |COMMIT)`)

// ofParts are kinds of which a part tells what all of a text is, unless it is a guide.
var ofParts = []Kind{VyOS, NFTables, WGQuick}

// nftText is a table of nftables with a chain that the kernel calls.
var nftText = regexp.MustCompile(`(?m)^[ \t]*table[ \t]+(?:(?:ip6?|inet|bridge|arp|netdev)[ \t]+)?[A-Za-z_][A-Za-z0-9_-]*[ \t]*\{(?s:[^}]*)\btype[ \t]+(?:filter|nat|route)[ \t]+hook\b`)

// isProse reports whether a line is a sentence, or most of one.
func isProse(line string) bool {
	words := len(strings.Fields(line))
	return !strings.Contains(line, "=") && (words > 4 || words > 2 && strings.IndexByte(".:!?", line[len(line)-1]) >= 0)
}

// iniSection is the head of a section, which neither sysctl.conf nor loader.conf has.
var iniSection = regexp.MustCompile(`^\[[A-Za-z][A-Za-z0-9_.-]*\]$`)

// hasLine tells whether one of the lines is this one.
func hasLine(text, line string) bool {
	for l := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(l) == line {
			return true
		}
	}
	return false
}

// bsdFile is a file of FreeBSD or OpenBSD that a command writes.
var bsdFile = regexp.MustCompile(`/(?:boot|etc)/` + bsdFiles)

const bsdFiles = `(?:loader\.conf|rc\.conf|pf\.conf|ipfw\.rules|hostname\.[a-z]+[0-9])`

// echoedSysctl is a line of sysctl.conf that a command of a shell adds to it.
var echoedSysctl = regexp.MustCompile(`^["']?(?:net|kern|hw|vm|vfs|security|dev|kernel|fs)\.[a-z0-9_.-]+ ?= ?[^ ]+ *>>? *"?/etc/sysctl\.conf`)

// ipfwByVariable is a rule of ipfw behind a variable for the command, and the variable.
var ipfwByVariable = regexp.MustCompile(`^\$\{?[A-Za-z_]+\}?[ \t]+(?:add[ \t]+[0-9]+|add|[0-9]+)[ \t]+(?:allow|pass|deny|drop|reset|count|` +
	`check-state|skipto|divert|nat|pipe|queue)\b|^[A-Za-z_]+="(?:/sbin/)?ipfw[ "]`)

// writesBSD is a command that writes a line, or the lines below it, into such a file.
var writesBSD = regexp.MustCompile(`(?m)^[ \t]*` + asRoot + `(?:echo|printf|cat|tee)\b[^\n]*(?:>>? ?|\btee (?:-a )?)"?/[^ \n]*` + bsdFiles)

// kindOfLine tells the kind of file that has a line like this one.
func kindOfLine(line string) Kind {
	key, value, assigned := strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	_, known := SystemOfKey(key)
	first, rest, _ := strings.Cut(line, " ")
	for first == "sudo" || first == "doas" {
		first, rest, _ = strings.Cut(strings.TrimSpace(rest), " ")
	}
	switch {
	case assigned && strings.ContainsAny(key, " \t\"'"):
	case assigned && (known || strings.HasPrefix(key, "hint.")) && strings.HasPrefix(value, `"`),
		assigned && strings.HasSuffix(key, "_load") && strings.HasPrefix(value, `"`):
		return Loader
	case assigned && known:
		return Sysctl
	case assigned && (strings.HasSuffix(key, "_enable") || strings.HasPrefix(key, "ifconfig_")):
		return RC
	}
	if first == "set" && vyosSet.MatchString(line) {
		return Script
	}
	if commandReaders[first[strings.LastIndexByte(first, '/')+1:]] != nil && rest != "" || ipfwByVariable.MatchString(line) {
		return Script
	}
	if (first == "echo" || first == "cat" || first == "printf") && strings.Contains(rest, ">") &&
		(bsdFile.MatchString(rest) || echoedSysctl.MatchString(rest)) {
		return Script
	}
	switch first {
	case "pfctl", "service", "rcctl":
		if rest != "" {
			return Script
		}
	case "options":
		if strings.Contains(rest, " ") { // a kernel's configuration names one word
			return Modprobe
		}
	case "blacklist", "softdep":
		return Modprobe
	case "set", "scrub", "pass", "block", "altq", "match", "nat", "rdr", "anchor", "table":
		if first != "set" || strings.HasPrefix(rest, "limit") || strings.HasPrefix(rest, "timeout") ||
			strings.HasPrefix(rest, "skip") {
			return PF
		}
	}
	return ""
}
