package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

// checker judges the files of one machine for one system.
type checker struct {
	catalog  *catalog.Catalog
	opt      Options
	system   catalog.System
	versions []catalog.Version // the releases that a problem must hold in
	known    bool              // the release is known
	names    []string          // every name of the system's catalog, sorted

	records  map[string]*catalog.Record // by entry name; nil when unknown
	verdicts map[question][]finding
	defaults map[defaultOf]computed

	file      *source
	line      conffile.Span                // the last line that a problem was found in, of file
	ignores   map[*source]map[int][]string // codes suppressed, by line
	set       map[string]*assignment
	expanding map[string]*assignment // lines of rc.conf with variables in their values
	effects   map[string]*assignment // the last effective value by setting name
	refused   map[string]*assignment // the last line that takes no effect
	pending   map[string]pending
	shapers   []*assignment   // rules of pf.conf that choose a queue
	slots     []*assignment   // lengths of the queues of dummynet
	limits    []*assignment   // lines of limits.conf
	balancer  *assignment     // the last command that starts or stops irqbalance
	classes   []*assignment   // classes of tc, and defaults of htb
	stanzas   []*stanza       // of ifupdown's interfaces
	lastRate  lastRate        // of tc
	bonds     []named[bonded] // by interface or line
	mtus      map[inBlock]*assignment
	plans     []planned     // of netplan
	netdevs   []*assignment // of systemd-networkd
	cpus      []*assignment // lists of processors on the kernel's command line
	link      forcedLink
	options   map[uciOption]*assignment // of OpenWrt's configuration
	offloads  *assignment               // the option by which hardware forwards flows
	kinds     map[conffile.Kind]bool    // kinds of file in the group

	plainPPPoE map[string]bool           // interfaces whose hostname.if leaves the MTU as it is
	sized      map[string]bool           // interfaces whose hostname.if says an MTU
	leased     map[string]bool           // interfaces whose hostname.if lets the network assign the address
	later      map[string]*assignment    // lines of files of OpenBSD that are judged beside others, by the names of their entries
	jumbo      bool                      // a line gives an interface more than 1500 bytes
	forwards   bool                      // rc.conf or sysctl.conf makes the host a router, or its system is one's
	dead       map[*source]conffile.Span // the last statement of pf.conf that the system refuses
	variables  map[string]bool           // variables of rc.conf that any line sets
	commented  map[*source]bool          // files of which a comment behind a value was told
	told       map[toldOf]bool           // what was told once of a file
	images     map[*source]bool          // recipes for images of containers
	sensors    map[*source]bool          // files about programs that look at packets as they are on the wire

	lasts    map[string][]string // names in the groups of FreeBSD, by their last parts
	sought   int                 // names that were looked for among the known ones
	problems []Problem
	dropped  int
}

// assignment is where a setting got a value.
type assignment struct {
	file   *source
	kind   conffile.Kind
	entry  conffile.Entry
	record *catalog.Record
}

// here is a setting of the open file.
func (k *checker) here(e conffile.Entry) *assignment {
	return &assignment{file: k.file, kind: k.kindOf(e), entry: e}
}

// pending is a setting whose needs and conflicts are judged when every file
// has been read.
type pending struct {
	*assignment
	valueNeeds string // the module that the value needs, "" for none
}

// question is what a verdict is about.
type question struct {
	name, value, iface string
	kind               conffile.Kind
	flags              conffile.Flags
}

// finding is a problem of a setting before it has a place.
type finding struct {
	id       string // equal for the same problem in several releases
	code     string
	severity Severity
	message  string
	because  string
	sources  []string
	fix      *Fix
	value    bool // the value is marked, not the key
}

// cacheLimit bounds the caches of a checker, in entries.
const cacheLimit = 50_000

