package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Tags of a page of HTML inside its blocks, with the begin and the end of code in a <pre>, and the names of signs.
var (
	pageBlock = regexp.MustCompile(`(?i)<pre[ \t>]`)
	pageTag   = regexp.MustCompile(`(?i)</?(?:span|strong|em)(?:[ \t][^>\n]*)?>`)
	pageCode  = regexp.MustCompile(`(?i)(<pre(?:[ \t][^>\n]*)?>\s*)(<code(?:[ \t][^>\n]*)?>)|(</code>)(\s*</pre>)`)
	pageSigns = strings.NewReplacer("&lt;", "   <", "&gt;", ">   ", "&quot;", `     "`, "&#34;", `    "`, "&#39;", "    '", "&amp;", "&    ")
)

// plainPage writes blanks for the tags inside the blocks of a page of HTML, and signs for their names, so that all stays in
// its place; other texts it leaves alone.
func plainPage(src string) string {
	if !pageBlock.MatchString(src) {
		return src
	}
	blank := func(tag string) string { return strings.Repeat(" ", len(tag)) }
	src = pageTag.ReplaceAllStringFunc(src, blank)
	src = pageCode.ReplaceAllStringFunc(src, func(tags string) string {
		at := strings.LastIndexByte(tags, '<') // of code behind pre
		if tags[1] == '/' {
			return blank(tags[:len("</code>")]) + tags[len("</code>"):]
		}
		return tags[:at] + blank(tags[at:])
	})
	return pageSigns.Replace(src)
}
