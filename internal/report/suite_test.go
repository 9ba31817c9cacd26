package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/workload"
)

// suiteRows are a row that was measured, one whose interval is nonsense, and one
// that was not measured; names come from hosts.
func suiteRows() []experiment.Row {
	metric := workload.Metric{Name: workload.Goodput, Unit: "bit/s", Means: "payload that arrived"}
	window := &workload.Limit{Code: workload.LimitWindow, Text: "the receive window, for 80% of the sender's time"}
	return []experiment.Row{
		{Title: "single stream", Metric: metric, Result: &experiment.Result{Warnings: []string{"<b>loud</b>"}}, Arms: []experiment.RowArm{
			{Arm: "default", Median: 2e8, Limit: window},
			{Arm: "plan", Median: 9e8, Effect: &experiment.Effect{Ratio: 4.5, Interval: experiment.Interval{Low: 4.2, High: 4.8}}, Verdict: stats.Helps},
		}},
		{Title: "TCP connections", Metric: workload.MetricOf("crr", workload.Connections), Result: &experiment.Result{}, Arms: []experiment.RowArm{
			{Arm: "default", Median: 2000},
			{Arm: "plan", Median: 300, Effect: &experiment.Effect{Ratio: 0.3, Interval: experiment.Interval{Low: 1e-9, High: 1e12}}, Verdict: stats.NotEnough},
		}},
		{Title: "UDP 64-byte packets", Metric: workload.MetricOf("udp-pps", workload.Packets), Why: "too many runs failed"},
	}
}

func TestSuiteText(t *testing.T) {
	var b bytes.Buffer
	Suite(Screen{Writer: &b}, suiteRows(), "wirerate trial --suite host")
	for _, want := range []string{"200 Mbit/s", "+350.0%", "+320.0% to +380.0%", "helps", "window", "bounded by the receive window",
		"-100.0% to >+900%", "not measured: too many runs failed", "again: wirerate trial --suite host"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in:\n%s", want, b.String())
		}
	}
}

func TestSuiteHTML(t *testing.T) {
	var b bytes.Buffer
	if err := SuiteHTML(&b, "host", suiteRows(), "wirerate trial --suite 'host'"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`href="single-stream/report.html"`, "&#43;350.0%", "window", "not measured: too many runs failed", "&lt;b&gt;loud"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), `href="udp-64-byte-packets`) || strings.Contains(b.String(), "<b>loud") {
		t.Error("a row without a report has a link to one, or text is not escaped")
	}
}
