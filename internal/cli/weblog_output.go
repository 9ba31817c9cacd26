package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/weblog"
)

// weblogFinish saves and prints, unless there is nothing to show.
func weblogFinish(ctx context.Context, env *Env, opt *weblogFlags, s *weblog.Sketch, r *weblog.Report) error {
	if noneRead(s) {
		return unread(s)
	}
	if opt.save != "" {
		var b bytes.Buffer
		if err := s.Save(&b); err != nil {
			return failure(err)
		}
		if err := os.WriteFile(opt.save, b.Bytes(), 0o666); err != nil {
			return failure(err)
		}
	}
	j := joined{Report: r}
	if opt.trial != "" {
		t, err := findResult(ctx, opt.history, opt.trial)
		if err != nil {
			return err
		}
		j.Trial = &t
	}
	if err := j.print(env, opt); err != nil {
		return failure(err)
	}
	return cmp.Or(j.write(opt.output), unread(s))
}

// joined is a report with the trial of the change it is about.
type joined struct {
	*weblog.Report
	Trial *report.Result `json:"trial,omitempty"`
}

func (j joined) print(env *Env, opt *weblogFlags) error {
	switch {
	case opt.json:
		return env.printJSON(j)
	case opt.html:
		return j.page(env.Stdout)
	}
	if err := j.WriteText(env.Stdout); err != nil || j.Trial == nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "\nthe trial of the change\n")
	report.Text(env.Stdout, *j.Trial)
	return nil
}

func (j joined) page(w io.Writer) error {
	if j.Trial != nil {
		return report.WeblogTrialHTML(w, j.Report, *j.Trial)
	}
	return report.WeblogHTML(w, j.Report)
}

// write writes the report to a file; an empty name is none.
func (j joined) write(name string) error {
	if name == "" {
		return nil
	}
	var b bytes.Buffer
	err := j.page(&b)
	if strings.HasSuffix(name, ".json") {
		b.Reset()
		err = (&Env{Stdout: &b}).printJSON(j)
	}
	if err != nil {
		return failure(err)
	}
	return failure(os.WriteFile(name, b.Bytes(), 0o666))
}

func noneRead(s *weblog.Sketch) bool {
	for _, in := range s.Inputs {
		if in.Err == nil || in.Lines > 0 {
			return false
		}
	}
	return true
}

// unread is the error for logs that could not be read, after what could be was
// shown.
func unread(s *weblog.Sketch) error {
	var errs []string
	advice := ""
	for _, in := range s.Inputs {
		if in.Err != nil {
			if errors.Is(in.Err, weblog.ErrNoTime) {
				advice = "\nto let the server log it:\n" + weblog.TimeAdvice
			}
			errs = append(errs, fmt.Sprintf("%s: %s", weblog.Escape(in.Name, 512), in.Problem()))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return usagef("not all was read: %s", strings.Join(errs, "; ")+advice)
}
