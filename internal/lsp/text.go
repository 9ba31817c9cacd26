package lsp

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// text is a document with the offsets at which its lines begin. A line ends
// with \n, \r\n or \r, as the specification has it.
type text struct {
	src      string
	starts   []int
	encoding string
}

func newText(src, encoding string) *text {
	t := &text{src: src, starts: []int{0}, encoding: encoding}
	for i := 0; i < len(src); i++ {
		if src[i] == '\n' || src[i] == '\r' && (i+1 == len(src) || src[i+1] != '\n') {
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// units is the length of a character in the encoding's units. A byte that is no
// character counts as one.
func (t *text) units(r rune, size int) int {
	switch {
	case t.encoding == encodingUTF8:
		return size
	case t.encoding == encodingUTF16 && r > 0xffff:
		return 2
	}
	return 1
}

// position returns where an offset is; offsets outside of the text are taken to
// its ends.
func (t *text) position(offset int) position {
	offset = max(0, min(offset, len(t.src)))
	line := sort.SearchInts(t.starts, offset+1) - 1
	at := position{Line: line}
	for i := t.starts[line]; i < offset; {
		r, size := utf8.DecodeRuneInString(t.src[i:])
		at.Character += t.units(r, size)
		i += size
	}
	return at
}

// offset returns the byte of a position. One behind the end of its line is that
// end, one inside a character its beginning.
func (t *text) offset(p position) int {
	switch {
	case p.Line < 0:
		return 0
	case p.Line >= len(t.starts):
		return len(t.src)
	}
	i, end := t.starts[p.Line], t.lineEnd(p.Line)
	for left := p.Character; i < end; {
		r, size := utf8.DecodeRuneInString(t.src[i:])
		if left -= t.units(r, size); left < 0 {
			break
		}
		i += size
	}
	return i
}

// lineEnd is the offset of a line's end, its break left out.
func (t *text) lineEnd(line int) int {
	end := len(t.src)
	if line+1 < len(t.starts) {
		end = t.starts[line+1]
	}
	return t.starts[line] + len(strings.TrimRight(t.src[t.starts[line]:end], "\r\n"))
}

func (t *text) span(start, end int) textRange { return textRange{t.position(start), t.position(end)} }

// apply makes one change and returns the new text.
func (t *text) apply(c contentChange) string {
	if c.Range == nil {
		return c.Text
	}
	start, end := t.offset(c.Range.Start), t.offset(c.Range.End)
	if end < start {
		start, end = end, start
	}
	return t.src[:start] + c.Text + t.src[end:]
}

// difference is the one edit of whole lines that makes another text of this one.
func (t *text) difference(to string) textEdit {
	from := t.src
	start := commonPrefix(from, to)
	start = strings.LastIndexByte(from[:start], '\n') + 1
	end, toEnd := len(from), len(to)
	for end > start && toEnd > start && from[end-1] == to[toEnd-1] {
		end--
		toEnd--
	}
	// back to the beginning of the first line that both have
	if i := strings.IndexByte(from[end:], '\n'); i >= 0 && !(end == start || from[end-1] == '\n') {
		end, toEnd = end+i+1, toEnd+i+1
	} else if i < 0 {
		end, toEnd = len(from), len(to)
	}
	return textEdit{t.span(start, end), to[start:toEnd]}
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
