package conffile

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Lines of pf.conf that are no sentences of a language, and those of a macro.
var (
	pfLine = regexp.MustCompile(`^(?:set[ \t]+(?:limit|timeout|skip|block-policy|loginterface|(?:ruleset-)?optimization|` +
		`state-policy|state-defaults|debug|require-order|fingerprints|hostid|reassemble|syncookies)[ \t]|` +
		`scrub[ \t]+(?:in|out|on|all|from)\b|altq[ \t]+on[ \t]|queue[ \t]+\S+[ \t]+(?:on|parent|bandwidth|priority|qlimit)[ \t]|` +
		`(?:no[ \t]+)?(?:nat|rdr|binat)[ \t]+(?:(?:pass|log|quick)[ \t]+)*(?:on|proto|from|inet6?)[ \t]|` +
		`(?:nat-|rdr-|binat-|scrub-)?anchor[ \t]+"|table[ \t]+<[A-Za-z0-9_.-]+>|antispoof[ \t]|` +
		`(?:pass|block|match)(?:[ \t]+(?:in|out|all|log|quick|drop|return[a-z-]*|inet6?)(?:[ \t]+\([^)]*\))?)*` +
		`(?:[ \t]+(?:on|proto|from)[ \t]+[^ \t.]+|[ \t]+(?:in|out|log|quick|drop|return|inet)[ \t]+all|[ \t]+(?:scrub|flags)\b))`)
	pfMacro     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*[ \t]*=[ \t]*(?:"[^"]*"|\{[^}]*\}|[^ \t"]+)[ \t]*(?:#.*)?$`)
	pfBare      = regexp.MustCompile(`^(?:pass|block)(?:[ \t]+(?:in|out|all|log|quick|drop|return|inet6?|keep state))*$`)
	pfMacroOpen = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*[ \t]*=[ \t]*"[^"]*$`) // which ends in a later line
)

// pfText reports a text of statements of pf.conf and nothing else.
func pfText(text string) bool {
	found, goesOn, quoted := false, false, false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if quoted {
			quoted = strings.Count(line, `"`) != 1
			continue
		}
		if pfMacroOpen.MatchString(line) {
			quoted = true
			continue
		}
		continued := goesOn
		goesOn = strings.HasSuffix(line, `\`) || goesOn && (line == "" || line[0] == '#')
		switch {
		case line == "" || line[0] == '#' || continued:
		case pfLine.MatchString(line):
			found = true
		case !pfMacro.MatchString(line) && !pfBare.MatchString(line):
			return false
		}
	}
	return found
}

// pfWhole are entries that tell something of a whole file, of which a block of a guide is a part, and whether their value is a
// line.
var pfWhole = map[string]bool{"pf:rule/again": true, "pf:rule/unreached": true, "pf:rule/overruled": true, "pf:rule/overload": true,
	"pf:rule/second": true, "pf:rule/opened": true, "pf:rule/source": true,
	"pf:rule/macro": false, "pf:rule/table": false, "pf:rule/neighbours": false, "pf:rule/default-queue": false,
	"pf:rule/unused": false, "pf:rule/loopback": false, "pf:rule/uncapped": false, "pf:rule/guarantees": false,
	"pf:rule/skipped": false, "pf:rule/queue": false}
