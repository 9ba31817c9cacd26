package facts

import (
	"bytes"
	"html"
	"io"
	"mime/quotedprintable"
	"regexp"
	"strings"
)

// A page's source and a mail as it travels hold outputs in other characters.

var (
	entity  = regexp.MustCompile(`&(lt|gt|amp|quot|nbsp|#\d+);`)
	markup  = regexp.MustCompile(`</?(pre|code|span|div|p|br|b|i|strong|em|samp|kbd|tt|blockquote)( [^<>]*)?/?>`)
	encoded = regexp.MustCompile(`(?mi)^Content-Transfer-Encoding: *quoted-printable`)
)

// readable turns the source of a web page or of a mail into what people see.
func readable(s string) string {
	if encoded.MatchString(s) {
		data, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(s)))
		// A body that is not wholly so encoded is read up to where it is not.
		if err == nil || len(data) > len(s)/2 {
			s = string(plainText(bytes.ToValidUTF8(data, []byte("?"))))
		}
	}
	if entity.MatchString(s) {
		s = html.UnescapeString(markup.ReplaceAllString(s, ""))
	}
	return s
}
