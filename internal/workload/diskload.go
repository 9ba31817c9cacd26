package workload

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// diskReport is what the built-in generator prints.
type diskReport struct {
	Metrics map[string]float64 `json:"metrics"`
	Unknown map[string]string  `json:"unknown,omitempty"`
}

// diskTraffic is "disk DIR SIZE DURATION READS": it measures with files that
// it makes in DIR, which the caller removes.
func diskTraffic(ctx context.Context, args []string, out io.Writer) error {
	size, err1 := strconv.ParseInt(args[1], 10, 64)
	length, err2 := time.ParseDuration(args[2])
	reads, err3 := strconv.ParseBool(args[3])
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if size < seqBlock || length <= 0 {
		return fmt.Errorf("disk: a size of at least %d bytes and a time above 0 are expected", seqBlock)
	}
	l := &diskLoad{ctx: ctx, dir: args[0], size: size, part: length / diskParts, run: Run{Metrics: map[string]float64{}}}
	err := l.write()
	if err == nil {
		err = l.writeSynchronously()
	}
	if err == nil && reads {
		err = l.readPastCache()
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(diskReport{Metrics: l.run.Metrics, Unknown: l.run.Unknown})
}

// diskLoad is the built-in generator at work.
type diskLoad struct {
	ctx  context.Context
	dir  string
	size int64
	part time.Duration // of each way of access
	run  Run
}

// noise is a block that no file system compresses and, stamped anew before
// each write, none stores once for all.
type noise []byte

func newNoise(n int) noise {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // never fails
	return b
}

func (b noise) stamp(number int64) {
	for i := 0; i+8 <= len(b); i += syncBlock {
		binary.LittleEndian.PutUint64(b[i:], uint64(number)*uint64(len(b))+uint64(i))
	}
}

// write writes the file, as much of it as its time allows, and waits until it
// is on the disk.
func (l *diskLoad) write() error {
	f, err := os.OpenFile(filepath.Join(l.dir, "data"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	block := newNoise(seqBlock)
	start := time.Now()
	var written int64
	for written+seqBlock <= l.size && (time.Since(start) < l.part || written == 0) {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		block.stamp(written)
		n, err := f.Write(block)
		if err != nil {
			return err
		}
		written += int64(n)
	}
	if err := f.Sync(); err != nil {
		return err
	}
	l.size = written
	l.run.Metrics[WriteBytes] = float64(written) / time.Since(start).Seconds()
	return nil
}

// writeSynchronously writes block after block with O_SYNC, which is what
// write(2) and fsync(2) do together (open(2)).
func (l *diskLoad) writeSynchronously() error {
	f, err := os.OpenFile(filepath.Join(l.dir, "sync"), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_SYNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	room := min(syncFile, max(l.size/4, syncBlock)) / syncBlock
	block := newNoise(syncBlock)
	var taken samples
	start := time.Now()
	for i := int64(0); time.Since(start) < l.part || i == 0; i++ {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		block.stamp(i)
		before := time.Now()
		if _, err := f.WriteAt(block, i%room*syncBlock); err != nil {
			return err
		}
		taken.add(time.Since(before).Seconds())
	}
	l.run.Metrics[SyncWrites] = float64(taken.seen) / time.Since(start).Seconds()
	l.run.distribution(taken.values)
	return nil
}

// readPastCache reads the file from its beginning, then at random.
func (l *diskLoad) readPastCache() error {
	reads := []string{ReadBytes, RandomReads, RandomReadTime, DeepReads}
	f, err := openPastCache(filepath.Join(l.dir, "data"))
	if err != nil {
		for _, name := range reads {
			l.run.unknown(name, fmt.Sprintf("the file cannot be read past the cache: %v", err))
		}
		return nil
	}
	defer f.Close()
	if err := l.counted([]string{ReadBytes}, func() (int64, error) { return l.readOn(f) }); err != nil {
		return err
	}
	err = l.counted([]string{RandomReads, RandomReadTime}, func() (int64, error) {
		taken, elapsed, err := l.readAnywhere(f, 1)
		l.run.Metrics[RandomReads] = float64(taken.seen) / elapsed.Seconds()
		r := Run{Metrics: map[string]float64{}}
		r.distribution(taken.values)
		l.run.Metrics[RandomReadTime] = r.Metrics[LatencyP50]
		return int64(taken.seen) * syncBlock, err
	})
	if err != nil {
		return err
	}
	return l.counted([]string{DeepReads}, func() (int64, error) {
		taken, elapsed, err := l.readAnywhere(f, deepReaders)
		l.run.Metrics[DeepReads] = float64(taken.seen) / elapsed.Seconds()
		return int64(taken.seen) * syncBlock, err
	})
}

// counted reads and compares with what the kernel says it took from devices,
// where it says so.
func (l *diskLoad) counted(metrics []string, read func() (int64, error)) error {
	before := deviceReads()
	n, err := read()
	if err != nil {
		return err
	}
	if from := deviceReads() - before; before >= 0 && float64(from) < 0.95*float64(n) {
		for _, name := range metrics {
			l.run.unknown(name, "part of what was read came from memory, by the kernel's count (/proc/self/io)")
		}
	}
	return nil
}

// readOn reads the file once, or as far as its time allows.
func (l *diskLoad) readOn(f *os.File) (int64, error) {
	block, free, err := alignedBlock(seqBlock)
	if err != nil {
		return 0, err
	}
	defer free()
	start := time.Now()
	var n int64
	for n+seqBlock <= l.size && (time.Since(start) < l.part || n == 0) {
		if err := l.ctx.Err(); err != nil {
			return n, err
		}
		if _, err := f.ReadAt(block, n); err != nil {
			return n, err
		}
		n += seqBlock
	}
	l.run.Metrics[ReadBytes] = float64(n) / time.Since(start).Seconds()
	return n, nil
}

// readAnywhere reads blocks at random places, several at once.
func (l *diskLoad) readAnywhere(f *os.File, at int) (samples, time.Duration, error) {
	parts, errs := make([]samples, at), make([]error, at)
	start := time.Now()
	var wg sync.WaitGroup
	for i := range at {
		wg.Go(func() {
			block, free, err := alignedBlock(syncBlock)
			if err != nil {
				errs[i] = err
				return
			}
			defer free()
			for l.ctx.Err() == nil && (time.Since(start) < l.part || parts[i].seen == 0) {
				before := time.Now()
				if _, err := f.ReadAt(block, rand.Int64N(l.size/syncBlock)*syncBlock); err != nil {
					errs[i] = err
					return
				}
				parts[i].add(time.Since(before).Seconds())
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(start)
	all := parts[0]
	for _, p := range parts[1:] {
		all.seen += p.seen
	}
	return all, elapsed, errors.Join(append(errs, l.ctx.Err())...)
}
