package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// kernelConf reads the options of a kernel's configuration (config(5) of FreeBSD): options NAME or NAME=VALUE, several with
// commas between them. One without a value is 1, as config defines it.
func (s *scanner) kernelConf() {
	s.lines(textStart(s.src), len(s.src), 1, func(line, from, to int) bool {
		text, _, _ := strings.Cut(s.src[from:to], "#")
		m := kernelOptions.FindStringSubmatchIndex(text)
		if m == nil {
			return true
		}
		at := from + m[2]
		for word := range strings.SplitSeq(text[m[2]:m[3]], ",") {
			name, value, assigned := strings.Cut(word, "=")
			key := Span{at, at + len(name)}
			set := Span{key.End + 1, at + len(word)}
			if !assigned {
				value, set = "1", Span{key.End, key.End}
			}
			s.emit(Entry{Key: name, Name: name, Value: value, Line: line, KeySpan: key, ValueSpan: set,
				Raw: s.wholeLines(key), style: styleFixed})
			at += len(word) + 1
		}
		return true
	})
}

// Lines of a kernel's configuration: one that names options, any, and one that FreeBSD's have and those of other systems not.
var (
	kernelOptions = regexp.MustCompile(`^[ \t]*options?[ \t]+([A-Z][A-Z0-9_]*(?:=[^\s,]+)?(?:,[A-Z][A-Z0-9_]*(?:=[^\s,]+)?)*)[ \t\r]*$`)
	kernelLine    = regexp.MustCompile(`^(?:(?:machine|cpu|ident|profile|maxusers|makeoptions|nomakeoptions?|nooptions?|device|nodevices?|include|` +
		`hints|env|envvar|files)[ \t]+\S.*|nocpu[ \t].*|options?[ \t]+[A-Z][A-Z0-9_]*\S*[ \t]*(?:#.*)?)$`)
	kernelSign = regexp.MustCompile(`(?m)^[ \t]*(?:options[ \t]+(?:IPFIREWALL|DUMMYNET|IPDIVERT|SCHED_|COMPAT_FREEBSD|NETGRAPH|ROUTETABLES|` +
		`DEVICE_POLLING|ACCEPT_FILTER_|VIMAGE|HZ=)|include[ \t]+"?GENERIC)`)
	kernelElsewhere = regexp.MustCompile(`(?i)NetBSD|DragonFly|OpenBSD|pseudo-device`)
)

// kernelText reports a kernel's configuration of FreeBSD, or a part of one.
func kernelText(text string) bool {
	return kernelSign.MatchString(text) && allLines(text, kernelLine) && !kernelElsewhere.MatchString(text)
}
