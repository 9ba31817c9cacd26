package weblog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"
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

// blockSize is how much of a file a worker takes at a time, a multiple of all page sizes.
const blockSize = 4 << 20

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
func readInput(ctx context.Context, in *Input, stdin io.Reader, opt *Options, total *Sketch, segs *latency.Segments,
	pos *int64) error {
	var r io.Reader = stdin
	if in.Name != "-" {
		file, err := input.OpenWaiting(ctx, in.Name)
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

// chunks hands out a file's blocks, each to one worker.
type chunks struct {
	file  *os.File
	size  int64
	block int64 // how much of the file is a block: pages
	next  atomic.Int64
}

// readFile lets every worker read blocks of the file by itself.
func readFile(ctx context.Context, in *Input, file *os.File, size int64, opt *Options, total *Sketch,
	segs *latency.Segments, pos *int64) error {
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
	src := &chunks{file: file, size: size, block: blockSize}
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
	return cmp.Or(append(errs, workerError(workers))...) // those of several workers say the same
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
		return errors.New("whole numbers do not say the unit of the request time: say --unit s, ms or us (IIS " +
			"writes ms)")
	}
	if u := workers[0].lines.Format.Unit; in.Note == "" && requests > 0 && u != logline.DecimalSeconds {
		in.Note = "times in " + u.Label()
	} else if in.Note == "" && requests > 0 {
		in.Note = "times in s"
	}
	return nil
}

// run takes blocks until there are none left.
func (c *chunks) run(ctx context.Context, w *worker, base int64, stretches []stretch) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // of a page that the file does not have any more
			err = errors.New("became shorter, or could not be read on, while it was counted; what came before is " +
				"counted")
		default:
			panic(fault)
		}
	}()
	for ctx.Err() == nil {
		i := int(c.next.Add(1)) - 1
		if i >= len(stretches) {
			return nil
		}
		if err := c.count(i, w, base, stretches); err != nil {
			return err
		}
	}
	return nil
}

// count counts the lines of block i: those that begin behind the first line end in it,
// with the one that begins where the next block does, as that passes over it.
func (c *chunks) count(i int, w *worker, base int64, stretches []stretch) error {
	from := int64(i) * c.block
	end := min(from+c.block, c.size)
	b, free, err := input.Map(c.file, from, min(end+logline.MaxLine+2, c.size))
	if err != nil {
		return err
	}
	defer free()
	start, size := 0, min(len(b), int(end-from))
	if i > 0 {
		if start = bytes.IndexByte(b[:size], '\n') + 1; start == 0 {
			return nil
		}
	}
	if n := bytes.IndexByte(b[size:], '\n'); n >= 0 {
		b = b[:size+n+1]
	} // else the last line is the file's, or too long
	stretches[i] = w.stretch(b[start:], base+from+int64(start), i)
	return nil
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
