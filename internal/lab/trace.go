package lab

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// A Trace is a recording of when a link could deliver, in the format of
// mahimahi's mm-link: one line for each opportunity, a time in ms from the
// start; the trace repeats with its last time as its period. An opportunity
// carries up to 1504 bytes, of which each packet takes its IP length and 4;
// what is not used at that moment is lost.
type Trace struct {
	At []int64 // ms, not falling
}

// traceBytes is what an opportunity carries and traceOverhead what mahimahi
// counts with each IP packet (the TUN device's own header).
const (
	traceBytes    = 1504
	traceOverhead = 4
	maxTrace      = 10_000_000 // opportunities: an hour at 33 Mbit/s
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
		return Trace{}, fmt.Errorf("line %d is longer than %d bytes: this is no trace", len(t.At)+1, bufio.MaxScanTokenSize)
	} else if err != nil {
		return Trace{}, fmt.Errorf("read trace: %w", err)
	}
	if len(t.At) == 0 || t.At[len(t.At)-1] == 0 {
		return Trace{}, fmt.Errorf("a trace needs at least one opportunity after 0 ms")
	}
	return t, nil
}

// LoadTrace reads a trace from a file.
func LoadTrace(path string) (Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return Trace{}, fmt.Errorf("trace: %w", err)
	}
	defer f.Close()
	t, err := ParseTrace(f)
	if err != nil {
		return Trace{}, fmt.Errorf("trace %s: %w", path, err)
	}
	return t, nil
}

// traceClock is a transmitter driven by a trace.
type traceClock struct {
	trace Trace
	i     int
	cycle int64 // ns at which the current repetition began
	left  int   // bytes left in opportunity i
}

func newTraceClock(t Trace) *traceClock { return &traceClock{trace: t, left: traceBytes} }

// send returns when the last byte of a packet that is ready at start leaves.
func (c *traceClock) send(start int64, ipBytes int) int64 {
	period := c.trace.At[len(c.trace.At)-1] * 1e6
	if start-c.cycle > period {
		c.cycle = start / period * period
		c.i, c.left = 0, traceBytes
	}
	for need := ipBytes + traceOverhead; ; {
		at := c.cycle + c.trace.At[c.i]*1e6
		if at >= start {
			if c.left >= need {
				c.left -= need
				return at
			}
			need -= c.left
		}
		c.left = traceBytes
		if c.i++; c.i == len(c.trace.At) {
			c.i, c.cycle = 0, c.cycle+period
		}
	}
}
