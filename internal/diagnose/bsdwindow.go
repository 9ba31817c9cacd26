package diagnose

import (
	"cmp"
	"fmt"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/units"
)

// freebsdBuffer: FreeBSD's buffers count payload against their high-water mark,
// which grows automatically to sendbuf_max or recvbuf_max. No buffer may be
// larger than kern.ipc.maxsockbuf less the mbufs' own share, 2048/(256+2048).
func freebsdBuffer(f *facts.Facts, maximum, automatic, fixed string) (buffer, error) {
	b := buffer{share: 1, why: "FreeBSD counts payload", sources: []string{
		"freebsd/freebsd-src sys/kern/uipc_sockbuf.c, sbreserve_locked and sb_max_adj",
		"freebsd/freebsd-src sys/netinet/tcp_input.c, tcp_autorcvbuf"}}
	b.setting = maximum
	if on, known := f.Integer(automatic); known && on == 0 {
		b.setting = fixed
		b.why += "; " + automatic + " is 0"
	}
	v, ok := f.Integer(b.setting)
	if !ok || v <= 0 {
		return b, notKnown(f, b.setting)
	}
	b.cap = units.Bytes(v)
	most, ok := f.Integer("kern.ipc.maxsockbuf")
	if !ok || most <= 0 {
		b.why += "; kern.ipc.maxsockbuf is not known and may allow less"
		return b, nil
	}
	if adjusted := units.Bytes(float64(most) * 2048 / 2304); adjusted < b.cap {
		b.setting, b.cap, b.share = "kern.ipc.maxsockbuf", units.Bytes(most), 2048.0/2304
		b.why = "mbuf overhead is 256 of every 2304 bytes"
		if reached, ok := lastStep(f, automatic, adjusted); ok {
			b.share = float64(reached) / float64(most)
			b.why = fmt.Sprintf("the buffer grows by half at a time, and the step beyond %s (what mbuf overhead leaves) is "+
				"refused", adjusted)
		}
	}
	return b, nil
}

// notKnown says why a setting is not known.
func notKnown(f *facts.Facts, name string) error {
	return fmt.Errorf("%s is not known (%s)", name, cmp.Or(f.Why("settings"), "it is not among the settings that were read"))
}

// lastStep is the size that a receive buffer of FreeBSD 13 or newer grows to where
// recvbuf_max is beyond what a buffer may be: recvspace and half of it more at each
// step; the first step that is refused ends the growth (tcp_autorcvbuf).
func lastStep(f *facts.Facts, automatic string, most units.Bytes) (units.Bytes, bool) {
	size, known := f.Integer("net.inet.tcp.recvspace")
	v, err := catalog.ParseVersion(f.Release)
	if automatic != "net.inet.tcp.recvbuf_auto" || !known || size <= 1 || err != nil || !v.AtLeast("13.0") {
		return 0, false
	}
	if on, known := f.Integer(automatic); known && on == 0 || units.Bytes(size) > most {
		return 0, false
	}
	for units.Bytes(size+size/2) <= most {
		size += size / 2
	}
	return units.Bytes(size), true
}

// openbsdBuffer: OpenBSD's buffers grow automatically to sb_max, a constant of
// the kernel.
func openbsdBuffer() buffer {
	return buffer{setting: "sb_max (fixed in the kernel)", cap: 2 * units.MiB, share: 1, why: "OpenBSD counts payload",
		sources: []string{"openbsd/src sys/sys/socketvar.h, SB_MAX",
			"openbsd/src sys/netinet/tcp_usrreq.c, tcp_update_rcvspace and tcp_update_sndspace"}}
}
