package lint

import "strings"

// suppressions returns the codes that comments suppress, by line. A comment
// "# wirerate: ignore CODE[,CODE] reason" is about its own line, or when it
// stands alone, about the next line that is neither empty nor a comment.
func suppressions(text string) map[int][]string {
	const mark = "wirerate: ignore "
	if !strings.Contains(text, mark) {
		return nil
	}
	out := map[int][]string{}
	var waiting []string
	line := 0
	for l := range strings.SplitSeq(text, "\n") {
		line++
		trimmed := strings.TrimSpace(l)
		comment := strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";")
		before, after, marked := strings.Cut(l, mark)
		marked = marked && strings.ContainsAny(before, "#;")
		var codes []string
		if marked {
			list, _, _ := strings.Cut(strings.TrimSpace(after), " ")
			codes = strings.Split(list, ",")
		}
		switch {
		case comment:
			waiting = append(waiting, codes...)
		case trimmed != "":
			out[line] = append(append(out[line], waiting...), codes...)
			waiting = nil
		}
	}
	return out
}
