package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/lock"
)

// The tables, word for word as the file holds them: what differs is another
// program's, or damaged.
const (
	trialsTable = `CREATE TABLE trials (
	id TEXT PRIMARY KEY, kind TEXT NOT NULL, workload TEXT NOT NULL, metric TEXT NOT NULL, place TEXT NOT NULL,
	command TEXT NOT NULL, seed TEXT NOT NULL, started TEXT NOT NULL, ended TEXT NOT NULL DEFAULT '',
	state TEXT NOT NULL, verdict TEXT NOT NULL DEFAULT '',
	setup TEXT NOT NULL, environment TEXT NOT NULL, result TEXT NOT NULL DEFAULT 'null'`
	attemptsTable = `CREATE TABLE attempts (
	trial TEXT NOT NULL REFERENCES trials(id) ON DELETE CASCADE, seq INTEGER NOT NULL, arm TEXT NOT NULL, at TEXT NOT NULL,
	lost TEXT NOT NULL, lost_kind TEXT NOT NULL, run TEXT NOT NULL, raw BLOB NOT NULL`
	sumColumn   = `, sum BLOB NOT NULL`
	attemptsEnd = `,
	PRIMARY KEY (trial, seq)) WITHOUT ROWID`
)

// schemaVersion is what user_version says of a history that this program
// writes. The one before had no checksums of the records.
const schemaVersion = 2

// tables are those of a version.
func tables(version int) []string {
	switch version {
	case 1:
		return []string{trialsTable + ")", attemptsTable + attemptsEnd}
	case 2:
		return []string{trialsTable + sumColumn + ")", attemptsTable + sumColumn + attemptsEnd}
	}
	return nil
}

// ErrDamaged is wrapped when what a history holds is not what was written.
var ErrDamaged = errors.New("it is damaged")

// damaged says which records are.
func (s *Store) damaged(what ...string) error {
	return fmt.Errorf("history %s: %w: what is kept of %s is not what was written", s.path, ErrDamaged,
		strings.Join(what, ", "))
}

const advice = "move it away, and save what is whole of it with sqlite3 FILE .recover"

// Open opens the history for writing, which is made when it is not there. Every
// commit is on the disk before it returns.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return openFile(ctx, path, path, "_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate", true)
}

// Read opens the history to be read. One that is not there is empty; one that
// cannot be written is read as it is.
func Read(ctx context.Context, path string) (*Store, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return openFile(ctx, path, ":memory:", "", true)
	}
	s, err := Open(ctx, path)
	if err == nil || !cannotWrite(err) {
		return s, err
	}
	// What was not moved into the file yet lies beside it, and cannot be read
	// without writing there.
	if info, statErr := os.Stat(path + "-wal"); statErr != nil || info.Size() == 0 {
		return openFile(ctx, path, path, "immutable=1", false)
	}
	dir, err := copied(path)
	if err != nil {
		return nil, fmt.Errorf("history %s: %w", path, err)
	}
	s, err = openFile(ctx, path, filepath.Join(dir, "history.db"), "_txlock=immediate", true)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.copied = dir
	return s, nil
}

// copyLimit bounds a history that is copied to be read, in bytes.
const copyLimit = 512 * input.MiB

// copied copies a history and what lies beside it into a folder of ours.
func copied(path string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "wirerate-history-"); err != nil {
		return "", err
	}
	for from, to := range map[string]string{path: "history.db", path + "-wal": "history.db-wal"} {
		data, err := input.File(from, copyLimit)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), data, 0o600)
		}
		if err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}

// cannotWrite tells whether a history could not be opened because it, its
// folder or the disk takes no writes.
func cannotWrite(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return errors.Is(err, fs.ErrPermission)
	}
	return slices.Contains([]int{sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL,
		sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM}, e.Code()&0xff)
}

// openFile opens the file of a history that is called path.
func openFile(ctx context.Context, path, file, options string, write bool) (*Store, error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("history %s: not a file", path)
	}
	name := "file:" + (&url.URL{Path: file}).EscapedPath() +
		"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_pragma=trusted_schema(0)&" + options
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("history %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	db.SetConnMaxLifetime(0)
	s := &Store{db: db, path: path, owns: map[string]*lock.Lock{}}
	if err := s.prepare(ctx, write); err != nil {
		var damage *sqlite.Error
		if errors.As(err, &damage) && slices.Contains([]int{sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB},
			damage.Code()&0xff) {
			err = fmt.Errorf("%w (%w)", ErrDamaged, err)
		}
		if errors.Is(err, ErrDamaged) {
			err = fmt.Errorf("%w; %s", err, advice)
		}
		return nil, fmt.Errorf("history %s: %w", path, errors.Join(err, db.Close()))
	}
	return s, nil
}

