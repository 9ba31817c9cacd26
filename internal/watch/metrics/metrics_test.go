package metrics

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/wirerate/wirerate/internal/watch"
)

// states are some with everything that is exported, with names as hostile as they
// can be.
func states() []watch.State {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	evil := "a\"b\\c\n\x1b[2J\xff{}" + strings.Repeat("x", 1000)
	p := watch.Probe{Target: "icmp:192.0.2.1", Lost: 2, Missed: 1}
	p.Answer(12_345)
	s := watch.State{Host: evil, Time: at, Interval: 2,
		Verdict: watch.Verdict{Limit: "send-buffer", Flows: 3, Peer: evil, Since: at}, Traffic: watch.Traffic{Sent: 8e6, Received: 8, RTT: 2},
		Interfaces: []watch.Interface{{Name: evil, Sent: 8e6, Speed: 1e9, Drops: map[string]float64{"rx_dropped": 3}}},
		Processors: []watch.Busy{{Busy: 0.5}, {Busy: 1}}, Levels: []watch.Level{{Name: "conntrack", Used: 1, Limit: 2}},
		Ceiling: &watch.Ceiling{Resource: "link", Value: 1e9}, Problems: []watch.Problem{{Problem: "rx-drops", Severity: "warning", Subject: evil}},
		Probes: []watch.Probe{p}, Switch: []watch.SwitchPort{{Switch: evil, Port: evil, Seconds: 5,
			Counts: map[string]uint64{"in_bytes": 5, "out_packets": 1, "in_fcs_errors": 7, "out_discards": 2, "in_pause_frames": 9}}}}
	broken := s
	broken.Traffic.Sent, broken.Interval = math.NaN(), math.Inf(1)
	gone := s
	gone.Gone = "unreachable"
	return []watch.State{s, s, broken, gone, s}
}

func scrape(t *testing.T, e *Exporter, accept string) string {
	t.Helper()
	handler := promhttp.HandlerFor(prometheus.GathererFunc(e.gather), promhttp.HandlerOpts{EnableOpenMetrics: true})
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestMetrics(t *testing.T) {
	e := newExporter("1.0")
	for _, s := range states() {
		e.Add(s)
	}
	text := scrape(t, e, "application/openmetrics-text; version=1.0.0")
	for _, want := range []string{`limit="send-buffer"} 6.0`, `_interface_drops_total{`, `reason="rx_dropped"} 18.0`,
		`direction="in",kind="fcs"`, `wirerate_probe_rtt_seconds_bucket{target="icmp:192.0.2.1",le="0.02"} 5`,
		`wirerate_probe_lost_total{target="icmp:192.0.2.1"} 10.0`, "# EOF\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not there", want)
		}
	}
	for line := range strings.Lines(text) {
		if strings.ContainsRune(line, 0x1b) || !utf8.ValidString(line) || len(line) > 600 {
			t.Errorf("a name as it was: %q", line)
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "wirerate_findings_total") && !strings.HasSuffix(line, " 1.0\n") {
			t.Errorf("what goes on began again: %s", line)
		}
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	check := exec.Command(promtool, "check", "metrics")
	check.Stdin = strings.NewReader(scrape(t, e, ""))
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// Interfaces come and go, and 100,000 of them are no 100,000 series.
func TestSeriesAreBounded(t *testing.T) {
	e := newExporter("1.0")
	s := watch.State{Host: "local", Interval: 1, Interfaces: make([]watch.Interface, 100_000)}
	for round := range 3 {
		for i := range s.Interfaces {
			s.Interfaces[i].Name = strings.Repeat("v", 1+round) + time.Duration(i).String()
		}
		if round == 2 {
			s.Interfaces = s.Interfaces[:10]
		}
		e.Add(s)
		if n := strings.Count(scrape(t, e, ""), "wirerate_interface_queue_bytes{"); n != min(interfaceLimit, len(s.Interfaces)) {
			t.Errorf("%d interfaces", n)
		}
	}
}

func TestServe(t *testing.T) {
	e, err := Serve("127.0.0.1:0", "1.0")
	if err != nil {
		t.Fatal(err)
	}
	address := e.address
	if _, err := Serve(address, "1.0"); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("an address in use: %v", err)
	}
	resp, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || !strings.Contains(string(body), `wirerate_build_info{version="1.0"} 1`) {
		t.Errorf("%v: %s", err, body)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