func newChecker(c *catalog.Catalog, system catalog.System, opt Options) *checker {
	k := &checker{catalog: c, opt: opt, system: system, names: c.Names(system),
		records: map[string]*catalog.Record{}, verdicts: map[question][]finding{}, defaults: map[defaultOf]computed{},
		set: map[string]*assignment{}, effects: map[string]*assignment{}, expanding: map[string]*assignment{}, refused: map[string]*assignment{},
		pending: map[string]pending{}, mtus: map[inBlock]*assignment{}, options: map[uciOption]*assignment{},
		kinds: map[conffile.Kind]bool{}, plainPPPoE: map[string]bool{}, sized: map[string]bool{}, leased: map[string]bool{}, variables: map[string]bool{},
		ignores: map[*source]map[int][]string{}, dead: map[*source]conffile.Span{}, commented: map[*source]bool{},
		later: map[string]*assignment{}, told: map[toldOf]bool{}, images: map[*source]bool{}, sensors: map[*source]bool{}}
	if opt.Version != "" {
		k.versions, k.known = []catalog.Version{opt.Version}, true
		return k
	}
	oldest, newest := catalog.Supported(system)
	k.versions = []catalog.Version{newest, oldest}
	return k
}

// version returns the release that problems are reported for, "" when it is
// not known.
func (k *checker) version() catalog.Version {
	if k.known {
		return k.versions[0]
	}
	return ""
}

func (k *checker) run(files []*source) {
	var paths []string
	byPath := map[string]*source{}
	for _, f := range files {
		paths = append(paths, f.path)
		byPath[f.path] = f
		k.kinds[f.kind] = true
		told := f.kind == conffile.Script || f.kind == conffile.Other
		k.forwards = k.forwards || f.kind == conffile.VyOS || (told || f.kind == conffile.RC) && gateway.MatchString(f.text) ||
			(told || f.kind == conffile.Sysctl) && forwarding.MatchString(f.text)
		k.jumbo = k.jumbo || largeMTU.MatchString(f.text)
		f.several = f.kind == conffile.Other && k.system == catalog.Linux && conffile.NamesBSD(f.text)
		k.interfaceFile(f)
		k.lastLine(f)
	}
	read, masked := conffile.Order(conffile.System(k.system), paths)
	for _, p := range read {
		k.readFile(byPath[p])
	}
	for _, p := range masked {
		k.open(byPath[p])
		k.report(conffile.Entry{Line: 1}, finding{code: "overridden", severity: Warning,
			message: "the system does not read this file: another one of the same name takes its place",
			because: "Of several drop-in files of one name, only the one in the strongest directory is read: /etc, /run, " +
				"/usr/local/lib, /usr/lib, in this order."})
	}
	k.judgePending()
	k.judgeShapers()
	k.judgeCombined()
	k.judgeTogether()
	k.judgeCarriers(files)
	k.judgeHost(files)
	k.judgeLimits()
	k.judgeClasses()
	k.judgeInterrupts()
	k.judgeStanzas()
	k.judgeGateways()
	k.judgeStanzaPorts()
	k.judgeBonds()
	k.judgeMasters()
	k.judgeNetworkGateways()
	k.judgeProcessors()
	k.judgeSQM()
}

// gateway is the line of rc.conf, or the command, that makes a FreeBSD host a router or lets it translate addresses.
var gateway = regexp.MustCompile(`(?im)^\s*(?:sysrc\s+|echo\s+["']?)?(?:(?:ipv6_)?gateway|firewall_nat|natd)_enable=\\?["']?yes`)

// forwarding is the line of sysctl.conf, or the command, that makes a BSD a router.
var forwarding = regexp.MustCompile(`(?m)^\s*(?:sysctl\s+(?:-w\s+)?|echo\s+["']?)?net\.inet6?\.ip6?\.forwarding\s*=\s*"?[12]`)

// role is the host's role: the one that was given, or router where a file
// says so.
func (k *checker) role() string {
	if k.opt.Role == "" && k.forwards {
		return "router"
	}
	return k.opt.Role
}

// open makes f the file that problems are reported in.
func (k *checker) open(f *source) {
	if k.file == f {
		return
	}
	k.file, k.line = f, conffile.Span{}
	if _, ok := k.ignores[f]; !ok {
		k.ignores[f] = suppressions(f.text)
	}
}

