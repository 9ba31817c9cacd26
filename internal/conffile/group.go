package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// group is a list of commands in braces or parentheses whose output goes to a file.
type group struct {
	Span
	target word
}

// maxGroups bounds the groups of a script whose ends are looked for.
const maxGroups = 100

var (
	groupBegin = regexp.MustCompile(`(?m)^[ \t]*[{(][ \t]*$`)
	groupEnd   = regexp.MustCompile(`^[ \t]*(?:>>?|\|[ \t]*(?:sudo[ \t]+)?tee[ \t]+(?:-a[ \t]+)?)[ \t]*(?:"([^"\n]*)"|([^ \t\n;&|"]+))`)
)

// findGroups reads where the groups of a script begin, whose bracket stands alone in its
// line, and what is behind the bracket that stands below it:
//
//	{
//	    echo net.core.somaxconn=4096
//	} >> /etc/sysctl.conf
func (s *scanner) findGroups(from, to int) (found []group) {
	for _, m := range groupBegin.FindAllStringIndex(s.src[from:to], maxGroups) {
		begin, line := from+m[0], s.src[from+m[0]:from+m[1]]
		bracket := strings.TrimSpace(line)
		shut := "\n" + line[:strings.Index(line, bracket)] + map[string]string{"{": "}", "(": ")"}[bracket]
		at := strings.Index(s.src[begin:to], shut)
		if at < 0 {
			continue
		}
		end := begin + at + len(shut)
		rest, _, _ := strings.Cut(s.src[end:to], "\n")
		t := groupEnd.FindStringSubmatchIndex(rest)
		if t == nil {
			continue
		}
		i := max(t[2], t[4])
		span := Span{end + i, end + max(t[3], t[5])}
		found = append(found, group{Span{begin, end}, word{text: s.text(span), span: span}})
	}
	return found
}

// groupTarget is the file that the output of a command at an offset goes to.
func (s *scanner) groupTarget(at int) word {
	for _, g := range s.groups {
		if g.Start <= at && at < g.End {
			return g.target
		}
	}
	return word{}
}
