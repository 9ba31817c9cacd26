package transcript

import "testing"

// TestPrintedShaperIsUnderstood holds that a file whose rates are judged is not called not understood.
func TestPrintedShaperIsUnderstood(t *testing.T) {
	all, err := ReadEach([]byte("Still the same here.\n\n```\nroot@OpenWrt:~# cat /etc/config/sqm\n\nconfig queue 'eth1'\n" +
		"\toption enabled '1'\n\toption interface 'eth1'\n\toption download '85000'\n\toption upload '9000'\n\n" +
		"root@OpenWrt:~# tc -s qdisc\nqdisc noqueue 0: dev lo root refcnt 2\n Sent 0 bytes 0 pkt (dropped 0, " +
		"overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n"))
	if err != nil || len(all) != 1 {
		t.Fatal(len(all), err)
	}
	f, err := all[0].Facts("post.txt")
	if err != nil || len(f.Unread) > 0 {
		t.Errorf("%v; not understood: %v", err, f.Unread)
	}
}
