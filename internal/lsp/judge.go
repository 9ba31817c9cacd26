package lsp

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/lint"
)

// show publishes diagnostics whenever something changed.
func (s *Server) show(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		for s.showNext(ctx) {
		}
	}
}

// showNext publishes the diagnostics of one document, and reports whether there
// was one to publish. Between two of them other messages are answered.
func (s *Server) showNext(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.docs {
		if d.shown || s.ended {
			continue
		}
		s.judge(ctx, d)
		d.shown = true
		return s.conn.Notify(ctx, "textDocument/publishDiagnostics",
			publishParams{URI: d.uri, Version: d.version, Diagnostics: d.diagnostics()}) == nil
	}
	return false
}

// judge has lint judge a document as it is now, with the files around it.
func (s *Server) judge(ctx context.Context, d *document) {
	path := d.path
	if !d.local {
		path = ""
	}
	opt, level, err := s.Options(path, s.settings)
	if err != nil {
		s.tell(err.Error())
		opt, level = lint.Options{}, lint.Info
	}
	s.askHost(ctx, &opt)
	guess := conffile.Detect(d.path, []byte(d.text.src[:min(len(d.text.src), conffile.DetectSize)]))
	system := conffile.System(opt.System)
	inputs := s.inputs(d, cmp.Or(system, guess.System, conffile.SystemOf(guess.Kind)))
	own := []lint.Input{inputs[fileIndex(inputs, d.path)]}
	if opt.Version != "" && opt.System == "" {
		if opt.System = lint.SystemOf(own, opt); opt.System == "" {
			opt.Version = "" // of which system the release is, nothing tells
		}
	}
	if opt.Version != "" {
		if err := lint.CheckRelease(opt.System, opt.Version); err != nil {
			s.tell(err.Error())
			opt.Version = ""
		}
	}
	lint.GuessRelease(ctx, own, &opt)
	if d.result != nil && slices.EqualFunc(inputs, d.inputs, sameInput) && sameOptions(opt, d.opt) {
		d.level = level
		return
	}
	d.inputs, d.opt, d.level, d.result = inputs, opt, level, lint.Run(s.Catalog, inputs, opt)
}

func sameInput(a, b lint.Input) bool {
	return a.Path == b.Path && a.Text == b.Text && slices.Equal(a.Beside, b.Beside)
}

func sameOptions(a, b lint.Options) bool {
	return a.System == b.System && a.Version == b.Version && a.Kind == b.Kind && a.Role == b.Role &&
		a.Driver == b.Driver &&
		a.Machine == b.Machine && slices.Equal(a.Ignore, b.Ignore)
}

func fileIndex(inputs []lint.Input, path string) int {
	return slices.IndexFunc(inputs, func(in lint.Input) bool { return in.Path == path })
}

// askHost completes options by what the host of the settings tells. It is asked
// beside the session, once; the files are judged again when it has answered.
func (s *Server) askHost(ctx context.Context, opt *lint.Options) {
	name := s.settings.Host
	if name == "" || s.Host == nil {
		return
	}
	answer := s.hosts[name]
	if answer == nil {
		answer = &hostAnswer{opt: *opt}
		s.hosts[name] = answer
		go func(told lint.Options) {
			err := s.Host(ctx, name, &told)
			s.mu.Lock()
			defer s.mu.Unlock()
			answer.opt, answer.err, answer.done = told, err, true
			if err != nil {
				s.tell(err.Error())
			}
			s.changed()
		}(*opt)
	}
	if !answer.done || answer.err != nil {
		return
	}
	opt.Machine = answer.opt.Machine
	if opt.System == "" {
		opt.System = answer.opt.System
	}
	if opt.Version == "" && opt.System == answer.opt.System {
		opt.Version = answer.opt.Version
	}
}

// info is what a document was taken for; false when lint could not read it.
func (d *document) info() (lint.FileInfo, bool) {
	for _, info := range d.result.Files {
		if info.Path == d.path {
			return info, true
		}
	}
	return lint.FileInfo{}, false
}

// problems are those of the document that are shown.
func (d *document) problems() []lint.Problem {
	var out []lint.Problem
	for _, p := range d.result.Problems {
		if p.File == d.path && p.Severity.AtLeast(d.level) {
			out = append(out, p)
		}
	}
	return out
}

// lineStart returns the offset of a line as lint counts them, from 1.
func (d *document) lineStart(line int) int {
	at := 0
	for range line - 1 {
		i := strings.IndexByte(d.text.src[at:], '\n')
		if i < 0 {
			return len(d.text.src)
		}
		at += i + 1
	}
	return at
}

// diagnostics are the problems of the document as the editor takes them; never
// nil. Those of a file come in the order of its lines.
func (d *document) diagnostics() []diagnostic {
	out := []diagnostic{}
	line, at := 1, 0
	for _, p := range d.problems() {
		if p.Line < line {
			line, at = 1, 0
		}
		for ; line < p.Line; line++ {
			i := strings.IndexByte(d.text.src[at:], '\n')
			if i < 0 {
				break
			}
			at += i + 1
		}
		out = append(out, d.diagnostic(p, at))
	}
	return out
}

func (d *document) diagnostic(p lint.Problem, lineStart int) diagnostic {
	start := lineStart + p.Column - 1
	message := p.Message
	if p.Because != "" && p.Because != p.Message {
		message += "\n" + p.Because
	}
	out := diagnostic{Range: d.text.span(start, start+p.Width), Code: p.Code, Source: "wirerate", Message: message,
		Severity: map[lint.Severity]int{lint.Error: 1, lint.Warning: 2, lint.Info: 3}[p.Severity]}
	if p.Fix != nil && p.Fix.Kind == lint.FixCommentOut {
		out.Tags = []int{tagUnnecessary}
	}
	return out
}

// parsed is the document's entries, for one of the systems that it may be of.
func (d *document) parsed() (*conffile.File, lint.FileInfo, error) {
	info, ok := d.info()
	if !ok {
		return &conffile.File{}, info, nil
	}
	system := info.System
	if system == "" {
		system = catalog.FreeBSD // the lines are the same for each BSD
	}
	f, err := conffile.Parse(info.Kind, conffile.System(system), d.path, []byte(d.text.src))
	return f, info, err
}
