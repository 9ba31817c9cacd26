package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/watch"
	"github.com/wirerate/wirerate/internal/watch/period"
	"github.com/wirerate/wirerate/internal/watch/record"
)

// watchedOptions are those of report for a recording.
type watchedOptions struct {
	from, to, compare, history, stateDir string
	notes                                []string
}

// isRecording tells the folder of a recording.
func isRecording(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.IsDir()
}

func (opt watchedOptions) any() bool {
	return opt.from != "" || opt.to != "" || opt.compare != "" || opt.stateDir != "" || len(opt.notes) > 0
}

// errEnd ends the reading of a recording.
var errEnd = errors.New("the end of the time")

// run shows what was recorded in a folder.
func (opt watchedOptions) run(ctx context.Context, env *Env, dir, form string) error {
	r, err := record.Open(dir)
	if err != nil {
		return environment(err)
	}
	defer r.Close()
	from, to, err := r.Span(ctx)
	if errors.Is(err, record.ErrEmpty) {
		return usage(err)
	}
	if err != nil {
		return environment(err)
	}
	now := time.Now()
	for _, flag := range []struct {
		name, text string
		to         *time.Time
	}{{"--from", opt.from, &from}, {"--to", opt.to, &to}} {
		if flag.text == "" {
			continue
		}
		if *flag.to, err = moment(flag.name, flag.text, now); err != nil {
			return usage(err)
		}
	}
	if from.Equal(to) && opt.from == "" && opt.to == "" {
		return usagef("%s holds a single moment, %s; a report needs some time", dir, from.Format(time.DateTime))
	}
	if !from.Before(to) {
		return usagef("nothing lies between %s and %s", from.Format(time.DateTime), to.Format(time.DateTime))
	}
	marks, err := opt.marks(ctx, env, now)
	if err != nil {
		return err
	}
	for _, m := range marks {
		if m.Kind == "note" && (m.At.Before(from) || m.At.After(to)) {
			env.note("%s is left out: nothing of %s was recorded", m.Words, m.At.Format(time.DateTime))
		}
	}
	b, probes := period.New(from, to), report.NewSmoke(from, to.Add(time.Second))
	err = r.Each(ctx, from, func(s watch.State) error {
		if s.Time.After(to) {
			return errEnd
		}
		b.Add(s)
		probes.Add(s)
		return nil
	})
	if err != nil && !errors.Is(err, errEnd) {
		return environment(err)
	}
	what := b.Report(marks)
	if opt.compare != "" {
		m, err := opt.mark(marks, now)
		if err != nil {
			return usage(err)
		}
		b.Compare(what, m)
	}
	switch form {
	case "json":
		return env.printJSON(what)
	case "html":
		return failure(report.WatchedHTML(env.Stdout, what, probes))
	}
	report.WatchedText(env.screen(), what)
	return nil
}

// mark is the one that --compare names: by its ID, or a time.
func (opt watchedOptions) mark(marks []period.Mark, now time.Time) (period.Mark, error) {
	for _, m := range marks {
		if m.ID == opt.compare {
			return m, nil
		}
	}
	at, err := moment("--compare", opt.compare, now)
	if err != nil {
		return period.Mark{}, errors.New("--compare " + opt.compare +
			": the ID of a change (wirerate status) or an experiment (wirerate history), the text of a " +
			"--mark, or a time is expected")
	}
	return period.Mark{At: at, Kind: "time", ID: opt.compare, Words: "that time"}, nil
}

// marks are what this machine's journal and history know, and what --mark told.
func (opt watchedOptions) marks(ctx context.Context, env *Env, now time.Time) ([]period.Mark, error) {
	var all []period.Mark
	for _, note := range opt.notes {
		text, words, ok := strings.Cut(note, "=")
		at, err := moment("--mark", text, now)
		if !ok || err != nil {
			return nil, usagef("--mark %s: a time and what was changed then are expected, such as 2026-11-22T03:00=switch", note)
		}
		all = append(all, period.Mark{At: at, Kind: "note", ID: words, Words: words})
	}
	if h, err := experiment.ReadHistory(ctx, opt.history); err == nil {
		trials, err := h.Trials(ctx, 0)
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			env.note("the history is left out: %v", err)
		}
		for _, t := range trials {
			words := fmt.Sprintf("%s %s of %s on %s, %s", t.Kind, t.ID, t.Workload, t.Where, t.State)
			if t.Verdict != "" {
				words += ": " + t.Verdict
			}
			all = append(all, period.Mark{At: t.Started, Kind: t.Kind, ID: t.ID, Words: words})
		}
		h.Close()
	}
	conn, dir, err := env.journals(ctx, changeArgs{host: "local", stateDir: opt.stateDir})
	if err != nil {
		env.note("the journal is left out: %v", err)
		return all, nil
	}
	defer conn.Close()
	entries, err := change.List(ctx, conn, dir)
	if err != nil {
		env.note("the journal is left out: %v", err)
	}
	for _, e := range entries {
		if !e.Journal.Created.IsZero() {
			all = append(all, period.Mark{At: e.Journal.Created, Kind: "apply", ID: e.ID, Host: e.Journal.Host,
				Words: fmt.Sprintf("change %s of %d settings, now %s", e.ID, len(e.Journal.Items), e.State)})
		}
	}
	return all, nil
}

// moment is a time that a flag names, or so long ago.
func moment(flag, text string, now time.Time) (time.Time, error) {
	at, err := watchOptions{at: text}.begin(now)
	if err != nil {
		return at, errors.New(strings.Replace(err.Error(), "--at ", flag+" ", 1))
	}
	return at, nil
}
