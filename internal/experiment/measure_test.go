package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/change"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/workload"
)

// TestMeasureFlow: lost runs are repeated and told, and all attempts are in the history.
func TestMeasureFlow(t *testing.T) {
	c, said := pair(t)
	c = kept(t, c, kindMeasure)
	s := opened(t, c, func(n int, _ trial.Values) (float64, error) {
		if n == 3 {
			return 0, &workload.DisturbedError{Why: "somebody else"}
		}
		return 1e8 * float64(n), nil
	})
	m, err := s.measure(t.Context(), "bulk", 6)
	if err != nil || len(m.Runs) != 6 || m.Tool != "scripted" || m.Median[workload.Goodput] != 4.5e8 {
		t.Fatalf("%+v, %v", m, err)
	}
	if low, high := m.Range(workload.Goodput); low != 1e8 || high != 7e8 {
		t.Errorf("from %g to %g", low, high)
	}
	if i, ok := m.Intervals[workload.Goodput]; !ok || i.Low != 1e8 || i.High != 7e8 || i.Confidence < 0.95 {
		t.Errorf("%+v", m.Intervals)
	}
	if len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0], "somebody else") || !strings.Contains(said.String(), "is repeated: ") {
		t.Errorf("%q, said %q", m.Warnings, said)
	}
	h, err := ReadHistory(t.Context(), c.History)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if attempts, err := h.Attempts(t.Context(), m.ID); err != nil || len(attempts) != 7 {
		t.Errorf("%d attempts are kept, %v", len(attempts), err)
	}
}

// TestMeasureGivesUp: what never worked is tried twice, what works now and then until four runs are lost, what is
// always disturbed a little longer, what is missing or interrupted once.
func TestMeasureGivesUp(t *testing.T) {
	for _, tt := range []struct {
		fails  func(n int) error
		runs   int // made, the lost ones with them
		reason Reason
	}{
		{func(int) error { return workload.ErrTool }, 2, Failed},
		{func(n int) error {
			if n == 1 {
				return nil
			}
			return workload.ErrTool
		}, 5, Failed},
		{func(int) error { return &workload.DisturbedError{Why: "somebody else"} }, lostAtLeast + 1, Failed},
		{func(int) error { return workload.ErrMissing }, 1, Missing},
		{func(int) error { return host.ErrUnreachable }, 1, reasonOf(classified(host.ErrUnreachable))},
	} {
		c, _ := pair(t)
		made := 0
		s := opened(t, c, func(n int, _ trial.Values) (float64, error) { made = n; return 1e8, tt.fails(n) })
		if _, err := s.measure(t.Context(), "bulk", 10); err == nil || reasonOf(err) != tt.reason || made != tt.runs {
			t.Errorf("%v: %d runs, %v", tt.fails(2), made, err)
		}
	}
	c, _ := pair(t)
	c = kept(t, c, kindMeasure)
	ctx, interrupt := context.WithCancel(t.Context())
	s := opened(t, c, func(n int, _ trial.Values) (float64, error) {
		if n == 3 {
			interrupt()
			return 0, workload.ErrTool // the tool was killed by the same signal
		}
		return 1e8, nil
	})
	if m, err := s.measure(ctx, "bulk", 10); !errors.Is(err, context.Canceled) || len(m.Runs) != 2 {
		t.Errorf("an interrupted measurement: %+v, %v", m, err)
	}
	if _, err := s.measure(t.Context(), "nonsense", 1); reasonOf(err) != Input {
		t.Errorf("an unknown workload: %v", err)
	}
}

