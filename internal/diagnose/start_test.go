package diagnose

import (
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
)

func TestStartIsTwiceWhatWasRead(t *testing.T) {
	f, err := facts.FromTexts("a", map[string]string{"uname -a": unameLinux, "sysctl -a": "net.core.somaxconn = 128\n" +
		"net.ipv4.tcp_rmem = 4096\t131072\t6291456\nnet.core.rmem_max = 2147483647\nnet.ipv4.tcp_sack = 1\n"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"net.core.somaxconn": "256", "net.ipv4.tcp_rmem": "4096 131072 12582912",
		"net.core.rmem_max": "", "net.ipv4.tcp_sack": "", "net.core.wmem_max": ""} {
		if got, from := start(f, name, ""); got != want || (got == "") != (from == "") {
			t.Errorf("%s: %q, %q; want %q", name, got, from, want)
		}
	}
}
