package packets

import (
	"encoding/binary"
	"net/netip"
	"runtime"
	"testing"

	"github.com/wirerate/wirerate/internal/flow"
)

// A hundred thousand connections stay within 300 MB, and those beyond push out
// the longest silent ones.
func TestManyFlows(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	x := &table{flows: map[endpoints]*entry{}}
	now := int64(1e18)
	const flows = maxFlows + 1000
	for i := range flows {
		var a [4]byte
		binary.BigEndian.PutUint32(a[:], 0x0a000000+uint32(i))
		from, to := netip.AddrPortFrom(netip.AddrFrom4(a), 40000), netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), 80)
		send := func(up bool, s flow.Segment) {
			now += 1000
			s.Time, s.Options.Scale = now, 7
			p := packet{endpoints: endpoints{from: from, to: to}, Segment: s}
			if !up {
				p.endpoints = endpoints{from: to, to: from}
			}
			x.add(&p)
		}
		send(true, flow.Segment{Flags: flow.SYN})
		send(false, flow.Segment{Flags: flow.SYN | flow.ACK, Ack: 1})
		for j := range uint32(4) {
			send(true, flow.Segment{Flags: flow.ACK, Seq: 1 + j*1000, Ack: 1, Len: 1000, Window: 1000})
			send(false, flow.Segment{Flags: flow.ACK, Seq: 1, Ack: 1 + (j+1)*1000, Window: 1000})
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := len(x.flows); n > maxFlows || n+int(x.Left) != flows {
		t.Errorf("%d flows are kept and %d given up, of %d", n, x.Left, flows)
	}
	used := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d flows in %d MB", len(x.flows), used/1e6)
	if used > 300e6 {
		t.Errorf("%d MB", used/1e6)
	}
	runtime.KeepAlive(x)
}
