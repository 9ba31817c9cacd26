package diagnose

import (
	"strings"
	"testing"
)

// TestDecisiveInfoLeads wants an info that says what limits first in the verdict, and one that does not as worth knowing.
func TestDecisiveInfoLeads(t *testing.T) {
	for want, e := range map[string]Example{
		"possible cause: disk-saturated: ": diskExample(99),
		"possible cause: path-mtu: ":       pathMTU().Fires,
		"no problem found":                 diskExample(40),
	} {
		_, findings, _ := judge(t, e)
		if got := (Diagnosis{Findings: findings}).verdict(); !strings.HasPrefix(got, want) {
			t.Errorf("%q does not begin with %q", got, want)
		}
	}
}

// TestRemediesOfOtherLimits wants no setting where it is not what limits: a backlog below the kernel's, a program that
// reads a small share of what arrives.
func TestRemediesOfOtherLimits(t *testing.T) {
	overflows := func(queue string) Example {
		return freebsdExample("sysctl -a", "kern.ipc.somaxconn: 8192\n", "netstat -s", "tcp:\n\t70000 listen queue overflows\n",
			"netstat -Lan", "Current listen queue sizes (qlen/incqlen/maxqlen)\nProto Listen         Local Address\n"+
				"tcp4  "+queue+"        *.80\n")
	}
	for name, c := range map[string]struct {
		e       Example
		rule    string
		setting bool
	}{
		"program's backlog": {overflows("193/0/128"), "listen-overflow", false},
		"kernel's limit":    {overflows("12289/0/8192"), "listen-overflow", true},
		"steady excess": {freebsdExample("netstat -s", "udp:\n\t1000000 datagrams received\n\t970000 dropped due to full socket "+
			"buffers\n"), "udp-buffer", false},
		"bursts": {freebsdExample("netstat -s", "udp:\n\t1000000 datagrams received\n\t20000 dropped due to full socket "+
			"buffers\n"), "udp-buffer", true},
	} {
		_, findings, _ := judge(t, c.e)
		found := false
		for _, f := range findings {
			for _, fix := range f.Fix {
				found = found || f.Rule == c.rule && fix.Setting != ""
			}
		}
		if found != c.setting {
			t.Errorf("%s: a setting is proposed: %v", name, found)
		}
	}
}
