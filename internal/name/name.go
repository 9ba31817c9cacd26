// Package name checks the names that a host gives to what it has: interfaces,
// drivers, modules, settings and the rest. What a host prints is an
// adversary's data until its name is one that the host's own system allows; and
// what wirerate writes into files and commands is narrower still, Plain.
package name

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// Kind is what a name is of.
type Kind string

// The kinds of names.
const (
	OfInterface  Kind = "interface"
	OfDriver     Kind = "driver"
	OfModule     Kind = "module"
	OfDisk       Kind = "disk"
	OfPool       Kind = "pool" // of ZFS, with its datasets and devices
	OfSetting    Kind = "setting"
	OfQdisc      Kind = "queueing discipline"
	OfCongestion Kind = "congestion control"
	OfMask       Kind = "processor mask" // hexadecimal words
	OfProcessors Kind = "processor list" // 0-3,8
	OfInterrupt  Kind = "interrupt"
	OfDevice     Kind = "device" // of a bus: 0000:3b:00.0, virtio2, 1-1:1.0
	OfAddress    Kind = "address"
	OfRelease    Kind = "release"
	OfHost       Kind = "host"
	OfHash       Kind = "transmit hash"
)

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
	alnum   = letters + digits
)

// rule is what a kind of name may be made of.
type rule struct {
	most  int    // bytes
	first string // bytes that it may begin with
	rest  string // bytes that may follow, beside those
}

// rules are those of the kinds that every system has alike. Interfaces have
// their own, see interfaceProblem.
var rules = map[Kind]rule{
	// struct ethtool_drvinfo has 32 bytes; vlan calls itself "802.1Q VLAN Support".
	OfDriver: {31, alnum, "_-., +/()"},
	// MODULE_NAME_LEN is 56 on Linux, MAXMODNAME 32 on FreeBSD.
	OfModule: {63, alnum + "_", "-."},
	// DISK_NAME_LEN is 32 on Linux, which writes cciss!c0d0; FreeBSD's providers
	// have slashes: mirror/gm0.
	OfDisk: {63, alnum, "_-.!+:/"},
	// zfs(8), namecheck.c: 255 bytes; devices are paths.
	OfPool: {255, alnum + "/_", "-.:@#%+, "},
	// A slash stands for a dot in a component, and divides ethtool's groups.
	OfSetting:    {255, alnum + "_/", "-.:@%,+"},
	OfQdisc:      {31, alnum, "_-."},
	OfCongestion: {15, alnum, "_-."}, // TCP_CA_NAME_MAX is 16
	OfMask:       {4096, "0123456789abcdefABCDEF", ","},
	OfProcessors: {4096, digits, ",-"},
	OfInterrupt:  {63, alnum, "_-.:/@+*% "},
	OfDevice:     {63, alnum, "_-.:"},
	OfAddress:    {300, alnum + ":.*[", "]%_/-"},
	OfRelease:    {64, alnum, "_-.+~"}, // __NEW_UTS_LEN
	OfHost:       {255, alnum + "_", "-."},
	OfHash:       {31, alnum, "_-+,"},
}

// Check returns why text is no name of a kind on a system (one that is none of ours
// is taken for Linux), nil when it is one. It answers in words that hold nothing of
// the text but single characters, escaped.
func (k Kind) Check(on system.System, text string) error {
	if k == OfInterface {
		return interfaceProblem(on, text)
	}
	r := rules[k]
	switch {
	case text == "":
		return fmt.Errorf("the name of a %s is empty", k)
	case len(text) > r.most:
		return fmt.Errorf("the name of a %s has at most %d bytes, this one %d", k, r.most, len(text))
	case slices.Contains(strings.Split(text, "/"), ".."):
		return fmt.Errorf("'..' cannot be a part of the name of a %s", k)
	}
	for i, c := range text {
		if c < utf8.RuneSelf && (strings.ContainsRune(r.first, c) || i > 0 && strings.ContainsRune(r.rest, c)) {
			continue
		}
		if i == 0 {
			return fmt.Errorf("the name of a %s cannot begin with %+q", k, c)
		}
		return fmt.Errorf("%+q cannot be in the name of a %s", c, k)
	}
	return nil
}

