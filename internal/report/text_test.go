package report

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/terminal"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares what was written with testdata/name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", name, diff)
	}
}

// fits checks that text stays within the terminal and cannot steer it.
func fits(t *testing.T, text string) {
	t.Helper()
	for i, line := range strings.Split(text, "\n") {
		if w := ansi.StringWidth(line); w > terminal.Columns {
			t.Errorf("line %d is %d wide: %s", i+1, w, line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
			t.Errorf("line %d has control characters: %q", i+1, line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("line %d ends in spaces: %q", i+1, line)
		}
	}
}

func TestText(t *testing.T) {
	all := samples()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			Text(&b, all[name])
			fits(t, b.String())
			golden(t, name+".txt", b.Bytes())
		})
	}
}

func TestTextOfHostileInput(t *testing.T) {
	var b bytes.Buffer
	r := sampleHostile()
	Text(&b, r)
	PlanText(Screen{Writer: &b}, r.Plans[0], true)
	PlanText(Screen{Writer: &b}, r.Plans[0], false)
	fits(t, b.String())
}

func TestPlanText(t *testing.T) {
	var b bytes.Buffer
	PlanText(Screen{Writer: &b}, samplePlan("client"), false)
	PlanText(Screen{Writer: &b}, samplePlan("client"), true)
	PlanText(Screen{Writer: &b}, plan.Plan{System: catalog.FreeBSD, Role: "web", Path: "rate=1gbit,rtt=10ms", Warnings: []string{"the release is not known"}}, false)
	fits(t, b.String())
	golden(t, "plan.txt", b.Bytes())
}

// Every setting of the catalog is explained within the terminal, for every
// system's newest release and for none.
func TestSettingFits(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range catalog.Systems() {
		_, newest := catalog.Supported(system)
		for _, r := range c.All(system) {
			for _, v := range []catalog.Version{"", newest} {
				var b bytes.Buffer
				Setting(&b, r, v)
				fits(t, b.String())
				for _, part := range []string{r.Name, r.Does, r.Risk, r.Became, r.RenamedTo} {
					if !strings.Contains(flat(b.String()), flat(part)) {
						t.Errorf("%s: %q is missing", r.Name, part)
					}
				}
			}
		}
	}
}

// flat takes the layout out of a text.
func flat(s string) string { return strings.Join(strings.Fields(s), "") }

func TestSetting(t *testing.T) {
	min := int64(1)
	r := &catalog.Record{
		Name: "net.inet.tcp.example", System: catalog.FreeBSD, Kind: catalog.Both, Scope: catalog.ScopeVnet, Type: catalog.TypeEnum, Unit: "segments",
		Range: &catalog.Range{Min: &min}, Values: []catalog.Value{{Value: "0", Means: "off"}, {Value: "1", Means: "on", Since: "13.0", Needs: "cc_example_load"}},
		Since: "12.0", Removed: "15.0", RenamedTo: "net.inet.tcp.other", Became: "It was folded into the other one.",
		Default: catalog.Defaults{{Value: "0"}, {Since: "14.0", Value: "computed", Formula: "floor(memory / 64)", Note: "1/64 of memory"}},
		Belongs: []string{"sysctl", "loader"}, Needs: []string{"cc_example_load"}, Conflicts: []string{"net.inet.tcp.third=1"},
		Does: "Stands for every field of a record.", Risk: "None is known.", Hardening: true,
		Judge:    []catalog.Judgement{{Code: "harmful", Severity: "warning", When: "value > 1", Because: "It starves the others.", Sources: []string{"tcp(4)"}}},
		Formulas: []catalog.Formula{{Roles: []string{"bulk"}, When: "bdp > 1 * MiB", Value: "ceil(bdp / mss)", Because: "One window must fit."}},
		Evidence: []catalog.Evidence{
			{Grade: catalog.Published, Says: "It forwards more.", Hardware: "8 cores", Release: "13.2", Workload: "64-byte packets", Effect: &catalog.Effect{Metric: "packet rate", Ratio: 1.23, Low: 1.2, High: 1.26}, Source: "a benchmark"},
			{Grade: catalog.Refuted, Says: "It harms.", Effect: &catalog.Effect{Metric: "goodput", Ratio: 0.044}, Source: "another one"},
		},
		Sources: []string{"tcp(4)"},
	}
	var b bytes.Buffer
	Setting(&b, r, "")
	Setting(&b, r, "15.0")
	fits(t, b.String())
	golden(t, "setting.txt", b.Bytes())
}

// A median above the lowest ceiling is said, not hidden.
func TestDoubts(t *testing.T) {
	r := sampleHelps()
	if got := doubts(r); got != nil {
		t.Errorf("doubts without reason: %q", got)
	}
	r.Arms[0].Median.GoodputBPS = 8e8
	if got := doubts(r); len(got) != 1 || !strings.Contains(got[0], "send window") {
		t.Errorf("got %q, want a doubt about the send window", got)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{bits(9.414e9), "9.41 Gbit/s"}, {bits(999.9e6), "1.00 Gbit/s"}, {bits(5.87e8), "587 Mbit/s"}, {bits(10e9), "10.0 Gbit/s"}, {bits(0), notKnown},
		{bits(120), "120 bit/s"}, {times(15.63), "15.6 times"}, {times(1.003), "+0.3%"}, {times(0.871), "−12.9%"}, {times(0.3), "0.30 times"},
		{times(1), "±0.0%"}, {span(1.1, 0.98, 1.2), "−2.0% to +20.0%"}, {span(0.78, 1e-9, 1e9), "−100.0% to >+900%"},
		{span(1, 0.9997, 1.0002), "within 0.05% of no change"}, {span(1, 0.9997, 1.02), "0.0% to +2.0%"}, {span(15.6, 15.2, 16.1), "15.2 to 16.1"}, {span(1.4, 0.9, 2.2), "−10.0% to +120.0%"}, {percent(0.976), "97.6%"}, {percent(0.95), "95%"},
		{seconds(0.05), "50 ms"}, {seconds(0.000123), "123 µs"}, {seconds(171), "2m51s"}, {seconds(0), notKnown},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	for name, r := range samples() {
		var b bytes.Buffer
		if err := Markdown(&b, r); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".md", b.Bytes())
	}
	var b bytes.Buffer
	if err := Markdown(&b, sampleHostile()); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, "<") && !strings.HasPrefix(line, "    ") {
			t.Errorf("markup got through: %s", line)
		}
	}
}
