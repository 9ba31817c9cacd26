// Package store keeps the history of trials in SQLite: every run as it
// finishes, with what the tool printed, the environment and the result, so that
// a killed trial loses no finished run and goes on where it stopped.
package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
	_ "modernc.org/sqlite" // the database/sql driver

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

// errUnknown is wrapped when no trial has an ID, or several begin with it.
var errUnknown = errors.New("no such trial in the history")

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
	db   *sql.DB
	path string
	owns map[string]*lock.Lock // of the trials that run here, by ID
}

const schema = `
CREATE TABLE IF NOT EXISTS trials (
	id TEXT PRIMARY KEY, kind TEXT NOT NULL, workload TEXT NOT NULL, metric TEXT NOT NULL, place TEXT NOT NULL,
	command TEXT NOT NULL, seed TEXT NOT NULL, started TEXT NOT NULL, ended TEXT NOT NULL DEFAULT '',
	state TEXT NOT NULL, verdict TEXT NOT NULL DEFAULT '',
	setup TEXT NOT NULL, environment TEXT NOT NULL, result TEXT NOT NULL DEFAULT 'null');
CREATE TABLE IF NOT EXISTS attempts (
	trial TEXT NOT NULL REFERENCES trials(id) ON DELETE CASCADE, seq INTEGER NOT NULL, arm TEXT NOT NULL, at TEXT NOT NULL,
	lost TEXT NOT NULL, lost_kind TEXT NOT NULL, run TEXT NOT NULL, raw BLOB NOT NULL,
	PRIMARY KEY (trial, seq)) WITHOUT ROWID;
PRAGMA user_version = 1;`

// schemaVersion is what user_version says of a history that this program reads.
const schemaVersion = 1

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

// Open opens the history, which is made when it is not there. Every commit is
// on the disk before it returns.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	name := "file:" + (&url.URL{Path: path}).EscapedPath() +
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)"
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("history %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	s := &Store{db, path, map[string]*lock.Lock{}}
	if err := s.prepare(ctx); err != nil {
		return nil, fmt.Errorf("history %s: %w", path, errors.Join(err, db.Close()))
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context) error {
	var version int
	if err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > schemaVersion {
		return fmt.Errorf("it was written by a newer version (schema %d, this one reads %d)", version, schemaVersion)
	}
	if version == schemaVersion {
		return nil
	}
	_, err := s.db.ExecContext(ctx, schema)
	return err
}

// Close closes the history; trials that it began and did not finish count as
// killed from then on.
func (s *Store) Close() error {
	s.disown(slices.Collect(maps.Keys(s.owns))...)
	return s.db.Close()
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
	_, err := s.db.ExecContext(ctx, `INSERT INTO trials (id, kind, workload, metric, place, command, seed, started, state, setup, environment) VALUES (?,?,?,?,?,?,?,?,?,?,?)`,
		t.ID, t.Kind, t.Workload, t.Metric, t.Where, t.Command, fmt.Sprint(t.Seed), t.Started.UTC().Format(timeFormat), Running, text(t.Setup), text(t.Environment))
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
	_, err := s.db.ExecContext(ctx, `UPDATE trials SET state=?, ended='' WHERE id=?`, Running, id)
	return s.wrap(err)
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
	_, err = s.db.ExecContext(ctx, `INSERT INTO attempts (trial, seq, arm, at, lost, lost_kind, run, raw) VALUES (?,?,?,?,?,?,?,?)`,
		id, a.Seq, a.Arm, a.At.UTC().Format(timeFormat), a.Lost, a.Kind, string(run), packer.EncodeAll([]byte(a.Raw), []byte{}))
	return s.wrap(err)
}

// Finish records how a trial ended and its result.
func (s *Store) Finish(ctx context.Context, id, state, verdict string, result any) error {
	data, err := json.Marshal(result)
	if err != nil {
		return s.wrap(err)
	}
	_, err = s.db.ExecContext(ctx, `UPDATE trials SET state=?, verdict=?, result=?, ended=? WHERE id=?`,
		state, verdict, string(data), time.Now().UTC().Format(timeFormat), id)
	s.disown(id)
	return s.wrap(err)
}

func (s *Store) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("history %s: %w", s.path, err)
	}
	return nil
}