// interfaceBytes is the longest name of an interface: IFNAMSIZ is 16 on all
// three systems, with the zero byte.
const interfaceBytes = 15

var openbsdInterface = regexp.MustCompile(`^[a-z][a-z0-9]*[0-9]$`)

// interfaceProblem has the kernels' own rules. Linux: dev_valid_name in
// net/core/dev.c. FreeBSD: ifhwioctl in sys/net/if.c takes any bytes when an
// interface is renamed; those that ifconfig(8) can be given again are allowed.
// OpenBSD: a driver's name and a unit (if_clone_lookup in sys/net/if.c).
func interfaceProblem(on system.System, text string) error {
	switch {
	case text == "":
		return fmt.Errorf("the name of an interface is empty")
	case len(text) > interfaceBytes:
		return fmt.Errorf("the name of an interface has at most %d bytes, this one %d", interfaceBytes, len(text))
	case text == "." || text == "..":
		return fmt.Errorf("%q is not the name of an interface", text)
	case on == system.OpenBSD && !openbsdInterface.MatchString(text):
		return fmt.Errorf("the name of an interface is its driver's and a number")
	}
	for i := range len(text) {
		c := text[i]
		// Linux's isspace counts the no-break space of Latin-1 too.
		if c == '/' || c == ':' && on != system.FreeBSD || c <= ' ' || c == 0x7f || c == 0xa0 || on == system.FreeBSD && c >= utf8.RuneSelf {
			return fmt.Errorf("%+q cannot be in the name of an interface", rune(c))
		}
	}
	return nil
}

// Interface is the name of an interface that wirerate writes into files and
// commands: one that its kernel allows, and Plain.
type Interface string

// ParseInterface checks the name of an interface of a system.
func ParseInterface(on system.System, text string) (Interface, error) {
	if err := OfInterface.Check(on, text); err != nil {
		return "", err
	}
	if err := Plain(text); err != nil {
		return "", err
	}
	return Interface(text), nil
}

// UnmarshalText reads a name that Linux, which allows most, would take.
func (i *Interface) UnmarshalText(text []byte) error {
	parsed, err := ParseInterface(system.Linux, string(text))
	if err != nil {
		return err
	}
	*i = parsed
	return nil
}

// Join writes names with a separator between them.
func Join(names []Interface, separator string) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(string(n))
	}
	return b.String()
}

// Plain returns why a name cannot stand as it is in every file and command that
// wirerate writes. It is made of letters, digits and "._-": kernels allow more,
// which systemd takes for patterns, Ansible for templates, rc.conf(5) for the
// end of a variable's name and programs for options.
func Plain(text string) error {
	return plain(text, "_.-")
}

func plain(text, others string) error {
	for i, c := range text {
		if c < utf8.RuneSelf && (strings.ContainsRune(alnum+"_", c) || i > 0 && strings.ContainsRune(others, c)) {
			continue
		}
		return fmt.Errorf("files and commands are written for names of letters, digits and ._- alone, and this one has %+q",
			c)
	}
	if text == "" || strings.Contains(text, "..") {
		return fmt.Errorf("files and commands are written for names without '..'")
	}
	return nil
}

// valueBytes is the longest value of a setting that is written.
const valueBytes = 1024

// Value returns why a setting's value is not written: one is made of words of
// letters, digits and "._,:+=/%@-" with single blanks between them.
func Value(text string) error {
	switch {
	case text == "":
		return fmt.Errorf("it has no value")
	case len(text) > valueBytes:
		return fmt.Errorf("its value has %d bytes, at most %d are written", len(text), valueBytes)
	case text[0] == ' ' || text[len(text)-1] == ' ' || strings.Contains(text, "  "):
		return fmt.Errorf("its value has blanks that no setting has")
	}
	for _, c := range text {
		if c >= utf8.RuneSelf || !strings.ContainsRune(alnum+"._,:+=/%@- ", c) {
			return fmt.Errorf("its value has %+q, which no setting takes", c)
		}
	}
	return nil
}
