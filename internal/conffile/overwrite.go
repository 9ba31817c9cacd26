package conffile

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// firstWrite is the first command of a script that writes a file.
type firstWrite struct {
	target word
	told   bool
}

// overwrites follows which commands write configuration files, and rejects a write that a later one of the same script
// throws away, since that one begins the file anew.
func (s *scanner) overwrites(c *command, name string, words, echoed []word) {
	if name == "sysctl" && slices.ContainsFunc(words, func(w word) bool { return w.text == "--system" || w.text == "-p" }) {
		clear(s.writes) // the settings count, whatever becomes of the file
	}
	targets, anew := []word{c.target}, !c.append
	switch name {
	case "echo", "printf":
		echoed = words
	case "tee":
		anew, targets = true, nil
		for _, w := range words {
			if strings.HasPrefix(w.text, "-") {
				anew = anew && w.text != "-a" && w.text != "--append"
			} else {
				targets = append(targets, w)
			}
		}
	case "cat":
	default:
		targets = nil
	}
	for file := range s.writes { // whoever else names the file, or a folder above it, may have taken what was written
		if name == "umount" || !slices.Contains(leavesFiles, name) && slices.ContainsFunc(words, func(w word) bool { return s.reaches(w, file) }) {
			delete(s.writes, file)
		}
	}
	if !anew && !c.conditional && len(targets) == 1 && len(echoed) > 0 {
		s.replacesArguments(echoed[0], s.resolved(targets[0].text))
	}
	// A whole file that is written twice is one of two hosts, or of two ways to do it.
	empty := name == "cat" || len(echoed) == 0 || echoed[0].text == "" ||
		strings.HasPrefix(strings.TrimSpace(echoed[0].text), "#")
	for _, w := range targets {
		s.wroteAt(w, anew, c.conditional || s.within, empty)
	}
}

// leavesFiles are commands that name a folder and leave the files in it, or have their own rules.
var leavesFiles = []string{"tee", "mkdir", "chmod", "chown", "mount", "cd", "test", "[", "echo", "printf"}

// reaches reports whether a word names a file, or a folder that it lies in.
func (s *scanner) reaches(w word, file string) bool {
	path := s.resolved(w.text)
	return strings.Contains(path, file) || len(path) > 1 && strings.HasPrefix(file, strings.TrimSuffix(path, "/")+"/")
}

// editsArguments is a command that takes the line away from GRUB's file, or begins that file.
var editsArguments = regexp.MustCompile(`\bsed\b[^\n]*GRUB_CMDLINE_LINUX|>[ \t]*"?/etc/default/grub|\b(?:cp|mv|rm)\b[^\n]*/etc/default/grub`)

// debianGrub is a command of Debian and Ubuntu, where the line for all entries is empty unless somebody fills it.
var debianGrub = regexp.MustCompile(`\bupdate-grub\b|\bapt(?:-get)?[ \t]`)

// replacesArguments rejects a line that is appended to GRUB's file and takes the place of the arguments above it.
func (s *scanner) replacesArguments(w word, file string) {
	if file != "/etc/default/grub" || !grubLine.MatchString(w.text) || strings.Contains(w.text, "$GRUB_CMDLINE") || strings.Contains(w.text, "${GRUB_CMDLINE") {
		return
	}
	if s.appended++; s.appended > maxWrites {
		return
	}
	name, _, _ := strings.Cut(w.text, "=")
	if name == "GRUB_CMDLINE_LINUX" && s.says(debianGrub) {
		return
	}
	if above := strings.ReplaceAll(s.src[:min(w.span.Start, maxSearched)], ">>", "  "); editsArguments.MatchString(above) {
		return
	}
	s.rejected(Reject{Line: w.line, Span: w.span, Code: "conflict",
		Reason:  "this replaces all arguments that the " + name + " line above it in the file sets",
		Because: "The file is a shell script, whose last assignment counts. Edit the line with sed, or write " + name + "=\"$" + name + " ...\"."})
}

// changesFolder is a command after which a path without a leading / may be meant so.
var changesFolder = regexp.MustCompile(`\b(?:cd|pushd|chroot)[ \t]`)

func (s *scanner) wroteAt(w word, anew, conditional, empty bool) {
	file := s.resolved(w.text)
	if before, known := s.writes["/"+file]; known && !before.told && !conditional && w.span.Start < maxSearched &&
		!changesFolder.MatchString(s.src[:w.span.Start]) {
		s.rejected(Reject{Line: w.line, Span: w.span, Idle: true,
			Reason:  "this goes to " + file + " below the working directory, not to /" + file,
			Because: "The path has no leading /, unlike that of an earlier line."})
		return
	}
	if !s.placed(file) || fromPath(file, "[").Kind == "" {
		return
	}
	before, known := s.writes[file]
	switch {
	case known && anew && !conditional && !before.told:
		s.rejected(Reject{Line: before.target.line, Span: before.target.span, Idle: true,
			Reason:  "this is lost: a later line overwrites " + file + "; append there with >> or tee -a",
			Because: "> and tee without -a replace everything in the file."})
		before.told = true
		s.writes[file] = before
	case known || conditional || empty || len(s.writes) >= maxWrites:
	default:
		if s.writes == nil {
			s.writes = map[string]firstWrite{}
		}
		s.writes[strings.Clone(file)] = firstWrite{target: w}
	}
}

// placed reports whether a file is one of the system, or of one below a folder that the script gives a name once.
func (s *scanner) placed(file string) bool {
	if !strings.Contains(file, "$") {
		return strings.HasPrefix(file, "/etc/") || strings.HasPrefix(file, "/boot/")
	}
	root := belowVariable.FindStringSubmatch(file)
	if root == nil || len(s.src) > maxSearched {
		return false
	}
	name := strings.Trim(strings.TrimSuffix(file, root[1]), "${}")
	return strings.Count(s.src, name+"=") < 2
}

// maxWrites bounds the files of a script that are followed, since every command is compared with them.
const maxWrites = 20

// writtenFile returns the file that a command writes its input to: tee's argument,
// whose own output usually goes to /dev/null, or the target of its redirection; nft reads its input as a file of rules.
func writtenFile(c *command) string {
	tee := false
	for i, w := range c.words {
		if w.text == "-f" && i > 0 && c.words[i-1].text == "nft" {
			return rulesInput
		}
		if tee && !strings.HasPrefix(w.text, "-") {
			return w.text
		}
		tee = tee || w.text[strings.LastIndexByte(w.text, '/')+1:] == "tee"
	}
	return c.target.text
}

// printsHere reports whether a command only prints its input.
func printsHere(c *command) bool { return len(c.words) == 1 && c.words[0].text == "cat" && !c.piped }
