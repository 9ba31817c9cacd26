package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/host"
)

func TestMain(m *testing.M) {
	host.ServeIfAgent()
	os.Exit(m.Run())
}

// fakeKernel is a folder of files that stand for settings.
type fakeKernel struct{ dir string }

func (k fakeKernel) items(names []string) []Item {
	var items []Item
	for _, n := range names {
		old := strings.Join(strings.Fields(k.read(n)), " ")
		items = append(items, Item{Setting: n, Old: old, knob: fileKnob(filepath.Join(k.dir, n))})
	}
	return items
}

func (k fakeKernel) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(k.dir, name))
	return strings.TrimRight(string(data), "\n")
}

func (k fakeKernel) write(name, value string) {
	os.WriteFile(filepath.Join(k.dir, name), []byte(value+"\n"), 0o644)
}

func (k fakeKernel) values(names []string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "%s=%s\n", n, strings.Join(strings.Fields(k.read(n)), " "))
	}
	return b.String()
}

func openChange(t interface{ Fatal(...any) }, k fakeKernel, state string, names []string) *Change {
	c := &Change{Journal: Journal{Schema: JournalSchema, ID: "test", Host: "local", System: catalog.Linux}, conn: host.NewLocal(),
		Dir: filepath.Join(state, "test"), index: map[string]int{}}
	c.Items = k.items(names)
	for i, n := range names {
		c.index[n] = i
	}
	if err := c.write(context.Background(), Place{Dir: state}, 0); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCrashAnywhereThenRollback cuts the writing script at a random place, as a
// crash would, and expects the rollback script to restore every value.
func TestCrashAnywhereThenRollback(t *testing.T) {
	value := rapid.StringMatching(`[0-9a-z]{1,9}([ \t][0-9]{1,9}){0,2}`)
	base := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		k := fakeKernel{filepath.Join(base, fmt.Sprint(run), "kernel")}
		os.MkdirAll(k.dir, 0o755)
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,5}`), 1, 6, rapid.ID).Draw(rt, "names")
		for _, n := range names {
			k.write(n, value.Draw(rt, "old"))
		}
		before := k.values(names)
		c := openChange(rt, k, filepath.Join(base, fmt.Sprint(run), "state"), names)
		var todo []assignment
		for range rapid.IntRange(1, 8).Draw(rt, "writes") {
			todo = append(todo, assignment{rapid.IntRange(0, len(names)-1).Draw(rt, "item"), strings.Join(strings.Fields(value.Draw(rt, "new")), " ")})
		}
		script := setScript(c.Dir, c.Items, todo, false)
		lines := strings.SplitAfter(script, "\n")
		cut := rapid.IntRange(1, len(lines)).Draw(rt, "cut")
		c.conn.Do(context.Background(), host.Script(strings.Join(lines[:cut], "")))
		// A crash between the write and the read-back leaves a begun item.
		if rapid.Bool().Draw(rt, "torn") {
			i := todo[0].item
			appendFile(filepath.Join(c.Dir, "progress"), fmt.Sprintf("begin %d\n", i))
			k.write(names[i], "torn")
		}
		for range 2 {
			if r, err := c.Rollback(context.Background()); err != nil || len(r.Foreign) > 0 {
				rt.Fatalf("rollback: %+v, %v", r, err)
			}
			if after := k.values(names); after != before {
				rt.Fatalf("not restored:\n%s\nwas\n%s", after, before)
			}
		}
	})
}

func appendFile(name, text string) {
	f, _ := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	f.WriteString(text)
	f.Close()
}

func TestForeignChangeIsLeft(t *testing.T) {
	k := fakeKernel{t.TempDir()}
	k.write("a", "1")
	k.write("b", "1")
	c := openChange(t, k, t.TempDir(), []string{"a", "b"})
	out, err := c.Set(t.Context(), []string{"a", "b"}, map[string]string{"a": "2", "b": "2"}, true)
	if err != nil || len(out) != 2 || out[0].Got != "2" {
		t.Fatal(out, err)
	}
	k.write("a", "3")
	r, err := c.Rollback(t.Context())
	if err != nil || len(r.Foreign) != 1 || !strings.Contains(r.Foreign[0], "a is 3") {
		t.Errorf("%+v, %v", r, err)
	}
	if k.read("a") != "3" || k.read("b") != "1" {
		t.Errorf("a=%s b=%s", k.read("a"), k.read("b"))
	}
}

func TestRefusedAndRolledBack(t *testing.T) {
	k := fakeKernel{t.TempDir()}
	k.write("a", "1")
	k.write("b", "1")
	c := openChange(t, k, t.TempDir(), []string{"a", "b"})
	c.Items[1].knob.put = "echo b: Invalid argument >&2; return 1"
	out, err := c.Set(t.Context(), []string{"b", "a"}, map[string]string{"a": "2", "b": "2"}, true)
	if err != nil || len(out) != 1 || !strings.Contains(out[0].Refused, "Invalid argument") {
		t.Errorf("%+v, %v", out, err)
	}
	if k.read("a") != "1" {
		t.Error("written after a refusal")
	}
	if _, err := c.Set(t.Context(), []string{"zz"}, nil, true); err == nil {
		t.Error("a setting outside the journal was accepted")
	}
	if _, err := c.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := c.Set(t.Context(), []string{"a"}, map[string]string{"a": "9"}, true); err == nil || k.read("a") != "1" {
		t.Error("written after the rollback: ", err)
	}
}

func TestPendingExcludesAnother(t *testing.T) {
	k, state := fakeKernel{t.TempDir()}, t.TempDir()
	k.write("a", "1")
	c := openChange(t, k, state, []string{"a"})
	second := &Change{Journal: Journal{ID: "second"}, conn: host.NewLocal(), Dir: filepath.Join(state, "second")}
	err := second.write(t.Context(), Place{Dir: state}, 0)
	if !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), "test") {
		t.Errorf("second change: %v", err)
	}
	if _, err := c.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := second.write(t.Context(), Place{Dir: state}, 0); err != nil {
		t.Errorf("after the rollback: %v", err)
	}
}

func TestDeadManRollsBack(t *testing.T) {
	k, state := fakeKernel{t.TempDir()}, t.TempDir()
	k.write("a", "1")
	c := openChange(t, k, state, []string{"a"})
	if err := c.armDeadMan(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	c.Set(t.Context(), []string{"a"}, map[string]string{"a": "2"}, true)
	deadline := time.Now().Add(20 * time.Second)
	for k.read("a") != "1" && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
	}
	if k.read("a") != "1" {
		t.Error("the dead-man timer did not roll back")
	}
}

func TestRealSettings(t *testing.T) {
	agent, err := host.Spawn(t.Context(), "changed")
	if err != nil {
		t.Skip("no namespaces here: ", err)
	}
	defer agent.Close()
	const rmem, retries = "net.ipv4.tcp_rmem", "net.ipv4.tcp_retries1"
	c, err := Begin(t.Context(), agent, catalog.Linux, []string{rmem, retries}, Options{StateDir: t.TempDir(), Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Set(t.Context(), []string{rmem, retries}, map[string]string{rmem: "4096 131072 7340032", retries: "9999"}, false)
	if err != nil || len(out) != 2 {
		t.Fatal(out, err)
	}
	if out[0].Got != "4096 131072 7340032" || out[1].Refused == "" {
		t.Errorf("outcomes %+v", out)
	}
	r, err := c.Rollback(t.Context())
	if err != nil || len(r.Restored) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Begin(t.Context(), agent, catalog.Linux, []string{"net.ipv4.no_such"}, Options{StateDir: t.TempDir(), Now: time.Now()}); err == nil || !strings.Contains(err.Error(), "No such file") {
		t.Errorf("unknown setting: %v", err)
	}
}
