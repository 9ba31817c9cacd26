package calc

import "math"

// pcie are the generations of PCI Express: transfers per second of a lane and
// the share that its encoding leaves. From generation 6 on it sends flits of 256
// bytes, of which 236 are for packets.
var pcie = map[string]struct{ transfers, encoding float64 }{
	"1": {2.5e9, 8.0 / 10}, "2": {5e9, 8.0 / 10}, "3": {8e9, 128.0 / 130},
	"4": {16e9, 128.0 / 130}, "5": {32e9, 128.0 / 130}, "6": {64e9, 236.0 / 256},
	"7": {128e9, 236.0 / 256},
}

// hostFormulas are about the bus of a host and what waits in it.
func hostFormulas() []Formula {
	connRate := Input{"conn_rate", QPerSec, "", "new connections per second"}
	return []Formula{
		{"bus", "what a slot carries", []Input{{"kind", QWord, "", "pci, pci-x or pcie"},
			{"mhz", QNumber, "33.33", "clock of a parallel bus"}, {"bits", QNumber, "32", "width of a parallel bus"},
			{"gen", QWord, "3", "generation of PCI Express, 1 to 7"}, {"lanes", QNumber, "1", "lanes of PCI Express"},
			{"payload", QBytes, "256", "largest payload of a PCI Express packet"},
			{"crossings", QNumber, "1", "times that a packet crosses the bus: 2 when a router's cards share it"}},
			[]string{
				"PCI Local Bus Specification 3.0", "PCI-X Addendum 1.0b",
				"PCI Express Base Specification 6.0, sections 1.2 and 4.2, and 7.0 for 128 GT/s"}, bus},
		{"backlog", "queue that bridges a pause", []Input{{"rate", QPerSec, "",
			"arrivals per second: connections, SYNs or packets"}, {"pause", QTime, "", "longest time without service"},
			{"memory_each", QBytes, "0", "memory of one entry"}}, []string{
			"Little: A Proof for the Queuing Formula L = λW, 1961"}, func(w *working) {
			w.give("entries", QNumber, math.Ceil(w.num["rate"]*w.num["pause"]), "rate * pause", "")
			w.give("power_of_two", QNumber, math.Exp2(math.Ceil(math.Log2(math.Max(w.num["entries"], 1)))),
				"next power of 2 from entries", "")
			w.give("memory", QBytes, w.num["entries"]*w.num["memory_each"], "entries * memory_each", "")
		}},
		{"timewait", "ports and sockets in TIME_WAIT",
			[]Input{connRate, {"wait", QTime, "60s",
				"time in TIME_WAIT: 60 s on Linux, twice net.inet.tcp.msl on FreeBSD"},
				{"ports", QNumber, "28232", "ports to one destination: 28232 is Linux's default range, 16384 the " +
					"IANA one"}},
			[]string{
				"RFC 9293, section 3.4.2", "RFC 6056, section 3.2"}, func(w *working) {
				w.give("sockets", QNumber, math.Ceil(w.num["conn_rate"]*w.num["wait"]), "conn_rate * wait",
					"at the end that closes first")
				w.give("most_per_destination", QPerSec, w.num["ports"]/w.num["wait"], "ports / wait",
					"new connections per second to one address and port, without reuse")
				w.give("ports_needed", QNumber, w.num["sockets"], "sockets",
					"if all go to one address and port; there are at most 64511 above 1024")
			}},
	}
}

