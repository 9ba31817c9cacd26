package watch

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/kerneltext"
	"github.com/wirerate/wirerate/internal/system"
)

// Sample is what a host showed at one moment. What it could not tell is in
// Missing, with the reason.
type Sample struct {
	Time        time.Time // with a monotonic reading
	Connections []Connection
	Unchanged   []uint64                     // IDs of connections that are there, and need no look
	Partly      bool                         // others than those connections may be there
	Devices     map[string]map[string]uint64 // interface, counter
	Counters    map[string]uint64            // by table and name: TcpExt.ListenOverflows; tcp_mem.max and other levels
	Processors  []kerneltext.CPU
	Softnet     []kerneltext.Softnet
	Texts       map[string]string // what was read, by the names of facts
	Missing     map[string]string
}

// source is one question to a host.
type source struct {
	name string
	op   host.Op
	read func(*Sample, []byte) error
}

// linuxSources are read without a program being started.
func linuxSources() []source {
	all := []source{
		{"connections", host.ReadTable(host.Connections), func(s *Sample, data []byte) (err error) {
			s.Connections, err = ParseConnections(data, s.Connections[:0])
			return err
		}},
		{"devices", host.ReadTable(host.Devices), (*Sample).readDevices},
	}
	for name, read := range map[string]func(*Sample, []byte) error{
		"/proc/stat": func(s *Sample, data []byte) (err error) {
			s.Processors, err = kerneltext.Stat(string(data))
			return err
		},
		"/proc/net/softnet_stat": func(s *Sample, data []byte) (err error) {
			s.Softnet, err = kerneltext.SoftnetStat(string(data))
			return err
		},
		"/proc/net/snmp":              (*Sample).readTables,
		"/proc/net/netstat":           (*Sample).readTables,
		"/proc/net/sockstat":          (*Sample).readSockstat,
		"/proc/net/stat/nf_conntrack": (*Sample).readConntrack,
		"/proc/net/dev":               func(*Sample, []byte) error { return nil },
		"/proc/uptime":                func(*Sample, []byte) error { return nil },
	} {
		all = append(all, source{name, host.Read(name), read})
	}
	for name, key := range map[string]string{
		"/proc/sys/net/netfilter/nf_conntrack_count": "conntrack.used",
		"/proc/sys/net/netfilter/nf_conntrack_max":   "conntrack.max",
		"/proc/sys/net/ipv4/tcp_mem":                 "tcp_mem.max",
	} {
		all = append(all, source{name, host.Read(name), func(s *Sample, data []byte) error {
			words := strings.Fields(string(data))
			if len(words) == 0 {
				return kerneltext.ErrNothing
			}
			return s.level(key, words[len(words)-1])
		}})
	}
	return all
}

// programSources stand in for the kernel's tables on a host behind ssh.
func programSources() []source {
	return []source{
		{"connections", host.Command("ss", "-tinmaoH"), (*Sample).readSS},
		{"devices", host.Read("/proc/net/dev"), (*Sample).readDev},
	}
}

// Reader reads a Linux host again and again.
type Reader struct {
	conn     host.Conn
	glance   *facts.Glance // of a BSD; nil on Linux
	system   system.System
	sources  []source
	programs bool // it cannot show its tables: programs do
	spare    []Connection
	ids      []uint64               // as spare, those lists that are done with
	room     []byte                 // and the bytes of the table
	look     func(*Connection) bool // tells of a connection's state and queues whether it is to be read whole
	count    int                    // connections that the last full look found
	round    int                    // samples since all were read whole
	wanted   []byte                 // the heads of those that the last list showed, and are read whole
}

// NewReader returns the reader of a host that runs Linux. Of many connections it
// mostly reads those alone that look wants, by what a list of all shows.
func NewReader(c host.Conn, look func(*Connection) bool) *Reader {
	return &Reader{conn: c, sources: linuxSources(), look: look}
}

// Read reads the host once. The error is about reaching it.
func (r *Reader) Read(ctx context.Context) (*Sample, error) {
	if r.glance != nil {
		return r.readBSD(ctx)
	}
	s, err := r.read(ctx)
	if err == nil && s.Missing["connections"] != "" && s.Missing["devices"] != "" && !r.programs {
		r.programs = true
		r.sources = append(programSources(), r.sources[2:]...)
		return r.read(ctx)
	}
	return s, err
}

func (r *Reader) read(ctx context.Context) (*Sample, error) {
	s := &Sample{Counters: map[string]uint64{}, Texts: map[string]string{}, Missing: map[string]string{},
		Connections: r.spare[:0]}
	r.spare = nil
	sources := append([]source{r.connections(ctx)}, r.sources[1:]...)
	ops := make([]host.Op, len(sources))
	for i, src := range sources {
		ops[i] = src.op.Within(readWithin)
	}
	answers, err := r.conn.Do(ctx, ops...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.conn.Name(), err)
	}
	s.Time = time.Now()
	for i, a := range answers {
		src := sources[i]
		if err := a.Err(); err != nil {
			s.Missing[src.name] = err.Error()
			continue
		}
		if err := src.read(s, a.Out); err != nil {
			s.Missing[src.name] = err.Error()
		}
		if src.op.Action == host.ActRead {
			s.Texts[src.op.Path] = string(a.Out)
		}
	}
	if r.round++; s.Missing["connections"] != "" {
		r.round = 0 // all are read next time
	}
	return s, nil
}

