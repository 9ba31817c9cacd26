package lab

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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
	return units.Rate(len(t.At)) * traceBytes * 8 * 1000 / units.Rate(t.At[len(t.At)-1])
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
	f, err := input.Open(path)
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
	i     int   // the next opportunity with something left
	cycle int64 // ns at which the current repetition began
	left  int   // bytes left in opportunity i
}

func newTraceClock(t Trace) *traceClock { return &traceClock{trace: t, left: traceBytes} }

// at returns when the next opportunity is.
func (c *traceClock) at() int64 { return c.cycle + c.trace.At[c.i]*1e6 }

func (c *traceClock) step() {
	c.left = traceBytes
	if c.i++; c.i == len(c.trace.At) {
		c.i = 0
		c.cycle += c.period()
	}
}

func (c *traceClock) period() int64 { return c.trace.At[len(c.trace.At)-1] * 1e6 }

// idle passes over what opportunities up to now nobody used and returns when the
// next one is.
func (c *traceClock) idle(now int64) int64 {
	if gone := (now - c.cycle) / c.period(); gone > 0 {
		c.i, c.left = 0, traceBytes
		c.cycle += gone * c.period()
	}
	for c.at() <= now {
		c.step()
	}
	return c.at()
}

// send uses what a packet takes and returns when its last byte leaves.
func (c *traceClock) send(ipBytes int) (end int64) {
	for need := ipBytes + traceOverhead; need > 0; {
		end = c.at()
		n := min(need, c.left)
		need -= n
		if c.left -= n; c.left == 0 {
			c.step()
		}
	}
	return end
}
