package transcript

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// unreadLimit bounds the passages that are named.
const unreadLimit = 64

// silent are commands whose outputs nobody expects to be read.
var silent = strings.Fields("ls cd echo date sleep pwd clear exit sudo su vi vim nano man apt apt-get yum dnf pkg " +
	"make git ssh cp mv rm mkdir chmod which whoami id reboot kill killall history export service systemctl sysrc pkg_add")

// several are commands whose one output has paragraphs of which some say nothing of the network.
var several = strings.Fields("top systat mpstat sar dmesg journalctl lspci pciconf pfctl ethtool ps netstat iostat " +
	"lscpu zpool zfs ss ip tc iperf3 iperf perf nstat vmstat numactl pcidump ifconfig conntrack")

// refusedWords say that a command printed nothing.
var refusedWords = []string{"not found", "permission denied", "not permitted", "no such file",
	"unknown oid", "no stats",
	"not supported", "cannot stat", "cannot read", "no such device", "invalid option", "usage:", "you must be root",
	"cannot get"}

// unread are the passages of a session that say something, and from which no fact came: behind a command, or in the
// form of an output; used are the lines from which one came. Without facts all that is no text counts.
func (p Posted) unread(f *facts.Facts, used map[int]bool) (out []facts.Unread) {
	for _, part := range p.parts {
		for _, u := range part.unread(used) {
			if f != nil {
				u.Because = because(f, typedOutput(u.Command))
			}
			if p.moved {
				u.Line = 0
			}
			if len(out) < unreadLimit {
				out = append(out, u)
			}
		}
	}
	return out
}

// ofOther are the sections of another host.
func (p Posted) ofOther(moved bool) (out []facts.Unread) {
	for _, part := range p.parts {
		if text := words(part.lines); text != "" && part.command != "" && len(out) < unreadLimit {
			u := facts.Unread{Line: part.first, Lines: len(part.lines), Command: part.command, Words: text,
				Because: "it is from another host, " + p.Host}
			if moved {
				u.Line = 0
			}
			out = append(out, u)
		}
	}
	return out
}

// because is why an output was not understood.
func because(f *facts.Facts, name string) string {
	for _, part := range f.Parts {
		if name != "" && part.From == name && part.State == facts.Unparsed {
			return part.Because
		}
	}
	return ""
}

func (s section) unread(used map[int]bool) (out []facts.Unread) {
	first, _, _ := strings.Cut(s.command, " ")
	first = path.Base(first)
	if slices.Contains(silent, first) || s.command != "" && s.showsFile() && uciShaper.MatchString(strings.Join(s.lines, "\n")) {
		return nil // the rates of that file are judged as configuration
	}
	anyUsed := false
	for i := range s.lines {
		anyUsed = anyUsed || used[s.first+i]
	}
	if s.command != "" && anyUsed && slices.Contains(several, first) {
		return nil
	}
	for _, p := range paragraphs(s.passage) {
		read := slices.ContainsFunc(p.at(), func(line int) bool { return used[line] })
		whole := s.command != "" && !anyUsed && !printsNothing.MatchString(s.command) && !placeholderIn.MatchString(s.line)
		if read || isRefusal(p.lines) || !whole && !looksPrinted(p.lines, s.fenced) {
			continue
		}
		u := facts.Unread{Line: p.first, Lines: len(p.lines), Command: s.command, Words: words(p.lines)}
		if s.command == "" {
			u.Words = words(fromRow(p.lines, s.fenced))
		}
		if u.Words == "" {
			continue
		}
		if whole { // the rest of it is not named again
			last := s.lines
			for len(last) > 0 && strings.TrimSpace(last[len(last)-1]) == "" {
				last = last[:len(last)-1]
			}
			u.Lines = len(last) - (p.first - s.first)
			return append(out, u)
		}
		out = append(out, u)
	}
	return out
}

// printsNothing are commands that change something and say nothing where that goes well.
var printsNothing = regexp.MustCompile(`^(?:tc \S+ (?:add|replace|change|del|delete) |ethtool (?:-[GKCLAsEX]|` +
	`--(?:set|change)-\w+) |` +
	`ip (?:l\w* set|ro?u?t?e? (?:add|change|replace|del)|a\w* add) |ifconfig \S+ (?:mtu|up|down) ?)`)

// placeholderIn tells the command of an instruction, which nobody typed: ethtool -S <interface>.
var placeholderIn = regexp.MustCompile(`\s<[A-Za-z][\w .-]*>(?:\s|$)`)

