package transcript

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// A session is what people paste when they ask for help: prompts and commands
// in many forms, outputs cut by grep, lines of a log without any command, all
// of it quoted or marked up. It is sorted into the outputs that FromTexts reads.

// Load reads what somebody saved or posted: an unpacked sosreport or a folder of outputs in files named after their
// commands, a file with a session, or one output whose command the file's name tells. The errors are ErrNotText,
// ErrNoOutputs, and those of reading.
func Load(name string) (Posted, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Posted{}, err
	}
	if info.IsDir() {
		texts, unread, err := loadFolder(os.DirFS(name))
		if errors.Is(err, errNoSystem) {
			texts["uname -a"] = unknownSystem
			return Posted{Texts: texts, Unread: unread, Guessed: true}, nil
		}
		return Posted{Texts: texts, Unread: unread}, err
	}
	all, err := loadFile(name)
	return chief(all), err
}

// LoadEach reads what Load reads, and returns each host whose outputs are in a file, and a post without outputs by its words,
// with NoOutput set; its other errors are those of Load.
func LoadEach(name string) ([]Posted, error) {
	if info, err := os.Stat(name); err != nil || info.IsDir() {
		one, err := Load(name)
		return []Posted{one}, err
	}
	return withWords(loadFile(name))
}

// ReadEach reads a session that is in no file, as LoadEach reads one of a file.
func ReadEach(data []byte) ([]Posted, error) {
	text, err := sessionText(facts.StandardInput, data)
	if err != nil {
		return nil, err
	}
	return withWords(LoadHosts(text))
}

// errNoSystem is returned for outputs of which it cannot be told what system printed them.
var errNoSystem = errors.New("the operating system is unknown; add the output of uname -a")

// ErrNoOutputs is returned for texts in which no output is known.
var ErrNoOutputs = errors.New("no known command output in it; expected a capture, a sosreport, files named like " +
	"netstat_-m.txt, or a session with its prompts")

// Posted are the outputs of one host.
type Posted struct {
	// Texts are the outputs by the names that FromTexts takes; of an output that was pasted several times the first.
	Texts map[string]string
	// Host is the name in the prompts, where a post holds the outputs of several hosts.
	Host string
	// Guessed is set where nothing in the outputs tells their system.
	Guessed bool
	// NoOutput says why nothing but the words of a post is known, which may decide nothing.
	NoOutput error
	// Unread are passages that are known not to be of this host, and files of a folder
	// in which nothing is known.
	Unread []facts.Unread

	rounds []facts.Round
	parts  []section
	// relative is the system that is named where only names tell it.
	relative string
	moved    bool // the lines are not those of the file
}

// known reports whether one output at least was known by its command or its form.
func (p Posted) known() bool { return len(p.Texts) > 1 || p.rounds[0].Places["uname -a"] != nil }

// Facts makes facts of what was posted in the file of that name.
func (p Posted) Facts(file string) (*facts.Facts, error) {
	if len(p.rounds) == 0 {
		f, err := facts.FromTexts(file, p.Texts, 0)
		if err == nil {
			f.SystemGuessed, f.Unread = p.Guessed, p.Unread
		}
		return f, err
	}
	f, err := facts.FromRounds(file, p.rounds)
	if err != nil {
		return nil, err
	}
	f.SystemGuessed = p.Guessed
	if f.Node == "unknown" && p.Host != "" {
		f.Node = p.Host
	}
	p.nameDistribution(f, file)
	if f.System == system.FreeBSD && f.Release == "unknown" {
		f.Relative = cmp.Or(relativeOf(p.prose()), p.relative)
	}
	used := f.Used()
	f.Told = p.told(file, used)
	if f.NoOutput = p.NoOutput; f.NoOutput != nil {
		p.got(&f.Told, file, used)
	}
	f.Rest = p.rest(used)
	f.Requested, _ = requestsIn([]Posted{p})
	f.Unread = slices.DeleteFunc(p.unread(f, used), func(u facts.Unread) bool {
		return slices.ContainsFunc(p.Unread, func(more facts.Unread) bool {
			return u.Command == more.Command && more.Line > 0 && u.Line >= more.Line
		})
	})
	f.Unread = append(f.Unread, p.Unread...)
	if p.moved {
		f.ForgetPlaces()
	}
	return f, nil
}

// LoadSession returns the outputs in a pasted session, with an identity guessed
// where none was pasted; of a long one the first 16 MiB count. Of several hosts it is the one with the most.
func LoadSession(s string) (Posted, error) {
	all, err := LoadHosts(s)
	return chief(all), err
}

