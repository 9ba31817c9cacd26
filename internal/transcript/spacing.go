package transcript

import (
	"strings"
)

// spacedRows is how many rows with an empty line behind each make a table that a tracker or a mail program spread.
const spacedRows = 8

// singleSpaced takes out the empty lines between the rows of outputs that have one behind every row: a paragraph of one line
// says nothing. Sentences are left as they are.
func singleSpaced(s string) string {
	lines := strings.Split(s, "\n")
	var out []string
	for i := 0; i < len(lines); {
		if !strings.ContainsAny(lines[i], "0123456789") {
			out = append(out, lines[i])
			i++
			continue
		}
		end, rows := spacedRun(lines, i)
		if len(rows) < spacedRows || !mostlyNumbers(rows) {
			end = max(end, i+1) // none of it is looked at again
			rows = lines[i:end]
		}
		out = append(out, rows...)
		i = end
	}
	return strings.Join(out, "\n")
}

// spacedRun are the lines from one on that have an empty line behind each, and the line behind the last of them.
func spacedRun(lines []string, from int) (end int, rows []string) {
	i := from
	for i+1 < len(lines) && strings.TrimSpace(lines[i]) != "" && strings.TrimSpace(lines[i+1]) == "" {
		if isFence(lines[i]) {
			break
		}
		rows = append(rows, withoutMonospace(lines[i]))
		i += 2
	}
	return i, rows
}

// isFence reports whether a line begins or ends a passage of code.
func isFence(line string) bool {
	_, fence := unmarked(line)
	return fence
}

// withoutMonospace takes off what a tracker's mark-up puts around a row: {{ rx bytes 17 }}.
func withoutMonospace(line string) string {
	trimmed := strings.TrimSpace(line)
	if inner, ok := strings.CutPrefix(trimmed, "<tt>"); ok {
		return strings.TrimSuffix(inner, "</tt>")
	}
	inner, ok := strings.CutPrefix(trimmed, "{{")
	if inner2, ok2 := strings.CutSuffix(inner, "}}"); ok && ok2 && !strings.Contains(inner2, "{{") {
		return "  " + strings.Trim(inner2, " \u00a0")
	}
	return line
}

// mostlyNumbers reports whether four of five rows are short and hold a number.
func mostlyNumbers(rows []string) bool {
	n := 0
	for _, row := range rows {
		if len(row) <= 120 && strings.ContainsAny(row, "0123456789") && !isSentence(row) {
			n++
		}
	}
	return n*5 >= len(rows)*4
}
