// Package record keeps what watch saw: each state for a day, each minute for a
// month, each hour for a year, in one SQLite file of bounded size.
package record

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/wirerate/wirerate/internal/lock"
	"github.com/wirerate/wirerate/internal/watch"
)

// tier is one resolution that is kept for a time.
type tier struct {
	step, keep time.Duration
}

// tiers are those above the states themselves.
func tiers() []tier {
	return []tier{{time.Minute, 31 * 24 * time.Hour}, {time.Hour, 366 * 24 * time.Hour}}
}

const (
	keepStates = 24 * time.Hour
	sizeLimit  = 1 << 30 // bytes of the file
	stateLimit = 4 << 20 // bytes of one state
	table      = `CREATE TABLE IF NOT EXISTS states (tier INTEGER NOT NULL, at INTEGER NOT NULL, host TEXT NOT NULL,
	data BLOB NOT NULL, PRIMARY KEY (tier, at, host)) WITHOUT ROWID`
)

// Errors that are wrapped.
var (
	ErrBusy  = errors.New("another wirerate records there")
	ErrEmpty = errors.New("nothing is recorded there")
)

// Recording is the recording in a folder.
type Recording struct {
	db    *sql.DB
	dir   string
	owner *lock.Lock // nil where it is only read
	limit int64
	next  time.Time // when the tiers are due
	enc   *zstd.Encoder
	dec   *zstd.Decoder
}

// Create opens the recording in a folder to add to it, and makes both where there
// are none. One folder has one recorder.
func Create(dir string) (*Recording, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	owner, err := lock.Hold(filepath.Join(dir, "lock"))
	if errors.Is(err, lock.ErrHeld) {
		return nil, fmt.Errorf("recording %s: %w", dir, ErrBusy)
	}
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", dir, err)
	}
	r, err := open(dir, "_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err == nil {
		_, err = r.db.Exec(table)
	}
	if err != nil {
		if r != nil {
			r.db.Close()
		}
		return nil, failed(dir, errors.Join(err, owner.Release()))
	}
	r.owner = owner
	return r, nil
}

// Open opens a recording to read it, also while somebody adds to it.
func Open(dir string) (*Recording, error) {
	if _, err := os.Stat(filepath.Join(dir, "watch.db")); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, ErrEmpty)
	}
	r, err := open(dir, "_pragma=query_only(1)")
	if err != nil {
		return nil, failed(dir, err)
	}
	return r, nil
}

// failed tells what became of a recording, and of a damaged file what to do.
func failed(dir string, err error) error {
	var told *sqlite.Error
	if errors.As(err, &told) && (told.Code()&0xff == sqlite3.SQLITE_CORRUPT || told.Code() == sqlite3.SQLITE_NOTADB) {
		return fmt.Errorf("recording %s: %w: move watch.db away to begin a new one; sqlite3 watch.db .recover prints what "+
			"is left of it", dir, err)
	}
	return fmt.Errorf("recording %s: %w", dir, err)
}

func open(dir, options string) (*Recording, error) {
	file := &url.URL{Path: filepath.Join(dir, "watch.db")}
	db, err := sql.Open("sqlite",
		"file:"+file.EscapedPath()+"?_pragma=busy_timeout(10000)&_pragma=trusted_schema(0)&"+options)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(stateLimit), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Recording{db: db, dir: dir, limit: sizeLimit, enc: enc, dec: dec}, nil
}

// Close ends it.
func (r *Recording) Close() error {
	r.dec.Close()
	err := r.db.Close()
	if r.owner != nil {
		err = errors.Join(err, r.owner.Release())
	}
	return err
}

// Add keeps a state, sums up the minutes and hours that are over, and removes what
// is old. What could not be kept, as on a full disk, is an error; the next state
// may be again.
func (r *Recording) Add(s watch.State) error {
	if err := r.put(0, s.Time, s); err != nil {
		return failed(r.dir, err)
	}
	if s.Time.Before(r.next) && r.next.Sub(s.Time) < 2*time.Minute { // else the clock jumped
		return nil
	}
	r.next = s.Time.Truncate(time.Minute).Add(time.Minute)
	if err := errors.Join(r.sumUp(s.Time), r.expire(s.Time)); err != nil {
		return failed(r.dir, err)
	}
	return nil
}

func (r *Recording) put(step time.Duration, at time.Time, s watch.State) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = r.db.Exec("INSERT OR REPLACE INTO states VALUES (?, ?, ?, ?)", int64(step.Seconds()), at.UnixMilli(), s.Host,
		r.enc.EncodeAll(data, nil))
	return err
}

