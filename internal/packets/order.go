package packets

import "time"

// order hands packets on by their times: a card with several queues, or two
// interfaces, are not written to a file in that order.
type order struct {
	slots [window]packet
	bytes [window][kept]byte // of their payloads
	by    [window]uint8      // the slots that wait, the oldest first
	n     int
}

const (
	window = 64 // packets within which the order is restored
	kept   = 64 // bytes of a payload, more than what is read of UDP
)

func (o *order) add(p *packet, do func(*packet)) {
	free := uint8(o.n)
	if o.n < window {
		o.n++
	} else {
		free = o.by[0]
		do(&o.slots[free])
		copy(o.by[:], o.by[1:])
	}
	s := &o.slots[free]
	*s = *p
	s.payload = o.bytes[free][:copy(o.bytes[free][:], p.payload)]
	at := o.n - 1
	for ; at > 0 && o.slots[o.by[at-1]].Time > s.Time; at-- {
		o.by[at] = o.by[at-1]
	}
	o.by[at] = free
}

func (o *order) flush(do func(*packet)) {
	for _, i := range o.by[:o.n] {
		do(&o.slots[i])
	}
	o.n = 0
}

// clock counts an interface's times on where its clock was set back.
type clock struct {
	latest, shift int64
	gap           int64 // the longest of the last times between two packets
}

const (
	setBack   = int64(time.Second) // and more is not a matter of order
	maxClocks = 1 << 12            // interfaces whose clocks are told apart
)

func (c *clock) at(now int64) (t int64, back bool) {
	t = now + c.shift
	switch back = c.latest != 0 && t < c.latest-setBack; {
	case back: // what passed meanwhile is not known: rather too much, so that no round trip becomes too short
		c.shift += c.latest + c.gap - t
		t = c.latest + c.gap
	case c.latest != 0:
		c.gap = max(c.gap-c.gap/1024, min(t-c.latest, setBack))
	}
	c.latest = max(c.latest, t)
	return t, back
}
