package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// reported finds failures that a log tells in words for which no rule has a form. Its findings are possible causes, and
// are told only where no other rule found one.
func reported() Rule {
	return Rule{
		ID: "log-reports-failure", Title: "A log message reports a failure",
		Needs: []string{"messages|program log"}, Severity: Info, LastResort: true,
		Because: "The program itself reports the failure; the line alone does not show what is behind it.",
		Confirm: "The message appears when the problem occurs, and not at other times.",
		Check:   func(in Input) []Finding { return reportsIn(in.Facts) },
		Fires: linuxExample("dmesg", "Mar  4 11:02:59 edge1 relayd[881]: send queue to peer 192.0.2.7 is full, dropping\n"+
			"Mar  4 11:03:04 edge1 relayd[881]: send queue to peer 192.0.2.7 is full, dropping\n"),
		Quiet: linuxExample("dmesg", "Mar  4 11:02:59 edge1 relayd[881]: send queue length set to 512\n"),
	}
}

// A line in a log of more than shortLog lines counts where it comes again, one that the program does not call a warning
// already in a log of more than fewLines.
const (
	shortLog = 40
	fewLines = 6
)

// mostReports bounds the findings from one log, the others what is told apart in it.
const (
	mostReports  = 2
	mostPeers    = 64
	mostPrograms = 256
)

// reportGroup is what a program reports of one kind.
type reportGroup struct {
	program string
	failure facts.Failure
	text    *reportText
	lines   []facts.Source
	n, loud int
	lost    uint64
	peers   map[string]int
}

// reportsIn are the failures that are told most, those first that explain others.
func reportsIn(f *facts.Facts) (out []Finding) {
	var groups []*reportGroup
	for _, log := range []string{"dmesg", facts.Reports} {
		report := facts.ReportOf
		if log == facts.Reports {
			report = facts.UnstampedReport
		}
		for i, line := range f.Lines(log) {
			if r, ok := report(line); ok {
				groups = joined(groups, r, f.Line(log, i+1))
			}
		}
	}
	all := len(f.Lines("dmesg")) + len(f.Lines(facts.Reports))
	groups = slices.DeleteFunc(groups, func(g *reportGroup) bool {
		return g.n < 2 && (all > shortLog || g.loud == 0 && all > fewLines) || g.failure == facts.Filtered && g.n < 2
	})
	slices.SortStableFunc(groups, func(a, b *reportGroup) int {
		return cmp.Or(cmp.Compare(a.failure, b.failure), cmp.Compare(b.n, a.n))
	})
	for _, g := range groups[:min(len(groups), mostReports)] {
		out = append(out, g.finding())
	}
	return out
}

// joined adds a report to the group of its program and failure, or of its message where that is known.
func joined(groups []*reportGroup, r facts.Report, at facts.Source) []*reportGroup {
	text := reportTexts[r.Failure]
	if i := slices.IndexFunc(knownReports, func(k knownReport) bool { return k.form.MatchString(at.Text) }); i >= 0 {
		text = &knownReports[i].reportText
		r.Program = cmp.Or(knownReports[i].subject, r.Program)
	}
	i := slices.IndexFunc(groups, func(g *reportGroup) bool { return g.program == r.Program && g.text == text })
	if i < 0 {
		if len(groups) >= mostPrograms {
			return groups
		}
		i, groups = len(groups), append(groups, &reportGroup{program: r.Program, failure: r.Failure, text: text, peers: map[string]int{}})
	}
	g := groups[i]
	if g.n++; !r.Quiet {
		g.loud++
	}
	g.lost += r.Count
	if r.Peer != "" && (g.peers[r.Peer] > 0 || len(g.peers) < mostPeers) {
		g.peers[r.Peer]++
	}
	if len(g.lines) < 2 {
		g.lines = append(g.lines, at)
	} else {
		g.lines[1] = at
	}
	return groups
}

// peer is the address that most of the lines name, and whether it is the only one.
func (g *reportGroup) peer() (most string, only bool) {
	for p, n := range g.peers {
		if n > g.peers[most] || n == g.peers[most] && p < most {
			most = p
		}
	}
	return most, len(g.peers) == 1
}

