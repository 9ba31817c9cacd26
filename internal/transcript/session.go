package transcript

import (
	"bytes"
	"errors"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/input"
)

// A session is what people paste when they ask for help: prompts and commands
// in many forms, outputs cut by grep, lines of a log without any command, all
// of it quoted or marked up. It is sorted into the outputs that FromTexts reads.

// Load reads what somebody saved or posted: an unpacked sosreport or a folder of outputs in files named after their
// commands, a file with a session, or one output whose command the file's name tells. The errors are ErrNotText,
// ErrNoOutputs and ErrNoSystem, and those of reading.
func Load(name string) (Posted, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Posted{}, err
	}
	if info.IsDir() {
		texts, err := loadFolder(os.DirFS(name))
		return Posted{Texts: texts}, err
	}
	p, err := loadFile(name)
	if err == nil && p.Texts["uname -a"] == "" {
		return p, ErrNoSystem
	}
	return p, err
}

// ErrNoSystem is returned for outputs of which it cannot be told what system printed them.
var ErrNoSystem = errors.New("which system printed it is not known; put a line of uname -a into it")

// ErrNoOutputs is returned for texts in which no output is known.
var ErrNoOutputs = errors.New("no output in it is known; a capture, a sosreport, files named like netstat_-m.txt, " +
	"or a session with its prompts is expected")

// Posted are the outputs of one file.
type Posted struct {
	// Texts are the outputs by the names that FromTexts takes.
	Texts map[string]string
	// places are the lines of the file at which the lines of each output stand,
	// counted from 1; 0 is a line that was put there.
	places map[string][]int
	// Host is the name in the prompts, where a post holds the outputs of several hosts.
	Host string
	// Unread are the passages that look like an output, or stand below a command, and were not understood.
	Unread []facts.Unread
}

// Facts makes facts of what was posted in the file of that name.
func (p Posted) Facts(file string) (*facts.Facts, error) {
	f, err := facts.FromTexts(file, p.Texts, 0)
	if err == nil {
		f.SetPlaces(p.places)
		f.Unread = p.Unread
	}
	return f, err
}

// LoadSession returns the outputs in a pasted session, with an identity guessed
// where none was pasted; of a long one the first 16 MiB count.
func LoadSession(s string) (Posted, error) {
	plain := string(plainText([]byte(s[:min(len(s), facts.TextLimit)])))
	text := readable(plain)
	p := Posted{Texts: map[string]string{}, places: map[string][]int{}}
	sortSession(text, p.Texts, p.places)
	if strings.Count(text, "\n") != strings.Count(plain, "\n") {
		p.places = nil // its lines are not those of the file
	}
	if err := identified(p); err != nil {
		return p, err
	}
	if p.Texts["uname -a"] == "" {
		if named := namedSystem(text); named != "" {
			p.Texts["uname -a"] = named + " unknown unknown"
		}
	}
	return p, nil
}

// systemNames are the names by which people call what they run.
var systemNames = []struct {
	form   *regexp.Regexp
	system string
}{
	{regexp.MustCompile(`(?i)\b(freebsd|opnsense|pfsense|freenas|truenas[ -]core|xigmanas|hardenedbsd)\b`), "FreeBSD"},
	{regexp.MustCompile(`(?i)\bopenbsd\b`), "OpenBSD"},
	{regexp.MustCompile(`(?i)\b(linux|ubuntu|debian|centos|rhel|red ?hat|fedora|proxmox|raspbian|raspberry|openwrt|` +
		`archlinux|opensuse|truenas[ -]scale|alpine|docker|kubernetes|unraid)\b`), "Linux"},
}

// namedSystem finds the one system that the words of a session speak of.
func namedSystem(s string) string {
	found := ""
	for _, n := range systemNames {
		if n.form.MatchString(s) {
			if found != "" {
				return "" // of several
			}
			found = n.system
		}
	}
	return found
}

// ErrNotText is returned for files that hold something else than text.
var ErrNotText = errors.New("it is no text")

// sessionLimit bounds a file that is read as a session, in bytes.
const sessionLimit = 64 << 20

