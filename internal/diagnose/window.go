package diagnose

import (
	"fmt"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/system"
	"github.com/wirerate/wirerate/internal/units"
)

// maxScaledWindow is the largest window that TCP can express: 65535 with a
// scale of 14 (RFC 7323, section 2.3).
const maxScaledWindow = 65535 << 14

// buffer is how much payload a socket buffer of a system holds.
type buffer struct {
	setting string      // the setting that caps it
	cap     units.Bytes // its value
	share   float64     // payload per byte of buffer, at best
	why     string      // where the share comes from
	sources []string
}

func (b buffer) window() float64 { return float64(b.cap) * b.share }

// sendWindow is what the sender's kernel lets a connection keep unacknowledged,
// over the round-trip time.
func sendWindow(path netpath.Path, f *facts.Facts) Ceiling {
	c := Ceiling{Resource: "send-window", Metric: Goodput, Host: hostName(f)}
	return windowOverRTT(c, path, f, sendBuffer)
}

// receiveWindow is what the receiver's kernel can offer, over the round-trip
// time.
func receiveWindow(path netpath.Path, f *facts.Facts) Ceiling {
	c := Ceiling{Resource: "receive-window", Metric: Goodput, Host: hostName(f)}
	return windowOverRTT(c, path, f, receiveBuffer)
}

func windowOverRTT(c Ceiling, path netpath.Path, f *facts.Facts, account func(*facts.Facts) (buffer, error)) Ceiling {
	if f == nil {
		return c.unknown("this host was not inspected")
	}
	if path.RTT <= 0 {
		return c.unknown("the round-trip time is not known; give it with --path rtt=")
	}
	b, err := account(f)
	if err != nil {
		return c.unknown("%v", err)
	}
	c.Sources = b.sources
	window := min(b.window(), maxScaledWindow)
	limit := b.setting
	if scaling, known := windowScaling(f); known && !scaling && window > 65535 {
		window, limit = 65535, "window scaling is off:"
	}
	inputs := map[string]any{"rtt_s": path.RTT.Seconds(), "setting": b.setting, "buffer_bytes": int64(b.cap),
		"payload_share": b.share, "window_bytes": int64(window)}
	return c.known(window*8/path.RTT.Seconds(), inputs, "%s %s holds %s of payload (%s), one window per %s",
		limit, b.cap, units.Bytes(window), b.why, units.Duration(path.RTT.Round(time.Microsecond)))
}

func windowScaling(f *facts.Facts) (on, known bool) {
	name := map[system.System]string{"linux": "net.ipv4.tcp_window_scaling", "freebsd": "net.inet.tcp.rfc1323",
		"openbsd": "net.inet.tcp.rfc1323"}[f.System]
	v, ok := f.Integer(name)
	// FreeBSD: 1 is on, 2 and 3 choose one half of RFC 1323 (tcp_subr.c).
	return v != 0, ok
}

// sendBuffer is what a sender's kernel lets one connection queue.
func sendBuffer(f *facts.Facts) (buffer, error) {
	switch f.System {
	case "linux":
		return linuxSendBuffer(f)
	case "freebsd":
		return freebsdBuffer(f, "net.inet.tcp.sendbuf_max", "net.inet.tcp.sendbuf_auto", "net.inet.tcp.sendspace")
	case "openbsd":
		return openbsdBuffer(), nil
	}
	return buffer{}, fmt.Errorf("the buffer accounting of %s is not known", f.System)
}

// receiveBuffer is what a receiver's kernel can offer to one connection.
func receiveBuffer(f *facts.Facts) (buffer, error) {
	switch f.System {
	case "linux":
		return linuxReceiveBuffer(f)
	case "freebsd":
		return freebsdBuffer(f, "net.inet.tcp.recvbuf_max", "net.inet.tcp.recvbuf_auto", "net.inet.tcp.recvspace")
	case "openbsd":
		return openbsdBuffer(), nil
	}
	return buffer{}, fmt.Errorf("the buffer accounting of %s is not known", f.System)
}

