package transcript

import "testing"

// TestRelatives reads the outputs of systems whose tools print as FreeBSD's do, and says whose they are.
func TestRelatives(t *testing.T) {
	for _, c := range []struct {
		name, session, relative string
		guessed                 bool
	}{
		{"NetBSD", "$ uname -a\nNetBSD gw 9.3 NetBSD 9.3 (GENERIC) #0: Thu Aug  4 2022 amd64\n$ ifconfig wm0\nwm0: flags=0x8843<UP," +
			"BROADCAST,RUNNING,SIMPLEX,MULTICAST> mtu 1500\n\taddress: 00:00:5e:00:53:01\n\tstatus: active\n", "NetBSD", false},
		{"DragonFly BSD", "DragonFly df 6.4-RELEASE DragonFly v6.4.0-RELEASE #0: root@df x86_64\n# ifconfig em0\nem0: flags=8843<UP," +
			"BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tstatus: active\n", "DragonFly BSD", false},
		{"macOS by its kernel", "Darwin mb.home 22.2.0 Darwin Kernel Version 22.2.0: Fri Nov 11 2022; root:xnu-8792/RELEASE_X86_64\n\n" +
			"[  5] local 192.0.2.170 port 51306 connected to 192.0.2.216 port 5201\n" +
			"[  5]   0.00-1.00   sec   656 MBytes  5.63 Gbits/sec\n", "macOS", false},
		{"macOS by its name", "With macOS 14 the Wi-Fi is slow:\n\n256 packets transmitted, 256 packets received, 0.0% packet loss\n" +
			"round-trip min/avg/max/stddev = 0.958/102.892/1002.802/123.781 ms\n", "macOS", false},
		{"one of two systems", "With OS X 10.9 it is slow, with Linux not:\n\n256 packets transmitted, 256 packets received, 0.0% " +
			"packet loss\nround-trip min/avg/max/stddev = 0.958/102.892/1002.802/123.781 ms\n", "", true},
		{"FreeBSD beside a client", "The client is macOS.\n# sysctl kern.ipc.maxsockbuf\nkern.ipc.maxsockbuf: 2097152\n", "", false},
	} {
		p, err := LoadSession(c.session)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		f, err := p.Facts("posted")
		if err != nil || f.Relative != c.relative || f.SystemGuessed != c.guessed || f.System != "freebsd" {
			t.Errorf("%s: %v, relative %q, guessed %v, %v", c.name, f.System, f.Relative, f.SystemGuessed, err)
		}
	}
}

// TestPfSenseRelease reads the release of FreeBSD from pfSense's prompt, and none from a version that is not known.
func TestPfSenseRelease(t *testing.T) {
	for version, want := range map[string]string{
		"2.2.6": "10.1-STABLE", "2.4.3": "11.1-STABLE", "2.4.5": "11.3-STABLE", "2.7.2": "14.0-STABLE", "21.05.2": "12.2-STABLE",
		"23.09.1": "14.0-STABLE", "25.07": "15.0-STABLE", "25.11": "16.0-STABLE", "31.03": "", "2.1": "",
	} {
		if got := pfSenseRelease("[" + version + "-RELEASE][admin@gw.example.net]/root: pfctl -si"); got != want {
			t.Errorf("pfSense %s is FreeBSD %q, want %q", version, got, want)
		}
	}
}
