package diagnose

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// packetThread finds a thread that handles packets and fills its core.
func packetThread() Rule {
	return Rule{
		ID: "packet-thread-saturated", Title: "A packet-processing thread uses 100% of its core",
		Needs: []string{"threads"}, Severity: Critical,
		Because: "One thread runs on one core: packets wait for it or are dropped while other cores idle.",
		Confirm: "top -SH (FreeBSD) or mpstat -P ALL 1 shows one core without idle time while it is slow.",
		Check: func(in Input) (out []Finding) {
			if all := in.Facts.AllProcessors; all != nil && all.Idle < 0.05 {
				return tunnelTakesAll(in.Facts) // no core idles: cpu-saturated says the rest
			}
			if len(fullInKernel(in.Facts)) > 0 {
				return nil // it names them all
			}
			for _, t := range in.Facts.Threads {
				if wholeCore(in.Facts, t) {
					out = append(out, decisive(with(Info, fullSoftirq(t)))...)
					continue
				}
				if t.Share = ofOneCore(in.Facts, t); t.Share < 0.85 || !packetThreadName.MatchString(t.Name) || len(out) >= 3 {
					continue
				}
				if tunnelProgram.MatchString(t.Name) {
					out = append(out, do(inKernel(t.Name), one(t.Name, []facts.Source{t.Source}, "%.0f%% of one core", 100*t.Share))...)
					continue
				}
				if strings.HasPrefix(t.Name, "ksoftirqd/") {
					out = append(out, fullSoftirq(t)...)
					continue
				}
				action := "spread the receive load: " + moreQueues(t.Name) + " or, for PPPoE and tunnels, netisr threads " +
					"(net.isr.dispatch=deferred; net.isr.maxthreads=-1 in /boot/loader.conf)"
				if strings.HasPrefix(t.Name, "vhost-") {
					action = guestQueues + ": each has its own thread"
				}
				if in.Facts.System == "openbsd" {
					action = "use cards with several queues, and spread the traffic over more flows, which go to different softnet threads"
				}
				name := t.Name
				if strings.Contains(name, "{") && !strings.Contains(name, "}") {
					name += "..." // cut at the width of the terminal
				}
				out = append(out, do(action, one(name, []facts.Source{t.Source}, "%.0f%% of one core", 100*t.Share))...)
			}
			return out
		},
		Fires: freebsdExample("top", "    0 root     -92    0     0K   176K -        9:30 93.65% kernel{em1 taskq}\n"),
		Quiet: freebsdExample("top", "   11 root     155 ki31     0K    64K RUN     9:30 99.10% idle{idle: cpu1}\n  "+
			"  0 root     -92    0     0K   176K -        9:30 13.65% kernel{em1 taskq}\n"),
	}
}

// moreQueues says how the card that a thread of FreeBSD is named after gets more queues, each with its own thread.
func moreQueues(thread string) string {
	card, unit := "ix", "0"
	if m := cardOfThread.FindStringSubmatch(thread); m != nil {
		card, unit = m[1], m[2]
	}
	switch card {
	case "vtnet", "virtio_pci":
		return "give the virtual machine's card several queues (Proxmox VE: queues=4 of net0; libvirt: <driver name='vhost' " +
			"queues='4'/>); a kernel with ALTQ (OPNsense, pfSense) uses one unless hw.vtnet.altq_disable=1 in /boot/loader.conf"
	case "hn":
		return "give the virtual machine more processors (hn uses a channel for each, at most 8)"
	case "re", "rl", "bge", "msk", "sk", "nfe", "age", "alc", "fxp", "xl", "axge", "xn":
		return "use a card with several queues (igb, igc, ix)"
	}
	return fmt.Sprintf("use more queues (of %[1]s%[2]s: dev.%[1]s.%[2]s.iflib.override_nrxqs=N and override_ntxqs=N in "+
		"/boot/loader.conf)", card, unit)
}

var cardOfThread = regexp.MustCompile(`(?:\{|: ?)(` + facts.CardDrivers + `)(\d+)`)

