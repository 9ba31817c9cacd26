package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// refusalsLimited finds what FreeBSD's limit of refusals and of answers to pings says of those who ask.
func refusalsLimited() Rule {
	return Rule{
		ID: "refusals-limited", Title: "The kernel rate-limits its resets and ICMP replies", Systems: []string{"freebsd"},
		Needs: []string{"messages"}, Severity: Info,
		Because: "Above net.inet.icmp.icmplim (200) per second the kernel does not respond: senders wait for a " +
			"timeout instead of getting an error. The limit protects the host; raising it does not remove the " +
			"cause.",
		Confirm: "The message stops when the senders stop.",
		Check: func(in Input) (out []Finding) {
			for _, kind := range limitedKinds {
				lines, n := logLines(in.Facts, func(line string) bool { return kind.message.MatchString(line) })
				if n == 0 {
					continue
				}
				out = append(out, do(kind.action, one("refusals", lines, "%s: up to %d per second (%s)", kind.said,
					mostOf(in.Facts, kind.message), counted(n, "line")))...)
			}
			return out
		},
		Fires: freebsdExample("dmesg", "Limiting closed port RST response from 254 to 200 packets/sec\n"),
		Quiet: freebsdExample("dmesg", "igb0: link state changed to UP\n"),
	}
}

// limitedKinds are the kinds of badport_bandlim in sys/netinet/ip_icmp.c.
var limitedKinds = []struct {
	message      *regexp.Regexp
	said, action string
}{
	{regexp.MustCompile(`Limiting closed port RST response from (\d+) to `), "segments arrive for closed TCP ports",
		"find the senders and ports (tcpdump -ni NAME 'tcp[tcpflags] & tcp-rst != 0'): start the program that " +
			"should listen there, fix the client, or block a port scan"},
	{regexp.MustCompile(`Limiting open port RST response from (\d+) to `), "segments arrive on open ports for " +
		"connections that do not exist",
		"find the peers (tcpdump -ni NAME 'tcp[tcpflags] & tcp-rst != 0'): this host no longer has these " +
			"connections (a restart, an expired firewall state), or an accept queue is full (netstat -Lan)"},
	{regexp.MustCompile(`Limiting icmp6? unreach(?:able)? response from (\d+) to `), "datagrams arrive for closed " +
		"UDP ports",
		"find the senders and ports (tcpdump -ni NAME 'icmp[0] == 3'): start the program that should listen there, " +
			"or block the sender"},
	{regexp.MustCompile(`Limiting icmp6? ping response from (\d+) to `), "more pings arrive than the limit allows",
		"find who sends them (tcpdump -ni NAME icmp): loss shown by such a ping says nothing about the path"},
}

// mostOf is the largest number that the lines name.
func mostOf(f *facts.Facts, message *regexp.Regexp) (most int) {
	for _, line := range f.Lines("dmesg") {
		if n, err := strconv.Atoi(firstGroup(message, line)); err == nil {
			most = max(most, n)
		}
	}
	return most
}
