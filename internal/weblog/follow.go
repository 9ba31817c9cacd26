package weblog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/weblog/logdetect"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

const (
	// pollEvery is how often a followed log is looked at.
	pollEvery = 100 * time.Millisecond
	// lingering is how long a log is read on after it was renamed: servers write
	// to it until they are told to open their logs again.
	lingering = time.Minute
	// markSize is how many bytes before the place read to tell whether a log
	// still is what it was.
	markSize = 512
	// enoughLines is how many lines a log may have before its format has to be known.
	enoughLines = 20
)

// Follow counts the lines of logs that are still being written, and calls show
// with what has been counted every interval and at the end. It follows a name
// through rotation (another file under the same name, or one that was cut, even if
// it has grown past its old length since), and waits for one that leads nowhere
// yet; pipes and compressed files are read to their end;
// "-" is stdin. It returns nil when ctx ends, or when nothing is left that may grow.
func Follow(ctx context.Context, names []string, stdin io.Reader, opt Options, interval time.Duration,
	show func(*Sketch)) error {
	var tails []*tail
	for _, name := range names {
		t := &tail{name: name, opt: &opt}
		if name == "-" {
			t.pipe = pump(ctx, stdin, nil)
		} else if err := t.open(ctx); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", t.name, err)
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
			if err := t.poll(ctx); err != nil {
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
			for _, t := range tails {
				if t.unknown != nil {
					return fmt.Errorf("%s: %w", t.name, t.unknown)
				}
			}
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
		in := Input{Name: t.name, Lines: t.lines, Err: t.unknown}
		if t.w != nil {
			in.Format, in.Note, in.Err = t.input.Format, t.input.Note, t.w.lines.Err
			s.add(&t.w.sketch)
			s.clusters = append(s.clusters, t.w.segs.List()...)
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
	files []*source // what the name leads to, last, and led to before, which may still grow
	pipe  <-chan piped
	rest  []byte // a pipe's line without its end yet
	ended bool   // a pipe was closed

	w        *worker
	unknown  error // why the format is not known yet
	input    Input
	pos      int64
	lines    uint64
	examples []Skip
}

// source is a file that is read as it grows.
type source struct {
	file *os.File
	at   int64
	mark []byte    // the bytes before at
	rest []byte    // a line without its end yet
	gone time.Time // since when the name leads elsewhere
}

// piped is what was read of a pipe.
type piped struct {
	data []byte
	err  error
}

// pump reads a pipe in the background, decompressed, until it or ctx ends, and
// closes it then if it is a file.
func pump(ctx context.Context, r io.Reader, file *os.File) <-chan piped {
	c := make(chan piped)
	send := func(p piped) bool {
		select {
		case c <- p:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		defer close(c)
		if file != nil {
			defer file.Close()
		}
		text, free, err := input.Unpack(r, unpackers)
		if err != nil {
			send(piped{err: err})
			return
		}
		defer free()
		for err == nil {
			buf := readRoom(64 << 10)
			var n int
			n, err = text.Read(buf)
			p := piped{data: buf[:n]}
			if err != io.EOF {
				p.err = err
			}
			if (n > 0 || p.err != nil) && !send(p) {
				return
			}
		}
	}()
	return c
}

// open opens the log. One that does not grow, a pipe or a compressed file, is read
// in the background.
func (t *tail) open(ctx context.Context) error {
	f, err := os.Open(t.name)
	if err != nil {
		return bare(err)
	}
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		err = errors.New("is a directory; name the files in it")
	}
	plain := false
	if err == nil && st.Mode().IsRegular() {
		plain, err = isPlain(f)
	}
	if err != nil {
		f.Close()
		return bare(err)
	}
	if plain {
		t.files = append(t.files, &source{file: f})
	} else {
		t.pipe = pump(ctx, f, f)
	}
	return nil
}

// bare takes the file's name off an error.
func bare(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func (t *tail) close() {
	for _, s := range t.files {
		s.file.Close()
	}
}

// poll counts what has been written since the last time.
func (t *tail) poll(ctx context.Context) error {
	if t.pipe != nil {
		return t.pollPipe(ctx)
	}
	for _, s := range t.files {
		if s.gone.IsZero() && s.wasCut() {
			t.finish(&s.rest)
			*s = source{file: s.file}
		}
		if err := t.readOn(s); err != nil {
			return err
		}
	}
	t.files = slices.DeleteFunc(t.files, func(s *source) bool {
		over := !s.gone.IsZero() && time.Since(s.gone) > lingering
		if over {
			t.finish(&s.rest)
			s.file.Close()
		}
		return over
	})
	return t.rotate(ctx)
}

// pollPipe takes what comes through a pipe, for as long as a poll lasts.
func (t *tail) pollPipe(ctx context.Context) error {
	if t.ended {
		return nil
	}
	end := time.NewTimer(pollEvery)
	defer end.Stop()
	for {
		select {
		case p, ok := <-t.pipe:
			if !ok {
				t.ended = true
				return nil
			}
			if err := errors.Join(t.take(&t.rest, p.data), p.err); err != nil {
				return err
			}
		case <-end.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// wasCut reports whether the file is another one now as far as it has been read:
// it was cut to nothing, and may have grown past its old length since.
func (s *source) wasCut() bool {
	st, err := s.file.Stat()
	if err != nil {
		return false
	}
	if st.Size() < s.at {
		return true
	}
	there := make([]byte, len(s.mark))
	if n, err := s.file.ReadAt(there, s.at-int64(len(there))); n < len(there) {
		return err == io.EOF
	}
	if bytes.Equal(there, s.mark) {
		return false
	}
	if len(bytes.Trim(there, "\x00")) == 0 {
		// A writer that does not append goes on behind a hole.
		s.mark = there
		return false
	}
	return true
}

// readOn reads an open file to its present end.
func (t *tail) readOn(s *source) error {
	room := readRoom(bulk + pageSize)
	for {
		buf := roomAt(room, s.at)
		n, err := s.file.ReadAt(buf, s.at)
		s.at += int64(n)
		s.mark = append(s.mark, buf[max(n-markSize, 0):n]...)
		s.mark = s.mark[max(len(s.mark)-markSize, 0):]
		if terr := t.take(&s.rest, buf[:n]); terr != nil {
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

// rotate opens the file again if its name leads elsewhere now. A name that leads
// nowhere, or to what may not be read yet, is waited for.
func (t *tail) rotate(ctx context.Context) error {
	now, err := os.Stat(t.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if n := len(t.files); n > 0 && t.files[n-1].gone.IsZero() {
		was, err := t.files[n-1].file.Stat()
		if err != nil || os.SameFile(was, now) {
			return err
		}
		t.files[n-1].gone = time.Now()
	}
	if err := t.open(ctx); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// take counts the whole lines of data behind *rest, and keeps the rest.
func (t *tail) take(rest *[]byte, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	*rest = append(*rest, data...)
	end := bytes.LastIndexByte(*rest, '\n') + 1
	if end == 0 {
		*rest = (*rest)[:min(len(*rest), logline.MaxLine+1)] // enough to tell that the line is too long
		return nil
	}
	if t.w == nil {
		f, err := t.opt.formatOf(&t.input, (*rest)[:min(end, logdetect.SampleSize)], nil)
		if err == nil && f.Untimed {
			w := newWorker(f, t.opt)
			w.block((*rest)[:end], 0, 0)
			err = untimedError([]*worker{w})
		}
		if t.unknown = err; err != nil {
			if bytes.Count((*rest)[:end], []byte{'\n'}) < enoughLines && end < logdetect.SampleSize {
				return nil // what is written next may tell
			}
			return err
		}
		t.w = newWorker(f, t.opt)
	}
	t.count((*rest)[:end])
	*rest = append((*rest)[:0], (*rest)[end:]...)
	return nil
}

// flush counts the last lines without their ends.
func (t *tail) flush() {
	for _, s := range t.files {
		t.finish(&s.rest)
	}
	t.finish(&t.rest)
}

// finish counts a last line without its end.
func (t *tail) finish(rest *[]byte) {
	if len(*rest) > 0 && t.w != nil {
		t.count(*rest)
	}
	*rest = (*rest)[:0]
}

func (t *tail) count(data []byte) {
	seen := len(t.w.raw)
	n := t.w.block(data, t.pos, 0)
	for _, r := range t.w.raw[seen:] {
		t.examples = append(t.examples, Skip{Input: t.name, Line: t.lines + r.line,
			Reason: logline.FaultTexts[r.fault], Text: r.text})
	}
	t.lines += uint64(n)
	t.pos += int64(len(data))
}
