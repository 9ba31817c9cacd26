package conffile

import "testing"

func TestOther(t *testing.T) {
	tests := []struct{ name, path, in, want string }{
		{"a guide counts between its fences only", "tune.md",
			"# Tune\n\nnet.core.prose = 1\n\n```\n# sysctl.conf\nnet.core.rmem_max = 1\n$ sudo sysctl -w net.core.wmem_max=2\n" +
				"net.core.wmem_max = 2\n\nroot@h:~# sysctl net.core.somaxconn\nnet.core.somaxconn = 128\n```\n\n" +
				"```diff\n-net.core.somaxconn = 3\nnet.core.somaxconn = 4\n```\n",
			"7:1 net.core.rmem_max=1\n8:18 net.core.wmem_max=2\n"},
		{"nix", "net.nix",
			"boot.kernel.sysctl = {\n  \"net.ipv4.tcp_rmem\" = \"4096 131072 6291456\"; # old\n  \"net.core.optmem_max\" = lib.mkDefault 65536;\n" +
				"  \"net.ipv4.ip_forward\" = true;\n  #\"net.core.x\" = 1;\n  \"net.core.y\" = cfg.value + (1);\n};\n",
			"2:4 net.ipv4.tcp_rmem=4096 131072 6291456\n3:4 net.core.optmem_max=65536\n4:4 net.ipv4.ip_forward=1\n" +
				"6:4 net.core.y=cfg.value + (1) [expands]\n"},
		{"a page", "tune.html", "<pre><code>echo 1 &gt; /proc/sys/net/core/rmem_max\necho net.core.wmem_max=2 &gt;&gt; /etc/sysctl.conf\n</code></pre>\n<p>Then <b>x</b>:</p>\n<p><code>sysctl -w net.core.optmem_max=3</code></p>\n",
			"1:24 net.core.rmem_max=1\n2:6 net.core.wmem_max=2\n5:20 net.core.optmem_max=3\n"},
		{"puppet", "a.pp",
			"sysctl { 'net.core.rmem_max': value => '1' }\nsysctl::value { \"net.core.wmem_max\":\n  ensure => present,\n" +
				"  value => '2',\n}\nfile_line { 'x':\n  line => 'net.core.somaxconn = 3',\n}\n$h = { 'net.core.optmem_max' => 4 }\n",
			"1:11 net.core.rmem_max=1\n2:18 net.core.wmem_max=2\n7:12 net.core.somaxconn=3\n"},
		{"chef", "default.rb",
			"default['sysctl']['params']['net']['core']['rmem_max'] = 1\nnode.default[\"sysctl\"][\"vm.swappiness\"] = 2\n" +
				"sysctl 'net.core.wmem_max' do\n  value 3\nend\n",
			"1:28 net.core.rmem_max=1\n2:23 vm.swappiness=2\n3:9 net.core.wmem_max=3\n"},
		{"terraform", "main.tf",
			"sysctls = {\n  \"net.core.rmem_max\" = 1\n  \"net.core.wmem_max\" = var.wmem\n}\nsetting {\n  name  = \"net.core.somaxconn\"\n" +
				"  value = \"2\"\n}\nuser_data = <<-EOF\n  sysctl -w net.core.optmem_max=3\n  cat > /etc/sysctl.d/a.conf <<END\n" +
				"  net.core.busy_poll = 4\n  END\nEOF\n",
			"2:4 net.core.rmem_max=1\n3:4 net.core.wmem_max=var.wmem [expands]\n6:12 net.core.somaxconn=2\n" +
				"10:13 net.core.optmem_max=3\n12:3 net.core.busy_poll=4\n"},
		{"lines of other files, and commands in strings", "main.tf",
			"* soft nofile 4096\noptions ixgbe RSS=1,1 LRO=0\noptions are x=1 for you\n  \"echo 'net.core.rmem_max = 1' >> /etc/sysctl.d/a.conf\\n\",\n" +
				"  ExecStart = \"${pkgs.ethtool}/bin/ethtool -K eth0 gro off\";\n",
			"1:1 limits:soft/nofile=4096\n2:15 module:ixgbe/RSS=1,1\n2:23 module:ixgbe/LRO=0\n" +
				"4:10 net.core.rmem_max=1\n5:52 ethtool:features/gro=off [eth0]\n"},
		{"what a command prints ends with a sentence", "notes",
			"(base) ann@lab7:~$ sysctl fs.file-max\nfs.file-max = 398897\nSo write this to the file instead of it:\nfs.file-max = 260000\n", "4:1 fs.file-max=260000\n"},
		{"a fragment of compose", "redis.md", "# Redis\n\n```\nsysctls:\n  - net.core.somaxconn=1024\n```\n", "5:5 net.core.somaxconn=1024\n"},
		{"limits without a blank, which are rejected", "notes", "*hard nofile 1000000\n", "refused 1:1 \"*hard\"\n"},
		{"boot loaders", "boot.txt",
			"options root=UUID=77 rw mitigations=off\n\"Boot as usual\" \"root=UUID=77 ro nosmt\"\nsetenv bootargs 'console=ttyS2,1500000 rootwait'\nextraargs=net.ifnames=0\n" +
				"linux /vmlinuz-6.1 root=/dev/vda1 quiet\nconsole=tty1 root=PARTUUID=9 rootfstype=ext4 rootwait\n" +
				"options ixgbe RSS=1,1\nThe options are root=/dev/sda1 (the disk) and more of them.\nappend this to the file\n",
			"1:9 cmdline:root=UUID=77\n1:22 cmdline:rw=\n1:25 cmdline:mitigations=off\n2:18 cmdline:root=UUID=77\n2:31 cmdline:ro=\n2:34 cmdline:nosmt=\n" +
				"3:18 cmdline:console=ttyS2,1500000\n3:40 cmdline:rootwait=\n4:11 cmdline:net.ifnames=0\n5:20 cmdline:root=/dev/vda1\n5:35 cmdline:quiet=\n" +
				"6:1 cmdline:console=tty1\n6:14 cmdline:root=PARTUUID=9\n6:30 cmdline:rootfstype=ext4\n6:46 cmdline:rootwait=\n7:15 module:ixgbe/RSS=1,1\n"},
		{"commands that set arguments of the kernel", "notes",
			"sudo kernelstub -a \"mitigations=off nosmt\"\nrpm-ostree kargs --append=nosmt --delete=quiet\n", "1:21 cmdline:mitigations=off\n1:37 cmdline:nosmt=\n2:27 cmdline:nosmt=\n"},
		{"options of docker", "run", "docker run --sysctl net.core.somaxconn=1 --sysctl=net.ipv4.ip_forward=2 img\n",
			"1:21 net.core.somaxconn=1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := show(t, Other, Linux, tt.path, tt.in); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// TestGuideFiles reads the files that a guide shows as a whole, in blocks and among the text.
func TestGuideFiles(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"stanzas in prose", "Bonds\n\nExample:\nauto bond7\niface bond7 inet manual\n    bond-mode 1\nmtu 9000\n\nThen restart the host.\n    and wait some time\n",
			"5:1 interfaces:inet=manual [bond7]\n6:5 interfaces:bond-mode=1 [bond7]\n7:1 link:mtu=9000 [bond7]\n"},
		{"a stanza with empty lines", "auto bond7\niface bond7 inet manual\n\n\nbond-mode 1\n",
			"2:1 interfaces:inet=manual [bond7]\n5:1 interfaces:bond-mode=1 [bond7]\n"},
		{"stanzas in a block", "A text\n```\niface eth3 inet dhcp\n```\niface eth4 inet dhcp\n", "3:1 interfaces:inet=dhcp [eth3]\n"},
		{"no stanza", "auto detection\nauto eth0\n    something else\n", ""},
		{"networkd", "   .. code-block:: console\n\n      [NetDev]\n      Name=b3\n      Kind=bond\n\n      [Bond]\n      Mode=802.3ad\n\n   Refer to it=there.\n",
			"4:7 network-file:NetDev/Name=b3\n5:7 network-file:NetDev/Kind=bond\n8:7 network-file:Bond/Mode=802.3ad\n"},
		{"a .network file", "x\n[Match]\nName=eth0\n\n[Link]\nMTUBytes=9000\n", "3:1 network-file:Match/Name=eth0 [eth0]\n6:1 network-file:MTUBytes=9000 [eth0]\n"},
		{"a .link file", "x\n[Match]\nOriginalName=eth0\n[Link]\nRxBufferSize=max\n", "3:1 link-file:Match/OriginalName=eth0 [eth0]\n5:1 link-file:RxBufferSize=max [eth0]\n"},
		{"netplan", "first.yaml:\nnetwork:\n  version: 2\n  ethernets:\n    eno9:\n      mtu: 9000\n\nand more: text\n",
			"3:3 netplan:version=2\n5:5 netplan:ethernets= [eno9]\n6:7 link:mtu=9000 [eno9]\n"},
		{"a command between the blocks", "Set\nnet.core.rmem_max = 1048576\nor run\n\nsudo sysctl -w net.core.rmem_max=2097152\n```\nfree -m\n```\n", "5:16 net.core.rmem_max=2097152\n"},
		{"no netplan", "network:\n  driver: bridge\n", ""},
	} {
		if got := show(t, Other, Linux, "a.md", tt.in); got != tt.want {
			t.Errorf("%s: got\n%swant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestNixUnits reads what NixOS makes files of systemd-networkd of.
func TestNixUnits(t *testing.T) {
	const in = `{ systemd.network = {
  links."10-lan" = {
    matchConfig.OriginalName = "lan";
    linkConfig = { GenericReceiveOffload = false;
      RxBufferSize = 4096;
    };
  };
  netdevs.b3 = {
    netdevConfig = { Kind = "bond"; };
    bondConfig.Mode = "802.3ad";
  };
  networks = {
    lan.networkConfig.DHCP = cfg.dhcp;
    lan.routes = [ { Gateway = "fe80::1"; } ];
  };
}; }
`
	const want = `3:17 link-file:Match/OriginalName=lan
4:20 link-file:GenericReceiveOffload=false
5:7 link-file:RxBufferSize=4096
9:22 network-file:NetDev/Kind=bond
10:16 network-file:Bond/Mode=802.3ad
13:23 network-file:Network/DHCP=cfg.dhcp [expands]
`
	if got := show(t, Other, Linux, "a.nix", in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestHolds(t *testing.T) {
	for text, want := range map[string]bool{
		"x = { \"net.core.rmem_max\" = 1; }\n\"net.core.rmem_max\" = 1;\n": true,
		"ethtool -K eth0 gro off\n":                                        true,
		"fs.readFile = function () {}\nkernel.name = 3\n":                  false,
		"Nothing here\n": false,
		"```\n# echo net.inet.tcp.tso=0 >> /etc/sysctl.conf\n```\n": false,
		"\x00":                              false,
		"\"net.core.a\": \"net.core.b\",\n": false,
	} {
		if got := Holds("a", text); got != want {
			t.Errorf("Holds(%q) = %v, want %v", text, got, want)
		}
	}
	if Holds("a.go", "ethtool -K eth0 gro off\n") {
		t.Error("a program is read")
	}
}

func FuzzOther(f *testing.F) {
	fuzzKind(f, Other, Linux, "a.nix", "\"net.core.x\" = lib.mkDefault \"1\";\n['sysctl']['net']['core']['y'] = 'a\n",
		"```\n$ sysctl -w net.core.x=1 \\\n net.core.y=2\ncat > /etc/sysctl.conf <<E\nnet.core.z=1\n",
		"sysctl { 'net.core.x':\nvalue => ''}\n--sysctl net.core.x=\"")
}

func TestScriptWords(t *testing.T) {
	const in = `for i in rx tso "$more"; do ethtool -K eth0 $i off 2>&1 >/dev/null; done
ethtool -A eth0 rx off tx 2>/dev/null
docker run --sysctl net.core.somaxconn=1 --sysctl="net.ipv4.ip_local_port_range=8001 65000" --sysctl=vm.swappiness=2 x
`
	const want = `1:45 ethtool:features/rx=off [eth0 maybe]
1:45 ethtool:features/tso=off [eth0 maybe]
1:45 ethtool:features/$more=off [eth0 expands maybe]
2:17 ethtool:pause/rx=off [eth0]
3:21 net.core.somaxconn=1
3:52 net.ipv4.ip_local_port_range=8001 65000
3:102 vm.swappiness=2
refused 2:24 "tx"
`
	if got := show(t, Script, Linux, "a.sh", in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestConstants(t *testing.T) {
	const in = `MAX=$((64 * 1024*1024))
MIN="4096"
[ -n "$1" ] && LATER=5
sysctl -w net.core.rmem_max=$((256*1024*1024 - 1)) net.core.wmem_max=$(( $x * 2 ))
sysctl -w net.ipv4.tcp_rmem="$MIN 131072 ${MIN}" net.core.optmem_max=$LATER net.core.rmem_default=$MAX net.core.somaxconn='$MIN'
LATER=7
echo $MIN > /proc/sys/net/core/busy_poll
sysctl net.core.busy_read=$((9223372036854775807*9)) net.core.dev_weight=$((4294967296*4294967296*4294967296))
tc class add dev eth0 parent 1: classid 1:a htb rate 1Mbps ceil $MIN
tc qdisc add dev eth0 root handle 1: htb default 10
`
	const want = `4:11 net.core.rmem_max=268435455
4:52 net.core.wmem_max=$(( $x * 2 )) [expands]
5:11 net.ipv4.tcp_rmem=4096 131072 4096
5:50 net.core.optmem_max=$LATER [expands]
5:77 net.core.rmem_default=67108864
5:104 net.core.somaxconn=$MIN
7:13 net.core.busy_poll=4096
8:8 net.core.busy_read=$((9223372036854775807*9)) [expands]
8:54 net.core.dev_weight=$((4294967296*4294967296*4294967296)) [expands]
9:23 tc:parent=1: [eth0]
9:33 tc:class=1:a [eth0]
9:49 tc:htb/rate=1Mbps [eth0]
9:60 tc:htb/ceil=4096 [eth0]
10:23 tc:qdisc=htb [eth0]
10:42 tc:htb/default=10 [eth0]
`
	if got := show(t, Script, Linux, "a.sh", in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestYAMLCommands(t *testing.T) {
	const in = `runcmd:
  - sysctl -w net.core.a=1
  - [ sh, -c, "sysctl -w net.core.b=2 && ethtool -K eth0 gro off" ]
  - echo "net.core.c = 3" >> /etc/sysctl.conf
write_files:
  - path: /etc/sysctl.d/a.conf
    content: |
      # a comment
      net.core.d = 4
      net.core.d = 5
  - path: /x.sh
    content: |
      #!/bin/sh
      cat > /etc/sysctl.d/b.conf <<EOF
      net.core.e = 6
      EOF
      sysctl net.core.f=7
  - content: |
      other text, net.core.g = 8
vars:
  net.core.h: 9
`
	const want = `2:15 net.core.a=1
3:26 net.core.b=2
3:58 ethtool:features/gro=off [eth0 maybe]
4:11 net.core.c=3
9:7 net.core.d=4
10:7 net.core.d=5
15:7 net.core.e=6
17:14 net.core.f=7
21:3 net.core.h=9
`
	if got := show(t, YAML, Linux, "user-data.yaml", in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestService(t *testing.T) {
	const in = `[Unit]
LimitX=1
[Service]
LimitNOFILE=65536:524288
LimitNOFile = 1
ExecStartPre=-/sbin/sysctl -w net.core.somaxconn=2
ExecStart=/bin/sh -c 'ethtool -K eth0 gro off'
`
	const want = `4:1 service:LimitNOFILE=65536:524288
5:1 service:LimitNOFile=1
6:31 net.core.somaxconn=2
7:39 ethtool:features/gro=off [eth0]
`
	if got := show(t, Service, Linux, "x.service", in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func FuzzService(f *testing.F) {
	fuzzKind(f, Service, Linux, "x.service", "[Service]\nLimitNOFILE=1:\\\n2\nExecStart=@-sysctl a.b='\n[", "=\nLimitX\n[Manager]\nDefaultLimitNOFILE=1")
}
