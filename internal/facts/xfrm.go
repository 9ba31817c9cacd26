package facts

import (
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

var (
	xfrmCounter = regexp.MustCompile(`^\s*(Xfrm(?:In|Out|Fwd|Acquire)\w+)\s*[:=]?\s*(\d+)$`)
	xfrmCurrent = regexp.MustCompile(`^\d+\(bytes\), (\d+)\(packets\)`)
	xfrmStats   = regexp.MustCompile(`^replay-window (\d+) replay (\d+) failed (\d+)`)
)

// readXfrmStat reads the errors of IPsec in /proc/net/xfrm_stat (net/xfrm/xfrm_proc.c).
func (f *Facts) readXfrmStat(t text) error {
	found := false
	for i, line := range t.lines() {
		m := xfrmCounter.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		v, ok := count(m[2])
		if found = true; ok {
			f.keepCounter(f.Counters, "Xfrm."+m[1], Counter{Value: v, Source: f.Line(t.from, i+1)})
		}
	}
	return nothingUnless(found)
}

// readXfrmState reads ip -s xfrm state (iproute2 ip/ipxfrm.c): each association with its packets, and those outside the replay
// window, seen twice and of a wrong checksum. Together they are what /proc/net/xfrm_stat counts.
func (f *Facts) readXfrmState(t text) error {
	found := false
	var packets, replayed, failed uint64
	var late, broken Source
	for i, line := range t.lines() {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "proto esp spi ") || strings.HasPrefix(line, "proto ah spi ") {
			found = true
			f.use(t.from, i+1)
		}
		if m := xfrmCurrent.FindStringSubmatch(line); m != nil {
			v, _ := count(m[1])
			packets = added(packets, v)
			f.use(t.from, i+1)
		}
		m := xfrmStats.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		outside, _ := count(m[1])
		twice, _ := count(m[2])
		wrong, _ := count(m[3])
		if outside+twice > 0 {
			late = f.Line(t.from, i+1)
		}
		if wrong > 0 {
			broken = f.Line(t.from, i+1)
		}
		replayed, failed = added(replayed, added(outside, twice)), added(failed, wrong)
		f.use(t.from, i+1)
	}
	if !found {
		return errNothing
	}
	if replayed > 0 {
		f.keepCounter(f.Counters, "Xfrm.XfrmInStateSeqError", Counter{Value: replayed, Source: late})
	}
	if failed > 0 {
		f.keepCounter(f.Counters, "Xfrm.XfrmInStateProtoError", Counter{Value: failed, Source: broken})
	}
	if packets > 0 {
		f.keepCounter(f.Counters, "Xfrm.packets", Counter{Value: packets})
	}
	return nil
}

// added is a sum that does not overflow.
func added(a, b uint64) uint64 {
	if a+b < a {
		return a
	}
	return a + b
}
