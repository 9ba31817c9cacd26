package transcript

import (
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// commandOf is the command that a line shows: behind a prompt, or on a line of
// its own; empty when it shows none.
func commandOf(line string) string {
	if ofKernel(line) || isHeading(line) || writtenOver.MatchString(line) {
		return ""
	}
	if command := bareCommand(line); command != "" {
		return command
	}
	if m := drawnPrompt.FindStringSubmatch(line); m != nil {
		for rest := strings.TrimSpace(m[1]); rest != ""; _, rest, _ = strings.Cut(rest, " ") {
			if words := commandWords(rest); isCommand(words) {
				return strings.Join(words, " ")
			}
		}
	}
	if !strings.ContainsAny(line, "#$%>") && !strings.HasPrefix(line, "[") {
		return ""
	}
	if m := looseCommand.FindStringSubmatch(line); m != nil {
		if words := commandWords(m[1] + m[2]); len(words) > 1 && isCommand(words) &&
			typedOutput(strings.Join(words, " ")) != "" {
			return strings.Join(words, " ")
		}
	}
	m := promptLine.FindStringSubmatch(line)
	if m == nil || percentage.MatchString(m[1]) || strings.HasSuffix(m[1], "->") || strings.HasSuffix(m[1], "=>") {
		return ""
	}
	words := commandWords(m[2])
	if strings.Trim(m[1], " #>") == "" && isSpoken(words) {
		return "" // a title, or what somebody quoted
	}
	if isCommand(words) || strings.HasPrefix(line, "$ ") || strings.Contains(m[1], "@") {
		return strings.Join(words, " ")
	}
	return ""
}

// ofKernel reports whether a line begins with the time of the kernel's log, "[  12.345678] ": a log may hold hundreds of thousands
// of them.
func ofKernel(line string) bool {
	stamp, rest, found := strings.Cut(line, "] ")
	return found && rest != "" && strings.HasPrefix(stamp, "[") && len(stamp) <= 20 && strings.Count(stamp, ".") == 1 &&
		strings.Trim(stamp[1:], " .0123456789") == ""
}

// namedBefore is the command that the words before a fence name: "ethtool -S
// eth0:", "Running `netstat -m` shows".
func namedBefore(line string) string {
	candidates := []string{strings.Trim(line, " *_#:.`")}
	for i, part := range strings.Split(line, "`") {
		if i%2 == 1 {
			candidates = append(candidates, part)
		}
	}
	for _, c := range candidates {
		words := commandWords(strings.TrimLeft(c, "$# "))
		said := slices.IndexFunc(words, func(w string) bool { return slices.Contains(saying, strings.Trim(w, ":,")) })
		if said > 0 {
			words = words[:said]
		}
		if (len(words) > 1 || said > 0) && isCommand(words) && typedOutput(strings.Join(words, " ")) != "" {
			return strings.Join(words, " ")
		}
	}
	return ""
}

// saying are words behind a command in a sentence.
var saying = strings.Fields("says say shows show showed output outputs result results returns returned gives gave " +
	"prints printed reports is was on of for from and with in as after before during while when looks")

// writtenOver is a prompt on a serial console over which the kernel wrote.
var writtenOver = regexp.MustCompile(`[#$%>] .*\[ *\d{1,9}\.\d{6}\] \S`)

// drawnPrompt begins with a sign that shells are decorated with, looseCommand
// follows a prompt of any form.
var (
	drawnPrompt  = regexp.MustCompile(`^\s*[❯➜λ»›]\s*(.*)$`)
	looseCommand = regexp.MustCompile(`^[^|;]{1,60}[#$%>] +(\S.*)$|^\[[\w.-]+\]\[\w+@[^\]]+\]\S*: (\S.*)$`)
)

// startsNumber tells a counter with its words.
var startsNumber = regexp.MustCompile(`^\d+(/\d+)* [a-z]`)

// bareCommand is a command on a line of its own without a prompt: one run by
// sudo, or one whose flags leave no doubt.
func bareCommand(line string) string {
	line = strings.TrimPrefix(line, " ") // copied without the prompt before it
	if line == "" || line[0] < 'a' || line[0] > 'z' {
		return ""
	}
	words := commandWords(strings.TrimSuffix(line, ":")) // the title of what follows
	prose := func(w string) bool { return strings.HasSuffix(w, ",") }
	if len(words) < 2 || slices.ContainsFunc(words, prose) {
		return ""
	}
	if last := words[len(words)-1]; strings.ContainsAny(last, ".,:;") && !strings.Contains(last, "://") { // the end of a sentence
		return ""
	}
	command := strings.Join(words, " ")
	if words[0] == "cat" && strings.HasPrefix(words[1], "/") && (typedOutput(command) != "" || ofKernelFiles(words[1:])) {
		return command
	}
	if changesQueue.MatchString(line) {
		return command
	}
	if (strings.HasPrefix(line, "sudo ") || strings.HasPrefix(words[1], "-")) && typedOutput(command) != "" ||
		len(words) <= 4 && linkName.MatchString(words[len(words)-1]) && facts.OutputOfCommand(command) != "" {
		return command
	}
	return ""
}

// ofKernelFiles reports whether all words are files of the kernel: settings, and the connections that it tracks.
func ofKernelFiles(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.HasPrefix(w, "/proc/sys/") && !trackedFile.MatchString(w) })
}

// linkName is what ends a short command of an interface, and no sentence: ethtool eth0, ip link show enp3s0.
var linkName = regexp.MustCompile(`^[a-z][a-z0-9]*\d[\w.@-]*$`)
