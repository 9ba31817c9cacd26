package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

// carrierWords are the words of hostname.if before the interface that carries this one's packets.
var carrierWords = []string{"parent", "vlandev", "carpdev", "syncdev", "trunkport", "pppoedev"}

// judgeCarriers reports an interface of OpenBSD on another one for which its folder has no file, so that nothing brings
// that one up. A folder without other files of the kind is none of a host.
func (k *checker) judgeCarriers(files []*source) {
	for _, f := range files {
		if k.system == catalog.OpenBSD && f.kind == conffile.HostnameIf {
			k.parentless(f)
			k.idleBridge(f)
		}
		others := slices.ContainsFunc(f.beside, func(name string) bool {
			return strings.HasPrefix(name, "hostname.") && name != path.Base(f.path)
		})
		if k.system != catalog.OpenBSD || f.kind != conffile.HostnameIf || !others {
			continue
		}
		start := 0
		for i, line := range strings.SplitAfter(f.text, "\n") {
			k.carrier(f, i+1, start, line)
			start += len(line)
		}
	}
}

// carrier judges the line of a file of that number, which begins at start.
func (k *checker) carrier(f *source, number, start int, line string) {
	text := strings.TrimSpace(line)
	if text == "" || text[0] == '#' || text[0] == '!' {
		return
	}
	words := strings.Fields(text)
	for i := 0; i+1 < len(words); i++ {
		name := words[i+1]
		driver := strings.TrimRight(name, "0123456789")
		joins := words[i] == "add" && driver != "tap" && bridgeFile.MatchString(path.Base(f.path)) // tap(4) is brought up by the program behind it
		if !joins && !slices.Contains(carrierWords, words[i]) || driver == name || strings.Trim(driver, "abcdefghijklmnopqrstuvwxyz") != "" ||
			slices.Contains(f.beside, "hostname."+name) || strings.Contains(f.text, "ifconfig "+name) {
			continue
		}
		at := start + strings.Index(line, name)
		k.open(f)
		k.report(conffile.Entry{Line: number, KeySpan: conffile.Span{Start: at, End: at + len(name)}}, finding{code: "needs",
			severity: Warning, sources: []string{"hostname.if(5)", "vlan(4)", "trunk(4)", "pppoe(4)"},
			message: fmt.Sprintf("nothing brings %s up: there is no hostname.%s beside this file", name, name),
			because: "netstart configures the interfaces that have a file; one with the word up in it is enough for an interface that " +
				"only carries others."})
		return
	}
}

// bridgeFile is a file of an interface that joins others, and bringsUp a line of it that brings it up, or may.
var (
	bridgeFile = regexp.MustCompile(`^hostname\.(?:bridge|veb|tpmr)[0-9]+$`)
	bridgeAdd  = regexp.MustCompile(`(?m)^[ \t]*add[ \t]+[a-z]+[0-9]+`)
	bringsUp   = regexp.MustCompile(`(?m)^(?:[^#\n]*[ \t])?up(?:[ \t]|$)|^[ \t]*!`)
)

// aggrFile is a file of an interface that bundles others.
var (
	aggrFile = regexp.MustCompile(`^hostname\.aggr[0-9]+$`)
	aggrPort = regexp.MustCompile(`(?m)^(?:[^#!\n]*[ \t])?trunkport[ \t]+[a-z]+[0-9]+`)
)

// idleBridge reports a bridge of OpenBSD, or a bundle by aggr(4), that its file leaves down.
func (k *checker) idleBridge(f *source) {
	found := finding{code: "needs", severity: Warning, sources: []string{"bridge(4)", "veb(4)", "hostname.if(5)"},
		message: path.Base(f.path) + " has no line up: the interface stays down and forwards nothing",
		because: "An interface comes up when it gets an address or by the word up, and this one has no address. Add a line with the word up."}
	var at []int
	switch name := path.Base(f.path); {
	case bridgeFile.MatchString(name):
		at = bridgeAdd.FindStringIndex(f.text)
	case aggrFile.MatchString(name):
		at = aggrPort.FindStringIndex(f.text)
		found.because = "An address does not bring aggr(4) up, as it does trunk(4). Add a line with the word up."
		found.sources = []string{"aggr(4)", "hostname.if(5)", "tech@openbsd.org, 2025-12-02, trunk(4): deprecate LACP mode"}
	}
	if at != nil && !bringsUp.MatchString(f.text) {
		k.reportAt(f, at, found)
	}
}

// reportAt reports what a passage of a file shows, from at[0] to at[1].
func (k *checker) reportAt(f *source, at []int, found finding) {
	k.open(f)
	k.report(conffile.Entry{Line: 1 + strings.Count(f.text[:at[0]], "\n"), KeySpan: conffile.Span{Start: at[0], End: at[1]}}, found)
}

// vlanFile is a file of a VLAN, and vlanParent a line of it that says, or may say, what carries it.
var (
	vlanFile   = regexp.MustCompile(`^hostname\.s?vlan[0-9]+$`)
	vlanParent = regexp.MustCompile(`(?m)^(?:[^#\n]*[ \t])?(?:parent|vlandev)[ \t]|^[ \t]*!|[<{$]`)
	vlanLine   = regexp.MustCompile(`(?m)^[ \t]*(?:inet6?|up|dhcp|autoconf)\b`)
)

// parentless reports a VLAN of OpenBSD that no interface carries.
func (k *checker) parentless(f *source) {
	at := vlanLine.FindStringIndex(f.text)
	if at == nil || !vlanFile.MatchString(path.Base(f.path)) || vlanParent.MatchString(f.text) {
		return
	}
	k.reportAt(f, at, finding{code: "needs", severity: Warning, sources: []string{"vlan(4)", "ifconfig(8), parent and vnetid"},
		message: path.Base(f.path) + " names no parent interface",
		because: "A VLAN sends its packets through its parent, and with none it carries nothing: add a line such as " +
			"\"parent em0 vnetid 10\" above this one."})
}
