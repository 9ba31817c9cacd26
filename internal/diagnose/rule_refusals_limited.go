package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// refusalsLimited finds what FreeBSD's limit of refusals and of answers to pings says of those who ask.
func refusalsLimited() Rule {
	return Rule{
		ID: "refusals-limited", Title: "The kernel limits how often it refuses or answers", Systems: []string{"freebsd"},
		Needs: []string{"messages"}, Severity: Info,
		Because: "Above net.inet.icmp.icmplim (200) a second the kernel stays silent: those who ask wait for their timeout instead " +
			"of an error. The limit protects the host; a higher one cures nothing.",
		Confirm: "The message stops when those who ask are gone.",
		Check: func(in Input) (out []Finding) {
			for _, kind := range limitedKinds {
				lines, n := logLines(in.Facts, func(line string) bool { return kind.message.MatchString(line) })
				if n == 0 {
					continue
				}
				out = append(out, do(kind.action, one("refusals", lines, "%s: up to %d a second (%s)", kind.said,
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
	{regexp.MustCompile(`Limiting closed port RST response from (\d+) to `), "segments arrive at TCP ports where nothing listens",
		"tcpdump -ni NAME 'tcp[tcpflags] & tcp-rst != 0' shows who asks for which port: start the program that should listen " +
			"there, correct the client, or block a scan"},
	{regexp.MustCompile(`Limiting open port RST response from (\d+) to `), "segments arrive for connections " +
		"that do not exist, at ports that are open",
		"tcpdump -ni NAME 'tcp[tcpflags] & tcp-rst != 0' shows the peers: connections that one end has forgotten (a restart, a " +
			"firewall's state that ended), or a full accept queue (netstat -Lan)"},
	{regexp.MustCompile(`Limiting icmp6? unreach(?:able)? response from (\d+) to `), "datagrams arrive at UDP ports " +
		"where nothing listens",
		"tcpdump -ni NAME 'icmp[0] == 3' shows who sends to which port: start the program that should listen there, or block it"},
	{regexp.MustCompile(`Limiting icmp6? ping response from (\d+) to `), "more pings arrive than are answered",
		"see who sends them (tcpdump -ni NAME icmp): what such a ping loses says nothing about the path"},
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
