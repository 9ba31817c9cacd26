package diagnose

import (
	"fmt"
	"slices"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// programCore finds a program of the network, or a thread that works for one, that fills a core.
func programCore() Rule {
	return Rule{
		ID: "program-core-saturated", Title: "A program in the data path uses 100% of a core", Systems: onBSD(),
		Needs: []string{"threads"}, Severity: Warning,
		Because: "One thread runs on one core: the program forwards no more than that core can handle.",
		Confirm: "top -SH shows the same thread at 100% whenever it is slow, and network settings do not change the rate.",
		Check: func(in Input) (out []Finding) {
			if all := in.Facts.AllProcessors; all != nil && all.Idle < 0.05 {
				return nil // cpu-saturated says it
			}
			for _, t := range in.Facts.Threads {
				const full, several = 0.9, 3
				if t.Share < full || packetThreadName.MatchString(t.Name) || len(out) >= several {
					continue
				}
				m := passing.FindStringSubmatch(t.Name)
				if m == nil {
					continue
				}
				name := m[1] + m[2] + m[3]
				if i := slices.IndexFunc(out, func(f Finding) bool { return f.Subject == name }); i >= 0 {
					out[i].Evidence = append(out[i].Evidence, t.Source) // of one program
					out[i].Summary = fmt.Sprintf("%d of its processes or threads use 100%% of a core each", len(out[i].Evidence))
				} else {
					out = append(out, do("spread the work over several threads, processes or tunnels, move it into the kernel, or use "+
						"a faster core", one(name, []facts.Source{t.Source}, "%.0f%% of one core", 100*t.Share))...)
				}
			}
			return out
		},
		Fires: freebsdExample("top", "  PID USERNAME    PRI NICE   SIZE    RES STATE    C   TIME    WCPU COMMAND\n"+
			"50123 root        102    0    21M    11M CPU1     1 122:01  99.31% /usr/local/sbin/openvpn --config server1.ovpn\n"),
		Quiet: freebsdExample("top", "  PID USERNAME    PRI NICE   SIZE    RES STATE    C   TIME    WCPU COMMAND\n"+
			"50123 root        102    0    21M    11M CPU1     1 122:01  99.31% /usr/bin/cc -O2 a.c\n"),
	}
}

// passing tells what packets pass through: programs, the threads of bhyve's network devices, and the kernel's of
// crypto.
var passing = regexp.MustCompile(`^(?:\S*/)?(openvpn|iperf3?|nuttcp|netperf|natd|suricata|snort|squid|haproxy|` +
	`relayd|nginx|stunnel|sshd|` +
	`ssh|scp|sftp|rsync|smbd|nfsd|ctld|istgt|unbound|named|nsd|dnsmasq|ppp|mpd5?|pppoe|tincd|wireguard-go|tailscaled|` +
	`zerotier-one|softflowd|ntopng|eastpect|charon|iked|isakmpd|racoon|socat|xinetd|ftpd|vsftpd|proftpd)(?:[ :{(]|$)|` +
	`^(bhyve)\b.*\{(?:vtnet|tap|e82545|virtio)[^}]*[}]?|^kernel\{(crypto)`)
