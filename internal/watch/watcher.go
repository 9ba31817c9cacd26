package watch

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/wirerate/wirerate/internal/flow"
)

// span is how many samples a window has.
const span = 5

// trackLimit bounds the connections that are followed one by one.
const trackLimit = 1 << 17

// track is one connection over time. The samples of the window are kept while it
// moves data, or has some to send.
type track struct {
	last   Connection
	at     time.Duration
	window []moment
	quiet  int // samples in which nothing happened
	past   past
	round  uint64 // of the last sample that showed it
	limit  flow.Limit
	since  time.Time
	first  time.Time // seen
	change *change   // nil of those that did nothing lately, as most
	known  bool      // change is of the last window
}

// Watcher turns samples of a host into what limits it now.
type Watcher struct {
	begin    time.Time // of the clock of moments
	tracks   map[uint64]*track
	read     []*track // those of the last sample
	round    uint64
	earlier  *Sample // without connections
	hosts    []hostChange
	verdict  Verdict
	proposed Verdict // what the last sample alone says
	held     int     // samples in which proposed was the same
}

// NewWatcher returns a watcher that has seen nothing.
func NewWatcher() *Watcher { return &Watcher{tracks: map[uint64]*track{}} }

// Add takes the next sample and tells the state of the host. The list of
// connections is not kept.
func (w *Watcher) Add(s *Sample) State {
	if w.begin.IsZero() {
		w.begin = s.Time
	}
	at := s.Time.Sub(w.begin)
	w.round++
	w.read = w.read[:0]
	var listeners []Connection
	for i := range s.Connections {
		c := &s.Connections[i]
		if c.State == Listening {
			listeners = append(listeners, *c)
			continue
		}
		w.follow(c, at, s.Time)
	}
	if !s.Partly {
		w.forget(s.Unchanged)
	}
	change := compare(w.earlier, s)
	change.listeners(listeners)
	w.hosts = append(w.hosts, change)
	if len(w.hosts) > 3 {
		w.hosts = slices.Delete(w.hosts, 0, 1)
	}
	state := w.state(s, &change)
	state.Round(4)
	kept := *s
	kept.Connections, kept.Unchanged = nil, nil
	w.earlier = &kept
	return state
}

// forget drops connections that were neither read nor among those that are there.
func (w *Watcher) forget(there []uint64) {
	for _, id := range there {
		if t := w.tracks[id]; t != nil {
			t.round = w.round
		}
	}
	for id, t := range w.tracks {
		if t.round != w.round {
			delete(w.tracks, id)
		}
	}
}

// follow takes what a sample shows of a connection.
func (w *Watcher) follow(c *Connection, at time.Duration, now time.Time) {
	t := w.tracks[c.ID]
	if t == nil {
		if len(w.tracks) >= trackLimit {
			return
		}
		t = &track{}
		w.tracks[c.ID] = t
		t.begin(c, at, now, w.round)
		return
	}
	w.read = append(w.read, t)
	t.round = w.round
	t.known = false
	p := &t.last
	if c.wentBack(p) || c.Local != p.Local || c.Peer != p.Peer {
		t.begin(c, at, now, w.round) // another connection under the same name
		return
	}
	if c.Acked == p.Acked && c.Received == p.Received && c.Send == 0 && !c.unread() {
		t.quiet++
	} else {
		t.quiet = 0
	}
	if t.quiet >= span {
		t.window, t.change, t.limit = nil, nil, ""
		t.last, t.at = *c, at
		return
	}
	t.keep(c, at)
	did, known := over(t.window)
	if t.known = known; !known {
		return
	}
	if t.change == nil {
		t.change = new(change)
	}
	*t.change = did
	limit := t.change.limit(&t.past)
	if rate := t.change.passed(); rate > 0 && limit == flow.Policer {
		t.past.policed = rate
	}
	if limit != t.limit {
		t.limit, t.since = limit, now
	}
}

// looks tells whether a connection is to be read whole, by its state and queues:
// it is new, its queues changed, or something went on lately.
func (w *Watcher) looks(c *Connection) bool {
	t := w.tracks[c.ID]
	if t == nil {
		return len(w.tracks) < trackLimit
	}
	return t.quiet < span || c.Send != t.last.Send || c.Receive != t.last.Receive
}

// begin takes the first look at a connection. Its window begins when something
// goes on: most do nothing.
func (t *track) begin(c *Connection, at time.Duration, now time.Time, round uint64) {
	*t = track{first: now, round: round, last: *c, at: at, past: past{largest: c.Offered}}
	if c.Send > 0 || c.unread() {
		t.window = []moment{{at, *c}}
		return
	}
	t.quiet = 1
	if round == 1 { // it was there before the first look, as most were: one more tells whether it moves
		t.quiet = span - 1
	}
}

func (t *track) keep(c *Connection, at time.Duration) {
	if t.window == nil && t.at > 0 && t.quiet == 0 {
		t.window = append(t.window, moment{t.at, t.last})
	}
	if t.quiet == 0 || t.window != nil {
		if len(t.window) >= span {
			t.window = slices.Delete(t.window, 0, len(t.window)-span+1)
		}
		t.window = append(t.window, moment{at, *c})
	}
	t.last, t.at = *c, at
	t.past.largest = max(t.past.largest, c.Offered)
}

// moving are the connections that did something over the window.
func (w *Watcher) moving() []*track {
	var all []*track
	for _, t := range w.read {
		if t.known {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *track) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), a.last.Peer.Compare(b.last.Peer),
			a.last.Local.Compare(b.last.Local))
	})
	return all
}

// weight is how much a connection matters: what it moves, and what waits in it.
func (t *track) weight() float64 {
	c := t.change
	waiting := float64(t.last.Send+t.last.NotSent+t.last.Receive) / c.seconds
	if t.limit == flow.Program || t.limit == "" {
		return c.acked + c.received
	}
	return c.acked + c.received + waiting
}

// peers groups connections that have the same limit with the same peer.
type group struct {
	limit  flow.Limit
	peer   netip.Addr
	flows  int
	weight float64
	here   bool // this host's program
}

// trifle is how little a connection may move, in bytes a second, so that it is of
// no interest that its program sends no more.
const trifle = 12500

func groups(moving []*track) []group {
	var all []group
	for _, t := range moving {
		if t.limit == "" || t.limit == flow.Unknown ||
			t.limit == flow.Program && t.change.acked < trifle {
			continue
		}
		g := group{limit: t.limit, peer: t.last.Peer.Addr(), here: t.change.slowHere()}
		i := slices.IndexFunc(all, func(a group) bool { return a.limit == g.limit && a.peer == g.peer && a.here == g.here })
		if i < 0 {
			i, all = len(all), append(all, g)
		}
		weight := t.weight()
		if t.limit == flow.Program {
			weight /= 10 // others that are limited matter more
		}
		all[i].flows++
		all[i].weight += weight
	}
	slices.SortStableFunc(all, func(a, b group) int { return cmp.Compare(b.weight, a.weight) })
	return all
}
