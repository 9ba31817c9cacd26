package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

// windowScale is the largest window that TCP's header can express.
func windowScale(path netpath.Path, sender, receiver *facts.Facts) Ceiling {
	c := Ceiling{Resource: "window-scale", Metric: Goodput, Sources: []string{"RFC 7323, sections 2.2 and 2.3"}}
	if path.RTT <= 0 {
		return c.unknown("the round-trip time is not known; give it with --path rtt=")
	}
	window, why := float64(maxScaledWindow), "65535 bytes scaled by 2^14"
	for _, f := range []*facts.Facts{sender, receiver} {
		if f == nil {
			continue
		}
		if on, known := windowScaling(f); known && !on {
			window, why, c.Host = 65535, "65535 bytes, window scaling is off", f.Host
		}
	}
	return c.known(window*8/path.RTT.Seconds(), map[string]any{"window_bytes": int64(window), "rtt_s": path.RTT.Seconds()},
		"%s, one window per %s", why, units.Duration(path.RTT))
}

// lossCeiling is what the sender's congestion control reaches at the path's
// loss rate.
func lossCeiling(path netpath.Path, f *facts.Facts) Ceiling {
	c := Ceiling{Resource: "loss-response", Metric: Goodput, Host: hostName(f),
		Sources: []string{"RFC 9438, section 5.1", "Mathis et al., The Macroscopic Behavior of the TCP Congestion " +
			"Avoidance Algorithm, 1997"}}
	if f == nil {
		return c.unknown("this host was not inspected")
	}
	if path.Loss <= 0 {
		return c.unknown("no loss rate was declared or measured for the path")
	}
	_, _, algorithm := f.CongestionControls()
	if algorithm == "" {
		return c.unknown("the congestion control is not known")
	}
	if strings.HasPrefix(algorithm, "bbr") {
		return c.unknown("BBR paces by its model of the path: random loss of a percent or two does not reduce its rate")
	}
	bound, ok := lossResponse(algorithm, path)
	if !ok {
		return c.unknown("%s has no published response to random loss", algorithm)
	}
	return c.known(bound, map[string]any{"algorithm": algorithm, "loss": path.Loss, "rtt_s": path.RTT.Seconds(),
		"mss_bytes": path.MSS()},
		"%s at a loss rate of %s over %s with segments of %d bytes", algorithm, units.Digits(path.Loss, 3), units.Duration(path.RTT),
		path.MSS())
}

// bus is the payload that the card's bus carries; what is forwarded through
// one slot crosses it twice.
func bus(path netpath.Path, f *facts.Facts) Ceiling {
	c := Ceiling{Resource: "bus", Metric: Goodput, Host: f.Host, Sources: []string{"PCI Express Base Specification, " +
		"sections 3.6 and 4.2"}}
	n := f.Outlet()
	if n == nil {
		return c.unknown("no interface is known")
	}
	rate := pcieRate(n.PCIe)
	if rate == 0 {
		return c.unknown("%s reports no bus link (virtual card, or root is needed to read it)", n.Name)
	}
	mtu := max(n.MTU, 576)
	if path.MTU > 0 {
		mtu = min(mtu, path.MTU)
	}
	share := float64(mtu-52) / float64(mtu+14)
	why := ""
	if _, on := reallyForwards(f, ""); on {
		share, why = share/2, ", counted twice for forwarded packets"
	}
	p := n.PCIe
	inputs := map[string]any{"gigatransfers_per_second": p.Speed, "width": p.Width, "form": p.Form, "payload_share": share}
	if p.Form != "pcie" {
		return c.known(rate*share, inputs, "%s: %s of %d bits at %g MHz%s", n.Name, p.Form, p.Bits, p.Clock, why)
	}
	return c.known(rate*share, inputs, "%s: PCI Express %g GT/s x%d less encoding and headers%s", n.Name, p.Speed,
		p.Width, why)
}

