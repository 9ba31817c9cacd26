package cli

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
)

// TestCanaryFlow designs, begins and judges over the HTTP API, with a clock that the
// test sets. The changed hosts get worse in the second step.
func TestCanaryFlow(t *testing.T) {
	var clock atomic.Int64
	clock.Store(1_770_000_000)
	var worse atomic.Pointer[map[string]bool]
	worse.Store(&map[string]bool{})
	from := clock.Load()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number := func(name string) float64 {
			v, _ := strconv.ParseFloat(r.FormValue(name), 64)
			return v
		}
		if r.FormValue("query") == "time()" {
			fmt.Fprintf(w, `{"status": "success", "data": {"resultType": "scalar", "result": [%d, "%[1]d"]}}`, clock.Load())
			return
		}
		var series []string
		for i := range 40 {
			name, values := fmt.Sprintf("h%d", i), []string{}
			for at := number("start"); at <= number("end"); at += number("step") {
				v := 100 + math.Sin(at/3600*float64(i+1)) + float64(i)
				if (*worse.Load())[name] && at > float64(from) {
					v *= 0.8
				}
				values = append(values, fmt.Sprintf(`[%f, "%f"]`, at, v))
			}
			series = append(series, fmt.Sprintf(`{"metric": {"instance": "%s:9100"}, "values": [%s]}`, name, strings.Join(values, ",")))
		}
		fmt.Fprintf(w, `{"status": "success", "data": {"resultType": "matrix", "result": [%s]}}`, strings.Join(series, ","))
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
		if got := Run(t.Context(), append([]string{"canary"}, args...), &Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}); got != status {
			t.Fatalf("%q: status %d, not %d: %s", args, got, status, errs.String())
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
	contains(canary(2, "judge", file), "step 1 has not begun")
	if got := strings.Fields(canary(0, "begin", file)); len(got) != 1 {
		t.Errorf("the hosts of the first step: %q", got)
	}
	contains(canary(3, "judge", file), "the window of step 1 ends at")
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
	contains(canary(1, "begin", file), "the canary has ended: stop")
}
