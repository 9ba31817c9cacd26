package weblog

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/wirerate/wirerate/internal/parquet"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// Parquet writes requests to a Parquet file, one a row, in no particular order:
// for questions that wirerate does not answer, to DuckDB and the like.
type Parquet struct {
	file  *os.File
	fresh bool // there was no file of this name
	w     *parquet.Writer
	err   error

	time, moment, duration, upstream, status, size parquet.Column
	method, path, protocol, client, cache          parquet.Column
}

// CreateParquet opens the file; Close completes it, Drop takes it back. What it held
// stays until the first row is written.
func CreateParquet(name string) (*Parquet, error) {
	_, err := os.Lstat(name)
	text := func(name string) parquet.Column { return parquet.Column{Name: name, Type: parquet.Text} }
	p := &Parquet{fresh: errors.Is(err, fs.ErrNotExist),
		time: parquet.Column{Name: "time_unix_s", Type: parquet.Int64, Optional: true},
		// A time in UTC without a zone, which DuckDB needs no other module for.
		moment:   parquet.Column{Name: "time", Type: parquet.Int64, Optional: true, Moment: true},
		duration: parquet.Column{Name: "duration_s", Type: parquet.Double},
		upstream: parquet.Column{Name: "upstream_s", Type: parquet.Double, Optional: true},
		status:   parquet.Column{Name: "status", Type: parquet.Int32}, // 0: not known or no answer
		size:     parquet.Column{Name: "bytes", Type: parquet.Int64, Optional: true},
		method:   text("method"), path: text("path"), // with its query, escaped as in the log
		protocol: text("protocol"), client: text("client"), cache: text("cache")}
	if p.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666); err != nil {
		return nil, err
	}
	return p, nil
}

// begin empties the file for the first rows.
func (p *Parquet) begin() {
	if st, err := p.file.Stat(); err == nil && st.Mode().IsRegular() {
		p.err = p.file.Truncate(0)
	}
	p.w = parquet.NewWriter(p.file, &p.time, &p.moment, &p.duration, &p.upstream, &p.status, &p.size, &p.method,
		&p.path, &p.protocol, &p.client, &p.cache)
}

// add appends a request.
func (p *Parquet) add(r *logline.Request) {
	if p.w == nil {
		p.begin()
	}
	if r.HasStamp {
		p.time.Int(r.Stamp.Unix)
		p.moment.Int(r.Stamp.Unix * 1000)
	} else {
		p.time.Null()
		p.moment.Null()
	}
	p.duration.Float(inSeconds(float64(r.Micros)))
	if r.HasUpstream {
		p.upstream.Float(inSeconds(float64(r.Upstream)))
	} else {
		p.upstream.Null()
	}
	p.status.Int(int64(r.Status))
	if r.Size >= 0 {
		p.size.Int(r.Size)
	} else {
		p.size.Null()
	}
	p.method.Text(cellText(r.Method))
	p.path.Text(cellText(r.Path))
	p.protocol.Text(cellText(r.Proto))
	p.client.Text(cellText(r.Client))
	p.cache.Text(cellText(r.Cache))
	p.w.EndRow()
}

// cellText is a log's text as UTF-8 that shows on any terminal, with what is neither
// escaped. One byte that is not UTF-8 would keep DuckDB from reading the whole file.
func cellText(b []byte) string {
	for _, c := range b {
		if c < 0x20 || c > 0x7e {
			// A backslash stays one: servers escape with it, too.
			return strings.ReplaceAll(logline.Escape(string(b), len(b)), `\\`, `\`)
		}
	}
	return string(b)
}

// Close writes what is left and returns the first error of all writing.
func (p *Parquet) Close() error {
	if p.w == nil {
		p.begin()
	}
	return errors.Join(p.err, p.w.Close(), p.file.Close())
}

// Drop closes the file without a word of what was added, for where no log was read. It
// leaves none behind where there was none.
func (p *Parquet) Drop() {
	p.file.Close()
	if p.fresh {
		os.Remove(p.file.Name())
	}
}
