package transcript

import (
	"strings"
	"testing"
)

func TestHeadings(t *testing.T) {
	for line, want := range map[string]bool{
		"# iperf3 is slow with an MTU of 9000":              true,
		"## ping results":                                   true,
		"# tc qdisc with netem drops packets":               true,
		"# ip link set eth0 up":                             false,
		"# tc -s qdisc show dev eth0":                       false,
		"# ping 192.0.2.1":                                  false,
		"# ethtool -S eth0 | grep drop":                     false,
		"# sysctl net.core.rmem_max":                        false,
		"#iperf3 is slow with an MTU of 9000":               false,
		"# cat /proc/net/dev and so on with more":           false,
		"root@a:~# ping -c 3 192.0.2.1":                     false,
		"# netstat -s shows retransmissions in the morning": false, // behind a flag all may be the command's
		"### Output of `ethtool -S eth0`":                   false,
		"# Output of ss on the server":                      true,
		"#":                                                 false,
		strings.Repeat("#", 5000):                           false,
	} {
		if got := isHeading(line); got != want {
			t.Errorf("%.60q: %v", line, got)
		}
	}
}

func TestAdvised(t *testing.T) {
	for _, c := range []struct {
		lead, before string
		want         bool
	}{
		{"", "Add these to /etc/sysctl.conf:", true},
		{"", "Set the following:\n\n# larger buffers\nnet.core.rmem_max = 1", true},
		{"Recommended settings", "", true},
		{"", "# Recommended settings for 10 Gbit/s", true},
		{"My settings are:", "", false},
		{"", "This is what we have set now:", false},
		{"", "The current values:\nnet.core.wmem_max = 4", false},
		{"", "", false},
		{"", "I already increased the buffers:", false},
		{"", "Increase the buffers, as they are small now:", true},
		{"", "Throughput is low.", false},
		{"Add these:", "root@a has\n\n\n\n\n", false},
	} {
		if got := advised(c.lead, strings.Split(c.before, "\n")); got != c.want {
			t.Errorf("%q, %q: %v", c.lead, c.before, got)
		}
	}
}

func TestUnescaped(t *testing.T) {
	for in, want := range map[string]string{
		`"text": "a\nb\nc\n\td \"e\"\n"`: "\"text\": \"a\nb\nc\n\td \"e\"\n\"",
		`a\nb`:                           `a\nb`,
		`C:\new\next\nothing\\n`:         `C:\new\next\nothing\\n`,
	} {
		if got := unescaped(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestPausesBeforeCommands(t *testing.T) {
	for typed, want := range map[string]string{
		"sleep 60; ethtool -S eth0 | grep miss": "ethtool -S eth0",
		"clear && netstat -s":                   "netstat -s",
		"sleep 5":                               "sleep 5",
		"ethtool -S eth0; sleep 1":              "ethtool -S eth0",
		"cd /tmp; ls; date":                     "ls",
	} {
		if got := strings.Join(commandWords(typed), " "); got != want {
			t.Errorf("%q: %q", typed, got)
		}
	}
}

func TestCutEnd(t *testing.T) {
	for in, want := range map[string]string{
		"a\nnet.ipv4.tcp_rmem = 4096 131072 62":     "a\n",
		"a\nnet.ipv4.tcp_rmem = 4096 131072 62\n":   "a\nnet.ipv4.tcp_rmem = 4096 131072 62\n",
		"a\nnet.ipv4.tcp_rmem = 4096 131072 629145": "a\nnet.ipv4.tcp_rmem = 4096 131072 629145",
		"net.ipv4.tcp_rmem = 4096 131072 100000":    "",
		"net.core.rmem_max = 2":                     "net.core.rmem_max = 2",
		"":                                          "",
	} {
		if got := withoutCutEnd(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
