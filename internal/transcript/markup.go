package transcript

import (
	"bytes"
	"mime/quotedprintable"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/regexp"
)

// A page's source and a mail as it travels hold outputs in other characters.

var (
	entity  = regexp.MustCompile(`&(lt|gt|amp|quot|nbsp|#\d+);`)
	encoded = regexp.MustCompile(`(?mi)^Content-Transfer-Encoding: *quoted-printable`)
)

// encodedLine is a line of a mail without its head that goes on behind a soft break, with an encoded character in it.
var encodedLine = regexp.MustCompile(`(?m)^.*=[0-9A-F]{2}.*=$`)

// readable turns the source of a web page or of a mail into what people see.
func readable(s string) string {
	const least = 8 // lines with soft breaks
	if encoded.MatchString(s) || strings.Count(s, "=\n") >= least-1 && !strings.Contains(s, "=\n=\n") &&
		len(encodedLine.FindAllStringIndex(s, least)) >= least {
		data, err := input.Stream(quotedprintable.NewReader(strings.NewReader(s)), "the message", int64(len(s))+1)
		// A body that is not wholly so encoded is read up to where it is not.
		if err == nil || len(data) > len(s)/2 {
			s = string(plainText(bytes.ToValidUTF8(data, []byte("?"))))
		}
	}
	if entity.MatchString(s) {
		s = withoutTags(s)
	}
	s = dashboardCell.ReplaceAllString(unsquashed(unescaped(s)), "$1 $2\n")
	return withoutMargin(singleSpaced(wholeLogLines(wholeProxyLines(s))))
}

// unescaped breaks the lines in which the text of a tool stands as a string of JSON or of a program: "Server
// listening\n[ 5] 0.00-1.00 sec\n".
func unescaped(s string) string {
	const least = 3
	if !strings.Contains(s, `\n`) {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.Count(line, `\n`) >= least && !strings.Contains(line, `\\n`) {
			lines[i] = escapes.Replace(line)
		}
	}
	return strings.Join(lines, "\n")
}

var escapes = strings.NewReplacer(`\r`, "", `\n`, "\n", `\t`, "\t", `\"`, `"`)

// inlineFence is a line that somebody put between the marks of a block, and boldLine one that is set in bold.
var (
	inlineFence = regexp.MustCompile("^\\s*```([^`]+)```\\s*$")
	boldLine    = regexp.MustCompile(`^\s*\*\*([^*]+)\*\*\s*$`)
)

// boldNumber is a number that somebody set in bold in a row of a table.
var boldNumber = regexp.MustCompile(`\*\*(\d[\d.,]*%?)\*\*`)

// arrowMark is what points at the line in front of it, or behind a counter at what somebody says of it; behind a command
// <<, <<< and < are its input.
var arrowMark = regexp.MustCompile(`(\d[\d.]*%?)[ \t]+(?:<{3,}|⟵|←).*$|(\S)[ \t]+<(?:[-=]{2,}|<{4,}).*$|(: +\d+)[ \t]+-{2,}>.*$`)

// logStart begins a line of a kernel's log: the time since the start, or the host before it.
var logStart = regexp.MustCompile(`(?:[\w.-]+ kernel: )?\[ *\d+\.\d{6}\] |\b\w[\w.-]* kernel: `)

// withoutTags is the text of a page; its lines stay where they are. What is in angle brackets and no element of HTML
// is an output's own: <UP,RUNNING>, <Link>.
func withoutTags(page string) string {
	var b strings.Builder
	hidden := false // in a script or style
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		raw := string(z.Raw())
		name, _ := z.TagName()
		element := atom.Lookup(name)
		switch {
		case kind == html.ErrorToken:
			return b.String()
		case kind == html.TextToken && !hidden:
			b.Write(z.Text())
			continue
		case kind == html.StartTagToken, kind == html.EndTagToken, kind == html.SelfClosingTagToken:
			if element == 0 || element == atom.Link {
				b.WriteString(raw)
				continue
			}
			hidden = kind == html.StartTagToken && (element == atom.Script || element == atom.Style)
		}
		b.WriteString(strings.Repeat("\n", strings.Count(raw, "\n")))
	}
}

