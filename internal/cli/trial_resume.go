package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/store"
)

// resume runs a recorded command line again; its runs are answered from the
// history.
func (e *Env) resume(cmd *cobra.Command, f benchFlags, id, format string) error {
	ctx, verb := cmd.Context(), cmd.Name()
	history, err := f.openStore(ctx)
	if err != nil {
		return err
	}
	t, err := findTrial(ctx, history, id)
	history.Close()
	if err != nil {
		return err
	}
	var saved setup
	root := newRootCmd(e)
	if err := json.Unmarshal(t.Setup, &saved); err != nil || verbOf(root, saved.Args) != verb {
		return usagef("%s is a %s, which %s cannot go on with", t.ID, t.Kind, verb)
	}
	if t.State == store.Done && !saved.ofSuite() {
		return usagef("%s is finished; wirerate report %s shows it", t.ID, t.ID)
	}
	e.note("going on with %s after %d runs", t.ID, t.Runs)
	args := append(slices.Clone(saved.Args), fmt.Sprintf("--seed=%d", saved.Seed))
	first := t.ID
	if saved.Suite != "" {
		first = saved.Suite
	}
	args = append(args, "--resumed="+first)
	if flags := cmd.Flags(); flags.Changed("for") {
		args = append(args, "--for="+flags.Lookup("for").Value.String())
	}
	if saved.Pairs > 0 && !saved.ofSuite() {
		args = append(args, fmt.Sprintf("--pairs=%d", saved.Pairs), "--run="+saved.Run.String(), "--omit="+saved.Omit.String())
	}
	if f.history != "" {
		args = append(args, "--history="+f.history)
	}
	if flags := cmd.Flags(); flags.Changed("json") || flags.Changed("format") {
		args = append(args, "--json=false", "--format="+format)
	}
	if ssh := cmd.Flag("ssh-config"); ssh != nil && ssh.Changed {
		args = append(args, "--ssh-config="+ssh.Value.String())
	}
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// verbOf is the verb of a command line, which may begin with flags.
func verbOf(root *cobra.Command, args []string) string {
	cmd, _, err := root.Find(args)
	if err != nil {
		return ""
	}
	return cmd.Name()
}

// recorded finds the trial that this run goes on with and checks that it asks
// the same question.
func (f *trialFlags) recorded(ctx context.Context, now setup) (*store.Trial, error) {
	if f.resumeID == "" {
		return nil, nil
	}
	history, err := f.openStore(ctx)
	if err != nil {
		return nil, err
	}
	defer history.Close()
	t, err := history.Trial(ctx, f.resumeID)
	if err != nil {
		return nil, usage(err)
	}
	var saved setup
	if err := json.Unmarshal(t.Setup, &saved); err != nil {
		return nil, failure(err)
	}
	if saved.Digest != now.Digest || saved.Spec != now.Spec {
		return nil, usagef("%s cannot be resumed: its arms or its runs would not be the same now (a file, a running value or the path has changed); start it anew", t.ID)
	}
	return &t, nil
}
