package lsp

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/lint"
)

// fixRounds bounds how often a corrected file is judged again: a correction can
// show another problem once or twice.
const fixRounds = 10

// actions answers what can be done about the problems of some lines.
func (s *Server) actions(p actionParams) (any, error) {
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return []codeAction{}, nil
	}
	s.judge(context.Background(), d)
	out := []codeAction{}
	if wanted(p.Context.Only, actionQuickFix) {
		for _, problem := range d.problems() {
			shown := d.diagnostic(problem, d.lineStart(problem.Line))
			if shown.Range.Start.Line > p.Range.End.Line || shown.Range.End.Line < p.Range.Start.Line {
				continue
			}
			if a, ok := s.correct(d, problem, shown); ok {
				out = append(out, a)
			}
			out = append(out, s.suppress(d, problem, shown))
		}
	}
	if wanted(p.Context.Only, actionFixAllOurs) {
		if a, ok := s.correctAll(d); ok {
			out = append(out, a)
		}
	}
	return out, nil
}

// wanted reports whether a client that asks for some kinds of actions, or for
// all, wants one of this kind.
func wanted(only []string, kind string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(o string) bool {
		return o == "" || o == kind || strings.HasPrefix(kind, o+".")
	})
}

// correct is the correction that one problem proposes.
func (s *Server) correct(d *document, p lint.Problem, shown diagnostic) (codeAction, bool) {
	if p.Fix == nil {
		return codeAction{}, false
	}
	p.Severity = lint.Warning // who asks for it wants it made, whatever its weight
	inputs, result := d.inputs, &lint.Result{Problems: []lint.Problem{p}, Files: d.result.Files}
	created := ""
	if p.Fix.Kind == lint.FixMove {
		inputs, result.Files, created = s.withTarget(d, p)
	}
	fixed, notes, err := lint.ApplyFixes(inputs, result)
	if err != nil || len(fixed) == 0 {
		return codeAction{}, false
	}
	title := strings.TrimSuffix(p.Fix.String(), "\n")
	if len(notes) > 0 {
		title = "comment the line out; add to " + p.Fix.To + ": " + strings.TrimSpace(p.Fix.Text)
	}
	return codeAction{Title: title, Kind: actionQuickFix, Diagnostics: []diagnostic{shown}, IsPreferred: len(notes) == 0,
		Edit: s.edit(fixed, created)}, true
}

// withTarget adds the file that a line moves to, empty, when there is none and
// the client can make one.
func (s *Server) withTarget(d *document, p lint.Problem) (inputs []lint.Input, files []lint.FileInfo, created string) {
	inputs, files = d.inputs, d.result.Files
	place := d.path[:len(d.path)-len(path.Base(d.path))] + path.Base(p.Fix.To)
	info, _ := d.info()
	if root, ok := conffile.Root(conffile.System(info.System), d.path); ok && !strings.HasSuffix(root, "/") &&
		path.IsAbs(p.Fix.To) {
		place = root + p.Fix.To
	}
	support := s.client.Capabilities.Workspace.WorkspaceEdit
	if !d.local || fileIndex(inputs, place) >= 0 || !support.DocumentChanges ||
		!slices.Contains(support.ResourceOperations, "create") {
		return inputs, files, ""
	}
	kind := conffile.Detect(place, nil).Kind
	if kind == "" {
		return inputs, files, ""
	}
	inputs = append(slices.Clone(inputs), lint.Input{Path: place})
	files = append(slices.Clone(files), lint.FileInfo{Path: place, Kind: kind, System: info.System,
		Systems: []catalog.System{info.System}})
	return inputs, files, place
}

// correctAll makes all corrections that the problems of the document propose,
// until no further one is proposed; lines of it may move to files around it.
func (s *Server) correctAll(d *document) (codeAction, bool) {
	inputs := slices.Clone(d.inputs)
	for range fixRounds {
		res := lint.Run(s.Catalog, inputs, d.opt)
		res.Problems = slices.DeleteFunc(res.Problems, func(p lint.Problem) bool { return p.File != d.path })
		fixed, _, err := lint.ApplyFixes(inputs, res)
		if err != nil {
			return codeAction{}, false
		}
		if len(fixed) == 0 {
			break
		}
		for _, f := range fixed {
			inputs[fileIndex(inputs, f.Path)].Text = string(f.New)
		}
	}
	var fixed []lint.Fixed
	for i, in := range inputs {
		if in.Text != d.inputs[i].Text {
			fixed = append(fixed, lint.Fixed{Path: in.Path, Old: []byte(d.inputs[i].Text), New: []byte(in.Text)})
		}
	}
	return codeAction{Title: "make all corrections of wirerate", Kind: actionFixAllOurs, Edit: s.edit(fixed, "")},
		len(fixed) > 0
}

// suppress has a problem ignored on its line, by a comment above it.
func (s *Server) suppress(d *document, p lint.Problem, shown diagnostic) codeAction {
	at := d.lineStart(p.Line)
	if f, _, err := d.parsed(); err == nil {
		for _, e := range f.Entries { // a comment inside a continued line would cut it
			if e.Raw.Start <= at && at <= e.Raw.End {
				at = min(at, strings.LastIndexByte(d.text.src[:e.Raw.Start], '\n')+1)
			}
		}
	}
	line := d.text.src[at:]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	comment := indent + "# wirerate: ignore " + p.Code + "\n"
	edit := textEdit{d.text.span(at, at), comment}
	return codeAction{Title: "disable " + p.Code + " for this line",
		Kind: actionQuickFix, Diagnostics: []diagnostic{shown},
		Edit: s.workspaceEdit([]fileEdits{{d.uri, []textEdit{edit}}}, "")}
}

type fileEdits struct {
	uri   string
	edits []textEdit
}

// edit is the change from the old to the new texts of files.
func (s *Server) edit(fixed []lint.Fixed, created string) workspaceEdit {
	var files []fileEdits
	for _, f := range fixed {
		uri := uriOf(f.Path)
		for _, d := range s.docs {
			if d.path == f.Path {
				uri = d.uri
			}
		}
		files = append(files, fileEdits{uri, []textEdit{newText(string(f.Old), s.encoding).difference(string(f.New))}})
	}
	return s.workspaceEdit(files, created)
}

func (s *Server) workspaceEdit(files []fileEdits, created string) workspaceEdit {
	if !s.client.Capabilities.Workspace.WorkspaceEdit.DocumentChanges {
		changes := map[string][]textEdit{}
		for _, f := range files {
			changes[f.uri] = f.edits
		}
		return workspaceEdit{Changes: changes}
	}
	var all []any
	if created != "" {
		c := createFile{Kind: "create", URI: uriOf(created)}
		c.Options.IgnoreIfExists = true
		all = append(all, c)
	}
	for _, f := range files {
		e := documentEdit{Edits: f.edits}
		e.TextDocument.URI = f.uri
		if d := s.docs[f.uri]; d != nil {
			e.TextDocument.Version = &d.version
		}
		all = append(all, e)
	}
	return workspaceEdit{DocumentChanges: all}
}