// margins are what editors, loggers and tables put in front of every line, perhaps of a quotation.
var margins = []*regexp.Regexp{
	regexp.MustCompile(`^(?:> ?)* *\d{1,6}(\t|\|) ?`),
	regexp.MustCompile(`^(?:> ?)*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s\]]*\]? `),
	regexp.MustCompile(`^(?:> ?)* *\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?:? (?:(?:DEBUG|INFO|WARN(?:ING)?|ERROR) *\| ?)?`),
	regexp.MustCompile(`^(?:> ?)*[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \S+ \S*[a-z\])]: `), // not "host ix0: "
	regexp.MustCompile(`^(?:> ?)*[|│┃] ?`),
}

// printedBy is what those put in front of each line who run several programs: the name of the one that printed it.
var printedBy = regexp.MustCompile(`^(?:\[[\w-]+/[\w./-]{1,96}\]|[A-Za-z][\w.-]{0,63}(?: [\w.-]{1,63}){0,3} *[:|]) +`)

// withoutProgram takes the name that most lines of a program begin with off these, where more is understood without.
func withoutProgram(lines []string) {
	const least = 5
	seen, most := map[string]int{}, ""
	for _, line := range lines[:min(len(lines), marginLines)] {
		if name := printedBy.FindString(line); name != "" {
			if seen[name]++; seen[name] > seen[most] {
				most = name
			}
		}
	}
	if seen[most] < least {
		return
	}
	with, _ := understood(lines, nil)
	bare := slices.Clone(lines)
	for i, line := range bare {
		bare[i] = strings.TrimPrefix(line, most)
	}
	if without, _ := understood(bare, nil); without >= with+least-1 {
		copy(lines, bare)
	}
}

// marginLines bounds what is looked at to find a margin.
const marginLines = 400

// withoutMargin takes off what stands in front of most lines when no less is
// understood without it.
func withoutMargin(s string) string {
	lines := strings.Split(s, "\n")
	best, most, logs := (*regexp.Regexp)(nil), -1, 0
	for _, m := range margins {
		if !onMost(lines, m) {
			continue
		}
		if most < 0 {
			most, logs = understood(lines, nil)
		}
		if n, _ := understood(lines, m); n > most || n == most && n > logs && best == nil { // a log keeps its times
			best, most = m, n
		}
	}
	if best == nil {
		withoutProgram(lines)
		return strings.Join(lines, "\n")
	}
	for i, line := range lines {
		if at := best.FindStringIndex(line); at != nil {
			lines[i] = strings.TrimSuffix(line[at[1]:], " |")
		}
	}
	return strings.Join(lines, "\n")
}

// onMost reports whether four of five lines have a margin.
func onMost(lines []string, margin *regexp.Regexp) bool {
	with, all := 0, 0
	for _, line := range lines[:min(len(lines), marginLines)] {
		if rest, fence := unmarked(line); fence || strings.TrimSpace(rest) == "" {
			continue
		}
		all++
		if at := margin.FindStringIndex(line); at != nil && !strings.Contains(line[:at[1]], "kernel") &&
			!strings.HasPrefix(line[at[1]:], "IP ") && !strings.HasPrefix(line[at[1]:], "IP6 ") { // tcpdump's own times
			with++
		}
	}
	return with > 0 && with*5 >= all*4
}

// understood counts the first lines that begin something known without a
// margin, and those of them that are of a log.
func understood(lines []string, margin *regexp.Regexp) (n, logs int) {
	for _, line := range lines[:min(len(lines), marginLines)] {
		if margin != nil {
			if at := margin.FindStringIndex(line); at != nil {
				line = line[at[1]:]
			}
		}
		if len(line) >= 512 {
			continue
		}
		l := looseForm(line)
		if l != nil || blockBegun(line) != "" || commandOf(line) != "" {
			n++
		}
		if l != nil && l.name == "dmesg" {
			logs++
		}
	}
	return n, logs
}