// linuxSendBuffer: the automatic send buffer grows to tcp_wmem[2]. It counts
// what packets really occupy: a packet built for segmentation offload holds up
// to 64 KiB of payload in page fragments, which count as they are, beside about
// 1 KiB of bookkeeping; and the last one may pass the limit, so that the buffer
// as a whole is the bound.
func linuxSendBuffer(f *facts.Facts) (buffer, error) {
	wmem, ok := f.Triple("net.ipv4.tcp_wmem")
	if !ok || wmem[2] <= 0 {
		return buffer{}, notKnown(f, "net.ipv4.tcp_wmem")
	}
	return buffer{"net.ipv4.tcp_wmem[2]", units.Bytes(wmem[2]), 1, "at best: full-sized packets have little overhead",
		[]string{"torvalds/linux v6.12 net/ipv4/tcp_input.c, tcp_sndbuf_expand",
			"torvalds/linux v6.12 net/ipv4/tcp.c, tcp_sendmsg_locked",
			"torvalds/linux v6.12 include/net/sock.h, sk_stream_memory_free"}}, nil
}

// linuxReceiveBuffer: the automatic receive buffer grows to tcp_rmem[2].
// Until 6.5 the window is the share that tcp_adv_win_scale leaves. From 6.6 on
// it is the share of payload that the kernel measures in the packets that
// arrive: a frame of 1500 bytes in a buffer of 2 KiB has 1448, and less in a
// whole page. Where the card joins segments itself it is up to 255/256.
// Measured at 50 ms on Linux 6.18 between TUN devices: 0.66.
func linuxReceiveBuffer(f *facts.Facts) (buffer, error) {
	rmem, ok := f.Triple("net.ipv4.tcp_rmem")
	if !ok || rmem[2] <= 0 {
		return buffer{}, notKnown(f, "net.ipv4.tcp_rmem")
	}
	b := buffer{setting: "net.ipv4.tcp_rmem[2]", cap: units.Bytes(rmem[2])}
	if on, known := f.Integer("net.ipv4.tcp_moderate_rcvbuf"); known && on == 0 {
		b.setting, b.cap = "net.ipv4.tcp_rmem[1] (tcp_moderate_rcvbuf is 0)", units.Bytes(rmem[1])
	}
	release, err := catalog.ParseVersion(f.Release)
	if err != nil {
		return b, fmt.Errorf("kernel release %q is not recognised", f.Release)
	}
	if release.AtLeast("6.6") {
		b.share, b.why = arrivingShare(f)
		b.sources = []string{"torvalds/linux v6.12 include/net/tcp.h, tcp_win_from_space",
			"torvalds/linux v6.12 net/ipv4/tcp_input.c, tcp_measure_rcv_mss"}
		return b, nil
	}
	scale, ok := f.Integer("net.ipv4.tcp_adv_win_scale")
	if !ok || scale < -31 || scale > 31 {
		return b, fmt.Errorf("net.ipv4.tcp_adv_win_scale is not known")
	}
	b.share = 1 - 1/float64(uint64(1)<<max(scale, 0))
	if scale <= 0 {
		b.share = 1 / float64(uint64(1)<<-scale)
	}
	b.why = fmt.Sprintf("tcp_adv_win_scale %d leaves %.0f%%", scale, b.share*100)
	b.sources = []string{"torvalds/linux v6.1 include/net/tcp.h, tcp_win_from_space",
		"torvalds/linux v6.1 net/ipv4/tcp_input.c, tcp_rcv_space_adjust"}
	return b, nil
}

// arrivingShare is the largest share of payload that the packets of the host's
// interface have in their buffers.
func arrivingShare(f *facts.Facts) (share float64, why string) {
	mtu := 1500
	if n := f.Outlet(); n != nil {
		if n.Features["rx-gro-hw"].On || n.Features["large-receive-offload"].On {
			return 255.0 / 256, "at best: the card merges segments, and the kernel measures the payload share of what arrives"
		}
		if n.MTU >= 576 {
			mtu = n.MTU
		}
	}
	frame := (mtu + 80 + 2047) / 2048 * 2048 // with the headroom that drivers leave
	return float64(mtu-52) / float64(frame), fmt.Sprintf("at best: the kernel measures the payload share of what arrives, "+
		"%d of %d bytes", mtu-52, frame)
}
