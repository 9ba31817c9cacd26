package weblog

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// timed is a format of lines with a request time.
func timed(t *testing.T) *logline.Format {
	format, err := logline.ParseFormat("$remote_addr $status $request_time")
	if err != nil {
		t.Fatal(err)
	}
	return format
}

// TestBlocksHaveEachLineOnce: whatever lines a file is made of, its blocks together
// count each of them, once.
func TestBlocksHaveEachLineOnce(t *testing.T) {
	format := timed(t)
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		var want uint64
		length := rapid.SampledFrom([]int{0, 1, 2, 100, 4094, 4095, 4096, 4097, 8191, 8192, 20000})
		for i := range rapid.IntRange(1, 12).Draw(t, "lines") {
			if n := length.Draw(t, "length"); n > 0 {
				text = append(text, bytes.Repeat([]byte{'a' + byte(i)}, n)...)
				want++
			}
			text = append(text, '\n')
		}
		if rapid.Bool().Draw(t, "open") {
			text = append(text, "end"...)
			want++
		}
		name := filepath.Join(dir, "log")
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c := &chunks{file: f, size: int64(len(text)), block: int64(os.Getpagesize())}
		w := newWorker(format, &Options{})
		stretches := make([]stretch, (c.size+c.block-1)/c.block)
		if err := c.run(context.Background(), w, 0, stretches); err != nil {
			t.Fatal(err)
		}
		lines := uint64(0)
		for _, s := range stretches {
			lines += uint64(s.lines)
		}
		if all := uint64(bytes.Count(text, []byte{'\n'})); w.sketch.Skipped() != want || lines != all && lines != all+1 {
			t.Fatalf("%d lines, of which %d are not blank; should be %d and %d", lines, w.sketch.Skipped(), all, want)
		}
	})
}

// TestFileBecomesShorter: a file of which less is there than there was is an error, and
// no crash.
func TestFileBecomesShorter(t *testing.T) {
	format := timed(t)
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, bytes.Repeat([]byte("x\n"), 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := &chunks{file: f, size: 1 << 20, block: 256 << 10}
	if err := c.run(context.Background(), newWorker(format, &Options{}), 0, make([]stretch, 4)); err == nil {
		t.Error("a file that ends early is no error")
	}
}

// TestPipeIsWaitedFor: a named pipe is not empty because its writer comes later.
func TestPipeIsWaitedFor(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := input.OpenWaiting(ctx, name); err != context.Canceled {
		t.Errorf("without a writer: %v", err)
	}
	go func() {
		if w, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil {
			fmt.Fprintln(w, `192.0.2.1 - - [01/Mar/2024:00:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-" 0.004`)
			w.Close()
		}
	}()
	s, err := Read(context.Background(), []string{name}, nil, Options{})
	if err != nil || s.Requests != 1 || s.Inputs[0].Err != nil {
		t.Errorf("%v %+v", err, s)
	}
}
