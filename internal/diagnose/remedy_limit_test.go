package diagnose

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
)

// TestLimitsHaveStart wants a value where the present limit was read, and none where it was not.
func TestLimitsHaveStart(t *testing.T) {
	for name, c := range map[string]struct {
		e             Example
		setting, want string
	}{
		"pf": {freebsdExample("pfctl -si", "Status: Enabled\n\nCounters\n  memory                  90   0.1/s\n",
			"pfctl -sm", "states        hard limit    40000\n"), "pf:set/limit/states", "80000"},
		"pf without limit": {freebsdExample("pfctl -si", "Status: Enabled\n\nCounters\n  memory              90   0.1/s\n"),
			"pf:set/limit/states", ""},
		"pool": {freebsdExample("netstat -m", "990/5/995 mbufs in use (current/cache/total)\n990/10/1000/1000 mbuf clusters "+
			"in use (current/cache/total/max)\n0/7/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)\n"),
			"kern.ipc.nmbclusters", "2000"},
		"jumbo pool": {freebsdExample("netstat -m", "90/5/95 mbufs in use (current/cache/total)\n980/10/990/1000 9k jumbo "+
			"clusters in use (current/cache/total/max)\n"), "kern.ipc.nmbjumbo9", "2000"},
		"sockets": {freebsdExample("sysctl -a", "kern.ipc.numopensockets: 990\nkern.ipc.maxsockets: 1000\n"),
			"kern.ipc.maxsockets", "2000"},
		"least": {freebsdExample("sysctl -a", "kern.ipc.soacceptqueue: 128\n", "netstat -s",
			"tcp:\n\t10 connection accepts\n\t70 listen queue overflows\n"), "kern.ipc.soacceptqueue", "1024"},
		"netisr": {freebsdExample("netstat -Q", netisrTable(412, 900, 100000)), "net.inet.ip.intr_queue_maxlen", "512"},
	} {
		_, findings, _ := judge(t, c.e)
		found := false
		for _, f := range findings {
			for _, fix := range f.Fix {
				if fix.Setting != c.setting {
					continue
				}
				found = true
				if fix.Value != c.want || c.want != "" && !strings.Contains(fix.ValueFor, "current limit") {
					t.Errorf("%s: %s: value %q (%s), want %q", name, f.Rule, fix.Value, fix.ValueFor, c.want)
				}
			}
		}
		if !found {
			t.Errorf("%s: nothing sets %s", name, c.setting)
		}
	}
}

// TestLossyStreams wants the worst of several streams, and how many others lose.
func TestLossyStreams(t *testing.T) {
	rows := "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
	for _, at := range []string{"0.00-1.00", "1.00-2.00", "2.00-3.00", "3.00-4.00"} {
		rows += "[  5]   " + at + "   sec  10.0 MBytes  83.9 Mbits/sec   20   70.0 KBytes\n" +
			"[  7]   " + at + "   sec  10.0 MBytes  83.9 Mbits/sec   90   50.0 KBytes\n" +
			"[  9]   " + at + "   sec  10.0 MBytes  83.9 Mbits/sec    0    250 KBytes\n"
	}
	_, findings, _ := judge(t, freebsdExample("iperf3", "Connecting to host 192.0.2.2, port 5201\n"+
		"[  5] local 192.0.2.1 port 4001 connected to 192.0.2.2 port 5201\n"+
		"[  7] local 192.0.2.1 port 4002 connected to 192.0.2.2 port 5201\n"+
		"[  9] local 192.0.2.1 port 4003 connected to 192.0.2.2 port 5201\n"+rows))
	for _, f := range findings {
		if f.Rule == "network-limited" && strings.Contains(f.Summary, "retransmitted 360 segments") &&
			strings.Contains(f.Summary, "1 other stream did too: 80 (0.28%)") {
			return
		}
	}
	t.Errorf("found %+v", findings)
}

// TestKeptByFirewall wants a firewall's own page in place of the files that it overwrites, and FreeBSD's tools.
func TestKeptByFirewall(t *testing.T) {
	const overflow = "sonewconn: pcb 0xf (192.0.2.1:443 (proto 6)): Listen queue overflow: 193 already in queue awaiting acceptance"
	for _, c := range []struct{ distribution, file string }{{"", "/etc/sysctl.conf"}, {"OPNsense", "System > Settings > Tunables"},
		{"pfSense", "System > Advanced > System Tunables"}} {
		f, _, _ := judge(t, freebsdExample("dmesg", overflow+"\n"))
		f.Distribution = c.distribution
		findings, _ := Evaluate(Input{Facts: f})
		if len(findings) == 0 || len(findings[0].Fix) != 2 || findings[0].Fix[1].File != c.file {
			t.Fatalf("%q: %+v", c.distribution, findings)
		}
		if strings.Contains(findings[0].Confirm, "ss -ltn") {
			t.Errorf("FreeBSD has no ss: %s", findings[0].Confirm)
		}
	}
	f := &Fix{Setting: "ifconfig:tso4", File: "/etc/rc.conf"}
	page, label := keptByFirewall("pfSense", f, "off")
	if page != "System > Advanced > Networking" || !strings.Contains(label, "TCP seg") {
		t.Errorf("%q, %q", page, label)
	}
}

// TestSaidLimits holds which number of a text is a setting's.
func TestSaidLimits(t *testing.T) {
	for text, want := range map[string]int64{
		"I raised kern.ipc.soacceptqueue to 4096, then kern.ipc.soacceptqueue=16384": 16384,
		"kern.ipc.soacceptqueue: 900 of 2":                                           900,
		"look at kern.ipc.soacceptqueue.\nIt has 17 lines":                           0, "kern.ipc.soacceptqueue9 = 7": 0, "nothing": 0,
	} {
		if got := saidLimit(&facts.Facts{Rest: text}, "kern.ipc.soacceptqueue"); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
