package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/workload"
)

// awkward are runs whose names need escapes in every format.
func awkward() []ExportedTrial {
	at := time.Date(2026, 3, 9, 14, 5, 11, 250e6, time.UTC)
	run := workload.Run{Tool: "wrk", Retransmits: -1, Metrics: map[string]float64{workload.Requests: 1234.5, workload.LatencyP99: 2e-9, workload.RPM: 6e20}}
	arm := "set:a=\"1\\2\"\n,b"
	return []ExportedTrial{{Trial: store.Trial{ID: "20260309-140511-00ff", Kind: "trial", Workload: "http-small"}, Attempts: []store.Attempt{
		{Seq: 0, Arm: arm, At: at, Run: run}, {Seq: 1, Arm: "current", At: at.Add(time.Second), Lost: "it was killed"}, {Seq: 2, Arm: "current", At: at.Add(2 * time.Second), Run: run}}},
		{Trial: store.Trial{ID: "20260309-150000-00aa", Kind: "measure", Workload: "bulk"}, Attempts: []store.Attempt{
			{Seq: 0, Arm: "current", At: at, Run: workload.Run{GoodputBPS: 1e9, Retransmits: 3}}}}}
}

// TestOpenMetricsIsValid checks the text against the grammar of OpenMetrics
// 1.0: metadata before samples, families in one piece, no sample twice, values
// and times that are numbers, # EOF at the end and nothing after it.
func TestOpenMetricsIsValid(t *testing.T) {
	var out bytes.Buffer
	if err := OpenMetrics(&out, awkward()); err != nil {
		t.Fatal(err)
	}
	text, ok := strings.CutSuffix(out.String(), "# EOF\n")
	if !ok || strings.Contains(text, "# EOF") {
		t.Fatalf("no end, or two: %q", out.String())
	}
	meta := regexp.MustCompile(`^# (TYPE|HELP|UNIT) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$`)
	sample := regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*",?)*)\} (\S+) ([0-9]+(?:\.[0-9]+)?)$`)
	families, seen, current := map[string]bool{}, map[string]bool{}, ""
	samples := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := meta.FindStringSubmatch(line); m != nil {
			if m[1] == "TYPE" {
				if families[m[2]] || m[3] != "gauge" {
					t.Errorf("family %s comes twice, or is no gauge: %s", m[2], line)
				}
				families[m[2]], current = true, m[2]
			}
			if m[2] != current {
				t.Errorf("metadata of %s among %s", m[2], current)
			}
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("not a line of OpenMetrics: %q", line)
		}
		if _, err := strconv.ParseFloat(m[3], 64); err != nil || m[1] != current || seen[m[1]+m[2]] {
			t.Errorf("%q: %v, or outside its family, or twice", line, err)
		}
		seen[m[1]+m[2]] = true
		samples++
	}
	if samples != 8 || !strings.Contains(text, `arm="set:a=\"1\\2\"\n,b"`) {
		t.Errorf("%d samples:\n%s", samples, text)
	}
}

func TestExportedCSVAndJSON(t *testing.T) {
	var out bytes.Buffer
	if err := CSV(&out, awkward()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 5 || rows[1][4] != "set:a=\"1\\2\"\n,b" || rows[2][7] != "it was killed" {
		t.Errorf("%v %q", err, rows)
	}
	data, err := json.Marshal(awkward())
	if err != nil {
		t.Fatal(err)
	}
	var again []ExportedTrial
	if err := json.Unmarshal(data, &again); err != nil || again[0].Attempts[2].Run.Metrics[workload.Requests] != 1234.5 {
		t.Errorf("%v %+v", err, again)
	}
}
