package conffile

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/wirerate/wirerate/internal/regexp"
)

// guideBlock is a block of a guide with the file that it belongs to.
type guideBlock struct {
	kind           Kind
	file           string
	from, to, line int
	loose          bool   // the file is not named
	session        bool   // commands behind the prompt of a shell
	rules          bool   // of pf, one below the other without a mark
	indented       bool   // without a mark, as Markdown and reStructuredText have code
	system         System // that the text above speaks of, "" when it names none
}

// text is what the block holds, without prompts.
func (b *guideBlock) text(src string) string {
	text := src[b.from:b.to]
	if b.session {
		text, _ = sessionText(text)
	}
	return text
}

// guideAbove is how many lines above a block may name its file.
const guideAbove = 3

// fences open and close the blocks of the mark-ups of guides; an empty end is the mark itself, alone on its line.
var fences = []struct {
	open *regexp.Regexp
	end  string
}{
	{regexp.MustCompile("^[ \t]*(```|~~~)[^`]*$"), ""},
	{regexp.MustCompile(`(?i)\[code(?:[=:][^\]]*)?\]`), "[/code]"},
	{regexp.MustCompile(`(?i)<pre(?:[ \t][^>]*)?>(?:<code[^>]*>)?`), "</pre>"},
	{regexp.MustCompile(`(?i)<syntaxhighlight(?:[ \t][^>]*)?>`), "</syntaxhighlight>"},
	{regexp.MustCompile(`(?i)<source(?:[ \t][^>]*)?>`), "</source>"},
	{regexp.MustCompile(`(?i)^[ \t]*<code(?:[ \t][^>]*)?>[ \t]*$`), "</code>"},
	{regexp.MustCompile(`(?i)^[ \t]*<file(?:[ \t][^>]*)?>[ \t]*$`), "</file>"},
	{regexp.MustCompile(`(?i)^[ \t]*\{code(?::[^}]*)?\}`), "{code}"},
	{regexp.MustCompile(`(?i)^[ \t]*\{noformat\}`), "{noformat}"},
	{regexp.MustCompile(`^[ \t]*\{\{\{`), "}}}"},
	{regexp.MustCompile(`^[ \t]*\{%-? *highlight[^%]*%\}`), "{% endhighlight"},
	{regexp.MustCompile(`^(----+|\.\.\.\.+)[ \t]*$`), ""},
}

// marked is the mark of a block by which a text is a guide, whatever its lines look like.
var marked = regexp.MustCompile("(?im)^[ \\t]*(?:```|~~~|\\[code|<pre|<syntaxhighlight|<source|\\{code|\\{\\{\\{)|\\[/code\\]|^<tunable>|" +
	`^[ \t]*(?:` + anyPrompt + `)?(?:` + asRoot + shows + ` )?/\S*(?:(?:sysctl|loader|rc|pf)\.conf(?:\.local)?|hostname\.[a-z]+[0-9]+):?[ \t]*$`)

// sentence is a line of prose, which no file holds outside of its comments.
var sentence = regexp.MustCompile(`(?m)^[ \t]*(?:[\p{Lu}\p{Lo}](?:[^\s=$;{}<>|#]*[ \t]+){4,}[^\s=$;{}<>|#]+|\p{Lo}[^=$;{}<>|#\n]{12,})[ \t\r]*$`)

// isGuide reports a text in which lines of files stand between marks, or between sentences.
func isGuide(text string) bool {
	return marked.MatchString(text) || len(sentence.FindAllStringIndex(text, 2)) > 1
}

// shows are the commands that print a file or open it in an editor.
const shows = `(?:cat|more|less|` + editors + `)`

// editing is one that opens an editor.
var editing = regexp.MustCompile(`^(?:` + anyPrompt + `)?` + asRoot + editors + ` `)

// editorLine is such a command, alone on its line: the lines below it are of the file, or belong into it.
var editorLine = regexp.MustCompile(`^(?:` + anyPrompt + `)?` + asRoot + shows + `[ \t]+(/\S+)$`)

