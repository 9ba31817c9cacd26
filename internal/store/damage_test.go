package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// filled is the file of a history with some trials.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		id := fmt.Sprintf("2026010%d-a", i)
		err := s.Begin(t.Context(), Trial{ID: id, Kind: "trial", Workload: "bulk", Metric: "goodput", Where: "lab rate=1gbit", Command: "wirerate trial",
			Seed: uint64(i), Started: time.Unix(1e9+int64(i), 0), Setup: []byte(`{"x":1}`), Environment: []byte(`{"e":"` + strings.Repeat("y", 700*i) + `"}`)})
		for n := range 5 * i {
			a := attempt(n)
			a.Raw = fmt.Sprint(rand.Perm(300))
			err = errors.Join(err, s.Record(t.Context(), id, a))
		}
		if err = errors.Join(err, s.Finish(t.Context(), id, Done, "helps", map[string]any{"schema": 1, "n": strings.Repeat("z", 3000)})); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// shown is all that a history holds.
func shown(ctx context.Context, path string) (string, error) {
	s, err := Read(ctx, path)
	if err != nil {
		return "", err
	}
	defer s.Close()
	trials, err := s.Trials(ctx, 0)
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, t := range trials {
		attempts, err := s.Attempts(ctx, t.ID)
		if err != nil {
			return "", err
		}
		data, err := json.Marshal([]any{t, attempts})
		if err != nil {
			return "", err
		}
		all.Write(data)
	}
	return all.String(), nil
}

// A byte that is not the one that was written is an error, or changes nothing
// that is shown.
func TestDamage(t *testing.T) {
	path := filled(t)
	want, err := shown(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	harmless := 0
	random := rand.New(rand.NewPCG(1, 2))
	broken := filepath.Join(t.TempDir(), "history.db")
	for i := range 300 {
		data := append([]byte{}, whole...)
		at := random.IntN(len(data))
		if i < 100 {
			at = i // the file's header
		}
		data[at] ^= byte(1 + random.IntN(255))
		for _, beside := range []string{"", "-wal", "-shm"} {
			os.Remove(broken + beside)
		}
		if err := os.WriteFile(broken, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := shown(t.Context(), broken)
		if err == nil {
			harmless++
		}
		if err == nil && got != want {
			t.Errorf("byte %d: nothing is said, and something else is shown", at)
		}
	}
	t.Logf("%d of 300 changes were of bytes that hold nothing, and changed nothing", harmless)
	if harmless > 250 {
		t.Error("next to nothing was noticed")
	}
}

// What SQLite cannot see is seen by the checksums: the rest is still listed.
func TestDamagedRecord(t *testing.T) {
	path := filled(t)
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, change := range []string{`UPDATE trials SET verdict='hurts' WHERE id='20260102-a'`, `UPDATE attempts SET run=replace(run, '"', '"') || ' ' WHERE trial='20260103-a' AND seq=2`} {
		if _, err := s.db.Exec(change); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Trials(t.Context(), 0)
	if len(all) != 5 || !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "20260102-a") {
		t.Errorf("%d trials, %v", len(all), err)
	}
	if _, err := s.Trial(t.Context(), "20260102"); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if err := s.Resume(t.Context(), "20260102-a"); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v: what is damaged is not sealed again", err)
	}
	if err := s.Check(t.Context()); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "run 2 of 20260103-a") {
		t.Error(err)
	}
	if _, err := s.Attempts(t.Context(), "20260103-a"); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "run 2 of 20260103-a") {
		t.Error(err)
	}
}

// A run whose trial's name was changed is missed by no checksum, since nobody
// asks for it.
func TestLostRun(t *testing.T) {
	path := filled(t)
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec(`PRAGMA foreign_keys = 0; UPDATE attempts SET trial = '20260103-b' WHERE trial = '20260103-a' AND seq = 14`); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := shown(t.Context(), path); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

// A history without checksums is read, and gets them when it can be written.
func TestOlderSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s, err := openFile(t.Context(), path, path, "_pragma=journal_mode(WAL)", false)
	if err != nil {
		t.Fatal(err)
	}
	steps := append(tables(1), `INSERT INTO trials (id, kind, workload, metric, place, command, seed, started, state, setup, environment)
		VALUES ('a', 'trial', 'bulk', 'goodput', 'lab', 'c', '7', '2026-01-01T00:00:00Z', 'running', 'null', 'null')`,
		`INSERT INTO attempts VALUES ('a', 0, 'default', '2026-01-01T00:00:00Z', '', '', '{}', x'')`, `INSERT INTO attempts VALUES ('a', 1, 'x', '2026-01-01T00:00:00Z', '', '', '{}', x'')`,
		`PRAGMA user_version = 1`)
	for _, step := range steps {
		if _, err := s.db.Exec(step); err != nil {
			t.Fatal(step, err)
		}
	}
	s.version = 1
	before, err := s.Attempts(t.Context(), "a")
	if err != nil || len(before) != 2 {
		t.Fatal(before, err)
	}
	s.Close()
	for range 2 {
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		one, err := s.Trial(t.Context(), "a")
		attempts, err2 := s.Attempts(t.Context(), "a")
		if err != nil || err2 != nil || one.Seed != 7 || len(attempts) != 2 || s.version != 2 {
			t.Errorf("%+v %v %v %v", one, attempts, err, err2)
		}
		s.Close()
	}
}

// A file that only looks like a history is none: views and triggers would be
// run by whoever reads it.
func TestForeignTables(t *testing.T) {
	path := filled(t)
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec(`CREATE TRIGGER x AFTER UPDATE ON trials BEGIN DELETE FROM attempts; END`); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, open := range []func(context.Context, string) (*Store, error){Open, Read} {
		if _, err := open(t.Context(), path); !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
	}
}

func TestReadNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "none", "history.db")
	if got, err := shown(t.Context(), path); err != nil || got != "" {
		t.Errorf("%q %v", got, err)
	}
	if made, _ := os.ReadDir(dir); len(made) != 0 {
		t.Errorf("reading made %v", made)
	}
	for _, path := range []string{dir, "/dev/zero"} {
		if _, err := shown(t.Context(), path); err == nil || !strings.Contains(err.Error(), "not a file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// What cannot be written is read as it is, with what a killed writer left
// beside it.
func TestReadOnly(t *testing.T) {
	path := filled(t)
	want, err := shown(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openFile(t.Context(), path, path, "immutable=1", false)
	if err != nil {
		t.Fatal(err)
	}
	if trials, err := s.Trials(t.Context(), 0); err != nil || len(trials) != 6 {
		t.Errorf("%d trials, %v", len(trials), err)
	}
	s.Close()
	if os.Geteuid() == 0 {
		t.Log("SKIPPED part: root may write everything; the command line's tests read through a read-only mount")
		return
	}
	if err := errors.Join(os.Chmod(path, 0o400), os.Chmod(filepath.Dir(path), 0o500)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(path), 0o700)
	if got, err := shown(t.Context(), path); err != nil || got != want {
		t.Errorf("%d of %d bytes are shown, %v", len(got), len(want), err)
	}
}
