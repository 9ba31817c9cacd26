package weblog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/wirerate/wirerate/internal/weblog/latency"
	"github.com/wirerate/wirerate/internal/weblog/logline"
	"github.com/wirerate/wirerate/tools/genlog/accesslog"
)

// reportOf is everything that is shown of a sketch, but not its inputs.
func reportOf(t testing.TB, s *Sketch) string {
	t.Helper()
	r := Summarize(s, View{By: Groupings(), Top: 1000})
	r.Inputs, r.Examples = nil, nil
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSaveAndLoad(t *testing.T) {
	s := readText(t, synthetic(t, accesslog.Synthetic{Lines: 5000, Seed: 3})+"half a line\n", Options{Full: true})
	s.Merge(readText(t, awkward(700, 3, 1), Options{Full: true}))
	var b bytes.Buffer
	if err := s.Save(&b); err != nil {
		t.Fatal(err)
	}
	if !isSaved(b.Bytes()) {
		t.Error("isSaved does not know its own")
	}
	back, err := Load("-", bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(reportOf(t, s), reportOf(t, back)); diff != "" {
		t.Errorf("loaded differs from saved:\n%s", diff)
	}
	for cut := range b.Len() {
		if _, err := Load("-", bytes.NewReader(b.Bytes()[:cut])); err == nil {
			t.Fatalf("the first %d of %d bytes load", cut, b.Len())
		}
		if cut > 2000 {
			break
		}
	}
}

// TestMergeEqualsWhole: sketches of the pieces of a log, read in any split and
// order, merge into that of the whole log, except for its clusters.
func TestMergeEqualsWhole(t *testing.T) {
	text := awkward(6000, 4, 1)
	lines := strings.SplitAfter(text, "\n")
	whole := readText(t, text, Options{Full: true})
	merged := readText(t, strings.Join(lines[4000:], ""), Options{Full: true})
	merged.Merge(readText(t, strings.Join(lines[:1000], ""), Options{Full: true}))
	merged.Merge(readText(t, strings.Join(lines[1000:4000], ""), Options{Full: true}))
	whole.clusters, merged.clusters = []*latency.Hist{whole.Times()}, []*latency.Hist{merged.Times()}
	// Which line follows which depends on the split.
	whole.detail.backward, merged.detail.backward = 0, 0
	if diff := cmp.Diff(reportOf(t, whole), reportOf(t, merged)); diff != "" {
		t.Errorf("whole -, merged +:\n%s", diff)
	}
}

// TestWaysToRead: a file read by several workers, a pipe and compressed copies
// give the same.
func TestWaysToRead(t *testing.T) {
	text := synthetic(t, accesslog.Synthetic{Lines: 9000, Seed: 5}) + strings.Repeat("y", 3*logline.MaxLine) + "\nhalf a line\n\n" + synthetic(t, accesslog.Synthetic{Lines: 10, Seed: 6})
	name := t.TempDir() + "/a.log"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, workers := range []int{1, 2, 7} {
		s, err := Read(context.Background(), []string{name}, nil, Options{Full: true, Workers: workers})
		if err != nil || s.Inputs[0].Err != nil {
			t.Fatal(err, s.Inputs)
		}
		stream := readText(t, text, Options{Full: true, Workers: workers})
		if s.Requests != 9010 || s.Skipped() != 2 || s.Inputs[0].Lines != 9013 || len(s.examples) != 2 || s.examples[1].Line != 9002 {
			t.Fatalf("%d workers: %d requests, %d skipped, %d lines, examples %+v", workers, s.Requests, s.Skipped(), s.Inputs[0].Lines, s.examples)
		}
		if stream.Inputs[0].Lines != 9013 || len(stream.examples) != 2 || stream.examples[1].Line != 9002 {
			t.Fatalf("stream: %d lines, examples %+v", stream.Inputs[0].Lines, stream.examples)
		}
		for _, got := range []*Sketch{s, stream} {
			if want == "" {
				want = reportOf(t, got)
			}
			if diff := cmp.Diff(want, reportOf(t, got)); diff != "" {
				t.Fatalf("%d workers:\n%s", workers, diff)
			}
		}
	}
}

// packed is what Save writes of the JSON.
// TestSavedIsRead: counts are read beside logs, whole or from a pipe, and what is wrong
// with them stops nothing.
func TestSavedIsRead(t *testing.T) {
	dir := t.TempDir()
	log, saved, cut := dir+"/a.log", dir+"/a.wrl", dir+"/cut.wrl"
	text := synthetic(t, accesslog.Synthetic{Lines: 500, Seed: 5})
	var b bytes.Buffer
	if err := readText(t, text, Options{Full: true}).Save(&b); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{log: text, saved: b.String(), cut: b.String()[:b.Len()/2]} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Read(context.Background(), []string{saved, log, cut, "-"}, &b, Options{Full: true})
	if err != nil || s.Requests != 1500 || s.Times().N != 1500 || len(s.Inputs) != 4 || len(s.clusters) > latency.MaxClusters {
		t.Fatalf("%d requests of %d inputs, %d parts: %v", s.Requests, len(s.Inputs), len(s.clusters), err)
	}
	for i, want := range []string{"a.wrl: -", log, cut, "-"} {
		if in := s.Inputs[i]; in.Name != want || (in.Err != nil) != (want == cut) || in.Lines != 500 && want != cut {
			t.Errorf("input %d: %+v, want %s", i, in, want)
		}
	}
	f, err := ParseFilter(FilterSpec{Status: "200"})
	if err != nil {
		t.Fatal(err)
	}
	s, err = Read(context.Background(), []string{saved, log}, nil, Options{Filter: f})
	if err != nil || s.Inputs[0].Err == nil || s.Inputs[1].Err != nil || s.Requests+s.Filtered != 500 {
		t.Errorf("filtered: %d requests, %+v: %v", s.Requests, s.Inputs, err)
	}
}

func packed(z *zstd.Encoder, text string) []byte {
	return append(fmt.Appendf(nil, "%s%d\n", savedMagic, savedVersion), z.EncodeAll([]byte(text), nil)...)
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := readText(t, awkward(30, 1, 1), Options{Full: true}).Save(&b); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	_, body, _ := strings.Cut(good, "\n")
	const one = `{"requests":1,"status":{"200":1},"clusters":[{"sum":5,"min":5,"max":5,"bins":[5,1]}]`
	for _, c := range []struct{ name, file, want string }{
		{"another file", "hello", "not written by weblog --save"},
		{"a newer version", savedMagic + "4\n" + body, "version 4, and this wirerate reads 2 to 3"},
		{"a version of two digits", savedMagic + "12\n" + body, "version 12"},
		{"an older version", savedMagic + "1\n" + body, "version 1,"},
		{"no version", savedMagic + "\n" + body, "damaged"},
		{"cut short", good[:len(good)/2], "damaged"},
		{"two behind each other", good + good, "more behind their end"},
		{"a time that is none", string(packed(z, one+`,"detail":{"timeline_shift":40,"timeline":[[9223372036854775807,1,1,1,1,1]]}}`)), "time out of range"},
		{"a time without requests", string(packed(z, one+`,"detail":{"timeline":[[1,0,1,1,1,0]]}}`)), "time out of range"},
		{"more in groups than in all", string(packed(z, one+`,"detail":{"cells":[{"cell":[200,0,0],"hist":{"sum":10,"min":5,"max":5,"bins":[5,2]}}]}}`)), "2 requests in groups"},
		{"too many parts", string(packed(z, `{"clusters":[`+strings.Repeat(`{},`, 100)+`{}]}`)), "101 parts"},
		{"a list without end", string(packed(z, `{"examples":[`+strings.Repeat(`{},`, maxItems)+`{}]}`)), "a list of more than"},
	} {
		if _, err := Load("-", strings.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if s, err := Load("-", strings.NewReader(savedMagic+"2\n"+body)); err != nil || s.Requests != 30 {
		t.Errorf("version 2: %v", err)
	}
}

// TestMergeTwice: counts that come with two files are pointed out, whichever way
// they came.
func TestMergeTwice(t *testing.T) {
	load := func(s *Sketch) *Sketch {
		var b bytes.Buffer
		if err := s.Save(&b); err != nil {
			t.Fatal(err)
		}
		back, err := Load("-", &b)
		if err != nil {
			t.Fatal(err)
		}
		return back
	}
	one, two := readText(t, awkward(40, 1, 1), Options{}), readText(t, awkward(40, 2, 1), Options{Full: true})
	both := new(Sketch)
	both.Merge(load(one))
	both.Merge(load(two))
	if notes := strings.Join(Summarize(both, View{}).Notes, "\n"); strings.Contains(notes, "twice") {
		t.Errorf("two different logs: %s", notes)
	}
	both = load(both)
	both.Merge(load(two))
	if notes := strings.Join(Summarize(both, View{}).Notes, "\n"); !strings.Contains(notes, "1 log was counted twice") {
		t.Errorf("the second log and both: %s", notes)
	}
}

// TestManyMerged: the parts that intervals are taken from stay of one size, however
// many sketches are merged one after the other.
func TestManyMerged(t *testing.T) {
	total := new(Sketch)
	for i := range 40 {
		total.Merge(readText(t, awkward(1000, uint64(i), 1), Options{}))
	}
	least, most := total.clusters[0].N, uint64(0)
	for _, c := range total.clusters {
		least, most = min(least, c.N), max(most, c.N)
	}
	if n := len(total.clusters); n != latency.MaxClusters || most > 4*least {
		t.Errorf("%d parts of %d to %d requests, want %d of about the same", n, least, most, latency.MaxClusters)
	}
}

// FuzzLoad packs what it is given, so that it reaches the checks behind the
// decompressor.
func FuzzLoad(f *testing.F) {
	s := readText(f, synthetic(f, accesslog.Synthetic{Lines: 20, Seed: 3}), Options{Full: true})
	text, err := json.Marshal(s.saved())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"requests":1,"status":{"200":1},"clusters":[{"sum":5,"min":5,"max":5,"bins":[5,1]}],"detail":{}}`))
	z, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Load("-", bytes.NewReader(packed(z, string(data))))
		if err != nil {
			return
		}
		reportOf(t, s)
		Summarize(s, View{By: Groupings()})
		if s.Requests > 0 {
			if _, err := Compare(s, s, View{}, Judgement{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// awkward makes a log with long paths, upstream times, aborted requests, three
// zones and lines that are none.
func awkward(n int, seed uint64, factor float64) string {
	r := rand.New(rand.NewPCG(seed, 3))
	var b strings.Builder
	for i := range n {
		s := factor * 0.08 * math.Exp(1.5*r.NormFloat64())
		fmt.Fprintf(&b, "192.0.%d.1 - - [01/Mar/2024:%02d:00:%02d %s] \"GET /%s/%d.html HTTP/1.1\" %s %d \"-\" \"-\" rt=%.3f urt=%.3f\n", r.IntN(40), i*20/n, i%60,
			[]string{"+0000", "+0130", "-0500"}[r.IntN(3)], strings.Repeat("section", r.IntN(6)), r.IntN(5), []string{"200", "304", "499", "000"}[r.IntN(4)], r.IntN(3_000_000), s, s*r.Float64())
		if i%500 == 7 {
			fmt.Fprintf(&b, "half a line %d\n", i)
		}
	}
	return b.String()
}
