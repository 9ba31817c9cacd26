package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Version is a release of a system: "6.18", "13.2", "7.8". The empty version
// is older than every other one.
type Version string

// ParseVersion takes the release out of what systems print: "6.1.0-18-amd64",
// "13.2-RELEASE-p4", "7.8". Only the numeric components count.
func ParseVersion(s string) (Version, error) {
	t := strings.TrimPrefix(strings.TrimSpace(s), "v")
	end := 0
	for end < len(t) && (t[end] >= '0' && t[end] <= '9' || t[end] == '.') {
		end++
	}
	t = strings.Trim(t[:end], ".")
	if t == "" || strings.Contains(t, "..") {
		return "", fmt.Errorf("version %q: a release like 6.1 or 14.2 is expected", s)
	}
	return Version(t), nil
}

// Compare orders versions by their numeric components; missing components
// count as 0, so 14 equals 14.0.
func (v Version) Compare(w Version) int {
	a, b := string(v), string(w)
	for a != "" || b != "" {
		var m, n int
		m, a = component(a)
		n, b = component(b)
		if c := cmp.Compare(m, n); c != 0 {
			return c
		}
	}
	return 0
}

// AtLeast reports whether v is w or newer.
func (v Version) AtLeast(w Version) bool { return v.Compare(w) >= 0 }

// component is the first number of a version and what is behind its dot; what is no number ends it, as 0.
func component(v string) (n int, rest string) {
	first, rest, _ := strings.Cut(v, ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0, ""
	}
	return n, rest
}

// Supported is the span of releases that the catalog describes.
func Supported(s System) (oldest, newest Version) {
	switch s {
	case FreeBSD:
		return "12.0", "15.1"
	case OpenBSD:
		return "6.8", "7.9"
	default:
		return "4.18", "7.2"
	}
}

// line is the version's first two numbers, by which long-term releases are named.
func (v Version) line() Version {
	parts := strings.SplitN(string(v), ".", 3)
	return Version(strings.Join(parts[:min(len(parts), 2)], "."))
}

// State says how a setting stands in one version.
type State string

// The states of a setting in a version.
const (
	Present  State = "present"
	NotYet   State = "not-yet"
	Gone     State = "removed"
	Inactive State = "no-effect" // accepted, without effect
)

// StateIn returns how the setting stands in version v.
func (r *Record) StateIn(v Version) State {
	r = r.In(v)
	switch {
	case r.Since != "" && !v.AtLeast(r.Since) && !slices.Contains(r.Backported, v.line()):
		return NotYet
	case r.Removed != "" && v.AtLeast(r.Removed):
		return Gone
	case r.NoEffectSince != "" && v.AtLeast(r.NoEffectSince):
		return Inactive
	}
	return Present
}

// In returns the record as it stands in version v: of one with several lifetimes
// a copy with Since, Removed and Kind of the lifetime that holds v, else of the
// last one before it, else of the first one.
func (r *Record) In(v Version) *Record {
	if len(r.Lifetimes) == 0 {
		return r
	}
	life := r.Lifetimes[0]
	for _, l := range r.Lifetimes[1:] {
		if v.AtLeast(l.Since) {
			life = l
		}
	}
	at := *r
	at.Lifetimes, at.Since, at.Removed, at.Kind = nil, life.Since, life.Removed, life.Kind
	return &at
}

// RangeIn returns what version v accepts, nil where it accepts any number or
// that is not known.
func (r *Record) RangeIn(v Version) *Range {
	accepted := r.Range
	for accepted != nil && !v.AtLeast(accepted.Since) {
		accepted = accepted.Before
	}
	return accepted
}

// DefaultIn returns the default in version v, and false when none is recorded.
func (r *Record) DefaultIn(v Version) (Default, bool) {
	for i := len(r.Default) - 1; i >= 0; i-- {
		if v.AtLeast(r.Default[i].Since) || slices.Contains(r.Default[i].Backported, v.line()) {
			return r.Default[i], true
		}
	}
	return Default{}, false
}
