package metrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dashboard is the part of Grafana's JSON model that ours uses
// (grafana.com/docs/grafana/latest/visualizations/dashboards/build-dashboards/view-dashboard-json-model).
type dashboard struct {
	Title, UID, Description, Timezone, Refresh string
	Tags                                       []string
	SchemaVersion, Version                     int
	Editable                                   bool
	Time                                       struct{ From, To string }
	Templating                                 struct{ List []variable }
	Annotations                                struct{ List []any }
	Links                                      []any
	Panels                                     []panel
}

type source struct{ Type, UID string }

type variable struct {
	Name, Label, Type string
	Datasource        *source
	Query             any
	Refresh, Sort     int
	IncludeAll, Multi bool
	Current           struct{ Text, Value string }
}

type panel struct {
	ID                       int
	Type, Title, Description string
	Datasource               source
	GridPos                  struct{ X, Y, W, H int }
	FieldConfig              struct {
		Defaults  map[string]any
		Overrides []any
	}
	Options         map[string]any
	Transformations []any
	Targets         []struct {
		RefID, Expr, LegendFormat, EditorMode, Format string
		Instant                                       bool
	}
}

// The dashboard is one that Grafana takes, each of its queries is PromQL, and asks
// for what is exported, with labels that it has.
func TestDashboard(t *testing.T) {
	data, err := os.ReadFile("../../../contrib/grafana/wirerate.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		t.Fatal(err)
	}
	if d.Title == "" || d.UID == "" || d.SchemaVersion < 36 || len(d.Panels) < 10 {
		t.Errorf("%q, %q, version %d, %d panels", d.Title, d.UID, d.SchemaVersion, len(d.Panels))
	}
	known := map[string]bool{"${datasource}": true}
	for _, v := range d.Templating.List {
		known["$"+v.Name] = true
	}
	labels := exported(t)
	ids, places, used := map[int]bool{}, map[string]bool{}, map[string]bool{}
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for _, p := range d.Panels {
		g := p.GridPos
		place := fmt.Sprint(g.X, g.Y)
		if p.Title == "" || ids[p.ID] || places[place] || g.W < 1 || g.H < 1 || g.X+g.W > 24 || !known[p.Datasource.UID] || len(p.Targets) == 0 {
			t.Errorf("panel %d (%s) is not right: %+v", p.ID, p.Title, g)
		}
		ids[p.ID], places[place] = true, true
		for _, target := range p.Targets {
			checkQuery(t, target.Expr, target.LegendFormat, labels, used)
			expr := strings.NewReplacer("$__rate_interval", "5m", "$host", ".*", "$target", ".*").Replace(target.Expr)
			if strings.Contains(expr, "$") {
				t.Errorf("%s: a variable that is not known", target.Expr)
			}
			fmt.Fprintf(&rules, "  - record: a\n    expr: %q\n    labels: {n: %q}\n", expr, fmt.Sprint(len(rules.String())))
		}
	}
	for name := range labels {
		if !used[name] && name != "wirerate_build_info" && name != "wirerate_limit" && name != "wirerate_limit_flows" &&
			name != "wirerate_interface_queue_bytes" && !strings.HasSuffix(name, "_packets_total") {
			t.Errorf("%s is exported, and not on the dashboard", name)
		}
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: the queries were not parsed")
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

var (
	metricName = regexp.MustCompile(`wirerate_[a-z0-9_]+`)
	labelName  = regexp.MustCompile(`\{\{([a-z]+)\}\}|([a-z]+)(?:=~|!=|=)"`)
)

// checkQuery wants the metrics of a query to be exported, and its labels to be
// labels of one of them.
func checkQuery(t *testing.T, expr, legend string, labels map[string]map[string]bool, used map[string]bool) {
	t.Helper()
	have := map[string]bool{}
	for _, name := range metricName.FindAllString(expr, -1) {
		for _, part := range []string{"_bucket", "_count", "_sum"} {
			if cut, ok := strings.CutSuffix(name, part); ok && labels[cut] != nil {
				name = cut
				have["le"] = part == "_bucket"
			}
		}
		if labels[name] == nil {
			t.Errorf("%s: %s is not exported", expr, name)
		}
		used[name] = true
		for l := range labels[name] {
			have[l] = true
		}
	}
	for _, m := range labelName.FindAllStringSubmatch(expr+" "+legend, -1) {
		if l := m[1] + m[2]; !have[l] {
			t.Errorf("%s: %s is no label of it", expr, l)
		}
	}
}

// exported are the metrics that are really there, with their labels.
func exported(t *testing.T) map[string]map[string]bool {
	t.Helper()
	e := newExporter("1.0")
	for _, s := range states() {
		e.Add(s)
	}
	families, err := e.gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]bool{}
	for _, f := range families {
		all[f.GetName()] = map[string]bool{}
		for _, l := range f.GetMetric()[0].GetLabel() {
			all[f.GetName()][l.GetName()] = true
		}
	}
	return all
}
