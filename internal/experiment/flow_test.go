package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/workload"
)

// scatter is a little noise that is the same in every test run.
func scatter(n int) float64 { return math.Exp(0.002 * math.Sin(float64(7*n))) }

// window is what a run measures whose goodput follows the receive buffer.
func window(n int, v trial.Values) (float64, error) {
	if v.Server["net.core.rmem_max"] == "4194304" {
		return 1.5e9 * scatter(n), nil
	}
	return 1e9 * scatter(n), nil
}

const larger = "set:net.core.rmem_max=4194304,net.core.wmem_max=4194304"

// kept is a Config whose experiments are in a history of its own.
func kept(t *testing.T, c Config, kind string) Config {
	t.Helper()
	c.kind, c.NoHistory, c.History = kind, false, filepath.Join(t.TempDir(), "history.db")
	c.Args, c.Command = []string{"trial", "--arm", "current"}, "wirerate trial --arm current"
	return c
}

// TestCompareFlow: a comparison from the hosts to the result and the history.
func TestCompareFlow(t *testing.T) {
	c, said := pair(t)
	c = kept(t, c, kindTrial)
	s := opened(t, c, window)
	r, err := s.compare(t.Context(), armsOf(t, s, "current", larger))
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != stats.Helps || r.Effect == nil || math.Abs(r.Effect.Ratio-1.5) > 0.02 || r.Metric != workload.Goodput {
		t.Errorf("%s %+v", r.Verdict, r.Effect)
	}
	if len(r.Arms) != 2 || len(r.Arms[0].Runs) != 4 || r.Arms[1].Name != larger || len(r.Arms[1].Sets) != 4 || r.Arms[1].Sets[0].From != "212992" {
		t.Errorf("%+v", r.Arms)
	}
	if len(r.Hosts) != 2 || r.Hosts[1].Name != "b" || r.Binding == "" || r.Command != c.Command || len(r.After) == 0 {
		t.Errorf("%+v binding %q, %q", r.Hosts, r.Binding, r.Command)
	}
	if !strings.Contains(said.String(), "bulk: at most 4 pairs of 2 arms") {
		t.Errorf("said %q", said)
	}
	past, _, err := c.recorded(t.Context(), "last")
	if err != nil || past.State != store.Done || past.Verdict != "helps" || past.Runs != 8 || past.Where != "a to b" || past.ID != r.ID {
		t.Errorf("%+v %v", past, err)
	}
	again, err := ReadResult(past.Result)
	if err != nil || again.Effect.Ratio != r.Effect.Ratio {
		t.Errorf("%v %+v", err, again.Effect)
	}
}

// TestInterruptedFlow: a comparison that is cut off keeps its runs and goes on
// from there, if it is the same comparison.
func TestInterruptedFlow(t *testing.T) {
	c, _ := pair(t)
	c = kept(t, c, kindTrial)
	ctx, cancel := context.WithCancel(t.Context())
	s := opened(t, c, func(n int, v trial.Values) (float64, error) {
		if n > 5 {
			cancel()
			return 0, ctx.Err()
		}
		return window(n, v)
	})
	_, err := s.compare(ctx, armsOf(t, s, "current", larger))
	var cut *Interrupted
	if !errors.As(err, &cut) || cut.Runs != 4 || cut.Pairs != 2 || !errors.Is(err, context.Canceled) {
		t.Fatalf("%v %+v", err, cut)
	}
	verbOf := func(args []string) string { return args[0] }
	u, err := c.FindUnfinished(t.Context(), "last", "trial", verbOf)
	if err != nil || u.ID != cut.ID || u.First != cut.ID || u.Pairs != 4 || u.Runs != 5 || u.Run != time.Second {
		t.Errorf("%+v %v", u, err)
	}
	if _, err := c.FindUnfinished(t.Context(), "last", "tune", verbOf); reasonOf(err) != Input {
		t.Errorf("another verb goes on with it: %v", err)
	}

	other := c
	other.Resumed, other.Spec.Streams = cut.ID, 3
	s = opened(t, other, window)
	if _, err := s.compare(t.Context(), armsOf(t, s, "current", larger)); reasonOf(err) != Input || !strings.Contains(err.Error(), "cannot be resumed") {
		t.Errorf("other runs are taken for the same: %v", err)
	}
	c.Resumed = cut.ID
	made := 0
	s = opened(t, c, func(n int, v trial.Values) (float64, error) { made = n; return window(n, v) })
	if _, err := s.compare(t.Context(), armsOf(t, s, "current", "set:net.core.rmem_max=5")); reasonOf(err) != Input {
		t.Errorf("other arms are taken for the same: %v", err)
	}
	last, err := s.compare(t.Context(), armsOf(t, s, "current", larger))
	if err != nil || last.ID != cut.ID || made != 3 || len(last.Arms[1].Runs) != 4 {
		t.Errorf("%v: %d runs were made; %+v", err, made, last)
	}
	if _, err := c.FindUnfinished(t.Context(), "last", "trial", verbOf); reasonOf(err) != Input {
		t.Errorf("a finished one goes on: %v", err)
	}
}