// What a tool printed elsewhere is read as a measurement of one run.
func TestReadOutput(t *testing.T) {
	for text, want := range map[string]string{"": "no known tool", "hello\n": "no known tool"} {
		if _, err := ReadOutput("", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	m, err := ReadOutput("", []byte("PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=80.0 ms\n"+
		"64 bytes from 192.0.2.1: icmp_seq=2 ttl=64 time=81.0 ms\n\n--- 192.0.2.1 ping statistics ---\n"+
		"2 packets transmitted, 2 received, 0% packet loss, time 1001ms\nrtt min/avg/max/mdev = 80.000/80.500/81.000/0.500 ms\n"))
	if err != nil || m.Tool != "ping" || len(m.Runs) != 1 || len(m.Median) == 0 {
		t.Errorf("%+v, %v", m, err)
	}
}

// The figures of a disk go from a measurement's JSON to a plan's machine.
func TestReadDisk(t *testing.T) {
	m := Measured{Schema: MeasuredSchema, Median: map[string]float64{workload.WriteBytes: 2e8, workload.DeepReads: 1000,
		workload.RandomReadTime: 0.008, workload.SyncWrites: 120}}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	d, err := ReadDisk(text)
	if err != nil || *d != (DiskFigures{2e8, 1000, 0.008, 120}) {
		t.Fatalf("%+v, %v", d, err)
	}
	machine := plan.Machine{Disks: 2}
	if d.Describe(&machine); machine.DiskRate != 2e8 || machine.SyncWrites != 120 || machine.DiskDepth != 4 {
		t.Errorf("%+v", machine)
	}
	for _, bad := range []string{"", "[]", `{"schema":99}`, strings.NewReplacer("2e+08", "0", "200000000", "0", "120", "-1").Replace(string(text))} {
		if d, err := ReadDisk([]byte(bad)); err == nil {
			t.Errorf("%s: %+v", bad, d)
		}
	}
}

// TestCompareTrials: effects are divided, and what else differs is said.
func TestCompareTrials(t *testing.T) {
	past := func(id, where, env string, ratio, low, high float64) store.Trial {
		text, err := json.Marshal(Result{Schema: ResultSchema, Effect: &Effect{Metric: "goodput_bps", Ratio: ratio,
			Interval: Interval{Low: low, High: high}}})
		if err != nil {
			t.Fatal(err)
		}
		return store.Trial{ID: id, Kind: "trial", Workload: "bulk", Where: where, Environment: []byte(env), Result: text}
	}
	env := func(release, rmem string) string {
		return `{"client":{"host":{"release":"` + release + `"},"settings":{"net.core.rmem_max":"` + rmem + `","vm.swappiness":"` + rmem + `"}}}`
	}
	a, b := past("1", "a to b", env("6.1", "1"), 1.5, 1.4, 1.6), past("2", "a to c", env("6.12", "2"), 3, 2.9, 3.1)
	c, err := CompareTrials(a, b)
	if err != nil || math.Abs(c.Ratio-2) > 1e-9 || !(c.Low < 2 && c.Low > 1.8 && c.High > 2 && c.High < 2.2) {
		t.Fatalf("%+v, %v", c, err)
	}
	if got := strings.Join(c.Differs, "; "); got != "where: a to b, then a to c; client release: 6.1, then 6.12; client: 1 running net settings" {
		t.Errorf("%q", got)
	}
	if c, err = CompareTrials(a, a); err != nil || c.Ratio != 1 || len(c.Differs) != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	b.Environment, b.Result = []byte("no"), []byte("no")
	if c, err = CompareTrials(a, b); reasonOf(err) != Input || len(c.Differs) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestRefusedArms: an arm of which nothing can be applied ends the experiment, one of which a part cannot goes on and
// says so.
func TestRefusedArms(t *testing.T) {
	c, said := pair(t)
	s := opened(t, c, window)
	arms := armsOf(t, s, "current", larger)
	arms[1].notes = append(arms[1].notes, trial.Note{Text: "net.core.rmem_max: the host has no such setting"})
	if err := s.judgeArms(arms); err != nil || len(s.warnings) != 1 || !strings.Contains(said.String(), "no such setting") {
		t.Errorf("%v, %q", err, s.warnings)
	}
	arms[1].values = trial.Values{}
	if err := s.judgeArms(arms); reasonOf(err) != Missing || !strings.Contains(err.Error(), "nothing is left of its settings: net.core.rmem_max: the host has no such setting") {
		t.Errorf("%v", err)
	}
}

// TestRefusedRules: rules that the host's own tool refuses end the experiment with its words about the file's line.
func TestRefusedRules(t *testing.T) {
	values := []assigned{{change.FirewallNFT, "cnVsZXM="}}
	e := &end{side: "client", conn: says{Conn: linuxHost("a", "192.0.2.1/24", running),
		answer: host.Answer{Failure: host.Failed, Stderr: "/dev/stdin:3:5-9: Error: syntax error\n"}}}
	if err := checkRules(t.Context(), e, "my.nft", values); err == nil || err.Error() != "a refuses the rules of my.nft:\nmy.nft:3:5-9: Error: syntax error" {
		t.Errorf("%v", err)
	}
	e.conn = says{Conn: e.conn}
	if err := checkRules(t.Context(), e, "my.nft", values); err != nil {
		t.Errorf("rules that are accepted: %v", err)
	}
	if err := checkRules(t.Context(), e, "", []assigned{{"net.core.rmem_max", "1"}}); err != nil {
		t.Errorf("a setting: %v", err)
	}
}

// says answers all that is asked of a host the same.
type says struct {
	host.Conn
	answer host.Answer
}

func (s says) Do(_ context.Context, ops ...host.Op) ([]host.Answer, error) {
	return []host.Answer{s.answer}, nil
}
