// Package conffile reads and edits the native configuration files of FreeBSD,
// OpenBSD and Linux without loss: every byte that an edit does not name stays
// as it was, and a file that was not edited prints as it was read.
//
// Each format is read by the rules of the program that reads it on the system
// itself (the rules and their sources stand beside each parser), so that a
// line which the system would refuse or understand differently is seen that
// way here too.
package conffile

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// System is the operating system whose rules apply to a file; the empty
// System is one that could not be told.
type System = system.System

// The systems.
const (
	Linux   = system.Linux
	FreeBSD = system.FreeBSD
	OpenBSD = system.OpenBSD
)

// Kind is a file format.
type Kind string

// The formats.
const (
	Sysctl      Kind = "sysctl.conf"  // sysctl.conf and sysctl.d of all three systems
	Loader      Kind = "loader.conf"  // FreeBSD loader.conf, loader.conf.d, loader.conf.local, device.hints
	RC          Kind = "rc.conf"      // FreeBSD and OpenBSD rc.conf: shell assignments
	HostnameIf  Kind = "hostname.if"  // OpenBSD hostname.if
	PF          Kind = "pf.conf"      // set, scrub, queue and altq lines of pf.conf; states and queues of its rules
	LinkFile    Kind = "link"         // systemd.link
	NetworkFile Kind = "network"      // systemd.network
	Interfaces  Kind = "interfaces"   // ifupdown's interfaces
	Script      Kind = "script"       // shell scripts: rc.local, if-up.d
	Modprobe    Kind = "modprobe"     // modprobe.d
	ModulesLoad Kind = "modules-load" // modules-load.d, /etc/modules
	Cmdline     Kind = "cmdline"      // kernel command line, and /etc/default/grub
	Tuned       Kind = "tuned.conf"   // profiles of TuneD
	NFTables    Kind = "nftables"     // nftables.conf: what becomes of ICMP
	Limits      Kind = "limits.conf"  // limits.conf and limits.d of pam_limits
	Netplan     Kind = "netplan"      // interfaces, bonds and routes of netplan
	Ifcfg       Kind = "ifcfg"        // ifcfg files of Red Hat's and SUSE's network scripts
	YAML        Kind = "yaml"         // sysctls in tasks and variables of Ansible, Salt and the like
	Service     Kind = "service"      // limits and commands in units of systemd
	Jail        Kind = "jail.conf"    // FreeBSD jail.conf and jail.conf.d: what jail(8) refuses
	Keyfile     Kind = "nmconnection" // connections of NetworkManager
	Udev        Kind = "udev"         // rules of udev: attributes and commands
	UCI         Kind = "uci"          // files of OpenWrt's /etc/config
	IPTables    Kind = "iptables"     // files of iptables-restore
	MyGate      Kind = "mygate"       // OpenBSD's default gateways
	LoginConf   Kind = "login.conf"   // login.conf of the BSDs: limits of open files
	Relayd      Kind = "relayd.conf"  // OpenBSD relayd.conf: checks, queues, and what relayd refuses
	VyOS        Kind = "vyos"         // config.boot of VyOS and EdgeOS
	WGQuick     Kind = "wg-quick"     // interfaces of wg-quick: MTU, and commands
	KernelConf  Kind = "kernel"       // a kernel's configuration of FreeBSD: its options
	Other       Kind = "other"        // sysctls and commands in guides, and in Nix, Puppet, Chef and Terraform
)

// Kinds returns all formats in a fixed order.
func Kinds() []Kind {
	return []Kind{Sysctl, Loader, RC, HostnameIf, PF, LinkFile, NetworkFile, Interfaces, Script, Modprobe, ModulesLoad,
		Cmdline, Tuned, NFTables, Limits, Netplan, Ifcfg, YAML, Service, Jail, Keyfile, Udev, UCI, IPTables, MyGate, LoginConf,
		Relayd, VyOS, WGQuick, KernelConf, Other}
}

// MaxSize is the largest file that is read, in bytes.
const MaxSize = 16 << 20

// Span is a half-open range of byte offsets into a file.
type Span struct{ Start, End int }

// Flags are properties of an entry.
type Flags uint16