// socketMemory is what all connections together can have under way.
func socketMemory(path netpath.Path, f *facts.Facts) Ceiling {
	c := Ceiling{Resource: "socket-memory", Metric: Goodput, Host: f.Host}
	if path.RTT <= 0 {
		return c.unknown("the round-trip time is not known; give it with --path rtt=")
	}
	var limit float64
	setting := ""
	switch f.System {
	case "linux":
		mem, ok := f.Triple("net.ipv4.tcp_mem")
		if !ok || f.PageSize == 0 {
			return c.unknown("net.ipv4.tcp_mem or the page size is not known")
		}
		limit, setting = float64(mem[2])*float64(f.PageSize), "net.ipv4.tcp_mem[2]"
		c.Sources = []string{"torvalds/linux v6.12 Documentation/networking/ip-sysctl.rst, tcp_mem"}
	case "freebsd":
		clusters, ok := f.Integer("kern.ipc.nmbclusters")
		if !ok {
			return c.unknown("kern.ipc.nmbclusters is not known")
		}
		limit, setting = float64(clusters)*2048, "kern.ipc.nmbclusters"
		c.Sources = []string{"freebsd/freebsd-src sys/kern/kern_mbuf.c"}
	default:
		clusters, ok := f.Integer("kern.maxclusters")
		if !ok {
			return c.unknown("kern.maxclusters is not known")
		}
		limit, setting = float64(clusters)*2048, "kern.maxclusters"
		c.Sources = []string{"openbsd/src sys/kern/uipc_mbuf.c"}
	}
	return c.known(limit*8/path.RTT.Seconds(), map[string]any{"limit_bytes": int64(limit), "rtt_s": path.RTT.Seconds(),
		"setting": setting},
		"%s allows %s for all connections, once per %s", setting, units.Bytes(limit), units.Duration(path.RTT))
}

// packetRate extrapolates from the window: the packets that a core handled for
// its time in interrupts, times the cores that took packets.
func packetRate(f *facts.Facts) Ceiling {
	c := Ceiling{Resource: "cpu", Metric: PacketRate, Host: f.Host}
	if f.Window == 0 {
		return c.unknown("it needs a sampling window with traffic: --for 5s")
	}
	if f.System != "linux" {
		return bsdPacketRate(c, f)
	}
	c.Sources = []string{"torvalds/linux v6.12 net/core/net-procfs.c, softnet_seq_show"}
	var perCore []float64
	for _, p := range f.Processors {
		if p.Sampled && p.Softnet != nil && p.Softnet.Processed.Rate != nil && *p.Softnet.Processed.Rate > 1000 &&
			p.Interrupt > 0.02 {
			perCore = append(perCore, *p.Softnet.Processed.Rate/p.Interrupt)
		}
	}
	if len(perCore) == 0 {
		return c.unknown("too few packets arrived in the window to compute the cost of one")
	}
	slices.Sort(perCore)
	one := perCore[len(perCore)/2]
	return c.known(one*float64(len(perCore)), map[string]any{"per_core_pps": one, "cores": len(perCore)},
		"%s packets/s per fully used core, on the %d cores that received packets", units.Digits(one, 3), len(perCore))
}

// bsdPacketRate divides the packets that the interfaces received by the time
// of all cores in interrupts: the BSDs count no packets by core.
func bsdPacketRate(c Ceiling, f *facts.Facts) Ceiling {
	c.Sources = []string{"freebsd/freebsd-src usr.bin/netstat/if.c",
		"freebsd/freebsd-src sys/kern/kern_clock.c, read_cpu_time"}
	var packets, busy float64
	for i := range f.NICs {
		if n := &f.NICs[i]; physical(n) && n.Counters["netstat.Ipkts"].Rate != nil {
			packets += *n.Counters["netstat.Ipkts"].Rate
		}
	}
	cores := 0
	for _, p := range f.Processors {
		if p.Sampled && p.Interrupt > 0.02 {
			busy += p.Interrupt
			cores++
		}
	}
	if packets < 1000 || busy < 0.05 {
		return c.unknown("too few packets arrived in the window to compute the cost of one")
	}
	return c.known(packets/busy*float64(cores), map[string]any{"per_core_pps": packets / busy, "cores": cores},
		"%s packets/s per core fully in interrupts, on the %d cores that had any", units.Digits(packets/busy, 3), cores)
}

