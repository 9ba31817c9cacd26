package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// slowGateway finds a gateway that the monitor of a firewall called late, and that lost few of its probes.
func slowGateway(f *facts.Facts) []Finding {
	const least, few = 200, 10 // ms, percent
	worst, address := 0.0, ""
	lines, n := logLines(f, func(line string) bool {
		m := gatewayDelay.FindStringSubmatch(line)
		if m == nil {
			return false
		}
		ms, err := strconv.ParseFloat(m[2]+m[5], 64)
		if m[3]+m[6] == "us" {
			ms /= 1000
		}
		loss, _ := strconv.Atoi(m[4] + m[7])
		if err != nil || ms < least || ms > 1e6 || loss >= few {
			return false
		}
		if ms > worst {
			worst, address = ms, m[1]
		}
		return true
	})
	if n == 0 {
		return nil
	}
	const often, lost = 3, 1000 // TCP's first retransmission comes after a second
	s := Info
	if n >= often || worst >= lost {
		s = Warning
	}
	return with(s, do("ping it while the line is idle and while it is full: where it is late with the load alone, shape a little "+
		"below the line's rate (FQ-CoDel); else look at the line",
		one("gateway "+address, lines, "its monitor waited up to %s for an answer (alarms in %s)", inMS(worst/1000),
			counted(n, "line"))))
}

// gatewayDelay is what dpinger of pfSense and OPNsense logs of a round trip above the limit, and what they make of it.
var gatewayDelay = regexp.MustCompile(`dpinger.* (\S+): Alarm latency ([0-9.]{1,12})(us|` +
	`ms) stddev \S+ loss (\d{1,3})%|` +
	`(?i:alarm|alert): .*\(Addr: ?\S+ Alarm: ?(?:1|\S+ -> \S+) RTT: ?([0-9.]{1,12}) ?(us|ms) .*Loss: ?(\d{1,3})`)

// unsentProbes finds what keeps a firewall of FreeBSD's kind from sending to a gateway or a peer: dpinger says only the
// number of the error, OpenVPN its name as well.
func unsentProbes(f *facts.Facts) []Finding {
	const often = 3
	lines, n := logLines(f, func(line string) bool {
		m := unsent.FindStringSubmatch(line)
		return m != nil && f.System == system.FreeBSD && unsentFor[m[2]+m[3]] != ""
	})
	if n == 0 {
		return nil
	}
	m := unsent.FindStringSubmatch(lines[0].Text)
	peer, number := "gateway "+m[1], m[2]+m[3]
	if m[1] == "" {
		peer = "tunnel"
	}
	found := with(repeated(n, often), one(peer, lines, "nothing could be sent to it: %s (error %s, %s)", unsentFor[number], number,
		counted(n, "line")))
	found[0].Because = "The packets did not leave the host: while this lasts the way to it does not exist."
	found[0].Confirm = "The messages stop when its interface has its link, its address and its route again."
	return do("ifconfig shows whether the interface to it is up and has its address, netstat -rn whether the route is there, "+
		"arp -an whether the next router answers", found)
}

var unsent = regexp.MustCompile(`dpinger.* (\S+): sendto error: (\d{1,3})\b|\bwrite UDP\S*: .*\(code=(\d{1,3})\)`)

// unsentFor are the errors of FreeBSD (sys/sys/errno.h) by their numbers.
var unsentFor = map[string]string{"49": "its own address is gone", "50": "the interface is down",
	"51": "the network cannot be reached", "64": "the next router does not answer ARP", "65": "there is no route to it"}
