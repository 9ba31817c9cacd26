package diagnose

import (
	"slices"

	"github.com/wirerate/wirerate/internal/regexp"
)

// timestampsRejected finds handshakes that were refused for their timestamps.
func timestampsRejected() Rule {
	return Rule{
		ID: "timestamps-rejected", Title: "Connections of clients behind NAT were refused because of their timestamps",
		Systems: onLinux(), Needs: []string{"counters"}, Severity: Critical,
		Settings: []string{"net.ipv4.tcp_tw_recycle"},
		Because: "With tcp_tw_recycle the kernel expects increasing timestamps from each address; clients behind one NAT have " +
			"different clocks, and SYNs with older timestamps are dropped. Linux 4.12 removed the setting and the counter.",
		Check: func(in Input) []Finding {
			refused := counters(in.Facts, "TcpExt.PAWSPassive", "TcpExt.PAWSPassiveRejected")
			if len(refused) == 0 {
				return nil
			}
			evidence := sources(refused)
			if on, src, ok := setting(in.Facts, "net.ipv4.tcp_tw_recycle"); ok && on == 0 {
				return with(Info, one("tcp", append(evidence, src), "%d handshakes were refused before tcp_tw_recycle was "+
					"disabled", refused[0].Value))
			} else if ok {
				evidence = append(evidence, src)
			}
			return with(gradedCount(refused[0]), do("sysctl -w net.ipv4.tcp_tw_recycle=0", one("tcp", evidence,
				"%d handshakes were refused because of their timestamps", refused[0].Value)))
		},
		Fires: linuxExample("nstat -az", "TcpExtPAWSPassive 412033 0.0\n"),
		Quiet: linuxExample("nstat -az", "TcpExtPAWSPassive 0 0.0\n"),
	}
}

// signaturesRefused finds segments without the signature that was agreed on, or with a wrong one.
func signaturesRefused() Rule {
	return Rule{
		ID: "signature-refused", Title: "Segments were dropped for a missing or wrong MD5 signature", Systems: onLinux(),
		Needs: []string{"messages|counters"}, Severity: Warning,
		Because: "Both ends of a session (usually BGP) need the same password for each other's address (RFC 2385); segments " +
			"that do not match are dropped silently.",
		Check: func(in Input) []Finding {
			lines, n := matching(in.Facts, signature)
			counts := counters(in.Facts, "TcpExt.TCPMD5NotFound", "TcpExt.TCPMD5Failure", "TcpExt.TCPMD5Unexpected")
			if n == 0 && len(counts) == 0 {
				return nil
			}
			severity := Warning
			if n == 0 {
				severity = gradedCount(counts[0])
			}
			return with(severity, do("set the same password on both ends (neighbor ADDRESS password SECRET), or none on both",
				one("tcp", slices.Concat(lines, sources(counts)), "segments arrived with a missing, wrong or unexpected signature")))
		},
		Fires: linuxExample("dmesg", "[ 8812.112] TCP: MD5 Hash failed for (192.0.2.1, 179)->(192.0.2.2, 40122) L3 index 0\n"),
		Quiet: linuxExample("dmesg", "[ 8812.112] TCP: Hash tables configured (established 524288 bind 65536)\n"),
	}
}

// signature is what tcp_inbound_md5_hash and its forerunners say (net/ipv4/tcp.c, net/ipv4/tcp_ipv4.c).
var signature = regexp.MustCompile(`MD5 Hash (?:not found|NOT expected|failed|mismatch)|(?:Une|E)xpected MD5 Hash`)
