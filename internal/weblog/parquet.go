package weblog

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/wirerate/wirerate/internal/weblog/logline"

	parquetzstd "github.com/parquet-go/parquet-go/compress/zstd"
)

// row is one request in a Parquet file. Absent values are null.
type row struct {
	Time *int64 `parquet:"time_unix_s"`
	// ms since 1970; a time in UTC without a zone, which DuckDB needs no other module for
	Moment   *int64   `parquet:"time,timestamp(millisecond:local)"`
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

// What bounds the memory: how many rows are handed over at once, how many a group of
// the file has, and how many bytes a page and a dictionary of a column, which ends where
// values hardly repeat.
const (
	rowBatch        = 1024
	rowGroup        = 64 << 10
	pageBytes       = 64 << 10
	dictionaryBytes = 64 << 10
)

// Parquet writes requests to a Parquet file, one a row, in no particular order:
// for questions that wirerate does not answer, to DuckDB and the like.
type Parquet struct {
	file  *os.File
	fresh bool // there was no file of this name
	w     *parquet.GenericWriter[row]
	rows  []row
	err   error
}

// CreateParquet opens the file; Close completes it, Drop takes it back. What it held
// stays until the first rows are written.
func CreateParquet(name string) (*Parquet, error) {
	_, err := os.Lstat(name)
	p := &Parquet{fresh: errors.Is(err, fs.ErrNotExist)}
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
	pages, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(2*pageBytes), zstd.WithZeroFrames(true))
	p.err = errors.Join(p.err, err)
	p.w = parquet.NewGenericWriter[row](p.file, parquet.Compression(&pageCodec{pages: pages}),
		parquet.MaxRowsPerRowGroup(rowGroup),
		parquet.PageBufferSize(pageBytes), parquet.DictionaryMaxBytes(dictionaryBytes))
}

// pageCodec is zstd with a window for pages, not for files: of 16 MB less.
type pageCodec struct {
	parquetzstd.Codec
	pages *zstd.Encoder
}

// Encode compresses a page.
func (c *pageCodec) Encode(dst, src []byte) ([]byte, error) {
	return c.pages.EncodeAll(src, dst[:0]), nil
}

// add appends a request.
func (p *Parquet) add(r *logline.Request) {
	line := row{Duration: inSeconds(float64(r.Micros)), Status: int32(r.Status), Method: cellText(r.Method),
		Path:     cellText(r.Path),
		Protocol: cellText(r.Proto), Client: cellText(r.Client), Cache: cellText(r.Cache)}
	if r.HasStamp {
		unix := r.Stamp.Unix
		ms := unix * 1000
		line.Time, line.Moment = &unix, &ms
	}
	if r.HasUpstream {
		s := inSeconds(float64(r.Upstream))
		line.Upstream = &s
	}
	if r.Size >= 0 {
		size := r.Size
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
			return strings.ReplaceAll(logline.Escape(string(b), len(b)), `\\`, `\`)
		}
	}
	return string(b)
}

func (p *Parquet) flush() {
	if p.w == nil {
		p.begin()
	}
	if _, err := p.w.Write(p.rows); err != nil && p.err == nil {
		p.err = err
	}
	p.rows = p.rows[:0]
}

// Close writes what is left and returns the first error of all writing.
func (p *Parquet) Close() error {
	p.flush()
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
