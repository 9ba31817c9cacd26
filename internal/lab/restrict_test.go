package lab

import (
	"strings"
	"testing"
)

func TestRestrictedNamesTheCommand(t *testing.T) {
	got := restricted([]string{"reno", "cubic", "bbr", "cubic"}, []string{"reno", "bbr"})
	if len(got) != 1 || !strings.Contains(got[0], "congestion control cubic cannot") ||
		!strings.HasSuffix(got[0], `net.ipv4.tcp_allowed_congestion_control="reno bbr cubic"`) {
		t.Errorf("got %q", got)
	}
	if got := restricted([]string{"reno"}, []string{"reno"}); got != nil {
		t.Errorf("nothing is restricted, got %q", got)
	}
	if got := restricted([]string{"reno"}, nil); got != nil {
		t.Errorf("nothing is known, got %q", got)
	}
}
