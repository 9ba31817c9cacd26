package diagnose

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
)

// TestFlapsWithoutCable does not begin with the cable where a bypass card or a netmap program interrupts links.
func TestFlapsWithoutCable(t *testing.T) {
	flaps := strings.Repeat("igb1: link state changed to DOWN\nigb1: link state changed to UP\n", 3)
	for name, c := range map[string]struct{ log, rest, begins string }{
		"netmap":         {"100.1 [4335] netmap_transmit  igb1 full hwcur 9 hwtail 9 qlen 1023\n", "", "compare the times"},
		"another's":      {"100.1 [4335] netmap_transmit  igb0 full hwcur 9 hwtail 9 qlen 1023\n", "", "replace the cable"},
		"bypass":         {"", "It is a bypass NIC of four ports.\n", "check whether the card's bypass"},
		"another bypass": {"", "I bypass the router with a cable.\n", "replace the cable"},
		"nothing else":   {"", "", "replace the cable"},
	} {
		f, err := facts.FromTexts("example", freebsdExample("dmesg", c.log+flaps).Texts, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.Rest = c.rest
		found := linkFlaps().Check(Input{Facts: f})
		if len(found) != 1 || !strings.HasPrefix(found[0].Fix[0].Action, c.begins) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
