package lint

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

// Fixed is a file with its corrections.
type Fixed struct {
	Path     string
	Old, New []byte
	Fixes    int
}

// fixing is a file whose entries are found by the offset of their key.
type fixing struct {
	*conffile.File
	byKey map[int]int
	names map[string]bool
}

func newFixing(f *conffile.File) *fixing {
	x := &fixing{f, map[int]int{}, map[string]bool{}}
	for i, e := range f.Entries {
		x.byKey[e.KeySpan.Start] = i
		x.names[e.Name] = true
	}
	return x
}

// Correction is what Correct did and left.
type Correction struct {
	Fixed []Fixed
	Notes []string // what is left for the user to do elsewhere
	Left  *Result  // the problems that remain
}

// rounds bounds how often corrected files are judged again. A correction can
// show another problem once or twice: a name that was wrong in two ways, a
// line that the one before it hid.
const rounds = 10

// Correct makes the corrections that the problems of the files propose until
// no further one is proposed.
func Correct(c *catalog.Catalog, inputs []Input, opt Options) (Correction, error) {
	inputs = slices.Clone(inputs)
	total := map[string]*Fixed{}
	var out Correction
	for range rounds {
		out.Left = Run(c, inputs, opt)
		fixed, notes, err := ApplyFixes(inputs, out.Left)
		if err != nil {
			return out, err
		}
		for _, n := range notes {
			if !slices.Contains(out.Notes, n) {
				out.Notes = append(out.Notes, n)
			}
		}
		if len(fixed) == 0 {
			break
		}
		for _, f := range fixed {
			if before := total[f.Path]; before != nil {
				f.Old, f.Fixes = before.Old, f.Fixes+before.Fixes
			}
			total[f.Path] = &f
			inputs[fileIndex(inputs, f.Path)].Text = string(f.New)
		}
	}
	for _, in := range inputs {
		if f := total[in.Path]; f != nil {
			out.Fixed = append(out.Fixed, *f)
		}
	}
	return out, nil
}

// ApplyFixes makes the corrections that the problems propose and returns the
// files that change, in the order of the inputs, and what is left for the
// user to do. It touches nothing but the lines of the problems: keys are
// renamed, values written in their unit, dead lines are commented out below a line with the reason, and
// lines of the wrong file are moved when the right file is among the inputs.
// Infos are not acted on.
func ApplyFixes(inputs []Input, res *Result) (fixed []Fixed, notes []string, err error) {
	files := map[string]*fixing{}
	for _, info := range res.Files {
		i := fileIndex(inputs, info.Path)
		system := info.System
		if system == "" {
			system = catalog.FreeBSD // the lines were the same for each BSD
		}
		f, err := conffile.Parse(info.Kind, conffile.System(system), info.Path, []byte(inputs[i].Text))
		if err != nil {
			return nil, nil, err
		}
		files[info.Path] = newFixing(f)
	}
	counts := map[string]int{}
	done := map[string]bool{}
	for _, p := range res.Problems {
		at := fmt.Sprintf("%s\x00%d", p.File, p.key)
		if p.Fix == nil || p.Severity == Info || done[at] {
			continue
		}
		done[at] = true
		changed, note, err := apply(files, p)
		if err != nil {
			return nil, nil, err
		}
		for _, file := range changed {
			counts[file]++
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	for _, in := range inputs {
		if f := files[in.Path]; f != nil && f.Edited() {
			fixed = append(fixed, Fixed{in.Path, []byte(in.Text), f.Bytes(), counts[in.Path]})
		}
	}
	return fixed, notes, nil
}

// apply makes one correction and returns the files that it changed.
func apply(files map[string]*fixing, p Problem) (changed []string, note string, err error) {
	f := files[p.File]
	i, ok := f.byKey[p.key]
	if !ok || f.Entries[i].Key != p.Key {
		return nil, "", nil
	}
	reason := "wirerate: " + p.Fix.Reason
	switch p.Fix.Kind {
	case FixRename:
		if f.names[p.Fix.To] {
			err = f.Comment(i, reason)
		} else {
			err = f.Rename(i, p.Fix.To)
		}
	case FixValue:
		_, comment, _ := strings.Cut(f.Entries[i].Value, p.Value)
		err = f.Set(i, p.Fix.Text+comment)
	case FixCommentOut:
		err = f.Comment(i, reason)
	case FixMove:
		target := targetFile(files, p)
		if target == nil {
			reason += fmt.Sprintf(" (add there: %s)", p.Fix.Text)
			note = fmt.Sprintf("%s:%d: add this line to %s: %s", p.File, p.Line, p.Fix.To, p.Fix.Text)
		}
		if err = f.Comment(i, reason); err != nil || target == nil {
			break
		}
		if !target.names[f.Entries[i].Name] {
			err = target.Append(p.Fix.Text)
			changed = append(changed, target.Path)
		}
	}
	if errors.Is(err, conffile.ErrShared) {
		return nil, fmt.Sprintf("%s:%d: not corrected, %s: %s", p.File, p.Line, conffile.ErrShared, p.Message), nil
	}
	if errors.Is(err, conffile.ErrOverlap) {
		return nil, "", nil // the next round makes it
	}
	return append(changed, p.File), note, err
}

// targetFile returns the file that a line moves to, when it was given: the one
// with that path, or with that name beside the file of the problem.
func targetFile(files map[string]*fixing, p Problem) *fixing {
	dir := path.Dir(p.File)
	for file, f := range files {
		beside := path.Dir(file) == dir && path.Base(file) == path.Base(p.Fix.To)
		if beside || strings.HasSuffix("/"+file, p.Fix.To) {
			return f
		}
	}
	return nil
}
