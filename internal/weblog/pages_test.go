package weblog

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unsafe"
)

func offsetInPage(b []byte) int { return int(uintptr(unsafe.Pointer(&b[0])) % pageSize) }

// TestReadRoom: wherever in a file a read begins, its bytes do not come to lie a little
// ahead of their places within the page.
func TestReadRoom(t *testing.T) {
	for range 100 {
		if at := offsetInPage(readRoom(32 << 10)); at != halfPage {
			t.Fatalf("begins at %d of a page", at)
		}
	}
	room := readRoom(bulk + pageSize)
	for _, at := range []int64{0, 1, 15, 2048, 4095, 4096, 1<<40 + 5} {
		part := roomAt(room, at)
		if d := (offsetInPage(part) - int(at%pageSize) + pageSize) % pageSize; d != halfPage || len(part) != bulk {
			t.Errorf("%d bytes %d ahead of position %d", len(part), d, at)
		}
	}
}

// BenchmarkReadAt reads a cached file to addresses that lie so many bytes ahead of their
// places within the page.
func BenchmarkReadAt(b *testing.B) {
	name := filepath.Join(b.TempDir(), "file")
	if err := os.WriteFile(name, make([]byte, 64<<20), 0o600); err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	room := make([]byte, bulk+pageSize)
	for _, ahead := range []int{0, 1, 8, 15, 16, 64, 1024, halfPage, 4095} {
		b.Run(fmt.Sprintf("ahead=%d", ahead), func(b *testing.B) {
			b.SetBytes(bulk)
			for i := range b.N {
				if _, err := f.ReadAt(room[ahead:][:bulk], int64(i)*bulk%(64<<20)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
