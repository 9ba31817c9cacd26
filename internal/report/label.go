package report

import (
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// filePart is a part of an arm that names a file.
var filePart = regexp.MustCompile(`(file|firewall):([^+]*/[^+]*)`)

// labelled is a result whose arms are named as people tell them apart: by the
// names of their files without the folders, as far as these differ.
func labelled(r Result) Result {
	labels := map[string]string{}
	for depth := 1; depth <= 8; depth++ {
		clear(labels)
		used := map[string]string{}
		twice := false
		for _, name := range armNames(r) {
			label := filePart.ReplaceAllStringFunc(name, func(part string) string { return lastOf(part, depth) })
			other, taken := used[label]
			twice = twice || taken && other != name
			used[label], labels[name] = name, label
		}
		if !twice {
			break
		}
	}
	rename := func(name *string) {
		if label := labels[*name]; label != "" {
			*name = label
		}
	}
	r.Arms, r.Comparisons, r.Beside = slices.Clone(r.Arms), slices.Clone(r.Comparisons), slices.Clone(r.Beside)
	for i := range r.Arms {
		rename(&r.Arms[i].Name)
	}
	for i := range r.Comparisons {
		rename(&r.Comparisons[i].Arm)
	}
	for i := range r.Beside {
		rename(&r.Beside[i].Arm)
	}
	return r
}

func armNames(r Result) []string {
	var names []string
	for _, a := range r.Arms {
		names = append(names, a.Name)
	}
	for _, c := range r.Comparisons {
		names = append(names, c.Arm)
	}
	return names
}

// lastOf keeps the last so many elements of a part's path.
func lastOf(part string, depth int) string {
	kind, name, _ := strings.Cut(part, ":")
	elements := strings.Split(path.Clean(name), "/")
	short := strings.Join(elements[max(0, len(elements)-depth):], "/")
	if kind == "file" {
		return short
	}
	return kind + ":" + short
}

// comparisonOf is the comparison of an arm with the first; nil for that one.
func comparisonOf(r Result, arm int) *Comparison {
	switch {
	case arm == 0:
		return nil
	case arm-1 < len(r.Comparisons):
		return &r.Comparisons[arm-1]
	case arm == 1 && r.Effect != nil:
		return &Comparison{Arm: r.Arms[1].Name, Verdict: r.Verdict, Effect: r.Effect}
	}
	return nil
}
