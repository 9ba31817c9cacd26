package cli

import (
	"bytes"
	"path/filepath"

	"github.com/wirerate/wirerate/internal/outdir"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
)

// showTrial prints a result and writes its files.
func (e *Env) showTrial(f trialFlags, o outcome, format string) error {
	r := o.final
	if f.out.dir != "" {
		files, err := trialFiles(r)
		if err != nil {
			return failure(err)
		}
		if err := f.out.write(files...); err != nil {
			return err
		}
		e.note("written: %s and result.json", filepath.Join(f.out.dir, "report.html"))
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

// trialFiles are a result as JSON and as a page.
func trialFiles(r report.Result) ([]outdir.File, error) {
	data, err := indentedJSON(r)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := report.HTML(&page, r); err != nil {
		return nil, err
	}
	return []outdir.File{{Name: "result.json", Data: data}, {Name: "report.html", Data: page.Bytes()}}, nil
}
