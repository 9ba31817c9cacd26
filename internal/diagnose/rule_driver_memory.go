package diagnose

import (
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// driverMemory finds drivers that got no memory for their queues.
func driverMemory() Rule {
	return Rule{
		ID: "driver-memory", Title: "A driver could not allocate memory for its receive queues", Severity: Critical,
		Needs: []string{"messages"},
		Because: "When an interface comes up, its driver fills every receive ring with mbuf clusters: ports x queues x " +
			"descriptors at once. If that reaches the limit, the interface stays down.",
		Confirm: "netstat -m shows denied requests; with a higher limit, or fewer queues or descriptors, the interface " +
			"comes up.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, noStructures)
			if n == 0 {
				return append(append(bounceBuffers(in.Facts), failedAllocations(in.Facts)...), emptyRings(in.Facts)...)
			}
			found := one(cardOf(lines...), lines, "its driver could not set up its receive queues (%s)",
				counted(n, "line"))
			switch in.Facts.System {
			case system.FreeBSD:
				found[0].Fix = []Fix{{Setting: "kern.ipc.nmbclusters", Formula: "ports * queues * descriptors, plus what sockets " +
					"need"}, {Setting: "kern.ipc.nmbjumbop", Formula: "the same, if the MTU is above 2048"}}
			case system.Linux:
				found[0].Because = "When an interface comes up, or its rings or MTU change, its driver allocates every receive buffer at " +
					"once, some in large contiguous pieces. Without them the queue or the interface stays down."
				found[0].Confirm = "It comes up with shorter rings or fewer queues, or after a restart."
				found = do("free memory, then set shorter rings or fewer queues (ethtool -G NAME rx 512, ethtool -L NAME combined 4) and a "+
					"larger vm.min_free_kbytes; jumbo frames need the most", found)
			default:
				found = do("raise the cluster limit, or use fewer queues or shorter rings (of ix0: dev.ix.0.iflib.override_nrxqs, "+
					"override_nrxds in /boot/loader.conf)", found)
			}
			return found
		},
		Fires: freebsdExample("dmesg", "igb3: Using 2048 TX descriptors and 2048 RX descriptors\nigb3: Could not setup "+
			"receive structures\n"),
		Quiet: freebsdExample("dmesg", "igb3: Using 2048 TX descriptors and 2048 RX descriptors\n"),
	}
}

var noStructures = regexp.MustCompile(`(?i)could not set ?up (receive|transmit) structures|` +
	`(?:unable|failed) to (allocate|fill) (all )?(the )?(enough )?(rx|receive) (descriptor|ring|buffer)|` +
	`CQ creation failure: Cannot allocate memory`)

// bounceBuffers finds cards that the kernel reaches through copies, and no room for more of these.
func bounceBuffers(f *facts.Facts) []Finding {
	lines, n := matching(f, bounceFull)
	if n == 0 || f.System != "linux" {
		return nil
	}
	found := one(bounceFull.FindStringSubmatch(lines[0].Text)[1], lines, "the bounce buffers (swiotlb) were full (%s)",
		counted(n, "line"))
	found[0].Because = "A device that cannot reach all memory gets its packets through copies in one small area: while " +
		"that area is full, nothing is received or sent."
	found[0].Confirm = "/sys/kernel/debug/swiotlb/io_tlb_used grows until traffic stops: then the driver leaks buffers."
	return do("enlarge the area (swiotlb=65536 on the kernel command line, in slots of 2 KiB), use a newer driver, or "+
		"enable the IOMMU for the device", found)
}

var bounceFull = regexp.MustCompile(`(\S+ \S+): swiotlb buffer is full`)

// failedAllocations finds packets for which the kernel had no memory.
func failedAllocations(f *facts.Facts) []Finding {
	if f.System != "linux" {
		return nil
	}
	lines, n := matching(f, noRefill)
	if n == 0 {
		if lines, n = matching(f, usbNoRefill); n < 3 {
			lines, n = nil, 0
		}
	}
	if n == 0 && slices.ContainsFunc(f.Lines("dmesg"), allocatesPackets) {
		lines, n = logged(f, "page allocation failure")
	}
	if n == 0 {
		return nil
	}
	found := one("kernel", lines, "memory allocations for packets or connections failed (%s)", counted(n, "line"))
	found[0].Because = "Receive buffers are taken from the reserve of free pages: when it is empty, packets are dropped."
	found[0].Confirm = "The messages come under load, when vmstat 1 shows little free memory."
	found[0].Fix = []Fix{{Setting: "vm.min_free_kbytes"}}
	return with(Warning, found)
}

// noRefill is what drivers say of a packet or a receive ring for which they got no memory: mvneta, mvpp2, and the older ones; and
// the kernel of an allocation in the threads and the idle loop that receive packets (warn_alloc of mm/page_alloc.c).
var noRefill = regexp.MustCompile(`Linux processing - Can't refill|Can't allocate skb on queue \d|Memory squeeze, (?:dropping|deferring) packet|` +
	`\b(?:swapper|ksoftirqd|napi)/\S*: page allocation failure[:.] order:\d, mode:(?:0x20$|0x20,|0x4020|.*GFP_ATOMIC)`)

// usbNoRefill is what those of USB say while they still try, 2 being EVENT_RX_MEMORY of include/linux/usb/usbnet.h; once or twice is
// how some come up.
var usbNoRefill = regexp.MustCompile(`: kevent 2 may have been dropped`)

// emptyRings finds receive rings that stood empty: ena_check_for_empty_rx_ring of Linux and FreeBSD looks each second.
func emptyRings(f *facts.Facts) []Finding {
	lines, n := matching(f, emptyRing)
	if n == 0 {
		return nil
	}
	found := one(cardOf(lines[0]), lines, "its receive rings ran out of buffers (%s)", counted(n, "line"))
	found[0].Because = "Without a free buffer in the ring the card drops what arrives: the driver got no memory to refill " +
		"it, or a program that uses the card through netmap does not return buffers."
	found[0].Confirm = "netstat -m or dmesg shows denied requests; otherwise the messages stop with the netmap " +
		"program."
	action := "if memory requests were denied, raise the cluster limit or the reserve of free pages"
	if seen, _ := matching(f, badBuffer); len(seen) > 0 {
		found[0].Evidence = append(found[0].Evidence, seen[0])
		action = "the netmap program returned buffers that do not belong to the card (Bad buff in slot): restart or update it"
	}
	return with(Warning, do(action, found))
}

var (
	emptyRing = regexp.MustCompile(`(?i): rx ring \d+ is stalled\b|: trigger refill for ring \d+`)
	badBuffer = regexp.MustCompile(`\[nm\] Bad buff in slot`)
)

func allocatesPackets(line string) bool {
	return holdsAny(line, "alloc_skb", "netdev_alloc", "napi_alloc", "alloc_rx_", "page_pool_", "sk_prot_alloc", "net_rx_action",
		"refill_rx", "rx_refill")
}
