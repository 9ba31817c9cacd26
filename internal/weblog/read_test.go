package weblog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/weblog/logline"
	"github.com/wirerate/wirerate/tools/genlog/accesslog"
)

// BenchmarkLog measures one histogram of a log's request times and the full
// analysis; make bench compares them with other tools on a large log.
func BenchmarkLog(b *testing.B) {
	name := b.TempDir() + "/access.log"
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	size, err := (accesslog.Synthetic{Lines: 200_000, Seed: 1}).WriteTo(f)
	if err := errors.Join(err, f.Close()); err != nil {
		b.Fatal(err)
	}
	for _, full := range []bool{false, true} {
		b.Run("full="+strconv.FormatBool(full), func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				s, err := Read(context.Background(), []string{name}, nil, Options{Full: full})
				if err != nil || s.Requests == 0 || s.Skipped() != 0 || s.Inputs[0].Err != nil {
					b.Fatal(err, s.Requests, s.Skipped(), s.Inputs)
				}
			}
		})
	}
}

// TestCountsEqualAwk compares every 100 ms bin with awk's count.
func TestCountsEqualAwk(t *testing.T) {
	awk, err := exec.LookPath("awk")
	if err != nil {
		t.Skip(err)
	}
	text := synthetic(t, accesslog.Synthetic{Lines: 20_000, Seed: 12})
	cmd := exec.Command(awk, `{n[int($NF*10+1e-9)]++} END{for(i=0;i<60;i++) print n[i]+0}`)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, bin := range Summarize(readText(t, text, Options{}), View{}).Bins[:60] {
		fmt.Fprintln(&got, bin.Count)
	}
	if got.String() != string(out) {
		t.Errorf("bins:\n%s\nawk:\n%s", got.String(), out)
	}
}

// A log may begin with anything.
func TestLogBehindSomethingElse(t *testing.T) {
	log := strings.Repeat(requestLine+" 0.083\n", 3000)
	for _, c := range []struct {
		head    string
		skipped uint64
	}{
		{strings.Repeat("x", 100_000) + "\n", 1},
		{strings.Repeat("worker 7 started 0.5 200\n", 3000), 3000},
		{strings.Repeat("\x00\xff\n", 40_000), 40_000},
		{strings.Repeat("\x00", 200_000) + "\n", 1}, // logrotate's copytruncate
		{strings.Repeat(requestLine+"\n", 1000), 1000},
	} {
		name := t.TempDir() + "/log"
		if err := os.WriteFile(name, []byte(c.head+log), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, names := range [][]string{{name}, {"-"}} {
			s, err := Read(context.Background(), names, strings.NewReader(c.head+log), Options{})
			if err != nil || s.Inputs[0].Err != nil || s.Requests != 3000 || s.Skipped() != c.skipped {
				t.Errorf("%s behind %.20q: %d requests, %d skipped, %v %v", names, c.head, s.Requests, s.Skipped(), err, s.Inputs[0].Err)
			}
		}
	}
}

// A file that is cut off while several workers read it is one problem of its input, and no other file's.
func TestFileThatBecomesShorter(t *testing.T) {
	line := `192.0.2.7 - - [01/Mar/2024:00:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "x" 0.012` + "\n"
	cut, whole := t.TempDir()+"/cut.log", t.TempDir()+"/whole.log"
	if err := os.WriteFile(whole, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, []byte(strings.Repeat(line, 6*blockSize/len(line))), 0o600); err != nil {
		t.Fatal(err)
	}
	opt := Options{Workers: 3, each: serialized(func(*logline.Request) { _ = os.Truncate(cut, 0) })}
	s, err := Read(t.Context(), []string{cut, whole}, nil, opt)
	if err != nil || s.Inputs[0].Err == nil || s.Inputs[1].Err != nil || s.Inputs[1].Lines != 1 {
		t.Fatal(err, s.Inputs)
	}
	if text := s.Inputs[0].Err.Error(); !strings.HasPrefix(text, "became shorter") || strings.Contains(text, "\n") {
		t.Errorf("%q", text)
	}
}
