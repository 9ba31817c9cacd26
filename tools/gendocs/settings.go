package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
)

var kinds = []catalog.Kind{catalog.Runtime, catalog.Boot, catalog.Both, catalog.ReadOnly, catalog.Unknown}

// settingPages returns the index of the catalog and one page for each system.
func settingPages() ([]page, error) {
	c, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	var index bytes.Buffer
	index.WriteString(made + "# The settings that wirerate knows\n\n`wirerate explain NAME` tells all about one: " +
		"defaults by version, limits, formulas, evidence and sources.\n\n| system |")
	for _, k := range kinds {
		fmt.Fprintf(&index, " %s |", k)
	}
	index.WriteString(" all | with a formula | with a judgement |\n|---|" + strings.Repeat("---|", len(kinds)+3) + "\n")
	var pages []page
	for _, s := range catalog.Systems() {
		records := c.All(s)
		writeCounts(&index, s, records)
		pages = append(pages, systemPage(s, records))
	}
	index.WriteString("\n*boot* is read once, at boot or when a module loads; *both* can be written later too.\n")
	return append(pages, page{"settings.md", index.Bytes()}), nil
}

func writeCounts(b *bytes.Buffer, s catalog.System, records []*catalog.Record) {
	count := map[catalog.Kind]int{}
	formulas, judgements := 0, 0
	for _, r := range records {
		count[r.Kind]++
		if len(r.Formulas) > 0 {
			formulas++
		}
		if len(r.Judge) > 0 {
			judgements++
		}
	}
	fmt.Fprintf(b, "| [%s](settings/%s.md) |", s, s)
	for _, k := range kinds {
		fmt.Fprintf(b, " %d |", count[k])
	}
	fmt.Fprintf(b, " %d | %d | %d |\n", len(records), formulas, judgements)
}

func systemPage(s catalog.System, records []*catalog.Record) page {
	trees := map[string][]*catalog.Record{}
	for _, r := range records {
		t := subtree(r)
		trees[t] = append(trees[t], r)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s# Settings of %s\n", made, s)
	for _, t := range slices.Sorted(maps.Keys(trees)) {
		fmt.Fprintf(&b, "\n## %s\n\n", t)
		for _, r := range trees[t] {
			fmt.Fprintf(&b, "- `%s` (%s) %s\n", r.Name, r.Kind, sentence(r.Does))
		}
	}
	return page{"settings/" + string(s) + ".md", b.Bytes()}
}

// subtree is the heading that a setting is listed under: the form before a
// colon, the leading components of a sysctl's name, or, for names without any,
// the place where they are written.
func subtree(r *catalog.Record) string {
	if form, _, ok := strings.Cut(r.Name, ":"); ok {
		return form
	}
	parts := strings.Split(r.Name, ".")
	if len(parts) == 1 {
		return r.Belongs[0]
	}
	if parts[0] != "net" {
		return parts[0]
	}
	return strings.Join(parts[:min(3, len(parts)-1)], ".")
}

// maxSentence bounds a line of the index; explain has the rest.
const maxSentence = 120

// sentence returns the beginning of a description: its first sentence, or as
// many words of it as fit.
func sentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	if len(text) <= maxSentence {
		return text
	}
	cut := strings.LastIndexByte(text[:maxSentence], ' ')
	return strings.TrimRight(text[:max(cut, 0)], " ,;:") + " ..."
}
