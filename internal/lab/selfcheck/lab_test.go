//go:build linux

package selfcheck

import (
	"os"
	"testing"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/lab/emulator"
	"github.com/wirerate/wirerate/internal/lab/link"
)

func TestMain(m *testing.M) {
	if served, status := host.ServeIfAgent(); served {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// needLab skips a test where no lab can be brought up.
func needLab(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("bringing up a lab in tests needs root")
	}
	if _, err := os.Stat(emulator.Device); err != nil {
		t.Skipf("no %s", emulator.Device)
	}
}

// up brings up a client and a server.
func up(t testing.TB, spec string) *lab.Lab {
	t.Helper()
	needLab(t)
	path, err := link.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Bring(t.Context(), lab.Pair(path))
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

// command runs a command on a host and returns its output.
func command(t testing.TB, c host.Conn, args ...string) string {
	t.Helper()
	out, err := host.Run(t.Context(), c, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}
