package transcript

import (
	"os"
	"path/filepath"
	"testing"
)

// Each host of a post is read; what is of one of which no output is known is said.
func TestLoadEach(t *testing.T) {
	name := filepath.Join(t.TempDir(), "post.txt")
	session := "[root@web1 ~]# netstat -s | grep listen\n    5 times the listen queue of a socket overflowed\n" +
		"root@nas:~ # netstat -m\n0/812/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)\n" +
		"admin@switch> show interfaces\nxe-0/0/1  up  9999\n"
	if err := os.WriteFile(name, []byte(session), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := LoadEach(name)
	if err != nil || len(all) != 2 || all[0].Host != "web1" || all[1].Host != "nas" {
		t.Fatalf("%+v, %v", all, err)
	}
	for i, want := range []string{"linux", "freebsd"} {
		f, err := all[i].Facts(name)
		if err != nil || string(f.System) != want || f.Node != all[i].Host {
			t.Errorf("%s: %s %s, %v", all[i].Host, f.System, f.Node, err)
		}
		if i == 0 && len(f.Unread) != 1 {
			t.Errorf("unread: %+v", f.Unread)
		}
	}
}

// An arrow behind a name with an at sign is no prompt, and what is before the sign there no user.
func TestNoHostsInMessages(t *testing.T) {
	all, err := LoadHosts("Nov  9 18:18:32 fw1 kernel: carp: 21@lagg0_vlan21: BACKUP -> MASTER (master timed out)\n" +
		"Nov  9 18:18:40 fw1 kernel: ix1: link state changed to DOWN\n" +
		"Nov  9 18:18:41 fw1 kernel: carp: 22@lagg0_vlan22: BACKUP -> MASTER (master timed out)\n")
	if err != nil || len(all) != 1 || all[0].Host != "" {
		t.Fatalf("%+v, %v", all, err)
	}
}

// What is only typed makes no interface, and marks of one system alone tell it among words of others.
func TestSystemsAndInterfaces(t *testing.T) {
	for session, want := range map[string]struct {
		system  string
		links   int
		guessed bool
	}{
		"On OpenBSD:\n# ifconfig iwn0 nwid home wpakey secretword\n# dhclient iwn0\n$ ifconfig iwn0\n" +
			"iwn0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> mtu 1500\n        lladdr 02:00:00:00:00:01\n" +
			"        status: active\n": {"openbsd", 1, false},
		"Debian and FreeBSD beside it work.\nath0: flags=8823<UP,BROADCAST,SIMPLEX,MULTICAST> mtu 1500\n" +
			"lladdr 02:00:00:00:00:01\nstatus: no network\n": {"openbsd", 1, false},
		"A FreeBSD host, Debian and Windows guests.\nroot@gate:~ # iperf -s -i 1\n" +
			"[  4] local 192.0.2.1 port 5001 connected with 192.0.2.2 port 5002\n[ ID] Interval       Transfer     Bandwidth\n" +
			"[  4]  0.0- 1.0 sec   125 MBytes  1.05 Gbits/sec\n": {"freebsd", 0, false},
		"[ ID] Interval           Transfer     Bitrate\n" +
			"[  5]   0.00-1.00   sec   112 MBytes   938 Mbits/sec\n": {"linux", 0, true},
		"OPNsense in front of Debian:\nuser@desk:~$ ping -s 1465 -M do 192.0.2.1\n" +
			"PING 192.0.2.1 (192.0.2.1) 1465(1493) bytes of data.\n1473 bytes from 192.0.2.1: icmp_seq=1 ttl=249 time=6.65 ms\n": {
			"linux", 0, false},
		"ix1: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tstatus: active\n" +
			"ix1: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 9000\n\tstatus: active\n": {"freebsd", 1, false},
		"Mar  4 11:10:22 app1 kernel: ena 0000:00:05.0 eth0: Keep alive watchdog timeout.\n" +
			"Mar  4 11:10:22 app1 kernel: ena 0000:00:05.0 eth0: Trigger reset is on\n": {"linux", 0, false},
	} {
		p, err := LoadSession(session)
		if err != nil {
			t.Errorf("%q: %v", session, err)
			continue
		}
		f, err := p.Facts("post.txt")
		if err != nil || string(f.System) != want.system || len(f.NICs) != want.links || f.SystemGuessed != want.guessed {
			t.Errorf("%q: %s, %d interfaces, guessed %t, %v", session, f.System, len(f.NICs), f.SystemGuessed, err)
		}
	}
}
