package diagnose

import (
	"fmt"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// cpuSaturated finds a host whose cores all have no time left, most of it in
// interrupts.
func cpuSaturated() Rule {
	return Rule{
		ID: "cpu-saturated", Title: "All cores are busy, mostly with packet processing", Severity: Critical,
		Needs: []string{"sampled processors|all processors"},
		Because: "No queue or core setting helps when no core has idle time. Less work per packet does (firewall rules, " +
			"interrupt moderation, offloads), or a faster machine.",
		Confirm: "The total rate stays the same when more clients send.",
		Check: func(in Input) []Finding {
			var idle, interrupt, system, stolen float64
			var evidence []facts.Source
			n := 0
			if everyCore(in.Facts) {
				for _, p := range in.Facts.Processors {
					idle, interrupt, system = idle+p.Idle+p.Nice, interrupt+p.Interrupt, system+p.System
					stolen += p.Stolen
					evidence = append(evidence, p.Source)
					n++
				}
			}
			who := counted(n, "core")
			if p := in.Facts.AllProcessors; n == 0 && p != nil {
				idle, interrupt, system, stolen, n, who = p.Idle+p.Nice, p.Interrupt, p.System, p.Stolen, 1, "all cores"
				evidence = []facts.Source{p.Source}
			}
			all := float64(n)
			// The BSDs count packets as the kernel's time too: task queues, netisr.
			packets := interrupt/all >= 0.4 ||
				in.Facts.System != "linux" && interrupt/all >= 0.2 && (interrupt+system)/all >= 0.8
			// vmstat counts interrupts as the kernel's time; with a disk or a program other columns would be above zero.
			if p := in.Facts.AllProcessors; p != nil && p.Sampled && in.Facts.System != "linux" &&
				(p.Source.From == "vmstat" || p.Source.From == "systat -vm") {
				packets = system/all >= 0.95
			}
			if n == 0 || idle/all > 0.2 || !packets {
				return fullInKernel(in.Facts)
			}
			if stolen/all >= 0.2 && stolen > idle {
				return nil // cpu-stolen says it: a virtual processor that waits is counted where it stopped, in interrupts too
			}
			severity := Critical
			if idle/all > 0.1 {
				severity = Warning
			}
			return with(severity, do(lessWork(in.Facts),
				one("CPU", sample(evidence),
					"%s: %.0f%% in interrupts, %.0f%% in the kernel, %.0f%% idle", who, 100*interrupt/all, 100*system/all,
					100*idle/all)))
		},
		Fires: freebsdExample("top", "CPU 0:  0.0% user,  0.0% nice,  2.7% system, 97.3% interrupt,  0.0% idle\nCPU "+
			"1:  0.0% user,  0.0% nice,  6.0% system, 93.3% interrupt,  0.7% idle\n"),
		Quiet: freebsdExample("top", "CPU 0:  0.0% user,  0.0% nice,  2.7% system, 97.3% interrupt,  0.0% idle\nCPU "+
			"1:  0.0% user,  0.0% nice,  6.0% system,  3.3% interrupt, 90.7% idle\n"),
	}
}

// lessWork is what makes each packet cheaper: the program that handles them one by one, where it was seen to take a notable
// share, else the places to look at.
func lessWork(f *facts.Facts) string {
	const notable = 0.15
	for _, t := range f.Threads {
		name, _, _ := strings.Cut(t.Name[strings.LastIndexByte(t.Name, '/')+1:], " ")
		if cheaper := kernelInstead[name]; cheaper != "" && t.Share >= notable {
			return fmt.Sprintf("%s uses %.0f%% because every packet is copied to user space and back: %s", name, 100*t.Share, cheaper)
		}
	}
	if f.System != "linux" {
		return "find the busy threads (top -SH); disable what inspects every packet (Suricata, ntopng, NetFlow), " +
			"shorten the pf ruleset (quick rules first), or use a faster machine"
	}
	return "reduce the CPU time per packet: check the interrupt rate, the firewall rules and the number of queues"
}

// kernelInstead are programs of the BSDs through which packets pass one by one, with what does the same in the kernel.
var kernelInstead = map[string]string{
	"natd":         "use NAT in the kernel instead (ipfw nat, or pf)",
	"ppp":          "use mpd5 for the PPPoE session instead, which keeps the packets in the kernel",
	"openvpn":      "use WireGuard, or OpenVPN 2.6 with data channel offload (ovpn-dco)",
	"wireguard-go": "use the kernel's WireGuard driver",
}

// everyCore reports whether all that the host has were sampled: of those that
// were not shown nothing is known.
func everyCore(f *facts.Facts) bool {
	for i, p := range f.Processors {
		if p.ID != i || !p.Sampled {
			return false
		}
	}
	return len(f.Processors) >= max(f.Cores, 2) || f.Cores == 1 && len(f.Processors) == 1
}

// fullInKernel finds a BSD of which most cores have no time left, nearly all of it the kernel's: the task queues of its
// cards are counted there, and no program or disk was shown that would explain it.
func fullInKernel(f *facts.Facts) []Finding {
	if all := f.AllProcessors; f.System == "freebsd" && len(f.Processors) == 0 && all != nil && all.Idle+all.Nice <= 0.05 &&
		all.System >= 0.7 {
		return busyKernel(f, all.Source, all.System)
	}
	if f.System == "linux" || !everyCore(f) || len(f.Processors) < 2 {
		return nil
	}
	full, kernel := 0, 0.0
	var evidence []facts.Source
	for _, p := range f.Processors {
		kernel += p.System + p.Interrupt
		if p.Idle+p.Nice <= 0.02 {
			full++
			evidence = append(evidence, p.Source)
		}
	}
	n := len(f.Processors)
	if full*4 < 3*n || kernel/float64(n) < 0.8 {
		return nil
	}
	for _, t := range f.Threads {
		if t.Share >= 0.5 && !packetThreadName.MatchString(t.Name) && !strings.HasPrefix(t.Name, "idle") {
			return busyKernel(f, evidence[0], kernel/float64(n))
		}
		if packetThreadName.MatchString(t.Name) && len(evidence) < full+2 {
			evidence = append(evidence, t.Source)
		}
	}
	threads := "top -SHP: kernel{if_io_tqg_N} and threads named after cards"
	if f.System == "openbsd" {
		threads = "top -SH: softnetN"
	}
	return with(Warning, do("find the threads that process packets ("+threads+"); reduce the work per packet (firewall rules, "+
		"IDS/IPS), or use a faster machine",
		one("CPU", sample(evidence), "%d of %d cores have no idle time, %.0f%% of all time is in the kernel", full, n,
			100*kernel/float64(n))))
}

// storageThreads are threads of FreeBSD's kernel that work for disks (sys/geom/eli, the write and read issue queues of ZFS), and
// what makes their work less.
var storageThreads = []struct {
	name     *regexp.Regexp
	what, do string
}{
	{regexp.MustCompile(`g_eli\[`), "disk encryption (GELI)", "check that the CPU's AES instructions are used: aesni_load=\"YES\" in /boot/loader.conf and " +
		"\"Crypto: hardware\" or \"accelerated software\" in geli list; otherwise use a faster processor, or native encryption of ZFS " +
		"with AES-GCM"},
	{regexp.MustCompile(`z_wr_iss|zio_write_issue`), "compression and checksums of ZFS", "use a cheaper compression (zfs set compression=lz4), and no dedup or sha256 " +
		"checksums; otherwise a faster processor"},
}

// busyKernel finds processors of which the kernel's own work for disks leaves nothing.
func busyKernel(f *facts.Facts, src facts.Source, share float64) []Finding {
	for _, of := range storageThreads {
		evidence, busy := []facts.Source{src}, 0.0
		for _, t := range f.Threads {
			if of.name.MatchString(t.Name) {
				busy += t.Share
				evidence = append(evidence, t.Source)
			}
		}
		if busy >= 0.5 {
			found := decisive(do(of.do, one("CPU", sample(evidence), "%.0f%% of all time is in the kernel, mostly for %s: %s take "+
				"%.1f cores", 100*share, of.what, counted(len(evidence)-1, "thread"), busy)))
			found = with(Info, found)
			found[0].Because = "Every block read or written costs CPU time, which limits the transfer rate."
			found[0].Confirm = "A transfer without disk I/O (iperf3) is faster."
			return found
		}
	}
	return nil
}
