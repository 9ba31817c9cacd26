// Package store keeps the history of trials in SQLite: every run as it
// finishes, with what the tool printed, the environment and the result, so that
// a killed trial loses no finished run and goes on where it stopped.
package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/wirerate/wirerate/internal/lock"
	"github.com/wirerate/wirerate/internal/workload"
)

// States of a trial.
const (
	Running = "running"
	Killed  = "killed" // while it ran: it can be resumed
	Done    = "done"
	Stopped = "stopped" // by an error or the user: it can be resumed
)

// ErrUnknown is wrapped when no trial has an ID, or several begin with it.
var ErrUnknown = errors.New("no such trial in the history")

// Trial is one experiment.
type Trial struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"` // trial, attribution, tune or measure
	Workload string    `json:"workload"`
	Metric   string    `json:"metric"`
	Where    string    `json:"where"` // hosts or link
	Command  string    `json:"command"`
	Seed     uint64    `json:"seed"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended,omitzero"`
	State    string    `json:"state"`
	Verdict  string    `json:"verdict,omitempty"`
	Runs     int       `json:"runs"`
	// Setup is what a resumed trial needs, Environment the hosts as they
	// were, Result the finished JSON; null when there is none.
	Setup       json.RawMessage `json:"setup"`
	Environment json.RawMessage `json:"environment"`
	Result      json.RawMessage `json:"result"`
}

// Attempt is one run, or one that was lost.
type Attempt struct {
	Seq  int          `json:"seq"` // from 0, in the order of time
	Arm  string       `json:"arm"` // its name, or the settings that were on
	At   time.Time    `json:"at"`
	Lost string       `json:"lost,omitempty"` // why there is no value
	Kind string       `json:"lost_kind,omitempty"`
	Run  workload.Run `json:"run"`
	Raw  string       `json:"-"`
}

// Store is an open history.
type Store struct {
	db      *sql.DB
	path    string
	version int                   // of the schema
	copied  string                // a folder of ours with a copy that is read instead, "" for none
	owns    map[string]*lock.Lock // of the trials that run here, by ID
}

// DefaultPath is where the history lies unless told: below $XDG_STATE_HOME, or
// ~/.local/state (XDG Base Directory Specification).
func DefaultPath() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("history: %w; name a file with --history", err)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "wirerate", "history.db"), nil
}

// Close closes the history; trials that it began and did not finish count as
// killed from then on.
func (s *Store) Close() error {
	s.disown(slices.Collect(maps.Keys(s.owns))...)
	err := s.db.Close()
	if s.copied != "" {
		err = errors.Join(err, os.RemoveAll(s.copied))
	}
	return err
}

// NewID makes an ID that sorts by time.
func NewID(now time.Time) string {
	b := make([]byte, 2)
	_, _ = rand.Read(b) // never fails, says its documentation
	return now.UTC().Format("20060102-150405-") + hex.EncodeToString(b)
}

const timeFormat = time.RFC3339Nano