// loadFile reads a file that is a session, or one output whose command the
// file's name tells.
func loadFile(name string) (Posted, error) {
	data, err := input.File(name, sessionLimit)
	if errors.Is(err, syscall.EISDIR) {
		return Posted{}, ErrNotText
	}
	if err != nil {
		return Posted{}, err
	}
	if data = plainText(data); bytes.HasPrefix(data, []byte{0x1f, 0x8b}) || bytes.IndexByte(data, 0) >= 0 {
		return Posted{}, ErrNotText
	}
	p, err := LoadSession(string(data))
	if err == nil {
		return p, nil
	}
	if typedOutput(fileCommand(name)) == "" {
		return p, err
	}
	p, err = LoadSession("$ " + fileCommand(name) + "\n" + string(data))
	for _, places := range p.places {
		for i := range places {
			places[i] = max(places[i]-1, 0) // the line of the command is not the file's
		}
	}
	return p, err
}

// sortSession adds the outputs of a session to those that are there, which
// count before it, and where their lines stand.
func sortSession(s string, texts map[string]string, places map[string][]int) {
	o := outputs{texts: map[string]string{}, places: map[string][]int{}, typed: map[string][]string{}}
	for _, part := range splitSession(s) {
		o.take(part)
	}
	o.nameOnlyLink()
	for name, text := range o.texts {
		if texts[name] == "" {
			texts[name] = text
			places[name] = o.places[name]
		}
	}
}

// identified completes the texts with what follows from them.
func identified(p Posted) error {
	texts := p.Texts
	if len(texts) == 0 {
		return ErrNoOutputs
	}
	if all := texts["ss -tinm"]; texts["ss -ltn"] == "" &&
		(strings.Contains(all, "LISTEN ") || strings.Contains(all, "UNCONN ")) {
		texts["ss -ltn"] = all // of all states
		if p.places != nil {
			p.places["ss -ltn"] = p.places["ss -tinm"]
		}
	}
	if texts["uname -a"] == "" {
		if guess := guessIdentity(texts); guess != "" {
			texts["uname -a"] = guess
		}
	}
	return nil
}

// passage is a run of lines of a session.
type passage struct {
	lines []string
	first int // the line at which it begins, counted from 1
}

// from returns the rest of a passage.
func (p passage) from(i int) passage { return passage{p.lines[i:], p.first + i} }

// at are the numbers of its lines.
func (p passage) at() []int {
	out := make([]int, len(p.lines))
	for i := range out {
		out[i] = p.first + i
	}
	return out
}

// section is one command as typed with what it printed; without a command, the
// lines before the first prompt.
type section struct {
	command string
	passage
}

var promptLine = regexp.MustCompile(`^\s*((?:[\w@.:~/\[\]()+ -]*)?[#$%>]+)\s*(\S.*)$`)

// splitSession cuts a session at its prompts, and at fences that end an output.
func splitSession(s string) []section {
	parts := []section{{}}
	known := strings.Fields(tools)
	fenced, before := false, "" // before is the last line that is not empty
	for i, line := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		line, fence := unmarked(line, known)
		begin := func(command string) { parts = append(parts, section{command, passage{first: i + 2}}) }
		last := &parts[len(parts)-1]
		switch {
		case fence && !fenced && namedBefore(before, known) != "" && (last.command == "" || !blank(last.lines)):
			fenced = true
			begin(namedBefore(before, known))
			continue
		case fence:
			if fenced = !fenced; last.command != "" && !blank(last.lines) {
				parts = append(parts, section{})
			}
		default:
			if command := commandOf(line, known); command != "" {
				begin(command)
				continue
			}
		}
		if strings.TrimSpace(line) != "" {
			before = line
		}
		last = &parts[len(parts)-1]
		if len(last.lines) == 0 {
			last.first = i + 1
		}
		last.lines = append(last.lines, line)
	}
	return parts
}

func blank(lines []string) bool {
	return !slices.ContainsFunc(lines, func(s string) bool { return strings.TrimSpace(s) != "" })
}

// commandOf is the command that a line shows: behind a prompt, or on a line of
// its own; empty when it shows none.
func commandOf(line string, known []string) string {
	if command := bareCommand(line); command != "" {
		return command
	}
	if m := drawnPrompt.FindStringSubmatch(line); m != nil {
		for rest := strings.TrimSpace(m[1]); rest != ""; _, rest, _ = strings.Cut(rest, " ") {
			if words := commandWords(rest); len(words) > 0 && slices.Contains(known, words[0]) {
				return strings.Join(words, " ")
			}
		}
	}
	if !strings.ContainsAny(line, "#$%>") && !strings.HasPrefix(line, "[") {
		return ""
	}
	if m := looseCommand.FindStringSubmatch(line); m != nil {
		if words := commandWords(m[1] + m[2]); len(words) > 1 && slices.Contains(known, words[0]) &&
			typedOutput(strings.Join(words, " ")) != "" {
			return strings.Join(words, " ")
		}
	}
	m := promptLine.FindStringSubmatch(line)
	if m == nil || percentage.MatchString(m[1]) {
		return ""
	}
	words := commandWords(m[2])
	isTool := len(words) > 0 && slices.Contains(known, words[0])
	if isTool || strings.HasPrefix(line, "$ ") || strings.Contains(m[1], "@") {
		return strings.Join(words, " ")
	}
	return ""
}

