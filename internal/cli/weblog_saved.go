package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/weblog"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

func newWeblogMergeCmd(env *Env) *cobra.Command {
	var opt weblogFlags
	cmd := &cobra.Command{
		Use:   "merge FILE.wrl...",
		Short: "Merge what several servers saved with weblog --save",
		Long: `merge adds up counts that weblog --save wrote (- is standard input) and shows
them like those of one log. Filters were applied when the counts were saved.
weblog itself reads .wrl files, too: to compare them, name them on both
sides of weblog --against.`,
		Example: "  wirerate weblog merge web*.wrl\n  wirerate weblog merge day1.wrl day2.wrl --save both.wrl",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("no FILE.wrl named; weblog --save FILE.wrl writes one")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&opt.save, "save", "", "write the sum to a `file` (- is standard output, instead of the report)")
	f.StringSliceVar(&opt.by, "by", nil, "`groupings` to show: "+strings.Join(weblog.Groupings(), ", "))
	f.StringSliceVar(&opt.under, "under", []string{"100ms"}, "show the share of requests below these `times`")
	f.IntVar(&opt.top, "top", 20, "number of groups shown per grouping")
	f.Float64Var(&opt.confidence, "confidence", 0.95, "confidence of the intervals")
	opt.defineOutput(cmd)
	opt.complete(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return weblogMerge(cmd.Context(), env, &opt, args)
	}
	return cmd
}

func weblogMerge(ctx context.Context, env *Env, opt *weblogFlags, names []string) error {
	view, err := opt.view()
	if err != nil {
		return usage(err)
	}
	total := new(weblog.Sketch)
	for _, name := range names {
		s, err := loadSketch(name, env.Stdin)
		if err != nil {
			return usage(err)
		}
		total.Merge(s)
	}
	return weblogFinish(ctx, env, opt, total, weblog.Summarize(total, view))
}

// loadSketch reads a saved sketch, "-" from stdin.
func loadSketch(name string, stdin io.Reader) (*weblog.Sketch, error) {
	from := stdin
	if name != "-" {
		f, err := input.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = f
	}
	s, err := weblog.Load(name, from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", logline.Escape(name, 512), err)
	}
	return s, nil
}

// save writes the counts where --save says. It reports whether that was standard
// output, which then is no place for a report.
func (o *weblogFlags) saveCounts(env *Env, s *weblog.Sketch) (taken bool, err error) {
	if o.save == "" {
		return false, nil
	}
	var b bytes.Buffer
	if err := s.Save(&b); err != nil {
		return false, err
	}
	if o.save == "-" {
		_, err := env.Stdout.Write(b.Bytes())
		return true, err
	}
	return false, os.WriteFile(o.save, b.Bytes(), 0o666)
}

// advice is what the names of the inputs and the filters may have been meant to be.
func (o *weblogFlags) advice(s *weblog.Sketch, names []string) (notes []string) {
	if s.Requests == 0 && s.Filtered > 0 {
		note := "no request passes the filters"
		if p := strings.TrimPrefix(o.filter.Path, "!"); p != "" && !strings.ContainsAny(p, "*~[") {
			note += fmt.Sprintf("; --path %s fits this whole path only, --path '*%s*' all that have it in them", p, p)
		}
		notes = append(notes, note)
	}
	files := regular(names...)
	for i, st := range files {
		if k := indexFile(files[:i], st); k >= 0 {
			notes = append(notes, fmt.Sprintf("%s and %s are the same file, which is counted twice",
				logline.Escape(names[k], 512), logline.Escape(names[i], 512)))
		}
	}
	return notes
}