// wholeCore reports whether a thread takes exactly what one core is of two, four or eight, where busybox shows its share of all
// and nothing tells how many there are.
func wholeCore(f *facts.Facts, t facts.Thread) bool {
	if !t.OfAll || cores(f) > 0 || !strings.HasPrefix(t.Name, "ksoftirqd/") || ofOneCore(f, t) >= 0.85 {
		return false
	}
	of := math.Round(1 / t.Share)
	return (of == 2 || of == 4 || of == 8) && t.Share >= 0.96/of && t.Share <= 1/of
}

// fullSoftirq is the finding about Linux's own thread.
func fullSoftirq(t facts.Thread) []Finding {
	found := do("spread the receive load over more cores: use more queues if the card has them (ethtool -l NAME "+
		"shows how many, ethtool -L NAME combined N sets them), otherwise packet steering; in OpenWrt: uci set "+
		"network.globals.packet_steering=1",
		one(t.Name, []facts.Source{t.Source}, "%.0f%% of %s", 100*t.Share, ofWhat(t)))
	found[0].Fix = append(found[0].Fix, Fix{Setting: steering})
	found[0].Confirm = "mpstat -P ALL 1 shows one CPU with 0 in %idle and most of its time in %soft while it is slow."
	return found
}

// ofWhat says of what a thread's share is.
func ofWhat(t facts.Thread) string {
	if t.Share < 0.85 {
		return fmt.Sprintf("all cores, which is one whole core if there are %.0f", 1/t.Share)
	}
	return "one core"
}

// ofOneCore is a thread's share of one processor. Busybox counts that of all, of which the numbers of ksoftirqd tell at
// least how many there are.
func ofOneCore(f *facts.Facts, t facts.Thread) float64 {
	if !t.OfAll {
		return t.Share
	}
	n := max(cores(f), 1)
	for _, other := range f.Threads {
		if id, err := strconv.Atoi(strings.TrimPrefix(other.Name, "ksoftirqd/")); err == nil && id < 1024 {
			n = max(n, id+1)
		}
	}
	return min(float64(n)*t.Share, 1)
}

// inKernel is the remedy of a program that carries a tunnel's packets in one thread.
func inKernel(program string) string {
	if rootless.MatchString(program) {
		return "use the host's network (--network host) or a bridge of a rootful container, which forwards in the kernel; " +
			"pasta (podman run --network pasta) is faster than slirp4netns"
	}
	return "use a tunnel in the kernel: WireGuard, or OpenVPN 2.6 with data channel offload (ovpn-dco); otherwise " +
		"use an AEAD cipher with CPU support (data-ciphers AES-128-GCM) and several tunnels"
}

// rootless are programs that carry the packets of containers and small virtual machines that nobody runs as root.
var rootless = regexp.MustCompile(`^(?:slirp4netns|pasta|passt|vpnkit|gvproxy)`)

// tunnelTakesAll finds such a program that takes most of processors of which none idles.
func tunnelTakesAll(f *facts.Facts) []Finding {
	for _, t := range f.Threads {
		if t.OfAll && t.Share >= 0.5 && tunnelProgram.MatchString(t.Name) {
			return do(inKernel(t.Name), one(t.Name, []facts.Source{t.Source}, "%.0f%% of all CPUs, and no CPU is idle", 100*t.Share))
		}
	}
	return nil
}

// tunnelProgram tells programs that carry the packets of a tunnel.
var tunnelProgram = regexp.MustCompile(`^(?:` + facts.TunnelPrograms + `)$`)

// packetThreadName tells the threads of network cards and of the network's
// queues: FreeBSD's interrupt threads and task queues of a driver, iflib's, those
// of netisr, WireGuard, netgraph and dummynet, before 8 without a process around them; Linux's ksoftirqd.
// A name that top cut at the width of the terminal counts where nothing else begins so.
var packetThreadName = regexp.MustCompile(`^(?:ksoftirqd/|vhost-)\d+$|^softnet\d*$|^(?:` + facts.TunnelPrograms + `)$|` +
	`\{if(?:_(?:i(?:o(?:_(?:t(?:qg?)?)?)?)?)?)?$|` +
	`(?:^|\{)(?:swi\d+: net|if_io_tqg_\d|wg_tqg_\d|ng_queue|` +
	`dummynet|` + facts.CardDrivers + `\d+\S* (?:taskq|[rt]xq?\d*\b|que)|irq\d+: ` + facts.CardDrivers + `\d+)`)
