package report

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/units"
)

//go:embed *.html.tmpl
var templates embed.FS

//go:embed page.css
var pageStyle string

// writePage fills in one of the templates.
func writePage(w io.Writer, name string, data any) error {
	funcs := template.FuncMap{
		"style":  func() template.CSS { return template.CSS(pageStyle) },
		"amount": amount, "bits": bits, "seconds": seconds, "size": func(n int64) string { return sizeOf(float64(n)) },
		"kept": keptWord, "share": shareWords, "resource": resourceWords, "percent": percent,
		"fit": fitWords, "kind": kindWords, "undo": undoWords, "link": isLink,
		"because": because, "clip": func(s string) string { return terminal.Clip(s, 24) }, "shape": armSign,
		"counted": plural, "count": units.Count, "grouped": diagnose.Grouped, "orelse": func(a, b string) string { return cmp.Or(a, b) },
	}
	t, err := template.New("page").Funcs(funcs).ParseFS(templates, "*.html.tmpl")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	// The page's own text has nothing hidden; what hosts and files bring along
	// is shown.
	_, err = io.WriteString(w, terminal.Escape(b.String()))
	return err
}
