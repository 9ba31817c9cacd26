package calc

import (
	"fmt"
	"math"
)

// windowScale is the largest shift of TCP's window (RFC 7323, section 2.3).
const windowScale = 14

// largestWindow is what TCP's header can say with it, in bytes.
const largestWindow = 65535 << windowScale

// pathFormulas are about what a path carries.
func pathFormulas() []Formula {
	rate := Input{"rate", QRate, "", "rate of the bottleneck"}
	rtt := Input{"rtt", QTime, "", "base round-trip time"}
	mtu := Input{"mtu", QBytes, "1500", "largest IP packet"}
	loss := Input{"loss", QFraction, "", "share of segments lost"}
	return []Formula{
		{"bdp", "bytes in flight that keep a path full", []Input{rate, rtt, mtu},
			[]string{"RFC 6349, section 3.3", "RFC 1072"}, func(w *working) {
				note := ""
				if w.num["rate"]/8*w.num["rtt"] > largestWindow {
					note = "more than TCP's largest window, 65535 * 2^14 bytes: one connection cannot fill this path"
				}
				w.give("bdp", QBytes, math.Ceil(w.num["rate"]/8*w.num["rtt"]), "rate / 8 * rtt", note)
				w.give("segments", QNumber, math.Ceil(w.num["bdp"]/(w.num["mtu"]-52)), "bdp / (mtu - 52)",
					"of full size, with timestamps")
				w.give("linux_rmem", QBytes, math.Ceil(2*w.num["bdp"]), "2 * bdp",
					"half of Linux's receive buffer becomes window when packets are well filled")
			}},
		{"window", "what a window allows on a path",
			[]Input{{"window", QBytes, "", "bytes that may be in flight"}, rtt},
			[]string{"RFC 6349, section 3.3.1"}, func(w *working) {
				w.give("rate", QRate, w.num["window"]*8/w.num["rtt"], "window * 8 / rtt",
					"upper bound of one connection, whatever the link")
				w.give("rate_without_scaling", QRate, 65535*8/w.num["rtt"], "65535 * 8 / rtt",
					"when a middlebox strips the window scale option")
			}},
		{"wscale", "window scale that a buffer leads to",
			[]Input{{"buffer", QBytes, "", "kern.ipc.maxsockbuf, or the maximum of tcp_rmem"}}, []string{
				"RFC 7323, section 2.2", "FreeBSD sys/netinet/tcp_syncache.c, syncache_add",
				"Linux net/ipv4/tcp_output.c, tcp_select_initial_window"}, wscale},
		{"mss", "payload of a segment and what headers cost",
			[]Input{mtu, {"family", QWord, "4", "4 or 6"}, {"timestamps", QWord, "yes", "yes or no"},
				{"vlan", QWord, "no", "yes or no"}}, []string{
				"RFC 9293, section 3.7.1", "RFC 6691", "RFC 7323, section 3.2", "IEEE 802.3, clauses 3 and 4"},
			segment},
		{"loss", "what a loss rate allows", []Input{loss, rtt, mtu}, []string{
			"Mathis, Semke, Mahdavi, Ott: The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, 1997",
			"RFC 9438, section 5.1"}, lossRate},
		{"queue", "packets that a queue holds for a time",
			[]Input{rate, {"packet", QBytes, "1500", "size of a packet"},
				{"time", QTime, "50ms", "time that the queue covers"},
				{"interfaces", QNumber, "1", "physical interfaces"}}, []string{
				"the FreeBSD tuning guide (2021), Maximum Send Queue Length"}, func(w *working) {
				w.give("packets", QNumber, math.Ceil(w.num["rate"]/8/w.num["packet"]*w.num["time"]),
					"rate / 8 / packet * time", "")
				w.give("floor", QNumber, 256*w.num["interfaces"], "256 * interfaces",
					"the guide takes the larger of the two")
				w.give("length", QNumber, math.Max(w.num["packets"], w.num["floor"]), "max(packets, floor)", "")
				w.give("delay", QTime, w.num["length"]*w.num["packet"]*8/w.num["rate"], "length * packet * 8 / rate",
					"that a full queue adds; an AQM such as fq_codel needs no such length")
			}},
		{"fragments", "what fragmentation costs", []Input{{"datagram", QBytes, "", "UDP payload"}, mtu, rate,
			{"timeout", QTime, "30s", "time that the receiver waits for missing ones"}, loss}, []string{
			"RFC 791, section 3.2", "RFC 4963, section 2", "RFC 8900"}, fragments},
	}
}