// readFile judges one file line by line.
func (k *checker) readFile(f *source) {
	k.open(f)
	err := conffile.Scan(f.kind, conffile.System(k.system), f.path, f.text,
		func(e conffile.Entry) bool { k.entry(e); return true },
		func(r conffile.Reject) {
			f := finding{code: "syntax", severity: Warning, message: r.Reason,
				because: "The system skips lines that it cannot read."}
			if r.Idle {
				f.code = "no-effect"
			}
			f.code = cmp.Or(r.Code, f.code)
			switch kind := k.file.kind; {
			case kind == conffile.PF:
				f.severity, f.because = Error, ""
			case r.Because != "":
				f.because = r.Because
			case kind == conffile.RC:
				f.because = "" // the shell reads it
			case kind == conffile.Script:
				f.because = "The program gets the words as the shell splits them, and refuses this command."
			}
			k.report(conffile.Entry{Line: r.Line, KeySpan: r.Span}, f)
		})
	if err != nil {
		k.report(conffile.Entry{Line: 1}, finding{code: "syntax",
			severity: Error, message: strings.TrimPrefix(err.Error(), f.path+": ")})
	}
}

// entry judges one setting.
func (k *checker) entry(e conffile.Entry) {
	if e.Has(conffile.Exclude) || k.elsewhere(e) {
		return
	}
	if f := cmp.Or(k.unitFile(e), k.limit(e), k.ulimit(e), k.balances(e), k.service(e), k.shaping(e), k.imitates(e), k.bareRate(e), k.ifupdown(e),
		k.oneForAll(e), k.choice(e), k.hugePages(e), k.cpuWords(e), k.negotiates(e), k.relayd(e)); f != nil {
		k.report(e, *f)
		return
	}
	if e.Raw.End > 0 && k.dead[k.file] == e.Raw {
		return // another part of a statement that the system refuses
	}
	if f := cmp.Or(k.loadedOption(e), k.hostBits(e), k.undefinedName(e), k.placeholder(e)); f != nil {
		k.report(e, *f)
		return
	}
	if f := cmp.Or(k.localVariable(e), k.noSwitch(e), k.jailParameter(e), k.capitalFamily(e), k.tunnelMTU(e)); f != nil {
		k.report(e, *f)
	}
	r := k.lookup(e.Name)
	k.bond(r, e)
	k.uci(e)
	k.mtuOf(e)
	if r == nil && k.kindOf(e) == conffile.RC && e.Has(conffile.Module) && !e.Has(conffile.Part) {
		k.report(e, finding{code: "wrong-file", severity: Warning, sources: []string{"rc.conf(5), kld_list",
			"loader.conf(5)"},
			message: e.Name + " is a variable of the boot loader; in rc.conf nothing reads it",
			because: "The loader reads /boot/loader.conf; rc.conf loads modules by kld_list."})
	} else if r == nil {
		for _, f := range k.unknown(e) {
			k.report(e, f)
		}
	}
	if r == nil {
		k.assign(e, nil, true)
		return
	}
	if f := cmp.Or(hosts(r, e), k.misspeltMember(r, e)); f != nil {
		k.report(e, *f)
		return
	}
	e = k.withoutComment(r, e)
	effective := true
	for _, f := range k.verdict(r, e) {
		if k.excused(e, f.code) {
			continue
		}
		k.report(e, f)
		switch f.code {
		case "removed", "renamed", "not-yet", "read-only", "wrong-file", "bad-value", "out-of-range":
			if f.severity == Info {
				break // an old name that still works
			}
			effective = false
			if k.kindOf(e) == conffile.PF {
				k.dead[k.file] = e.Raw
			}
		}
	}
	k.drift(r, e)
	k.assign(e, r, effective)
}

