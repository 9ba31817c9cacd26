package weblog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/weblog/latency"
	"github.com/wirerate/wirerate/internal/weblog/logdetect"
	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// Options say how logs are read.
type Options struct {
	Format  *logline.Format // nil: each input's is detected
	Unit    logline.Unit    // of the times, where it is not UnitUnknown; goes before the format's
	Filter  *Filter         // nil: every request counts
	Full    bool            // keep what groupings, timeline and comparison by mix need
	Workers int             // goroutines; 0 is one for each processor

	Rows *Parquet // gets every request counted; nil: none

	// each is given every request counted, from one goroutine at a time. The
	// request's slices are valid during the call only.
	each func(*logline.Request)
}

const blockSize = 256 << 10

// Read counts the lines of the named files; "-" is stdin. Compressed input
// (gzip, zstd, bzip2) is told by its first bytes, whatever its name. A file
// that cannot be read is noted in its Input and does not stop the others; the
// error is of the context or the options alone. What Save wrote is merged. Memory
// does not grow with the input.
func Read(ctx context.Context, names []string, stdin io.Reader, opt Options) (*Sketch, error) {
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	if opt.Rows != nil {
		opt.each = serialized(opt.Rows.add)
	}
	total := new(Sketch)
	if opt.Full {
		total.detail = newDetail()
	}
	segs := new(latency.Segments)
	pos := int64(0)
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		total.Inputs = append(total.Inputs, Input{Name: name})
		in := &total.Inputs[len(total.Inputs)-1]
		if err := readInput(ctx, in, stdin, &opt, total, segs, &pos); err != nil {
			in.Err = err
		}
	}
	total.clusters = latency.ReduceClusters(append(total.clusters, segs.List()...))
	return total, ctx.Err()
}

func serialized(f func(*logline.Request)) func(*logline.Request) {
	var mu sync.Mutex
	return func(r *logline.Request) {
		mu.Lock()
		defer mu.Unlock()
		f(r)
	}
}

// readInput reads one input into total and segs and moves pos by its size.
func readInput(ctx context.Context, in *Input, stdin io.Reader, opt *Options, total *Sketch, segs *latency.Segments, pos *int64) error {
	var r io.Reader = stdin
	if in.Name != "-" {
		file, err := input.Open(in.Name)
		if err != nil {
			return err
		}
		defer file.Close()
		st, err := file.Stat()
		if err != nil {
			return err
		}
		if st.IsDir() {
			return errors.New("is a directory; name the files in it")
		}
		if st.Mode().IsRegular() {
			plain, err := isPlain(file)
			if err != nil {
				return err
			}
			if plain {
				return readFile(ctx, in, file, st.Size(), opt, total, segs, pos)
			}
		}
		r = file
	}
	return readStream(ctx, in, r, opt, total, segs, pos)
}

// chunks hands out a file's blocks: n of them, each one worker's.
type chunks struct {
	file *os.File
	size int64
	next atomic.Int64
}

// readFile lets every worker read blocks of the file by itself.
func readFile(ctx context.Context, in *Input, file *os.File, size int64, opt *Options, total *Sketch, segs *latency.Segments, pos *int64) error {
	sample := make([]byte, min(size, logdetect.SampleSize))
	n, err := file.ReadAt(sample, 0)
	if err != nil && err != io.EOF {
		return err
	}
	format, err := opt.formatOf(in, sample[:n], func() []byte {
		end := make([]byte, logdetect.SampleSize)
		n, _ := file.ReadAt(end, max(size-logdetect.SampleSize, logdetect.SampleSize))
		return end[:n]
	})
	if err != nil {
		return err
	}
	blocks := int((size + blockSize - 1) / blockSize)
	stretches := make([]stretch, blocks)
	src := &chunks{file: file, size: size}
	count := min(opt.Workers, max(blocks, 1))
	if format.Directives {
		count = 1
	}
	workers := make([]*worker, count)
	errs := make([]error, count)
	base := *pos
	var wg sync.WaitGroup
	for i := range workers {
		workers[i] = newWorker(format, opt)
		wg.Go(func() { errs[i] = src.run(ctx, workers[i], base, stretches) })
	}
	wg.Wait()
	*pos += size
	collect(in, workers, stretches, total, segs)
	return errors.Join(append(errs, workerError(workers))...)
}

func workerError(workers []*worker) error {
	for _, w := range workers {
		if w.lines.Err != nil {
			return w.lines.Err
		}
	}
	return nil
}