func wscale(w *working) {
	buffer := w.num["buffer"]
	shift := 0.0
	for shift < windowScale && 65535*math.Exp2(shift) < buffer {
		shift++
	}
	w.give("freebsd", QNumber, shift, "smallest n with 65535 * 2^n >= buffer, at most 14", "from kern.ipc.maxsockbuf")
	w.give("freebsd_in_flight", QBytes, 65535*math.Exp2(shift), "65535 * 2^freebsd", "")
	linux := math.Min(math.Max(math.Floor(math.Log2(math.Max(buffer, 1)))-15, 0), windowScale)
	w.give("linux", QNumber, linux, "floor(log2(buffer)) - 15, 0 to 14",
		"from the larger of tcp_rmem's maximum and rmem_max")
	w.give("linux_in_flight", QBytes, 65535*math.Exp2(linux), "65535 * 2^linux", "")
}

func segment(w *working) {
	ip, options, tag := 20.0, 12.0, 0.0
	switch w.word["family"] {
	case "4":
	case "6":
		ip = 40
	default:
		w.fail("family %q: 4 or 6 is expected", w.word["family"])
	}
	for name, off := range map[string]*float64{"timestamps": &options, "vlan": &tag} {
		switch w.word[name] {
		case "yes":
			if name == "vlan" {
				*off = 4
			}
		case "no":
			*off = 0
		default:
			w.fail("%s %q: yes or no is expected", name, w.word[name])
		}
	}
	if w.num["mtu"] < 128 || w.num["mtu"] > 65535 {
		w.fail("mtu %.0f: 128 to 65535 is expected", w.num["mtu"])
		return
	}
	w.num["ip"], w.num["options"], w.num["tag"] = ip, options, tag
	w.give("mss_option", QBytes, w.num["mtu"]-ip-20, "mtu - ip - 20", "as announced: without options (RFC 6691)")
	w.give("payload", QBytes, w.num["mss_option"]-options, "mss_option - options", "of a full segment")
	w.give("frame_efficiency", QFraction, w.num["payload"]/(w.num["mtu"]+14+tag), "payload / (mtu + 14 + tag)",
		"of the frame as the guides count it")
	w.give("wire_efficiency", QFraction, w.num["payload"]/(w.num["mtu"]+38+tag), "payload / (mtu + 38 + tag)",
		"with preamble, check sequence and gap: what a link really carries")
}

func lossRate(w *working) {
	p, rtt := w.num["loss"], w.num["rtt"]
	if p <= 0 || rtt <= 0 {
		w.fail("loss and rtt must be above 0")
		return
	}
	w.give("mss", QBytes, w.num["mtu"]-52, "mtu - 52", "")
	w.give("mathis_window", QNumber, math.Sqrt(1.5/p), "sqrt(1.5 / loss)",
		"segments; Reno with every segment acknowledged")
	w.give("mathis", QRate, w.num["mss"]*8/rtt*w.num["mathis_window"], "mss * 8 / rtt * mathis_window", "")
	w.give("cubic_window", QNumber, 1.054*math.Pow(rtt/p, 0.75), "1.054 * (rtt / loss)^0.75",
		"segments; C = 0.4, beta = 0.7")
	w.give("cubic", QRate, w.num["mss"]*8/rtt*math.Max(w.num["cubic_window"], w.num["mathis_window"]),
		"mss * 8 / rtt * max(cubic_window, mathis_window)", "CUBIC is never slower than Reno (RFC 9438, section 4.3)")
}

func fragments(w *working) {
	if w.num["mtu"] < 68 || w.num["datagram"] > 65507 || w.num["datagram"] < 1 {
		w.fail("a datagram has 1 to 65507 bytes, and an MTU at least 68")
		return
	}
	room := math.Floor((w.num["mtu"]-20)/8) * 8
	w.num["room"] = room
	count := math.Ceil((w.num["datagram"] + 8) / room)
	w.give("fragments", QNumber, count, "ceil((datagram + 8) / room)",
		fmt.Sprintf("room is the payload of one fragment, %.0f bytes, a multiple of 8", room))
	w.give("datagrams", QPerSec, w.num["rate"]/8/(w.num["datagram"]+8+20*count),
		"rate / 8 / (datagram + 8 + 20 * fragments)", "")
	w.give("identifier_wraps", QTime, 65536/w.num["datagrams"], "65536 / datagrams",
		"below the receiver's timeout, fragments of different datagrams are mixed up (RFC 4963)")
	w.give("datagram_loss", QFraction, 1-math.Pow(1-w.num["loss"], count), "1 - (1 - loss)^fragments",
		"one lost fragment loses the datagram")
	w.give("reassembly_memory", QBytes,
		math.Ceil(w.num["datagrams"]*w.num["datagram_loss"]*w.num["timeout"]*w.num["datagram"]),
		"datagrams * datagram_loss * timeout * datagram", "held for incomplete datagrams at worst")
}