const (
	allUpTo   = 2000 // connections that are all read whole at each sample
	listSteps = 10   // most samples from one list of all connections to the next
	wholeStep = 4    // lists until all are read whole
)

// connections is the question for them: all of few; of many, in most samples
// those that moved lately, now and then a list, in which others are found that
// move, and seldom all, whose numbers tell of those that the list does not show.
// How often depends on their number, so that the host is not kept busy.
func (r *Reader) connections(ctx context.Context) source {
	steps := min(1+r.count/2500, listSteps)
	switch {
	case r.look == nil || r.programs || r.count < allUpTo || r.round%(steps*wholeStep) == 0:
		whole := r.sources[0]
		read := whole.read
		whole.op.Data = r.room[:0]
		whole.read = func(s *Sample, data []byte) error {
			err := read(s, data)
			r.room = data
			r.count, r.round, r.wanted = len(s.Connections), 0, nil
			return err
		}
		return whole
	case r.round%steps == 0 || r.wanted == nil:
		op := host.ReadTable(host.ConnectionList)
		op.Data = r.room[:0]
		return source{"connections", op, func(s *Sample, data []byte) error {
			r.room = data
			return r.readListed(ctx, s, data)
		}}
	}
	op := host.ReadTable(host.ConnectionsOf)
	op.Data = r.wanted
	return source{"connections", op, func(s *Sample, data []byte) (err error) {
		s.Partly = true
		s.Connections, err = ParseConnections(data, s.Connections[:0])
		return err
	}}
}

// readListed reads those of a list of all connections whole that are to be looked
// at; where these are many, all.
func (r *Reader) readListed(ctx context.Context, s *Sample, list []byte) error {
	s.Connections = s.Connections[:0]
	if r.wanted == nil {
		r.wanted = []byte{}
	}
	r.count, r.wanted, s.Unchanged = len(list)/messageSize, r.wanted[:0], r.ids[:0]
	var c Connection
	for ; len(list) >= messageSize; list = list[messageSize:] {
		c = Connection{}
		c.head(list[:messageSize])
		if c.State == Listening || r.look(&c) {
			r.wanted = append(r.wanted, list[:messageSize]...)
		} else {
			s.Unchanged = append(s.Unchanged, c.ID)
		}
	}
	op := host.ReadTable(host.ConnectionsOf)
	op.Data = r.wanted
	all := len(r.wanted)/messageSize > r.count/4
	if all {
		op, s.Unchanged, r.wanted = host.ReadTable(host.Connections), nil, nil
		op.Data = r.room[:0] // the list was there
	}
	a, err := host.One(ctx, r.conn, op.Within(readWithin))
	if err != nil {
		return err
	}
	if all {
		r.room = a.Out
	}
	s.Time = time.Now()
	s.Connections, err = ParseConnections(a.Out, s.Connections)
	return err
}

// Interval is how often the host is read where nobody says: as often as costs it
// little. Programs are started on it where it shows no tables.
func (r *Reader) Interval() time.Duration {
	switch {
	case r.glance != nil:
		return 10 * time.Second
	case r.programs:
		return 5 * time.Second
	}
	return time.Second
}

// Recycle gives the lists of a sample back, which are not used afterwards: with
// many connections nothing else that is read takes as much room.
func (r *Reader) Recycle(s *Sample) {
	r.spare = s.Connections
	if s.Unchanged != nil {
		r.ids = s.Unchanged
	}
	s.Connections, s.Unchanged = nil, nil
	if most := 4 * max(r.count, allUpTo); cap(r.spare) > most { // there were many
		r.spare, r.ids, r.room = nil, nil, nil
	}
}

// The bounds of a sample.
const (
	readWithin  = 20 * time.Second
	deviceLimit = 4096
)

func (s *Sample) readDevices(data []byte) error {
	s.Devices = map[string]map[string]uint64{}
	for line := range strings.Lines(string(data)) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(words) != 3 {
			return fmt.Errorf("devices: %q is not a counter of an interface", line)
		}
		n, err := strconv.ParseUint(words[2], 10, 64)
		if err != nil {
			return fmt.Errorf("devices: %w", err)
		}
		s.device(words[0])[words[1]] = n
	}
	return nil
}

func (s *Sample) device(name string) map[string]uint64 {
	if s.Devices[name] == nil && len(s.Devices) < deviceLimit {
		s.Devices[name] = map[string]uint64{}
	}
	if d := s.Devices[name]; d != nil {
		return d
	}
	return map[string]uint64{} // more than a host can have
}

