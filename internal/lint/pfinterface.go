package lint

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

// carried are what an interface of a driver carries, and why.
var carried = map[string]struct {
	mtu     int
	because string
	sources []string
}{
	"pppoe": {1492, "PPPoE leaves an MTU of 1492 bytes. The exception is an MTU of 1500 on the interface (RFC 4638).",
		[]string{"pppoe(4): the MTU is 1492", "RFC 2516 section 7", "RFC 4638"}},
	"wg": {1420, "The MTU of wg is 1420 bytes.", []string{"wg(4): the MTU is 1420"}},
	"gif": {1480, "A header of IPv4 takes 20 bytes of 1500; the MTU of gif is 1280 unless hostname.if sets another one.",
		[]string{"gif(4)"}},
	"gre": {1476, "The headers of IPv4 and GRE take 24 bytes of 1500.", []string{"gre(4)", "RFC 2784"}},
}

// segment judges a max-mss that is larger than what the interface of its rule carries.
func (k *checker) segment(e conffile.Entry) *finding {
	of, known := carried[strings.TrimRight(e.Value, "0123456789")]
	if n, err := strconv.Atoi(e.Key); err != nil || !known || n <= of.mtu-40 || n > 1460 {
		return nil
	}
	severity := Warning
	if strings.HasPrefix(e.Value, "pppoe") && !k.plainPPPoE[e.Value] {
		severity = Info // RFC 4638 lets some lines carry 1500
	}
	if k.sized[e.Value] {
		return nil // hostname.if gives it another MTU
	}
	return &finding{code: "harmful", severity: severity, value: true, sources: of.sources,
		message: fmt.Sprintf("max-mss %s allows larger segments than %s can carry: write max-mss %d", e.Key, e.Value, of.mtu-40),
		because: fmt.Sprintf("%s That is TCP segments of %d bytes over IPv4. Larger ones are fragmented, or lost where path MTU discovery fails.",
			of.because, of.mtu-40)}
}

// fixedAddress judges the interface behind nat-to without parentheses, whose address is taken when the rules are loaded,
// where the address changes.
func (k *checker) fixedAddress(e conffile.Entry) *finding {
	if !strings.HasPrefix(e.Value, "pppoe") && !k.leased[e.Value] {
		return nil
	}
	return &finding{code: "harmful", severity: Warning, value: true, sources: []string{"pf.conf(5): an interface in parentheses is updated"},
		message: fmt.Sprintf("nat-to %s keeps the address that %s has when the rules are loaded: write nat-to (%s)", e.Key, e.Value, e.Key),
		because: "The provider assigns the address, so that at boot there may be none yet, and translated packets are lost after it changes."}
}

// optionsOfFreeBSD are options, limits and timeouts of FreeBSD's pf alone (pf.conf(5) of FreeBSD 15).
var optionsOfFreeBSD = strings.Fields("keepcounters fail-policy altq limit/eth-anchors timeout/sctp.first timeout/sctp.opening " +
	"timeout/sctp.established timeout/sctp.closing timeout/sctp.closed")

// unknownOption judges an option, a limit or a timeout of pf.conf that the catalog does not have; it has all of OpenBSD's.
func (k *checker) unknownOption(e conffile.Entry) []finding {
	option := strings.TrimPrefix(e.Name, "pf:set/")
	near, slip := k.nearest(e.Name)
	f := finding{code: "unknown-key", severity: Error, sources: []string{"pf.conf(5), OPTIONS", "openbsd/src sbin/pfctl/parse.y"},
		message: fmt.Sprintf("pfctl has no %s", k.pfName(e))}
	if strings.Contains(option, "/") {
		f.message = fmt.Sprintf("pfctl has no set %s", strings.ReplaceAll(option, "/", " "))
	}
	switch {
	case k.file.kind == conffile.Other && !slip: // a word that stands for the limits that there are
		return nil
	case strings.ContainsAny(option, "{}$<") || e.Has(conffile.Expands) && k.system != catalog.OpenBSD:
		return nil
	case k.system == catalog.OpenBSD && slices.Contains(optionsOfFreeBSD, option):
		f.message += ", which is FreeBSD's"
	case slip && strings.HasPrefix(near, "pf:set/"):
		f.message += "; did you mean " + path.Base(near) + "?"
	case k.system != catalog.OpenBSD && !slices.Contains([]string{"scrub", "nat", "rdr", "pass", "block", "match", "antispoof"}, option):
		return nil
	}
	return []finding{f}
}

// lastLine reports rules of macOS that do not end with their line, which FreeBSD and OpenBSD take.
func (k *checker) lastLine(f *source) {
	at := strings.LastIndexByte(f.text, '\n') + 1
	if !f.mac || strings.TrimSpace(f.text[at:]) == "" {
		return
	}
	k.reportAt(f, []int{at, len(f.text)}, finding{code: "syntax", severity: Warning, sources: []string{"mitmproxy/mitmproxy issue 4748: pfctl of macOS 11"},
		message: "the last line has no line end: add one",
		because: "pfctl of macOS ends a statement at the end of its line alone, and reports a syntax error."})
}

// Lines of hostname.if by which an interface gets its address, or an MTU.
var (
	leasedLine = regexp.MustCompile(`(?m)^[ \t]*(?:dhcp|(?:inet[ \t]+)?autoconf)\b`)
	sizedLine  = regexp.MustCompile(`(?m)^[^#!\n]*\bmtu[ \t]+([0-9]+)`)
)

// interfaceFile remembers what hostname.if says of an interface.
func (k *checker) interfaceFile(f *source) {
	iface, is := strings.CutPrefix(path.Base(f.path), "hostname.")
	if !is {
		return
	}
	k.leased[iface] = leasedLine.MatchString(f.text)
	if m := sizedLine.FindStringSubmatch(f.text); m != nil {
		n, err := strconv.Atoi(m[1])
		k.sized[iface] = err == nil && n > carried[strings.TrimRight(iface, "0123456789")].mtu
	}
	if strings.HasPrefix(iface, "pppoe") {
		k.plainPPPoE[iface] = !k.sized[iface]
	}
}
