package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
)

// showTrial prints a result and writes its files.
func (e *Env) showTrial(f trialFlags, o outcome, format string) error {
	r := o.final
	if f.out != "" {
		if err := writeTrial(f.out, r); err != nil {
			return failure(err)
		}
		e.note("written: %s and result.json", filepath.Join(f.out, "report.html"))
	}
	if r.ID != "" {
		e.note("kept in the history as %s", r.ID)
	}
	if format == "json" {
		if err := e.printJSON(r); err != nil {
			return err
		}
	} else {
		report.Text(e.Stdout, r)
	}
	if r.Verdict == stats.Hurts {
		return negative()
	}
	return nil
}

func writeTrial(dir string, r report.Result) error {
	data, err := indentedJSON(r)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := report.HTML(&page, r); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(dir, "result.json"), data, 0o644),
		os.WriteFile(filepath.Join(dir, "report.html"), page.Bytes(), 0o644))
}

func shellQuoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=.,:/+@%", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