// paragraphs are the runs of lines that are not empty.
func paragraphs(p passage) (out []passage) {
	for i := 0; i < len(p.lines); i++ {
		if strings.TrimSpace(p.lines[i]) == "" {
			continue
		}
		end := i
		for end < len(p.lines) && strings.TrimSpace(p.lines[end]) != "" {
			end++
		}
		out = append(out, passage{p.lines[i:end], p.first + i})
		i = end
	}
	return out
}

func isRefusal(lines []string) bool {
	return len(lines) <= 3 && slices.ContainsFunc(lines, func(line string) bool {
		lower := strings.ToLower(line)
		return slices.ContainsFunc(refusedWords, func(w string) bool { return strings.Contains(lower, w) })
	})
}

// looksPrinted reports whether a program wrote a paragraph: half of its lines are rows of numbers, or of names with
// values, in the way of tables.
func looksPrinted(lines []string, fenced bool) bool {
	if len(lines) == 1 && strings.HasSuffix(strings.TrimSpace(lines[0]), ":") && len(strings.Fields(lines[0])) > 2 {
		return false // a caption
	}
	rows, heads := 0, 0
	for _, line := range lines {
		switch {
		case !strings.HasPrefix(strings.TrimSpace(line), "![") && isRow(line, fenced): // a picture is none
			rows++
		case !strings.ContainsAny(line, "0123456789") && columnsOf(line) >= 2:
			heads++
		}
	}
	return rows*2 >= len(lines)-heads && (rows > 1 || rows == 1 && (fenced || len(lines) == 1))
}

// isRow reports whether a line is of a table: numbers, or a name with its value.
func isRow(line string, fenced bool) bool {
	if typed := commandWords(line); len(typed) > 1 && isCommand(typed) &&
		(strings.HasPrefix(typed[1], "-") || printsNothing.MatchString(strings.Join(typed, " "))) {
		return false // typed, not printed
	}
	fields := strings.Fields(line)
	numbers := 0
	for _, w := range fields {
		if isNumber(w) {
			numbers++
		}
	}
	columns := columnsOf(line)
	return numbers >= 3 && numbers*2 >= len(fields) || numbers >= 1 && columns >= 2 ||
		fenced && numbers > 0 && len(fields) <= 12 ||
		len(fields) == 2 && strings.HasSuffix(fields[0], ":") && numbers == 1 || facts.CountersIn(line) >= 3 ||
		fenced && fileValue.MatchString(line)
}

// columnsOf counts the gaps between columns.
func columnsOf(line string) int {
	text := strings.ReplaceAll(strings.TrimSpace(line), ".  ", ". ") // sentences are no columns
	return strings.Count(text, "  ") + strings.Count(text, "\t")
}

// isTableRow reports whether a line is nothing but numbers, perhaps behind a time: a row of a tool, and no line of a log.
func isTableRow(line string) bool {
	const least = 5
	fields := strings.Fields(line)
	return len(fields) >= least && !slices.ContainsFunc(fields, func(w string) bool { return !isNumber(w) })
}

// fromRow leaves out what stands before the first row, such as the title of a post.
func fromRow(lines []string, fenced bool) []string {
	if i := slices.IndexFunc(lines, func(line string) bool { return isRow(line, fenced) }); i > 0 &&
		!isRow(lines[i-1], fenced) && isProse(lines[0]) {
		return lines[i:]
	}
	return lines
}

// fileValue is the content of a file as grep prints it: the path, a colon, a number.
var fileValue = regexp.MustCompile(`^/\S+:-?\d+$`)

// isNumber reports whether a word is a number, perhaps with a unit: 12, 1.5G, 0x1f, 93%.
func isNumber(w string) bool {
	w = strings.Trim(w, "(),;:[]%")
	if w == "" || w[0] < '0' || w[0] > '9' {
		return false
	}
	letters := strings.IndexFunc(w, unicode.IsLetter)
	return letters < 0 || len(w)-letters <= 6
}

// words are the first words of lines.
func words(lines []string) string {
	const most = 60
	for _, line := range lines {
		text := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(line, "?"), func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r)
		}), " ")
		if text == "" || strings.Trim(text, "-=_*~#|+ ") == "" {
			continue
		}
		if r := []rune(text); len(r) > most {
			text = string(r[:most]) + "..."
		}
		return text
	}
	return ""
}
