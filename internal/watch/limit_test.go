package watch

import (
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/flow"
)

// seconds makes the samples of a connection, one a second, each changed from the
// one before.
func seconds(n int, start Connection, step func(i int, c *Connection)) []moment {
	var all []moment
	c := start
	for i := range n {
		if i > 0 {
			step(i, &c)
		}
		all = append(all, moment{time.Duration(i) * time.Second, c})
	}
	return all
}

// bulk is a transfer of 10 MB/s over 20 ms that always has something to send.
func bulk() Connection {
	return Connection{State: Established, MSS: 1448, RTT: 20500 * time.Microsecond, MinRTT: 20 * time.Millisecond,
		Threshold: 100, Window: 140, Unacked: 140, NotSent: 1 << 20, Send: 1 << 20, Offered: 3 << 20,
		PacingLimit: 1<<64 - 1, ReceiveBuffer: 131072}
}

func moves(c *Connection, bytes uint64) {
	c.Acked += bytes
	c.Busy += time.Second
	c.Segments += uint32(bytes / 1448)
}

func TestLimits(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name  string
		want  flow.Limit
		start func(*Connection)
		step  func(i int, c *Connection)
	}{
		{"nothing to send and nothing on its way", "", func(c *Connection) { c.Unacked, c.NotSent, c.Send = 0, 0, 0 }, nil},
		{"the peer's window, always as large as it gets", flow.PeerWindow, func(c *Connection) { c.Offered = 65536 },
			func(_ int, c *Connection) { moves(c, 3e6); c.PeerLimited += 900 * ms }},
		{"a window that closes", flow.SlowReader, nil,
			func(_ int, c *Connection) { moves(c, 1e6); c.PeerLimited += 900 * ms; c.Offered = 60000 }},
		{"a window that is closed", flow.SlowReader, nil,
			func(_ int, c *Connection) { c.Busy += time.Second; c.Probing, c.Unacked = true, 0 }},
		{"the send buffer", flow.SendBuffer, func(c *Connection) { c.NotSent, c.AppLimited = 0, true },
			func(_ int, c *Connection) { moves(c, 3e6); c.SendLimited += 800 * ms }},
		{"a program that sends now and then", flow.Program, func(c *Connection) { c.NotSent, c.Unacked = 0, 2 },
			func(_ int, c *Connection) { moves(c, 1e5); c.Busy -= 700 * ms }},
		{"a program that sends evenly, and always has something on its way", flow.Program,
			func(c *Connection) { c.NotSent, c.Unacked, c.AppLimited = 0, 20, true },
			func(_ int, c *Connection) { moves(c, 1e6) }},
		{"a rate that the program asked for", flow.Pacing, func(c *Connection) { c.PacingLimit = 1e6 },
			func(_ int, c *Connection) { moves(c, 980000) }},
		{"a full queue", flow.Path, nil, func(_ int, c *Connection) { moves(c, 10e6); c.RTT = 60 * ms; c.Retransmits += 3 }},
		{"losses without a queue", flow.Congestion, nil,
			func(i int, c *Connection) { moves(c, uint64(1e6*(1+i%2))); c.Retransmits += 20 }},
		{"losses of a sender that keeps to the rate it measures", flow.Path, func(c *Connection) { c.Modelled = true },
			func(_ int, c *Connection) { moves(c, 2e6); c.Retransmits += 100 }},
		{"a window that still opens", flow.SlowStart, func(c *Connection) { c.Threshold = 1<<31 - 1 },
			func(_ int, c *Connection) { moves(c, 10e6); c.Window *= 2; c.Unacked *= 2 }},
		{"a policer", flow.Policer, nil,
			func(_ int, c *Connection) { moves(c, 2e6); c.Retransmits += 100 }},
		{"large segments that never arrive", flow.BlackHole, func(c *Connection) { c.Window = 1 },
			func(i int, c *Connection) { c.Backoff, c.Sacked, c.Busy = uint8(i), 1, c.Busy+time.Second }},
		{"a peer that is gone", flow.Timeout, func(c *Connection) { c.Window = 1 },
			func(i int, c *Connection) { c.Backoff, c.Busy = uint8(i), c.Busy+time.Second }},
		{"a program here that does not read", flow.SlowReader, func(c *Connection) { *c = Connection{ReceiveBuffer: 131072, Receive: 60000} },
			func(_ int, c *Connection) { c.Received += 1000 }},
		{"a receiver that keeps up", "", func(c *Connection) { *c = Connection{ReceiveBuffer: 131072, Receive: 100} },
			func(_ int, c *Connection) { c.Received += 1e6 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			start := bulk()
			start.Acked = 1e9
			if test.start != nil {
				test.start(&start)
			}
			if test.step == nil {
				test.step = func(int, *Connection) {}
			}
			all := seconds(5, start, test.step)
			c, ok := over(all)
			if !ok {
				t.Fatal("not compared")
			}
			if got := c.limit(&past{largest: 3 << 20}); got != test.want &&
				!(test.want == flow.PeerWindow && c.limit(&past{largest: 65536}) == test.want) {
				t.Errorf("%q, not %q", got, test.want)
			}
		})
	}
}

// Numbers that go back are of another connection, or invented.
func TestNumbersThatGoBack(t *testing.T) {
	from := bulk()
	from.Acked = 1e9
	all := seconds(3, from, func(_ int, c *Connection) { moves(c, 1e6) })
	all[2].Acked = 5
	if _, ok := over(all); ok {
		t.Error("a connection that has acknowledged less than before was compared")
	}
	wrapped := seconds(3, bulk(), func(_ int, c *Connection) { moves(c, 1e6); c.Retransmits += 1 << 31 })
	wrapped[0].Retransmits, wrapped[2].Retransmits = 1<<32-2, 3
	if c, ok := over(wrapped); !ok || c.again != 2.5 {
		t.Errorf("a counter of 32 bits that wrapped: %v segments a second", c.again)
	}
}