// namedBefore is the command that the words before a fence name: "ethtool -S
// eth0:", "Running `netstat -m` shows".
func namedBefore(line string, known []string) string {
	candidates := []string{strings.Trim(line, " *_#:.`")}
	for i, part := range strings.Split(line, "`") {
		if i%2 == 1 {
			candidates = append(candidates, part)
		}
	}
	for _, c := range candidates {
		words := commandWords(strings.TrimLeft(c, "$# "))
		if len(words) > 1 && slices.Contains(known, words[0]) && typedOutput(strings.Join(words, " ")) != "" {
			return strings.Join(words, " ")
		}
	}
	return ""
}

// drawnPrompt begins with a sign that shells are decorated with, looseCommand
// follows a prompt of any form.
var (
	drawnPrompt  = regexp.MustCompile(`^\s*[❯➜λ»›]\s*(.*)$`)
	looseCommand = regexp.MustCompile(`^[^|;]{1,60}[#$%>] +(\S.*)$|^\[[\w.-]+\]\[\w+@[^\]]+\]\S*: (\S.*)$`)
)

// percentage tells a share in a table of top from the prompt of csh.
var percentage = regexp.MustCompile(`[0-9]%$`)

// unmarked takes off what mail and forums add to a line: the mark of a
// quotation, stars and backticks around it. A fence is told.
func unmarked(line string, known []string) (rest string, fence bool) {
	for strings.HasPrefix(line, ">") {
		rest := strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
		if words := commandWords(rest); len(words) > 0 && slices.Contains(known, words[0]) {
			break // a prompt
		}
		line = rest
	}
	if rest, ok := strings.CutPrefix(line, "# "); ok &&
		(strings.HasPrefix(rest, "$ ") || startsNumber.MatchString(rest) || blockBegun(rest) != "") {
		line = rest // a comment in a script
	}
	if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
		return "", true
	}
	if len(line) > 2 && strings.HasPrefix(line, "`") {
		line = strings.TrimSuffix(line[1:], "`")
	}
	if bold, ok := strings.CutPrefix(line, "**"); ok && strings.HasSuffix(bold, "**") {
		line = strings.TrimSuffix(bold, "**")
	}
	return line, false
}

// startsNumber tells a counter with its words.
var startsNumber = regexp.MustCompile(`^\d+(/\d+)* [a-z]`)

// bareCommand is a command on a line of its own without a prompt: one run by
// sudo, or one whose flags leave no doubt.
func bareCommand(line string) string {
	if line == "" || line[0] < 'a' || line[0] > 'z' {
		return ""
	}
	words := commandWords(line)
	if len(words) < 2 || strings.ContainsAny(words[len(words)-1], ".,:;") {
		return ""
	}
	command := strings.Join(words, " ")
	if words[0] == "cat" && strings.HasPrefix(words[1], "/") && typedOutput(command) != "" {
		return command
	}
	if strings.HasPrefix(line, "sudo ") && typedOutput(command) != "" ||
		strings.HasPrefix(words[1], "-") && facts.OutputOfCommand(command) != "" {
		return command
	}
	return ""
}

// commandWords are the words of the first command of a pipeline, without what
// only says as whom or how often it runs.
func commandWords(command string) []string {
	command, _, _ = strings.Cut(command, "|")
	command, _, _ = strings.Cut(command, ";")
	command, _, _ = strings.Cut(command, "2>")
	words := strings.Fields(command)
	for len(words) > 0 && (slices.Contains([]string{"sudo", "doas", "watch", "time"}, words[0]) ||
		strings.Contains(words[0], "=") || words[0] == "-n" || words[0] == "1") {
		words = words[1:]
	}
	if len(words) > 0 {
		words[0] = path.Base(words[0])
	}
	return words
}

// typedOutput finds what a command as typed prints; empty when it is nothing
// known.
func typedOutput(command string) string {
	words := commandWords(command)
	if len(words) == 0 {
		return ""
	}
	if words[0] == "cat" && len(words) == 2 && strings.HasPrefix(words[1], "/") {
		return outputName(words[1][1:])
	}
	return facts.OutputAsTyped(strings.Join(words, " "))
}
