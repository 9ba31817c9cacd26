package flow

import "slices"

// pauses are the last times at which a sender stopped with data under way and
// room in the window, and went on. One that waits for room in its send buffer
// goes on when an acknowledgement leaves a certain amount under way: Linux wakes
// a program when a third of the buffer is free. The zero value is ready.
type pauses struct {
	next int64 // of the last one
	all  []pause
	n    int
}

type pause struct {
	left, sent int64 // bytes under way when it went on; sent since the pause before
	released   bool  // by an acknowledgement, as far as that is seen
}

const keptPauses = 48

// add takes a pause that ends with so many bytes under way, before the byte
// next.
func (p *pauses) add(left, next int64, released bool) {
	if p.next != 0 {
		if len(p.all) < keptPauses {
			p.all = append(p.all, pause{})
		}
		p.all[p.n%keptPauses] = pause{left, next - p.next, released}
		p.n++
	}
	p.next = next
}

// buffered tells that it was always the same amount under way that made the
// sender go on; distant: the acknowledgements are not seen when the sender sees
// them, so that a program which writes one size cannot be told from it.
func (p *pauses) buffered(distant bool) bool {
	if len(p.all) < 6 {
		return false
	}
	var left, sent []int64
	released := 0
	for _, o := range p.all {
		left, sent = append(left, o.left), append(sent, o.sent)
		if o.released {
			released++
		}
	}
	varies, amount := spread(left)
	_, burst := spread(sent)
	even := varies < burst/8 && amount > burst/3 && amount < 4*burst
	if distant || !even {
		return even && !oneSize(sent)
	}
	return released*5 > len(p.all)*4 || released*2 > len(p.all) && !oneSize(sent)
}

// oneSize tells amounts that are multiples of the least common one.
func oneSize(sent []int64) bool {
	s := slices.Sorted(slices.Values(sent))
	size, n := s[len(s)/8], 0
	if size <= 0 {
		return true
	}
	for _, v := range s {
		if rest := v % size; rest < size/32 || rest > size-size/32 {
			n++
		}
	}
	return n*4 > len(s)*3
}

// spread is the distance between the quartiles, and the median.
func spread(values []int64) (distance, median int64) {
	s := slices.Sorted(slices.Values(values))
	return s[len(s)*3/4] - s[len(s)/4], s[len(s)/2]
}