// fileLine is the path of a file, alone on its line: the lines below it, as far as the next sentence, are of the file.
var fileLine = regexp.MustCompile("^[*`]*(/(?:etc|boot)/[a-z0-9._/-]+)[*`]*:?$")

// opened returns where the text of a block begins behind the mark of its begin in a line, and the mark of its end.
func opened(line, before string) (at int, end string) {
	for _, f := range fences {
		m := f.open.FindStringIndex(line)
		if m == nil || underlines(strings.TrimSpace(line), before) {
			continue
		}
		if end = f.end; end == "" {
			end = strings.TrimSpace(line)
			if end[0] == '`' || end[0] == '~' {
				end = end[:3]
			} else if !strings.HasPrefix(before, "[") {
				continue // a line under a heading, which AsciiDoc's blocks have an attribute above
			}
		}
		return m[1], end
	}
	return 0, ""
}

// underlines reports a line below a heading of reStructuredText, which has its length.
func underlines(line, heading string) bool {
	return len(line) > 3 && strings.Trim(line, "~") == "" && utf8.RuneCountInString(heading) == len(line)
}

// closed returns where the text of a block ends in a line, -1 where it goes on.
func closed(line, end string) int {
	if strings.Contains("```~~~", end) || end[0] == '-' || end[0] == '.' {
		text := strings.TrimSpace(line)
		if len(end) == 3 && strings.HasPrefix(text, end) || text == end {
			return 0
		}
		return -1
	}
	return strings.Index(strings.ToLower(line), end)
}

// plainAssignment is a line of a guide that is an assignment, or a command with assignments, and nothing else.
var plainAssignment = regexp.MustCompile(`^(?:(?:sudo |doas )?(?:sysctl|sysrc)(?: -w)? +[a-z][a-z0-9_]*[._][^ =]+=[^ ]+|kldload +(?:/boot/(?:kernel|modules)/)?[a-z0-9_]+(?:\.ko)?)$|` +
	`^(?:[A-Za-z_][A-Za-z0-9_.%-]*[._][A-Za-z0-9_.%-]*|hostname|defaultrouter|dumpdev|keymap)=(?:"[^"]*"|[^ \t"]+)[ \t]*(?:\\?#.*|(?:[—–-]|//) .*)?$`)

// spacedAssignment is one with blanks that the shell does not take, among others without.
var spacedAssignment = regexp.MustCompile(`^[a-z][a-z0-9]*_[A-Za-z0-9_]* = "[^"]*"[ \t]*(?:#.*)?$`)

// explained begins what a guide says behind a value.
var explained = regexp.MustCompile(`[ \t]+(?:\\#|[—–-] |// ).*$`)

// guideText goes through the lines of a guide.
type guideText struct {
	src   string
	block func(guideBlock) bool
	other func(line, from, to int, head string)

	above   []string // lines since the last block
	head    string   // of the table
	end     string   // of the block that is open
	plain   bool     // it is a block of assignments without a mark
	output  bool     // a command above may have printed the line
	runOn   bool     // whose last line goes on in the next one
	before  string   // the line above
	from    int
	first   int
	opened  string // the file that the last line of the block before opened in an editor
	edited  string // the file that the last command of an editor outside the blocks opened
	section bool   // the lines are below the head of a section of another program's file
	past    int    // as far as the lines were looked at for rules of pf
	code    int    // as far as they were looked at for indented code
	alone   bool   // or the file whose path stood alone on a line
	told    System // by the last heading, or line with a file, that names a system
}

// guideHeading is a line that says what follows.
var guideHeading = regexp.MustCompile(`^(?:#+ |=+ |\*\*|\[[bB]\]|\[SIZE|<h[1-6]|h[1-6]\. )`)

// shortLead is a line of a few words that says what follows.
var shortLead = regexp.MustCompile("^(?:[A-Za-z0-9.`()/-]+ ){0,4}[A-Za-z0-9.`()/-]+:$")

// tells keeps the system that a heading or a line with the name of a file speaks of.
func (g *guideText) tells(text string) {
	if !guideHeading.MatchString(text) && !namedFile.MatchString(text) && !shortLead.MatchString(text) {
		return
	}
	systems := systemsNamed(text, guideSystem)
	if strings.Contains(text, "loader.conf") { // which FreeBSD alone has
		delete(systems, Linux)
	}
	g.told = cmp.Or(onlyOne(systems), g.told)
}

