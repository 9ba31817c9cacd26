package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/canary"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/trial"
	"github.com/wirerate/wirerate/internal/workload"
)

func TestParseFaults(t *testing.T) {
	log := filepath.Join(t.TempDir(), "access.log")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                                "is expected",
		"exec:echo 1":                     "lower: or higher:",
		"lower:exec:":                     "is expected",
		"lower:sql:x":                     "is expected",
		"lower:prometheus:http://x":       "ADDRESS?query=PROMQL is expected",
		"lower:prometheus:x?query=up":     "an address like http://prometheus:9090",
		"weblog:/none":                    "no log is there that grows",
		"weblog:" + log + "?percentile=0": "above 0 and below 100",
		"weblog:" + log + "?p=95":         "percentile=",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
	for text, lower := range map[string]bool{"weblog:" + log: true, "higher:exec:echo 1": false, "lower:exec:a:b": true} {
		if m, err := Parse(text); err != nil || m.Lower != lower {
			t.Errorf("%q: %+v, %v", text, m, err)
		}
	}
}

// read measures once, for a moment, with something that happens meanwhile.
func read(t *testing.T, text string, meanwhile func()) (float64, error) {
	t.Helper()
	m, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if meanwhile != nil {
		go func() {
			time.Sleep(300 * time.Millisecond)
			meanwhile()
		}()
	}
	run, err := m.Measure(t.Context(), workload.Spec{Duration: 2 * time.Second})
	v, _ := run.Value(m.Name())
	return v, err
}

func TestCommand(t *testing.T) {
	t.Parallel()
	if v, err := read(t, `higher:exec:echo $((WIRERATE_TO - WIRERATE_FROM + 40))`, nil); err != nil || v < 41 || v > 50 {
		t.Error(v, err)
	}
	for line, want := range map[string]string{"echo NaN": "a number is expected", "echo many words": "a number is expected", "exit 3": "exec:",
		"echo -5": "it must be above 0", "true": "a number is expected"} {
		if _, err := read(t, "lower:exec:"+line, nil); !errors.Is(err, workload.ErrTool) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", line, err, want)
		}
	}
}

func TestAccessLog(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "access.log")
	line := func(seconds float64) string {
		return fmt.Sprintf("{\"time\":\"2026-03-02T10:00:00Z\",\"status\":200,\"request_time\":%.3f,\"request_uri\":\"/\",\"request_method\":\"GET\"}\n", seconds)
	}
	if err := os.WriteFile(log, []byte(strings.Repeat(line(9), 50)), 0o600); err != nil {
		t.Fatal(err)
	}
	grow := func() {
		f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(strings.Repeat(line(0.25), 50))
			f.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}
	if v, err := read(t, "weblog:"+log+"?percentile=99", grow); err != nil || math.Abs(v-0.25) > 0.01 {
		t.Errorf("%v, %v; the lines before the run do not count", v, err)
	}
	if _, err := read(t, "weblog:"+log, nil); !errors.Is(err, workload.ErrTool) {
		t.Errorf("nothing was added: %v", err)
	}
	if _, err := read(t, "weblog:"+log, func() { os.Rename(log, log+".1"); os.WriteFile(log, nil, 0o600) }); !errors.Is(err, workload.ErrDisturbed) {
		t.Errorf("rotated: %v", err)
	}
}

func TestPrometheus(t *testing.T) {
	t.Parallel()
	down := false
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := float64(time.Now().UnixMilli()) / 1000
		series := `{"metric": {}, "values": [%s]}`
		switch r.FormValue("query") {
		case "time()":
			fmt.Fprintf(w, `{"status": "success", "data": {"resultType": "scalar", "result": [%f, "%[1]f"]}}`, now)
			return
		case "two":
			series += `, {"metric": {"a": "b"}, "values": [[%[2]f, "1"]]}`
		case "nothing":
			series = "%.0s"
		}
		if down {
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		values := fmt.Sprintf(`[%f, "7"], [%f, "9"]`, now-1.5, now-0.5)
		fmt.Fprintf(w, `{"status": "success", "data": {"resultType": "matrix", "result": [`+strings.ReplaceAll(series, "%[2]f", fmt.Sprint(now))+`]}}`, values)
	}))
	defer web.Close()
	source := "higher:prometheus:" + web.URL + "?query="
	if v, err := read(t, source+"avg(up)", nil); err != nil || v != 8 {
		t.Error(v, err)
	}
	for query, want := range map[string]string{"two": "gives 2 series", "nothing": "gives 0 series"} {
		if _, err := read(t, source+query, nil); !errors.Is(err, canary.ErrQuery) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", query, err)
		}
	}
	down = true
	if _, err := read(t, source+"avg(up)", nil); !errors.Is(err, workload.ErrDisturbed) {
		t.Errorf("down: %v", err)
	}
}

// TestSwitchbackOfNothing judges metrics that no arm changes: each run's resembles
// that of the runs before it, as production does, and may follow the hour.
func TestSwitchbackOfNothing(t *testing.T) {
	t.Parallel()
	sessions := 80
	if n, err := strconv.Atoi(os.Getenv("WIRERATE_SWITCHBACKS")); err == nil {
		sessions = n
	}
	for name, kind := range map[string]struct{ memory, daily float64 }{
		"independent":  {0, 0},
		"persistent":   {0.7, 0},
		"stubborn":     {0.95, 0},
		"with the day": {0.5, 0.3},
	} {
		false_, undecided := 0, 0
		for seed := range uint64(sessions) {
			rng := rand.New(rand.NewPCG(seed, 21))
			state, n := rng.NormFloat64(), 0
			measure := func(context.Context, int) (workload.Run, error) {
				state = kind.memory*state + math.Sqrt(1-kind.memory*kind.memory)*rng.NormFloat64()
				v := math.Exp(0.05*state + kind.daily*math.Sin(2*math.Pi*(float64(n)/96+rng.Float64()/1000)))
				n++
				return workload.Run{Metrics: map[string]float64{workload.LiveCost: v}}, nil
			}
			d := trial.Design{Arms: []string{"a", "b"}, MaxPairs: 24, Looks: []int{4, 6, 8, 12, 16}, Alpha: 0.05, Margin: 0.02,
				Metric: workload.LiveCost, Lower: true, Seed: seed + 1}
			r, err := trial.Compare(t.Context(), d, measure, func(trial.Progress) {})
			if err != nil {
				t.Fatal(err)
			}
			switch r.Comparisons[0].Verdict {
			case stats.Helps, stats.Hurts:
				false_++
			case stats.NotEnough:
				undecided++
			}
		}
		t.Logf("%s: helps or hurts in %d of %d, not enough evidence in %d", name, false_, sessions, undecided)
		if false_ > sessions/20+int(3*math.Sqrt(float64(sessions)/20)) { // 5% and chance
			t.Errorf("%s: %d of %d false verdicts", name, false_, sessions)
		}
	}
}
