package lint

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

// newestOnly is the severity of a problem that the newest release has and the
// oldest one has not, when the release is not known: a setting that is gone, a
// value that is refused and a limit below the newer default stay warnings, what
// else is worse now is an info.
func (k *checker) newestOnly(r *catalog.Record, f finding, e conffile.Entry) Severity {
	if d, ok := r.DefaultIn(k.versions[0]); f.code == "below-default" && ok && !settled[k.system].AtLeast(d.Since) &&
		!k.farBelow(r, e) {
		return Info // most machines have the older default, of which the value may be a raise
	}
	if f.id == goneValue {
		return Warning
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

// farBelow reports whether a value is half of the newest release's default, or less: who
// upgrades loses by it. The older default itself is no such value, which every machine with
// it shows, nor what a plan computed for its path.
func (k *checker) farBelow(r *catalog.Record, e conffile.Entry) bool {
	value, ok := lastNumber(e.Value)
	normal, _, known := k.standard(r, k.versions[0], k.inputs(e, reading{}, k.versions[0]))
	return ok && known && value <= normal/2 && k.raises(r, e) != 0 && !strings.HasPrefix(k.file.text, plannedFile)
}

// raises returns the oldest release's default where a value is above it, else 0.
func (k *checker) raises(r *catalog.Record, e conffile.Entry) float64 {
	oldest := k.versions[len(k.versions)-1]
	old, _, known := k.standard(r, oldest, k.inputs(e, reading{}, oldest))
	if value, ok := lastNumber(e.Value); ok && known && value > old {
		return old
	}
	return 0
}

// settled are the releases that most machines have reached.
var settled = map[catalog.System]catalog.Version{catalog.Linux: "6.12", catalog.FreeBSD: "14.0", catalog.OpenBSD: "7.6"}

// newSince says from which release on a value is refused or below the default, and what
// it is before.
func (k *checker) newSince(r *catalog.Record, f finding, e conffile.Entry) string {
	if f.code == "out-of-range" && r.Range != nil && r.Range.Since != "" {
		return fmt.Sprintf(" Older releases than %s %s take it.", k.system.Title(), r.Range.Since)
	}
	d, ok := r.DefaultIn(k.versions[0])
	if f.code != "below-default" || !ok || d.Since == "" {
		return ""
	}
	if old := k.raises(r, e); old != 0 {
		return fmt.Sprintf(" The default has been that much since %s %s; on older releases, with %.0f, this is a raise.",
			k.system.Title(), d.Since, old)
	}
	return fmt.Sprintf(" The default has been that much since %s %s.", k.system.Title(), d.Since)
}