const (
	// IgnoreErrors marks a sysctl.d key written with a leading '-'.
	IgnoreErrors Flags = 1 << iota
	// Quoted marks a value written in quotes.
	Quoted
	// Append marks a value that is added to the former one.
	Append
	// Glob marks a key that is a pattern over several settings.
	Glob
	// Exclude marks a sysctl.d key without value: it takes the key out of
	// the reach of patterns and sets nothing.
	Exclude
	// Expands marks a value that holds a variable or a command
	// substitution, so that its text is not what the system will see.
	Expands
	// Conditional marks an entry inside a construct of a script that may
	// not run (if, case, a loop, a function, after && or ||).
	Conditional
	// Module marks the loading, option or blocking of a kernel module.
	Module
	// Part marks an entry that is one word of a larger setting which has
	// its own entry, like tso in ifconfig_em0="up -tso".
	Part
	// Looped marks a file whose path holds the variable of a loop.
	Looped
	// Container marks a sysctl that a container is started with.
	Container
	// HostNetwork marks one of a container that shares the host's network.
	HostNetwork
	// ByRelease marks an entry inside of a condition on the release of the system.
	ByRelease
	// Top marks a class of tc directly below its discipline.
	Top
)

// Entry is one setting that a file makes. Comments make none.
type Entry struct {
	Key   string // as written
	Name  string // as the catalog calls the setting, e.g. net.ipv4.tcp_rmem or ethtool:features/tso
	Value string // as the system reads it: without quotes, on or off for features
	Iface string // the network interface concerned, or ""
	Line  int    // line of the key, from 1

	KeySpan   Span // where the key is written
	ValueSpan Span // where the value is written, without quotes
	Raw       Span // the whole line or lines, without the last newline

	// In is the kind of the file that a script writes this line into (echo or
	// a here-document); empty for what the file itself sets.
	In Kind

	// Block is the line on which the text within a file begins that holds the
	// entry; 0 for the file itself.
	Block int

	Flags Flags
	body  int // of the function that alone is around the command, 0 without one
	style style
}

// Has reports whether all of the given flags are set.
func (e *Entry) Has(f Flags) bool { return e.Flags&f == f }

// Reject is a stretch of a file that the system refuses or ignores.
type Reject struct {
	Line   int  // from 1
	Span   Span // what is refused
	Reason string

	// Because says why in a sentence of its own, where the rules of the format do not
	// say it; Idle is set of a line that is read and does nothing. Code is what lint calls a line that is neither
	// idle nor refused.
	Because string
	Idle    bool
	Code    string

	certain bool // a mistake of copying, or a statement that is gone: no placeholder in a guide either
}

// style says how a value is written, for Set.
type style uint8

const (
	stylePlain  style = iota
	styleDouble       // inside double quotes
	styleSingle       // inside single quotes
	styleSwitch       // name or -name, for on or off
	styleFixed        // cannot be rewritten by itself
)

// File is a parsed file.
type File struct {
	Path    string
	Kind    Kind
	System  System
	Entries []Entry  // in the order of the file
	Rejects []Reject // in the order of the file

	src   string
	edits []edit
}

