package plan

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/terminal"
)

// The languages of what a plan writes beside conffile's lines and the shell's
// words. Each function takes any text and gives one scalar, line or word.

// unitWord makes one word of a systemd unit's command line (systemd.service(5),
// COMMAND LINES), without specifiers and variables.
func unitWord(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `$$`, `%`, `%%`, "\n", `\n`, "\r", `\r`, "\x00",
		"").Replace(s) + `"`
}

// unitOption is a line of a systemd unit: an option and its value, without
// specifiers (systemd.unit(5)).
func unitOption(option, value string) string {
	return iniLine(option, strings.ReplaceAll(value, "%", "%%"))
}

// iniLine is a line of a file with sections, such as tuned.conf. What would end
// it, or continue it on the next one, becomes a blank; TuneD's variables and
// functions, ${...}, are broken up.
func iniLine(option, value string) string {
	value = strings.ReplaceAll(strings.Map(onOneLine, value), "${", "$ {")
	return option + "=" + strings.TrimRight(strings.TrimSpace(value), `\ `) + "\n"
}

func onOneLine(r rune) rune {
	if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
		return ' '
	}
	return r
}

// yamlText is a scalar of YAML that Ansible takes as it is: quoted, in ASCII,
// and not searched for templates.
func yamlText(s string) string {
	return unsafeTag(s) + strconv.QuoteToASCII(s)
}

// yamlBlock is a scalar of several lines, indented by so much: a literal block,
// unless it has characters that need quoting.
func yamlBlock(s, with string) string {
	if terminal.Escape(s) != s || strings.ContainsAny(s, "\t") || !strings.HasSuffix(s, "\n") ||
		strings.HasSuffix(s, "\n\n") || strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") {
		return yamlText(s) + "\n"
	}
	return unsafeTag(s) + "|\n" + indent(s, with)
}

// unsafeTag marks what Ansible would take for a template.
func unsafeTag(s string) string {
	if strings.Contains(s, "{{") || strings.Contains(s, "{%") || strings.Contains(s, "{#") {
		return "!unsafe "
	}
	return ""
}

func indent(text, with string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			b.WriteString("\n")
			continue
		}
		b.WriteString(with + line)
	}
	return b.String()
}

const commentWidth = 100

// comment wraps text into comment lines of any of the languages, which all
// begin them with '#'. What could end a line, steer a terminal or continue the
// line below (a backslash) is escaped, Ansible's templates are broken up, and a
// directive for lint is none in it.
func comment(text string) string {
	var b strings.Builder
	line := "#"
	for _, word := range commentWords(text) {
		if len(line)+1+len(word) > commentWidth && line != "#" {
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}

// remark is a comment of one line, however long.
func remark(text string) string {
	return strings.Join(append([]string{"#"}, commentWords(text)...), " ") + "\n"
}

func commentWords(text string) []string {
	text = strings.NewReplacer("{", "{ ", "wirerate:", "wirerate").Replace(text)
	words := strings.Fields(terminal.Escape(text))
	for i, w := range words {
		if bare := strings.TrimRight(w, `\`); bare != w {
			words[i] = bare + strings.Repeat(`\x5c`, len(w)-len(bare))
		}
	}
	return words
}
