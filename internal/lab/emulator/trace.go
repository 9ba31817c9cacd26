package emulator

import "github.com/wirerate/wirerate/internal/lab/link"

// traceClock is a transmitter driven by a trace.
type traceClock struct {
	trace link.Trace
	i     int   // the next opportunity with something left
	cycle int64 // ns at which the current repetition began
	left  int   // bytes left in opportunity i
}

func newTraceClock(t link.Trace) *traceClock { return &traceClock{trace: t, left: link.TraceBytes} }

// at returns when the next opportunity is.
func (c *traceClock) at() int64 { return c.cycle + c.trace.At[c.i]*1e6 }

func (c *traceClock) step() {
	c.left = link.TraceBytes
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
		c.i, c.left = 0, link.TraceBytes
		c.cycle += gone * c.period()
	}
	for c.at() <= now {
		c.step()
	}
	return c.at()
}

// send uses what a packet takes and returns when its last byte leaves.
func (c *traceClock) send(ipBytes int) (end int64) {
	for need := ipBytes + link.TraceOverhead; need > 0; {
		end = c.at()
		n := min(need, c.left)
		need -= n
		if c.left -= n; c.left == 0 {
			c.step()
		}
	}
	return end
}
