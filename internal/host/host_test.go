package host

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) {
	if served, status := ServeIfAgent(); served {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// shellConn runs batch scripts in a local shell: what SSH does, without ssh.
type shellConn struct{ *Local }

func (shellConn) Do(_ context.Context, ops ...Op) ([]Answer, error) {
	script, err := batchScript("mark-0123", ops)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-s")
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.Output()
	r := &batchReader{mark: "mark-0123", ops: ops}
	r.Write(out)
	if !r.done() {
		return nil, errors.Join(errors.New("incomplete answer"), err)
	}
	return r.answers, nil
}

// TestOperations holds every way to a machine to the same behaviour.
func TestOperations(t *testing.T) {
	conns := map[string]Conn{"local": NewLocal(), "shell": shellConn{NewLocal()}}
	if agent, err := Spawn(t.Context(), "testhost"); err == nil {
		conns["agent"] = agent
	} else {
		t.Logf("SKIPPED part: no namespaces here: %v", err)
	}
	for name, c := range conns {
		t.Run(name, func(t *testing.T) {
			defer c.Close()
			checkOperations(t, c, t.TempDir())
		})
	}
}

func checkOperations(t *testing.T, c Conn, dir string) {
	ctx := t.Context()
	file := filepath.Join(dir, "a b", "it's")
	content := "line 1\n\n$HOME `x` \\n 'q' \"d\"\nno newline at the end"
	answers, err := c.Do(ctx, Write(file, []byte(content), 0o640), Read(file), List(filepath.Join(dir, "*", "it*")),
		Op{Action: ActRun, Args: []string{"sh", "-c", "cat; echo oops >&2; exit 3"}, Data: []byte("in\n")},
		Read(filepath.Join(dir, "missing")), Command("no-such-command-x"), Poke(filepath.Join(dir, "missing"), "1"),
		Poke(file, "poked"), Command("rm", file), Read(file).OrStop(), Command("true"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(answers[1].Out); got != content {
		t.Errorf("read back %q", got)
	}
	if got := answers[2].Text(); got != file {
		t.Errorf("list %q, want %q", got, file)
	}
	if a := answers[3]; a.Status != 3 || string(a.Out) != "in\n" || strings.TrimSpace(a.Stderr) != "oops" || a.Failure != Failed {
		t.Errorf("command: %+v", a)
	}
	for _, i := range []int{4, 5, 6, 9} {
		if err := answers[i].Err(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("operation %d (%s): %v, want not-exist", i, answers[i].Op, err)
		}
	}
	for _, i := range []int{0, 7, 8} {
		if err := answers[i].Err(); err != nil {
			t.Errorf("operation %d: %v", i, err)
		}
	}
	if answers[10].Failure != Skipped {
		t.Errorf("after a failed Must: %+v", answers[10])
	}
}

func TestStartStopsWithTheConnection(t *testing.T) {
	c, err := Spawn(t.Context(), "testhost")
	if err != nil {
		t.Skip("no namespaces here: ", err)
	}
	p, err := c.Start(t.Context(), "sleep", "100")
	if err != nil || p.Ended() {
		t.Fatal(err, "ended at once")
	}
	if a := p.Stop(); a.Failure != None && a.Status >= 0 {
		t.Errorf("stop: %+v", a)
	}
	if _, err := c.Start(t.Context(), "no-such-command-x"); err == nil {
		t.Error("a command that does not exist was started")
	}
	// A second connection's process must not survive Close.
	if _, err := c.Start(t.Context(), "sleep", "100"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Do(ctx, Command("sleep", "100")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: %v", err)
	}
	pid := c.PID()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid))); err == nil {
		t.Error("the agent is still there")
	}
	if _, err := c.Do(t.Context(), Command("true")); err == nil {
		t.Error("a closed connection answers")
	}
}

func TestCaptureReplays(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "f"), []byte("hello\n"), 0o644)
	rec := Record(NewLocal())
	ops := []Op{Read(filepath.Join(dir, "f")), Read(filepath.Join(dir, "missing")), Command("sh", "-c", "echo out; exit 2"), List(filepath.Join(dir, "*"))}
	want, err := rec.Do(t.Context(), ops...)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if _, err := rec.Capture(time.Now()).WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(dir, "c.tar.gz")
	os.WriteFile(archive, buf.Bytes(), 0o644)
	c, err := Open(t.Context(), archive, SSHOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Do(t.Context(), append(ops, Command("uname"), Poke("/x", "1"))...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if string(got[i].Out) != string(want[i].Out) || got[i].Failure != want[i].Failure || got[i].Status != want[i].Status {
			t.Errorf("%s: replay %+v, recorded %+v", ops[i], got[i], want[i])
		}
	}
	if got[4].Failure != Absent || got[5].Failure != ReadOnly {
		t.Errorf("not recorded: %+v; write: %+v", got[4], got[5])
	}
}

func FuzzLoadCapture(f *testing.F) {
	f.Add([]byte(`{"schema":1,"host":"a","entries":[{"action":"read","path":"/x","content":"files/x"}]}`), []byte("x"))
	f.Add([]byte(`{"schema":2}`), []byte(""))
	f.Add([]byte(`not json`), []byte(""))
	f.Fuzz(func(t *testing.T, manifest, content []byte) {
		c, err := parseCapture(map[string][]byte{manifestName: manifest, "files/x": content})
		if err != nil {
			return
		}
		r := NewReplay(c)
		r.Do(t.Context(), Read("/x"), List("/*"))
	})
}

// FuzzBatch reads a batch's output in pieces: the answers are those of the
// whole.
func FuzzBatch(f *testing.F) {
	f.Add([]byte("\nm begin\nout\nm 0\nerr\nm end\n\nm 1\nno\nm end\n"), 3)
	f.Add([]byte("\nm end\n\nm 0\n"), 1)
	f.Add([]byte("Welcome\n\nm begin\n\nm end\n\nm x\nm end\n"), 2)
	f.Fuzz(func(t *testing.T, out []byte, size int) {
		whole := &batchReader{mark: "m", ops: []Op{Read("/a"), Read("/b").OrStop(), Read("/c")}}
		whole.Write(out)
		pieces := &batchReader{mark: "m", ops: whole.ops}
		for piece := range slices.Chunk(out, 1+max(size, 0)%64) {
			pieces.Write(piece)
		}
		if diff := cmp.Diff(whole.answers, pieces.answers); diff != "" || whole.done() != pieces.done() || len(whole.answers) > len(whole.ops) {
			t.Fatalf("%d answers, done %v; in pieces done %v: %s", len(whole.answers), whole.done(), pieces.done(), diff)
		}
	})
}

func TestOpenErrors(t *testing.T) {
	for _, name := range []string{"ns:no-such-ns-x", "ns:a/b", "ssh://", "ssh://-oProxyCommand=x", "ssh://a/b/c", "ssh://u@h?become=su", "/no/such/capture"} {
		if c, err := Open(t.Context(), name, SSHOptions{}); err == nil || c != nil {
			c.Close()
			t.Errorf("%s: no error", name)
		}
	}
}

// TestTempDirSweepsWhatTheKilledLeft: what an owner holds stays, whatever its
// process's number is here; what nobody holds goes.
func TestTempDirSweepsWhatTheKilledLeft(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "a [b]%h c"))
	os.Mkdir(os.TempDir(), 0o755)
	in := func(name string) string { return filepath.Join(os.TempDir(), name) }
	left, other, foreign := in("wirerate-x-1"), in("wirerate-y-1"), in("wirerate-x-of-something-else")
	for _, dir := range []string{left, other, foreign} {
		os.MkdirAll(filepath.Join(dir, "in"), 0o755)
	}
	os.Mkdir(in("wirerate-x-begun"), 0o755)
	os.WriteFile(filepath.Join(left, "lock"), nil, 0o600)
	mine, err := makeTempDir("x")
	if err != nil {
		t.Fatal(err)
	}
	again, err := TempDir("x")
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC() // no lock is to go with what is out of use
	sweepTempDirs("wirerate-x-")
	for dir, want := range map[string]bool{left: false, in("wirerate-x-begun"): false, other: true, foreign: true, mine.path: true, again: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s exists: %v, want %v", dir, err == nil, want)
		}
	}
	if err := mine.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mine.path); err == nil {
		t.Error("not removed")
	}
}
