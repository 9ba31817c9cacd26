// Package lint judges configuration files by the catalog: lines that are dead,
// misplaced, harmful, or lower what the system does by itself.
//
// Every check errs on silence: what is not established is not reported, a
// release that is not known is judged by what all described releases have in
// common, and a problem that only a newer release has is no error.
package lint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

// Severity is the weight of a problem.
type Severity string

// The severities. An error is a line that the system refuses, or that breaks
// something; a warning is a line without effect or with a cost; an info is
// worth knowing.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Severities lists the severities, lightest first.
func Severities() []Severity { return []Severity{Info, Warning, Error} }

// AtLeast reports whether s is t or heavier.
func (s Severity) AtLeast(t Severity) bool {
	return slices.Index(Severities(), s) >= slices.Index(Severities(), t)
}

// Problem is one finding about one line. It is the JSON contract of lint.
type Problem struct {
	Code     string          `json:"problem"`
	Severity Severity        `json:"severity"`
	File     string          `json:"file"`
	Line     int             `json:"line"`   // from 1
	Column   int             `json:"column"` // in bytes, from 1
	System   catalog.System  `json:"os"`
	Version  catalog.Version `json:"release"` // empty when not known
	Key      string          `json:"setting"` // as written
	Value    string          `json:"value"`   // as the system reads it
	Message  string          `json:"message"`
	Because  string          `json:"because"`
	Fix      *Fix            `json:"fix"`
	Sources  []string        `json:"sources"`

	Text  string `json:"-"` // the line
	Width int    `json:"-"` // of the marked text, in bytes

	key int // offset of the key, for ApplyFixes
}

// Fix is a correction that can be made without knowing more.
type Fix struct {
	// Kind is rename, value, comment-out or move.
	Kind string `json:"kind"`
	// To is the new key of a rename, or the file that a line moves to.
	To string `json:"to,omitempty"`
	// Text is the line as the other file takes it, or the value to write.
	Text string `json:"text,omitempty"`
	// Reason is written above a line that is commented out.
	Reason string `json:"reason"`
}

// The kinds of Fix.
const (
	FixRename     = "rename"
	FixValue      = "value"
	FixCommentOut = "comment-out"
	FixMove       = "move"
)

// Machine is what is known about the machine that the files are for. Absent
// knowledge keeps the checks that need it silent.
type Machine struct {
	// Inputs are the machine's quantities by the names of catalog.InputNames:
	// memory, page, cores, nic_rate, queues, interfaces.
	Inputs catalog.Inputs
	// Drivers are the drivers of its network interfaces; nil when not known.
	Drivers []string
	// Running returns the running value of a setting; nil when not known.
	Running func(name, iface string) (value string, known bool)
}

// Options say what the files are judged for. Empty fields are guessed or left
// open.
type Options struct {
	System  catalog.System
	Version catalog.Version
	Kind    conffile.Kind
	Role    string // one of catalog.Roles
	Driver  string // of the interface that the settings are for
	Machine *Machine
	// Ignore are the codes that are not reported.
	Ignore []string
}

// Input is a file to judge.
type Input struct {
	Path string
	Text string
	// Beside are the names of the files in the same directory, by which the
	// system of a file is told that fits several.
	Beside []string
}

// FileInfo is what a file was taken for.
type FileInfo struct {
	Path       string              `json:"path"`
	Kind       conffile.Kind       `json:"kind"`
	System     catalog.System      `json:"os"`      // empty: one of Systems
	Release    catalog.Version     `json:"release"` // empty when not known
	Systems    []catalog.System    `json:"-"`       // those that it was judged for
	Confidence conffile.Confidence `json:"-"`       // in Kind and System
}

// Result is what Run found.
type Result struct {
	Problems []Problem
	Files    []FileInfo
	// Errors are files that could not be judged at all, one each.
	Errors []error
	// Dropped counts problems beyond MaxProblems.
	Dropped int
}

// MaxProblems bounds the problems that are kept of one group of files.
const MaxProblems = 20_000

// Run judges files. Files of one machine (conffile.Root) are read in the
// order in which the system reads them; others stand for themselves.
func Run(c *catalog.Catalog, inputs []Input, opt Options) *Result {
	res := &Result{}
	files := identify(inputs, opt, res)
	for _, g := range groups(files) {
		res.add(runGroup(c, g, opt))
	}
	slices.SortStableFunc(res.Problems, func(a, b Problem) int {
		return cmp.Or(fileIndex(inputs, a.File)-fileIndex(inputs, b.File), a.Line-b.Line, a.Column-b.Column,
			cmp.Compare(a.Code, b.Code))
	})
	return res
}