// loadedOption finds an option of a module in a file that only names modules to load.
func (k *checker) loadedOption(e conffile.Entry) *finding {
	if k.kindOf(e) != conffile.ModulesLoad || !strings.Contains(e.Name, "/") {
		return nil
	}
	k.dead[k.file] = e.Raw
	return &finding{code: "wrong-file", severity: Warning,
		sources: []string{"modules-load.d(5)", "systemd/systemd src/modules-load/modules-load.c"},
		message: fmt.Sprintf("%s is a module option, and this file lists only module names", e.Key),
		because: "systemd takes the whole line for a module name and finds no such module. Write the option " +
			"in a file in /etc/modprobe.d."}
}

// elsewhere judges a line that is no setting of the system by itself.
func (k *checker) elsewhere(e conffile.Entry) bool {
	f, is := k.image(e)
	if !is {
		f, is = k.netplan(e)
	}
	if f != nil {
		k.report(e, *f)
	}
	return is
}

// withoutComment takes the comment behind a number of Linux' sysctl files off
// the value: the kernel reads the number and stops. Behind a word it is part of
// the value.
func (k *checker) withoutComment(r *catalog.Record, e conffile.Entry) conffile.Entry {
	if k.system != catalog.Linux || k.kindOf(e) != conffile.Sysctl || r.Type == catalog.TypeString ||
		r.Type == catalog.TypeEnum && !allNumeric(r.Values) {
		return e
	}
	i := strings.IndexByte(e.Value, '#')
	if i < 1 || e.Value[i-1] != ' ' && e.Value[i-1] != '\t' {
		return e
	}
	value := strings.TrimRight(e.Value[:i], " \t")
	if value == "" || len(e.Value) != e.ValueSpan.End-e.ValueSpan.Start {
		return e
	}
	if !k.commented[k.file] && !strings.HasPrefix(e.Value[i:], "# wirerate:") {
		k.commented[k.file] = true
		k.report(e, finding{code: "syntax", severity: Info, value: true, sources: []string{"sysctl.conf(5)", "sysctl.d(5)"},
			message: "the kernel is given the comment too: '#' begins one only at the start of a line",
			because: "It reads the number and stops; behind a word, such as that of " +
				"tcp_congestion_control, it refuses the whole."})
	}
	e.Value = value
	e.ValueSpan.End = e.ValueSpan.Start + len(value)
	return e
}

// kindOf returns the kind of file that a setting is made in.
func (k *checker) kindOf(e conffile.Entry) conffile.Kind { return cmp.Or(e.In, k.file.kind) }

// lookup finds the record of a setting, nil when the catalog has none.
func (k *checker) lookup(name string) *catalog.Record {
	if r, ok := k.records[name]; ok {
		return r
	}
	r, ok := k.catalog.Lookup(k.system, name)
	if ok {
		r = r.In(k.versions[0])
	}
	if len(k.records) >= cacheLimit {
		clear(k.records)
	}
	k.records[strings.Clone(name)] = r
	return r
}

// verdict judges a value, remembering the answer.
func (k *checker) verdict(r *catalog.Record, e conffile.Entry) []finding {
	key := question{e.Name, e.Value, e.Iface, k.kindOf(e), e.Flags}
	if v, ok := k.verdicts[key]; ok {
		return v
	}
	v := k.judge(r, e, placeOf(k.kindOf(e), e))
	if len(k.verdicts) >= cacheLimit {
		clear(k.verdicts)
	}
	k.verdicts[key] = v
	return v
}

// refusedByPF are the codes of lines of pf.conf for which pfctl loads nothing.
var refusedByPF = []string{"removed", "renamed", "not-yet", "bad-value", "out-of-range", "syntax", "unknown-key"}

// ofReleases are the codes of what is right in another release, which a script may have asked for.
var ofReleases = []string{"removed", "renamed", "not-yet"}

// ofDefaults are the codes of what the defaults of a system decide.
var ofDefaults = []string{"same-as-default", "below-default"}

