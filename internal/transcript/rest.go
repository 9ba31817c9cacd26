package transcript

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

// showing are the commands that print files as they are.
var showing = strings.Fields("cat more less head tail grep egrep zgrep type vi vim nano ee edit view doas sudo")

// restLimit bounds the rest, in bytes: of a kernel's log that nobody cut, few lines are used.
const restLimit = 1 << 20

// rest is what stands outside of outputs: the lines that no command printed, or one that prints a file, and the paragraphs
// below an output of which less than half is used; what readers are told to write is left out. It is empty where the
// lines are not those of the file, and of a long one restLimit counts.
func (p Posted) rest(used map[int]bool) string {
	if p.moved {
		return ""
	}
	var b strings.Builder
	at, told := 1, false
	put := func(line string, here int) {
		if here >= at {
			b.WriteString(strings.Repeat("\n", here-at) + line)
			at = here
		}
	}
	for _, part := range p.parts {
		if setsSomething.MatchString(part.command) && !told {
			put(part.command, part.first-1)
		}
		for _, par := range paragraphs(part.passage) {
			read := 0
			for _, line := range par.at() {
				if used[line] {
					read++
				}
			}
			printed := !part.showsFile() && 2*read >= len(par.lines)
			for i, line := range par.lines {
				if b.Len() > restLimit {
					return b.String()
				}
				here := par.first + i
				if sentence(line) {
					told = orders.MatchString(line) || !used[here] && advice.MatchString(line) && !ownState.MatchString(line)
				}
				if !used[here] && !told && !printed && !tried.MatchString(line) {
					put(withoutBullet(par.lines, i), here)
				}
			}
		}
	}
	return b.String()
}

// tried is a sentence about a command that was given for a try, and did not help or does not any more.
var tried = regexp.MustCompile("(?i)(?:^\\s*|`)[a-z]\\w+ [^`]+`[^`]{0,60}(?:\\b(?:did(?:n't| not)|does(?:n't| not)|do(?:n't| not)|no longer|(?:had|has|with|made|makes) no|worked|to no avail)\\b)")

// bullet begins an item of a list that sets something: "• echo 1 > /proc/sys/...", "- `net.core.somaxconn = 128`".
var bullet = regexp.MustCompile("^\\s*(?:[•◦▪‣·*-]|\\d{1,2}[.)])\\s+[`\"]?((?:(?:net|vm|fs|kernel|kern|hw)\\.[\\w./-]+ ?= ?|echo .{1,80} > ?/proc/sys/|sysctl |ethtool |tc |ip )[^`]*?)[`\"]?\\s*$")

// withoutBullet is a line without what makes it an item of a list. What a difference of two files took away is none.
func withoutBullet(lines []string, i int) string {
	m := bullet.FindStringSubmatch(lines[i])
	added := func(k int) bool { return k >= 0 && k < len(lines) && strings.HasPrefix(lines[k], "+") }
	if m == nil || added(i-1) || added(i+1) {
		return lines[i]
	}
	return m[1]
}

// setsSomething is a command that configures: a line of a script too.
var setsSomething = regexp.MustCompile(`^(?:tc (?:qdisc|class) (?:add|replace|change) |ethtool (?:-[GKCLA]|--(?:set|change)-\w+) |` +
	`ip link set |ifconfig \S+ (?:mtu|media) |sysctl (?:-w )?[\w.]+=|ipfw (?:-q )?pipe \d+ config )`)

// sentence reports whether a line is one, and no rule of a packet filter, which may consist of words too.
func sentence(line string) bool {
	const many = 7
	line = strings.TrimSpace(line)
	return isProse(line) && line[0] != '#' && (strings.ContainsAny(line[len(line)-1:], ".:!?") ||
		len(strings.Fields(line)) > many && line[0] >= 'A' && line[0] <= 'Z')
}

// showsFile reports whether a section is text that no command made.
func (s section) showsFile() bool {
	first, _, _ := strings.Cut(s.command, " ")
	return s.command == "" || slices.Contains(showing, path.Base(first))
}

// uciShaper is a rate of OpenWrt's sqm.
var uciShaper = regexp.MustCompile(`(?m)^\s*option (?:download|upload) '?\d`)

// onlyConfiguration is a text without outputs that holds lines of configuration files; the error says what another one
// holds.
func onlyConfiguration(hosts []Posted, text string) (Posted, error) {
	if len(hosts) != 1 {
		return Posted{}, withoutOutputs(hosts)
	}
	p := hosts[0]
	rest := p.rest(nil)
	guess := conffile.Detect("", []byte(rest))
	system := guess.System
	if guess.Kind == "" {
		system = conffile.GuideSystem("", rest)
	}
	if guess.Kind == "" && system == "" {
		if !conffile.Holds("", rest) && !uciShaper.MatchString(rest) {
			return Posted{}, withoutOutputs(hosts)
		}
		system = conffile.Linux
	}
	if p.identify(text, true); p.Guessed && system != "" {
		p.Guessed = false
		p.Texts["uname -a"] = system.Title() + " unknown " + cmp.Or(namedRelease(text, system.Title()+" "), "unknown")
	}
	return p, nil
}