func fileIndex(inputs []Input, path string) int {
	return slices.IndexFunc(inputs, func(i Input) bool { return i.Path == path })
}

func (r *Result) add(c *checker) {
	r.Problems = append(r.Problems, c.problems...)
	r.Dropped += c.dropped
}

// Worst returns the heaviest severity among the problems, "" without any.
func (r *Result) Worst() Severity {
	var worst Severity
	for _, p := range r.Problems {
		if worst == "" || p.Severity.AtLeast(worst) {
			worst = p.Severity
		}
	}
	return worst
}

// source is a file with what it was taken for.
type source struct {
	path    string
	kind    conffile.Kind
	systems []catalog.System // more than one when the content fits more
	text    string
	root    string // of the machine whose file it is
	grouped bool   // root is known
	several bool   // a guide to Linux that tells of another system's settings too

	confidence conffile.Confidence
	mac        bool     // rules of macOS, read as FreeBSD's: what depends on the release or its defaults is not said of them
	soft       bool     // the system is told by words that old files of the other one have too
	beside     []string // names of the files in the same directory
}

// identify tells kind and system of every input. What a file's own text and
// place leave open, the files around it decide.
func identify(inputs []Input, opt Options, res *Result) []*source {
	var files, apart []*source
	for _, in := range inputs {
		f := &source{path: in.Path, text: in.Text}
		if err := conffile.CheckText(in.Path, f.text); err != nil {
			res.Errors = append(res.Errors, err)
			continue
		}
		g := conffile.Detect(in.Path, []byte(in.Text[:min(len(in.Text), conffile.DetectSize)]))
		f.kind, f.confidence, f.beside = cmp.Or(opt.Kind, g.Kind), g.Confidence, in.Beside
		if f.kind == "" && (opt.System == catalog.Linux || opt.System == "" && conffile.GuideSystem(in.Path, in.Text) == "") &&
			conffile.Holds(in.Path, in.Text) {
			f.kind = conffile.Other
			if bsd := conffile.ForBSD(in.Text); opt.System == "" && (bsd == conffile.FreeBSD || bsd == conffile.OpenBSD) {
				f.kind, g.System = conffile.Script, bsd
			}
		}
		if parts := guideParts(f, in, opt); parts != nil {
			for _, part := range parts {
				res.Files = append(res.Files, FileInfo{Path: part.path, Kind: part.kind, Confidence: part.confidence,
					Systems: part.systems})
			}
			apart = append(apart, parts...)
			continue
		}
		if f.kind == "" {
			if system := conffile.GuideSystem(in.Path, in.Text); system != "" &&
				(opt.System == "" || string(opt.System) == string(system)) {
				f.kind, g.System = conffile.Other, system
			}
		}
		if opt.System == "" && opt.Kind == "" && conffile.ForMac(g, in.Text) {
			res.Errors = append(res.Errors, fmt.Errorf("%s: this looks like a script for macOS, which is not described; "+
				"--os judges it as one of another system", in.Path))
			continue
		}
		if other := conffile.OtherBSD(f.kind, in.Text); other != "" && opt.System == "" {
			res.Errors = append(res.Errors, fmt.Errorf("%s: this looks like a file of %s, which is not described; "+
				"--os judges it as one of another system", in.Path, other))
			continue
		}
		if f.kind == "" {
			res.Errors = append(res.Errors, fmt.Errorf("%s: cannot tell what kind of file this is; say so with --kind", in.Path))
			continue
		}
		f.systems = candidates(f.kind, g, opt)
		f.soft = f.kind == conffile.PF && opt.System == ""
		if f.mac = f.soft && conffile.MacRules(f.kind, in.Text); f.mac {
			f.systems, f.soft = []catalog.System{catalog.FreeBSD}, false
		}
		files = append(files, f)
	}
	told := bySiblings(files)
	for _, f := range files {
		if system := told[f]; system != "" {
			f.systems = []catalog.System{system}
		}
		info := FileInfo{Path: f.path, Kind: f.kind, Confidence: f.confidence, Systems: f.systems}
		if len(f.systems) == 1 {
			f.root, f.grouped = conffile.Root(conffile.System(f.systems[0]), f.path)
			info.System, info.Release = f.systems[0], opt.Version
		}
		res.Files = append(res.Files, info)
	}
	return append(files, apart...)
}

