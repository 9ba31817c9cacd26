package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Parts of expressions for the commands of a session.
const (
	// anyPrompt is what may be the prompt of a shell where a command that is known follows: a bare # begins comments too.
	anyPrompt = `(?:\[[^\]\n]{1,60}\][^ \t\n]{0,20}|[A-Za-z0-9_.@:~/-]{0,60}(?: [~/][^ \t\n]{0,60})? ?)[$#%>][ \t]*`
	asRoot    = `(?:(?:doas|sudo)[ \t]+)?`
	editors   = `(?:vim?|nvim|nano|ee|edit|mg|emacs|pico)`
)

// sessionCommand is a command behind the prompt of a shell.
var sessionCommand = regexp.MustCompile(`^[ \t]*` + anyPrompt + asRoot + `(?:echo|printf|cat|tee|sysctl|ifconfig|route|rcctl|sysrc|pfctl|ipfw|sed|cp|mv|` +
	`sh[ \t]+/etc/netstart|kldload|service|pkg(?:_add)?)[ \t]+[-'"/A-Za-z0-9$<>]`)

// sessionText is the text of a session of a shell as a script with every byte in its place: blanks stand for prompts and
// for what the commands printed. ok is false for another text.
func sessionText(text string) (script string, ok bool) {
	if !sessionCommand.MatchString(strings.TrimLeft(text, " \t\r\n")) {
		return "", false
	}
	out := []byte(text)
	goesOn, end := false, ""
	for start := 0; start < len(text); {
		stop := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			stop = start + i
		}
		line := text[start:stop]
		switch command := sessionCommand.FindString(line); {
		case end != "":
			if strings.TrimSpace(line) == end {
				end = ""
			}
		case command != "" && !goesOn:
			erase(out[start : start+strings.IndexAny(command, "$#%>")+1])
			goesOn = true
		case !goesOn && kindOfLine(strings.TrimSpace(line)) == Script:
			return "", false // what looked like prompts are comments above commands
		case !goesOn:
			erase(out[start:stop])
		}
		if goesOn && end == "" {
			if m := heredocMark.FindStringSubmatch(line); m != nil {
				end = m[1]
			}
		}
		goesOn = goesOn && end == "" && strings.HasSuffix(line, `\`)
		start = stop + 1
	}
	return string(out), true
}

// shebang begins a script of the shell.
var shebang = regexp.MustCompile(`^#![ \t]*/(?:usr/)?(?:local/)?bin/(?:env[ \t]+)?(?:ba|k)?sh\b`)

// script returns where a script of the shell ends that begins at start outside of the blocks, and what it is; start where there
// is none. A sentence ends it.
func (g *guideText) script(start int) (end int, b guideBlock) {
	if start == 0 || g.end != "" || g.plain || g.output || !shebang.MatchString(g.src[start:min(len(g.src), start+40)]) {
		return start, guideBlock{}
	}
	end = start
	for at := start; at < len(g.src); {
		line, _, _ := strings.Cut(g.src[at:], "\n")
		if sentence.MatchString(line) || strings.HasPrefix(line, "```") || strings.HasPrefix(line, "[/") {
			break
		}
		at = min(at+len(line)+1, len(g.src))
		if strings.TrimSpace(line) != "" {
			end = at
		}
	}
	if b = blockOf(g.src[start:end], g.above, g.edited); b.kind != Script {
		return start, guideBlock{}
	}
	return end, b
}