// sumUp makes minutes and hours of the states of those that are over. It goes on
// where it stopped, whatever ended it.
func (r *Recording) sumUp(now time.Time) error {
	for _, t := range tiers() {
		step := t.step.Milliseconds()
		over := now.Truncate(t.step).UnixMilli()
		for {
			var first sql.NullInt64
			err := r.db.QueryRow(`SELECT min(at) FROM states WHERE tier = 0 AND at < ? AND at >=
				(SELECT ifnull(max(at), -?) + ? FROM states WHERE tier = ?)`, over, step, step, int64(t.step.Seconds())).Scan(&first)
			if err != nil || !first.Valid {
				if err != nil {
					return err
				}
				break
			}
			begin := first.Int64 - first.Int64%step
			sums := map[string]*sum{}
			err = r.each(context.Background(), "tier = 0 AND at >= ? AND at < ?",
				[]any{begin, begin + step}, func(s watch.State) error {
					if sums[s.Host] == nil {
						sums[s.Host] = newSum()
					}
					sums[s.Host].add(s)
					return nil
				})
			for _, sum := range sums {
				err = errors.Join(err, r.put(t.step, time.UnixMilli(begin), sum.state(time.UnixMilli(begin).UTC(), t.step)))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// expire removes what is older than is kept; of a file that is too large, the
// oldest states.
func (r *Recording) expire(now time.Time) error {
	remove := func(tier, before int64) error {
		_, err := r.db.Exec("DELETE FROM states WHERE tier = ? AND at < ?", tier, before)
		return err
	}
	err := remove(0, now.Add(-keepStates).UnixMilli())
	for _, t := range tiers() {
		err = errors.Join(err, remove(int64(t.step.Seconds()), now.Add(-t.keep).UnixMilli()))
	}
	var pages, free, size int64
	err = errors.Join(err, r.db.QueryRow("PRAGMA page_count").Scan(&pages),
		r.db.QueryRow("PRAGMA freelist_count").Scan(&free),
		r.db.QueryRow("PRAGMA page_size").Scan(&size))
	if err != nil || (pages-free)*size < r.limit {
		return err
	}
	for _, t := range []int64{0, int64(time.Minute.Seconds())} {
		done, err := r.db.Exec(`DELETE FROM states WHERE tier = ? AND at < (SELECT at FROM states WHERE tier = ?
			ORDER BY at LIMIT 1 OFFSET (SELECT count(*) / 8 + 1 FROM states WHERE tier = ?))`, t, t, t)
		if err != nil {
			return err
		}
		if n, _ := done.RowsAffected(); n > 0 {
			return nil
		}
	}
	return nil
}

// finest are the states, minutes and hours of which there is nothing finer.
const finest = `at >= ? AND (tier = 0 OR
	tier = 60 AND at + 60000 <= (SELECT ifnull(min(at), 1 << 62) FROM states WHERE tier = 0) OR
	tier = 3600 AND at + 3600000 <= (SELECT ifnull(min(at), 1 << 62) FROM states WHERE tier IN (0, 60)))`

// Each tells what is recorded from a time on, in order, in the finest steps that
// are kept of each time. What cannot be read is an error.
func (r *Recording) Each(ctx context.Context, from time.Time, tell func(watch.State) error) error {
	at := int64(0)
	if !from.IsZero() {
		at = from.UnixMilli()
	}
	if err := r.each(ctx, finest, []any{at}, tell); err != nil {
		return failed(r.dir, err)
	}
	return nil
}

// Span is the time of the first and the last state.
func (r *Recording) Span(ctx context.Context) (from, to time.Time, err error) {
	var first, last sql.NullInt64
	if err := r.db.QueryRowContext(ctx, "SELECT min(at), max(at) FROM states WHERE "+finest, 0).Scan(&first,
		&last); err != nil {
		return from, to, failed(r.dir, err)
	}
	if !first.Valid {
		return from, to, fmt.Errorf("%s: %w", r.dir, ErrEmpty)
	}
	return time.UnixMilli(first.Int64), time.UnixMilli(last.Int64), nil
}

// each reads in pieces, so that a reader which waits keeps no recorder waiting.
func (r *Recording) each(ctx context.Context, where string, args []any, tell func(watch.State) error) error {
	const piece = 256
	for last, host := int64(-1), ""; ; {
		list, err := r.piece(ctx, "("+where+") AND (at, host) > (?, ?) ORDER BY at, host LIMIT ?",
			append(append([]any{}, args...), last, host, piece))
		if err != nil {
			return err
		}
		for _, row := range list {
			if err := ctx.Err(); err != nil {
				return err
			}
			s, err := r.decode(row.data)
			if err != nil {
				return fmt.Errorf("what was kept at %s: %w", time.UnixMilli(row.at).Format(time.DateTime), err)
			}
			if err := tell(s); err != nil {
				return err
			}
			last, host = row.at, row.host
		}
		if len(list) < piece {
			return nil
		}
	}
}

type row struct {
	at   int64
	host string
	data []byte
}

func (r *Recording) piece(ctx context.Context, where string, args []any) (list []row, err error) {
	rows, err := r.db.QueryContext(ctx, "SELECT at, host, data FROM states WHERE "+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var one row
		if err := rows.Scan(&one.at, &one.host, &one.data); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, rows.Err()
}

// decode reads a state; its frame has a checksum.
func (r *Recording) decode(data []byte) (s watch.State, err error) {
	text, err := r.dec.DecodeAll(data, nil)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, err
}
