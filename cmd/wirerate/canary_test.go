package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wirerate/wirerate/internal/cli"
	"github.com/wirerate/wirerate/internal/lock"
)

// TestCanaryFlow designs, begins and judges over the HTTP API, with a clock that the
// test sets. The changed hosts get worse in the second step.
func TestCanaryFlow(t *testing.T) {
	var clock atomic.Int64
	clock.Store(1_770_000_000)
	var worse atomic.Pointer[map[string]bool]
	worse.Store(&map[string]bool{})
	from := clock.Load()
	web := httptest.NewServer(metricsOf(clock.Load, func(name string, at float64) float64 {
		if (*worse.Load())[name] && at > float64(from) {
			return 0.8
		}
		return 1
	}))
	defer web.Close()
	dir := t.TempDir()
	var inventory strings.Builder
	for i := range 40 {
		fmt.Fprintf(&inventory, "h%d rack=%d\n", i, i%4)
	}
	if err := os.WriteFile(filepath.Join(dir, "hosts"), []byte(inventory.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "canary.json")
	canary := func(status int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		args = append([]string{"canary"}, args...)
		if got := cli.Run(t.Context(), args, &cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}); got != status {
			t.Fatalf("%q: status %d, not %d: %s", args, got, status, errs.String())
		}
		if schema := schemaOf(args); schema != "" {
			if err := validate("../../docs/schema", schema, bytes.NewReader(out.Bytes())); err != nil {
				t.Errorf("%q: %v", args, err)
			}
		}
		return out.String() + errs.String()
	}
	contains := func(text, want string) {
		t.Helper()
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	contains(canary(0, "design", filepath.Join(dir, "hosts"), "--prometheus", web.URL, "--metric", "higher:speed", "--guard", "higher:speed",
		"--block", "rack", "--steps", "1,25%,50%,100%", "--before", "24h", "--window", "6h", "--resolution", "30m", "-o", file), "; decides")
	canary(0, "design", filepath.Join(dir, "hosts"), "--prometheus", web.URL, "--metric", "higher:speed", "--before", "24h",
		"--window", "6h", "--resolution", "30m", "-o", file+"2", "--json")
	contains(canary(2, "judge", file), "step 1 has not begun")
	if got := strings.Fields(canary(0, "begin", file)); len(got) != 1 {
		t.Errorf("the hosts of the first step: %q", got)
	}
	contains(canary(3, "judge", file), "the window of step 1 ends at")
	contains(canary(0, "status", file, "--json"), `"watch": true`)
	clock.Add(7 * 3600)
	contains(canary(0, "judge", file), "step 1: proceed")
	var begun struct {
		Hosts, Changed []string
	}
	if err := json.Unmarshal([]byte(canary(0, "begin", file, "--json")), &begun); err != nil || len(begun.Hosts) != 9 || len(begun.Changed) != 10 {
		t.Fatalf("%+v, %v", begun, err)
	}
	harmed := map[string]bool{}
	for _, name := range begun.Changed {
		harmed[name] = true
	}
	worse.Store(&harmed)
	from = clock.Load()
	canary(3, "judge", file)
	clock.Add(7 * 3600)
	contains(canary(1, "judge", file, "--inventory", filepath.Join(dir, "hosts")), "step 2: stop")
	contains(canary(1, "judge", file, "--json"), `"action": "stop"`) // it stands
	contains(canary(0, "status", file, "--json"), `"take_back": true`)
	contains(canary(0, "status", file), "step 2: stop: take the change back on 10 hosts")
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte(strings.Replace(inventory.String(), "h7 ", "h77 ", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	said := canary(1, "judge", file, "--inventory", other)
	contains(said, "1 hosts are new in the inventory and no part of this canary, such as h77")
	contains(said, "1 hosts are gone from the inventory, such as h7;")
	contains(canary(1, "begin", file), "the canary has ended: stop")

	// One at a time works on the file, and what it decided cannot be edited by chance.
	held, err := lock.Hold(file + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	contains(canary(3, "judge", file), "another wirerate canary works on it")
	held.Release()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(data, []byte(`"action": "stop"`), []byte(`"action": "proceed"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"begin", "judge", "status"} {
		contains(canary(2, verb, file), "was edited or is damaged")
	}
}

// metricsOf is a Prometheus at a time, with a metric of 40 hosts, each with its
// own course; factor changes it.
func metricsOf(now func() int64, factor func(name string, at float64) float64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number := func(name string) float64 {
			v, _ := strconv.ParseFloat(r.FormValue(name), 64)
			return v
		}
		if r.FormValue("query") == "time()" {
			fmt.Fprintf(w, `{"status": "success", "data": {"resultType": "scalar", "result": [%d, "%[1]d"]}}`, now())
			return
		}
		hosts := 40
		if strings.HasPrefix(r.FormValue("query"), "avg(") {
			hosts = 1
		}
		var series []string
		for i := range hosts {
			name, values := fmt.Sprintf("h%d", i), []string{}
			for at := number("start"); at <= number("end"); at += number("step") {
				v := (100 + math.Sin(at/3600*float64(i+1)) + float64(i)) * factor(name, at)
				values = append(values, fmt.Sprintf(`[%f, "%f"]`, at, v))
			}
			series = append(series, fmt.Sprintf(`{"metric": {"instance": "%s:9100"}, "values": [%s]}`, name, strings.Join(values, ",")))
		}
		fmt.Fprintf(w, `{"status": "success", "data": {"resultType": "matrix", "result": [%s]}}`, strings.Join(series, ","))
	})
}
