package weblog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/weblog/latency"
	"github.com/wirerate/wirerate/internal/weblog/logdetect"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// isPlain reports whether the file is text.
func isPlain(file *os.File) (bool, error) {
	head := make([]byte, len(savedMagic))
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return false, err
	}
	return input.Packing(head[:n]) == "" && !isSaved(head[:n]), nil
}

const (
	// streamBuffer holds a block and the beginning of a line that came with the block before.
	streamBuffer = logline.MaxLine + bulk
	// unpackers is how many goroutines unpack what can be unpacked in parallel.
	unpackers = 4
)

// streamBlock is a run of whole lines of a stream.
type streamBlock struct {
	buf   []byte // of which data is a part
	data  []byte
	pos   int64
	index int
}

// readStream reads what cannot be read in parallel: standard input, pipes,
// compressed files. One goroutine reads blocks of whole lines, workers count.
func readStream(ctx context.Context, in *Input, r io.Reader, opt *Options, total *Sketch, segs *latency.Segments,
	pos *int64) error {
	text, free, err := input.Unpack(r, unpackers)
	if err != nil {
		return err
	}
	defer free()
	buf := make([]byte, streamBuffer)
	n, readErr := fill(text, buf[:bulk])
	first := buf[:n]
	if readErr != nil && readErr != io.EOF && n == 0 {
		return readErr
	}
	if isSaved(first) {
		return readSaved(in.Name, io.MultiReader(bytes.NewReader(first), text), opt, total)
	}
	format, err := opt.formatOf(in, first[:min(n, logdetect.SampleSize)],
		func() []byte { return first[max(min(n, logdetect.SampleSize), n-logdetect.SampleSize):] })
	if err != nil {
		return err
	}
	count := opt.Workers
	if format.Directives {
		count = 1
	}
	s := &stream{text: text, work: make(chan streamBlock), free: make(chan []byte, 2*count+1), pos: *pos}
	workers := make([]*worker, count)
	var wg sync.WaitGroup
	for i := range workers {
		workers[i] = newWorker(format, opt)
		s.free <- make([]byte, streamBuffer)
		s.free <- make([]byte, streamBuffer)
		wg.Go(func() { s.run(workers[i]) })
	}
	err = s.feed(ctx, buf, n, readErr)
	close(s.work)
	wg.Wait()
	*pos = s.pos
	collect(in, workers, s.stretches, total, segs)
	return cmp.Or(err, workerError(workers))
}

// readSaved merges saved counts, whose inputs take the place of the last one of total.
func readSaved(name string, r io.Reader, opt *Options, total *Sketch) error {
	if opt.Filter != nil || opt.each != nil {
		return errors.New("holds counts, whose requests can neither be filtered nor written as rows; do that " +
			"where the log is, as it is saved")
	}
	s, err := Load(name, r)
	if err != nil {
		return err
	}
	total.Inputs = total.Inputs[:len(total.Inputs)-1]
	total.Merge(s)
	return nil
}

type stream struct {
	text io.Reader
	work chan streamBlock
	free chan []byte
	pos  int64

	mu        sync.Mutex
	stretches []stretch
}

func (s *stream) run(w *worker) {
	for b := range s.work {
		p := w.stretch(b.data, b.pos, b.index)
		s.mu.Lock()
		s.stretches[b.index] = p
		s.mu.Unlock()
		s.free <- b.buf
	}
}

// feed cuts the stream into blocks at line ends. The first n bytes are in buf, and
// readErr came behind them. A line that is too long ends a block, and most of it is
// passed over.
func (s *stream) feed(ctx context.Context, buf []byte, n int, readErr error) error {
	for ctx.Err() == nil {
		if readErr != nil {
			s.send(buf, n, n)
			if readErr == io.EOF {
				return nil
			}
			return readErr
		}
		next := <-s.free
		end := bytes.LastIndexByte(buf[:n], '\n') + 1
		size, rest := end, copy(next, buf[end:n])
		if rest > logline.MaxLine {
			var passed int
			passed, rest, readErr = s.passLine(next)
			end, size = end+logline.MaxLine+1, n+passed
		}
		s.send(buf, end, size)
		buf, n = next, rest
		if readErr == nil {
			n, readErr = fill(s.text, buf[rest:][:bulk])
			n += rest
		}
	}
	return ctx.Err()
}

// passLine passes over the rest of a line. What follows is then in buf.
func (s *stream) passLine(buf []byte) (passed, rest int, err error) {
	for err == nil {
		var n int
		n, err = fill(s.text, buf[:bulk])
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return passed + i + 1, copy(buf, buf[i+1:n]), err
		}
		passed += n
	}
	return passed, 0, err
}

// fill reads until b is full or r ends, and returns r's own error.
func fill(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var got int
		got, err = r.Read(b[n:])
		n += got
	}
	return n, err
}

// send hands the first n bytes of buf, which stand for size bytes of the stream, to a worker.
func (s *stream) send(buf []byte, n, size int) {
	if n == 0 {
		s.free <- buf
		return
	}
	s.mu.Lock()
	index := len(s.stretches)
	s.stretches = append(s.stretches, stretch{})
	s.mu.Unlock()
	s.work <- streamBlock{buf: buf, data: buf[:n], pos: s.pos, index: index}
	s.pos += int64(size)
}
