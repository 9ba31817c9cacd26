package conffile

import "testing"

func TestNetplan(t *testing.T) {
	const in = `network:
  version: 2
  ethernets:
    en3:
      mtu: 9000 # jumbo
      generic-receive-offload: false
      routes:
        - to: 192.0.2.0/24
          mtu: 1400
          congestion-window: 20
        - {to: default, via: 192.0.2.1}
        - to: default
          via: 192.0.2.1
          metric: 5
    all:
      match: {driver: igb}
      addresses: [192.0.2.3/24, 192.0.2.4]
  bonds:
    bond3:
      interfaces:
      - en3
      parameters:
        mode: 802.3ad
        mii-monitor-interval: 100
  vlans:
    v9:
      id: 9
      link: bond3
`
	const want = `2:3 netplan:version=2
4:5 netplan:ethernets= [en3]
5:7 link:mtu=9000 [en3]
6:7 ethtool:features/gro=false [en3]
9:11 route:mtu=1400 [en3]
10:11 route:initcwnd=20 [en3]
13:11 netplan:via=192.0.2.1 [en3]
12:11 netplan:default=routes/metric5 [en3]
15:5 netplan:ethernets= [all]
17:19 netplan:addresses=192.0.2.3/24 [all]
17:33 netplan:addresses=192.0.2.4 [all]
19:5 netplan:bonds= [bond3]
21:9 netplan:interfaces=en3 [bond3]
23:9 link:bond-mode=802.3ad [bond3]
24:9 link:bond-miimon=100 [bond3]
26:5 netplan:vlans= [v9]
27:7 link:vlan-id=9 [v9]
28:7 netplan:link=bond3 [v9]
`
	if got := show(t, Netplan, Linux, "/etc/netplan/50-a.yaml", in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestIfcfg(t *testing.T) {
	const in = `DEVICE=bond3
MTU="9000"
ETHTOOL_OPTS="-G bond3 rx 2048; -K bond3 gro off"
BONDING_OPTS='mode=1 miimon=50'
`
	const want = `2:1 link:mtu=9000 [bond3]
3:24 ethtool:ring/rx=2048 [bond3]
3:42 ethtool:features/gro=off [bond3]
4:15 link:bond-mode=1 [bond3]
4:22 link:bond-miimon=50 [bond3]
`
	if got := show(t, Ifcfg, Linux, "/etc/sysconfig/network-scripts/ifcfg-bond3", in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func FuzzNetplan(f *testing.F) {
	fuzzKind(f, Netplan, Linux, "/etc/netplan/a.yaml", "network:\n  ethernets:\n    a:\n      mtu: 9000\n      b:\n - mtu: 1\n")
}

func FuzzIfcfg(f *testing.F) {
	fuzzKind(f, Ifcfg, Linux, "/etc/sysconfig/network-scripts/ifcfg-a",
		"MTU=9000\nETHTOOL_OPTS=\"-K a gro off; -G\"\nBONDING_OPTS='mode=1 x='\n")
}