// guideBlocks hands out the blocks of a text whose file is known, and the lines between the blocks.
func guideBlocks(src string, block func(guideBlock) bool, other func(line, from, to int, head string)) {
	g := &guideText{src: src, block: block, other: other}
	for line, start := 1, 0; start < len(src); line++ {
		end := len(src)
		if i := strings.IndexByte(src[start:], '\n'); i >= 0 {
			end = start + i
		}
		if to, lines := g.rules(start); to > start {
			if !g.handRules(line, start, to) {
				return
			}
			start, line = to, line+lines-1
			continue
		}
		to, b := g.indented(start)
		if to == start {
			to, b = g.script(start)
		}
		if to > start {
			lines := strings.Count(src[start:to], "\n")
			g.from, g.first, g.before = start, line, ""
			if !g.hand(to, b) {
				return
			}
			start, line = to, line+lines-1
			continue
		}
		if !g.step(line, start, end) {
			return
		}
		start = end + 1
	}
	if g.plain {
		g.concludePlain(len(src))
	}
}

// assigns reports a line without a mark that is one of a configuration file: an assignment, a statement of pf.conf, an option
// of a kernel, and below the name of a hostname.if a line of it.
func (g *guideText) assigns(text string) bool {
	if g.plain && g.runOn && text != "" { // goes on from the line above
		g.runOn = strings.HasSuffix(text, `\`)
		return true
	}
	name := g.edited
	if len(g.above) > 0 && namedFile.MatchString(g.above[len(g.above)-1]) {
		name = namedFile.FindString(g.above[len(g.above)-1])
	}
	fits := plainAssignment.MatchString(text) || pfLine.MatchString(text) || kernelOptions.MatchString(text) ||
		g.plain && kernelLine.MatchString(text) ||
		isHostnameIf(base(name)) && hostnameLine.MatchString(text)
	fits = fits && (g.plain || !g.output)
	g.runOn = fits && strings.HasSuffix(text, `\`)
	return fits
}

// silent is a command that prints no line of a file.
var silent = regexp.MustCompile(`\bsysctl[ \t]+(?:-w[ \t]+)?[a-z][A-Za-z0-9_.]+=`)

// prints reports a command behind a prompt, which may print what comes next.
func prints(text string) bool {
	command := prompt.MatchString(text) || sessionCommand.MatchString(text)
	return command && !editorLine.MatchString(text) && !silent.MatchString(text)
}

func (g *guideText) step(line, start, end int) bool {
	raw := g.src[start:end]
	text := strings.TrimSpace(raw)
	defer func() { g.before = text }()
	if g.end != "" {
		if at := closed(raw, g.end); at >= 0 {
			g.end = ""
			return g.conclude(start + at)
		}
		return true
	}
	assigned := g.assigns(text) || g.plain && spacedAssignment.MatchString(text)
	if assigned && !g.plain {
		g.plain, g.from, g.first = true, start, line
		return true
	}
	if !assigned && g.plain && !g.concludePlain(start) {
		return false
	}
	if g.plain || text == "" {
		g.output = false
		return true
	}
	g.output = g.output || prints(text)
	if iniSection.MatchString(text) || sentence.MatchString(text) || guideHeading.MatchString(text) || fileLine.MatchString(text) {
		g.section = iniSection.MatchString(text)
	}
	if at, mark := opened(raw, g.before); mark != "" {
		if before := strings.TrimSpace(raw[:at]); before != "" {
			g.tells(before)
			g.above = append(g.above, before)
		}
		return g.begin(line, start+at, end, mark)
	}
	g.tells(text)
	if m := editorLine.FindStringSubmatch(text); m != nil {
		g.edited, g.alone, g.output = m[1], !editing.MatchString(text), false
	} else if m := fileLine.FindStringSubmatch(text); m != nil {
		g.edited, g.alone = m[1], true
	} else if g.alone && (g.output || sentence.MatchString(text)) {
		g.edited, g.alone = "", false
	}
	g.above = append(g.above, text)
	if tabled := text[0] == '|' || strings.Contains(text, "\t"); !tabled {
		g.head = ""
	} else if g.head == "" {
		g.head = text
	}
	g.other(line, start, end, g.head)
	return true
}

// Lines of pf.conf that no sentence looks like, and those that may stand between them.
var (
	pfStatement = regexp.MustCompile(`^(?:set (?:skip on|limit|timeout|optimization|block-policy|loginterface|state-policy|ruleset-` +
		`optimization|fingerprints|debug) .+|scrub (?:in|out|on)\b.*|(?:nat|rdr|binat|no nat|no rdr)(?: pass)? (?:on|from|proto) .+|` +
		`match (?:in|out|on) .+|(?:pass|block)(?: (?:return|drop))?(?: (?:in|out))?(?: log(?: \([a-z]+\))?)?(?: quick)?(?: on [^ ]+| inet6?| ` +
		`proto [^ ]+| from .+| to .+| all| (?:keep|modulate|synproxy|no) state| flags [^ ]+)*|antispoof .+|table <[^>]+>.*|(?:nat-|rdr-)?anchor "[^"]+".*)$`)
	pfBetween = regexp.MustCompile(`^(?:#.*|[a-z][a-z0-9_]* ?= ?"[^"]*"[ \t]*(?:#.*)?)?$`)
)

// fewRules is how many statements of pf.conf outside of a block are taken for a part of the file.
const fewRules = 3

// rules returns where lines of pf.conf end that begin at start outside of the blocks, and how many they are; start where
// there are none.
func (g *guideText) rules(start int) (end, lines int) {
	if g.end != "" || g.past > start || g.output {
		return start, 0
	}
	statements, count := 0, 0
	last := start
	for at := start; at < len(g.src); {
		line, _, _ := strings.Cut(g.src[at:], "\n")
		next := min(at+len(line)+1, len(g.src))
		text := strings.TrimSpace(line)
		count++
		if pfStatement.MatchString(text) {
			statements++
			last, lines = next, count
		} else if text == "" && at == start || !pfBetween.MatchString(text) {
			break
		}
		at = next
		g.past = next // so that no line is looked at twice
	}
	if statements < fewRules {
		return start, 0
	}
	return last, lines
}

// listItem begins an item, whose further paragraphs are indented too.
var listItem = regexp.MustCompile(`^(?:[-*+•]|[0-9]+[.)])[ \t]`)

// indented returns where code ends that begins at start and has no mark but its indentation, and what it is; start where
// there is none that is read as a whole.
func (g *guideText) indented(start int) (end int, b guideBlock) {
	if g.end != "" || g.plain || g.before != "" || g.code > start || indent(g.src[start:]) < 4 ||
		len(g.above) > 0 && listItem.MatchString(g.above[len(g.above)-1]) {
		return start, guideBlock{}
	}
	end = start
	for at := start; at < len(g.src); {
		line, _, _ := strings.Cut(g.src[at:], "\n")
		text := strings.TrimSpace(line)
		if text != "" && indent(line) < 4 || strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") {
			break
		}
		at = min(at+len(line)+1, len(g.src))
		g.code = at
		if text != "" {
			end = at
		}
	}
	if b = blockOf(g.src[start:end], g.above, g.edited); b.kind != Script && b.kind != Jail && b.kind != HostnameIf {
		return start, guideBlock{}
	}
	b.indented = true
	return end, b
}

// indent is how far a line is indented, which is 0 for an empty one.
func indent(text string) (n int) {
	for _, c := range text {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4
		case '\n', '\r':
			return 0
		default:
			return n
		}
	}
	return 0
}