// collect adds up what the workers counted of one input.
func collect(in *Input, workers []*worker, stretches []stretch, total *Sketch, segs *latency.Segments) {
	var raw []rawSkip
	for _, w := range workers {
		total.add(&w.sketch)
		segs.Merge(&w.segs)
		raw = append(raw, w.raw...)
	}
	last := uint32(0)
	for _, p := range stretches {
		in.Lines += uint64(p.lines)
		if p.first < last && p.first > 0 && total.detail != nil {
			total.detail.backward++
		}
		if p.last > 0 {
			last = p.last
		}
	}
	in.Err = noteUnit(in, workers)
	total.examples = append(total.examples, placeSkips(in.Name, raw, stretches)...)
	total.examples = total.examples[:min(len(total.examples), maxExamples)]
}

// noteUnit says in what unit the times of the input were taken, unless that is said
// already. The error is for a log that gave no request because its unit is not
// known.
func noteUnit(in *Input, workers []*worker) error {
	var requests, without uint64
	for _, w := range workers {
		requests += w.sketch.Requests + w.sketch.Filtered
		without += w.sketch.skipped[logline.FaultUnit]
	}
	if workers[0].format.Untimed {
		return untimedError(workers)
	}
	if requests == 0 && without > 0 {
		return errors.New("whole numbers do not say the unit of the request time: say --unit s, ms or us (IIS writes ms)")
	}
	if u := workers[0].lines.Format.Unit; in.Note == "" && requests > 0 && u != logline.DecimalSeconds {
		in.Note = "times in " + u.Label()
	} else if in.Note == "" && requests > 0 {
		in.Note = "times in s"
	}
	return nil
}

// run takes blocks until there are none left.
func (c *chunks) run(ctx context.Context, w *worker, base int64, stretches []stretch) error {
	buf := readRoom(blockSize + 64<<10)
	for ctx.Err() == nil {
		i := int(c.next.Add(1)) - 1
		if i >= len(stretches) {
			return nil
		}
		data, start, err := c.read(i, buf)
		if err != nil {
			return err
		}
		stretches[i] = w.stretch(data, base+start, i)
	}
	return nil
}

// read returns the lines that begin in block i, whole, and the position of the
// first.
func (c *chunks) read(i int, buf []byte) (data []byte, start int64, err error) {
	from := int64(i) * blockSize
	end := min(from+blockSize, c.size)
	if i > 0 {
		from-- // is the byte before the block a line's end?
	}
	b := buf[:end-from]
	n, err := c.file.ReadAt(b, from)
	if err != nil && err != io.EOF {
		return nil, 0, err
	}
	b = b[:n] // short only if the file shrinks under our hands
	if i > 0 {
		j := bytes.IndexByte(b, '\n')
		if j < 0 || j+1 == len(b) {
			return nil, 0, nil
		}
		b = b[j+1:]
		from += int64(j) + 1
	}
	if len(b) == 0 || b[len(b)-1] == '\n' || end == c.size {
		return b, from, nil
	}
	return c.finish(b, from, end)
}

// finish reads on to the end of the last line, or to where it is too long.
func (c *chunks) finish(b []byte, from, end int64) ([]byte, int64, error) {
	last := bytes.LastIndexByte(b, '\n') + 1
	for step := int64(4096); end < c.size && len(b)-last <= logline.MaxLine; step *= 2 {
		n := len(b)
		b = slices.Grow(b, int(min(step, c.size-end)))[:n+int(min(step, c.size-end))]
		got, err := c.file.ReadAt(b[n:], end)
		if err != nil && err != io.EOF {
			return nil, 0, err
		}
		b = b[:n+got]
		end += int64(got)
		if j := bytes.IndexByte(b[n:], '\n'); j >= 0 {
			return b[:n+j+1], from, nil
		}
		if got == 0 {
			break
		}
	}
	return b, from, nil
}

// formatOf returns the format for an input that begins with sample. later, unless
// nil, returns another part of it, for where the beginning is something else.
func (o *Options) formatOf(in *Input, sample []byte, later func() []byte) (*logline.Format, error) {
	f := o.Format
	if f == nil {
		var err error
		if f, err = logdetect.DetectEither(sample, later, o.Unit); err != nil && (f == nil || !f.Untimed) {
			return nil, err
		}
	} else if f = logdetect.Around(f, sample); o.Unit == logline.UnitUnknown {
		if err := logdetect.CheckUnit(f, sample); err != nil {
			return nil, err
		}
	}
	if o.Unit != logline.UnitUnknown {
		f = f.WithUnit(o.Unit)
	}
	in.Format, in.Note = f.Name, f.Note
	return f, nil
}