// unmarked takes off what mail and forums add to a line: the mark of a
// quotation, stars and backticks around it. A fence is told.
//
// What people draw behind a line, to point at it, is taken off: "tx_send_full: 75776 <<<<<", "dropped 12 <--- here".
func unmarked(line string) (rest string, fence bool) {
	for strings.HasPrefix(line, ">") {
		rest := strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
		if words := commandWords(rest); isCommand(words) && !isSentence(rest) {
			break // a prompt
		}
		line = rest
	}
	if rest, ok := strings.CutPrefix(line, "# "); ok &&
		(strings.HasPrefix(rest, "$ ") || startsNumber.MatchString(rest) || blockBegun(rest) != "") {
		line = rest // a comment in a script
	}
	if m := inlineFence.FindStringSubmatch(line); m != nil {
		line = m[1]
	}
	if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
		return "", true
	}
	if strings.ContainsAny(line, "<⟵←>") {
		line = arrowMark.ReplaceAllString(line, "$1$2$3")
	}
	if strings.Contains(line, "**") {
		line = boldLine.ReplaceAllString(boldNumber.ReplaceAllString(line, "$1"), "$1")
	}
	if strings.ContainsAny(line, "[{<") {
		line = forumMark.ReplaceAllString(line, "")
	}
	if len(line) > 2 && strings.HasPrefix(line, "`") {
		line = strings.TrimSuffix(line[1:], "`")
	}
	if quoted, ok := strings.CutPrefix(line, `"`); ok && strings.HasSuffix(quoted, `"`) {
		line = strings.TrimSuffix(quoted, `"`)
	}
	if m := titledLine.FindStringSubmatch(line); m != nil {
		line = m[1]
	}
	if strings.Contains(line, "**") {
		line = boldWord.ReplaceAllString(line, "$1") // a number that somebody points at
	}
	if bold, ok := strings.CutPrefix(line, "**"); ok && strings.HasSuffix(bold, "**") {
		line = strings.TrimSuffix(bold, "**")
	}
	return line, false
}

// isSentence tells a quoted sentence that begins with the name of a tool ("free CPU. I'll keep on testing") from a
// command: it has many words, an end or a comma within, and nothing of a shell.
func isSentence(s string) bool {
	words := strings.Fields(s)
	return len(words) > 4 && !strings.ContainsAny(s, "|/=<>;$") && !strings.Contains(s, " -") &&
		strings.ContainsAny(strings.Join(words[:len(words)-1], " "), ".,'?!")
}

// isHeading tells the heading of a page in Markdown ("# iperf3 is slow with an MTU of 9000") from a command of root: it
// has the words of a sentence and nothing of a shell.
func isHeading(line string) bool {
	rest := strings.TrimLeft(line, "#")
	if rest == line || !strings.HasPrefix(rest, " ") {
		return false
	}
	words := strings.Fields(rest)
	if strings.HasPrefix(line, "##") && len(words) > 1 && !strings.ContainsAny(rest, "|/=<>;$-") {
		return true
	}
	return len(words) > 3 && !strings.ContainsAny(rest, "|=;$") && !strings.Contains(rest, " -") &&
		!strings.HasPrefix(words[1], "/") &&
		slices.ContainsFunc(words[1:], func(w string) bool {
			return slices.Contains(ofSentences, strings.ToLower(strings.Trim(w, ".,:?!()")))
		})
}

// ofSentences are words that stand in sentences and not in commands.
var ofSentences = strings.Fields("the a an and or but with without of in on at is are was has have had does do doesn't not " +
	"no why how what when while if than very slow slower fast after between only after since during despite reports " +
	"showing shows drops cause causes high low poor bad issue problem problems can't cannot could should")

var boldWord = regexp.MustCompile(`\*\*(\d[\w.,:%/-]*)\*\*`)

// titledLine has the title of iperf3 -T in front.
var titledLine = regexp.MustCompile(`^[\w.-]{1,32}: {1,2}(\[ *(?:ID|SUM|\d+)\] .*|Test Complete.*|Connecting to host .*)$`)

// forumMark is what forums, trackers and pages put around an output.
var forumMark = regexp.MustCompile(`(?i)\[/?(?:code|icode|quote|pre|php|spoiler|tt|font|size|color|b|i)(?:=[^\]]*)?\]|` +
	`\{(?:noformat|code)(?::[^}]*)?\}|</?(?:pre|code|tt|blockquote)(?: [^>]*)?>`)

// outdent takes off the indentation of a section: that of its prompt, and without one that of outputs which a post shows
// as a block of code.
func (s section) outdent() {
	if s.command != "" {
		indent := s.line[:len(s.line)-len(strings.TrimLeft(s.line, " \t"))]
		for i := range s.lines {
			s.lines[i] = strings.TrimPrefix(s.lines[i], indent)
		}
		return
	}
	for i := 0; i < len(s.lines); i++ {
		first := s.lines[i]
		rest := strings.TrimLeft(first, " \t")
		indent := first[:len(first)-len(rest)]
		if rest == "" || indent == "" || blockBegun(first) != "" || blockBegun(rest) == "" {
			continue
		}
		for ; i < len(s.lines) && strings.HasPrefix(s.lines[i], indent); i++ {
			s.lines[i] = s.lines[i][len(indent):]
		}
	}
}
