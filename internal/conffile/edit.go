package conffile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrShared is returned when an edit would touch other settings that are
// written on the same line.
var ErrShared = errors.New("the line makes several settings")

// ErrOverlap is returned when an edit touches text that another one replaces.
var ErrOverlap = errors.New("two changes touch the same text")

// edit replaces a span of the source; an empty span inserts.
type edit struct {
	span Span
	text string
}

// Set rewrites the value of entry i and nothing else, quoting it when the
// format needs that. A feature written NAME or -NAME takes on or off.
func (f *File) Set(i int, value string) error {
	e := &f.Entries[i]
	if strings.ContainsAny(value, "\n\r\x00") {
		return fmt.Errorf("%s:%d: a value cannot hold a line break", f.Path, e.Line)
	}
	text := value
	switch e.style {
	case styleFixed:
		return fmt.Errorf("%s:%d: %s is not written as a value that could be replaced by itself", f.Path, e.Line, e.Key)
	case styleSwitch:
		name := strings.TrimPrefix(e.Key, "-")
		switch value {
		case "on":
			text = name
		case "off":
			text = "-" + name
		default:
			return fmt.Errorf("%s:%d: %s is on or off, not %q", f.Path, e.Line, name, value)
		}
	case styleSingle:
		if strings.Contains(value, "'") {
			return fmt.Errorf("%s:%d: a value in single quotes cannot hold one: %s", f.Path, e.Line, value)
		}
	case styleDouble:
		text = f.escape(value)
	case stylePlain:
		text = f.quote(e, value)
	}
	return f.replace(e.ValueSpan, text)
}

// shellKind reports whether the format's values are the shell's words.
func (f *File) shellKind() bool {
	switch f.Kind {
	case RC, Script, HostnameIf, Interfaces:
		return true
	}
	return false
}

func (f *File) escape(value string) string {
	switch {
	case f.Kind == Loader:
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(value)
	case f.shellKind():
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(value)
	}
	return value
}

// quote returns a value for a place where none of its neighbours is a quote.
func (f *File) quote(e *Entry, value string) string {
	plain := value != "" && strings.IndexFunc(value, func(r rune) bool {
		return !(r < 0x80 && (isAlnum(byte(r)) || strings.ContainsRune("-_.,:/+%@", r)))
	}) < 0
	switch {
	case f.Kind == Loader && (!plain || strings.ContainsAny(value, ",:/+%@")):
		return `"` + f.escape(value) + `"`
	case f.shellKind() && !plain && !e.Has(Part):
		return `"` + f.escape(value) + `"`
	}
	return value
}

// Rename rewrites the key of entry i.
func (f *File) Rename(i int, key string) error {
	if strings.ContainsAny(key, "\n\r\x00= \t") {
		return fmt.Errorf("%s:%d: %q cannot be a key", f.Path, f.Entries[i].Line, key)
	}
	return f.replace(f.Entries[i].KeySpan, key)
}

// shared reports whether another entry than a part of i is written on the
// lines of entry i.
func (f *File) shared(i int) bool {
	raw := f.Entries[i].Raw
	for j := i - 1; j >= 0 && f.Entries[j].Raw == raw; j-- {
		return true
	}
	for j := i + 1; j < len(f.Entries) && f.Entries[j].Raw == raw; j++ {
		if !f.Entries[j].Has(Part) {
			return true
		}
	}
	return false
}

// Comment turns the line or lines of entry i into comments, below a comment
// line with the reason (none when it is empty). A line that makes several
// settings is ErrShared.
func (f *File) Comment(i int, reason string) error {
	e := &f.Entries[i]
	if f.shared(i) {
		return fmt.Errorf("%s:%d: %s: %w", f.Path, e.Line, e.Key, ErrShared)
	}
	var b strings.Builder
	if reason != "" {
		b.WriteString("# " + strings.ReplaceAll(reason, "\n", " ") + f.newline())
	}
	text := f.src[e.Raw.Start:e.Raw.End]
	for line := range strings.SplitAfterSeq(text, "\n") {
		b.WriteString("#" + line)
	}
	return f.replace(e.Raw, b.String())
}

// Append adds text as lines of its own at the end of the file.
func (f *File) Append(text string) error {
	text = f.asLines(text)
	if f.src != "" && !strings.HasSuffix(f.src, "\n") {
		text = f.newline() + text
	}
	return f.replace(Span{len(f.src), len(f.src)}, text)
}

// newline returns the file's line end.
func (f *File) newline() string {
	if i := strings.IndexByte(f.src, '\n'); i > 0 && f.src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func (f *File) asLines(text string) string {
	text = strings.TrimRight(text, "\n") + "\n"
	return strings.ReplaceAll(text, "\n", f.newline())
}

// replace records an edit; one that overlaps an earlier one is refused, one of
// exactly the same span replaces it, insertions at one place add up. The edits
// are kept in the order of the text.
func (f *File) replace(span Span, text string) error {
	at, same := slices.BinarySearchFunc(f.edits, span, func(e edit, s Span) int {
		return cmp.Or(e.span.Start-s.Start, e.span.End-s.End)
	})
	if same {
		if span.Start == span.End {
			text = f.edits[at].text + text
		}
		f.edits[at].text = text
		return nil
	}
	before := at > 0 && f.edits[at-1].span.End > span.Start
	after := at < len(f.edits) && f.edits[at].span.Start < span.End
	if before || after {
		return fmt.Errorf("%s: %w at offset %d", f.Path, ErrOverlap, span.Start)
	}
	f.edits = slices.Insert(f.edits, at, edit{span, text})
	return nil
}

// Edited reports whether any edit was made.
func (f *File) Edited() bool { return len(f.edits) > 0 }

// Bytes returns the file with the edits made; without any, the bytes that were
// parsed.
func (f *File) Bytes() []byte {
	var out []byte
	at := 0
	for _, e := range f.edits {
		out = append(out, f.src[at:e.span.Start]...)
		out = append(out, e.text...)
		at = e.span.End
	}
	return append(out, f.src[at:]...)
}
