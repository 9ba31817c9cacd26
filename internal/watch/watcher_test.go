package watch

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/flow"
)

// flows are connections with one peer, each of whom does the same in a second.
func flows(n int, port uint16, c Connection) []Connection {
	var all []Connection
	for i := range n {
		c.ID = uint64(port)<<32 | uint64(i)
		c.Local = netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), port)
		c.Peer = netip.AddrPortFrom(netip.MustParseAddr("192.0.2.7"), uint16(40000+i))
		all = append(all, c)
	}
	return all
}

func TestVerdictAndSinceWhen(t *testing.T) {
	w := NewWatcher()
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := bulk()
	var st State
	for i := range 10 {
		st = w.Add(&Sample{Time: begin.Add(time.Duration(i) * time.Second), Connections: flows(3, 80, c)})
		moves(&c, 1e6)
		c.SendLimited += 900 * time.Millisecond
	}
	if got := st.Verdict.Text(); got != "send buffer: 3 flows with 192.0.2.7, for 8 s" {
		t.Errorf("%q", got)
	}
	if st.Traffic.Sent != 24e6 || st.Connections != 3 || len(st.Flows) != 3 {
		t.Errorf("%+v", st.Traffic)
	}
	// They end; nothing limits any longer, and nothing of them is kept.
	for i := 10; i < 13; i++ {
		st = w.Add(&Sample{Time: begin.Add(time.Duration(i) * time.Second)})
	}
	if st.Verdict.Limit != NoLimit || len(w.tracks) != 0 {
		t.Errorf("%q, %d connections are kept", st.Verdict.Text(), len(w.tracks))
	}
}

// Idle connections cost no window, and have no limit.
func TestIdleConnections(t *testing.T) {
	w := NewWatcher()
	c := bulk()
	c.Unacked, c.NotSent, c.Send = 0, 0, 0
	var st State
	for i := range 8 {
		st = w.Add(&Sample{Time: time.Unix(int64(i), 0), Connections: flows(50, 80, c)})
	}
	for _, k := range w.tracks {
		if k.window != nil {
			t.Fatal("an idle connection's window is kept")
		}
	}
	if st.Verdict.Limit != NoLimit || st.Moving != 0 {
		t.Errorf("%q, %d move", st.Verdict.Text(), st.Moving)
	}
}

// hostSample is a sample of a host's counters.
func hostSample(i int, counters map[string]uint64, device map[string]uint64) *Sample {
	return &Sample{Time: time.Unix(int64(i), 0), Counters: counters, Devices: map[string]map[string]uint64{"eth0": device}}
}

func TestLimitsOfTheHost(t *testing.T) {
	for _, test := range []struct {
		want string
		at   func(i uint64) (counters, device map[string]uint64)
	}{
		{AcceptQueue, func(i uint64) (map[string]uint64, map[string]uint64) {
			return map[string]uint64{"TcpExt.ListenOverflows": 5 * i}, nil
		}},
		{DeviceQueue + " eth0", func(i uint64) (map[string]uint64, map[string]uint64) {
			return nil, map[string]uint64{"queue_dropped": 1<<32 - 100 + 40*i} // as they are, above 32 bits
		}},
		{Ring + " eth0", func(i uint64) (map[string]uint64, map[string]uint64) {
			return nil, map[string]uint64{"rx_missed": (1<<32 - 100 + 40*i) % (1 << 32)} // wraps
		}},
		{Conntrack, func(i uint64) (map[string]uint64, map[string]uint64) {
			return map[string]uint64{"conntrack.used": 990 + i, "conntrack.max": 1000}, nil
		}},
		{UDPBuffer, func(i uint64) (map[string]uint64, map[string]uint64) {
			return map[string]uint64{"Udp.RcvbufErrors": 9 * i}, nil
		}},
		{TCPMemory, func(uint64) (map[string]uint64, map[string]uint64) {
			return map[string]uint64{"sockstat.TCP.mem": 900, "tcp_mem.max": 900}, nil
		}},
		{NoLimit, func(i uint64) (map[string]uint64, map[string]uint64) { // reset by a new driver, once lost
			return map[string]uint64{"Udp.RcvbufErrors": 7}, map[string]uint64{"rx_missed": 1000 / (i + 1)}
		}},
	} {
		w := NewWatcher()
		var st State
		for i := range 6 {
			counters, device := test.at(uint64(i))
			st = w.Add(hostSample(i, counters, device))
		}
		if got := strings.TrimSpace(st.Verdict.Limit + " " + st.Verdict.Subject); got != test.want {
			t.Errorf("%q, not %q", got, test.want)
		}
	}
}