// cardFormulas are about network cards and tables of the kernel.
func cardFormulas() []Formula {
	return []Formula{
		{"ring", "delay and reserve of a NIC's ring",
			[]Input{{"descriptors", QNumber, "", "length of the ring"}, {"rate", QRate, "", "rate of the link"},
				{"packet", QBytes, "1500", "size of a packet"},
				{"buffer", QBytes, "2048", "memory of one descriptor's buffer"}},
			[]string{
				"IEEE 802.3, clauses 3 and 4 (38 bytes around each packet)"}, func(w *working) {
				w.give("packet_time", QTime, (w.num["packet"]+38)*8/w.num["rate"], "(packet + 38) * 8 / rate", "")
				w.give("latency", QTime, w.num["descriptors"]*w.num["packet_time"], "descriptors * packet_time",
					"a full transmit ring delays by this; a receive ring bridges it before it drops")
				w.give("smallest_packets", QTime, w.num["descriptors"]*84*8/w.num["rate"],
					"descriptors * 84 * 8 / rate", "the same with the smallest frames")
				w.give("memory", QBytes, w.num["descriptors"]*w.num["buffer"], "descriptors * buffer", "for each queue")
			}},
		{"intr", "interrupt moderation", []Input{{"usecs", QNumber, "",
			"time between interrupts in us (rx-usecs, or ITR)"},
			{"packet_rate", QPerSec, "", "packets per second"}, {"queues", QNumber, "1", "queues that share them"}},
			[]string{
				"ethtool(8), --coalesce", "Linux Documentation/networking/napi.rst"}, func(w *working) {
				if w.num["usecs"] < 1 || w.num["queues"] < 1 {
					w.fail("usecs and queues must be at least 1")
					return
				}
				w.give("most_interrupts", QPerSec, w.num["queues"]*1e6/w.num["usecs"], "queues * 1e6 / usecs", "")
				w.give("interrupts", QPerSec, math.Min(w.num["most_interrupts"], w.num["packet_rate"]),
					"min(most_interrupts, packet_rate)", "")
				w.give("packets_each", QNumber, w.num["packet_rate"]/w.num["interrupts"], "packet_rate / interrupts",
					"")
				w.give("added_latency", QTime, w.num["usecs"]/1e6, "usecs / 1e6", "at most; half of it on average")
			}},
		{"hash", "buckets of a hash table", []Input{{"entries", QNumber, "", "connections, states or hosts at once"},
			{"per_bucket", QNumber, "1", "entries that a bucket may hold on average"},
			{"entry", QBytes, "0", "memory of one entry"}, {"bucket", QBytes, "8", "memory of one bucket"}}, []string{
			"Knuth: The Art of Computer Programming, volume 3, section 6.4"}, func(w *working) {
			if w.num["per_bucket"] <= 0 {
				w.fail("per_bucket must be above 0")
				return
			}
			w.give("buckets", QNumber, math.Exp2(math.Ceil(math.Log2(math.Max(w.num["entries"]/w.num["per_bucket"],
				1)))), "next power of 2 from entries / per_bucket", "the kernels want powers of 2")
			w.give("load", QNumber, w.num["entries"]/w.num["buckets"], "entries / buckets",
				"looked at for a name that is not there; 1 + load / 2 for one that is")
			w.give("memory", QBytes, w.num["buckets"]*w.num["bucket"]+w.num["entries"]*w.num["entry"],
				"buckets * bucket + entries * entry", "")
		}},
	}
}

func bus(w *working) {
	if w.num["crossings"] < 1 {
		w.fail("crossings must be at least 1")
		return
	}
	switch w.word["kind"] {
	case "pci", "pci-x":
		w.give("raw", QRate, w.num["mhz"]*1e6*w.num["bits"], "mhz * 1e6 * bits",
			"both directions together, shared by every card on the bus")
		w.give("usable", QRate, w.num["raw"]*0.8/w.num["crossings"], "raw * 0.8 / crossings",
			"address phases and turnarounds cost about a fifth with long bursts")
	case "pcie":
		g, ok := pcie[w.word["gen"]]
		if !ok {
			w.fail("gen %q: 1 to 7 is expected", w.word["gen"])
			return
		}
		if l := w.num["lanes"]; l != 1 && l != 2 && l != 4 && l != 8 && l != 12 && l != 16 && l != 32 {
			w.fail("lanes %g: 1, 2, 4, 8, 12, 16 or 32 is expected", l)
			return
		}
		w.num["transfers"], w.num["encoding"] = g.transfers, g.encoding
		w.give("raw", QRate, g.transfers*w.num["lanes"]*g.encoding, "transfers * lanes * encoding", "each direction")
		w.give("usable", QRate, w.num["raw"]*w.num["payload"]/(w.num["payload"]+24), "raw * payload / (payload + 24)",
			"24 bytes of header, sequence number and check code around each packet; descriptors and "+
				"acknowledgements take "+
				"some more")
	default:
		w.fail("kind %q: pci, pci-x or pcie is expected", w.word["kind"])
		return
	}
	w.give("bytes_per_second", QSpeed, w.num["raw"]/8, "raw / 8", "")
}

