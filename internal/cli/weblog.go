package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/units"
	"github.com/wirerate/wirerate/internal/weblog"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// weblogFlags are the flags as given.
type weblogFlags struct {
	against      againstFlag
	format, unit string
	filter       weblog.FilterSpec
	since, until string
	by           []string
	full         bool
	under        []string
	top          int
	judge        float64
	margin       string
	confidence   float64
	follow       bool
	interval     time.Duration
	lasting      time.Duration
	save         string
	parquet      string
	json         bool
	html         bool
	output       string
	trial        string
	history      string
}

// againstFlag takes the first log after --against; the arguments that follow
// it belong to it too, so that --against old/*.log means what it looks like.
type againstFlag struct {
	cmd    *cobra.Command
	first  string
	behind int // arguments before the flag
}

func (f *againstFlag) String() string { return f.first }
func (f *againstFlag) Type() string   { return "file" }

func (f *againstFlag) Set(s string) error {
	if f.first != "" {
		return errors.New("given twice; name all baseline logs after one --against")
	}
	f.first, f.behind = s, f.cmd.Flags().NArg()
	return nil
}

// split separates the logs from those of the baseline.
func (f *againstFlag) split(args []string) (after, before []string) {
	if f.first == "" {
		return args, nil
	}
	return args[:f.behind], append([]string{f.first}, args[f.behind:]...)
}

func newWeblogCmd(env *Env) *cobra.Command {
	var opt weblogFlags
	cmd := &cobra.Command{
		Use:   "weblog FILE... [--against FILE...]",
		Short: "Analyse and compare request times in access logs",
		Long: `weblog reads web servers' access logs (nginx, Apache, HAProxy, Varnish, Caddy,
Envoy, Squid, lighttpd, CloudFront, W3C extended, JSON, LTSV, ...; also .gz,
.zst and .bz2, and - for standard input) and shows how long requests took.
All logs after --against are the baseline.

The format is usually detected. Presets for --format:
` + terminal.Wrap(terminal.Columns, "  ", "  ", strings.Join(logline.Presets(), ", ")),
		Example: `  wirerate weblog /var/log/nginx/access.log
  wirerate weblog new/*.log --against old/*.log
  wirerate weblog a.log --format '$remote_addr "$request" $status $request_time'
  wirerate weblog access.log --status 200 --full
  wirerate weblog new/*.log --against old/*.log --trial last -o report.html`,
		Args: cobra.ArbitraryArgs,
	}
	opt.against.cmd = cmd
	opt.define(cmd)
	opt.complete(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return weblogRun(cmd.Context(), env, &opt, args)
	}
	cmd.AddCommand(newWeblogMergeCmd(env))
	return cmd
}

func (o *weblogFlags) define(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&o.against, "against", "baseline logs: this and all following arguments")
	f.StringVar(&o.format, "format", "", "the server's log format `string`, or a preset's name (see above)")
	f.StringVar(&o.unit, "unit", "", "`unit` of the request times: s, ms, us or ns")
	f.StringVar(&o.filter.Status, "status", "", "count only these `statuses` (200,3xx; !499 excludes)")
	f.StringVar(&o.filter.Method, "method", "", "count only these `methods`")
	f.StringVar(&o.filter.Path, "path", "",
		"count only paths that match a `pattern` (/static/* or ~regexp; a leading ! excludes)")
	f.StringVar(&o.filter.Size, "size", "", "count only responses in a `range` of sizes (24kB-350kB)")
	f.StringVar(&o.filter.Protocol, "protocol", "", "count only these `protocols` (HTTP/2)")
	f.StringVar(&o.filter.Client, "client", "", "count only clients in these `networks` (192.0.2.0/24)")
	f.StringVar(&o.filter.Upstream, "upstream", "", "count only requests whose share of time in the upstream server is "+
		"in a `range` (50%-, -10%), or that had no upstream (none)")
	f.StringVar(&o.since, "since", "", "count only from this `time` on (2024-03-01T12:00:00Z)")
	f.StringVar(&o.until, "until", "", "count only before this `time`")
	f.StringSliceVar(&o.by, "by", nil, "`groupings` to show: "+strings.Join(weblog.Groupings(), ", "))
	f.BoolVar(&o.full, "full", false, "all groupings, rates, upstream times and the timeline")
	f.StringSliceVar(&o.under, "under", []string{"100ms"}, "show the share of requests below these `times`")
	f.IntVar(&o.top, "top", 20, "number of groups shown per grouping")
	f.Float64Var(&o.judge, "judge", 95, "`percentile` that decides a comparison")
	f.StringVar(&o.margin, "margin", "5%", "smallest `change` that is worthwhile")
	f.Float64Var(&o.confidence, "confidence", 0.95, "confidence of the intervals")
	f.BoolVarP(&o.follow, "follow", "f", false, "continue as the logs grow")
	f.DurationVar(&o.interval, "interval", time.Second, "time between two updates with --follow")
	f.DurationVar(&o.lasting, "for", 0, "end --follow after this time")
	f.StringVar(&o.save, "save", "", "write the counts to a `file` that weblog and weblog merge read (.wrl; - is "+
		"standard output, instead of the report); with --full, those of the groupings too")
	f.StringVar(&o.parquet, "parquet", "", "write the requests to a Parquet `file`, one per row")
	o.defineOutput(cmd)
}