// disk is what the disk that moved most carried while it was busy, for roles
// about files. A disk that serves many requests at once can do more, so only a
// rotating one, or one that was busy all the time, sets a bound.
func disk(f *facts.Facts, role string) Ceiling {
	c := Ceiling{Resource: "disk", Metric: Goodput, Host: f.Host,
		Sources: []string{"Denning and Buzen, The Operational Analysis of Queueing Network Models, 1978: the " +
			"utilisation law", "torvalds/linux v6.12 Documentation/admin-guide/iostats.rst"}}
	if role != "file" {
		return c.unknown("only the file role reads from disks: --role file")
	}
	if why := f.Why("disks"); why != "" && len(f.Disks) == 0 {
		return c.unknown("%s", why)
	}
	var best *facts.Disk
	for i := range f.Disks {
		if d := &f.Disks[i]; len(d.Below) == 0 && (best == nil || cmp.Compare(diskBytes(d), diskBytes(best)) > 0) {
			best = d
		}
	}
	if best == nil {
		return c.unknown("no disk is known")
	}
	bytes, src, ok := best.Throughput()
	if !ok {
		return c.unknown("%s was busy for too short a time to measure", best.Name)
	}
	full := best.Load != nil && best.Load.BusyKnown && !best.Load.SinceBoot && best.Load.Busy >= 0.9
	if !full && (best.Rotational == nil || !*best.Rotational) {
		return c.unknown("%s moved %s/s while it was busy, and an SSD can do more in parallel",
			best.Name, units.Bytes(bytes))
	}
	return c.known(bytes*8, map[string]any{"disk": best.Name, "bytes_per_second": bytes, "shown": src.Text},
		"%s moved %s/s while it was busy", best.Name, units.Bytes(bytes))
}

// diskBytes is what a disk moved: in the window, or since boot.
func diskBytes(d *facts.Disk) float64 {
	if d.Load != nil && !d.Load.SinceBoot {
		return d.Load.Bytes
	}
	return float64(d.Bytes.Value)
}

// acceptQueue is the burst of connections that the shortest accept queue
// holds; their rate depends on how long the program stays away from accept().
func acceptQueue(f *facts.Facts) Ceiling {
	c := Ceiling{Resource: "accept-queue", Metric: ConnectRate, Host: f.Host,
		Sources: []string{"torvalds/linux v6.12 include/net/sock.h, sk_acceptq_is_full",
			"freebsd/freebsd-src sys/kern/uipc_socket.c, sonewconn"}}
	var shortest *facts.Listener
	for i := range f.Listeners {
		if l := &f.Listeners[i]; l.Backlog > 0 && (shortest == nil || l.Backlog < shortest.Backlog) {
			shortest = l
		}
	}
	if shortest == nil {
		return c.unknown("no listening socket is known")
	}
	return c.unknown("the shortest queue holds %d connections (%s), and the time its program takes to accept() is not "+
		"known", shortest.Backlog, shortest.Local)
}

// netisrThread is the rate of one netisr thread, as the FreeBSD tuning guide
// claims it.
const netisrThreadRate = 4e9

// netisr is what FreeBSD's netisr threads carry where packets are queued to
// them.
func netisr(f *facts.Facts) Ceiling {
	c := Ceiling{Resource: "netisr", Metric: Goodput, Host: f.Host, Sources: []string{"the FreeBSD network tuning " +
		"guide (claimed): one netisr thread carries about 4 Gbit/s"}}
	dispatch, ok := f.Setting("net.isr.dispatch")
	if !ok {
		return c.unknown("net.isr.dispatch is not known")
	}
	if dispatch == "direct" {
		return c.unknown("net.isr.dispatch is direct: the interrupt threads do the work, not the netisr threads")
	}
	threads, ok := f.Integer("net.isr.numthreads")
	if !ok || threads <= 0 {
		return c.unknown("net.isr.numthreads is not known")
	}
	return c.known(float64(threads)*netisrThreadRate, map[string]any{"threads": threads, "thread_bps": netisrThreadRate},
		"%d netisr threads of about %s each (claimed, not measured here)", threads, units.Rate(netisrThreadRate))
}

