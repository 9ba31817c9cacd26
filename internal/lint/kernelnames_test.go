package lint

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// TestLinuxFiles judges names and values of Linux' files other than sysctl.conf.
func TestLinuxFiles(t *testing.T) {
	c := load(t)
	const (
		load, options, grub = "/etc/modules-load.d/a.conf", "/etc/modprobe.d/a.conf", "/etc/default/grub"
		script, unit        = "/root/a.sh", "/etc/systemd/system/a.service"
		netplan, ifcfg      = "/etc/netplan/a.yaml", "/etc/sysconfig/network-scripts/ifcfg-bond3"
	)
	boot := func(arguments string) string { return "GRUB_CMDLINE_LINUX=\"" + arguments + "\"\n" }
	for _, tt := range []struct {
		path, text string
		want       string // code, severity and part of the message of the only problem, "" for none
	}{
		{load, "sch_fq_codl\n", "unknown-key warning sch_fq_codel?"},
		{load, "tcp_bbr3\n", "unknown-key warning tcp_bbr?"},
		{load, "tcp_westwood.ko\n", "bad-value warning tcp_westwood"},
		{load, "ip6_tables\nnf_nat_sip\nfuse\nmlx4_core\ntcp_brutal\n", ""},
		{options, "options igb num_queues=4\n", "unknown-key warning module igb"},
		{options, "options bonding mode=1 mimon=100\n", "unknown-key warning did you mean miimon?"},
		{options, "options bonding mode=active-backup miimon=0\n", "harmful warning switches off"},
		{options, "options bonding mode=active-backup arp_interval=500 miimon=0\noptions bonding mode=4 miimon=0\n", ""},
		{options, "option e1000e InterruptThrottleRate=0\n", "syntax warning did you mean options?"},
		{"a.md", "Put into /etc/modprobe.d/a.conf:\n```\noption igb debug=1\n```\n", "syntax warning did you mean options?"},
		{"a.md", "Shape:\n```\n# tc qdisc del dev en5 root\n# tc qdisc add dev en5 root cake bandwidth 8mbps\n```\n", "wrong-unit warning bytes per second"},
		{script, "#!/bin/sh\n# Suricata looks at the frames as they arrive\nethtool -K en7 gro off tso off\n", ""},
		{"/etc/udev/rules.d/60-a.rules", "ACTION==\"add\", SUBSYSTEM==\"net\", KERNEL==\"en7\", RUN+=\"/sbin/ethtool -L %k combined $(nproc)\"\n",
			"no-effect warning without a shell"},
		{"/etc/udev/rules.d/60-a.rules", "ACTION==\"add\", SUBSYSTEM==\"net\", KERNEL==\"en7\", RUN+=\"/bin/sh -c 'ethtool -L %k combined $(nproc)'\"\n", ""},
		{"a.nix", "{\n  boot.kernel.sysctl.\"net.ipv4.tcp_tw_recycle\" = 1;\n}\n", "removed warning 4.12"},
		{"a.nix", "{ boot.kernel.sysctl = { \"net.core.somaxconn\" = 9000; \"net.core.rmem_default\" = 5000; }; }\n", "below-default warning rmem_default"},
		{"a.nix", "{\n  boot.kernelParams = [\n    \"quiet\" # \"idle=poll\"\n    \"pcie_aspm=powersave\"\n  ];\n}\n", "bad-value warning force"},
		{script, "#!/bin/sh\necho performance > /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor\n", "syntax warning tee"},
		{script, "#!/bin/sh\necho performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor >/dev/null\n", ""},
		{script, "#!/bin/sh\nfor f in /sys/block/*/queue/scheduler; do echo noop > $f || echo none > $f; done\n", ""},
		{script, "#!/bin/sh\nN=67108864\ncat > /etc/sysctl.d/a.conf <<EOF\nnet.core.rmem_default = $N\nEOF\n", "harmful warning rmem_default"},
		{script, "#!/bin/sh\nN=4194304\ncat > /etc/sysctl.d/a.conf <<'EOF'\nnet.core.rmem_default = $N\nEOF\n", "bad-value error $N"},
		{script, "#!/bin/sh\nip link set dev en5 mtu 1200\n", "harmful warning 1280"},
		{"a.nix", "{ boot.kernel = {\n  sysctl = {\n    \"net.ipv4.tcp_sack\" = 0;\n  };\n}; }\n", "harmful warning tcp_sack"},
		{options, "options somemodule x=1\noptions nf_conntrack hashsize=65536 dyndbg=+p\n", ""},
		{grub, boot("quiet mitigation=auto"), "unknown-key warning mitigations?"},
		{grub, boot("elevator=deadline"), "no-effect warning 5.0"},
		{grub, boot("nosmep"), "weakens-security warning nosmep"},
		{grub, boot("quiet splash root=/dev/vda2 net.ifnames=0 nr_cpus=4 skew_tick=1 rd.luks=0"), ""},
		{script, "#!/bin/sh\necho always > /sys/kernel/mm/transparent_hugepages/enabled\n",
			"unknown-key warning /sys/kernel/mm/transparent_hugepage/enabled?"},
		{script, "#!/bin/sh\necho 1 > /sys/kernel/mm/ksm/run\necho 2 > /sys/block/vda/queue/rq_affinity\n", ""},
		{script, "#!/bin/sh\nfor q in $list; do echo 4 > /proc/irq/$q/smp_affinity; done\n", "harmful warning one processor"},
		{script, "#!/bin/sh\nfor q in $list; do echo f0 > /proc/irq/$q/smp_affinity; done\necho 1 > /proc/irq/$NIC/smp_affinity\n", ""},
		{script, "#!/bin/sh\nfor n in /proc/irq/[0-9]*; do echo 2 > \"$n/smp_affinity\" 2>/dev/null; done\n", "harmful warning one processor"},
		{script, "#!/bin/sh\necho 1 > /proc/sys/net/ipv4/tcp_tw_recycle 2>/dev/null || true\n", "removed warning 4.12"},
		{script, "#!/bin/sh\necho 'GRUB_CMDLINE_LINUX=\"a=1\"' >> /etc/default/grub\n", "conflict warning replaces all arguments"},
		{script, "#!/bin/sh\nsed -i '/^GRUB_CMDLINE_LINUX=/d' /etc/default/grub\necho 'GRUB_CMDLINE_LINUX=\"a=1\"' >> /etc/default/grub\n", ""},
		{script, "#!/bin/sh\necho 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX a=1\"' >> /etc/default/grub\n", ""},
		{script, "#!/bin/sh\necho \"\nnetwork:\n  version: 2\n  bonds:\n    b0:\n      addresses: [10.$1.0.2/24]\n      parameters:\n        mode: 802.3adx\n\" > /etc/netplan/9.yaml\n",
			"bad-value warning 802.3ad"},
		{script, "#!/bin/sh\nsudo echo 1 > /proc/sys/net/ipv4/ip_forward\n", "syntax warning sudo tee"},
		{script, "#!/bin/sh\napt-get install -y x\nsudo echo 1 > /proc/sys/net/ipv4/ip_forward\n", ""},
		{script, "#!/bin/sh\nTC=$(which tc)\n$TC qdisc add dev eth3 root tbf rate 5mbps burst 32kbit latency 30ms\n", "wrong-unit warning bytes per second"},
		{script, "#!/bin/sh\nsysctl vm.swappiness 10\n", "syntax warning as one word"},
		{script, "#!/bin/sh\ntc qdisc add dev eth3 root tbf rate 400mbit burst 3000 latency 30ms\n", "harmful warning 50000 bytes"},
		{script, "#!/bin/sh\ntc qdisc add dev eth3 root tbf rate 5mbit burst 32kbit latency 30ms\n", ""},
		{script, "#!/bin/sh\ntc class add dev eth3 parent 1: classid 1:4 htb rate 8mbit ceil 6mbit\n", "conflict warning below the rate"},
		{script, "#!/bin/sh\ntc class add dev eth3 parent 1: classid 1:4 htb rate 8mbit ceil 9mbit\n", "no-effect warning is not reached"},
		{script, "#!/bin/sh\ntc class add dev eth3 root classid 1:4 htb rate 8mbit ceil 9mbit\n", "no-effect warning is not reached"},
		{script, "#!/bin/sh\ntc class add dev eth3 parent 1:1 classid 1:4 htb rate 8mbit ceil 9mbit\n", ""},
		{script, "#!/bin/sh\ntc class add dev eth3 parent $P classid 1:4 htb rate 8mbit ceil 9mbit\n", ""},
		{script, "#!/bin/sh\ntc class add dev eth3 parent 1: classid 1:4 htb rate 8mbit ceil 8mbit\n", ""},
		{script, "#!/bin/sh\ntc qdisc add dev eth3 root cake bandwidth 40mbits\n", "bad-value error tc knows no unit"},
		{script, "#!/bin/sh\ntc qdisc add dev eth3 root cake bandwidth unlimited\n", ""},
		{script, "#!/bin/sh\nip route change default via 192.0.2.9 congctl bbbr\n", "bad-value error bbr?"},
		{script, "#!/bin/sh\nip route add default via 10.7.0.1 dev a\nip route add default via 10.8.0.1 dev b\n", "conflict warning line 2"},
		{script, "#!/bin/sh\nip route add default via 10.7.0.1 dev a\nip route add default via 10.8.0.1 dev b metric 50\nip route add default via 10.9.0.1 table 7\n" +
			"ip route add blackhole 10.0.0.0/8\nip route add blackhole 172.16.0.0/12\nip -6 route add default via fe80::1 dev a\n", ""},
		{script, "#!/bin/sh\nip route add default dev w\nip -6 route add default dev w\nip -n a route add 10.1.0.0/16 via 10.7.0.1\nip -n b route add 10.1.0.0/16 via 10.8.0.1\n", ""},
		{script, "#!/bin/sh\nip route add table 7 default via 10.7.0.1\nip route add table 7 10.1.0.0/16 via 10.7.0.1\nip route add 10.2.0.0/16 dev a\nifdown a\nip route add 10.2.0.0/16 dev b\n", ""},
		{script, "#!/bin/bash\necho 1 > /sys/class/hwmon/hwmon*/pwm1_enable\n", ""},
		{script, "#!/bin/bash\necho 1 > /sys/class/net/eth0/queues/rx-*/rps_cpus\n", "syntax warning one file"},
		{script, "#!/bin/sh\napt-get install -y a\necho 'GRUB_CMDLINE_LINUX=\"net.ifnames=0\"' >> /etc/default/grub\n", ""},
		{script, "#!/bin/sh\nip link set can0 mtu 16\nip link set vcan1 mtu 72\nip link set dev tun5 mtu 1200\n", ""},
		{script, "#!/bin/sh\nip link set eth0 mtu 1200\n", "harmful warning 1280"},
		{script, "#!/bin/sh\nip route add default via 10.7.0.1\nip route del default\nip route add default via 10.8.0.1\n", ""},
		{script, "#!/bin/sh\nup() {\n  ip route add default via 10.7.0.1\n}\nother() {\n  ip route add default via 10.8.0.1\n}\n", ""},
		{script, "#!/bin/sh\niptables -A INPUT -p icmp -j DROP\n", "harmful warning icmp-errors"},
		{script, "#!/bin/sh\niptables -A INPUT -m state --state ESTABLISHED,RELATED -j ACCEPT\niptables -A INPUT -p icmp -j DROP\n", ""},
		{unit, "[Service]\nLimitNOFILE=65536\nCPUQuota=50\n", "bad-value warning with %"},
		{unit, "[Service]\nLimitNOFILE=65536\nExecStart=/usr/sbin/ethtool -G $(iface) rx 4096\n", "no-effect warning without a shell"},
		{unit, "[Service]\nLimitNOFILE=65536\nType=oneshot\nExecStart=/bin/a \"b && c\" ; /bin/d ${E} 'f > g'\nExecStart=/bin/sh -c 'h > /i'\n", ""},
		{script, "#!/bin/sh\ncat > /etc/systemd/system/a.service <<EOF\n[Service]\nLimitNOFILE=65536\nExecStart=/sbin/ethtool -G $(first | card) rx 4096\nEOF\n", ""},
		{script, "#!/bin/sh\ncat > /etc/systemd/system/a.service <<'EOF'\n[Service]\nLimitNOFILE=65536\nExecStart=/sbin/ethtool -G $(first | card) rx 4096\nEOF\n",
			"no-effect warning without a shell"},
		{unit, "[Service]\nLimitNOFILE=65536\nExecStart=$(bindir)/a --x\n", ""},
		{script, "#!/bin/sh\nsed -i 's/^#*net.ipv4.tcp_tw_recycle.*/net.ipv4.tcp_tw_recycle = 1/' /etc/sysctl.conf\n", "removed warning 4.12"},
		{script, "#!/bin/sh\nsed -i 's/net.ipv4.tcp_tw_recycle=1/# net.ipv4.tcp_tw_recycle=1/' /etc/sysctl.conf\n", ""},
		{"a.md", "Run:\n```\nsudo sed -i 's/GRUB_CMDLINE_LINUX=\"/&elevator=noop /' /etc/default/grub\n```\n", "no-effect warning elevator"},
		{unit, "[Unit]\nLimitNOFILE=65536\n[Service]\nExecStart=/bin/a\n", "wrong-file warning belongs in [Service]"},
		{unit, "[Service]\nExecStart=/bin/a\nLimitNOFILE=65536\nWantedBy=multi-user.target\n", "wrong-file warning belongs in [Install]"},
		{unit, "[Service]\nExecStart=/bin/a\nLimitNOFILE=65536\nStartLimitIntervalSec=9\n", "wrong-file warning belongs in [Unit]"},
		{unit, "[Unit]\n#User=a\nStartLimitBurst=3\n[Service]\nStartLimitBurst=3\nFailureAction=none\nExecStart=/bin/a\nLimitNOFILE=65536\n[X-A]\nUser=a\n", ""},
		{"/etc/sysctl.conf", "kernel.sem = 32000 1024000000 500 65536\n", "out-of-range warning ipcmni_extend"},
		{"/etc/sysctl.conf", "kernel.sem = 32000 1024000000 500 20000000\n", "out-of-range error ipcmni_extend"},
		{unit, "[Unit]\nAfter=syslog.target network-online.target\n[Service]\nExecStart=/bin/a\nLimitNOFILE=65536\n", "no-effect warning Wants=network-online.target"},
		{unit, "[Unit]\nAfter=network-online.target\nWants=network-online.target\n[Service]\nLimitNOFILE=65536\n", ""},
		{unit, "[Unit]\nAfter=network-online.target docker.service\nRequires=docker.service\n[Service]\nExecStart=/bin/a\nLimitNOFILE=65536\n", ""},
		{unit, "[Unit]\nAfter=network-online.target\n[Service]\nType=oneshot\nExecStart=/bin/a\nLimitNOFILE=65536\n", ""},
		{unit, "[Unit]\nAfter=network-online.target\n[Service]\nExecStart=\nExecStart=/bin/a\nLimitNOFILE=65536\n", ""},
		{unit, "[Unit]\nAfter=network-online.target\n[Service]\nExecStart=/bin/a\nLimitNOFILE=65536\n[Install]\nWantedBy=default.target\n", ""},
		{"/etc/udev/rules.d/9.rules", "SUBSYSTEM==\"net\", RUN+=\"/bin/bash -lc 'a > /b'\"\nSUBSYSTEM==\"net\", RUN+=\"/bin/su joe -c 'a && b'\", RUN+=\"/bin/logger 'a > b'\"\n", ""},
		{"/etc/udev/rules.d/9.rules", "SUBSYSTEM==\"net\", RUN+=\"/bin/a 'b' && true\"\n", "no-effect warning without a shell"},
		{"notes.txt", "How the router of the office works.\nThe tunnel has these lines in wg0.conf:\n[Interface]\nPrivateKey = x\n\nsysctl -w net.ipv4.tcp_tw_recycle=1\n", "removed warning 4.12"},
		{unit, "[Unit]\nAfter=network-online.target NetworkManager.service\n[Service]\nExecStart=/bin/a\nLimitNOFILE=65536\n", ""},
		{"a.md", "Edit the file:\n```\nnet.core.somaxconn = 8192\nkernel.maps_protct = 1\n```\n", "unknown-key warning kernel.maps_protct"},
		{"a.md", "1. A profile:\n   ```\n   [main]\n   include=throughput-performance\n   [sysctl]\n   vm.transparent_hugepage=always\n   ```\n", "unknown-key warning hugepage"},
		{"a.md", "Look:\n```\n$ sysctl -a | grep maps\nkernel.maps_protct = 1\nnet.core.somaxconn = 8192\n```\n", ""},
		{"a.md", "The output is:\n```\nnet.core.somaxconn = 8192\nkernel.maps_protct = 1\n```\n", ""},
		{"a.md", "Edit the file:\n```\nnet.core.somaxconn = <number>\nkernel.pid_max = <number>\n```\n", ""},
		{script, "#!/bin/sh\ncat > /etc/systemd/system/a.service <<EOF\n[Service]\nExecStart=/a\nLimitNOFILE=$LIMIT\nEOF\n", ""},
		{"a.md", "Then edit a.service:\n```\n[Unit]\nAfter=network-online.target\n[Service]\nLimitNOFILE=65536\n```\n", ""},
		{"/etc/systemd/system/a.service.d/b.conf", "[Unit]\nAfter=network-online.target\n[Service]\nLimitNOFILE=65536\n", ""},
		{unit, "[Service]\nExecStartPre=-/bin/sh -c 'ulimit -n 65536'\nExecStart=/usr/bin/a\nLimitNOFILE=65536\n", "no-effect warning LimitNOFILE"},
		{unit, "[Service]\nExecStart=/bin/sh -c 'ulimit -n 65536; exec a'\nLimitNOFILE=65536\n", ""},
		{"a.md", "Put into a.service:\n```\n[Service]\nExecStartPre=/bin/bash -c \"ulimit -n 65536\"\nExecStart=/usr/bin/a\nLimitNOFILE=65536\n```\n", "no-effect warning LimitNOFILE"},
		{"a.md", "Memory:\n```\nvm.dirty_ratio=150\n```\n", "out-of-range warning 100"},
		{"wg4.conf", "[Interface]\nPrivateKey = a\nMTU = 1480\n\n[Peer]\nPublicKey = b\n", "harmful warning 1420"},
		{"wg4.conf", "[Interface]\nListenPort = 5\nMTU = 1432\nPostDown = sysctl -w net.ipv4.tcp_tw_recycle=1\n", ""},
		{"a.md", "On the client:\n```\n[Interface]\nPrivateKey = <key>\nAddress = 10.4.0.2/32\nPostUp = sysctl -w net.ipv4.tcp_tw_recycle=1\n```\n", "removed warning 4.12"},
		{unit, "[Service]\nNice=-5\nCPUQuota=250%\nLimitMEMLOCK=64M\nLimitCPU=10min:1h\n", ""},
		{unit, "[Service]\nCPUQuota=500‰\n", ""},
		{unit, "[Service]\nLimitNPROC=unlimited\n", "bad-value warning LimitNPROC"},
		{"/etc/systemd/system.conf", "[Manager]\nLimitNOFILE=1048576\n", "unknown-key warning DefaultLimitNOFILE"},
		{"/etc/systemd/network/a.network", "[Match]\nName=en0\n[Route]\nInitialCongestionWindow=3\n", "below-default warning 10"},
		{netplan, "network:\n  version: 2\n  bonds:\n    bond3:\n      parameters:\n        mode: active-backup\n        mii-monitor-interval: 100\n        lacp-rate: fast\n",
			"no-effect warning active-backup"},
		{netplan, "network:\n  version: 2\n  ethernets:\n    en3:\n      generic-receive-offload: false\n", "harmful warning gro"},
		{netplan, "network:\n  version: 2\n  ethernets:\n    en3: {mtu: 9000}\n    en4:\n      match: {name: x}\n      routes:\n        - to: default\n          mtu: 1400\n", ""},
		{options, "alias bond4 bonding\noptions bond4 mode=balance-rr miimon=100\n", "harmful warning balance-rr"},
		{options, "options bonding mode=4 miimon=5\n", "harmful warning every 5 ms"},
		{"tuned.conf", "[main]\nsummary=a\n[vm]\ntransparent_huge_pages=never\n", "unknown-key warning transparent_hugepages?"},
		{"tuned.conf", "[main]\nsummary=a\n[vm]\ntransparent_hugepage=never\n", ""},
		{"b.netdev", "[NetDev]\nName=bond4\nKind=bond\n[Bond]\nMode=802.3ad\nMIIMonitorSec=1s\nUpDelaySec=200\n", "wrong-unit warning 200ms"},
		{"b.netdev", "[NetDev]\nName=bond4\nKind=bond\n[Bond]\nMode=802.3ad\nMIIMonitorSec=100ms\nUpDelaySec=30\n", ""},
		{"a.md", "In values.yaml:\n```yaml\n# more room\npodSecurityContext:\n  sysctls:\n    - name: net.core.rmem_max\n      value: \"9000000\"\n```\n", "wrong-file warning set it on the host"},
		{"a.md", "In compose:\n```yaml\nservices:\n  a:\n    sysctls:\n      - net.core.wmem_max=9000000\n```\n", "wrong-file warning set it on the host"},
		{"a.md", "In group_vars:\n```yaml\nsettings:\n  sysctls:\n    - name: net.core.rmem_max\n      value: \"9000000\"\n```\n", ""},
		{"a.netdev", "[NetDev]\nName=bond3\nKind=bond\n[Bond]\nMIIMonitorSec=1\n", ""},
		{script, "#!/bin/bash\nF=/etc/systemd/network/9-a.network\necho \"[Match]\" > $F\necho Name=en5 >> $F\necho '[CAKE]' >> $F\necho Bandwidth=70 >> $F\n",
			"wrong-unit warning written 70M"},
		{ifcfg, "DEVICE=bond3\nBONDING_OPTS=\"mode=balance-rr miimon=100\"\n", "harmful warning balance-rr"},
		{ifcfg, "MTU=70000\n", "out-of-range error 65536"},
		{"loop.sh", "for n in 4 6; do\n\tsysctl -w net.ipv$n.tcp_fin_timeout=20\ndone\n", "unknown-key warning net.ipv6.tcp_fin_timeout"},
		{"loop.sh", "for n in 4 6; do\n\tsysctl -w net.ipv${n}.conf.all.accept_redirects=0\n\tsysctl -w net.ipv$nn.tcp_x=1\ndone\n", ""},
		{"site.yml", "- vars:\n    network_connections:\n      - name: bond7.3\n        mtu: 9000\n      - name: bond7\n        mtu: 8000\n", "conflict warning bond7.3"},
		{"site.yml", "- vars:\n    network_connections:\n      - name: bond7.3\n        mtu: 8000\n      - name: bond7\n        mtu: 9000\n", ""},
		{"/etc/network/interfaces", "iface en5 inet manual\n  mtu 1500\niface en5.9 inet manual\n  mtu 9000\n", "conflict warning en5.9"},
		{"/etc/sysctl.conf", "net.ipv4.ip_local_port_range = 20000-60000\n", "bad-value error blanks"},
		{"/etc/sysctl.conf", "net.core.xfrm_acq_expires = 3600\n", ""},
		{"/etc/sysctl.conf", "vm.stat_interval = 90\n", ""},
		{options, "options tcp_cubik hystart=0\n", "unknown-key warning did you mean tcp_cubic?"},
		{options, "options mlx4_ib sm_guid_assign=0\noptions ixgbevf debug=1\n", ""},
		{"/etc/network/interfaces", "iface en5 inet manual\n  up tc qdisc add dev en5 root netem loss 2%\n", "harmful warning bad path"},
		{script, "#!/bin/sh\ntc qdisc add dev en5 root netem loss 2%\n", ""},
		{"a.network", "[Match]\nName=en5\n[NetworkEmulator]\nParent=root\nLossRate=2%\n", "harmful warning bad path"},
		{"a.network", "[Match]\nName=en5\n[CAKE]\nBandwidth=90\n", "wrong-unit warning written 90M"},
		{"a.network", "[Match]\nName=en5\n[CAKE]\nBandwidth=90M\n", ""},
		{script, "#!/bin/sh\nservice irqbalance start\necho 4 > /proc/irq/61/smp_affinity\n", "conflict warning irqbalance runs"},
		{script, "#!/bin/sh\nsystemctl disable --now irqbalance\nsystemctl enable sshd\necho 4 > /proc/irq/61/smp_affinity\n", ""},
		{script, "#!/bin/sh\nsystemctl status irqbalance\necho 4 > /proc/irq/61/smp_affinity\n", ""},
		{grub, boot("isolcpus=0-3"), "harmful warning CPU 0"},
		{grub, boot("isolcpus=managed_irq,domain,2-7 nohz_full=2-7 rcu_nocbs=2-7"), ""},
		{grub, boot("isolcpus=2-7 nohz_full=2-7 rcu_nocbs=1"), "conflict warning CPU 1 only"},
		{grub, boot("nohz_full=on"), "bad-value warning list of CPUs"},
		{grub, boot("isolcpus=1 nohz_full=1 rcu_nocbs=1"), ""},
		{script, "#!/bin/sh\nethtool -s en5 autoneg off speed 100 duplex full\n", "harmful warning 100 Mbit/s"},
		{script, "#!/bin/sh\nethtool -s en5 autoneg off speed 10000\nethtool -s en5 speed 100\nethtool -s en6 autoneg off\n", ""},
		{ifcfg, "ETHTOOL_OPTS=\"speed 10 duplex full autoneg off\"\n", "harmful warning 10 Mbit/s"},
		{script, "#!/bin/sh\nsystcl -w net.ipv4.ip_forward=1\n", "syntax warning did you mean sysctl?"},
		{script, "#!/bin/sh\nethtoll -K en5 lro on\nsystcl status nginx\n", "syntax warning did you mean ethtool?"},
		{script, "#!/bin/sh\nring=${2:-64}\nethtool -G ${1:-en5} rx $ring\n", "harmful warning en5"},
		{script, "#!/bin/sh\ntc qdisc add dev en5 parent 1:4 handle 4: fq_coddel limit 300\n", "bad-value error fq_codel?"},
		{script, "#!/bin/sh\ntc qdisc add dev en5 parent 1:4 handle 4: fq_codel limit 300\ntc qdisc add dev en5 parent 1:5 netem loss 1%\n", ""},
		{script, "#!/bin/sh\ntc qdisc add dev en5 parent 1:4 tbf rate 40Mbps burst 64kb latency 30ms\n", "wrong-unit warning bytes per second"},
		{script, "#!/bin/sh\ntc qdisc add dev en5 root handle 1: cbq avpkt 1000 bandwidth 150mbit\n", "removed warning 6.3"},
		{script, "#!/bin/sh\ntc filter add dev en5 parent ffff: protocol ip u32 match u32 0 0 police rate 40kbps burst 10k drop\n", "wrong-unit warning police"},
		{script, "#!/bin/sh\necho net.ipv4.ip_forward=1 > /etc/sysctl.d/9-a.conf\necho net.ipv6.conf.all.forwarding=1 > /etc/sysctl.d/9-a.conf\nsysctl --system\n", "no-effect warning overwrites"},
		{script, "#!/bin/sh\necho net.ipv4.ip_forward=1 > /etc/sysctl.d/9-a.conf\necho net.ipv6.conf.all.forwarding=1 >> /etc/sysctl.d/9-a.conf\nsysctl --system\necho vm.swappiness=5 > /etc/sysctl.d/9-a.conf\n", ""},
		{"a.nix", "{ systemd.network.links.lan = {\n  linkConfig.GenericReceiveOffload = false;\n}; }\n", "harmful warning GenericReceiveOffload"},
		{"a.yaml", "kind: Tuned\nspec:\n  profile:\n  - data: |\n      [main]\n      include=network-latncy\n      [sysctl]\n      vm.dirty_ratio=40\n    name: x\n", "bad-value warning network-latency"},
		{"a.yaml", "write_files:\n- path: /etc/systemd/network/b.netdev\n  content: |\n    [NetDev]\n    Name=b7\n    Kind=bond\n\n    [Bond]\n    MiiMonitorSec=1s\n", "unknown-key warning MIIMonitorSec"},
		{"a.txt", "Make a file.\n\n[Match]\nName=en5\n\n[Network]\nAdress=192.0.2.9/24\n\nThen restart the service, and look at it.\nIt should be there.\n", "unknown-key warning Address"},
		{"docker-compose.yml", "services:\n  a:\n    image: b\n    sysctls:\n      net.core.wmem_max: 8388608\n      net.ipv4.tcp_rmem: 4096 131072 67108864\n", "wrong-file error on the host"},
		{"pod.yaml", "kind: Pod\nspec:\n  securityContext:\n    sysctls:\n    - name: vm.max_map_count\n      value: \"262144\"\n    - name: kernel.shm_rmid_forced\n      value: \"1\"\n", "wrong-file error vm.max_map_count"},
		{"group_vars.yml", "image: a\nsysctls:\n  net.core.wmem_max: 8388608\n", ""},
		{"docker-compose.yml", "services:\n  a:\n    image: b\n    sysctls: [net.core.somaxconn=4096]\n    labels:\n      net.core.wmem_max: 8388608\n", ""},
		{script, "#!/bin/sh\ndocker run --sysctl net.core.wmem_max=8388608 --sysctl net.ipv4.tcp_sack=1 x\n", "wrong-file error on the host"},
		{"a.md", "Run\n\n    docker run -d --sysctl net.core.wmem_max=8388608 x\n", "wrong-file warning on the host"},
		{"a.md", "Run\n\n```yaml\nservices:\n  a:\n    image: b\n    sysctls:\n      net.core.wmem_max: 8388608\n```\n", "wrong-file warning on the host"},
		{"a.md", "Add these:\n\n  ```\n  isolcpus=0-3 nohz_full=0-3 iommu=pt rcu_nocb_poll\n  ```\n", "harmful warning CPU 0"},
		{"a.md", "Boot with\n\nisolcpus=0-3 unless you know better\n\n    ethtool -K en5 gro on\n", ""},
		{script, "#!/bin/sh\necho \"BONDING_OPTS=\"mode=1 miimon=100\"\" > /etc/sysconfig/network-scripts/ifcfg-bond7\n", "syntax warning first blank"},
		{script, "#!/bin/sh\necho 'BONDING_OPTS=\"mode=0 miimon=100\"' > /etc/sysconfig/network-scripts/ifcfg-bond7\n", "harmful warning out of order"},
		{script, "#!/bin/sh\nip addr add 192.0.2.300/24 dev en5\n", "syntax warning 300 is above 255"},
		{script, "#!/bin/sh\nip route add default via 192000.2.1 dev en5\n", "syntax warning above 255"},
		{script, "#!/bin/sh\nip route add default via .. dev en5\n", ""},
		{script, "#!/bin/sh\nip addr add 10.1/16 dev en5\nip route add default via $GW\nip addr add fe80::1/64 dev en5\n", ""},
		{script, "#!/bin/sh\nip -6 addr add 2001:db8::1::2/64 dev en5\n", "syntax warning not a valid IPv6 address"},
		{script, "#!/bin/sh\nifconfig en5 192.0.2.9 netmask 255.255.255.1\n", "syntax warning not a valid netmask"},
		{script, "#!/bin/sh\nifconfig en5 192.0.2.9 netmask 255.255.254.0 hw ether 02:00:5e:00:53:01\n", ""},
		{script, "#!/bin/sh\nnmcli con mod en5 ipv4.addresses 192.0.2.9/33\n", "syntax warning length is above 32"},
		{"/etc/network/interfaces", "iface en5 inet static\n  address 192.0.2.9\n  gateway 192.0..1\n", "syntax warning missing"},
		{"/etc/systemd/network/a.network", "[Match]\nName=en5\n[Network]\nAddress=192.0.2.9.1/24\n", "syntax warning 5 numbers"},
		{"/etc/netplan/a.yaml", "network:\n  version: 2\n  ethernets:\n    en5:\n      addresses: [192.0.2.290/24]\n      nameservers:\n        addresses: [1.1.1.1]\n", "syntax warning 290"},
		{ifcfg, "IPADDR0=192.0.2.256\nPREFIX0=24\n", "syntax warning 256"},
		{script, "#!/bin/sh\nfor i in rx rx; do ethtool -K en5 $i off; done\n", "harmful warning en5"},
		{"a.md", "To fix it:\n\n# ethtool -K en5 gro off\n\nThat is all.\n", "harmful warning gro"},
		{"a.md", "To fix it:\n\n# ethtool -K en5 gro off\n# or so\n\nip link set en5 up\n", ""},
		{"a.txt", "Put this into /etc/default/grub:\nGRUB_CMDLINE_LINUX=\"mitigations=off\"\nand reboot.\n", "weakens-security warning mitigations"},
		{script, "#!/bin/sh\nethtool -C en5 rx-usecs 0\n", "harmful warning interrupt"},
		{script, "#!/bin/sh\nethtool -C en5 rx-frames 16\nethtool -C en5 rx-usecs 0\n", ""},
		{script, "#!/bin/sh\nethtool -C en5 adaptive-rx on rx-usecs 0\n", ""},
		{script, "#!/bin/sh\nulimit -n unlimited\n", "bad-value warning fs.nr_open"},
		{script, "#!/bin/sh\nulimit -Sn 65536\nulimit -c unlimited\n", ""},
		{"Dockerfile", "FROM alpine:3\nRUN ulimit -n 40000\n", "no-effect warning --ulimit"},
		{"rules", "#!/usr/sbin/nft -f\ntable inet a {\n\tchain b {\n\t\ttype filter hook input priority 0; policy drop;\n\t\tct state established,related accept\n\t}\n}\n", "harmful warning neighbours"},
		{"fw.conf", "flush ruleset\ntable ip a {\n\tchain b {\n\t\ttype filter hook forward priority 0;\n\t\ttcp option maxseg size set 1480\n\t}\n}\n", "no-effect warning only lowers"},
		{script, "#!/bin/sh\nnft -f - <<EOF\ntable ip a {\n\tchain b {\n\t\ttype filter hook input priority 0;\n\t\tip protocol icmp drop\n\t}\n}\nEOF\n", "harmful warning icmp-errors"},
		{script, "#!/bin/sh\nnft -f /etc/a.nft\nnft -f - <<EOF\ntable ip a {\n\tchain b {\n\t\ttype filter hook input priority 0;\n\t\tip protocol icmp drop\n\t}\n}\nEOF\n", ""},
		{script, "#!/bin/sh\nnft -f - <<EOF\ntable ip a {\n\tchain b {\n\t\ttype filter hook input priority 0;\n\t\t$FIRST\n\t\tip protocol icmp drop\n\t}\n}\nEOF\n", ""},
		{"/etc/nftables.conf", "table ip a {\n\tchain b {\n\t\ttype filter hook forward priority 0;\n\t\ttcp flags syn tcp option maxseg size set 1480\n\t}\n}\n", "no-effect warning only lowers"},
		{"/etc/nftables.conf", "table ip a {\n\tchain b {\n\t\ttype filter hook forward priority 0;\n\t\ttcp flags syn tcp option maxseg size set rt mtu\n\t\ttcp option maxseg size set 1360\n\t}\n}\n", ""},
		{"/etc/sysctl.conf", "net.ipv4.tcp_mem = 22000 44000 88000\n", "below-default warning three times"},
		{"/etc/sysctl.conf", "net.ipv4.tcp_mem = 60000 120000 240000\n", ""},
	} {
		res := Run(c, files(tt.path, tt.text), Options{System: catalog.Linux, Version: "6.12"})
		var found []Problem
		for _, p := range res.Problems {
			if p.Severity != Info {
				found = append(found, p)
			}
		}
		words := strings.SplitN(tt.want, " ", 3)
		ok := len(found) == 0 && tt.want == ""
		if len(found) == 1 && tt.want != "" {
			p := found[0]
			ok = p.Code == words[0] && string(p.Severity) == words[1] && strings.Contains(p.Message+p.Because, words[2])
		}
		if !ok {
			t.Errorf("%s %q: got %+v, want %q", tt.path, tt.text, brief(res), tt.want)
		}
	}
}

