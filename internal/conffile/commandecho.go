package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// echoCommand reads echo VALUE > FILE for files below /proc and /sys.
func (s *scanner) echoCommand(words []word, target word, base Entry) {
	for len(words) > 1 && strings.HasPrefix(words[0].text, "-") && len(words[0].text) == 2 {
		words = words[1:]
	}
	looped := s.loop != "" && (strings.Contains(target.text, "$"+s.loop) || strings.Contains(target.text, "${"+s.loop))
	if looped {
		target.text = s.overPattern(target.text)
	} else if s.severalFiles(target) {
		return
	}
	if s.otherwise(target, base) {
		return
	}
	if len(words) == 0 || !strings.HasPrefix(target.text, "/proc/") && !strings.HasPrefix(target.text, "/sys/") {
		s.echoInto(words, target, base)
		return
	}
	e := base
	e.Key, e.Line, e.KeySpan = target.text, words[0].line, target.span
	e.ValueSpan = Span{words[0].span.Start, words[len(words)-1].span.End}
	var parts []string
	for _, w := range words {
		parts = append(parts, w.text)
		if w.expands {
			e.Flags |= Expands
		}
	}
	e.Value = strings.TrimSpace(strings.ReplaceAll(strings.Join(parts, " "), `\n`, ""))
	e.style = styleFixed
	if len(words) == 1 && !words[0].quoted {
		e.style = stylePlain
	}
	e.Name, e.Iface = s.fileName(target)
	if looped {
		e.Flags |= Looped
	}
	s.emit(e)
}

// severalFiles rejects a redirection into files of the kernel that a pattern stands for.
func (s *scanner) severalFiles(target word) bool {
	if !fitsSeveral.MatchString(target.text) || s.text(target.span) == "" || s.teed(target) {
		return false
	}
	s.rejected(Reject{Line: target.line, Span: target.span, certain: true,
		Reason: "a redirection writes one file: write | tee " + target.text + " >/dev/null, or a loop",
		Because: "bash refuses a pattern that fits several files (ambiguous redirect), and other shells look for a file of that very " +
			"name; then nothing is set."})
	return true
}

// fitsSeveral is a pattern below /proc or /sys that fits several files on nearly every machine. bash writes to the only one that
// another pattern fits, as hwmon/hwmon* may.
var fitsSeveral = regexp.MustCompile(`^/(?:proc|sys)/(?:.*/)?(?:(?:cpu|policy|rx-|tx-|eth|en|sd|nvme)(?:\[0-9\])?\*|(?:irq|net|block|conf|neigh)/\*(?:/|$))`)

// kernelFile is a file below /proc or /sys.
var kernelFile = regexp.MustCompile(`^/(?:proc|sys)/`)

// teed reports whether a file is an argument of tee, which the shell gives every file that a pattern fits.
func (s *scanner) teed(target word) bool {
	line := s.src[s.lineOf(target.span.Start).Start:target.span.Start]
	return !strings.HasSuffix(strings.TrimRight(strings.TrimSuffix(line, `"`), " \t"), ">")
}

// otherwise reports whether the command behind || writes the same file: what the first one writes may be refused.
func (s *scanner) otherwise(target word, base Entry) bool {
	const near = 300
	if target.span.End >= base.Raw.End {
		return false
	}
	_, rest, ok := strings.Cut(s.src[target.span.End:min(base.Raw.End, target.span.End+near)], "||")
	return ok && kernelFile.MatchString(target.text) && strings.Contains(rest, s.text(target.span))
}

// overPattern puts the pattern that a loop runs over into a path that begins with its variable.
func (s *scanner) overPattern(path string) string {
	rest, begins := strings.CutPrefix(path, "$"+s.loop)
	if !begins {
		rest, begins = strings.CutPrefix(path, "${"+s.loop+"}")
	}
	if !begins || len(s.over) != 1 || s.over[0].quoted || !strings.HasPrefix(s.over[0].text, "/") || rest != "" && rest[0] != '/' {
		return path
	}
	return s.over[0].text + rest
}

// fileName returns the catalog's name of a file below /proc or /sys: the
// sysctl's name, or the path with the interface, queue and interrupt as '*'.
func (s *scanner) fileName(target word) (name, iface string) {
	path := target.text
	if rest, ok := strings.CutPrefix(path, "/proc/sys/"); ok {
		name = LinuxName(strings.ReplaceAll(rest, "$", "*"))
		if target.expands {
			return name, "*"
		}
		return name, linuxIface(name)
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		switch {
		case i == 4 && strings.HasPrefix(path, "/sys/class/net/"):
			iface, parts[i] = p, "*"
			if strings.Contains(p, "$") {
				iface = "*"
			}
		case strings.HasPrefix(p, "rx-"):
			parts[i] = "rx-*"
		case strings.HasPrefix(p, "tx-"):
			parts[i] = "tx-*"
		case i == 3 && strings.HasPrefix(path, "/proc/irq/"):
			parts[i] = "*"
		case i == 3 && strings.HasPrefix(path, "/sys/block/"):
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/"), iface
}
