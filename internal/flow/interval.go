package flow

import "math"

// why is what a stretch of time between two sends is put down to at once;
// what is open is judged at the end, beside the whole life.
type why uint8

const (
	open    why = iota // data under way, room in the window
	idle               // the program wrote nothing
	paused             // nothing was sent with data under way and room in the window
	full               // the window was full at its largest
	closing            // the window was full and smaller than it had been
	stalled            // until a timer expired
	nagled
	holed
	silly
	reasons
)

// interval is what was seen over one stretch of a direction's life.
type interval struct {
	start     int64
	time      [reasons]int64 // in nanoseconds
	acked     int64          // bytes newly acknowledged
	sent      int64          // bytes sent for the first time
	again     int64          // bytes sent again
	lost      int32          // segments sent again
	segments  int32
	short     int32 // of them not full
	timers    int32 // that expired
	zero      int32 // windows of zero
	sack      int64 // behind the last byte that was acknowledged selectively, 0 none
	flight    int64 // the most under way, in bytes
	window    int64 // the last window, in bytes
	rttMin    int64 // 0: not seen
	rttSum    int64
	rttCount  int32
	next, una int64 // at the end
	edge      int64 // right edge of the window at the end
}

func (v *interval) merge(w *interval) {
	for i := range v.time {
		v.time[i] += w.time[i]
	}
	v.acked += w.acked
	v.sent += w.sent
	v.again += w.again
	v.lost += w.lost
	v.segments += w.segments
	v.short += w.short
	v.timers += w.timers
	v.zero += w.zero
	v.sack = max(v.sack, w.sack)
	v.flight = max(v.flight, w.flight)
	v.window = w.window
	if v.rttMin == 0 || w.rttMin != 0 && w.rttMin < v.rttMin {
		v.rttMin = w.rttMin
	}
	v.rttSum += w.rttSum
	v.rttCount += w.rttCount
	v.next, v.una, v.edge = w.next, w.una, w.edge
}

func (v *interval) rtt() int64 {
	if v.rttCount == 0 {
		return 0
	}
	return v.rttSum / int64(v.rttCount)
}

func (v *interval) sampled(rtt int64) {
	if v.rttMin == 0 || rtt < v.rttMin {
		v.rttMin = rtt
	}
	v.rttSum += rtt
	v.rttCount++
}

// course is a life in intervals of equal length, of which there are never more
// than its limit: then two become one.
type course struct {
	step int64
	list []interval
}

// at is the interval of a moment; moments before the first are of the first.
func (c *course) at(t int64, limit int) *interval {
	if len(c.list) == 0 {
		c.list = append(c.list, interval{start: t})
	}
	for {
		first := c.list[0].start
		i := (t - first) / c.step
		if i < 0 {
			i = 0
		}
		if i < int64(limit) {
			for int64(len(c.list)) <= i {
				last := &c.list[len(c.list)-1]
				c.list = append(c.list, interval{start: last.start + c.step, window: last.window,
					next: last.next, una: last.una, edge: last.edge})
			}
			return &c.list[i]
		}
		if c.step > math.MaxInt64/4 {
			return &c.list[len(c.list)-1]
		}
		c.halve()
	}
}

func (c *course) halve() {
	half := c.list[:0]
	for i := 0; i < len(c.list); i += 2 {
		v := c.list[i]
		if i+1 < len(c.list) {
			v.merge(&c.list[i+1])
		}
		half = append(half, v)
	}
	c.list, c.step = half, 2*c.step
}

// spread puts a stretch of time down to a reason, in all intervals it is in.
func (c *course) spread(from, to int64, reason why, limit int) {
	if to <= from {
		return
	}
	c.at(to, limit)
	for from < to {
		v := c.at(from, limit)
		end := min(max(v.start+c.step, from+1), to)
		v.time[reason] += end - from
		from = end
	}
}

// unspread takes back what spread put down to a reason.
func (c *course) unspread(from, to int64, reason why) {
	for i := range c.list {
		v := &c.list[i]
		if part := min(to, v.start+c.step) - max(from, v.start); part > 0 {
			v.time[reason] = max(0, v.time[reason]-part)
		}
	}
}
