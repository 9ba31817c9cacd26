package lsp

import (
	"context"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/report"
)

// hoverSettings bounds the settings that one name may mean in a hover: those of
// a file that fits several systems.
const hoverSettings = 3

// hover explains the setting of a line, or the code of a comment that
// suppresses it; null for anything else.
func (s *Server) hover(p positionParams) (any, error) {
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return nil, nil
	}
	s.judge(context.Background(), d)
	f, info, err := d.parsed()
	if err != nil {
		return nil, nil // the diagnostics do not know this file either
	}
	at := d.text.offset(p.Position)
	if e, ok := entryAt(f, at); ok {
		var texts []string
		for _, r := range s.meant(e, info) {
			texts = append(texts, report.SettingMarkdown(r, info.Release))
		}
		if len(texts) == 0 {
			return nil, nil
		}
		return hover{markup{"markdown", strings.Join(texts, "\n---\n\n")}, d.text.span(e.KeySpan.Start, e.KeySpan.End)}, nil
	}
	start, end := wordAt(d.text.src, at)
	if code, ok := lint.FindCode(d.text.src[start:end]); ok {
		return hover{markup{"markdown", "**" + code.ID + "** " + code.Title + "\n\n" + code.Explanation},
			d.text.span(start, end)}, nil
	}
	return nil, nil
}

// entryAt returns the setting whose name or value holds an offset; of one inside
// another, the inner one.
func entryAt(f *conffile.File, at int) (conffile.Entry, bool) {
	best, found := conffile.Entry{}, false
	for _, e := range f.Entries {
		inKey := e.KeySpan.Start <= at && at <= e.KeySpan.End
		inside := inKey || e.KeySpan.Start <= at && at <= e.ValueSpan.End
		if inside && (!found || width(e) < width(best)) {
			best, found = e, true
		}
	}
	return best, found
}

func width(e conffile.Entry) int { return max(e.KeySpan.End, e.ValueSpan.End) - e.KeySpan.Start }

// meant returns the settings that an entry can mean.
func (s *Server) meant(e conffile.Entry, info lint.FileInfo) []*catalog.Record {
	var out []*catalog.Record
	for _, system := range info.Systems {
		for _, name := range []string{e.Name, e.Key} {
			if r, ok := s.Catalog.Lookup(system, name); ok {
				out = append(out, r)
				break
			}
		}
	}
	return out[:min(len(out), hoverSettings)]
}

// wordAt returns the bounds of the word of letters and hyphens around an offset.
func wordAt(src string, at int) (start, end int) {
	letter := func(c byte) bool { return c == '-' || 'a' <= c && c <= 'z' }
	start, end = at, at
	for start > 0 && letter(src[start-1]) {
		start--
	}
	for end < len(src) && letter(src[end]) {
		end++
	}
	return start, end
}

// symbols lists the settings of a document.
func (s *Server) symbols(p documentParams) (any, error) {
	out := []symbol{}
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return out, nil
	}
	s.judge(context.Background(), d)
	f, _, err := d.parsed()
	if err != nil {
		return out, nil
	}
	for _, e := range f.Entries {
		if e.Has(conffile.Part) || e.KeySpan.End <= e.KeySpan.Start {
			continue // one word of a setting that is listed
		}
		whole := d.text.span(min(e.Raw.Start, e.KeySpan.Start), max(e.Raw.End, e.KeySpan.End))
		out = append(out, symbol{Name: e.Key, Detail: e.Value, Kind: symbolProperty, Range: whole,
			SelectionRange: d.text.span(e.KeySpan.Start, e.KeySpan.End)})
	}
	return out, nil
}
