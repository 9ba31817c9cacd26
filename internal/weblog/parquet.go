package weblog

import (
	"errors"
	"os"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// row is one request in a Parquet file. Absent values are null.
type row struct {
	Time     *int64   `parquet:"time_unix_s"`
	Moment   *int64   `parquet:"time,timestamp(millisecond:local)"` // ms since 1970; a time in UTC without a zone, which DuckDB needs no other module for
	Duration float64  `parquet:"duration_s"`
	Upstream *float64 `parquet:"upstream_s"`
	Status   int32    `parquet:"status"` // 0: not known or no answer
	Bytes    *int64   `parquet:"bytes"`
	Method   string   `parquet:"method,dict"`
	Path     string   `parquet:"path,dict"` // with its query, escaped as in the log
	Protocol string   `parquet:"protocol,dict"`
	Client   string   `parquet:"client,dict"`
	Cache    string   `parquet:"cache,dict"`
}

// rowBatch is how many rows are handed over at once; rowGroup how many a group
// of the file has, which bounds the memory.
const (
	rowBatch = 1024
	rowGroup = 128 << 10
)

// Parquet writes requests to a Parquet file, one a row, in no particular order:
// for questions that wirerate does not answer, to DuckDB and the like.
type Parquet struct {
	file *os.File
	w    *parquet.GenericWriter[row]
	rows []row
	err  error
}

// CreateParquet creates the file; Close completes it.
func CreateParquet(name string) (*Parquet, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	w := parquet.NewGenericWriter[row](f, parquet.Compression(&zstd.Codec{}), parquet.MaxRowsPerRowGroup(rowGroup))
	return &Parquet{file: f, w: w}, nil
}

// add appends a request.
func (p *Parquet) add(r *request) {
	line := row{Duration: inSeconds(float64(r.us)), Status: int32(r.status), Method: cellText(r.method), Path: cellText(r.path),
		Protocol: cellText(r.proto), Client: cellText(r.client), Cache: cellText(r.cache)}
	if r.hasStamp {
		unix := r.stamp.unix
		ms := unix * 1000
		line.Time, line.Moment = &unix, &ms
	}
	if r.hasUpstream {
		s := inSeconds(float64(r.upstream))
		line.Upstream = &s
	}
	if r.size >= 0 {
		size := r.size
		line.Bytes = &size
	}
	if p.rows = append(p.rows, line); len(p.rows) == rowBatch {
		p.flush()
	}
}

// cellText is a log's text as UTF-8 that shows on any terminal, with what is neither
// escaped. One byte that is not UTF-8 would keep DuckDB from reading the whole file.
func cellText(b []byte) string {
	for _, c := range b {
		if c < 0x20 || c > 0x7e {
			// A backslash stays one: servers escape with it, too.
			return strings.ReplaceAll(Escape(string(b), len(b)), `\\`, `\`)
		}
	}
	return string(b)
}

func (p *Parquet) flush() {
	if _, err := p.w.Write(p.rows); err != nil && p.err == nil {
		p.err = err
	}
	p.rows = p.rows[:0]
}

// Close writes what is left and returns the first error of all writing.
func (p *Parquet) Close() error {
	if p == nil {
		return nil
	}
	p.flush()
	return errors.Join(p.err, p.w.Close(), p.file.Close())
}
