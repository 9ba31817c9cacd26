package screen

import (
	"context"
	"sync"
	"time"

	"github.com/wirerate/wirerate/internal/watch"
)

// Player paces what was recorded.
type Player struct {
	mu      sync.Mutex
	speed   float64
	paused  bool
	steps   int
	jump    bool // to the next change of what limits
	changed chan struct{}
}

// NewPlayer plays as fast as it was.
func NewPlayer() *Player { return &Player{speed: 1, changed: make(chan struct{}, 1)} }

func (p *Player) set(change func()) {
	p.mu.Lock()
	change()
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// longest is how long a gap in a recording is waited for.
const longest = 2 * time.Second

// Wait waits until the state that follows another is due.
func (p *Player) Wait(ctx context.Context, before, next watch.State) error {
	begin := time.Now()
	for {
		p.mu.Lock()
		due := time.Duration(float64(min(max(next.Time.Sub(before.Time), 0), longest)) / p.speed)
		now, paused := false, p.paused
		switch {
		case p.jump:
			now = true
			if next.Verdict.Limit != before.Verdict.Limit && next.Verdict.Limit != watch.NoLimit {
				p.jump, p.paused = false, true
			}
		case p.steps > 0:
			p.steps--
			now = true
		}
		p.mu.Unlock()
		left := due - time.Since(begin)
		if now || !paused && left <= 0 {
			return ctx.Err()
		}
		if paused {
			left = time.Hour
		}
		timer := time.NewTimer(left)
		select {
		case <-ctx.Done():
		case <-p.changed:
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