// TestSameQuestion: what a version added or left out does not end a trial; what
// is asked for otherwise does, and of old records what is known counts.
func TestSameQuestion(t *testing.T) {
	spec := workload.Spec{Workload: "bulk", Streams: 1, Duration: time.Second}
	base := setup{Digest: "d", Run: time.Second, Asked: asJSON(spec)}
	with := func(key string, value any) json.RawMessage {
		fields := map[string]any{}
		if err := json.Unmarshal(base.Asked, &fields); err != nil {
			t.Fatal(err)
		}
		if fields[key] = value; value == nil {
			delete(fields, key)
		}
		data, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	change := func(f func(*setup)) setup { s := base; f(&s); return s }
	for name, c := range map[string]struct {
		saved setup
		same  bool
	}{
		"the same":        {base, true},
		"a field came":    {change(func(s *setup) { s.Asked = with("Size", nil) }), true},
		"a field went":    {change(func(s *setup) { s.Asked = with("Colour", "blue") }), true},
		"more streams":    {change(func(s *setup) { s.Asked = with("Streams", 2) }), false},
		"another tool":    {change(func(s *setup) { s.Asked = with("Tool", "nuttcp") }), false},
		"other arms":      {change(func(s *setup) { s.Digest = "e" }), false},
		"longer runs":     {change(func(s *setup) { s.Run++ }), false},
		"an old record":   {change(func(s *setup) { s.Asked = nil }), true},
		"a broken record": {change(func(s *setup) { s.Asked = json.RawMessage(`"{Workload:bulk}"`) }), false},
	} {
		if got := c.saved.sameQuestion(base); got != c.same {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestLostFlow: runs that fail cost themselves; too many end the experiment as a
// failure, a missing tool as something missing.
func TestLostFlow(t *testing.T) {
	c, _ := pair(t)
	c.kind = kindTrial
	s := opened(t, c, func(n int, v trial.Values) (float64, error) {
		if n == 2 {
			return 0, &workload.DisturbedError{Why: "somebody else"}
		}
		return window(n, v)
	})
	r, err := s.compare(t.Context(), armsOf(t, s, "current", larger))
	if said := strings.Join(r.Warnings, "\n"); err != nil || strings.Count(said, "somebody else") != 1 ||
		strings.Count(said, "discarded") != 1 || !strings.Contains(said, "1 run was discarded and repeated: 1 of ") {
		t.Errorf("%v %q", err, r.Warnings)
	}
	for want, why := range map[Reason]error{Failed: workload.ErrTool, Missing: workload.ErrMissing} {
		s = opened(t, c, func(int, trial.Values) (float64, error) { return 0, why })
		if _, err := s.compare(t.Context(), armsOf(t, s, "current", larger)); reasonOf(err) != want {
			t.Errorf("%v: %v", why, err)
		}
	}
}

// TestAttributeFlow: of two settings the one that does it is kept, by a design
// and one at a time.
func TestAttributeFlow(t *testing.T) {
	for _, alone := range []bool{false, true} {
		c, _ := pair(t)
		c.kind, c.OneAtATime = kindAttribution, alone
		s := opened(t, c, window)
		arms := armsOf(t, s, larger)
		r, err := s.attribute(t.Context(), arms[0])
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Shares) != 2 {
			t.Fatalf("%+v", r.Shares)
		}
		for _, share := range r.Shares {
			does := share.Setting == "net.core.rmem_max"
			if share.Kept != does || does && math.Abs(share.Ratio-1.5) > 0.02 || strings.Contains(share.Because, "dropped") {
				t.Errorf("alone %t: %+v", alone, share)
			}
		}
		if !alone && (r.Effect == nil || math.Abs(r.Effect.Ratio-1.5) > 0.02 || len(r.Arms) != 0 || r.Verdict != stats.Helps) {
			t.Errorf("%+v %+v", r.Effect, r.Arms)
		}
		if o := s.outcome(r, arms[0]); len(o.Sides) != 2 || o.Sides[1].Values["net.core.wmem_max"] != "4194304" {
			t.Errorf("%+v", o.Sides)
		}
		if _, err := s.attribute(t.Context(), armsOf(t, s, "set:net.core.rmem_max=212992")[0]); reasonOf(err) != Input {
			t.Errorf("an arm that changes nothing: %v", err)
		}
	}
}

// TestTuneFlow: the plan is compared and its settings are told apart, in one
// record, which is gone on with also where the comparison was over.
func TestTuneFlow(t *testing.T) {
	c, _ := pair(t)
	c = kept(t, c, kindTune)
	c.Path.Rate, c.Pairs = 10*c.Path.Rate, 3
	ctx, cancel := context.WithCancel(t.Context())
	begin := func(c Config, last int) (*session, []*armValues) {
		s := opened(t, c, func(n int, v trial.Values) (float64, error) {
			if n > last {
				cancel()
				return 0, ctx.Err()
			}
			return window(n, trial.Values{Server: map[string]string{"net.core.rmem_max": map[bool]string{true: "4194304"}[v.Server["net.ipv4.tcp_rmem"] != ""]}})
		})
		if err := s.makePlans(t.Context(), s.hosts()); err != nil {
			t.Fatal(err)
		}
		s.Arms = []Arm{{Name: "default"}, {Name: "plan", parts: []part{{kind: "plan"}}}}
		arms, err := s.resolveArms(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s, arms
	}
	s, arms := begin(c, 10)
	r, err := s.tuneArms(ctx, arms)
	var cut *Interrupted
	if !errors.As(err, &cut) || cut.Pairs != 3 || cut.Runs < 7 || r.Verdict != stats.Helps {
		t.Fatalf("%v %+v %s", err, cut, r.Verdict)
	}
	c.Resumed, c.Pairs = cut.ID, 4 // the comparison had ended before that, as by time
	s, arms = begin(c, 1000)
	if r, err = s.tuneArms(t.Context(), arms); err != nil || r.ID != cut.ID || len(r.Plans) != 2 || r.Attribution == nil {
		t.Fatalf("%v %+v", err, r.Attribution)
	}
	for _, share := range r.Shares {
		if share.Kept != (share.Setting == "net.ipv4.tcp_rmem") {
			t.Errorf("%+v", share)
		}
	}
	checkProved(t, s, r)
}

// checkProved: what is written for apply is what was kept, and the rest has its
// reason; the command names the hosts and the folder.
func checkProved(t *testing.T, s *session, r Result) {
	t.Helper()
	for _, side := range s.outcome(r, nil).Sides {
		p := side.Plan.Only(side.Keep)
		if len(p.Changes) != 1 || p.Changes[0].Setting != "net.ipv4.tcp_rmem" {
			t.Errorf("%s sets %+v", side.Name, p.Changes)
		}
		if len(p.Kept) != len(side.Plan.Kept)+len(side.Plan.Changes)-1 || !strings.Contains(p.Kept[len(p.Kept)-1].Because, "would be ") {
			t.Errorf("%s keeps %+v", side.Name, p.Kept)
		}
	}
	if len(r.Unproved) == 0 || slices.ContainsFunc(r.Unproved, func(u Unproved) bool { return u.Setting == "net.ipv4.tcp_rmem" || u.Because == "" }) {
		t.Errorf("unproved: %+v", r.Unproved)
	}
	s.Out, s.Peer = "res/", "ssh://b"
	s.CommandFor = func(host string) change.Command {
		return func(verb string, words ...string) string {
			return strings.Join(append(append([]string{verb}, words...), host), " ")
		}
	}
	want := []string{"apply res/plan.json --confirm-within 60s " + s.Host, "apply res/plan.json --confirm-within 60s ssh://b"}
	if got := s.nextCommands(r); !slices.Equal(got, want) {
		t.Errorf("next %q, want %q", got, want)
	}
	r.Verdict = stats.NotEnough
	if got := s.outcome(r, nil).Sides[0]; len(got.Plan.Only(got.Keep).Changes) != 0 || s.nextCommands(r) != nil {
		t.Errorf("nothing was proved, and %+v is set", got.Plan.Only(got.Keep).Changes)
	}
}

// TestSuiteFlow: a row that cannot be measured says why and costs the others
// nothing.
func TestSuiteFlow(t *testing.T) {
	c, _ := pair(t)
	c.kind, c.Suite = kindTrial, "host"
	failing := ""
	s := opened(t, c, nil)
	s.makeRun = func(_ context.Context, v trial.Values) (workload.Run, error) {
		kind, err := workload.FindKind(s.bench.Spec.Workload)
		if err != nil {
			t.Fatal(err)
		}
		if failing == "" || failing == kind.Name {
			failing = kind.Name
			return workload.Run{}, workload.ErrTool
		}
		goodput, _ := window(0, v)
		return workload.Run{Tool: "scripted", GoodputBPS: goodput, Metrics: map[string]float64{kind.Primary().Name: goodput}}, nil
	}
	rows, err := s.suite(t.Context(), armsOf(t, s, "current", larger))
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	for _, row := range rows {
		if row.Result != nil {
			measured++
		} else if row.Why == "" {
			t.Errorf("%+v", row)
		}
	}
	if suite, _ := workload.Suite("host"); len(rows) != len(suite) || measured == 0 || measured == len(rows) {
		t.Errorf("%d of %d rows", measured, len(rows))
	}
}
