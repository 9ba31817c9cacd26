package diagnose

import (
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
)

// The local ports of each system are those that a connection gets by itself.
func TestPortRange(t *testing.T) {
	for _, c := range []struct {
		uname, question, settings string
		want                      int64
	}{
		{unameLinux, "sysctl -a", "net.ipv4.ip_local_port_range = 32768\t60999\n", 28232},
		{unameFreeBSD, "sysctl -a", "net.inet.ip.portrange.first: 10000\nnet.inet.ip.portrange.last: 65535\n", 55536},
		{unameOpenBSD, "sysctl -a", "net.inet.ip.portfirst=1024\nnet.inet.ip.portlast=49151\n" +
			"net.inet.ip.porthifirst=49152\nnet.inet.ip.porthilast=65535\n", 48128},
	} {
		f, err := facts.FromTexts("example", example(c.uname, []string{c.question, c.settings}).Texts, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, ok := portRange(f); !ok || got != c.want {
			t.Errorf("%s: %d ports (%t), want %d", f.System, got, ok, c.want)
		}
	}
}