// LoadHosts returns the outputs in a pasted session by the hosts that its prompts name.
func LoadHosts(s string) ([]Posted, error) {
	plain := string(plainText([]byte(s[:min(len(s), facts.TextLimit)])))
	text := withoutCutEnd(readable(plain))
	moved := strings.Count(text, "\n") != strings.Count(plain, "\n")
	var all, empty []Posted
	for _, parts := range byHost(splitSession(text)) {
		p := sortSession(parts)
		p.moved = moved
		if len(p.Texts) > 0 || len(p.unread(nil, nil)) > 0 {
			all = append(all, p)
		} else {
			empty = append(empty, p)
		}
	}
	switch len(all) {
	case 0:
		p, err := onlyConfiguration(empty, text)
		if err != nil {
			return nil, inWords(empty, text, err)
		}
		all = append(all, p)
	case 1:
		all[0].Host = ""
	}
	for i := range all {
		all[i].identify(text, len(all) == 1)
	}
	if cut := len(s) - len(plain); cut > 0 && len(s) > facts.TextLimit {
		last := &all[len(all)-1]
		last.Unread = append(last.Unread, facts.Unread{Line: strings.Count(plain, "\n") + 1,
			Lines: strings.Count(s[facts.TextLimit:], "\n") + 1, Because: "only the first 16 MiB were read"})
	}
	return all, nil
}

// commandsAlone are commands of which a text holds nothing that they printed.
type commandsAlone []string

func (c commandsAlone) Error() string {
	return "it contains commands (" + strings.Join(c, ", ") + ") but no output; paste the output too"
}

// Is makes it ErrNoOutputs to those who ask.
func (commandsAlone) Is(target error) bool { return target == ErrNoOutputs }

// withoutOutputs says what a text without any output holds: some commands, or nothing that is known.
func withoutOutputs(hosts []Posted) error {
	const most = 5
	var commands commandsAlone
	for _, host := range hosts {
		for _, part := range host.parts {
			if typedOutput(part.command) != "" && !slices.Contains(commands, part.command) && len(commands) < most {
				commands = append(commands, part.command)
			}
		}
	}
	if len(commands) > 0 {
		return commands
	}
	if n, first := requestsIn(hosts); n > 0 {
		return fmt.Errorf("%w; line %d is of an access log: wirerate weblog reads these", ErrNoOutputs, first)
	}
	if u := likeOutput(hosts); u.text != "" {
		return u
	}
	return ErrNoOutputs
}

// accessLine is a line of a web server's log: the request in quotation marks with its status behind it.
var accessLine = regexp.MustCompile(`"[A-Z]{3,8} \S+ HTTP/\d(?:\.\d)?" \d{3} `)

// requestsIn counts the lines of access logs, and says where the first one stands.
func requestsIn(hosts []Posted) (n, first int) {
	for _, host := range hosts {
		for _, part := range host.parts {
			for i, line := range part.lines {
				if len(line) <= 4096 && strings.Contains(line, " HTTP/") && accessLine.MatchString(line) {
					if n++; n == 1 {
						first = part.first + i
					}
				}
			}
		}
	}
	return n, first
}

// likeOutput is the line with the most numbers of those that a program seems to have printed.
func likeOutput(hosts []Posted) (best unknownOutput) {
	const many = 6
	most := -1
	for _, host := range hosts {
		for _, part := range host.parts {
			for i, line := range part.lines {
				numbers := len(someNumber.FindAllString(line, 64))
				if numbers > most && (numbers >= many || facts.IsLogLine(line) || isRow(line, part.fenced) ||
					len(namedNumber.FindAllString(line, 3)) == 3) {
					most, best = numbers, unknownOutput{part.first + i, words([]string{line})}
				}
			}
		}
	}
	return best
}

// unknownOutput is a line of a text without any output that is known, which a program seems to have printed.
type unknownOutput struct {
	line int
	text string
}

func (u unknownOutput) Error() string {
	return fmt.Sprintf("%v; line %d (%s) looks like output, but not of a command that wirerate reads", ErrNoOutputs, u.line, u.text)
}

// Is makes it ErrNoOutputs to those who ask.
func (unknownOutput) Is(target error) bool { return target == ErrNoOutputs }

var someNumber = regexp.MustCompile(`\b\d[\d.,]*`)

// namedNumber is a number behind its name: hit:17, lost=3.
var namedNumber = regexp.MustCompile(`\b[a-z][\w-]*[:=]\d+(?:\s|$)`)

// ErrNotText is returned for files that hold something else than text.
var ErrNotText = errors.New("it is not text")

// SessionLimit bounds what is read as a session, in bytes.
const SessionLimit = 64 << 20

// loadFile reads a file that is a session, or one output whose command the
// file's name tells.
func loadFile(name string) ([]Posted, error) {
	data, err := input.File(name, SessionLimit)
	if errors.Is(err, syscall.EISDIR) {
		return nil, ErrNotText
	}
	if err != nil {
		return nil, err
	}
	text, err := sessionText(name, data)
	if err != nil {
		return nil, err
	}
	all, err := LoadHosts(text)
	if slices.ContainsFunc(all, Posted.known) || typedOutput(fileCommand(name)) == "" {
		return all, err
	}
	named, err := LoadHosts("$ " + fileCommand(name) + "\n" + text)
	for i := range named { // the line of the command is not the file's
		for _, r := range named[i].rounds {
			for _, places := range r.Places {
				for j := range places {
					places[j] = max(places[j]-1, 0)
				}
			}
		}
		for j := range named[i].parts {
			named[i].parts[j].first--
		}
	}
	return named, err
}