func (g *guideText) handRules(line, from, to int) bool {
	if g.plain && !g.concludePlain(from) {
		return false
	}
	g.from, g.first, g.before = from, line, ""
	return g.hand(to, guideBlock{kind: PF, loose: true, rules: true})
}

// begin opens a block whose text begins at from, or with the next line; it may end in the same line.
func (g *guideText) begin(line, from, end int, mark string) bool {
	g.end, g.from, g.first = mark, from, line
	if strings.TrimSpace(g.src[from:end]) == "" {
		g.from, g.first = min(end+1, len(g.src)), line+1
		return true
	}
	if at := closed(g.src[from:end], mark); at > 0 {
		g.end = ""
		return g.conclude(from + at)
	}
	return true
}

// fileComment is a line that names the file of the lines below it, and nothing else: a comment, words before the path in
// parentheses, the heading that head(1) and tail(1) print, or a command behind a prompt that prints or edits the file.
var fileComment = regexp.MustCompile(`(?m)^(?:#+[ \t]*/(?:etc|boot)/[a-z0-9._/-]+:?|[A-Z][A-Za-z ]{0,40}\(/(?:etc|` +
	`boot)/[a-z0-9._/-]+\):|==> /(?:etc|boot)/[a-z0-9._/-]+ <==|` + anyPrompt + asRoot + shows +
	`[ \t]+/(?:etc|boot|usr/local/etc)/[a-z0-9._/-]+)[ \t]*$`)