// readDev reads /proc/net/dev.
func (s *Sample) readDev(data []byte) error {
	s.Devices = map[string]map[string]uint64{}
	columns := []string{"rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_fifo", "", "", "",
		"tx_bytes", "tx_packets",
		"tx_errors", "tx_dropped"}
	return kerneltext.Devices(string(data), func(_ int, name string, numbers []string) {
		d := s.device(name)
		for i, column := range columns {
			if n, err := strconv.ParseUint(numbers[i], 10, 64); err == nil && column != "" {
				d[column] = n
			}
		}
	})
}

func (s *Sample) readTables(data []byte) error {
	return kerneltext.Tables(string(data), func(v kerneltext.Value) { _ = s.level(v.Table+"."+v.Name, v.Text) })
}

func (s *Sample) readSockstat(data []byte) error {
	return kerneltext.Sockstat(string(data),
		func(v kerneltext.Value) { _ = s.level("sockstat."+v.Table+"."+v.Name, v.Text) })
}

// readConntrack keeps what /proc/net/stat/nf_conntrack counts of drops.
func (s *Sample) readConntrack(data []byte) error {
	names, sums, err := kerneltext.StatColumns(string(data))
	for i, name := range names {
		if strings.HasSuffix(name, "drop") {
			s.Counters["conntrack."+name] = sums[i]
		}
	}
	return err
}

// level keeps a number; those below zero are none.
func (s *Sample) level(key, text string) error {
	n, err := strconv.ParseUint(text, 10, 64)
	if err == nil {
		s.Counters[key] = n
	}
	return err
}

// readSS reads what ss -tinmao prints.
func (s *Sample) readSS(data []byte) error {
	s.Connections = s.Connections[:0]
	return kerneltext.Sockets(string(data), func(k kerneltext.Socket) {
		c := Connection{Receive: uint32(k.Recv), Send: uint32(k.Send)}
		switch k.State {
		case kerneltext.Established, "CLOSE-WAIT", "FIN-WAIT-1":
			c.State = Established
		case kerneltext.Listening:
			c.State = Listening
		default:
			return
		}
		var err error
		if c.Local, err = socketAddress(k.Local, ':'); err != nil {
			return
		}
		c.Peer, _ = socketAddress(k.Peer, ':')
		c.ID = nameOf(k.Local, k.Peer) // ss shows no cookie in one line
		c.values(&k)
		s.Connections = append(s.Connections, c)
	})
}

// values takes the numbers of ss -i.
func (c *Connection) values(k *kerneltext.Socket) {
	v := k.Values
	millis := func(name string) time.Duration { return time.Duration(v[name] * 1e6) }
	small := func(name string) uint32 { return uint32(min(max(v[name], 0), 1<<32-1)) }
	c.MSS, c.Unacked, c.Sacked, c.Lost = small("mss"), small("unacked"), small("sacked"), small("lost")
	c.RTT, c.MinRTT, c.Window = millis("rtt"), millis("minrtt"), small("cwnd")
	c.Threshold, c.Retransmits, c.Backoff = small("ssthresh"), small("retrans_total"), uint8(min(small("backoff"), 255))
	if c.Threshold == 0 {
		c.Threshold = 1<<31 - 1 // ss leaves it out in slow start
	}
	c.PacingLimit = 1<<64 - 1
	c.Acked, c.Received = uint64(max(v["bytes_acked"], 0)), uint64(max(v["bytes_received"], 0))
	c.NotSent, c.Segments, c.Offered = small("notsent"), small("data_segs_out"), small("snd_wnd")
	c.Delivery = uint64(max(v["delivery_rate"], 0) / 8)
	c.Busy, c.PeerLimited, c.SendLimited = millis("busy"), millis("rwnd_limited_ms"), millis("sndbuf_limited_ms")
	c.ReceiveBuffer, c.SendBuffer, c.Dropped = small("skmem_rb"), small("skmem_tb"), small("skmem_d")
	c.LastReceived, c.LastAck = millis("lastrcv"), millis("lastack")
	for _, w := range k.Words {
		c.AppLimited = c.AppLimited || w == "app_limited"
		c.Modelled = c.Modelled || strings.HasPrefix(w, "bbr")
	}
	c.Probing = strings.Contains(k.Rest, "timer:(persist")
}

// socketAddress reads an address and what separates it from its port, ':' in ss
// ([2001:db8::1]:22, 192.0.2.1%eth0:22, *:80) and '.' in the BSDs' netstat
// (192.0.2.1.22, 2001:db8::1.22, fe80::1%em0.22, *.80).
func socketAddress(text string, separator byte) (netip.AddrPort, error) {
	at := strings.LastIndexByte(text, separator)
	if at < 0 {
		return netip.AddrPort{}, fmt.Errorf("%q is not an address", text)
	}
	port, err := strconv.ParseUint(strings.Replace(text[at+1:], "*", "0", 1), 10, 16)
	if err != nil {
		return netip.AddrPort{}, err
	}
	name, _, _ := strings.Cut(strings.Trim(text[:at], "[]"), "%")
	if name == "*" {
		name = "::"
	}
	addr, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return netip.AddrPortFrom(addr.Unmap(), uint16(port)), err
}
