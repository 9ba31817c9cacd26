package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// distributions are the kernels of Linux distributions by name and release.
var distributions = map[string]catalog.Version{
	"rhel 8": "4.18", "rhel 9": "5.14", "rhel 10": "6.12",
	"debian 11": "5.10", "debian 12": "6.1", "debian 13": "6.12",
	"ubuntu 20.04": "5.4", "ubuntu 22.04": "5.15", "ubuntu 24.04": "6.8",
}

// rebuilds are distributions with the kernel of another one.
var rebuilds = map[string]string{"el": "rhel", "redhat": "rhel", "centos": "rhel", "rocky": "rhel",
	"almalinux": "rhel", "alma": "rhel", "oracle": "rhel", "ol": "rhel"}

var (
	distribution = regexp.MustCompile(`^([a-z]+)[-_ ]?([0-9]+)(\.[0-9]+)?`)
	// backports are the marks of kernels that keep their number for years and
	// take in what later ones have: RHEL's, Amazon's, SUSE's.
	backports = regexp.MustCompile(`\.el[0-9]+|\.amzn[0-9]|-(default|lp[0-9]+)`)
)

// ReleaseOf reads a release as people write it: with the system's name before
// it ("FreeBSD 14.3"), or a Linux distribution's ("rhel9", "Ubuntu 22.04"),
// which stands for its kernel. What follows from that is said; other text is
// returned as it is.
func ReleaseOf(system catalog.System, text string) (release, said string) {
	word := strings.ToLower(strings.TrimSpace(text))
	if rest, ok := strings.CutPrefix(word, string(system)); ok {
		return strings.TrimSpace(rest), ""
	}
	if system != catalog.Linux {
		return text, ""
	}
	if backports.MatchString(word) {
		return text, fmt.Sprintf("release %s is a distribution's kernel with changes of later ones: settings and "+
			"defaults may differ from %s as published; a plan for the host itself or a capture knows", text,
			strings.SplitN(word, "-", 2)[0])
	}
	m := distribution.FindStringSubmatch(word)
	if m == nil {
		return text, ""
	}
	name := m[1]
	if of := rebuilds[name]; of != "" {
		name = of
	}
	for _, key := range []string{name + " " + m[2], name + " " + m[2] + m[3]} {
		if kernel := distributions[key]; kernel != "" {
			return string(kernel), fmt.Sprintf("%s has kernel %s with its distribution's changes: settings and "+
				"defaults may differ from the published one's; a plan for the host itself or a capture knows", text,
				kernel)
		}
	}
	return text, ""
}

// contradictions are what the request says that does not go together. A plan
// is made all the same.
func contradictions(r Request) []string {
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	if nic := r.Machine.NICRate; nic > 0 && r.Path.Rate > nic {
		say("the path's %s is more than the interface's %s: the plan is for a path that this host cannot fill",
			r.Path.Rate, nic)
	}
	bdp := units.Bytes(r.Path.BDP())
	switch {
	case r.Role == "latency" && r.Path.RTT > 10*time.Millisecond:
		say("role latency saves tens of microseconds a packet, and the path's own round trip is %s: for transfers "+
			"over it plan for role bulk or web", units.Duration(r.Path.RTT))
	case r.Role == "file" && r.Path.RTT > 30*time.Millisecond:
		say("file protocols wait for an answer to most requests, and each takes %s here: no setting changes that; "+
			"copy in parallel, or use role bulk for a program that streams", units.Duration(r.Path.RTT))
	case r.Role == "bulk" && bdp < 64*units.KiB:
		say("the path holds %s, which the first windows of any system fill: there is little for role bulk to do", bdp)
	}
	return said
}

// knownRelease returns the release that a plan is made for, and says aloud when
// it is not the one of the machine.
func knownRelease(m Machine) (catalog.Version, []string) {
	oldest, newest := catalog.Supported(m.System)
	switch {
	case m.Release == "":
		return newest, []string{"the release is not known: the newest one that the catalog describes, " + string(newest) +
			", is assumed"}
	case m.Release.Compare(oldest) < 0:
		return m.Release, []string{fmt.Sprintf("release %s is older than %s, the oldest one that the catalog describes: "+
			"that one's defaults stand in for it", m.Release, oldest)}
	case newerBranch(m.Release, newest):
		return m.Release, []string{fmt.Sprintf("release %s is newer than %s, the newest one that the catalog describes: "+
			"that one's settings stand in for it", m.Release, newest)}
	}
	return m.Release, nil
}