// A clock that stands still or goes back, and interfaces that come and go.
func TestClockAndInterfaces(t *testing.T) {
	w := NewWatcher()
	for i, at := range []int64{10, 10, 5, 11, 12, 13} {
		name := fmt.Sprintf("eth%d\x1b[2J", i%2)
		st := w.Add(&Sample{Time: time.Unix(at, 0), Connections: flows(2, 80, bulk()),
			Devices: map[string]map[string]uint64{name: {"rx_bytes": uint64(i)}}})
		if st.Interval < 0 || st.Verdict.Seconds < 0 && i > 3 {
			t.Errorf("an interval of %v s, a limit for %v s", st.Interval, st.Verdict.Seconds)
		}
	}
}

// The programs' connections of a host behind ssh say the same.
func TestConnectionsOfSS(t *testing.T) {
	s := &Sample{}
	err := s.readSS([]byte("LISTEN 3 128 0.0.0.0:80 0.0.0.0:*\n\t skmem:(r0,rb131072,t0,tb16384,f0,w0,o0,bl0,d0) cubic\n" +
		"ESTAB 0 9000 192.0.2.1:80 192.0.2.7:4000 timer:(persist,200ms,0)\n\t skmem:(r0,rb131072,t0,tb87040,f0,w0,o0,bl0,d0) " +
		"bbr wscale:7,7 rto:204 rtt:20.5/1 mss:1448 cwnd:10 bytes_acked:5000 segs_out:9 data_segs_out:7 unacked:4 " +
		"notsent:99 minrtt:20 snd_wnd:65536 busy:3000ms rwnd_limited:2000ms(66.7%) app_limited delivery_rate 8Mbps\n"))
	if err != nil || len(s.Connections) != 2 {
		t.Fatalf("%d connections, %v", len(s.Connections), err)
	}
	l, c := s.Connections[0], s.Connections[1]
	if l.State != Listening || l.Receive != 3 || l.Send != 128 {
		t.Errorf("%+v", l)
	}
	if !c.Probing || !c.Modelled || !c.AppLimited || c.PeerLimited != 2*time.Second || c.Delivery != 1e6 ||
		c.MinRTT != 20*time.Millisecond || c.Acked != 5000 || c.NotSent != 99 || c.Offered != 65536 || c.ID == 0 {
		t.Errorf("%+v", c)
	}
}

// Everything has words.
func TestEveryLimitHasWords(t *testing.T) {
	for _, l := range []flow.Limit{flow.Program, flow.SendBuffer, flow.PeerWindow, flow.SlowReader, flow.SlowStart,
		flow.Congestion, flow.Path, flow.Policer, flow.BlackHole, flow.Pacing, flow.Timeout} {
		if LimitWords(string(l)) == string(l) {
			t.Errorf("%s has no words", l)
		}
	}
	for _, l := range HostLimits() {
		if LimitWords(l) == l {
			t.Errorf("%s has no words", l)
		}
	}
}

// A host of 100,000 connections, of which a few move, and more than are followed.
func TestVeryManyConnections(t *testing.T) {
	w := NewWatcher()
	idle := bulk()
	idle.Unacked, idle.NotSent, idle.Send = 0, 0, 0
	busy := bulk()
	var st State
	for i := range 4 {
		var list []Connection
		for port := range uint16(10) {
			list = append(list, flows(10000, 1000+port, idle)...)
		}
		list = append(list, flows(20, 80, busy)...)
		list = append(list, flows(60000, 2000, idle)...)
		st = w.Add(&Sample{Time: time.Unix(int64(i), 0), Connections: list})
		moves(&busy, 1e6)
		busy.SendLimited += 900 * time.Millisecond
	}
	if st.Connections != trackLimit || st.Moving != 20 || st.Verdict.Limit != string(flow.SendBuffer) {
		t.Errorf("%d connections, %d move: %s", st.Connections, st.Moving, st.Verdict.Text())
	}
}
