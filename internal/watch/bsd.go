package watch

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/flow"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/kerneltext"
	"github.com/wirerate/wirerate/internal/system"
)

// untold is what the BSDs' programs do not tell, by system.
func untold(s system.System) map[string]string {
	missing := map[string]string{
		"goodput": "netstat counts bytes per interface, not per connection: the busiest interface's bytes are shown instead",
		"RTT":     "not reported by netstat",
	}
	if s == system.OpenBSD {
		missing["processors"] = "OpenBSD counts for all CPUs together"
		missing["connections"] = "OpenBSD's netstat does not report connection buffers or timers"
	} else {
		missing["connection limits"] = "netstat -x reports only queues, buffers and timers"
	}
	return missing
}

// NewBSDReader returns the reader of a host that runs FreeBSD or OpenBSD.
func NewBSDReader(c host.Conn, s system.System) *Reader {
	return &Reader{conn: c, glance: facts.NewGlance(s), system: s}
}

// readBSD reads the host once.
func (r *Reader) readBSD(ctx context.Context) (*Sample, error) {
	ops := r.glance.Ops()
	for i := range ops {
		ops[i] = ops[i].Within(readWithin)
	}
	answers, err := r.conn.Do(ctx, ops...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.conn.Name(), err)
	}
	f := r.glance.Facts(answers)
	s := &Sample{Time: time.Now(), Counters: map[string]uint64{}, Texts: map[string]string{},
		Missing: maps.Clone(untold(r.system)),
		Devices: map[string]map[string]uint64{}}
	for _, a := range answers {
		if a.Failure == host.None {
			s.Texts[a.Op.String()] = a.Text()
		}
	}
	for name, part := range f.Parts {
		if part.State != facts.Read && part.Because != "" {
			s.Missing[name] = part.Because
		}
	}
	s.takeFacts(f)
	return s, nil
}

// takeFacts makes a sample of what the programs of a BSD told.
func (s *Sample) takeFacts(f *facts.Facts) {
	for i := range f.NICs {
		s.takeNIC(&f.NICs[i])
	}
	s.Counters["TcpExt.ListenOverflows"] = f.Counters["tcp.listen_queue_overflow"].Value
	s.Counters["Udp.RcvbufErrors"] = f.Counters["udp.dropped_due_to_full_socket_buffers"].Value
	s.Counters["tcp.sent"] = f.Counters["tcp.packet_sent.data_packet"].Value
	s.Counters["tcp.again"] = f.Counters["tcp.packet_sent.data_packet_retransmitted"].Value
	for name, c := range f.Counters {
		if strings.HasPrefix(name, "mbuf") && strings.Contains(name, "denied") {
			s.Counters["mbufs.denied"] += c.Value
		}
	}
	for i := range f.Processors {
		if ticks := f.Processors[i].Ticks(); ticks != nil {
			s.Processors = append(s.Processors, kerneltext.CPU{ID: f.Processors[i].ID, Ticks: ticks})
		}
	}
	for _, l := range f.Listeners {
		local, err := socketAddress(l.Local, '.')
		if err == nil {
			s.Connections = append(s.Connections, Connection{State: Listening, Local: local, Receive: uint32(max(l.Queue, 0)),
				Send: uint32(max(l.Backlog, 0)), ID: nameOf(l.Local, "")})
		}
	}
	for i := range f.Flows {
		s.takeFlow(&f.Flows[i])
	}
}

func (s *Sample) takeNIC(n *facts.NIC) {
	if len(s.Devices) >= deviceLimit {
		return
	}
	d := map[string]uint64{}
	for from, to := range map[string]string{"Ibytes": "rx_bytes", "Obytes": "tx_bytes", "Ipkts": "rx_packets",
		"Opkts": "tx_packets",
		"Ierrs": "rx_errors", "Oerrs": "tx_errors", "Idrop": "rx_missed", "Drop": "queue_dropped", "Ifail": "rx_errors",
		"Ofail": "tx_errors", "Iqdrops": "rx_missed", "Oqdrops": "queue_dropped"} {
		if c, ok := n.Counters["netstat."+from]; ok {
			d[to] = c.Value
		}
	}
	s.Devices[n.Name] = d
}

// takeFlow makes a connection of a line of netstat -x: its queues, their limits
// and the timer with which a closed window is asked.
func (s *Sample) takeFlow(f *facts.Flow) {
	local, err := socketAddress(f.Local, '.')
	if err != nil {
		return
	}
	peer, err := socketAddress(f.Peer, '.')
	if err != nil {
		return
	}
	clip := func(v float64) uint32 { return uint32(min(max(v, 0), 1<<32-1)) }
	s.Connections = append(s.Connections, Connection{State: Established, QueuesOnly: true, Local: local, Peer: peer,
		ID: nameOf(f.Local, f.Peer), Receive: clip(float64(f.RecvQ)), Send: clip(float64(f.SendQ)),
		ReceiveBuffer: clip(f.Values["R-HIWA"]), SendBuffer: clip(f.Values["S-HIWA"]), Probing: f.Values["persist"] > 0})
}

// nameOf stands for the kernel's cookie, which netstat does not tell.
func nameOf(local, peer string) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, local, " ", peer)
	return h.Sum64()
}

// waits is what the queues alone tell: a program that does not read, here or at
// the peer; or that data waits, and not why.
func (c *change) waits() flow.Limit {
	switch full := c.last.SendBuffer / 10 * 9; {
	case c.slowHere(), c.last.Probing && c.last.Send > 0:
		return flow.SlowReader
	case full > 0 && c.last.Send >= full && c.first.Send >= full:
		return flow.Unknown
	}
	return ""
}

// substitute takes what the busiest interface carried for the goodput of a host
// that does not tell that of its connections.
func (st *State) substitute(c *hostChange) {
	for _, i := range st.Interfaces {
		if !strings.HasPrefix(i.Name, "lo") && i.Sent+i.Received > st.Traffic.Sent+st.Traffic.Received {
			st.Traffic.Sent, st.Traffic.Received = i.Sent, i.Received
		}
	}
	st.Traffic.Retransmits = c.grown["tcp.again"]
	st.Traffic.Loss = min(c.grown["tcp.again"]/cmp.Or(c.grown["tcp.sent"], 1), 1)
}
