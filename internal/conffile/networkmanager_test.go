package conffile

import "testing"

func TestNetworkManager(t *testing.T) {
	const in = `[connection]
id=lan
type=bond
interface-name=bond4

[ethernet]
mtu=9000
# a comment
cloned-mac-address=stable
[ethtool]
feature-gro=false
feature-rx-udp-gro-forwarding=true
ring-rx=4096
coalesce-rx-usecs=50
[bond]
interface-name=bond4
mode=802.3ad
xmit_hash_policy=layer3+4
[ipv4]
method=auto
`
	const want = `7:1 link:mtu=9000 [bond4]
11:1 ethtool:features/gro=false [bond4]
12:1 ethtool:features/rx-udp-gro-forwarding=true [bond4]
13:1 ethtool:ring/rx=4096 [bond4]
14:1 ethtool:coalesce/rx-usecs=50 [bond4]
17:1 link:bond-mode=802.3ad [bond4]
18:1 link:bond-xmit_hash_policy=layer3+4 [bond4]
`
	if got := show(t, Keyfile, Linux, "/etc/NetworkManager/system-connections/lan.nmconnection", in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	const commands = `nmcli con mod eth5 ethtool.feature-tso off 802-3-ethernet.mtu 9000 ipv4.method auto
nmcli -t connection add type bond con-name b4 ifname bond4 bond.options "mode=1, miimon=100"
nmcli c add type bond ifname bond5 mode active-backup miimon 100
nmcli connection show eth5
nmcli con up eth5
`
	const wanted = `1:20 ethtool:features/tso=off [eth5]
1:44 link:mtu=9000 [eth5]
2:73 link:bond-mode=1 [bond4]
2:73 link:bond-miimon=100 [bond4]
3:36 link:bond-mode=active-backup [bond5]
3:55 link:bond-miimon=100 [bond5]
`
	if got := show(t, Script, Linux, "a.sh", commands); got != wanted {
		t.Errorf("got\n%swant\n%s", got, wanted)
	}
}

func TestUdev(t *testing.T) {
	const in = `# rules
ACTION=="add", SUBSYSTEM=="net", KERNEL=="eth7", ATTR{tx_queue_len}="2000", RUN+="/sbin/ethtool -K %k gro off"
SUBSYSTEM=="net", NAME=="en*", ATTR{mtu}=="1500", ATTR{queues/rx-0/rps_cpus}="f", RUN{builtin}+="kmod load tcp_bbr"
SUBSYSTEM=="net", ACTION=="add", RUN+="/bin/sh -c 'echo 5 > /proc/sys/net/core/busy_poll'"
SUBSYSTEM=="block", ATTR{queue/scheduler}="none"
SUBSYSTEM=="module", KERNEL=="bridge", SYSCTL{net/bridge/bridge-nf-call-iptables}="0"
SUBSYSTEM=="usb", ATTR{power/control}="on"
ACTION=="add|change", KERNEL=="sd[a-z]", ATTR{queue/rotational}=="0", ATTR{queue/scheduler}="deadline"
KERNEL=="ttyUSB0", ATTR{latency_timer}="1"
`
	const want = `2:50 link:txqueuelen=2000 [eth7]
2:103 ethtool:features/gro=off [eth7]
3:51 /sys/class/net/*/queues/rx-*/rps_cpus=f [*]
4:61 net.core.busy_poll=5
5:21 /sys/block/*/queue/scheduler=none [*]
6:40 net.bridge.bridge-nf-call-iptables=0
8:71 /sys/block/*/queue/scheduler=deadline [*]
`
	for _, path := range []string{"/etc/udev/rules.d/60-net.rules", "net.rules"} {
		if g := Detect(path, []byte(in)); g.Kind != Udev || g.System != Linux {
			t.Errorf("%s: %+v", path, g)
		}
	}
	if got := show(t, Udev, Linux, "/etc/udev/rules.d/60-net.rules", in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func FuzzUCI(f *testing.F) {
	fuzzKind(f, UCI, Linux, "sqm", "config queue 'a'\n\toption download '9'\n", "config \noption x", "option '")
}

func FuzzUdev(f *testing.F) {
	fuzzKind(f, Udev, Linux, "a.rules", `SUBSYSTEM=="net", ATTR{mtu}="9000", RUN+="/bin/sh -c 'ip link set \"x\" mtu 9'"`, `RUN+="`, `SYSCTL{a}="\`)
}

func FuzzKeyfile(f *testing.F) {
	fuzzKind(f, Keyfile, Linux, "a.nmconnection", "[ethtool]\nfeature-tso=no\n[bond]\nmode=1", "[\n=\n[bond", "mtu=1\n")
}

// A rule for disks need not name the subsystem.
func TestUdevOfDisksAlone(t *testing.T) {
	const in = `KERNEL=="sd[a-z]", ATTR{queue/scheduler}="noop"` + "\n"
	if g := Detect("/etc/udev/rules.d/60-disks.rules", []byte(in)); g.Kind != Udev || g.System != Linux {
		t.Errorf("%+v", g)
	}
	if g := Detect("60-usb.rules", []byte(`KERNEL=="ttyUSB0", ATTR{latency_timer}="1"`+"\n")); g.Kind == Udev {
		t.Errorf("%+v", g)
	}
}