// report adds a problem at an entry unless a comment suppresses it.
func (k *checker) report(e conffile.Entry, f finding) {
	for _, code := range slices.Concat(k.opt.Ignore, k.ignores[k.file][e.Line]) {
		if code == f.code || code == "*" {
			return
		}
	}
	if (e.Has(conffile.ByRelease) || k.file.mac) && slices.Contains(ofReleases, f.code) || k.file.mac && slices.Contains(ofDefaults, f.code) {
		return
	}
	if len(k.problems) >= MaxProblems {
		k.dropped++
		return
	}
	span := e.KeySpan
	if f.value && e.ValueSpan.End > e.ValueSpan.Start {
		span = e.ValueSpan
	}
	text := k.file.text
	line := k.lineAt(span.Start)
	p := Problem{Code: f.code, Severity: f.severity, File: k.file.path, Line: e.Line, Column: span.Start - line.Start + 1,
		System: k.system, Version: k.version(), Key: e.Key, Value: e.Value, Message: f.message, Because: f.because,
		Fix: f.fix, Sources: f.sources, Width: max(1, span.End-span.Start), key: e.KeySpan.Start}
	if k.kindOf(e) == conffile.PF && slices.Contains(refusedByPF, f.code) && f.severity == Error {
		p.Because = strings.TrimSpace(p.Because + " pfctl refuses the whole file because of this line: the running rules " +
			"stay, and after a reboot only the minimal rules of rc(8) are loaded.")
	}
	if file := k.file.kind; k.kindOf(e) == conffile.Cmdline || file == conffile.WGQuick || file == conffile.YAML || file == conffile.Other ||
		strings.IndexByte(text[e.KeySpan.Start:e.KeySpan.End], '$') > 0 {
		p.Fix = nil // one line holds them all and cannot hold a comment, or several hold one
	}
	if k.file.kind == conffile.Other && p.Severity == Error {
		p.Severity = Warning // what becomes of the text is the other program's affair
	}
	if p.Sources == nil {
		p.Sources = []string{}
	}
	p.Text = strings.TrimRight(text[line.Start:line.End], "\r")
	p.Width = min(p.Width, max(1, len(p.Text)-p.Column+1))
	if span != e.KeySpan {
		p.Line += strings.Count(text[min(e.KeySpan.Start, span.Start):span.Start], "\n")
	}
	k.problems = append(k.problems, p)
}

// lineAt returns the line of the file that holds an offset, remembering the
// last one: lines may be long.
func (k *checker) lineAt(offset int) conffile.Span {
	if k.line.End > 0 && k.line.Start <= offset && offset <= k.line.End {
		return k.line
	}
	text := k.file.text
	k.line.Start = strings.LastIndexByte(text[:offset], '\n') + 1
	k.line.End = len(text)
	if i := strings.IndexByte(text[offset:], '\n'); i >= 0 {
		k.line.End = offset + i
	}
	return k.line
}

// ofCommands are files in which commands, or a program's own words, write settings of the kernel.
var ofCommands = []conffile.Kind{conffile.Script, conffile.HostnameIf, conffile.Interfaces, conffile.Tuned, conffile.YAML, conffile.Service,
	conffile.WGQuick, conffile.VyOS, conffile.Udev}

// placeOf returns where a setting is written, in the words of
// catalog.Record.Belongs; "" for places that are not judged.
func placeOf(kind conffile.Kind, e conffile.Entry) string {
	switch {
	case strings.HasPrefix(e.Name, "ifconfig:"):
		return "ifconfig"
	case kind == conffile.Sysctl:
		return "sysctl"
	case kind == conffile.Loader:
		return "loader"
	case kind == conffile.Cmdline && strings.HasPrefix(e.Key, "sysctl."):
		return "sysctl" // written by the kernel when it starts the first program
	case kind == conffile.RC && !e.Has(conffile.Part):
		return "rc"
	case (kind == conffile.Other || slices.Contains(ofCommands, kind)) && strings.ContainsAny(e.Name, ".") && !strings.ContainsAny(e.Name, ":/"):
		return "sysctl"
	case kind == conffile.LinkFile:
		return "link-file"
	case kind == conffile.PF:
		return "pf"
	case kind == conffile.KernelConf:
		return "kernel-config"
	case strings.HasPrefix(e.Name, "ethtool:"):
		return "ethtool"
	}
	return ""
}
