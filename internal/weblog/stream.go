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
	// streamLead is how much of a stream's buffer is kept free for the beginning of a
	// line that came with the block before.
	streamLead   = logline.MaxLine
	streamBuffer = streamLead + bulk
	// unpackers is how many goroutines unpack what can be unpacked in parallel.
	unpackers = 4
)

// newStreamBuffer makes room for a block behind the lead. What of the lead is not used
// takes no memory.
func newStreamBuffer() []byte { return readRoom(streamBuffer) }

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
	buf := newStreamBuffer()
	n, readErr := fill(text, buf[streamLead:])
	first := buf[streamLead:][:n]
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
		s.free <- newStreamBuffer()
		s.free <- newStreamBuffer()
		wg.Go(func() { s.run(workers[i]) })
	}
	err = s.feed(ctx, buf, streamLead+n, readErr)
	close(s.work)
	wg.Wait()
	*pos = s.pos
	workers[0].sketch.skipped[logline.FaultLong] += uint64(len(s.long))
	workers[0].raw = append(workers[0].raw, s.long...)
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
	long []rawSkip // lines too long for a buffer; text with the first three

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

// feed cuts the stream into blocks at line ends. The first is in buf, from streamLead to
// end, and readErr came behind it. Lines longer than maxLine are counted and passed over.
func (s *stream) feed(ctx context.Context, buf []byte, end int, readErr error) error {
	start := streamLead
	for ctx.Err() == nil {
		if readErr != nil {
			s.send(buf, buf[start:end])
			if readErr == io.EOF {
				return nil
			}
			return readErr
		}
		cut := start + bytes.LastIndexByte(buf[start:end], '\n') + 1
		if end-cut > logline.MaxLine {
			start, end, readErr = s.passLong(buf, buf[start:end])
			continue
		}
		next := <-s.free
		rest := copy(next[streamLead-(end-cut):], buf[cut:end])
		s.send(buf, buf[start:cut])
		var n int
		n, readErr = fill(s.text, next[streamLead:])
		buf, start, end = next, streamLead-rest, streamLead+n
	}
	return ctx.Err()
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

// send hands data, which lies in buf, to a worker.
func (s *stream) send(buf, data []byte) {
	if len(data) == 0 {
		s.free <- buf
		return
	}
	s.mu.Lock()
	index := len(s.stretches)
	s.stretches = append(s.stretches, stretch{})
	s.mu.Unlock()
	s.work <- streamBlock{buf: buf, data: data, pos: s.pos, index: index}
	s.pos += int64(len(data))
}

// passLong drops the rest of a line that is too long, of which head has been read into
// buf. It returns where in buf what follows the line is.
func (s *stream) passLong(buf, head []byte) (start, end int, err error) {
	skip := rawSkip{block: len(s.stretches), line: 1, fault: logline.FaultLong}
	if len(s.long) < maxExamples {
		skip.text = logline.Escape(string(head[:logline.MaxShown+1]), logline.MaxShown)
	}
	s.long = append(s.long, skip)
	s.mu.Lock()
	s.stretches = append(s.stretches, stretch{lines: 1})
	s.mu.Unlock()
	s.pos += int64(len(head))
	for {
		n, err := fill(s.text, buf[streamLead:])
		if i := bytes.IndexByte(buf[streamLead:][:n], '\n'); i >= 0 {
			s.pos += int64(i) + 1
			return streamLead + i + 1, streamLead + n, err
		}
		s.pos += int64(n)
		if err != nil {
			return streamLead, streamLead, err
		}
	}
}
