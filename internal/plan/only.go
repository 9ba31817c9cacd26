package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Only is the plan with the changes that keep allows. The others become settings
// that were considered and stay as they are, with the reason.
func (p Plan) Only(keep Keep) Plan {
	changes, kept := []Change{}, slices.Clone(p.Kept)
	for _, ch := range p.Changes {
		ok, why := keep(ch.Setting)
		if ok {
			changes = append(changes, ch)
			continue
		}
		kept = append(kept, Kept{Setting: ch.Setting, Value: cmp.Or(ch.From, ch.Default),
			Because: fmt.Sprintf("would be %s, but %s", ch.To, why)})
	}
	p.Changes, p.Kept = changes, kept
	return p
}

// Match tells whether a setting of a plan is meant by a name as people give it:
// with or without its interface or destination, NAME@INTERFACE, and with * for
// any letters.
func Match(pattern, setting string) bool {
	base, _, on := strings.Cut(setting, "@")
	return matches(pattern, setting) || on && matches(pattern, base)
}

// matches compares text with a pattern in which * stands for any letters, dots
// and slashes too.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		if !ok {
			return false
		}
		_, text, ok = strings.Cut(text, part)
	}
	return ok && strings.HasSuffix(text, parts[len(parts)-1])
}