// guideParts returns one source for each system that a guide to several is about, nil for another file.
func guideParts(f *source, in Input, opt Options) []*source {
	if f.kind != "" || opt.System != "" {
		return nil
	}
	var parts []*source
	for _, part := range conffile.GuideParts(in.Path, in.Text) {
		own := *f
		own.kind, own.text, own.systems = conffile.Other, part.Text, []catalog.System{catalog.System(part.System)}
		parts = append(parts, &own)
	}
	return parts
}

// candidates are the systems that a file can be of.
func candidates(kind conffile.Kind, g conffile.Guess, opt Options) []catalog.System {
	switch {
	case opt.System != "":
		return []catalog.System{opt.System}
	case (kind == conffile.Other || kind == conffile.YAML) && g.System != "":
		return []catalog.System{catalog.System(g.System)}
	case conffile.SystemOf(kind) != "":
		return []catalog.System{catalog.System(conffile.SystemOf(kind))}
	case g.System != "":
		return []catalog.System{catalog.System(g.System)}
	case g.BSD || kind == conffile.PF || kind == conffile.RC || kind == conffile.LoginConf:
		return []catalog.System{catalog.FreeBSD, catalog.OpenBSD}
	}
	return catalog.Systems()
}

// SystemOf returns the system that every input is a file of, "" when one of
// them fits several or they differ.
func SystemOf(inputs []Input, opt Options) catalog.System {
	var system catalog.System
	for _, f := range identify(inputs, opt, &Result{}) {
		if len(f.systems) != 1 || system != "" && f.systems[0] != system {
			return ""
		}
		system = f.systems[0]
	}
	return system
}

// groups puts the files of one machine together.
func groups(files []*source) [][]*source {
	var out [][]*source
	index := map[string]int{}
	for _, f := range files {
		if len(f.systems) != 1 || !f.grouped {
			out = append(out, []*source{f})
			continue
		}
		key := string(f.systems[0]) + "\x00" + f.root
		if i, ok := index[key]; ok {
			out[i] = append(out[i], f)
			continue
		}
		index[key] = len(out)
		out = append(out, []*source{f})
	}
	return out
}

// runGroup judges the files of one machine. A file that fits several systems
// has the problems that it would have on each of them, as light as on the one
// that takes them lightest.
func runGroup(c *catalog.Catalog, files []*source, opt Options) *checker {
	var result *checker
	for _, system := range files[0].systems {
		k := newChecker(c, system, opt)
		k.run(files)
		if result == nil {
			result = k
			continue
		}
		var both []Problem
		for _, p := range result.problems {
			i := slices.IndexFunc(k.problems, func(q Problem) bool {
				return p.Code == q.Code && p.Line == q.Line && p.Column == q.Column
			})
			if i < 0 {
				continue
			}
			if p.Severity.AtLeast(k.problems[i].Severity) {
				p.Severity = k.problems[i].Severity
			}
			if p.Fix == nil || k.problems[i].Fix == nil || p.Fix.Kind != k.problems[i].Fix.Kind ||
				p.Fix.To != k.problems[i].Fix.To {
				p.Fix = nil
			}
			both = append(both, p)
		}
		result.problems = both
	}
	if len(files[0].systems) > 1 {
		for i := range result.problems {
			result.problems[i].System = ""
		}
	}
	return result
}

// Document is the JSON form of a result.
type Document struct {
	Schema   int        `json:"schema"`
	Files    []FileInfo `json:"files"`
	Problems []Problem  `json:"problems"`
}

// JSON returns the result in the form of the JSON contract.
func (r *Result) JSON() Document {
	d := Document{Schema: 2, Files: r.Files, Problems: r.Problems}
	if d.Problems == nil {
		d.Problems = []Problem{}
	}
	if d.Files == nil {
		d.Files = []FileInfo{}
	}
	return d
}

// String says what the fix does.
func (f *Fix) String() string {
	switch f.Kind {
	case FixRename:
		return "write " + f.To
	case FixValue:
		return "write " + f.Text
	case FixMove:
		return fmt.Sprintf("move it to %s as %s", f.To, f.Text)
	}
	return "comment the line out"
}