// TestRefusedByTheNewest judges a value that only the newest release refuses by what it
// does on the others too.
func TestRefusedByTheNewest(t *testing.T) {
	res := Run(load(t), files("/etc/sysctl.conf", "net.ipv4.tcp_rmem = 2048 8192 8192\n"), Options{System: catalog.Linux})
	found := map[string]string{}
	for _, p := range res.Problems {
		found[p.Code+" "+string(p.Severity)] = p.Because
	}
	if !strings.Contains(found["out-of-range warning"], "Older releases than Linux 7.2 take it") || found["harmful warning"] == "" {
		t.Errorf("got %+v", found)
	}
}

// TestBelowTheNewest judges values below a default that only the newest releases have.
func TestBelowTheNewest(t *testing.T) {
	for value, want := range map[string]Severity{"4096 131072 16777216": Warning, "4096 131072 25165824": Info,
		"4096 131072 6291456": Info} {
		res := Run(load(t), files("/etc/sysctl.conf", "net.ipv4.tcp_rmem = "+value+"\n"), Options{System: catalog.Linux})
		if len(res.Problems) != 1 || res.Problems[0].Severity != want || strings.Contains(res.Problems[0].Because, "is a raise") == strings.HasSuffix(value, " 6291456") {
			t.Errorf("%s: got %+v", value, res.Problems)
		}
	}
}
