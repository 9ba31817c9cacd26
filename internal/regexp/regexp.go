// Package regexp is the standard library's regexp for expressions of a package's
// own, which are compiled when they are first used: compiling all of them took a
// quarter of the time that a verb needs to start.
package regexp

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Regexp is a regular expression. Its methods are those of the standard library's.
type Regexp struct {
	text     string
	compiled func() *regexp.Regexp
	branches func() []branch
}

// inTest is found out as Go's own internal/lazyregexp does.
var inTest = len(os.Args) > 0 && strings.HasSuffix(os.Args[0], ".test")

// MustCompile makes an expression. One that does not compile panics when it is first
// used, and in every test of its package at once.
func MustCompile(text string) *Regexp {
	r := &Regexp{text, compiling(text), sync.OnceValue(func() []branch { return branchesOf(text) })}
	if inTest {
		r.compiled()
	}
	return r
}

// AnyOf makes an expression of the texts that any of a list matches.
func AnyOf(list ...*Regexp) *Regexp {
	var texts []string
	for _, r := range list {
		texts = append(texts, "(?:"+r.text+")")
	}
	return MustCompile(strings.Join(texts, "|"))
}

func compiling(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// MatchString is regexp.Regexp.MatchString.
func (r *Regexp) MatchString(s string) bool {
	for _, b := range r.branches() {
		if b.within(s) && b.compiled().MatchString(s) {
			return true
		}
	}
	return false
}

// within reports whether a text may hold a match.
func (r *Regexp) within(s string) bool {
	return slices.ContainsFunc(r.branches(), func(b branch) bool { return b.within(s) })
}

// Match is regexp.Regexp.Match.
func (r *Regexp) Match(b []byte) bool { return r.compiled().Match(b) }

// FindString is regexp.Regexp.FindString.
func (r *Regexp) FindString(s string) string {
	if !r.within(s) {
		return ""
	}
	return r.compiled().FindString(s)
}

// FindStringIndex is regexp.Regexp.FindStringIndex.
func (r *Regexp) FindStringIndex(s string) []int {
	if !r.within(s) {
		return nil
	}
	return r.compiled().FindStringIndex(s)
}

// FindStringSubmatch is regexp.Regexp.FindStringSubmatch.
func (r *Regexp) FindStringSubmatch(s string) []string {
	if !r.within(s) {
		return nil
	}
	return r.compiled().FindStringSubmatch(s)
}

// FindStringSubmatchIndex is regexp.Regexp.FindStringSubmatchIndex.
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	if !r.within(s) {
		return nil
	}
	return r.compiled().FindStringSubmatchIndex(s)
}

// FindAllString is regexp.Regexp.FindAllString.
func (r *Regexp) FindAllString(s string, n int) []string {
	if !r.within(s) {
		return nil
	}
	return r.compiled().FindAllString(s, n)
}

// FindAllStringIndex is regexp.Regexp.FindAllStringIndex.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	if !r.within(s) {
		return nil
	}
	return r.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is regexp.Regexp.FindAllStringSubmatch.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	if !r.within(s) {
		return nil
	}
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is regexp.Regexp.FindAllStringSubmatchIndex.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	if !r.within(s) {
		return nil
	}
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// FindIndex is regexp.Regexp.FindIndex.
func (r *Regexp) FindIndex(b []byte) []int { return r.compiled().FindIndex(b) }

// ReplaceAllString is regexp.Regexp.ReplaceAllString.
func (r *Regexp) ReplaceAllString(src, with string) string {
	if !r.within(src) {
		return src
	}
	return r.compiled().ReplaceAllString(src, with)
}

// ReplaceAllStringFunc is regexp.Regexp.ReplaceAllStringFunc.
func (r *Regexp) ReplaceAllStringFunc(src string, f func(string) string) string {
	if !r.within(src) {
		return src
	}
	return r.compiled().ReplaceAllStringFunc(src, f)
}

// ReplaceAll is regexp.Regexp.ReplaceAll.
func (r *Regexp) ReplaceAll(src, with []byte) []byte { return r.compiled().ReplaceAll(src, with) }

// FindAllSubmatch is regexp.Regexp.FindAllSubmatch.
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	return r.compiled().FindAllSubmatch(b, n)
}

// ExpandString is regexp.Regexp.ExpandString.
func (r *Regexp) ExpandString(to []byte, template, src string, match []int) []byte {
	return r.compiled().ExpandString(to, template, src, match)
}
