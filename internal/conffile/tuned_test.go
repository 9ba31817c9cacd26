package conffile

import "testing"

const tunedSample = `# a profile
[main]
summary=something
include=throughput-performance, -other

[variables]
thunderx = >100
twice=${thunderx}${thunderx}
[sysctl]
; a comment
net.core.rmem_max = >16777216 # at least
net/ipv4/tcp_rmem="4096 131072 16777216"
kernel.x = ${unknown}
kernel.z = ${f:calc_isolated_cores:1}
net.core.y = ${twice}
nonsense
[sysfs]
/sys/a/b=1
[net_fast]
type=net
devices=eth0
features=gro on, lro off
mtu=9000
wake_on_lan=0
[vm]
transparent_hugepages=never
[modules]
tcp_bbr=
[bootloader]
cmdline=x
`

func TestTuned(t *testing.T) {
	want := `4:1 tuned:main/include=throughput-performance, -other
7:1 tuned:variables/thunderx=100
8:1 tuned:variables/twice=100100
11:1 net.core.rmem_max=16777216
12:1 net.ipv4.tcp_rmem=4096 131072 16777216
13:1 kernel.x=${unknown} [expands]
14:1 kernel.z=${f:calc_isolated_cores:1} [expands]
15:1 net.core.y=100100
18:1 /sys/a/b=1
22:1 ethtool:features/gro=on [eth0]
22:1 ethtool:features/lro=off [eth0]
23:1 link:mtu=9000 [eth0]
24:1 tuned:net/wake_on_lan=0 [eth0]
26:1 /sys/kernel/mm/transparent_hugepage/enabled=never
28:1 tcp_bbr=
30:9 cmdline:x=
refused 16:1 "nonsense"
`
	if got := show(t, Tuned, Linux, "/etc/tuned/x/tuned.conf", tunedSample); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, path := range []string{"/usr/lib/tuned/x/tuned.conf", "site-tuned.conf", "profile.txt"} {
		if g := Detect(path, []byte(tunedSample)); g.Kind != Tuned || g.System != Linux {
			t.Errorf("%s: %+v", path, g)
		}
	}
}

func FuzzTuned(f *testing.F) {
	fuzzKind(f, Tuned, Linux, "tuned.conf", tunedSample, "[variables]\na=b\nb=${a}${a}\n[sysctl]\nx=${b}${b",
		"[net]\nring=rx 1, tx\n")
}
