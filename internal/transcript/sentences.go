package transcript

import (
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// quoted is the passage of a sentence, in backticks or quotation marks, that has a form itself: the message without
// the words around it; else the line. Nothing is left of one that only names a message, or says that there is none.
func quoted(line string, l *namedForm) string {
	const short = 120 // a line of a log, not a sentence
	if l.form == nil {
		return line
	}
	for _, mark := range []string{"`", `"`} {
		parts := strings.Split(line, mark)
		named := false
		for i := 1; i < len(parts); i += 2 {
			switch {
			case !l.form.MatchString(parts[i]):
			case denied.MatchString(parts[i-1]) || mark == "`" && isName(parts[i]):
				named = true
			case len(line) >= short:
				return parts[i]
			}
		}
		if named {
			return ""
		}
	}
	return line
}

// denied ends what stands before a message that somebody looked for in vain.
var denied = regexp.MustCompile(`\b(?i:no|not|without|never|any|nor|(?:track|detect|monitor|match|catch|avoid|prevent)(?:ing|s|es)?|` +
	`(?:search|look|grep|watch|wait)(?:ing|es|s)? for|alert(?:s|ing)? on)\W*$|(?:没有|没|未)(?:找到|发现|看到|见到)\W*$`)

// isName reports whether a passage in backticks is the name of a message and no message: `NETDEV WATCHDOG`.
func isName(s string) bool { return len(strings.Fields(s)) < 3 && !strings.ContainsAny(s, ":=") }

// takeCounters keeps the paragraphs of which hardly a line has a known form, and that count losses all the same.
func (o outputs) takeCounters(p passage, known ...map[string]*scattered) {
	taken := map[int]bool{}
	for _, all := range known {
		for _, s := range all {
			for _, line := range s.at {
				taken[line] = true
			}
		}
	}
	for _, par := range paragraphs(p) {
		const few = 8 // a line of a known form among so many others does not tell what they are
		known := 0
		for _, line := range par.at() {
			if taken[line] {
				known++
			}
		}
		if known*few <= len(par.lines) && facts.CountsLosses(par.lines) {
			o.add(facts.OtherCounters, "", "\n"+strings.Join(par.lines, "\n"), par.at())
			for _, line := range par.at() {
				taken[line] = true
			}
		}
	}
	o.takeReports(p, taken)
}

// takeReports keeps the lines without a time or a level that report a failure, where they stand as what a program printed:
// shown as such, behind a line of a log or a colon, or several times.
func (o outputs) takeReports(p passage, taken map[int]bool) {
	const longest = 400
	shapes := map[string]int{}
	var reports []int
	for i, line := range p.lines[:min(len(p.lines), logLines)] {
		if len(line) > longest || taken[p.first+i] || strings.TrimSpace(line) == "" || heading.MatchString(line) {
			continue
		}
		if _, ok := facts.UnstampedReport(line); ok {
			reports = append(reports, i)
			shapes[standing.ReplaceAllString(line, "$1#")]++
		}
	}
	first := len(p.lines) // of a command's output the end is not known: what follows its first paragraph may be the post
	if at := paragraphs(p); len(at) > 0 {
		first = at[0].first - p.first + len(at[0].lines)
	}
	uniform := map[int]bool{}
	if len(reports) > 0 {
		uniform = ofOneProgram(p)
	}
	for _, i := range reports {
		line, before, next := p.lines[i], "", ""
		for j := i - 1; j >= max(i-2, 0) && before == ""; j-- { // perhaps above an empty line
			before = strings.TrimSpace(p.lines[j])
		}
		if i+1 < len(p.lines) {
			next = strings.TrimSpace(p.lines[i+1])
		}
		announced := (strings.HasSuffix(before, ":") || quotedLine.MatchString(line)) && message.MatchString(line) && !continues.MatchString(next)
		again := shapes[standing.ReplaceAllString(line, "$1#")] >= often
		if len(line) > proseLength && !strings.ContainsAny(line, "0123456789:=[]") &&
			(continues.MatchString(line) || continues.MatchString(next)) {
			continue // a line of a sentence that is longer than it
		}
		shown := *o.fenced || *o.typed && i < first || uniform[i]
		if shown || (announced || again || i > 0 && facts.IsLogLine(p.lines[i-1])) && !spoken.MatchString(line) {
			o.add(facts.Reports, "", line, []int{p.first + i})
		}
	}
}

// ofOneProgram are the lines of runs in which each line begins with the same name of a program, as those of a log do.
func ofOneProgram(p passage) map[int]bool {
	const least = 4
	uniform := map[int]bool{}
	for begin := 0; begin < len(p.lines); {
		name, end := programName.FindString(p.lines[begin]), begin+1
		for name != "" && end < len(p.lines) && strings.HasPrefix(p.lines[end], name) {
			end++
		}
		for i := begin; i < end && end-begin >= least; i++ {
			uniform[i] = true
		}
		begin = end
	}
	return uniform
}

// programName is the name of a program, marked as one, at the begin of a line.
var programName = regexp.MustCompile(`^(?:[\w./-]{2,40}(?:\[\d+\])?: |\[[\w ./-]{2,40}\] )`)

// quotedLine is nothing but a message in quotation marks.
var quotedLine = regexp.MustCompile("^\\s*[\"'`].{20,}[\"'`]\\.?\\s*$")

// spoken tells a sentence of a post from a message.
var spoken = regexp.MustCompile(`(?i)\b(?:i|we|my|our|you|your|it's|i'm|i've)\b|[?]$`)
