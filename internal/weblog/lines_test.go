package weblog

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wirerate/wirerate/internal/weblog/logdetect"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// requestLine is a request in the combined log format.
const requestLine = `192.0.2.7 - - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "x y"`

// A log without request times is counted all the same.
func TestUntimed(t *testing.T) {
	text := strings.Repeat(requestLine+"\n", 3) + strings.Replace(requestLine, " 200 5 ", " 404 7 ", 1) + "\nx\n"
	for _, wrapped := range []string{"%s", "2024-03-01T00:00:00.123456789Z stdout F %s"} {
		var log strings.Builder
		for l := range strings.Lines(text) {
			log.WriteString(strings.Replace(wrapped, "%s", l, 1))
		}
		s, err := Read(context.Background(), []string{"-"}, strings.NewReader(log.String()), Options{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		in := s.Inputs[0]
		want := "it holds 4 requests (200: 3, 404: 1), 22 B sent, 2024-03-01 00:00:00 to 2024-03-01 00:00:00 UTC"
		if !errors.Is(in.Err, logdetect.ErrNoTime) || !strings.Contains(in.Problem(), want) || s.Requests != 0 || s.Skipped() != 1 || in.Lines != 5 {
			t.Errorf("%s: %q, %d requests, %d skipped, %d lines", wrapped, in.Problem(), s.Requests, s.Skipped(), in.Lines)
		}
	}
}

// A line that names the columns is no request, wherever it stands.
func TestHeaderLineIsNotCounted(t *testing.T) {
	const head = "time,method,path,status,elapsed_ms\n"
	s := readText(t, head+"2024-03-01T00:00:00Z,GET,/a,200,83\n"+head+"2024-03-01T00:00:00Z,GET,\"/b,c\",200,84\n,,\n", Options{})
	if s.Requests != 2 || s.Skipped() != 1 || s.Times().Under(84_000) != 1 {
		t.Errorf("%d requests, %d skipped", s.Requests, s.Skipped())
	}
}

// %D of a format string is in us, unless that would make requests too fast to be
// true.
func TestDoubtedUnit(t *testing.T) {
	const format = `%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-Agent}i" %D`
	for _, c := range []struct {
		times string
		unit  logline.Unit
		asked bool
		least uint64
	}{
		{"830 412 96", logline.UnitUnknown, false, 96}, {"12 31 0", logline.UnitUnknown, true, 0}, {"12 31 1", logline.Milliseconds, false, 1000}, {"12 31 1", logline.Microseconds, false, 1},
	} {
		f, err := logline.ParseFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		for us := range strings.FieldsSeq(c.times) {
			log.WriteString(requestLine + " " + us + "\n")
		}
		s, err := Read(context.Background(), []string{"-"}, strings.NewReader(log.String()), Options{Format: f, Unit: c.unit})
		if err != nil {
			t.Fatal(err)
		}
		if in := s.Inputs[0]; c.asked != (in.Err != nil) || c.asked && !strings.Contains(in.Problem(), "--unit ms") || !c.asked && Summarize(s, View{}).Min*1e6 != float64(c.least) {
			t.Errorf("%s in %s: %+v", c.times, c.unit, in)
		}
	}
}

// A short log is not looked at a second time from its middle, where the times of
// fewer lines might say less.
func TestMiddleOfShortLog(t *testing.T) {
	name := t.TempDir() + "/log"
	text := requestLine + " 83.1\n" + requestLine + " 81.3\n" + requestLine + " 0.8\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Read(context.Background(), []string{name}, nil, Options{})
	if err != nil || s.Requests != 0 || s.Inputs[0].Err == nil {
		t.Errorf("%d requests, %v, %v", s.Requests, err, s.Inputs)
	}
}

// Requests that have no time because they were aborted are said to be that.
func TestAbortedHaveNoTime(t *testing.T) {
	const line = `https 2024-03-01T00:00:00.186641Z app/lb/50 192.0.2.7:48160 10.0.0.6:80 %s 200 200 5 257 "GET https://e.org:443/ HTTP/1.1" "x" - -` + "\n"
	s := readText(t, strings.ReplaceAll(line, "%s", "0.001 0.080 0.002")+strings.ReplaceAll(line, "%s", "0.001 -1 -1")+strings.ReplaceAll(line, "%s", "-1 -1 -1"), Options{})
	r := Summarize(s, View{})
	if r.Requests != 1 || r.SkippedFor["aborted"] != 2 || r.Aborted["-1"] != 2 {
		t.Errorf("%d requests, %v, %v", r.Requests, r.SkippedFor, r.Aborted)
	}
}

// TestUnknownUnitIsAnError: W3C's time-taken without a word of whose it is.
func TestUnknownUnitIsAnError(t *testing.T) {
	read := func(software string) *Sketch {
		text := "#Version: 1.0\n" + software + "#Fields: date time c-ip cs-method cs-uri-stem sc-status time-taken\n2024-03-01 00:00:01 192.0.2.9 GET /a 200 187\n"
		s, err := Read(context.Background(), []string{"-"}, strings.NewReader(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if in := read("").Inputs[0]; in.Err == nil || !strings.Contains(in.Problem(), "say --unit") {
		t.Errorf("without #Software: %+v", in)
	}
	if in := read("#Software: Microsoft Internet Information Services 10.0\n").Inputs[0]; in.Err != nil || in.Note != "times in ms" {
		t.Errorf("of IIS: %+v", in)
	}
	// WebLogic writes both; seconds
	if in := read("#Software: WebLogic\n#Start-Date: 2024-03-01 00:00:00\n").Inputs[0]; in.Err != nil || in.Note != "times in s" {
		t.Errorf("of WebLogic: %+v", in)
	}
	if in := read("#Software: SGOS 6.7.4.3\n#Start-Date: 2024-03-01 00:00:00\n").Inputs[0]; in.Err == nil {
		t.Errorf("of another proxy: %+v", in)
	}
}

// TestCaptures reads logs that real servers wrote, when they are at hand.
func TestCaptures(t *testing.T) {
	dir := os.Getenv("WIRERATE_CAPTURES")
	if dir == "" {
		t.Skip("WIRERATE_CAPTURES does not name a folder of captures")
	}
	for name, want := range map[string][2]uint64{
		"alp-combined_access.log": {11, 3}, "alp-ltsv_access.log": {11, 3},
		"haproxy-2ok-1invalid.log": {3, 0}, "haproxy-health-331.log": {328, 3}, "haproxy-json-10.log": {11, 0},
	} {
		s, err := Read(context.Background(), []string{filepath.Join(dir, "logs", name)}, nil, Options{Full: true})
		if err != nil || s.Inputs[0].Err != nil {
			t.Errorf("%s: %v %v", name, err, s.Inputs)
			continue
		}
		if s.Requests != want[0] || s.Skipped() != want[1] {
			t.Errorf("%s (%s): %d requests, %d skipped, want %v; %v", name, s.Inputs[0].Format, s.Requests, s.Skipped(), want, s.examples)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte(requestLine+" 0.083 0.080\n"), "")
	f.Add([]byte(`{"duration":12,"status":200}`), "json:duration=duration,unit=ms")
	f.Add([]byte("MESSAGE="+requestLine+" 0.083"), `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$a" "$b" $request_time`)
	f.Add([]byte("x 5"), "%^{x %D")
	f.Add([]byte("\x1f\x8b\x00\n{\"duration\":1}\n\n[\"\\"), "")
	f.Fuzz(func(t *testing.T, text []byte, format string) {
		var opt Options
		opt.Full = true
		opt.Workers = 1
		if format != "" {
			p, err := logline.ParseFormat(format)
			if err != nil {
				return
			}
			opt.Format = p
		}
		s, err := Read(context.Background(), []string{"-"}, bytes.NewReader(text), opt)
		if err != nil {
			t.Fatal(err)
		}
		if s.Times().N != s.Requests {
			t.Fatalf("%d times of %d requests", s.Times().N, s.Requests)
		}
		for _, e := range s.examples {
			if i := strings.IndexFunc(e.Text, func(r rune) bool { return r < 0x20 || r == 0x7f }); i >= 0 {
				t.Fatalf("example %q holds a control character", e.Text)
			}
		}
	})
}

// Ways in which servers say that a request ended early.
func TestEnds(t *testing.T) {
	haproxy := `10.0.0.9:51 [01/Mar/2024:00:00:00.250] fe be/s1 10/0/30/69/109 200 2750 - - %s 1/1/1/1/0 0/0 "GET /a HTTP/1.1"` + "\n"
	envoy := `[2024-03-01T00:00:00.310Z] "GET /a HTTP/2" 0 %s 154 10 226 - "-" "agent" "cc21" "e" "-"` + "\n"
	for _, c := range []struct {
		line, end, name string
	}{
		{haproxy, "----", ""}, {haproxy, "CD--", "CD"}, {haproxy, "sHVN", "sH"}, {haproxy, "PR--", ""}, {haproxy, "LR--", ""}, {haproxy, "SC", "SC"},
		{envoy, "-", ""}, {envoy, "DC", "DC"}, {envoy, "NR", ""}, {envoy, "UF,URX", "UF,URX"},
	} {
		text := strings.ReplaceAll(c.line, "%s", c.end)
		r := Summarize(readText(t, text, Options{}), View{})
		delete(r.Aborted, "000")
		want := map[string]uint64{}
		if c.name != "" {
			want[c.name] = 1
		}
		if r.Requests != 1 || !cmp.Equal(r.Aborted, want) {
			t.Errorf("%s: %d requests, %v, want %v", c.end, r.Requests, r.Aborted, want)
		}
	}
}
