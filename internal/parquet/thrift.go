package parquet

import "encoding/binary"

// field is a member of a structure: an int32, an int64, a bool, a string, a list or a
// further structure.
type field struct {
	id    int
	value any
}

type (
	structure []field // by ascending id
	list      []any   // of one type
)

// appendThrift appends a value in Thrift's compact protocol.
func appendThrift(b []byte, value any) []byte {
	switch v := value.(type) {
	case int32:
		return binary.AppendVarint(b, int64(v))
	case int64:
		return binary.AppendVarint(b, v)
	case string:
		return append(binary.AppendUvarint(b, uint64(len(v))), v...)
	case list:
		kind := typeOf(structure{})
		if len(v) > 0 {
			kind = typeOf(v[0])
		}
		b = binary.AppendUvarint(append(b, 0xf0|kind), uint64(len(v)))
		for _, member := range v {
			b = appendThrift(b, member)
		}
	case structure:
		last := 0
		for _, f := range v {
			b = appendThrift(append(b, byte(f.id-last)<<4|typeOf(f.value)), f.value)
			last = f.id
		}
		return append(b, 0)
	}
	return b // a bool is its type
}

func typeOf(value any) byte {
	switch v := value.(type) {
	case bool:
		if v {
			return 1
		}
		return 2
	case int32:
		return 5
	case int64:
		return 6
	case string:
		return 8
	case list:
		return 9
	}
	return 12
}