// prepare checks that the file is a whole history, and makes it one of this
// version.
func (s *Store) prepare(ctx context.Context, write bool) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	_, err = sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, rowLimit)
	if err = errors.Join(err, conn.Close()); err != nil {
		return err
	}
	// One transaction: another process may be making the tables at this moment.
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&s.version); err != nil {
		return err
	}
	if s.version > schemaVersion {
		return fmt.Errorf("it was written by a newer version (schema %d, this one reads %d)", s.version, schemaVersion)
	}
	if err := s.check(ctx, tx); err != nil {
		return err
	}
	if s.version < schemaVersion && write {
		if err := s.migrate(ctx, tx); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// check compares the tables with what they must be and has SQLite look through
// its pages, which it does not do by itself when it reads some of them. A run
// whose trial's name is damaged belongs to none, and would only be missing.
func (s *Store) check(ctx context.Context, tx *sql.Tx) error {
	found, err := texts(ctx, tx,
		`SELECT coalesce(sql, '') FROM sqlite_master WHERE sql IS NOT NULL OR type <> 'index' ORDER BY rowid LIMIT 3`)
	if err != nil {
		return err
	}
	if !slices.Equal(found, tables(s.version)) {
		return fmt.Errorf("%w, or no history: its tables are not those of schema %d", ErrDamaged, s.version)
	}
	problems, err := texts(ctx, tx, `PRAGMA integrity_check(1)`)
	if err != nil {
		return err
	}
	if !slices.Equal(problems, []string{"ok"}) {
		return fmt.Errorf("%w: %s", ErrDamaged, strings.Join(problems, "; "))
	}
	lost, err := texts(ctx, tx, `SELECT "table" FROM pragma_foreign_key_check LIMIT 1`)
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		return fmt.Errorf("%w: a run belongs to no trial", ErrDamaged)
	}
	return nil
}

func texts(ctx context.Context, tx *sql.Tx, query string) ([]string, error) {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// sums selects the checksum of a record, null where the schema has none.
func (s *Store) sums() string {
	if s.version < schemaVersion {
		return ", NULL"
	}
	return ", sum"
}

// migrate makes the tables, with what those of an older version hold.
func (s *Store) migrate(ctx context.Context, tx *sql.Tx) error {
	old := s.version > 0
	var steps []string
	if old {
		steps = []string{`ALTER TABLE attempts RENAME TO old_attempts`, `ALTER TABLE trials RENAME TO old_trials`}
	}
	steps = append(steps, tables(schemaVersion)...)
	if old {
		steps = append(steps, `INSERT INTO trials SELECT `+trialColumns+`, x'' FROM old_trials`,
			`INSERT INTO attempts SELECT `+attemptColumns+`, x'' FROM old_attempts`,
			`DROP TABLE old_attempts`, `DROP TABLE old_trials`)
	}
	for _, step := range append(steps, fmt.Sprintf(`PRAGMA user_version = %d`, schemaVersion)) {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return err
		}
	}
	if err := seal(ctx, tx); err != nil {
		return err
	}
	s.version = schemaVersion
	return nil
}

// seal gives every record its checksum.
func seal(ctx context.Context, tx *sql.Tx) error {
	var t trialRow
	for {
		err := tx.QueryRowContext(ctx, `SELECT `+trialColumns+` FROM trials WHERE id > ? ORDER BY id LIMIT 1`,
			t.ID).Scan(t.into()...)
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, `UPDATE trials SET sum=? WHERE id=?`, t.sum(), t.ID)
		}
		if err != nil {
			return err
		}
	}
	a := attemptRow{Seq: -1}
	for {
		err := tx.QueryRowContext(
			ctx, `SELECT `+attemptColumns+` FROM attempts WHERE (trial, seq) > (?, ?) ORDER BY trial, seq LIMIT 1`,
			a.Trial, a.Seq).Scan(a.into()...)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, `UPDATE attempts SET sum=? WHERE trial=? AND seq=?`, a.sum(), a.Trial, a.Seq)
		}
		if err != nil {
			return err
		}
	}
}