// Begin records a trial before its first run.
func (s *Store) Begin(ctx context.Context, t Trial) error {
	if err := s.own(t.ID); err != nil {
		return err
	}
	row := trialRow{ID: t.ID, Kind: t.Kind, Workload: t.Workload, Metric: t.Metric, Place: t.Where, Command: t.Command,
		Seed: fmt.Sprint(t.Seed), Started: t.Started.UTC().Format(timeFormat), State: Running, Setup: text(t.Setup),
		Environment: text(t.Environment), Result: "null"}
	_, err := s.db.ExecContext(ctx, `INSERT INTO trials (`+trialColumns+`, sum) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		append(values(row.fields()), row.sum())...)
	return s.wrap(err)
}

func text(j json.RawMessage) string {
	if len(j) == 0 {
		return "null"
	}
	return string(j)
}

// Resume marks a trial as running again; ErrRunning is wrapped where it still
// runs.
func (s *Store) Resume(ctx context.Context, id string) error {
	if err := s.own(id); err != nil {
		return err
	}
	return s.change(ctx, id, func(r *trialRow) { r.State, r.Ended = Running, "" })
}

// change writes a trial's record anew, unless it is damaged.
func (s *Store) change(ctx context.Context, id string, change func(*trialRow)) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(err)
	}
	defer tx.Rollback() // does nothing after Commit
	var row trialRow
	var sum []byte
	if err := tx.QueryRowContext(ctx, `SELECT `+trialColumns+`, sum FROM trials WHERE id=?`,
		id).Scan(append(row.into(), &sum)...); err != nil {
		return s.wrap(fmt.Errorf("trial %s: %w", id, err))
	}
	if !bytes.Equal(sum, row.sum()) {
		return s.damaged(id)
	}
	change(&row)
	if _, err := tx.ExecContext(ctx, `UPDATE trials SET state=?, verdict=?, result=?, ended=?, sum=? WHERE id=?`,
		row.State, row.Verdict, row.Result, row.Ended, row.sum(), id); err != nil {
		return s.wrap(err)
	}
	return s.wrap(tx.Commit())
}

// Record keeps one attempt; when it returns the attempt survives a kill.
func (s *Store) Record(ctx context.Context, id string, a Attempt) error {
	run, err := json.Marshal(a.Run)
	if err != nil {
		return s.wrap(err)
	}
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		return s.wrap(err)
	}
	defer packer.Close()
	row := attemptRow{Trial: id, Seq: a.Seq, Arm: a.Arm, At: a.At.UTC().Format(timeFormat), Lost: a.Lost, Kind: a.Kind,
		Run: string(run),
		Raw: packer.EncodeAll([]byte(a.Raw), []byte{})}
	_, err = s.db.ExecContext(ctx, `INSERT INTO attempts (`+attemptColumns+`, sum) VALUES (?,?,?,?,?,?,?,?,?)`,
		row.Trial, row.Seq, row.Arm, row.At, row.Lost, row.Kind, row.Run, row.Raw, row.sum())
	return s.wrap(err)
}

// Finish records how a trial ended and its result.
func (s *Store) Finish(ctx context.Context, id, state, verdict string, result any) error {
	data, err := json.Marshal(result)
	if err != nil {
		return s.wrap(err)
	}
	defer s.disown(id)
	return s.change(ctx, id, func(r *trialRow) {
		r.State, r.Verdict, r.Result, r.Ended = state, verdict, string(data), time.Now().UTC().Format(timeFormat)
	})
}

func (s *Store) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("history %s: %w", s.path, err)
	}
	return nil
}

// Trials lists the trials, newest first, n of them or all when n is 0. Those
// whose records are damaged are left out and named in an ErrDamaged.
func (s *Store) Trials(ctx context.Context, n int) ([]Trial, error) {
	if n <= 0 {
		n = -1
	}
	return s.trials(ctx, `ORDER BY started DESC, id DESC LIMIT ?`, n)
}

func (s *Store) trials(ctx context.Context, which string, args ...any) ([]Trial, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+trialColumns+s.sums()+`,
		(SELECT count(*) FROM attempts WHERE trial = id AND lost = '') FROM trials `+which, args...)
	if err != nil {
		return nil, s.wrap(err)
	}
	defer rows.Close()
	all, damaged, held := []Trial{}, []string{}, 0
	for rows.Next() {
		var row trialRow
		var sum []byte
		var runs int
		if err := rows.Scan(append(row.into(), &sum, &runs)...); err != nil {
			return nil, s.wrap(err)
		}
		t, err := row.trial(runs)
		if sum != nil && !bytes.Equal(sum, row.sum()) || err != nil {
			damaged = append(damaged, row.ID)
			continue
		}
		if held += len(t.Setup) + len(t.Environment) + len(t.Result); held > holdLimit {
			return nil, s.wrap(fmt.Errorf("more than %d MiB of trials; name fewer of them", holdLimit>>20))
		}
		all = append(all, t)
	}
	s.markKilled(all)
	if err := rows.Err(); err != nil || len(damaged) == 0 {
		return all, s.wrap(err)
	}
	return all, s.damaged(damaged...)
}

// Trial finds a trial by its ID or a beginning of it that no other has; "last"
// is the newest.
func (s *Store) Trial(ctx context.Context, id string) (Trial, error) {
	query, arg := `WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 2`, id
	if id == "last" {
		query, arg = `WHERE ? = 'last' ORDER BY started DESC, id DESC LIMIT 1`, id
	}
	found, err := s.trials(ctx, query, arg)
	switch {
	case err != nil:
		return Trial{}, err
	case len(found) == 0 || id == "":
		return Trial{}, fmt.Errorf("%w: %q; wirerate history lists them", ErrUnknown, id)
	case len(found) > 1 && found[0].ID != id:
		return Trial{}, fmt.Errorf("%w: several begin with %q, %s and %s among them", ErrUnknown, id, found[0].ID,
			found[1].ID)
	}
	return found[0], nil
}

// Attempts returns a trial's attempts in order.
func (s *Store) Attempts(ctx context.Context, id string) ([]Attempt, error) {
	rows, err := s.db.QueryContext(
		ctx, `SELECT `+attemptColumns+s.sums()+` FROM attempts WHERE trial = ? ORDER BY seq`, id)
	if err != nil {
		return nil, s.wrap(err)
	}
	defer rows.Close()
	unpacker, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(rowLimit))
	if err != nil {
		return nil, s.wrap(err)
	}
	defer unpacker.Close()
	all, held := []Attempt{}, 0
	for rows.Next() {
		var row attemptRow
		var sum []byte
		if err := rows.Scan(append(row.into(), &sum)...); err != nil {
			return nil, s.wrap(err)
		}
		a, err := row.attempt(unpacker)
		if sum != nil && !bytes.Equal(sum, row.sum()) || err != nil {
			return nil, s.damaged(fmt.Sprintf("run %d of %s", row.Seq, id))
		}
		if held += len(row.Run) + len(a.Raw); held > holdLimit {
			return nil, s.wrap(fmt.Errorf("trial %s: more than %d MiB of runs", id, holdLimit>>20))
		}
		all = append(all, a)
	}
	return all, s.wrap(rows.Err())
}

// Check looks at every run, and names those that are damaged in an ErrDamaged.
func (s *Store) Check(ctx context.Context) error {
	rows, err := s.db.QueryContext(ctx, `SELECT `+attemptColumns+s.sums()+` FROM attempts ORDER BY trial, seq`)
	if err != nil {
		return s.wrap(err)
	}
	defer rows.Close()
	var damaged []string
	for rows.Next() {
		var row attemptRow
		var sum []byte
		if err := rows.Scan(append(row.into(), &sum)...); err != nil {
			return s.wrap(err)
		}
		if sum != nil && !bytes.Equal(sum, row.sum()) {
			damaged = append(damaged, fmt.Sprintf("run %d of %s", row.Seq, row.Trial))
		}
	}
	if err := rows.Err(); err != nil || len(damaged) == 0 {
		return s.wrap(err)
	}
	return s.damaged(damaged[:min(len(damaged), 5)]...)
}
