package emulator

import (
	"sync/atomic"
	"time"
)

// A Gate is closed while a queue is full that holds back the links before it.
type Gate struct{ closed atomic.Bool }

// Flow is what a pipe has to do with gates.
type Flow struct {
	Own    *Gate   // closed and opened by the pipe's queue; nil: a full queue drops
	Behind []*Gate // while one of them is closed, the transmitter waits
}

// gateLook is how often a transmitter that waits looks at its gates.
const gateLook = int64(50 * time.Microsecond)

// waits says whether the transmitter is held back.
func (f Flow) waits() bool {
	for _, g := range f.Behind {
		if g.closed.Load() {
			return true
		}
	}
	return false
}

// work closes the gate of a queue that is full and opens it when half is gone.
func (p *pipe) work() {
	g := p.flow.Own
	switch {
	case g == nil:
	case p.queuedBytes >= p.limitBytes || p.queuedSegs >= p.limitPackets:
		if !g.closed.Load() {
			p.stats.Pauses++
			g.closed.Store(true)
		}
	case p.queuedBytes <= p.limitBytes/2 && p.queuedSegs <= p.limitPackets/2:
		g.closed.Store(false)
	}
}
