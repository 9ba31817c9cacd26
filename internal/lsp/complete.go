package lsp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/report"
)

// completions bounds the names of one answer.
const completions = 1000

// complete proposes the names of settings at the beginning of a line, and behind
// the equals sign the values of the setting.
func (s *Server) complete(p positionParams) (any, error) {
	list := completionList{Items: []completionItem{}}
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return list, nil
	}
	s.judge(context.Background(), d)
	info, ok := d.info()
	if !ok {
		return list, nil
	}
	at := d.text.offset(p.Position)
	start := strings.LastIndexByte(d.text.src[:at], '\n') + 1
	line := d.text.src[start:at]
	trimmed := strings.TrimLeft(line, " \t-")
	switch {
	case strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";") || strings.HasPrefix(trimmed, "["):
	case strings.Contains(line, "="):
		list.Items = s.values(d, info, start, at)
	case !strings.ContainsAny(trimmed, " \t") || info.Kind == conffile.PF || info.Kind == conffile.Modprobe:
		s.names(d, info, at-len(trimmed), at, &list)
	}
	return list, nil
}

// section is the [section] that an offset is in, of the formats that have them.
func section(src string, at int) string {
	name := ""
	for line := range strings.Lines(src[:at]) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			name = line[1 : len(line)-1]
		}
	}
	return name
}

// spelling returns how a file writes the name of a setting, up to its value; false
// for one that it does not hold there.
func spelling(kind conffile.Kind, section string, r *catalog.Record) (string, bool) {
	belongs := func(place string) bool { return slices.Contains(r.Belongs, place) }
	plain := !strings.Contains(r.Name, ":")
	switch kind {
	case conffile.Sysctl:
		return r.Name, plain && belongs("sysctl")
	case conffile.Tuned:
		return r.Name, plain && belongs("sysctl") && section == "sysctl"
	case conffile.Loader:
		return r.Name, plain && belongs("loader")
	case conffile.RC:
		return r.Name, plain && belongs("rc")
	case conffile.LinkFile:
		name, ok := strings.CutPrefix(r.Name, "link-file:")
		return name, ok && section == "Link"
	case conffile.NetworkFile:
		name, ok := strings.CutPrefix(r.Name, "network-file:")
		if in, key, cut := strings.Cut(name, "/"); cut {
			return key, ok && in == section
		}
		return name, ok && section == "Link"
	case conffile.PF:
		name, ok := strings.CutPrefix(r.Name, "pf:")
		return strings.ReplaceAll(name, "/", " "), ok && !strings.Contains(name, "*")
	case conffile.Modprobe:
		name, ok := strings.CutPrefix(r.Name, "module:")
		return "options " + strings.Replace(name, "/", " ", 1), ok && strings.Contains(name, "/")
	}
	return "", false
}

// release is the one that proposals are for: the document's, else the newest.
func release(system catalog.System, info lint.FileInfo) catalog.Version {
	_, newest := catalog.Supported(system)
	return cmp.Or(info.Release, newest)
}

// names proposes the settings whose names have what is typed, those that begin
// with it first.
func (s *Server) names(d *document, info lint.FileInfo, from, at int, list *completionList) {
	typed := strings.ToLower(d.text.src[from:at])
	if info.Kind == conffile.Sysctl {
		typed = strings.ToLower(conffile.LinuxName(typed))
	}
	in := section(d.text.src, at)
	seen := map[string]bool{}
	for _, r := range s.records(info) {
		name, ok := spelling(info.Kind, in, r)
		if !ok || seen[name] || !strings.Contains(strings.ToLower(name), typed) {
			continue
		}
		seen[name] = true
		order := "1"
		if strings.HasPrefix(strings.ToLower(name), typed) {
			order = "0"
		}
		list.Items = append(list.Items, s.nameItem(d, info, r, name, order, from, at))
	}
	slices.SortFunc(list.Items, func(a, b completionItem) int { return strings.Compare(a.SortText, b.SortText) })
	if len(list.Items) > completions {
		list.Items, list.IsIncomplete = list.Items[:completions], true
	}
}

// records are the settings that can be set in the releases that a document can
// be of.
func (s *Server) records(info lint.FileInfo) []*catalog.Record {
	var out []*catalog.Record
	for _, system := range info.Systems {
		version := release(system, info)
		for _, r := range s.Catalog.All(system) {
			if r.StateIn(version) == catalog.Present && r.In(version).Kind != catalog.ReadOnly {
				out = append(out, r)
			}
		}
	}
	return out
}