// defineOutput are the flags that say where the report goes.
func (o *weblogFlags) defineOutput(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.StringVarP(&o.output, "output", "o", "",
		"write the report to a `file` as well: JSON if its name ends in .json, otherwise HTML")
	f.StringVar(&o.trial, "trial", "", "join the result of a trial of the change: its `ID` (see wirerate history; last "+
		"is the newest) or a result.json")
	f.StringVar(&o.history, "history", "",
		"`file` of the history that --trial looks in (default: ~/.local/state/wirerate/history.db)")
}

func weblogRun(ctx context.Context, env *Env, opt *weblogFlags, args []string) error {
	switch opt.format {
	case "json", "text", "html": // the output's format, as on every verb
		opt.json, opt.html, opt.format = opt.json || opt.format == "json", opt.format == "html", ""
	}
	after, before := opt.against.split(args)
	if len(after) == 0 {
		return usagef("no log named; name FILE... (- is standard input) before --against")
	}
	if opt.output == "-" {
		return usagef("-o - : standard output has the report already; --json or --format html chooses its form")
	}
	read, err := opt.options(len(before) > 0)
	if err != nil {
		return usage(err)
	}
	view, err := opt.view()
	if err != nil {
		return usage(err)
	}
	judgement, err := opt.judgement()
	if err != nil {
		return usage(err)
	}
	names := slices.Concat(after, before)
	logs := regular(names...)
	for _, target := range regular(opt.save, opt.parquet, opt.output) {
		if i := indexFile(logs, target); i >= 0 {
			return usagef("%s is one of the logs; write to another file", names[i])
		}
	}
	if opt.follow {
		return weblogFollow(ctx, env, opt, after, before, read, view)
	}
	if opt.parquet != "" {
		if read.Rows, err = weblog.CreateParquet(opt.parquet); err != nil {
			return failure(err)
		}
	}
	s, err := weblog.Read(ctx, after, env.Stdin, read)
	if err := closeRows(read.Rows, s, err); err != nil {
		return err
	}
	if len(before) == 0 {
		r := weblog.Summarize(s, view)
		r.Notes = append(r.Notes, opt.advice(s, after)...)
		return weblogFinish(ctx, env, opt, s, r)
	}
	read.Rows = nil
	b, err := weblog.Read(ctx, before, env.Stdin, read)
	if err != nil {
		return failure(err)
	}
	r, err := weblog.Compare(s, b, view, judgement)
	if err != nil {
		return usagef("%w%s", err, unreadWords(s, b))
	}
	r.Notes = append(r.Notes, opt.advice(s, after)...)
	r.Comparison.Before.Notes = append(r.Comparison.Before.Notes, opt.advice(b, before)...)
	if err := weblogFinish(ctx, env, opt, s, r); err != nil {
		return err
	}
	if err := unread(b); err != nil {
		return err
	}
	if r.Comparison.Verdict == stats.Hurts {
		return negative()
	}
	return nil
}

