package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

// TestLiveStack13 plans every role from the recorded answers of a FreeBSD 13
// network stack: only what it really has is changed, from its own values.
func TestLiveStack13(t *testing.T) {
	dir := os.Getenv("WIRERATE_CAPTURES")
	if dir == "" {
		t.Skip("WIRERATE_CAPTURES names no folder of recorded answers")
	}
	texts := map[string]string{"uname -a": "FreeBSD stack 13.0-STABLE FreeBSD 13.0-STABLE GENERIC amd64"}
	for name, file := range map[string]string{"sysctl -a": "sysctl_-a.txt", "ifconfig -a": "ifconfig_-a.txt", "netstat -s": "netstat_-s.txt", "netstat -m": "netstat_-m.txt", "netstat -idnW": "netstat_-idn.txt", "netstat -rnW": "netstat_-rn.txt"} {
		data, err := os.ReadFile(filepath.Join(dir, "out/freebsd/stack13", file))
		if err != nil {
			t.Skipf("the recorded stack is not there: %v", err)
		}
		texts[name] = string(data)
	}
	f, err := facts.FromTexts("stack13", texts, 0)
	if err != nil {
		t.Fatal(err)
	}
	m := MachineOf(f)
	m.Memory = 4 * units.GiB
	for _, role := range catalog.Roles() {
		p := planned(t, Request{Path: netpath.Path{Rate: units.Gbit, RTT: 100 * time.Millisecond, MTU: 1500, Loss: 1e-4}, Role: role, Machine: m, Harden: true})
		for _, ch := range p.Changes {
			base, _, _ := strings.Cut(ch.Setting, "@")
			if from, ok := number(ch.From); ok && ch.Setting == "kern.ipc.nmbclusters" {
				t.Errorf("%s: the kernel refuses %s below its %.0f", role, ch.Setting, from)
			}
			if _, has := m.Running[ch.Setting]; !has && ch.Kind != catalog.Boot && !strings.Contains(base, ":") {
				t.Errorf("%s: %s is changed and not there", role, ch.Setting)
			}
			if ch.From == ch.To {
				t.Errorf("%s: %s stays %s", role, ch.Setting, ch.To)
			}
		}
		wellFormed(t, p)
	}
}
