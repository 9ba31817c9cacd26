package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// reversePath finds packets that came in through an interface through which the answer would not leave.
func reversePath() Rule {
	return Rule{
		ID: "reverse-path", Title: "Packets were dropped since answers leave by another interface",
		Systems: onLinux(), Needs: []string{"counters|messages"}, Severity: Warning,
		Settings: []string{"net.ipv4.conf.all.rp_filter"},
		Because: "The reverse path filter (ip-sysctl, rp_filter) drops what arrives on an interface that is not the way back to " +
			"its sender: with several uplinks, tunnels or asymmetric routes that is wanted traffic. Packets with addresses that " +
			"cannot be on that network are dropped rightly.",
		Confirm: "The counter TcpExtIPReversePathFilter grows while it fails; ip route get SENDER shows another interface.",
		Check: func(in Input) []Finding {
			const routed = "or keep it strict and give each uplink a table of its own (ip rule add from ADDRESS table N), so that " +
				"answers leave as the question came"
			loosely := func(found []Finding) []Finding {
				return do(routed, withFix(Fix{Setting: "net.ipv4.conf.all.rp_filter", Value: "2"}, found))
			}
			f := in.Facts
			dropped := counters(f, "TcpExt.IPReversePathFilter")
			lines, n := logLines(f, func(line string) bool {
				m := martian.FindStringSubmatch(line)
				return m != nil && !neverRouted.MatchString(m[2]) && m[1] != m[2]
			})
			if len(dropped) > 0 {
				evidence := append([]facts.Source{dropped[0].Source}, lines...)
				if mode, src, ok := setting(f, "net.ipv4.conf.all.rp_filter"); ok && mode != 0 {
					evidence = append(evidence, src)
				}
				return decisive(with(graded(dropped[0], total(f, "Ip.InReceives"), Warning), loosely(one("ip", evidence,
					"the reverse path filter dropped %d packets", dropped[0].Value))))
			}
			if n == 0 {
				return nil
			}
			m := martian.FindStringSubmatch(lines[0].Text)
			return decisive(with(Info, loosely(one(m[3], lines, "packets from %s to %s came in there, which is not the way to "+
				"%[1]s (%[3]s)", m[2], m[1], counted(n, "message")))))
		},
		Fires: linuxExample("nstat -az", "TcpExtIPReversePathFilter 553120 0.0\n"),
		Quiet: linuxExample("nstat -az", "TcpExtIPReversePathFilter 0 0.0\n"),
	}
}

var (
	// martian is what ip_handle_martian_source says (net/ipv4/route.c): the destination first.
	martian = regexp.MustCompile(`martian source (\S+) from (\S+?),? on dev (\S+)`)
	// neverRouted are senders that no route leads to: dropped rightly.
	neverRouted = regexp.MustCompile(`^(?:127\.|0\.|169\.254\.|22[4-9]\.|2[345]\d\.)`)
)