// sessionText is what was saved as text, compressed or not (rotated logs are); ErrNotText where it is none.
func sessionText(name string, data []byte) (string, error) {
	if input.Packing(data) != "" {
		text, free, err := input.Unpack(bytes.NewReader(data), 1)
		if err != nil {
			return "", err
		}
		defer free()
		if data, err = input.Stream(text, name, SessionLimit); err != nil {
			return "", err
		}
	}
	data = plainText(data)
	switch {
	case bytes.HasPrefix(data, []byte("\xfd7zXZ")):
		return "", errors.New("it is compressed with xz: unpack it first (xz -d, or tar -xf an archive and name the folder)")
	case bytes.IndexByte(data, 0) >= 0:
		return "", ErrNotText
	case len(bytes.TrimSpace(data)) == 0:
		return "", errors.New("it is empty")
	}
	return string(data), nil
}

// sortSession sorts the sections of a host into outputs.
func sortSession(parts []section) Posted {
	o := newOutputs()
	p := Posted{Texts: o.texts, parts: parts}
	for _, part := range parts {
		o.take(part)
		p.Host = cmp.Or(p.Host, part.host())
	}
	o.nameOnlyLink()
	for i, r := range *o.rounds {
		if r.texts["ss -ltn"] == "" && strings.Contains(r.texts["ss -tinm"]+" ", "LISTEN ") ||
			strings.Contains(r.texts["ss -tinm"], "UNCONN ") {
			r.texts["ss -ltn"], r.places["ss -ltn"] = r.texts["ss -tinm"], r.places["ss -tinm"] // of all states
		}
		out := facts.Round{Texts: r.texts, Places: r.places, Commands: r.commands, Seconds: map[string]float64{}}
		for name, at := range r.at {
			if i > 0 {
				out.Seconds[name] = at.since((*o.rounds)[i-1].at[name])
			}
		}
		p.rounds = append(p.rounds, out)
	}
	if o.over.Lines > 0 {
		p.Unread = append(p.Unread, *o.over)
	}
	return p
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
	line    string // the whole line of the command
	lead    string // what stands before the fence that begins it
	indent  string // what it is indented by, as Markdown wants of what is printed
	fenced  bool
	passage
}

var promptLine = regexp.MustCompile(`^\s*((?:[\w@.:~/\[\]()+ -]*)?[#$%>]+)\s*(\S.*)$`)

// splitSession cuts a session at its prompts, and at fences that end an output.
func splitSession(s string) []section {
	parts := []section{{}}
	fenced, before := false, "" // before is the last line that is not empty
	for i, line := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		line, fence := unmarked(line)
		begin := func(command, line string) {
			parts = append(parts, section{command: command, line: line, indent: indentOf(line), fenced: fenced,
				passage: passage{first: i + 2}})
		}
		last := &parts[len(parts)-1]
		switch {
		case fence && !fenced && namedBefore(before) != "" && (last.command == "" || !blank(last.lines)):
			fenced = true
			begin(namedBefore(before), "")
			continue
		case fence:
			if fenced = !fenced; last.command != "" && !blank(last.lines) || last.command == "" {
				parts = append(parts, section{fenced: fenced, lead: before})
			}
		default:
			if command := commandOf(line); command != "" {
				begin(command, line)
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
		last.lines = append(last.lines, strings.TrimPrefix(line, last.indent))
	}
	for _, part := range parts {
		part.outdent()
	}
	return parts
}

func blank(lines []string) bool {
	return !slices.ContainsFunc(lines, func(s string) bool { return strings.TrimSpace(s) != "" })
}

// commandWords are the words of the first command of a pipeline, without what
// only says as whom or how often it runs.
func commandWords(command string) []string {
	if loop := loopBody.FindStringIndex(command); loop != nil {
		command = command[loop[1]:]
	}
	command, _, _ = strings.Cut(command, "|")
	for pausing.MatchString(command) { // what runs after it prints
		_, command, _ = strings.Cut(strings.Replace(command, "&&", ";", 1), ";")
	}
	command, _, _ = strings.Cut(command, ";")
	command, _, _ = strings.Cut(command, "2>")
	words := strings.Fields(command)
	for i, w := range words { // of instructions: ethtool -S <interface>
		if m := placeholder.FindStringSubmatch(w); m != nil {
			words[i] = m[1]
		}
	}
	for len(words) > 0 && (slices.Contains([]string{"sudo", "doas", "watch", "time"}, words[0]) ||
		strings.Contains(words[0], "=") || words[0] == "-n" || words[0] == "1") {
		words = words[1:]
	}
	if len(words) > 0 {
		words[0] = path.Base(words[0])
	}
	return inContainer(words)
}

var placeholder = regexp.MustCompile(`^<([\w.-]+)>$`)

// pausing is a command in front of another one, and prints nothing itself.
var pausing = regexp.MustCompile(`^\s*(?:sleep|clear|cd|export)\b[^;|&]*(?:;|&&) *[a-z/]`)

// loopBody is what stands before the commands of a loop.
var loopBody = regexp.MustCompile(`^(?:sudo )?(?:while|for|until) .*?[; ]do +`)

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