func (s *Server) nameItem(d *document, info lint.FileInfo, r *catalog.Record, name, order string, from,
	at int) completionItem {
	item := completionItem{Label: name, Kind: itemProperty, SortText: order + name, FilterText: name,
		Data: string(r.System)}
	if standard, ok := r.DefaultIn(release(r.System, info)); ok && standard.Value != "unknown" {
		item.Detail = "default " + standard.Value
	}
	text := name
	if strings.Contains(name, "*") {
		all := "0"
		if strings.Contains(name, ".conf.*") || strings.Contains(name, ".neigh.*") {
			all = "default"
		}
		if s.client.Capabilities.TextDocument.Completion.CompletionItem.SnippetSupport {
			item.InsertTextFormat = formatSnippet
			all = "${1:" + all + "}"
		}
		text = strings.Replace(name, "*", all, 1)
	}
	item.TextEdit = &textEdit{d.text.span(from, at), text}
	return item
}

// resolve tells what a proposed setting does.
func (s *Server) resolve(item completionItem) (any, error) {
	name := item.Label
	for _, prefix := range []string{"", "link-file:", "network-file:"} {
		if r, ok := s.Catalog.Lookup(catalog.System(item.Data), prefix+name); ok {
			item.Documentation = &markup{"markdown", report.SettingMarkdown(r, "")}
			break
		}
	}
	return item, nil
}

// values proposes the values of the setting of a line.
func (s *Server) values(d *document, info lint.FileInfo, start, at int) []completionItem {
	items := []completionItem{}
	line := d.text.src[start:at]
	eq := strings.IndexByte(line, '=')
	key := strings.Trim(line[:eq], " \t-")
	if fields := strings.Fields(key); len(fields) == 3 && info.Kind == conffile.Modprobe {
		key = "module:" + fields[1] + "/" + fields[2]
	}
	from := start + eq + 1
	for from < at && strings.ContainsRune(" \t\"'", rune(d.text.src[from])) {
		from++
	}
	quote := ""
	if before := d.text.src[from-1]; (info.Kind == conffile.Loader || info.Kind == conffile.RC) &&
		before != '"' && before != '\'' {
		quote = `"`
	}
	add := func(value, detail, order string) {
		if slices.ContainsFunc(items, func(i completionItem) bool { return i.Label == value }) {
			return
		}
		items = append(items, completionItem{Label: value, Kind: itemValue, Detail: detail, SortText: fmt.Sprintf("%s%03d",
			order, len(items)),
			FilterText: quote + value, TextEdit: &textEdit{d.text.span(from, at), quote + value + quote}})
	}
	for _, r := range s.meantBy(key, section(d.text.src, at), info) {
		version := release(r.System, info)
		standard, known := r.DefaultIn(version)
		known = known && standard.Value != "computed" && standard.Value != "unknown"
		for _, v := range r.Values {
			if v.Since != "" && !version.AtLeast(v.Since) || v.Removed != "" && version.AtLeast(v.Removed) {
				continue
			}
			means := v.Means
			if known && v.Value == standard.Value {
				means = "default; " + means
			}
			if v.Needs != "" {
				means += "; needs " + v.Needs
			}
			add(v.Value, means, "0")
		}
		if known {
			add(standard.Value, strings.TrimSuffix("default in "+r.System.Title()+" "+string(version)+"; "+standard.Note, "; "),
				"1")
		}
		if r.Type == catalog.TypeBool && len(r.Values) == 0 {
			off, on := "0", "1"
			if info.Kind == conffile.RC || info.Kind == conffile.Loader && strings.HasSuffix(r.Name, "_load") {
				off, on = "NO", "YES"
			}
			add(on, "on", "2")
			add(off, "off", "3")
		}
	}
	return items
}

// meantBy returns the settings that a name in a section can mean.
func (s *Server) meantBy(key, section string, info lint.FileInfo) []*catalog.Record {
	if info.Kind == conffile.Sysctl && slices.Contains(info.Systems, catalog.Linux) {
		key = conffile.LinuxName(key)
	}
	var out []*catalog.Record
	for _, system := range info.Systems {
		for _, name := range []string{key, "link-file:" + key, "network-file:" + key, "network-file:" + section + "/" + key} {
			if r, ok := s.Catalog.Lookup(system, name); ok {
				out = append(out, r)
				break
			}
		}
	}
	return out
}