func (g *reportGroup) finding() Finding {
	summary, action := g.text.summary, g.text.do
	if g.lost > 0 {
		summary += fmt.Sprintf(", %d lost", g.lost)
	}
	if peer, only := g.peer(); peer != "" && g.text.peer {
		if only {
			summary += ": " + peer
		}
		if strings.HasPrefix(peer, "127.") || peer == "::1" {
			action = "the other end runs on this host: see whether it runs and listens (ss -ltnp), what its log says at that time, and " +
				"whether processor, memory or disk hold it up (vmstat 1, cat /proc/pressure/*)"
		} else {
			action = "ping -c 100 " + peer + " and mtr -rwbzc 100 " + peer + "; " + action
		}
	}
	found := one(cmp.Or(g.program, "log"), g.lines, "%s (%s%s)", summary, counted(g.n, "message"), within(g.lines))
	found[0].Because = g.text.because
	if g.failure == facts.Lost && g.lost >= warningCount || g.text != reportTexts[g.failure] && g.n >= often {
		found = with(Warning, found)
	}
	return decisive(do(action, found))[0]
}

// often is how many times a known message has to come to be more than a hint.
const often = 3

// clockIn is the time of day, or the seconds since the start, of a line.
var clockIn = regexp.MustCompile(`^(.*?)(?:\b(\d\d):(\d\d):(\d\d)\b|\[ *(\d{1,9})\.\d{3,9}\])`)

// within says in what time the first and the last of several lines came, where both are of one day.
func within(lines []facts.Source) string {
	if len(lines) < 2 {
		return ""
	}
	first, last := clockIn.FindStringSubmatch(lines[0].Text), clockIn.FindStringSubmatch(lines[1].Text)
	if first == nil || last == nil || first[1] != last[1] {
		return ""
	}
	seconds := func(m []string) (sum int) {
		for i, unit := range []int{3600, 60, 1, 1} {
			v, _ := strconv.Atoi(m[i+2])
			sum += v * unit
		}
		return sum
	}
	passed := time.Duration(seconds(last)-seconds(first)) * time.Second
	if passed <= 0 {
		return ""
	}
	return " in " + passed.String()
}

// reportText is what a failure means, and what to do about it; peer tells that the address in the line is where to look.
type reportText struct {
	summary, because, do string
	peer                 bool
}

// knownReport is a message of which more is known than its kind.
type knownReport struct {
	form    *regexp.Regexp
	subject string
	reportText
}

var knownReports = []knownReport{
	{regexp.MustCompile(`^xx drop \((?:CT: Map insertion failed|No mapping for NAT masquerade)`), "cilium", reportText{
		summary: "packets were dropped because a connection table is full",
		because: "Cilium keeps connections and translations in eBPF maps of fixed size; a connection that finds no room is dropped.",
		do: "compare cilium bpf ct list global | wc -l with bpf-ct-global-tcp-max and bpf-ct-global-any-max, and raise them, or " +
			"bpf-map-dynamic-size-ratio"}},
	{regexp.MustCompile(`^xx drop \(Policy denied`), "cilium", reportText{summary: "a network policy denied packets",
		because: "No policy of the endpoint allows this traffic: connections time out instead of being refused.",
		do:      "hubble observe --verdict DROPPED (or cilium policy trace) shows which identities lack a rule; allow them, if they are meant to talk"}},
	{facts.SaturatedForm, "openvpn", reportText{summary: "the queue of a client was full, and packets were dropped",
		because: "Over TCP OpenVPN keeps few packets for a client whose connection is slower than what is sent to it, and drops the " +
			"rest: the connections inside repeat what the one outside repeats as well.",
		do: "let the tunnel use UDP (proto udp); where it must be TCP, lengthen the queue (tcp-queue-limit 256, bcast-buffers 1024), " +
			"and with dev tap keep broadcasts out of it"}},
	{facts.StreamGap, "video stream", reportText{summary: "packets of the stream are missing",
		because: "A stream over UDP is not sent again: what a full buffer, a radio or a queue loses is missing in the picture.",
		do: "let the stream arrive by cable instead of Wi-Fi; switch IGMP snooping on at the bridge (OpenWrt: option igmp_snooping " +
			"'1'), so that only the ports that asked get the stream; nstat -az UdpRcvbufErrors at the player shows a full buffer"}},
}