// options makes the reading options of the flags.
func (o *weblogFlags) options(compared bool) (weblog.Options, error) {
	var read weblog.Options
	var err error
	read.Full = o.full || len(o.by) > 0 || compared
	if o.format != "" {
		if read.Format, err = logline.ParseFormat(o.format); err != nil {
			return read, err
		}
	}
	if o.unit != "" {
		if read.Unit, err = logline.ParseUnit(o.unit); err != nil {
			return read, err
		}
	}
	for _, t := range []struct {
		text string
		to   *time.Time
	}{{o.since, &o.filter.Since}, {o.until, &o.filter.Until}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = parseMoment(t.text); err != nil {
			return read, err
		}
	}
	read.Filter, err = weblog.ParseFilter(o.filter)
	return read, err
}

// parseMoment reads a time of the command line; without a zone it is UTC.
func parseMoment(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05",
		"2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 2024-03-01T12:00:00Z or 2024-03-01", s)
}

func (o *weblogFlags) view() (weblog.View, error) {
	v := weblog.View{Confidence: o.confidence, By: o.by, Top: o.top}
	if !(v.Confidence >= 0.5 && v.Confidence < 1) {
		return v, fmt.Errorf("--confidence %g is not between 0.5 and 1", v.Confidence)
	}
	known := weblog.Groupings()
	if o.full && len(v.By) == 0 {
		v.By = known
	}
	for _, by := range v.By {
		if !strings.Contains(" "+strings.Join(known, " ")+" ", " "+by+" ") {
			return v, fmt.Errorf("unknown grouping %q (use %s)", by, strings.Join(known, ", "))
		}
	}
	if len(o.under) == 0 {
		return v, errors.New("--under names no time; name some such as 100ms,1s")
	}
	if o.top < 1 {
		return v, fmt.Errorf("--top %d is not a number of groups from 1 on", o.top)
	}
	for _, u := range o.under {
		d, err := units.ParseDuration(u)
		if err != nil || d <= 0 {
			return v, fmt.Errorf("--under %q is not a time such as 100ms", u)
		}
		v.Under = append(v.Under, d.Seconds())
	}
	return v, nil
}

func (o *weblogFlags) judgement() (weblog.Judgement, error) {
	j := weblog.Judgement{Percentile: o.judge}
	if !(o.judge > 0 && o.judge < 100) {
		return j, fmt.Errorf("--judge %g is not a percentile between 0 and 100", o.judge)
	}
	var m share
	if err := m.Set(o.margin); err != nil || !(m > 0 && m < 1) {
		return j, fmt.Errorf("--margin %q is not a share such as 5%% or 0.05", o.margin)
	}
	j.Margin = float64(m)
	return j, nil
}

// weblogFollow shows a live picture until it is interrupted.
func weblogFollow(ctx context.Context, env *Env, opt *weblogFlags, names, before []string, read weblog.Options,
	view weblog.View) error {
	switch {
	case len(before) > 0:
		return usagef("--follow and --against do not go together; compare when the log is complete")
	case opt.parquet != "":
		return usagef("--follow and --parquet do not go together")
	case opt.interval <= 0:
		return usagef("--interval %s is not a time to wait", opt.interval)
	}
	for _, name := range names {
		if _, err := os.Stat(name); name != "-" && errors.Is(err, fs.ErrNotExist) {
			env.note("%s is not there yet; waiting for it", logline.Escape(name, 512))
		}
	}
	if opt.lasting > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, opt.lasting)
		defer stop()
	}
	screen := false
	if f, ok := env.Stdout.(*os.File); ok && !opt.json {
		screen = term.IsTerminal(int(f.Fd()))
	}
	var last *weblog.Sketch
	err := weblog.Follow(ctx, names, env.Stdin, read, opt.interval, func(s *weblog.Sketch) {
		last = s
		switch {
		case opt.json:
			if data, err := terminal.JSON(weblog.Summarize(s, view), ""); err == nil {
				env.Stdout.Write(data)
			}
		case screen:
			fmt.Fprint(env.Stdout, clearScreen)
			report.WeblogText(&topLines{to: env.Stdout, left: screenRows() - 1}, weblog.Summarize(s, view))
		}
	})
	if err != nil {
		return usagef("%w%s", err, timeAdvice(err))
	}
	if opt.json {
		opt.json = false
		env = &Env{Stdout: io.Discard, Stderr: env.Stderr}
	} else if screen {
		fmt.Fprint(env.Stdout, clearScreen) // the report in full takes the picture's place
	}
	return weblogFinish(ctx, env, opt, last, weblog.Summarize(last, view))
}
