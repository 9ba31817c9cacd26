package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/store"
	"github.com/wirerate/wirerate/internal/terminal"
	"github.com/wirerate/wirerate/internal/workload"
)

// hiddenText draws text that a terminal, a browser or a reader would take for
// something else.
func hiddenText() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "Z", "9", "_", "\x1b[2J", "\x1b]0;x\a", "\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u00ad",
		"\u0085", "\u009b31m", "\x7f", "\x9b", "\xff", "\b", "\U000e0041", "\u2028", "\u3164", "<b>", "&#8238;", "\"", "'", `\`, "|", "\r"}), 1, 12),
		func(parts []string) string { return strings.Join(parts, "") })
}

// fill sets all strings below v to text, and gives everything else something to
// be shown.
func fill(v reflect.Value, text string, depth int) {
	if !v.CanSet() || depth > 12 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint64:
		v.SetUint(3)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text, depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), text, depth+1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, text, depth+1)
		fill(value, text, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() != reflect.TypeFor[time.Time]() {
				fill(v.Field(i), text, depth+1)
			}
		}
	}
}

// hostileFolder holds an input of every kind with text in it.
func hostileFolder(t *rapid.T, dir, text string) {
	line := strings.NewReplacer("\r", "", "\u2028", "").Replace(text)
	var r report.Result
	fill(reflect.ValueOf(&r).Elem(), text, 0)
	r.Schema = experiment.ResultSchema
	result, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"result.json": string(result),
		"sysctl.conf": "net.core." + line + "=1\nnet.core.rmem_max = " + line + "\nnet.ipv4.tcp_tw_recycle=1 # " + line + "\n" + line + "\n",
		"session.txt": "$ uname -a\nLinux " + line + " 6.1.0 #1 SMP " + line + " x86_64 GNU/Linux\n$ ip -s link\n2: eth" + line +
			": <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc " + line + " state UP\n    RX: bytes packets errors dropped overrun mcast\n    100 100 90 90 90 0\n" +
			"$ ethtool -S eth" + line + "\nNIC statistics:\n     rx_" + line + "_dropped: 500\n$ dmesg\n" + line + ": page allocation failure " + line +
			"\nnf_conntrack: table full, dropping packet " + line + "\n",
		"access.log":  strings.Repeat(`10.0.0.1 - `+line+` [10/Oct/2025:13:55:36 +0000] "GET /`+line+` HTTP/1.1" 200 5 "`+line+`" "`+line+`" 0.5`+"\n", 30),
		"profile":     "[main]\nsummary=" + line + "\n[sysctl]\nnet.core.rmem_max=" + line + "\n" + line + "=1\n[" + line + "]\nx=" + line + "\n",
		"iperf3.json": `{"start":{"version":"` + strings.Map(printable, line) + `"},"error":` + string(quoted(text)) + `}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, err := store.Open(t.Context(), filepath.Join(dir, "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for i := range 2 {
		id := fmt.Sprint("2026-", i, text)
		environment, _ := json.Marshal(map[string]any{"client": map[string]any{"host": map[string]any{"release": text + id}, "settings": map[string]string{text: id}}})
		err = errors.Join(err, h.Begin(t.Context(), store.Trial{ID: id, Kind: text, Workload: text, Where: text, Metric: text, Command: text, Environment: environment}),
			h.Record(t.Context(), id, store.Attempt{Arm: text, Lost: "", Run: workload.Run{Tool: text, GoodputBPS: 1, Metrics: map[string]float64{"latency_p50": 2}}}),
			h.Record(t.Context(), id, store.Attempt{Seq: 1, Arm: text, Lost: text}),
			h.Finish(t.Context(), id, text, text, r))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func printable(r rune) rune {
	if terminal.Hidden(r) || r == '"' || r == '\\' {
		return -1
	}
	return r
}

func quoted(text string) []byte {
	data, _ := json.Marshal(text)
	return data
}

// Nothing hidden comes out, whatever goes in, in any format.
func TestNothingHidden(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	top := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		if n++; n > 12 {
			return // each takes all verbs
		}
		text := hiddenText().Draw(t, "text")
		dir, err := os.MkdirTemp(top, "")
		if err != nil {
			t.Fatal(err)
		}
		hostileFolder(t, dir, text)
		in := func(name string) string { return filepath.Join(dir, name) }
		planned := []string{"plan", "--path", "rate=1gbit,rtt=20ms", "--role", "bulk", "--os", "linux", "--version", "6.12", "--memory", "8GiB", "--cores", "2"}
		var runs [][]string
		all := func(formats []string, args ...string) {
			for _, f := range formats {
				runs = append(runs, append(append([]string{}, args...), "--format", f))
			}
		}
		all([]string{"text", "html", "markdown", "json"}, "report", in("result.json"))
		all([]string{"text", "html", "markdown", "json"}, "report", "--history", in("history.db"), "last")
		all([]string{"text", "json"}, "history", "--history", in("history.db"))
		all([]string{"text", "json"}, "history", "compare", "--history", in("history.db"), "2026-0", "2026-1")
		all([]string{"openmetrics", "csv", "json"}, "export", "--history", in("history.db"))
		all([]string{"text", "json", "sarif"}, "lint", "--os", "linux", in("sysctl.conf"))
		runs = append(runs, []string{"lint", "--os", "linux", "--diff", in("sysctl.conf")}, []string{"lint", "--os", "linux", "--color", "never", dir})
		all([]string{"text", "json", "svg", "html"}, "inspect", "--from", in("session.txt"))
		for _, file := range []string{"sysctl.conf", "profile"} {
			all([]string{"text", "json"}, append(planned, "--compare", in(file))...)
		}
		runs = append(runs, []string{"weblog", in("access.log")}, []string{"weblog", "--full", in("access.log")}, []string{"weblog", "--json", in("access.log")})
		all([]string{"text", "json"}, "measure", "--read", in("iperf3.json"), "--tool", "iperf3")
		all([]string{"text", "json"}, "explain", text)
		for _, args := range runs {
			var out, messages bytes.Buffer
			Run(t.Context(), args, &Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &messages})
			for line := range strings.Lines(out.String() + messages.String()) {
				for at, r := range strings.TrimSuffix(line, "\n") {
					if terminal.Hidden(r) && r != '\t' {
						t.Fatalf("%q with %q lets %U out: %q", args, text, r, line[max(0, at-60):min(len(line), at+40)])
					}
				}
			}
		}
	})
}
