package link

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/units"
)

// A Trace is a recording of when a link could deliver, in the format of
// mahimahi's mm-link, and means what it means there (src/frontend/link_queue.cc
// of https://github.com/ravinet/mahimahi): one line for each opportunity, a time
// in ms from the start; the trace repeats with its last time as its period. An
// opportunity carries up to 1504 bytes, of which each packet takes its IP length
// and 4: several small packets, or a part of one that the next ones finish. What
// finds the queue empty, or came at the opportunity's very moment, waits for a
// later one; what an opportunity has left when the queue is empty is lost. A
// packet is in the queue until the opportunity at which it begins.
type Trace struct {
	At []int64 // ms, not falling
}

// Rate returns what the opportunities carry in the long run, in bit/s with the 4
// bytes that are counted with each packet.
func (t Trace) Rate() units.Rate {
	return units.Rate(len(t.At)) * TraceBytes * 8 * 1000 / units.Rate(t.At[len(t.At)-1])
}

const (
	// TraceBytes is what an opportunity of a trace carries.
	TraceBytes = 1504
	// TraceOverhead is what mahimahi counts with each IP packet, in bytes: the TUN
	// device's own header.
	TraceOverhead = 4

	maxTrace     = 10_000_000 // opportunities: an hour at 33 Mbit/s
	maxTraceFile = 256 << 20  // bytes: those with comments
)

// ParseTrace reads a trace. Empty lines and lines that begin with # are
// skipped.
func ParseTrace(r io.Reader) (Trace, error) {
	var t Trace
	in := bufio.NewScanner(r)
	for line := 1; in.Scan(); line++ {
		text := strings.TrimSpace(in.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil || ms < 0 || ms > 1e9 {
			return Trace{}, fmt.Errorf("line %d: %q is not a time in ms", line, text)
		}
		if n := len(t.At); n > 0 && ms < t.At[n-1] {
			return Trace{}, fmt.Errorf("line %d: %d ms is before the %d ms above it", line, ms, t.At[n-1])
		}
		if len(t.At) == maxTrace {
			return Trace{}, fmt.Errorf("more than %d opportunities", maxTrace)
		}
		t.At = append(t.At, ms)
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		return Trace{}, fmt.Errorf("line %d is longer than %d bytes: this is not a trace", len(t.At)+1,
			bufio.MaxScanTokenSize)
	} else if err != nil {
		return Trace{}, fmt.Errorf("read trace: %w", err)
	}
	if len(t.At) == 0 || t.At[len(t.At)-1] == 0 {
		return Trace{}, fmt.Errorf("a trace needs at least one opportunity after 0 ms")
	}
	return t, nil
}

// LoadTrace reads a trace from a file, which is read again for each direction and
// is therefore no pipe.
func LoadTrace(path string) (Trace, error) {
	f, err := input.Open(path)
	if err != nil {
		return Trace{}, fmt.Errorf("trace: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode()&fs.ModeNamedPipe != 0 {
		return Trace{}, fmt.Errorf("trace %s: a file is expected, which can be read more than once", path)
	} else if info.Size() > maxTraceFile {
		return Trace{}, fmt.Errorf("trace %s: it is larger than %s", path, units.Bytes(maxTraceFile))
	}
	t, err := ParseTrace(io.LimitReader(f, maxTraceFile))
	if err != nil {
		return Trace{}, fmt.Errorf("trace %s: %w", path, err)
	}
	return t, nil
}

// CheckTraces reads the traces of the link and reports what is wrong with them.
func (l Link) CheckTraces() error {
	for _, d := range []Direction{l.Up, l.Down} {
		if d.Trace == "" {
			continue
		}
		if _, err := LoadTrace(d.Trace); err != nil {
			return err
		}
	}
	return nil
}