// conclude hands out the block that ends at to, in parts where comments inside say that another file begins.
func (g *guideText) conclude(to int) bool {
	begin, edited := g.from, g.opened
	if g.opened = ""; strings.Contains(g.src[begin:to], "/etc/") {
		g.opened = lastEdited(g.src[begin:to])
	}
	for _, m := range fileComment.FindAllStringIndex(g.src[begin:to], -1) {
		at := begin + m[0]
		part := g.src[g.from:at]
		if strings.TrimSpace(part) != "" {
			if !g.handPart(at, edited) {
				return false
			}
			edited = ""
			g.from, g.first = at, g.first+strings.Count(part, "\n")
		}
		line := strings.TrimSuffix(strings.Replace(strings.TrimSpace(g.src[at:begin+m[1]]), "==>", "cat", 1), " <==")
		if file := editorLine.FindStringSubmatch(line); file != nil {
			edited, g.above = file[1], g.above[:0]
			next := min(begin+m[1]+1, to)
			g.first += strings.Count(g.src[g.from:next], "\n")
			g.from = next
		}
	}
	return g.handPart(to, edited)
}

// handPart hands out the block that ends at to, its first paragraph by itself where that is of rc.conf and commands follow.
func (g *guideText) handPart(to int, edited string) bool {
	part := g.src[g.from:to]
	b := blockOf(part, g.above, edited)
	first, _, further := strings.Cut(part, "\n\n")
	if b.kind != "" && b.kind != Script || !further {
		return g.hand(to, b)
	}
	if head := blockOf(first, g.above, edited); head.kind == RC {
		if !g.hand(g.from+len(first), head) {
			return false
		}
		g.from, g.first = g.from+len(first)+1, g.first+strings.Count(first, "\n")+1
	}
	return g.hand(to, b)
}

// lastEdited is the file that the last line of a block of commands opens in an editor, "" for another line.
func lastEdited(block string) string {
	block = strings.TrimRight(block, " \t\r\n")
	m := editorLine.FindStringSubmatch(strings.TrimSpace(block[strings.LastIndexByte(block, '\n')+1:]))
	if m == nil {
		return ""
	}
	return m[1]
}

// concludePlain hands out the block of assignments without a mark that ends at to.
func (g *guideText) concludePlain(to int) bool {
	if g.section {
		return g.hand(to, guideBlock{})
	}
	return g.hand(to, blockOf(g.src[g.from:to], g.above, g.edited))
}

func (g *guideText) hand(to int, b guideBlock) bool {
	fenced := !g.plain
	if fenced {
		g.above = g.above[:0] // several paragraphs may go into one file
	}
	g.plain = false
	if b.kind == "" {
		for line, from := g.first, g.from; fenced && from < to; line++ {
			text, _, _ := strings.Cut(g.src[from:to], "\n")
			if flowItem.MatchString(text) {
				g.other(line, from, from+len(text), "")
			}
			from += len(text) + 1
		}
		return true
	}
	b.from, b.to, b.line, b.system = g.from, to, g.first, g.told
	return g.block(b)
}
