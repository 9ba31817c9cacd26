package workload

import (
	"fmt"
	"strings"
	"time"
)

// Limit is what bounded a run.
type Limit struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Codes of limits.
const (
	LimitPath      = "path"        // its rate, or its queue
	LimitLoss      = "loss"        // of the path
	LimitRoundTrip = "round-trip"  // with so many connections, each waits for it
	LimitClients   = "clients"     // how many there were
	LimitSender    = "sender"      // the client's generator
	LimitRouter    = "router"      // what forwards between the two
	LimitReceiver  = "receiver"    // its socket buffer, or its program
	LimitWindow    = "window"      // the receive window
	LimitSendBuf   = "send-buffer" // of the sending socket
	LimitServer    = "server"      // or the path to it
	LimitServerCPU = "server-cpu"
	LimitClientCPU = "client-cpu"
	LimitProcessor = "processor"        // of a machine that client and server share
	LimitPorts     = "ports"            // of the client towards one address
	LimitAccept    = "accept-queue"     // of the server
	LimitFiles     = "open-files"       // of a process
	LimitTable     = "connection-table" // of tracked connections, of a packet filter
	LimitEmulator  = "emulator"         // this machine's own, of a lab's link
)

// bounded fills in what bounded the run where its tool does not say, from the
// kernels' counters and connections.
func (r *Run) bounded(kind Kind, s Spec) {
	if r.Limit != nil && r.Limit.Code != LimitServer {
		return
	}
	over := int64(0)
	if r.ServerKernel != nil {
		over = r.ServerKernel.Counters["TcpExt.ListenOverflows"] + r.ServerKernel.Counters["TcpExt.TCPReqQFullDrop"]
	}
	busiest := func(c *CPU) float64 {
		if c == nil {
			return 0
		}
		return c.Busiest
	}
	server, client := busiest(r.Server), busiest(r.Client)
	full := tableLimit("server", r.ServerKernel)
	if full == nil {
		full = tableLimit("client", r.ClientKernel)
	}
	switch {
	case full != nil && kind.Primary().Name != Goodput:
		r.Limit = full
	case over > 0 && kind.Primary().Name != Goodput:
		r.Limit = &Limit{LimitAccept, fmt.Sprintf("the server's accept queue: it was full %d times (listen's backlog, "+
			"net.core.somaxconn), and a connection that it turns away waits a second", over)}
	case max(server, client) >= busyCore && r.Server != nil && r.Server.Shared && r.busyItself():
		r.Limit = r.processorLimit("")
	case server >= busyCore && server >= client && !r.Server.Shared:
		r.Limit = &Limit{LimitServerCPU, fmt.Sprintf("the server's processor: a core was %.0f%% busy", 100*server)}
	case client >= busyCore && !r.Client.Shared:
		r.Limit = &Limit{LimitClientCPU, fmt.Sprintf("the client's processor: a core was %.0f%% busy", 100*client)}
	case r.Limit == nil:
		if r.Limit = r.waitLimit(kind, s); r.Limit == nil {
			r.Limit = r.transferLimit()
		}
	}
}

// busyItself tells whether it was the run, with a lab's link, that kept the
// processors busy which client and server share, or half of it at least; also where
// that is not known.
func (r *Run) busyItself() bool {
	if r.Client == nil || r.Server == nil || r.Client.Own+r.Server.Own == 0 {
		return true
	}
	own := r.Client.Own + r.Server.Own + r.Client.Link + r.Client.SoftIRQ
	if r.Router != nil {
		own += r.Router.Own
	}
	return own >= r.Client.Busy/2
}

// processorLimit is the processors of a machine on which everything runs. after
// is what else is said.
func (r *Run) processorLimit(after string) *Limit {
	busiest, parts := 0.0, []string{}
	for _, end := range []struct {
		name string
		cpu  *CPU
	}{{"client", r.Client}, {"server", r.Server}, {"router", r.Router}} {
		if end.cpu == nil {
			continue
		}
		busiest = max(busiest, end.cpu.Busiest)
		if end.cpu.Own > 0 {
			parts = append(parts, fmt.Sprintf("the %s's programs %.0f%%", end.name, 100*end.cpu.Own))
		}
	}
	text := fmt.Sprintf("this machine's processors, which client, server and all between them "+
		"share: a core was %.0f%% busy", 100*busiest)
	if r.Client != nil && r.Client.Link > 0 {
		parts = append(parts, fmt.Sprintf("the emulated link %.0f%%", 100*r.Client.Link))
	}
	if len(parts) > 0 {
		text += "; of all cores' time used " + strings.Join(parts, ", ")
	}
	return &Limit{LimitProcessor, text + after}
}

// tableLimit is the table of tracked connections of a host, where that was full.
func tableLimit(of string, k *Kernel) *Limit {
	n := k.tableFull()
	if n <= 0 {
		return nil
	}
	text := fmt.Sprintf("the %s's table of tracked connections: it was full %d times "+
		"(net.netfilter.nf_conntrack_max, or how long it keeps closed connections)", of, n)
	if t := k.Tracked; t != nil && t.Used > 0 {
		text += fmt.Sprintf("; %d of its %d places were taken when the run began", t.Used, t.Max)
	}
	return &Limit{LimitTable, text}
}

// waits is by how much the median exchange of clients that each wait for their
// answer may exceed the round trip while nothing else holds them.
const waits = 1.25

// waitLimit is the round trip, where all that clients do is wait for it: s has
// how many they are.
func (r *Run) waitLimit(kind Kind, s Spec) *Limit {
	rtt, known := r.ShortestRTT()
	median := r.Metrics[LatencyP50]
	if !known || kind.Primary().Name == Goodput || median <= 0 || median > waits*rtt {
		return nil
	}
	return &Limit{LimitRoundTrip, fmt.Sprintf("the round trip of %s: each of %d clients waits for it before it asks again",
		duration(rtt).Round(100*time.Microsecond), s.Streams)}
}

// busyCore is the busy part of a core from which it counts as the limit.
const busyCore = 0.95

// transferLimit is what held the connections back by what the kernels counted;
// nil where they do not tell.
func (r *Run) transferLimit() *Limit {
	var flows []Flow
	for _, k := range []*Kernel{r.ClientKernel, r.ServerKernel} {
		if k != nil {
			flows = append(flows, k.Flows...)
		}
	}
	f, ok := busiest(flows)
	if !ok {
		return nil
	}
	switch f.limit() {
	case "receiver":
		return &Limit{LimitWindow, fmt.Sprintf("the receive window, for %.0f%% of the sender's time",
			100*f.RwndLimited/f.Busy)}
	case "send-buffer":
		return &Limit{LimitSendBuf, fmt.Sprintf("the send buffer, for %.0f%% of the sender's time",
			100*f.SndbufLimited/f.Busy)}
	case "path":
		return &Limit{LimitPath, "the path: its rate, queue or loss"}
	}
	return nil
}
