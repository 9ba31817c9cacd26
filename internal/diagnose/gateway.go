package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// lossyGateway finds a gateway at which the monitor of a firewall loses many of its probes, of about 60 in a minute. One
// that never answered may not answer pings at all.
func lossyGateway(f *facts.Facts) []Finding {
	const least, all = 10, 100
	answered := map[string]bool{}
	for _, line := range f.Lines("dmesg") {
		if r, ok := gatewayReport(line); ok && (!r.alarm || r.alone == "" && r.loss < all) {
			answered[r.address] = true
		}
	}
	worst, address, silent := 0, "", ""
	lines, n := logLines(f, func(line string) bool {
		r, ok := gatewayReport(line)
		switch gone := r.loss >= all || r.alone == "down"; {
		case !ok || !r.alarm || gone && !answered[r.address]:
			return false
		case gone:
			silent = r.address
		case r.alone != "loss" && r.loss < least:
			return false
		case r.loss >= worst:
			worst, address = r.loss, r.address
		}
		return true
	})
	if n == 0 {
		return nil
	}
	said := fmt.Sprintf("the gateway monitor lost %d%% of its probes", worst)
	switch {
	case address == "":
		address, said = silent, "it did not answer monitor probes at times"
	case worst == 0:
		said = "the gateway monitor reported lost probes"
	}
	next := "check the link to the gateway and the load on the WAN at that time: a saturated upload loses probes just as a " +
		"bad line does"
	if silent != "" {
		next = "check the modem's log for a lost line or session at these times; if connections continue meanwhile, monitor " +
			"another address (Monitor IP of the gateway)"
	}
	if down := fallen(f); down != "" {
		next = "the log also shows the link " +
			"of " + down + " going down: if it leads to the gateway, fix that link first (cable, " +
			"port, device at the other end)"
	}
	found := do(next, one("gateway "+address, lines, "%s (alarms: %s)", said, counted(n, "line")))
	if address == silent {
		found[0].Because = "While probes get no answer, the firewall considers the gateway down: it may kill states or fail " +
			"over to another gateway."
		found[0].Confirm = "Connections stall at the times of the alarms."
	}
	return found
}

