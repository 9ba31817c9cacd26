package weblog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// pollEvery is how often a followed log is looked at.
const pollEvery = 100 * time.Millisecond

// Follow counts the lines of logs that are still being written, and calls show
// with what has been counted every interval and at the end. It follows a name
// through rotation (another file under the same name, or one cut to nothing), and
// waits for one that leads nowhere yet;
// "-" is stdin. It returns nil when ctx ends, or when stdin is all there was.
func Follow(ctx context.Context, names []string, stdin io.Reader, opt Options, interval time.Duration, show func(*Sketch)) error {
	var tails []*tail
	for _, name := range names {
		t := &tail{name: name, opt: &opt}
		if name == "-" {
			t.pipe = pump(ctx, stdin)
		} else if err := t.open(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		defer t.close()
		tails = append(tails, t)
	}
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	next := time.Now()
	for {
		open := 0
		for _, t := range tails {
			if err := t.poll(); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			if !t.ended {
				open++
			}
		}
		now := time.Now()
		if open == 0 || ctx.Err() != nil {
			for _, t := range tails {
				t.flush()
			}
			show(total(tails))
			return nil
		}
		if !now.Before(next) {
			show(total(tails))
			next = now.Add(interval)
		}
		select {
		case <-ctx.Done():
		case <-poll.C:
		}
	}
}

// total is what all tails have counted.
func total(tails []*tail) *Sketch {
	s := new(Sketch)
	for _, t := range tails {
		in := Input{Name: t.name, Lines: t.lines}
		if t.w != nil {
			in.Format, in.Note, in.Err = t.input.Format, t.input.Note, t.w.err
			s.add(&t.w.sketch)
			s.clusters = append(s.clusters, t.w.segs.list()...)
			s.examples = append(s.examples, t.examples...)
		}
		s.Inputs = append(s.Inputs, in)
	}
	s.examples = s.examples[:min(len(s.examples), maxExamples)]
	whole := &Sketch{}
	whole.Merge(s) // copies the clusters, which go on changing
	return whole
}

// tail is one followed log.
type tail struct {
	name  string
	opt   *Options
	file  *os.File
	pipe  <-chan []byte
	rest  []byte // a line without its end yet
	ended bool   // a pipe was closed

	w        *worker
	input    Input
	pos      int64
	lines    uint64
	examples []Skip
}

// pump reads a pipe in the background until it or ctx ends.
func pump(ctx context.Context, r io.Reader) <-chan []byte {
	c := make(chan []byte)
	go func() {
		defer close(c)
		for {
			buf := make([]byte, 64<<10)
			n, err := r.Read(buf)
			if n > 0 {
				select {
				case c <- buf[:n]:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return c
}

func (t *tail) open() error {
	f, err := os.Open(t.name)
	if err != nil {
		return err
	}
	t.file = f
	return nil
}

func (t *tail) close() {
	if t.file != nil {
		t.file.Close()
	}
}

// poll counts what has been written since the last time.
func (t *tail) poll() error {
	if t.pipe != nil {
		for {
			select {
			case data, ok := <-t.pipe:
				if !ok {
					t.ended = true
					return nil
				}
				if err := t.take(data); err != nil {
					return err
				}
			default:
				return nil
			}
		}
	}
	if t.file != nil {
		if err := t.readOn(); err != nil {
			return err
		}
	}
	return t.rotate()
}

// readOn reads the open file to its present end.
func (t *tail) readOn() error {
	buf := make([]byte, blockSize)
	for {
		n, err := t.file.Read(buf)
		if terr := t.take(buf[:n]); terr != nil {
			return terr
		}
		if err == io.EOF || n == 0 && err == nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// rotate opens the file again if its name leads elsewhere now, and begins again
// if it was cut. A name that leads nowhere is waited for.
func (t *tail) rotate() error {
	now, err := os.Stat(t.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if t.file == nil {
		return t.open()
	}
	old, err := t.file.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(old, now) {
		if err := t.readOn(); err != nil {
			return err
		}
		t.flush()
		t.file.Close()
		t.file = nil
		return t.open()
	}
	at, err := t.file.Seek(0, io.SeekCurrent)
	if err == nil && now.Size() < at {
		t.flush()
		_, err = t.file.Seek(0, io.SeekStart)
	}
	return err
}

// take counts the whole lines of data and keeps the rest.
func (t *tail) take(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	t.rest = append(t.rest, data...)
	end := bytes.LastIndexByte(t.rest, '\n') + 1
	if end == 0 && len(t.rest) <= maxLine {
		return nil
	}
	if end == 0 {
		end = len(t.rest)
	}
	if t.w == nil {
		f, err := t.opt.formatOf(&t.input, t.rest[:min(end, sampleSize)])
		if err != nil {
			return err
		}
		t.w = newWorker(f, t.opt)
	}
	t.count(t.rest[:end])
	t.rest = append(t.rest[:0], t.rest[end:]...)
	return nil
}

// flush counts a last line without its end.
func (t *tail) flush() {
	if len(t.rest) > 0 && t.w != nil {
		t.count(t.rest)
	}
	t.rest = t.rest[:0]
}

func (t *tail) count(data []byte) {
	seen := len(t.w.raw)
	n := t.w.block(data, t.pos, 0)
	for _, r := range t.w.raw[seen:] {
		t.examples = append(t.examples, Skip{Input: t.name, Line: t.lines + r.line, Reason: faultTexts[r.fault], Text: r.text})
	}
	t.lines += uint64(n)
	t.pos += int64(len(data))
}
