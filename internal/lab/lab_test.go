//go:build linux

package lab

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/host"
)

func TestMain(m *testing.M) {
	host.ServeIfAgent()
	os.Exit(m.Run())
}

// up brings up a lab for a test, or skips where the environment has none.
func up(t *testing.T, spec string) *Lab {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("bringing up a lab needs root; run the tests as root")
	}
	if _, err := os.Stat(tunDevice); err != nil {
		t.Skipf("no %s", tunDevice)
	}
	link, err := ParseLink(spec)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Up(context.Background(), link)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestUpCarriesBothProtocols(t *testing.T) {
	l := up(t, "rtt=4ms")
	for _, addr := range []string{l.PeerAddr(), l.PeerAddr6()} {
		out, err := host.Run(t.Context(), l.Client(), "ping", "-c", "3", "-i", "0.05", "-q", addr)
		if err != nil || !strings.Contains(out, " 0% packet loss") {
			t.Errorf("ping %s: %v\n%s", addr, err, out)
		}
		t.Log(out)
	}
}
