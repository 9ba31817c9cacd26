package plan

import (
	"fmt"
	"math"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

// lossy is the share of lost segments from which on FreeBSD's own stack is bound by
// losses on paths that are worth planning for.
const lossy = 1e-4

// lossWindow is the mean window, in bytes, that losses leave a connection of a path:
// the larger of what Reno (Mathis et al. 1997) and CUBIC (RFC 9438, section 5.1) keep;
// 0 on a path without loss.
func lossWindow(p netpath.Path) float64 {
	if p.Loss <= 0 {
		return 0
	}
	reno := math.Sqrt(1.5 / p.Loss)
	cubic := 1.054 * math.Pow(p.RTT.Seconds()/p.Loss, 0.75)
	return max(reno, cubic) * float64(p.MSS())
}

// peaks is how far above its mean a window is taken to rise between two losses.
const peaks = 4

// boundByLoss says why a larger buffer changes nothing: losses keep the windows of
// FreeBSD's own stack below the buffer that is there.
func (p *Plan) boundByLoss(setting string, inputs catalog.Inputs, path netpath.Path) string {
	switch setting {
	case "kern.ipc.maxsockbuf", "net.inet.tcp.sendbuf_max", "net.inet.tcp.recvbuf_max":
	default:
		return ""
	}
	buffer, known := inputs["standard"].(float64)
	window := lossWindow(path)
	if p.System != catalog.FreeBSD || !known || window == 0 || peaks*window > buffer {
		return ""
	}
	return fmt.Sprintf("one lost segment in %.0f keeps windows near %s, whatever the buffers hold; another stack "+
		"helps there, see the steps", 1/path.Loss, units.Bytes(window))
}

// stacks names FreeBSD's other TCP stacks for a path that loses segments, with
// what supports them. They need a kernel of one's own before 14.1.
func (p *Plan) stacks(r Request) (Step, bool) {
	if p.System != catalog.FreeBSD || r.Path.Loss < lossy || r.Role != "bulk" && r.Role != "web" {
		return Step{}, false
	}
	s := Step{Title: "Use the BBR or the RACK stack",
		Why: "Losses bound FreeBSD's own stack on this path. BBR sends by measured rate and round trip and takes random " +
			"loss for no congestion; RACK finds lost segments by time. Over a path of 1 Gbit/s, 20 ms and a loss of 1e-4 " +
			"single short runs gave 48 to 81 Mbit/s with the defaults, 76 to 127 with RACK and 356 to 449 with BBR (FreeBSD " +
			"13.0's stack in user space). State: both are modules of the base system with manual pages, neither is the " +
			"default of any release. BBR is its first version, which can take more than its share beside other connections. " +
			"Connections without SACK stay with the system's own stack, with RACK only before 14.0.",
		Commands: []string{"sysrc -f /boot/loader.conf tcp_bbr_load=YES", "kldload tcp_bbr",
			"sysctl net.inet.tcp.functions_available"},
		Sources: []string{"FreeBSD tcp_rack(4) and tcp_bbr(4), pages of 13.2 to 15.1",
			"FreeBSD Handbook, building a custom kernel and updating from source",
			"measured for wirerate with FreeBSD 13.0's stack in user space"}}
	for _, k := range p.Kept {
		if k.Wanted != "" {
			s.Commands = append(s.Commands, fmt.Sprintf("sysctl %s=%s # BBR's windows need it, those of the others "+
				"do not", k.Setting, k.Wanted))
		}
	}
	s.Commands = append(s.Commands, "sysctl net.inet.tcp.functions_default=bbr # or rack, with tcp_rack in the "+
		"place of tcp_bbr")
	switch {
	case strings.Contains(r.Machine.Running["net.inet.tcp.functions_available"], "bbr"):
		s.Commands = s.Commands[2:]
		s.Why += " This host has them already."
	case p.Release.AtLeast("14.1"):
		s.Why += " The modules and their timers come with the release; the trial of the stacks on this path decides."
	default:
		s.Why += " GENERIC kernels before 14.1 lack their timers (options TCPHPTS) and the modules, so that a " +
			"kernel must be built from the sources of this release; the old one stays bootable as kernel.old."
		s.Commands = append([]string{
			"pkg install git-tiny && git clone --depth 1 --branch releng/$(uname -r | cut -d- -f1) " +
				"https://git.freebsd.org/src.git /usr/src",
			"printf 'include GENERIC\\nident STACKS\\nmakeoptions WITH_EXTRA_TCP_STACKS=1\\noptions TCPHPTS\\n' > " +
				"/usr/src/sys/$(uname -m)/conf/STACKS",
			"cd /usr/src && make buildkernel KERNCONF=STACKS && make installkernel KERNCONF=STACKS",
			"shutdown -r now"}, s.Commands...)
	}
	return s, true
}
