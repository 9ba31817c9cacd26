// Package parquet writes tables of flat columns as Parquet files
// (https://parquet.apache.org/docs/file-format/), compressed with zstd.
package parquet

import (
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A row group ends with so many rows or bytes: it is what the memory holds.
const (
	groupRows  = 64 << 10
	groupBytes = 8 << 20
)

const magic = "PAR1"

// The codec, the types of pages, and the repetitions and annotations of columns that
// the format numbers.
const (
	codecZstd        int32 = 6
	pageData         int32 = 0
	pageDictionary   int32 = 2
	required         int32 = 0
	optional         int32 = 1
	annotationUTF8   int32 = 0
	logicalText            = 1
	logicalTimestamp       = 8
	unitMilliseconds       = 1
)

// Writer writes one table.
type Writer struct {
	w       io.Writer
	zstd    *zstd.Encoder
	columns []*Column
	at      int64 // in the file
	rows    int   // of the group that is being filled
	total   int64
	groups  list
	err     error // of writing, the first
}

// NewWriter begins a file of these columns.
func NewWriter(w io.Writer, columns ...*Column) *Writer {
	p := &Writer{w: w, columns: columns}
	p.zstd, p.err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(1<<20), zstd.WithZeroFrames(true))
	p.write([]byte(magic))
	return p
}

func (p *Writer) write(b []byte) {
	if p.err == nil {
		_, p.err = p.w.Write(b)
	}
	p.at += int64(len(b))
}

// EndRow ends a row: every column has been given one value more.
func (p *Writer) EndRow() {
	p.rows++
	size := 0
	for _, c := range p.columns {
		size += len(c.values)
	}
	if p.rows == groupRows || size >= groupBytes {
		p.group()
	}
}

// Close writes what is left, and the file's end. Its error is the first of all writing.
func (p *Writer) Close() error {
	if p.rows > 0 {
		p.group()
	}
	schema := list{structure{{4, "table"}, {5, int32(len(p.columns))}}}
	for _, c := range p.columns {
		schema = append(schema, c.schema())
	}
	end := appendThrift(nil, structure{{1, int32(1)}, {2, schema}, {3, p.total}, {4, p.groups}, {6, "wirerate"}})
	p.write(append(binary.LittleEndian.AppendUint32(end, uint32(len(end))), magic...))
	return p.err
}

func (c *Column) schema() structure {
	repetition := required
	if c.Optional {
		repetition = optional
	}
	s := structure{{1, int32(c.Type)}, {3, repetition}, {4, c.Name}}
	switch {
	case c.Type == Text:
		s = append(s, field{6, annotationUTF8}, field{10, structure{{logicalText, structure{}}}})
	case c.Moment:
		unit := structure{{unitMilliseconds, structure{}}}
		s = append(s, field{10, structure{{logicalTimestamp, structure{{1, false}, {2, unit}}}}})
	}
	return s
}

// group writes the rows so far as a row group.
func (p *Writer) group() {
	var chunks list
	begin := p.at
	for _, c := range p.columns {
		chunks = append(chunks, p.chunk(c))
		c.values, c.present = c.values[:0], c.present[:0]
	}
	p.groups = append(p.groups, structure{{1, chunks}, {2, p.at - begin}, {3, int64(p.rows)}})
	p.total += int64(p.rows)
	p.rows = 0
}

// chunk writes a column of the row group.
func (p *Writer) chunk(c *Column) structure {
	begin, unpacked := p.at, int64(0)
	page, encoding, dictionary, words := c.page()
	meta := structure{{1, int32(c.Type)}, {2, list{encoding, plain, runs}}, {3, list{c.Name}}, {4, codecZstd},
		{5, int64(p.rows)}}
	if dictionary != nil {
		unpacked = p.page(pageDictionary, dictionary, field{7, structure{{1, int32(words)}, {2, plain}}})
	}
	data := p.at
	unpacked += p.page(pageData, page, field{5, structure{{1, int32(p.rows)}, {2, encoding}, {3, runs}, {4, runs}}})
	meta = append(meta, field{6, unpacked}, field{7, p.at - begin}, field{9, data})
	if dictionary != nil {
		meta = append(meta, field{11, begin})
	}
	return structure{{2, begin}, {3, meta}}
}

// page writes a page behind its header, and returns its size when unpacked.
func (p *Writer) page(kind int32, content []byte, header field) int64 {
	packed := p.zstd.EncodeAll(content, nil)
	head := appendThrift(nil, structure{{1, kind}, {2, int32(len(content))}, {3, int32(len(packed))}, header})
	p.write(head)
	p.write(packed)
	return int64(len(head) + len(content))
}
