package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
)

// sourcesShown bounds the sources of a setting told in short.
const sourcesShown = 4

// SettingMarkdown tells a setting in short, in Markdown: what it does, how it
// stands in a release, its default there, what it may be, the evidence and the
// sources. Without a release it tells the defaults of all.
func SettingMarkdown(r *catalog.Record, version catalog.Version) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** (%s)\n\n%s\n\n", markdown(r.Name), strings.TrimSpace(r.System.Title()+" "+string(version)),
		markdown(r.Does))
	item := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "- %s: %s\n", label, markdown(text))
		}
	}
	item("state", existenceWords(r, version))
	for _, d := range defaultLines(r, version) {
		item("default", d)
	}
	item("value", form(r))
	if here := standing(r, version); here.Kind != catalog.Unknown {
		item("active", activeWords(here)+scopeWords(r))
	}
	item("written in", strings.Join(r.Belongs, ", "))
	item("needs", strings.Join(r.Needs, ", "))
	item("risk", r.Risk)
	for _, e := range r.Evidence {
		says := e.Says
		if e.Effect != nil {
			says += " (" + effectWords(*e.Effect) + ")"
		}
		item("evidence, "+string(e.Grade), says+" ["+e.Source+"]")
	}
	if len(r.Evidence) == 0 {
		item("evidence", "none recorded")
	}
	b.WriteString("\nSources:\n")
	for i, s := range r.Sources {
		if i == sourcesShown {
			fmt.Fprintf(&b, "- and %d more: `wirerate explain %s`\n", len(r.Sources)-i, r.Name)
			break
		}
		fmt.Fprintf(&b, "- %s\n", markdown(s))
	}
	return b.String()
}

// existenceWords says what is unusual about a setting's existence; empty when it is
// there.
func existenceWords(r *catalog.Record, version catalog.Version) string {
	release := r.System.Title() + " " + string(version)
	var words string
	if version == "" {
		if r.Removed == "" {
			return ""
		}
		words = "removed in " + r.System.Title() + " " + string(r.Removed)
	} else {
		switch r.StateIn(version) {
		case catalog.NotYet:
			words = "does not exist yet in " + release
		case catalog.Gone:
			words = "no longer exists in " + release
		case catalog.Inactive:
			words = "is accepted and does nothing in " + release
		default:
			return ""
		}
	}
	if became := cmp.Or(r.Became, r.RenamedTo); became != "" {
		words += "; " + became
	}
	return words
}

// defaultLines are the default in a release, or those of all releases.
func defaultLines(r *catalog.Record, version catalog.Version) []string {
	defaults := r.Default
	if version != "" {
		d, ok := r.DefaultIn(version)
		if !ok {
			return nil
		}
		return []string{defaultWords(d)}
	}
	var out []string
	for i, d := range defaults {
		text := defaultWords(d)
		switch {
		case d.Since != "":
			text += fmt.Sprintf(" from %s", d.Since)
		case i+1 < len(defaults):
			text += fmt.Sprintf(" before %s", defaults[i+1].Since)
		}
		out = append(out, text)
	}
	return out
}

// markdownEscapes are for what Markdown would take for markup.
var markdownEscapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<",
	"&lt;", "\n", " ")

func markdown(s string) string { return markdownEscapes.Replace(s) }