// Parse reads a file of the given kind and system. The path serves messages
// and, for hostname.if and .link files, the interface name. Text that is not a
// configuration file at all (binary, UTF-16, larger than MaxSize) is an error
// that says what it looks like; lines that the system would refuse are Rejects.
func Parse(kind Kind, system System, path string, data []byte) (*File, error) {
	f := &File{Path: path, Kind: kind, System: system, src: string(data)}
	err := Scan(kind, system, path, f.src, func(e Entry) bool { f.Entries = append(f.Entries, e); return true },
		func(r Reject) { f.Rejects = append(f.Rejects, r) })
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Scan calls entry for each setting of a file, in the order of the file, until
// entry returns false, and rejected (may be nil) for what the system refuses.
// It needs no memory that grows with the file. Errors are those of Parse.
func Scan(kind Kind, system System, path, src string, entry func(Entry) bool, rejected func(Reject)) error {
	if err := CheckText(path, src); err != nil {
		return err
	}
	if rejected == nil {
		rejected = func(Reject) {}
	}
	s := &scanner{src: src, path: path, system: system, entry: entry, rejected: rejected}
	if !s.file(kind) {
		return fmt.Errorf("%s: unknown kind of file %q", path, kind)
	}
	return nil
}

// file reads the whole text; ok is false for a kind that is not known.
func (s *scanner) file(kind Kind) (ok bool) {
	switch kind {
	case Sysctl:
		s.sysctl()
	case Loader:
		s.loader()
	case RC:
		s.rcConf()
	case HostnameIf:
		s.hostnameIf()
	case PF:
		s.pf()
	case LinkFile, NetworkFile:
		s.unit(kind)
	case Interfaces:
		s.interfaces()
	case Script:
		s.wholeScript()
	case Modprobe:
		s.modprobe()
	case ModulesLoad:
		s.modulesLoad()
	case Cmdline:
		s.cmdline()
	case Tuned:
		s.tuned()
	case NFTables:
		s.nft()
	case Limits:
		s.limits()
	case Netplan:
		s.netplan()
	case Ifcfg:
		s.ifcfg()
	case YAML:
		s.yaml()
	case Service:
		s.service()
	case Jail:
		s.jailConf()
	case Keyfile:
		s.keyfile()
	case Udev:
		s.udev()
	case UCI:
		s.uci()
	case IPTables:
		s.iptablesSave()
	case MyGate:
		s.myGate()
	case LoginConf:
		s.loginConf()
	case Relayd:
		s.relayd()
	case VyOS:
		s.vyosFile()
	case WGQuick:
		s.wgQuick()
	case KernelConf:
		s.kernelConf()
	case Other:
		s.guideOrOther()
	default:
		return false
	}
	return true
}

// guideOrOther reads a guide of the BSDs, or a file of another program.
func (s *scanner) guideOrOther() {
	if s.system == FreeBSD || s.system == OpenBSD {
		s.guide()
		return
	}
	s.other()
}

// scanner walks over a text and hands out what it finds.
type scanner struct {
	src      string
	path     string
	system   System
	entry    func(Entry) bool
	rejected func(Reject)
	stopped  bool

	line Span // the last answer of lineOf

	// ifVariable is the interface that $if, $IFACE and the like stand for in
	// command lines, or "".
	ifVariable string

	// variables are those of a script that hold a plain text, and echoed what
	// the command before a pipe prints.
	variables map[string]string
	writes    map[string]firstWrite // by path, files of the system that the script writes
	below     map[string]string     // paths below a directory in another variable
	echoed    []word
	rewritten []int // where a command rewrites login.conf first, and the end of the script; nil before it was looked for

	loop string // the variable of the last loop of a script, and the words that it runs over
	over []word

	ipfw      ipfwRules
	elsewhere map[string]written // by path, what a script wrote to files of no kind
	section   string             // of systemd's files, the one that the lines stand in
	sections  map[string]string  // by path, of what a script writes
	roots     map[string]int     // below which a script writes files, with the line of the first one, 0 for the script's own
	groups    []group
	stray     bool      // lines of sysctl.conf among the commands of a script were told
	altq      bool      // a statement of altq was refused
	lets      bool      // a rule of iptables lets errors of ICMP in
	lets6     bool      // a rule of ip6tables lets ICMPv6 in
	chains    iptChains // of iptables
	marks     fwMarks   // of tc
	tree      tcTree
	iptables  iptWhole
	vyos      *vyosConfig             // nil without a line of it
	said      map[*regexp.Regexp]bool // whether the text has what was searched for in it
	appended  int                     // lines that a script appends to GRUB's file
	routes    map[string]int          // lines on which a script adds them
	ignored   map[string]bool         // files that a script writes and the system does not read
	part      bool                    // a text within a script, read as a file
	outer     bool                    // a guide, whose scripts may write files
	within    bool                    // the argument of sh -c
	document  *heredoc                // which a script writes, and that is read
	indented  bool                    // the script is indented as a whole: the ends of its here-documents too
	reload    reload
}

// emit hands out an entry. One without a name (a write to /proc/sys/ itself)
// sets nothing.
func (s *scanner) emit(e Entry) {
	if !s.stopped && e.Name != "" {
		s.stopped = !s.entry(e)
	}
}

// marking returns a scanner like this one whose entries are marked before they are handed out here.
func (s *scanner) marking(mark func(*Entry)) *scanner {
	inner := *s
	inner.entry = func(e Entry) bool {
		mark(&e)
		s.emit(e)
		return !s.stopped
	}
	return &inner
}

// foreign makes this the scanner of a text that is no file of the system: its lines are not rewritten, and what only
// may be wrong is not told.
func (s *scanner) foreign() {
	entry, rejected := s.entry, s.rejected
	s.entry = func(e Entry) bool {
		e.style = styleFixed
		return entry(e)
	}
	s.rejected = func(r Reject) {
		if r.certain {
			rejected(r)
		}
	}
}

func (s *scanner) reject(line int, span Span, reason string) {
	if !s.stopped {
		s.rejected(Reject{Line: line, Span: span, Reason: reason})
	}
}

// lines calls f for each line of src[start:end], with the offsets of the line
// without its newline, until f returns false or the scanner has been stopped.
func (s *scanner) lines(start, end, line int, f func(line, from, to int) bool) {
	for start < end && !s.stopped {
		to := strings.IndexByte(s.src[start:end], '\n')
		if to < 0 {
			to = end
		} else {
			to += start
		}
		if !f(line, start, to) {
			return
		}
		start, line = to+1, line+1
	}
}

// bom is the UTF-8 byte-order mark.
const bom = "\xef\xbb\xbf"

// textStart returns the offset of the first byte after a byte-order mark. None
// of the systems' readers knows the mark: on the first line it becomes part of
// the key, which the caller rejects.
func textStart(src string) int {
	if strings.HasPrefix(src, bom) {
		return len(bom)
	}
	return 0
}

// magic are the first bytes of files that are mistaken for configuration.
var magic = []struct{ prefix, what string }{
	{"\x7fELF", "an ELF program"},
	{"\x1f\x8b", "a gzip file"},
	{"BZh", "a bzip2 file"},
	{"\xfd7zXZ", "an xz file"},
	{"\x28\xb5\x2f\xfd", "a zstd file"},
	{"PK\x03\x04", "a zip file"},
	{"\x89PNG", "a picture"},
	{"%PDF", "a PDF document"},
	{"\xff\xfe", "UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8"},
	{"\xfe\xff", "UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8"},
}

// CheckText returns an error that says what a file looks like that is no text.
func CheckText(path, src string) error {
	if len(src) > MaxSize {
		return fmt.Errorf("%s: %d bytes, more than the %d MiB that are read", path, len(src), MaxSize>>20)
	}
	for _, m := range magic {
		if strings.HasPrefix(src, m.prefix) {
			return fmt.Errorf("%s: not a configuration file, it looks like %s", path, m.what)
		}
	}
	if i := strings.IndexByte(src, 0); i >= 0 {
		return fmt.Errorf("%s: not a configuration file, it holds a NUL byte at offset %d: binary data", path, i)
	}
	return nil
}

// isBlank reports blank space inside a line: what isspace(3) of the C locale
// accepts, without the newline.
func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' && c != '\n' }

// trim narrows [from, to) by the blanks at both ends.
func (s *scanner) trim(from, to int) (int, int) {
	for from < to && isBlank(s.src[from]) {
		from++
	}
	for from < to && isBlank(s.src[to-1]) {
		to--
	}
	return from, to
}

// lineOf returns the physical line that holds an offset, without its newline.
// It remembers the last one, so that many questions about a long line cost one
// search.
func (s *scanner) lineOf(offset int) Span {
	if s.line.End > 0 && s.line.Start <= offset && offset <= s.line.End {
		return s.line
	}
	s.line.Start = strings.LastIndexByte(s.src[:offset], '\n') + 1
	s.line.End = len(s.src)
	if i := strings.IndexByte(s.src[offset:], '\n'); i >= 0 {
		s.line.End = offset + i
	}
	return s.line
}

// wholeLines widens a span to whole lines, without the last newline.
func (s *scanner) wholeLines(sp Span) Span {
	sp.Start = s.lineOf(sp.Start).Start
	sp.End = max(sp.End, trimCR(s.src, sp.Start, s.lineOf(sp.End).End))
	return sp
}

// text returns a span's text.
func (s *scanner) text(sp Span) string { return s.src[sp.Start:sp.End] }
