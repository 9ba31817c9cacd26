package watch

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/kerneltext"
)

// Sample is what a host showed at one moment. What it could not tell is in
// Missing, with the reason.
type Sample struct {
	Time        time.Time // with a monotonic reading
	Connections []Connection
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
			s.Connections, err = ParseConnections(data, s.Connections)
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
		"/proc/net/snmp":     (*Sample).readTables,
		"/proc/net/netstat":  (*Sample).readTables,
		"/proc/net/sockstat": (*Sample).readSockstat,
		"/proc/net/dev":      func(*Sample, []byte) error { return nil },
		"/proc/uptime":       func(*Sample, []byte) error { return nil },
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
	sources  []source
	programs bool // it cannot show its tables: programs do
	spare    []Connection
}

// NewReader returns the reader of a host that runs Linux.
func NewReader(c host.Conn) *Reader { return &Reader{conn: c, sources: linuxSources()} }

// Read reads the host once. The error is about reaching it.
func (r *Reader) Read(ctx context.Context) (*Sample, error) {
	s, err := r.read(ctx)
	if err == nil && s.Missing["connections"] != "" && s.Missing["devices"] != "" && !r.programs {
		r.programs = true
		r.sources = append(programSources(), r.sources[2:]...)
		return r.read(ctx)
	}
	return s, err
}

func (r *Reader) read(ctx context.Context) (*Sample, error) {
	ops := make([]host.Op, len(r.sources))
	for i, src := range r.sources {
		ops[i] = src.op.Within(readWithin)
	}
	answers, err := r.conn.Do(ctx, ops...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.conn.Name(), err)
	}
	s := &Sample{Time: time.Now(), Counters: map[string]uint64{}, Texts: map[string]string{}, Missing: map[string]string{},
		Connections: r.spare}
	r.spare = nil
	for i, a := range answers {
		src := r.sources[i]
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
	return s, nil
}

// Recycle gives the list of connections of a sample back, which is not used
// afterwards.
func (r *Reader) Recycle(s *Sample) { r.spare, s.Connections = s.Connections, nil }

const (
	readWithin  = 20 * time.Second
	deviceLimit = 4096
)

func (s *Sample) readDevices(data []byte) error {
	s.Devices = map[string]map[string]uint64{}
	for line := range strings.Lines(string(data)) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(words) != 3 {
			return fmt.Errorf("devices: %q is no counter of an interface", line)
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
	columns := []string{"rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_fifo", "", "", "", "tx_bytes", "tx_packets",
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
	return kerneltext.Sockstat(string(data), func(v kerneltext.Value) { _ = s.level("sockstat."+v.Table+"."+v.Name, v.Text) })
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
		if c.Local, err = socketAddress(k.Local); err != nil {
			return
		}
		c.Peer, _ = socketAddress(k.Peer)
		name := fnv.New64a() // ss shows no cookie in one line
		fmt.Fprint(name, k.Local, " ", k.Peer)
		c.ID = name.Sum64()
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

// socketAddress reads an address of ss: [2001:db8::1]:22, 192.0.2.1%eth0:22, *:80.
func socketAddress(text string) (netip.AddrPort, error) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return netip.AddrPort{}, fmt.Errorf("%q is no address", text)
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