// synQueue is the rate of connections whose handshakes fit the queue of
// half-open ones, each for one round trip.
func synQueue(path netpath.Path, f *facts.Facts) Ceiling {
	c := Ceiling{Resource: "syn-queue", Metric: ConnectRate, Host: f.Host}
	if path.RTT <= 0 {
		return c.unknown("the round-trip time is not known; give it with --path rtt=")
	}
	var size int64
	why := ""
	switch f.System {
	case "linux":
		c.Sources = []string{"torvalds/linux v6.12 net/ipv4/tcp_input.c, tcp_conn_request",
			"torvalds/linux v6.12 include/net/inet_connection_sock.h, inet_csk_reqsk_queue_is_full"}
		if cookies, known := f.Integer("net.ipv4.tcp_syncookies"); !known || cookies != 0 {
			return c.unknown("SYN cookies take over when the queue is full")
		}
		backlog, ok := f.Integer("net.ipv4.tcp_max_syn_backlog")
		most, ok2 := f.Integer("net.core.somaxconn")
		if !ok || !ok2 {
			return c.unknown("net.ipv4.tcp_max_syn_backlog or net.core.somaxconn is not known")
		}
		size, why = min(backlog*3/4, most), "the smaller of 3/4 of tcp_max_syn_backlog and somaxconn"
	case "freebsd":
		c.Sources = []string{"freebsd/freebsd-src sys/netinet/tcp_syncache.c"}
		if cookies, known := f.Integer("net.inet.tcp.syncookies"); !known || cookies != 0 {
			return c.unknown("SYN cookies take over when the cache is full")
		}
		limit, ok := f.Integer("net.inet.tcp.syncache.cachelimit")
		if !ok {
			return c.unknown("net.inet.tcp.syncache.cachelimit is not known")
		}
		size, why = limit, "net.inet.tcp.syncache.cachelimit"
	default:
		limit, ok := f.Integer("net.inet.tcp.syncachelimit")
		if !ok {
			return c.unknown("net.inet.tcp.syncachelimit is not known")
		}
		c.Sources = []string{"openbsd/src sys/netinet/tcp_input.c, syn_cache_insert"}
		size, why = limit, "net.inet.tcp.syncachelimit"
	}
	return c.known(float64(size)/path.RTT.Seconds(), map[string]any{"entries": size, "rtt_s": path.RTT.Seconds()},
		"%d half-open connections (%s), each for %s", size, why, units.Duration(path.RTT))
}

// localPorts is the rate of connections to one peer address and port: each
// holds a local port while it is open and in TIME_WAIT.
func localPorts(f *facts.Facts) Ceiling {
	c := Ceiling{Resource: "ports", Metric: ConnectRate, Host: f.Host}
	size, src, ok := portRange(f)
	if !ok {
		return c.unknown("%v", notKnown(f, "the range of local ports"))
	}
	wait, why := 60.0, "60 s in TIME_WAIT"
	switch f.System {
	case "linux":
		c.Sources = []string{"torvalds/linux v6.12 include/net/tcp.h, TCP_TIMEWAIT_LEN",
			"torvalds/linux v6.12 net/ipv4/tcp_ipv4.c, tcp_twsk_unique"}
		if reuse, known := f.Integer("net.ipv4.tcp_tw_reuse"); known && reuse == 1 {
			wait, why = 1, "1 s until tcp_tw_reuse reuses a port"
		}
	case "freebsd":
		c.Sources = []string{"freebsd/freebsd-src sys/netinet/tcp_timewait.c"}
		msl, known := f.Integer("net.inet.tcp.msl")
		if !known || msl <= 0 {
			return c.unknown("net.inet.tcp.msl is not known")
		}
		wait = 2 * float64(msl) / 1000
		why = fmt.Sprintf("%g s in TIME_WAIT (2 net.inet.tcp.msl)", wait)
	default:
		c.Sources = []string{"openbsd/src sys/netinet/tcp_timer.h, TCPTV_MSL"}
	}
	return c.known(float64(size)/wait, map[string]any{"ports": size, "wait_s": wait, "shown": src.Text},
		"%d local ports towards one peer address and port, %s", size, why)
}
