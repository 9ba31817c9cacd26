package facts

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A session is what people paste when they ask for help: prompts and commands
// in many forms, outputs cut by grep, lines of a log without any command, all
// of it quoted or marked up. It is sorted into the outputs that FromTexts reads.

// ErrNoOutputs is returned for texts in which no output is known.
var ErrNoOutputs = errors.New("no output in it is known; a capture, a sosreport, files named like netstat_-m.txt, or a session with its prompts is expected")

// LoadSession returns the outputs in a pasted session by the names that
// FromTexts takes, with an identity guessed where none was pasted; of a long one
// the first 16 MiB count.
func LoadSession(s string) (map[string]string, error) {
	texts := map[string]string{}
	sortSession(string(plainText([]byte(s[:min(len(s), textLimit)]))), texts)
	return identified(texts)
}

// ErrNotText is returned for files that hold something else than text.
var ErrNotText = errors.New("it is no text")

// sessionLimit bounds a file that is read as a session, in bytes.
const sessionLimit = 64 << 20

// LoadFile reads a file that is a session, or one output whose command the
// file's name tells.
func LoadFile(name string) (map[string]string, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, sessionLimit+1))
	if err != nil || len(data) > sessionLimit {
		return nil, ErrNotText
	}
	if data = plainText(data); bytes.HasPrefix(data, []byte{0x1f, 0x8b}) || bytes.IndexByte(data, 0) >= 0 {
		return nil, ErrNotText
	}
	texts, err := LoadSession(string(data))
	if err != nil {
		return LoadSession("$ " + fileCommand(name) + "\n" + string(data))
	}
	return texts, nil
}

// sortSession adds the outputs of a session to those that are there, which
// count before it.
func sortSession(s string, texts map[string]string) {
	o := outputs{texts: map[string]string{}, typed: map[string][]string{}}
	for _, part := range splitSession(s) {
		o.take(part)
	}
	o.nameOnlyLink()
	for name, text := range o.texts {
		if texts[name] == "" {
			texts[name] = text
		}
	}
}

// identified completes the texts with what follows from them.
func identified(texts map[string]string) (map[string]string, error) {
	if len(texts) == 0 {
		return nil, ErrNoOutputs
	}
	if all := texts["ss -tinm"]; texts["ss -ltn"] == "" && strings.Contains(all, "LISTEN ") {
		texts["ss -ltn"] = all // of all states
	}
	if texts["uname -a"] == "" {
		if guess := guessIdentity(texts); guess != "" {
			texts["uname -a"] = guess
		}
	}
	return texts, nil
}

// section is one command as typed with what it printed; without a command, the
// lines before the first prompt.
type section struct {
	command string
	lines   []string
}

var promptLine = regexp.MustCompile(`^\s*((?:[\w@.:~/\[\]()+ -]*)?[#$%>]+)\s*(\S.*)$`)

// splitSession cuts a session at its prompts.
func splitSession(s string) []section {
	parts := []section{{}}
	known := strings.Fields(tools)
	for _, line := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		line = unmarked(line, known)
		if command := bareCommand(line); command != "" {
			parts = append(parts, section{command: command})
			continue
		}
		if strings.ContainsAny(line, "#$%>") {
			if m := promptLine.FindStringSubmatch(line); m != nil && !percentage.MatchString(m[1]) {
				words := commandWords(m[2])
				isTool := len(words) > 0 && slices.Contains(known, words[0])
				if isTool || strings.HasPrefix(line, "$ ") || strings.Contains(m[1], "@") {
					parts = append(parts, section{command: strings.Join(words, " ")})
					continue
				}
			}
		}
		last := &parts[len(parts)-1]
		last.lines = append(last.lines, line)
	}
	return parts
}

// percentage tells a share in a table of top from the prompt of csh.
var percentage = regexp.MustCompile(`[0-9]%$`)

