package trial

import (
	"fmt"
	"slices"
	"strings"
)

// NoteKind is why a setting of an arm is not applied as it stands.
type NoteKind string

// The kinds of notes.
const (
	Refused      NoteKind = "refused by the kernel and left out"
	Changed      NoteKind = "changed by the kernel into another value"
	Absent       NoteKind = "not on the host and left out"
	AtBoot       NoteKind = "active from the next boot only and left out"
	NotAtRunTime NoteKind = "not to be switched between runs and left out"
	Unread       NoteKind = "not read as settings and left out"
	Other        NoteKind = "" // never folded
)

// Note says of a setting of an arm what becomes of it.
type Note struct {
	Kind    NoteKind
	Setting string
	Text    string
}

const (
	noteFew    = 3 // so many of a kind are each shown
	notesNamed = 4 // so many settings are named in the line of many
)

// Fold makes one line of many notes of a kind, in the place of the first; all
// keeps every one.
func Fold(notes []Note, all bool) []string {
	by := map[NoteKind][]string{}
	for _, n := range notes {
		if !slices.Contains(by[n.Kind], n.Setting) {
			by[n.Kind] = append(by[n.Kind], n.Setting)
		}
	}
	var out []string
	told := map[NoteKind]bool{}
	for _, n := range notes {
		settings := by[n.Kind]
		if all || n.Kind == Other || len(settings) <= noteFew {
			out = append(out, n.Text)
			continue
		}
		if told[n.Kind] {
			continue
		}
		told[n.Kind] = true
		named, more := settings[:min(notesNamed, len(settings))], ""
		if len(named) < len(settings) {
			more = fmt.Sprintf(" and %d more", len(settings)-len(named))
		}
		out = append(out, fmt.Sprintf("%d settings are %s: %s%s (--verbose lists them with the reasons)",
			len(settings), n.Kind, strings.Join(named, ", "), more))
	}
	return out
}
