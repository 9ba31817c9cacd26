package weblog

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// crowded makes a log with more kinds of everything than are kept apart: of what kinds
// names, so that tables are crowded alone and together.
func crowded(r *rand.Rand, lines int, kinds string) []byte {
	many := func(kind byte, few, most int) int {
		if bytes.IndexByte([]byte(kinds), kind) >= 0 {
			return r.IntN(most)
		}
		return r.IntN(few)
	}
	var b bytes.Buffer
	at := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	for range lines {
		zone := time.FixedZone("", many('z', 1, 20)*30*60)
		stamp := at.Add(time.Duration(many('t', 100, 40_000)) * time.Second).In(zone).Format("02/Jan/2006:15:04:05 -0700")
		path := fmt.Sprintf("/v%d/users/%d/a%db", r.IntN(3), r.IntN(100_000), many('p', 9, 3000))
		if r.IntN(3) == 0 {
			path = fmt.Sprintf("/api/v%d/users/list/%d.js?q=%d", r.IntN(9), r.IntN(10), r.IntN(99))
		}
		cache := [3]string{"HIT", "MISS", "-"}[r.IntN(3)]
		if n := many('c', 3, 90); n > 3 {
			cache = fmt.Sprintf("%s%d", cache, n)
		}
		fmt.Fprintf(&b, "%d.%d.%d.%d - - [%s] \"%s %s HTTP/%d.%d\" %03d %d rt=0.%03d %s %c%c--\n", 10+many('n', 1, 90), r.IntN(2), many('n', 9, 256), r.IntN(256), stamp,
			methods[many('s', 2, len(methods))], path, 1+r.IntN(2), r.IntN(2), 200+many('s', 3, 799), r.IntN(1<<20), r.IntN(1000), cache,
			"CScs"[r.IntN(4)], 'A'+many('e', 3, 26))
	}
	return b.Bytes()
}

// TestAnyWorkers: the report of a log is the same for any number of workers, from a file
// and from a pipe, and from its parts in any order.
func TestAnyWorkers(t *testing.T) {
	f, err := logline.ParseFormat(`$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent rt=$request_time $upstream_cache_status $end`)
	if err != nil {
		t.Fatal(err)
	}
	for i, kinds := range []string{"", "p", "n", "s", "c", "e", "t", "z", "pnscetz"} {
		r := rand.New(rand.NewPCG(uint64(i), 2))
		text := crowded(r, 12_000, kinds)
		name := filepath.Join(t.TempDir(), "a.log")
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		want := ""
		for workers := 1; workers <= 7; workers += 2 {
			for _, from := range []string{name, "-"} {
				s, err := Read(context.Background(), []string{from}, bytes.NewReader(text), Options{Format: f, Full: true, Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				s.Inputs[0].Name = ""
				if got := reportOf(t, s); want == "" {
					want = got
				} else if got != want {
					t.Fatalf("many of %q: %d workers from %s make another report", kinds, workers, from)
				}
			}
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		whole, parts := readText(t, string(text), Options{Format: f, Full: true}), new(Sketch)
		for _, third := range r.Perm(3) {
			n := len(lines) / 3
			parts.Merge(readText(t, string(bytes.Join(lines[third*n:(third+1)*n], nil)), Options{Format: f, Full: true}))
		}
		for _, by := range Groupings() {
			if a, b := fmt.Sprint(groupsBy(whole, by, View{Top: 9999})), fmt.Sprint(groupsBy(parts, by, View{Top: 9999})); a != b {
				t.Errorf("many of %q: groups by %s differ where the parts are read in another order", kinds, by)
			}
		}
		if fmt.Sprint(whole.ends) != fmt.Sprint(parts.ends) {
			t.Errorf("many of %q: %v and %v", kinds, whole.ends, parts.ends)
		}
	}
}
