package parquet

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Type is how the values of a column are stored.
type Type int32

// The types.
const (
	Int32  Type = 1
	Int64  Type = 2
	Double Type = 5
	Text   Type = 6 // UTF-8
)

// Encodings of values and levels.
const (
	plain         int32 = 0
	runs          int32 = 3
	runDictionary int32 = 8
)

// dictionarySize is how many bytes the distinct texts of a column and row group may
// have for the column to refer to them: beyond it they hardly repeat.
const dictionarySize = 64 << 10

// Column is a column of a table, and what of it is not yet in the file.
type Column struct {
	Name     string
	Type     Type
	Optional bool // values, which are no texts, may be null
	Moment   bool // an Int64 is milliseconds since 1970, in UTC and without a zone

	values  []byte   // in the plain encoding
	present []uint64 // of an optional column: 1 where there is a value, else 0
}

// Int appends an integer.
func (c *Column) Int(v int64) {
	c.mark(1)
	if c.Type == Int32 {
		c.values = binary.LittleEndian.AppendUint32(c.values, uint32(v))
		return
	}
	c.values = binary.LittleEndian.AppendUint64(c.values, uint64(v))
}

// Float appends a number.
func (c *Column) Float(v float64) {
	c.mark(1)
	c.values = binary.LittleEndian.AppendUint64(c.values, math.Float64bits(v))
}

// Text appends a text.
func (c *Column) Text(v string) {
	c.values = append(binary.LittleEndian.AppendUint32(c.values, uint32(len(v))), v...)
}

// Null appends to an optional column that there is no value.
func (c *Column) Null() { c.mark(0) }

func (c *Column) mark(present uint64) {
	if c.Optional {
		c.present = append(c.present, present)
	}
}

// page returns a data page of all values, its encoding and, of texts that repeat, the
// dictionary that they refer to, with its size.
func (c *Column) page() (page []byte, encoding int32, dictionary []byte, words int) {
	switch {
	case c.Optional:
		levels := appendPacked(nil, c.present, 1)
		page = append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	case c.Type == Text:
		if dictionary, indexes, words := distinct(c.values); dictionary != nil {
			width := max(1, bits.Len(uint(words-1)))
			return appendPacked([]byte{byte(width)}, indexes, width), runDictionary, dictionary, words
		}
	}
	if page == nil {
		return c.values, plain, nil, 0
	}
	return append(page, c.values...), plain, nil, 0
}

// distinct returns the distinct texts of plain values, and for each value which it is;
// nil where they are too long together.
func distinct(values []byte) (dictionary []byte, indexes []uint64, words int) {
	known := map[string]uint64{}
	for len(values) > 0 {
		end := 4 + binary.LittleEndian.Uint32(values)
		i, ok := known[string(values[:end])]
		if !ok {
			if len(dictionary)+int(end) > dictionarySize {
				return nil, nil, 0
			}
			i = uint64(len(known))
			known[string(values[:end])] = i
			dictionary = append(dictionary, values[:end]...)
		}
		indexes, values = append(indexes, i), values[end:]
	}
	return dictionary, indexes, len(known)
}

// appendPacked appends numbers of so many bits as one bit-packed run, which is filled up
// to a multiple of eight numbers.
func appendPacked(b []byte, numbers []uint64, width int) []byte {
	groups := (len(numbers) + 7) / 8
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	b = slices.Grow(b, groups*width)
	acc, have := uint64(0), 0
	for i := range groups * 8 {
		if i < len(numbers) {
			acc |= numbers[i] << have
		}
		for have += width; have >= 8; have -= 8 {
			b = append(b, byte(acc))
			acc >>= 8
		}
	}
	return b
}