var reportTexts = map[facts.Failure]*reportText{
	facts.DeviceFails: {summary: "a device or its firmware stopped responding or was reset",
		because: "Until the device works again nothing passes through it, and what was in its queues is lost.",
		do: "update its driver and firmware, check slot or USB port, cable, power supply and temperature, and test with its power saving " +
			"off; dmesg and ethtool -i NAME show the versions"},
	facts.NoMemory: {summary: "memory ran out",
		because: "A program or driver that gets no memory drops packets, refuses connections or is killed.",
		do: "see what uses the memory (free -m, ps aux --sort=-rss | head, slabtop -o); raise the program's own limit or the container's " +
			"where that is the one reached, and look for a leak where the use only grows"},
	facts.Exhausted: {summary: "a queue, buffer or table is full, or a limit was reached",
		because: "What arrives while it is full is dropped, refused or kept waiting.",
		do: "find the setting that the message names in the program's manual and raise it as far as memory allows; a count that only grows " +
			"is a leak, peaks are load, and a full queue towards a peer means that the peer or the path to it is slower than what is sent"},
	facts.TooLarge: {summary: "packets are too large for the path or the interface",
		because: "Packets larger than the MTU are dropped or fragmented: small requests work, and large transfers hang.",
		do: "find the largest packet that passes (ping -M do -s 1472 PEER, then smaller), set the MTU of the tunnel or interface to it " +
			"(the size plus 28), and clamp the MSS of TCP to it on the router", peer: true},
	facts.Late: {summary: "packets arrived too late or out of order",
		because: "The delay of the path varies more than the receiver's buffer covers: Wi-Fi, a full queue (bufferbloat) or paths of " +
			"different length.",
		do: "test over cable instead of Wi-Fi, compare the ping to the peer idle and under load (ping -c 100), shape a little below the " +
			"line's rate where it rises, and enlarge the program's receive or jitter buffer", peer: true},
	facts.Lost: {summary: "packets or messages were discarded or lost",
		because: "They were discarded in front of or inside the program, or never arrived; over UDP nobody sends them again.",
		do: "look for the queue that overflows in front of the program (ss -uamn, nstat -az UdpRcvbufErrors, ip -s link), then for loss on " +
			"the path (mtr -rwbzc 100 PEER)"},
	facts.Damaged: {summary: "what arrived was damaged or could not be decrypted",
		because: "It is dropped and has to be sent again.",
		do: "look for errors on the way (ethtool -S NAME, ip -s link), test with the interface's checksum offload off " +
			"(ethtool -K NAME rx off tx off), and compare keys and versions of both ends"},
	facts.Filtered: {summary: "a firewall drops packets of established connections",
		because: "The firewall does not know these connections (any more): its entry expired or was flushed, the packets take another way " +
			"back than forth, or the packet is outside the window that it tracks.",
		do: "conntrack -S shows what is invalid; see whether both directions pass this host, raise the idle time-out " +
			"(net.netfilter.nf_conntrack_tcp_timeout_established) or let programs send keepalives, and test with " +
			"net.netfilter.nf_conntrack_tcp_be_liberal=1; single packets after the end of a connection are harmless"},
	facts.LinkLost: {summary: "a link went down",
		because: "While it is down nothing passes, and what was in flight is lost.",
		do:      "check cable, optic, port and signal, and the log of the device at the other end of the link"},
	facts.Throttled: {summary: "something limits the rate",
		because: "Requests above the limit wait or are refused; the network is not what is slow.",
		do:      "find the limit that the message names: the program's own, the account's or the provider's"},
	facts.NotResolved: {summary: "names could not be resolved",
		because: "Nothing is sent before the address is known, and each server that does not answer costs seconds.",
		do: "ask each server of /etc/resolv.conf alone (dig @SERVER NAME), remove the one that does not answer, and look for lost queries " +
			"(a full conntrack table, a filter on port 53)"},
	facts.Refused: {summary: "connections were refused or reset",
		because: "The other end, or a device between, rejected or closed them: the path itself works.",
		do: "at the other end: does the program run and listen at that address and port (ss -ltnp), what does its log say at that time, " +
			"and does a firewall or load balancer close idle connections", peer: true},
	facts.Silent: {summary: "the other end did not answer in time",
		because: "It is down or overloaded, a firewall drops the packets, or the path loses them.",
		do:      "see whether the packets arrive at the other end (tcpdump there), how busy it is, and whether a firewall drops them",
		peer:    true},
	facts.Broken: {summary: "a connection broke off and is set up again",
		because: "What was in flight is lost, and every new connection begins slowly.",
		do: "compare the times with the log of the other end; look for an idle time-out of a firewall, NAT or load balancer between " +
			"(regular intervals), a restart of the other end, and loss on the path (mtr -rwbzc 100 PEER)", peer: true},
	facts.Slow: {summary: "something took longer than the program expects",
		because: "The host is short of processor, memory or disk, or the peer takes its data too slowly.",
		do: "watch processor, memory and disks while it happens (vmstat 1, iostat -x 1, cat /proc/pressure/*), then the path to the peer " +
			"that the message names (ss -tinm dst PEER)"},
}
