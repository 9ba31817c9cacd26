package transcript

import (
	"bytes"
	"mime/quotedprintable"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wirerate/wirerate/internal/input"
)

// A page's source and a mail as it travels hold outputs in other characters.

var (
	entity  = regexp.MustCompile(`&(lt|gt|amp|quot|nbsp|#\d+);`)
	encoded = regexp.MustCompile(`(?mi)^Content-Transfer-Encoding: *quoted-printable`)
)

// readable turns the source of a web page or of a mail into what people see.
func readable(s string) string {
	if encoded.MatchString(s) {
		data, err := input.Stream(quotedprintable.NewReader(strings.NewReader(s)), "the message", int64(len(s))+1)
		// A body that is not wholly so encoded is read up to where it is not.
		if err == nil || len(data) > len(s)/2 {
			s = string(plainText(bytes.ToValidUTF8(data, []byte("?"))))
		}
	}
	if entity.MatchString(s) {
		s = withoutTags(s)
	}
	return withoutMargin(s)
}

// withoutTags is the text of a page; its lines stay where they are. What is in angle brackets and no element of HTML
// is an
// output's own: <UP,RUNNING>, <Link>.
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

// margins are what editors, loggers and tables put in front of every line.
var margins = []*regexp.Regexp{
	regexp.MustCompile(`^ *\d{1,6}(\t|\|) ?`),
	regexp.MustCompile(`^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s\]]*\]? `),
	regexp.MustCompile(`^ *\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?:? `),
	regexp.MustCompile(`^[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \S+ \S+: `),
	regexp.MustCompile(`^[|│┃] ?`),
}

// marginLines bounds what is looked at to find a margin.
const marginLines = 400

// withoutMargin takes off what stands in front of most lines when no less is
// understood without it.
func withoutMargin(s string) string {
	lines := strings.Split(s, "\n")
	known := strings.Fields(tools)
	best, most := (*regexp.Regexp)(nil), -1
	for _, m := range margins {
		if !onMost(lines, m) {
			continue
		}
		if most < 0 {
			most = understood(lines, nil, known)
		}
		if n := understood(lines, m, known); n > most || n == most && n > 0 && best == nil {
			best, most = m, n
		}
	}
	if best == nil {
		return s
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
		if strings.TrimSpace(line) == "" {
			continue
		}
		all++
		if at := margin.FindStringIndex(line); at != nil && !strings.Contains(line[:at[1]], "kernel") {
			with++
		}
	}
	return with > 0 && with*5 >= all*4
}

// understood counts the first lines that begin something known without a
// margin.
func understood(lines []string, margin *regexp.Regexp, known []string) int {
	n := 0
	for _, line := range lines[:min(len(lines), marginLines)] {
		if margin != nil {
			if at := margin.FindStringIndex(line); at != nil {
				line = line[at[1]:]
			}
		}
		if len(line) < 512 && (blockBegun(line) != "" || commandOf(line, known) != "" || looseForm(line) != nil) {
			n++
		}
	}
	return n
}
