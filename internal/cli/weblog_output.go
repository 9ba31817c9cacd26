package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/weblog"
	"github.com/wirerate/wirerate/internal/weblog/logdetect"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// weblogFinish saves and prints, unless there is nothing to show.
func weblogFinish(ctx context.Context, env *Env, opt *weblogFlags, s *weblog.Sketch, r *weblog.Report) error {
	if noneRead(s) {
		return unread(s)
	}
	taken, err := opt.saveCounts(env, s)
	if err != nil {
		return failure(err)
	}
	if taken {
		env = &Env{Stdout: io.Discard, Stderr: env.Stderr}
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
	Trial *experiment.Result `json:"trial,omitempty"`
}

func (j joined) print(env *Env, opt *weblogFlags) error {
	switch {
	case opt.json:
		return env.printJSON(j)
	case opt.html:
		return j.page(env.Stdout)
	}
	if err := report.WeblogText(env.Stdout, j.Report); err != nil || j.Trial == nil {
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
	var data []byte
	var err error
	if strings.HasSuffix(name, ".json") {
		data, err = indentedJSON(j)
	} else {
		var b bytes.Buffer
		err = j.page(&b)
		data = b.Bytes()
	}
	if err != nil {
		return failure(err)
	}
	return failure(os.WriteFile(name, data, 0o666))
}

// regular returns what is known of the named files; nil of what is no regular one.
func regular(names ...string) []os.FileInfo {
	files := make([]os.FileInfo, len(names))
	for i, name := range names {
		if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() {
			files[i] = st
		}
	}
	return files
}

// indexFile returns the place of the first of files that st is, too; -1 if none is.
func indexFile(files []os.FileInfo, st os.FileInfo) int {
	return slices.IndexFunc(files, func(f os.FileInfo) bool { return f != nil && st != nil && os.SameFile(f, st) })
}

// closeRows completes the file of --parquet, or takes it back if no request was read of
// logs that could not be.
func closeRows(rows *weblog.Parquet, s *weblog.Sketch, err error) error {
	switch {
	case rows == nil:
		return failure(err)
	case err != nil || s.Requests == 0 && unread(s) != nil:
		rows.Drop()
		return failure(err)
	}
	return failure(rows.Close())
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
	if words := unreadWords(s); words != "" {
		return usagef("%s", strings.TrimPrefix(words, "; "))
	}
	return nil
}

// unreadWords say which logs could not be read, behind something else; empty if all
// were.
func unreadWords(sketches ...*weblog.Sketch) string {
	var errs []string
	var all []error
	for _, s := range sketches {
		for _, in := range s.Inputs {
			if in.Err == nil {
				continue
			}
			all = append(all, in.Err)
			errs = append(errs, fmt.Sprintf("%s: %s", logline.Escape(in.Name, 512), in.Problem()))
		}
	}
	if len(errs) == 0 {
		return ""
	}
	return "; not all was read: " + strings.Join(errs, "; ") + timeAdvice(errors.Join(all...))
}

// timeAdvice says how a server logs the request time, behind an error for want of it.
func timeAdvice(err error) string {
	if !errors.Is(err, logdetect.ErrNoTime) {
		return ""
	}
	return "\nto let the server log it:\n" + logdetect.TimeAdvice
}

// complete tells the shell what flags can be.
func (o *weblogFlags) complete(cmd *cobra.Command) {
	for name, words := range map[string][]string{
		"by": weblog.Groupings(), "format": append([]string{"json", "text", "html"}, logline.Presets()...), "unit": {"s",
			"ms", "us", "ns"},
		"status": {"2xx", "3xx", "4xx", "5xx", "!499"}, "method": {"GET", "HEAD", "POST", "PUT", "DELETE"},
		"protocol": {"HTTP/1.1", "HTTP/2", "HTTP/3", "HTTP/1.0"}, "upstream": {"none", "50%-", "-10%"},
		"judge": {"50", "75", "90", "95", "99", "99.9"}, "under": {"100ms", "1s"}, "margin": {"5%", "10%"},
		"confidence": {"0.95", "0.99"},
	} {
		if cmd.Flags().Lookup(name) != nil {
			// The error is for a flag that is not there or that has words already.
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}
