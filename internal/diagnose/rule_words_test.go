package diagnose

import (
	"errors"
	"slices"
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
)

// What a post asks, plans, denies or tells of something else decides nothing.
func TestWordsAloneDecide(t *testing.T) {
	for post, want := range map[string]string{
		"It turned out to be the cable.":                               "change-helped",
		"Speed is good again after disabling GRO, that\nfixed it.":     "change-helped",
		"Disabling GRO on the bridge restored\nthe full rate.":         "change-helped",
		"Would disabling GRO help? It fixed it for others, maybe.":     "",
		"Replacing the cable fixed nothing.":                           "",
		"Changing the MTU did not help, the VPN is slow.":              "",
		"Using virtio I have 9 Gbit/s and everything works.":           "",
		"When I use a cable it works at full speed.":                   "",
		"The VPN is up. Ping works.\nWeb pages never load.":            "mtu-told",
		"Ping works.\nWeb pages never load.":                           "", // no tunnel
		"The VPN is up. Ping works.\nThe download takes a long time.":  "",
		"On the WireGuard tunnel we see fragmentation errors.":         "mtu-told",
		"The link negotiated to 100 Mbit although both can do more.":   "rate-of-100-told",
		"We ordered 100 Mbit/s, and the shaper is set to 100 Mbit/s.":  "",
		"Lowering the MTU to 1400 solved it, scp no longer hangs.":     "change-helped",
		"Enabling hardware flow offloading doubled the routed rate.":   "change-helped",
		"The issue was never the firewall; QoS is not used here.":      "",
		"Setting txqueuelen to 1000 improved the throughput of tun0.":  "change-helped",
		"My CPU is idle and the cable is new. What else can I change?": "",
	} {
		f, err := facts.FromTexts("post", map[string]string{"uname -a": unameLinux}, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.Rest, f.NoOutput = post, errors.New("no output")
		found, _ := Evaluate(Input{Facts: f})
		switch {
		case want == "" && len(found) > 0:
			t.Errorf("%q: %s: %s", post, found[0].Rule, found[0].Summary)
		case want != "" && !slices.ContainsFunc(found, func(f Finding) bool { return f.Rule == want }):
			t.Errorf("%q: %v", post, found)
		}
		f.NoOutput = nil // beside outputs, these decide
		if found, _ = Evaluate(Input{Facts: f}); len(found) > 0 {
			t.Errorf("%q beside outputs: %s", post, found[0].Rule)
		}
	}
}
