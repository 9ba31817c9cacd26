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
	said := fmt.Sprintf("its monitor lost %d%% of the probes", worst)
	switch {
	case address == "":
		address, said = silent, "at times it answered none of its monitor's probes"
	case worst == 0:
		said = "its monitor reported lost probes"
	}
	next := "look at the link to it and at what its line carries meanwhile: a full upload loses " +
		"probes as well as a bad line"
	if silent != "" {
		next = "see in the modem's log whether the line or its session ended at these times; where connections go on " +
			"meanwhile, let another address be monitored (Monitor IP of the gateway)"
	}
	if down := fallen(f); down != "" {
		next = "the log shows the link of " + down + " going down as well: if that is the way to it, see to the " +
			"link first " +
			"(cable, port, what is at its other end)"
	}
	found := do(next, one("gateway "+address, lines, "%s (alarms in %s)", said, counted(n, "line")))
	if address == silent {
		found[0].Because = "While nothing comes back the firewall takes the way for down: it may end connections, or move to another."
		found[0].Confirm = "Connections stand still at the times of the alarms."
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
	said := "its monitor waited up to " + inMS(worst/1000) + " for an answer"
	if worst == 0 {
		said = "its monitor reported late answers"
	}
	return with(s, do("ping it while the line is idle and while it is full: where it is late with the load alone, shape a little "+
		"below the line's rate (FQ-CoDel); else look at the line",
		one("gateway "+address, lines, "%s (alarms in %s)", said, counted(n, "line"))))
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

// silentSession finds a session of PPP, mostly of an access line (PPPoE), that ended since the other end was silent.
func silentSession(f *facts.Facts) []Finding {
	const often = 2
	lines, n := matching(f, silentPeer)
	if n == 0 {
		return nil
	}
	found := with(repeated(n, often), one("ppp", lines, "the other end of the line did not answer, so the "+
		"session ended (%s)",
		counted(n, "line")))
	found[0].Because = "Until it stands again nothing passes, and where its address changes all connections are lost."
	found[0].Confirm = "The modem's log shows at the same time that it lost the line, or its link."
	return do("look at the modem and its line (its log, its cable); a full upload delays the answers as well: "+
		"shape a little "+
		"below the line's rate", found)
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
	found := one("gateway "+m[1], lines, "packets to it were dropped: it is in no network of %s (%s)", where,
		counted(n, "line"))
	found[0].Because = "The route leads to a router that the interface cannot ask for its hardware address."
	found[0].Confirm = "The messages stop when address, netmask and route fit."
	const often = 2
	return with(repeated(n, often), do("ifconfig shows the address and netmask of "+where+", netstat -rn the "+
		"route: they have to fit; "+
		"a line that lost its address (DHCP) shows this too", found))
}

var noNeighbour = regexp.MustCompile(`arpresolve: can't allocate llinfo for ([0-9.]{7,15})(?: on ([a-z][\w.]*))?`)
