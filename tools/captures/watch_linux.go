package main

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const sampling = 10 * time.Millisecond

// watcher samples TCP_INFO of a connection while it lives.
type watcher struct {
	stop context.CancelFunc
	done sync.WaitGroup
	seen []sample
	// writing tells that the program waits in write.
	writing atomic.Bool
}

func watch(c *net.TCPConn, cc string) *watcher {
	ctx, stop := context.WithCancel(context.Background())
	w := &watcher{stop: stop}
	w.done.Go(func() {
		tick := time.NewTicker(sampling)
		defer tick.Stop()
		for {
			s, err := sampled(c, cc)
			if err != nil {
				return
			}
			s.Writing = w.writing.Load()
			w.seen = append(w.seen, s)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return w
}

// end stops the watching and returns what was seen.
func (w *watcher) end() []sample {
	w.stop()
	w.done.Wait()
	return w.seen
}

func sampled(c *net.TCPConn, cc string) (s sample, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return s, err
	}
	var infoErr error
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			infoErr = err
			return
		}
		s = sample{Time: time.Now().UnixNano(), Busy: info.Busy_time, Window: info.Rwnd_limited,
			Buffer: info.Sndbuf_limited, State: info.Ca_state, MSS: info.Snd_mss, Cwnd: info.Snd_cwnd,
			Ssthresh: info.Snd_ssthresh, Unacked: info.Unacked, Sacked: info.Sacked, Lost: info.Lost,
			Out: info.Retrans, Again: info.Total_retrans, Timeouts: uint32(info.Total_rto), NotSent: info.Notsent_bytes,
			Acked: info.Bytes_acked, Sent: info.Bytes_sent, Offered: info.Snd_wnd, RTT: info.Rtt, MinRTT: info.Min_rtt,
			Delivered: info.Delivered, Backoff: info.Backoff}
		if cc != "bbr" {
			return
		}
		if bbr, err := unix.GetsockoptTCPCCBBRInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_CC_INFO); err == nil {
			s.Gain = bbr.Pacing_gain
		}
	})
	if err == nil {
		err = infoErr
	}
	return s, err
}