// unmarked takes off what mail and forums add to a line: the mark of a
// quotation, stars and backticks around it.
func unmarked(line string, known []string) string {
	for strings.HasPrefix(line, ">") {
		rest := strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
		if words := commandWords(rest); len(words) > 0 && slices.Contains(known, words[0]) {
			break // a prompt
		}
		line = rest
	}
	if rest, ok := strings.CutPrefix(line, "# "); ok && (strings.HasPrefix(rest, "$ ") || startsNumber.MatchString(rest) || blockBegun(rest) != "") {
		line = rest // a comment in a script
	}
	if strings.HasPrefix(strings.TrimSpace(line), "```") {
		return ""
	}
	if len(line) > 2 && strings.HasPrefix(line, "`") {
		line = strings.TrimSuffix(line[1:], "`")
	}
	if bold, ok := strings.CutPrefix(line, "**"); ok && strings.HasSuffix(bold, "**") {
		line = strings.TrimSuffix(bold, "**")
	}
	return line
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
	if strings.HasPrefix(line, "sudo ") && typedOutput(command) != "" || strings.HasPrefix(words[1], "-") && namedOutput(command) != "" {
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
	for len(words) > 0 && (slices.Contains([]string{"sudo", "doas", "watch", "time"}, words[0]) || strings.Contains(words[0], "=") || words[0] == "-n" || words[0] == "1") {
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
	command = strings.Join(words, " ")
	if name := namedOutput(command); name != "" {
		return name
	}
	for _, form := range otherForms {
		if m := form.typed.FindStringSubmatchIndex(command); m != nil {
			return namedOutput(string(form.typed.ExpandString(nil, form.name, command, m)))
		}
	}
	return ""
}

// outputs collects texts by their names.
type outputs struct {
	texts map[string]string
	// typed are the commands that made each text: the same command again is a
	// later sample, and the first counts.
	typed map[string][]string
}

func (o outputs) add(name, command, body string) {
	if name == "" || strings.TrimSpace(body) == "" {
		return
	}
	if command != "" && slices.Contains(o.typed[name], command) {
		return
	}
	o.typed[name] = append(o.typed[name], command)
	o.texts[name] += strings.TrimRight(body, "\n") + "\n"
}

func (o outputs) take(part section) {
	if strings.TrimSpace(strings.Join(part.lines, "")) == "" {
		return
	}
	words := strings.Fields(part.command)
	switch {
	case len(words) == 0:
		o.takeLoose(part.lines)
		return
	case slices.Contains([]string{"cat", "grep", "egrep", "fgrep", "zgrep", "tail", "head", "less", "more", "zcat"}, words[0]):
		if name := words[len(words)-1]; strings.HasPrefix(name, "/") {
			o.takeFile(name, part.command, part.lines)
			return
		}
	}
	if words[0] == "sysctl" || words[0] == "uname" || words[0] == "lscpu" {
		o.takeTool(words, part)
		return
	}
	if name := typedOutput(part.command); name != "" {
		part.lines = o.takeFollowing(name, part.lines)
		o.add(name, part.command, withHead(name, part.command, strings.Join(part.lines, "\n")))
		return
	}
	if !o.takeTool(words, part) {
		o.takeLoose(part.lines)
	}
}

// takeFollowing keeps the outputs that stand without a prompt, after an empty
// line, behind that of a command, and returns what is before them.
func (o outputs) takeFollowing(name string, lines []string) []string {
	if name == "dmesg" || name == "top" || strings.HasPrefix(name, "/proc/net/") {
		return lines
	}
	for i := 1; i < len(lines); i++ {
		if strings.TrimSpace(lines[i-1]) != "" {
			continue
		}
		if begun := blockBegun(lines[i]); begun != "" && begun != name && !strings.HasPrefix(begun, name[:min(len(name), 7)]) {
			o.takeLoose(lines[i:])
			return lines[:i]
		}
	}
	return lines
}

// manyBlocks are the outputs of which several blocks are one: each names what
// it speaks of. Of the others the first block counts, a later one is a later
// sample.
var manyBlocks = []string{"netstat -s", "ifconfig -a", "ip -s -d link show", "tc -s qdisc show", "dmesg", "/proc/net/snmp", "/proc/net/netstat", "pciconf -lvc", "ss -tinm", "top", "netstat -rnW", bondingFolder + "bond"}

// takeLoose sorts lines that no known command printed: blocks that begin as
// outputs do, then lines by their form.
func (o outputs) takeLoose(lines []string) {
	blocks, loose := map[string][]string{}, map[string][]string{}
	done := map[string]bool{}
	block := ""
	for _, line := range lines {
		if strings.TrimSpace(line) == "" && block != "dmesg" {
			done[block] = true
			block = ""
		}
		if block != "dmesg" {
			if begun := blockBegun(line); begun != "" && begun != block {
				done[block] = true
				block = begun
				if done[block] && !slices.Contains(manyBlocks, block) {
					block = "more of the same"
				}
			}
		}
		if block != "" {
			blocks[block] = append(blocks[block], line)
			continue
		}
		if w := strings.Fields(line); len(w) > 3 && slices.Contains([]string{"Linux", "FreeBSD", "OpenBSD"}, w[0]) && releaseNumber.MatchString(w[2]) {
			loose["uname -a"] = append(loose["uname -a"], strings.TrimSpace(line))
		}
		for _, l := range looseLines {
			if l.form.MatchString(line) {
				loose[l.name] = append(loose[l.name], line)
				break
			}
		}
	}
	delete(blocks, "more of the same")
	for name, all := range blocks {
		if o.texts[name] == "" || slices.Contains(manyBlocks, name) {
			o.add(name, "", strings.Join(all, "\n"))
		}
	}
	for name, all := range loose {
		if o.texts[name] == "" || name == "dmesg" || name == "sysctl -a" {
			o.add(name, "", strings.Join(all, "\n"))
		}
	}
}

var releaseNumber = regexp.MustCompile(`^\d+\.\d`)

// blockBegun finds the output that a line begins.
func blockBegun(line string) string {
	for _, b := range looseBlocks {
		if m := b.begin.FindStringSubmatchIndex(line); m != nil {
			return string(b.begin.ExpandString(nil, b.name, line, m))
		}
	}
	return ""
}

var linkBegin = regexp.MustCompile(`(?m)^(?:\d+: )?([a-z][a-zA-Z0-9_.-]*)(?:@\S+)?(?:: flags=|: <|\s+Link encap:)`)

// nameOnlyLink gives an output that names no interface to the only one that
// was pasted.
func (o outputs) nameOnlyLink() {
	names := map[string]bool{}
	for name, text := range o.texts {
		if m := ethtoolName.FindStringSubmatch(name); m != nil && m[2] != unnamedLink {
			names[m[2]] = true
		}
		if name == "ifconfig -a" || name == "ip -s -d link show" {
			for _, m := range linkBegin.FindAllStringSubmatch(text, -1) {
				names[m[1]] = true
			}
		}
	}
	delete(names, "lo")
	if len(names) != 1 {
		return
	}
	for only := range names {
		for _, prefix := range []string{"ethtool -S ", "ethtool -i "} {
			if text := o.texts[prefix+unnamedLink]; text != "" && o.texts[prefix+only] == "" {
				o.texts[prefix+only] = text
				delete(o.texts, prefix+unnamedLink)
			}
		}
	}
}
