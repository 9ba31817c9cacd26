package compare

import (
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/units"
)

// TestFile: each line of a guide's file has its verdict, and what the plan has
// beside is missing.
func TestFile(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Make(c, plan.Request{Role: "bulk", Path: netpath.Path{Rate: 10 * units.Gbit, RTT: 80 * time.Millisecond, MTU: 1500},
		Machine: plan.Machine{System: catalog.Linux, Release: "6.1", Memory: 16 * units.GiB, Page: 4096, Cores: 8}})
	if err != nil {
		t.Fatal(err)
	}
	same := ""
	for _, ch := range p.Changes {
		if ch.Setting == "net.ipv4.tcp_rmem" {
			same = ch.To
		}
	}
	r, err := File(c, p, "sysctl.conf", "net.ipv4.tcp_rmem = "+same+"\nnet.core.rmem_max = 1\nnet.ipv4.tcp_sack = 1\nnet.ipv4.tcp_tw_recycle = 1\n"+
		"net.no.such = 1\nnet.core.netdev_max_backlog = 20000\n")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Line{}
	for _, l := range r.Lines {
		got[l.Setting] = l
	}
	for setting, want := range map[string]Verdict{"net.ipv4.tcp_rmem": Same, "net.core.rmem_max": OtherValue, "net.ipv4.tcp_sack": Already,
		"net.ipv4.tcp_tw_recycle": Dead, "net.no.such": Unknown, "net.core.netdev_max_backlog": NotDecided} {
		if l := got[setting]; l.Verdict != want || l.Because == "" {
			t.Errorf("%s: %s, want %s: %s", setting, l.Verdict, want, l.Because)
		}
	}
	if why := got["net.core.netdev_max_backlog"].Because; !strings.Contains(why, "(--queues)") {
		t.Errorf("what would decide it: %s", why)
	}
	if r.Counts[Missing] != len(r.Missing) || len(r.Missing) == 0 || r.Counts[Same] != 1 {
		t.Errorf("%v, missing %d", r.Counts, len(r.Missing))
	}
	if _, err := File(c, p, "notes.txt", "to do: buy milk\n"); err == nil {
		t.Error("a shopping list is compared")
	}
}