const columns = `SELECT id, kind, workload, metric, place, command, seed, started, ended, state, verdict, setup, environment, result,
	(SELECT count(*) FROM attempts WHERE trial = id AND lost = '') FROM trials `

// Trials lists the trials, newest first, n of them or all when n is 0.
func (s *Store) Trials(ctx context.Context, n int) ([]Trial, error) {
	if n <= 0 {
		n = -1
	}
	return s.trials(ctx, columns+`ORDER BY started DESC, id DESC LIMIT ?`, n)
}

func (s *Store) trials(ctx context.Context, query string, args ...any) ([]Trial, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.wrap(err)
	}
	defer rows.Close()
	all := []Trial{}
	for rows.Next() {
		var t Trial
		var seed, started, ended, setup, environment, result string
		if err := rows.Scan(&t.ID, &t.Kind, &t.Workload, &t.Metric, &t.Where, &t.Command, &seed, &started, &ended, &t.State, &t.Verdict,
			&setup, &environment, &result, &t.Runs); err != nil {
			return nil, s.wrap(err)
		}
		t.Setup, t.Environment, t.Result = json.RawMessage(setup), json.RawMessage(environment), json.RawMessage(result)
		if _, err := fmt.Sscan(seed, &t.Seed); err != nil {
			return nil, s.wrap(fmt.Errorf("trial %s: seed %q: %w", t.ID, seed, err))
		}
		if t.Started, err = time.Parse(timeFormat, started); err != nil {
			return nil, s.wrap(err)
		}
		if ended != "" {
			if t.Ended, err = time.Parse(timeFormat, ended); err != nil {
				return nil, s.wrap(err)
			}
		}
		all = append(all, t)
	}
	s.markKilled(all)
	return all, s.wrap(rows.Err())
}

// Trial finds a trial by its ID or a beginning of it that no other has; "last"
// is the newest.
func (s *Store) Trial(ctx context.Context, id string) (Trial, error) {
	query, arg := columns+`WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 2`, id
	if id == "last" {
		query, arg = columns+`WHERE ? = 'last' ORDER BY started DESC, id DESC LIMIT 1`, id
	}
	found, err := s.trials(ctx, query, arg)
	switch {
	case err != nil:
		return Trial{}, err
	case len(found) == 0 || id == "":
		return Trial{}, fmt.Errorf("%w: %q; wirerate history lists them", errUnknown, id)
	case len(found) > 1 && found[0].ID != id:
		return Trial{}, fmt.Errorf("%w: several begin with %q, %s and %s among them", errUnknown, id, found[0].ID, found[1].ID)
	}
	return found[0], nil
}

// Attempts returns a trial's attempts in order.
func (s *Store) Attempts(ctx context.Context, id string) ([]Attempt, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT seq, arm, at, lost, lost_kind, run, raw FROM attempts WHERE trial = ? ORDER BY seq`, id)
	if err != nil {
		return nil, s.wrap(err)
	}
	defer rows.Close()
	unpacker, err := zstd.NewReader(nil)
	if err != nil {
		return nil, s.wrap(err)
	}
	defer unpacker.Close()
	all := []Attempt{}
	for rows.Next() {
		var a Attempt
		var at, run string
		var raw []byte
		if err := rows.Scan(&a.Seq, &a.Arm, &at, &a.Lost, &a.Kind, &run, &raw); err != nil {
			return nil, s.wrap(err)
		}
		if err := json.Unmarshal([]byte(run), &a.Run); err != nil {
			return nil, s.wrap(fmt.Errorf("run %d of %s: %w", a.Seq, id, err))
		}
		if a.At, err = time.Parse(timeFormat, at); err != nil {
			return nil, s.wrap(err)
		}
		if data, err := unpacker.DecodeAll(raw, nil); err == nil {
			a.Raw = string(data)
		}
		a.Run.Raw = a.Raw
		all = append(all, a)
	}
	return all, s.wrap(rows.Err())
}
