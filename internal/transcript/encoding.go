package transcript

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"

	"github.com/wirerate/wirerate/internal/regexp"
)

var escape = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]|\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)")

// plainText takes off what editors, terminals and other systems add to a text:
// byte order marks, UTF-16, colours, spaces that do not break.
func plainText(data []byte) []byte {
	if len(data) >= 2 {
		switch {
		case data[0] == 0xff && data[1] == 0xfe:
			data = fromUTF16(data[2:], binary.LittleEndian)
		case data[0] == 0xfe && data[1] == 0xff:
			data = fromUTF16(data[2:], binary.BigEndian)
		}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(data, 0x1b) >= 0 {
		data = escape.ReplaceAll(data, nil)
	}
	if bytes.IndexByte(data, 0xa0) >= 0 {
		data = bytes.ReplaceAll(data, []byte("\u00a0"), []byte(" "))
	}
	return data
}

func fromUTF16(data []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}
