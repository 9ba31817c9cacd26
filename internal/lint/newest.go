package lint

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/catalog"
)

// newestOnly is the severity of a problem that the newest release has and the
// oldest one has not, when the release is not known: a setting that is gone, a
// value that is refused and a limit below the newer default stay warnings, what
// else is worse now is an info.
func (k *checker) newestOnly(r *catalog.Record, f finding) Severity {
	if d, ok := r.DefaultIn(k.versions[0]); f.code == "below-default" && ok && !settled[k.system].AtLeast(d.Since) {
		return Info // most machines have the older default, of which the value may be a raise
	}
	switch f.code {
	case "removed", "renamed", "no-effect", "wrong-file", "read-only", "below-default", "out-of-range":
		if f.severity == Error {
			return Warning
		}
		return f.severity
	}
	return Info
}

// settled are the releases that most machines have reached.
var settled = map[catalog.System]catalog.Version{catalog.Linux: "6.12", catalog.FreeBSD: "14.0", catalog.OpenBSD: "7.6"}

// newSince says from which release on a value is below the default, or refused.
func (k *checker) newSince(r *catalog.Record, code string) string {
	if code == "out-of-range" && r.Range != nil && r.Range.Since != "" {
		return fmt.Sprintf(" Older releases than %s %s take it.", k.system.Title(), r.Range.Since)
	}
	d, ok := r.DefaultIn(k.versions[0])
	if code != "below-default" || !ok || d.Since == "" {
		return ""
	}
	return fmt.Sprintf(" The default has been that much since %s %s.", k.system.Title(), d.Since)
}