// diskFormulas are about file servers' storage.
func diskFormulas() []Formula {
	return []Formula{
		{"dirty", "ZFS dirty data for an incoming rate",
			[]Input{{"rate", QRate, "", "incoming rate"}, {"disk_rate", QSpeed, "", "rate at which the pool writes"},
				{"timeout", QTime, "5s", "vfs.zfs.txg.timeout"}, {"memory", QBytes, "", "memory of the machine"}},
			[]string{
				"OpenZFS module/zfs/dsl_pool.c, zfs_dirty_data_max", "OpenZFS module/zfs/dmu_tx.c, the write throttle",
				"the FreeBSD tuning guide (2021), ZFS"}, dirty},
		{"qdepth", "I/O operations that keep a device busy",
			[]Input{{"iops", QPerSec, "", "operations per second of the device"},
				{"latency", QTime, "", "time of one operation"}, {"devices", QNumber, "1", "devices of a vdev"}},
			[]string{
				"Little: A Proof for the Queuing Formula L = λW, 1961",
				"NVM Express Base Specification 2.0, section 3.3"},
			func(w *working) {
				w.give("per_device", QNumber, math.Ceil(w.num["iops"]*w.num["latency"]), "iops * latency",
					"more only waits longer; an NVMe queue takes up to 65536")
				w.give("per_vdev", QNumber, w.num["per_device"]*w.num["devices"], "per_device * devices", "")
			}},
		{"slog", "size of a log device", []Input{
			{"rate", QRate, "", "incoming rate of synchronous writes"},
			{"timeout", QTime, "5s", "vfs.zfs.txg.timeout"},
			{"groups", QNumber, "2", "transaction groups in flight: one open, one or two being written"},
		}, []string{
			"OpenZFS module/zfs/txg.c: three transaction groups, two of them closed",
		}, func(w *working) {
			w.give("size", QBytes, math.Ceil(w.num["rate"]/8*w.num["timeout"]*w.num["groups"]),
				"rate / 8 * timeout * groups", "more is never used")
		}},
	}
}

func dirty(w *working) {
	if w.num["disk_rate"] <= 0 || w.num["rate"] <= 0 {
		w.fail("rate and disk_rate must be above 0")
		return
	}
	w.give("incoming", QSpeed, w.num["rate"]/8, "rate / 8", "")
	w.give("per_group", QBytes, math.Ceil(w.num["incoming"]*w.num["timeout"]), "incoming * timeout",
		"what arrives until the timeout commits it")
	w.give("default", QBytes, math.Min(w.num["memory"]/10, 4<<30), "min(memory / 10, 4 GiB)",
		"of vfs.zfs.dirty_data_max")
	w.give("bound", QBytes, w.num["memory"]/4, "memory / 4", "above it the machine starves")
	w.give("dirty_data_max", QBytes, math.Min(math.Max(w.num["per_group"]/0.6, w.num["default"]), w.num["bound"]),
		"min(max(per_group / 0.6, default), bound)",
		"writers are slowed from 60% of it on (vfs.zfs.delay_min_dirty_percent)")
	w.give("commit_time", QTime, w.num["dirty_data_max"]/w.num["disk_rate"], "dirty_data_max / disk_rate",
		"to write all of it; lost at a power cut unless it was synchronous")
	if w.num["incoming"] > w.num["disk_rate"] {
		w.give("until_throttled", QTime, 0.6*w.num["dirty_data_max"]/(w.num["incoming"]-w.num["disk_rate"]),
			"0.6 * dirty_data_max / (incoming - disk_rate)",
			"the pool is slower than the network: no size helps longer than this")
	}
}