// slowGateway finds a gateway that the monitor of a firewall called late, and that lost few of its probes.
func slowGateway(f *facts.Facts) []Finding {
	const least, few = 200, 10 // ms, percent
	worst, address := 0.0, ""
	lines, n := logLines(f, func(line string) bool {
		r, ok := gatewayReport(line)
		if !ok || !r.alarm || r.alone != "delay" && (r.ms < least || r.loss >= few) {
			return false
		}
		if r.ms >= worst {
			worst, address = r.ms, r.address
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
	said := "the gateway monitor waited up to " + inMS(worst/1000) + " for an answer"
	if worst == 0 {
		said = "the gateway monitor reported high latency"
	}
	return with(s, do("ping it while the link is idle and while it is loaded: if only load makes it slow, shape to about "+
		"95% of the link rate (FQ-CoDel); otherwise check the line",
		one("gateway "+address, lines, "%s (alarms: %s)", said, counted(n, "line"))))
}

// gatewayState is what the monitor of a firewall's gateways says of one of them.
type gatewayState struct {
	address string
	alarm   bool // rather than its end
	ms      float64
	loss    int    // percent
	alone   string // delay, loss or down, where it gives no numbers
}

// gatewayReport reads what dpinger, the scripts of pfSense and OPNsense that it starts, and its predecessor log of a gateway.
func gatewayReport(line string) (r gatewayState, ok bool) {
	if m := apingerAlarm.FindStringSubmatch(line); m != nil {
		return gatewayState{address: m[2], alarm: m[1] == "ALARM", alone: m[3]}, true
	}
	for _, form := range []*regexp.Regexp{dpingerAlarm, scriptAlarm} {
		m := form.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		r.address = m[1]
		r.alarm = m[2] == "Alarm" || m[2] == "1" || strings.Contains(m[2], "->") && !strings.HasSuffix(m[2], " none")
		r.ms, _ = strconv.ParseFloat(m[3], 64) // nothing stands for it where no probe came back
		r.loss, _ = strconv.Atoi(m[5])
		// scripts of older OPNsense write "ms" behind microseconds; dpinger takes a probe for lost long before ten seconds
		const latest = 10_000
		if m[4] == "us" || r.ms > latest {
			r.ms /= 1000
		}
		return r, r.ms <= 1e6 && r.loss <= 100
	}
	return r, false
}

var (
	// alert_thread of dpinger.c
	dpingerAlarm = regexp.MustCompile(`dpinger.* (\S+?):? (Alarm|Clear) latency ([0-9.]{1,12})(us|` +
		`ms) stddev \S+ loss (\d{1,3})%`)
	// rc.gateway_alarm of pfSense, gateway_watcher.php of OPNsense (MONITOR: no gateway is switched)
	scriptAlarm = regexp.MustCompile(`(?i:alarm|alert|monitor): .*\(Addr: ?(\S+) Alarm: ?([01]|\S+ -> \S+) ` +
		`RTT: ?([0-9.]{1,12}|~) ?(us|ms)? .*Loss: ?(\d{1,3})(?:\.\d+)? ?%`)
	// toggle_alarm of apinger.c; both firewalls put the gateway's name before that of the alarm
	apingerAlarm = regexp.MustCompile(`apinger: (ALARM|alarm canceled): [^(]*\(([^)\s]+)\) +\*\*\* \S*(delay|` +
		`loss|down) \*\*\*`)
)

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
	found := with(repeated(n, often), one(peer, lines, "nothing can be sent to it: %s "+
		"(error %s, %s)", unsentFor[number], number,
		counted(n, "line")))
	found[0].Because = "The packets did not leave the host: the gateway is unreachable while this lasts."
	found[0].Confirm = "The messages stop when the interface has its link, address and route again."
	return do("check that the interface is up and has its address (ifconfig), that the route exists (netstat -rn) and that "+
		"the next hop answers ARP (arp -an)", found)
}

var unsent = regexp.MustCompile(`dpinger.* (\S+): sendto error: (\d{1,3})\b|\bwrite UDP\S*: .*\(code=(\d{1,3})\)`)

// unsentFor are the errors of FreeBSD (sys/sys/errno.h) by their numbers.
var unsentFor = map[string]string{"49": "the interface's own address is gone", "50": "the interface is down",
	"51": "the network is unreachable", "64": "the next hop does not answer ARP", "65": "there is no route to the host"}

// silentSession finds a session of PPP, mostly of an access line (PPPoE), that ended since the other end was silent.
func silentSession(f *facts.Facts) []Finding {
	const often = 2
	lines, n := matching(f, silentPeer)
	if n == 0 {
		return nil
	}
	found := with(repeated(n, often), one("ppp", lines, "the ISP end of the link did not respond, so the PPP session ended "+
		"(%s)",
		counted(n, "line")))
	found[0].Because = "No traffic passes until the session is up again; if the address changes, all connections are lost."
	found[0].Confirm = "The modem's log shows a loss of sync or link at the same time."
	return do("check the modem's log, cabling and line; a saturated upload also delays the echo replies: shape to about "+
		"95% of the upload rate", found)
}

// silentPeer is what mpd of FreeBSD's firewalls (fsm.c), pppd (lcp.c) and the kernel of the BSDs (if_spppsubr.c) say.
var silentPeer = regexp.MustCompile(`LCP: peer not responding to echo|LCP: no reply to (?:[3-9]|\d\d) echo request|` +
	`No response to \d+ echo-requests|LCP keepalive time(?:out|d out)`)

// foreignGateway finds a next router outside of all networks of its interface (arpresolve, sys/netinet/if_ether.c).
func foreignGateway(f *facts.Facts) []Finding {
	lines, n := matching(f, noNeighbour)
	if n == 0 || f.System != system.FreeBSD {
		return nil
	}
	m := noNeighbour.FindStringSubmatch(lines[0].Text)
	where := "the interface"
	if m[2] != "" {
		where = m[2]
	}
	found := one("gateway "+m[1], lines, "packets to it were dropped: it is not in any subnet of %s (%s)", where,
		counted(n, "line"))
	found[0].Because = "The route points at a router that is not on the interface's subnet, so ARP cannot resolve it."
	found[0].Confirm = "The messages stop when address, netmask and route match."
	const often = 2
	return with(repeated(n, often), do("compare the address and netmask of "+where+" (ifconfig) with the route "+
		"(netstat -rn); a lost DHCP lease shows up like this too", found))
}

var noNeighbour = regexp.MustCompile(`arpresolve: can't allocate llinfo for ([0-9.]{7,15})(?: on ([a-z][\w.]*))?`)
