package cli

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/lint"
)

// unjudged are the codes of lint that say nothing of a path, or that names of other programs would cause.
var unjudged = []string{"same-as-default", "unknown-key", "duplicate", "overridden", "drift", "driver",
	"weakens-security"}

// written is what the lines of configuration files in a post limit, and what lint says of them.
func written(f *facts.Facts) (out []diagnose.Written) {
	if strings.TrimSpace(f.Rest) == "" || f.Relative != "" {
		return nil
	}
	c, err := catalog.Load()
	if err != nil {
		return nil
	}
	opt := lint.Options{Machine: lint.MachineOf(f), Ignore: unjudged}
	if !f.SystemGuessed {
		opt.System = f.System
		if v, err := catalog.ParseVersion(f.Release); err == nil && lint.CheckRelease(f.System, v) == nil {
			opt.Version = v
		}
	}
	out = diagnose.WrittenRates(f)
	res := lint.Run(c, []lint.Input{{Path: f.Host, Text: f.Rest}}, opt)
	guide := slices.ContainsFunc(res.Files, func(f lint.FileInfo) bool { return f.Kind == conffile.Other })
	for _, p := range res.Problems {
		if p.Code == "syntax" && !guide { // a sentence between the lines
			continue
		}
		setting, _, _ := strings.Cut(p.Message, " ")
		if !strings.ContainsAny(setting, ".:_") {
			setting = cmp.Or(p.Key, "line "+strconv.Itoa(p.Line))
		}
		typed := strings.HasPrefix(strings.TrimSpace(p.Text), "sysctl ") // a try, which no file keeps
		_, shown := f.Settings[setting]
		switch {
		case p.Code == "below-default" && opt.Version == "", // another release has another default
			shown && (p.Code == "below-default" || p.Code == "harmful"), // the value in force is judged
			typed && writtenSeverity(p) == diagnose.Info:
			continue
		}
		w := diagnose.Written{Source: facts.Source{From: f.Host, Line: p.Line, Text: strings.TrimSpace(p.Text)},
			Setting: setting, Severity: writtenSeverity(p), Message: p.Message, Because: p.Because}
		if p.Fix != nil && !typed {
			w.Action = p.Fix.String()
		}
		out = append(out, w)
	}
	return out
}

// writtenSeverity is how much a line matters to a path: a warning where it can slow it, an info where it does nothing.
func writtenSeverity(p lint.Problem) diagnose.Severity {
	dead := []string{"removed", "renamed", "not-yet", "no-effect", "wrong-system", "wrong-file", "read-only",
		"below-default"}
	if p.Severity == lint.Info || slices.Contains(dead, p.Code) {
		return diagnose.Info
	}
	return diagnose.Warning
}
