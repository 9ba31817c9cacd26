package input

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Packing tells a compressed stream by its first four bytes (RFC 1952, RFC 8878, bzip2's
// "BZh"); it is empty for any other.
func Packing(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return "gzip"
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return "zstd"
	case len(head) >= 4 && bytes.HasPrefix(head, []byte("BZh")) && head[3] >= '1' && head[3] <= '9':
		return "bzip2"
	}
	return ""
}

// Unpack returns what r yields, decompressed if it is compressed, and a function that
// frees what that holds: several goroutines, if there are to be more than one.
func Unpack(r io.Reader, goroutines int) (io.Reader, func(), error) {
	b := bufio.NewReaderSize(r, 128<<10)
	head, err := b.Peek(4)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	switch Packing(head) {
	case "gzip":
		z, err := gzip.NewReader(b)
		return z, func() {}, err
	case "zstd":
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(goroutines), zstd.WithDecoderMaxMemory(256<<20),
			zstd.WithDecoderMaxWindow(32<<20))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	case "bzip2":
		return bzip2.NewReader(b), func() {}, nil
	}
	return b, func() {}, nil
}
