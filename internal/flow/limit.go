// Package flow tells what bound a TCP connection for each part of its life,
// from the segments that were seen at any point of its path. The method is
// that of rate analysis (Zhang, Breslau, Paxson and Shenker, On the
// Characteristics and Origins of Internet Flow Rates, SIGCOMM 2002): each
// stretch of time belongs to exactly one limit.
package flow

// Limit is what kept a sender from sending more.
type Limit string

// The limits of a connection.
const (
	Program    Limit = "program"           // the program had nothing to send
	SendBuffer Limit = "send-buffer"       // the sender's socket buffer was full
	PeerWindow Limit = "peer-window"       // the largest window that the peer offers was full
	SlowReader Limit = "slow-reader"       // the peer's program reads slowly: its window closes
	SlowStart  Limit = "slow-start"        // the congestion window was still opening
	Congestion Limit = "congestion-window" // the congestion window, small since losses
	Path       Limit = "path-rate"         // the path carried all it can
	Policer    Limit = "policer"           // losses above a rate, without a queue
	BlackHole  Limit = "mtu-black-hole"    // large segments never arrive
	Nagle      Limit = "nagle-delayed-ack" // Nagle's algorithm waited for a delayed acknowledgement
	Silly      Limit = "silly-window"      // tiny segments for a window that opens by bytes
	Timeout    Limit = "timer-stall"       // nothing was sent until a retransmission timer expired
	Pacing     Limit = "pacing"            // the program asked the kernel for no more than a rate
	Unknown    Limit = "unknown"           // too little was seen
)

// Limits are all limits, in the order in which they are listed.
func Limits() []Limit {
	return []Limit{Program, SendBuffer, PeerWindow, SlowReader, SlowStart, Congestion, Path, Policer,
		BlackHole, Nagle, Silly, Timeout, Pacing, Unknown}
}

// Span is a stretch of time in which one limit bound.
type Span struct {
	Limit      Limit
	Start, End int64 // in nanoseconds since 1970
}
