package lint

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// TestOldNames checks what is said of a setting that was renamed, never
// existed, or has a default that no float64 holds.
func TestOldNames(t *testing.T) {
	c := load(t)
	for _, tt := range []struct {
		system  catalog.System
		version catalog.Version
		line    string
		want    string // part of the only message, empty for none
	}{
		{catalog.FreeBSD, "12.4", "net.inet.ip.check_interface=1", ""},
		{catalog.FreeBSD, "12.4", "vfs.zfs.arc_max=1073741824", ""},
		{catalog.FreeBSD, "14.2", "net.inet.ip.check_interface=1", "it is called net.inet.ip.rfc1122_strong_es now"},
		{catalog.FreeBSD, "14.2", "vfs.zfs.arc_max=1073741824", "vfs.zfs.arc.max; both still work"},
		{catalog.Linux, "6.12", "net.ipv4.tcp_collapse_max_bytes=6291456", "is not a setting of Linux's own kernel"},
		{catalog.Linux, "6.12", "kernel.shmall=1073741824", "6.12, 18446744073692774399"},
		{catalog.Linux, "6.12", "fs.quota.warnings=0", ""},
		{catalog.Linux, "6.12", "net.ipv4.tcp_init_cwnd=10", "route:initcwnd is what sets it"},
		{catalog.Linux, "6.12", "vm.bdflush=100 1200 128 512 15 5000 500 1884 2", "does not exist since Linux 2.6"},
		{catalog.Linux, "6.12", "net.ipv4.conf.eth0.100.rp_filter=0", "write net/ipv4/conf/eth0.100/rp_filter"},
		{catalog.Linux, "6.12", "net/ipv4/conf/eth0.100/rp_filter=2", ""},
		{catalog.Linux, "6.12", "net.ipv4.conf.eth0/100.rp_filter=2", ""},
		{catalog.Linux, "6.6.60", "net.core.mem_pcpu_rsv=512", ""},
		{catalog.OpenBSD, "7.8", "kern.ipc.maxsockbuf=2097152", "is a setting of FreeBSD; OpenBSD has none"},
		{catalog.OpenBSD, "7.8", "net.inet.tcp.sendbuf_max=2097152", "is a setting of FreeBSD; OpenBSD has none"},
		{catalog.OpenBSD, "7.8", "net.inet.tcp.rfc3391=1", "did you mean net.inet.tcp.rfc3390?"},
		{catalog.OpenBSD, "7.8", "net.inet.tcp.cc.algoritm=cubic", "net.inet.tcp.cc.algoritm does not exist"},
		{catalog.OpenBSD, "7.8", "dev.igb.0.iflib.overide_nrxds=1024", "dev.igb.0.iflib.overide_nrxds does not exist"},
		{catalog.FreeBSD, "14.3", "kernel.panik=10", "FreeBSD has none of that name"},
		{catalog.OpenBSD, "7.2", "net.inet.tcp.slowhz=2", "cannot be set"},
		{catalog.OpenBSD, "7.8", "hw.nx=1", "hw.nx does not exist"},
		{catalog.OpenBSD, "7.8", "hw.sensors.cpu0.temp0=1", "cannot be set"},
		{catalog.FreeBSD, "14.2", "kern.ipc.tls.disable=1", "kern.ipc.tls.disable does not exist"},
		{catalog.FreeBSD, "14.2", "kern.ipc.tls.max_alloc=64", ""},
		{catalog.FreeBSD, "14.2", "kern.somaxconn=1024", "is a setting of OpenBSD; FreeBSD has none"},
		{catalog.FreeBSD, "14.2", "net.link.lagg.0.use_flowid=1", "does not exist since FreeBSD 11.0"},
		{catalog.FreeBSD, "14.2", "dev.em.0.itr=100", ""},
		{catalog.FreeBSD, "15.0", "dev.em.0.itr=100", "does not exist since FreeBSD 15.0"},
		{catalog.FreeBSD, "14.3", "dev.igb.0.iflib.override_nrxds=1024", "is read when the driver attaches"},
	} {
		in := Input{Path: "/etc/sysctl.conf", Text: tt.line + "\n"}
		res := Run(c, []Input{in}, Options{System: tt.system, Version: tt.version})
		if tt.want == "" {
			if len(res.Problems) != 0 {
				t.Errorf("%s in %s: %v", tt.line, tt.version, brief(res))
			}
			continue
		}
		if len(res.Problems) != 1 || !strings.Contains(res.Problems[0].Message, tt.want) {
			t.Errorf("%s in %s: %v, want %q", tt.line, tt.version, brief(res), tt.want)
		}
	}
}

// TestMisspelt holds that a slip of the keyboard is found in every subtree.
func TestMisspelt(t *testing.T) {
	c := load(t)
	for _, tt := range []struct {
		system     catalog.System
		version    catalog.Version
		line, want string
		severity   Severity
	}{
		{catalog.FreeBSD, "14.3", "net.inet.ip6.forwarding=1", "net.inet6.ip6.forwarding", Warning},
		{catalog.FreeBSD, "14.3", "net.inet.tcp.cc.algoritm=cubic", "net.inet.tcp.cc.algorithm", Warning},
		{catalog.FreeBSD, "14.3", "kern.maxfile=100000", "kern.maxfiles", Warning},
		{catalog.FreeBSD, "14.3", "kern.geom.part.check_integirty=0", "kern.geom.part.check_integrity", Warning},
		{catalog.FreeBSD, "14.3", "vm.pageout_oom_sek=120", "vm.pageout_oom_seq", Warning},
		{catalog.FreeBSD, "14.3", "dev.netmap.buf_nun=655360", "dev.netmap.buf_num", Warning},
		{catalog.FreeBSD, "14.3", "dev.igb.0.iflib.overide_nrxds=1024", "dev.igb.0.iflib.override_nrxds", Warning},
		{catalog.Linux, "6.12", "vm.swapiness=10", "vm.swappiness", Warning},
		{catalog.Linux, "6.12", "kernel.panik=10", "kernel.panic", Warning},
		{catalog.Linux, "6.6", "fs.filemax=100000", "fs.file-max", Warning},
		{catalog.Linux, "6.12", "net.ipv4_timestamps=1", "net.ipv4.tcp_timestamps", Warning},
		{catalog.Linux, "", "net.ipv4.conf.eth0.rp_filtr=1", "net.ipv4.conf.eth0.rp_filter", Warning},
		{catalog.OpenBSD, "7.8", "net.inet.ip.forwading=1", "net.inet.ip.forwarding", Warning},
	} {
		res := Run(c, []Input{{Path: "/etc/sysctl.conf", Text: tt.line + "\n"}}, Options{System: tt.system, Version: tt.version})
		if len(res.Problems) != 1 || res.Problems[0].Severity != tt.severity ||
			!strings.HasSuffix(res.Problems[0].Message, "did you mean "+tt.want+"?") {
			t.Errorf("%s in %s %s: %v, want %s", tt.line, tt.system, tt.version, brief(res), tt.want)
		}
	}
}

// TestMagnitude holds that values are judged beside defaults, and lines of all beside
// those of interfaces.
func TestMagnitude(t *testing.T) {
	c := load(t)
	for _, tt := range []struct {
		system catalog.System
		text   string
		want   string // code and severity of the only problem that is more than an info
	}{
		{catalog.FreeBSD, "net.inet.tcp.keepidle=7200\n", "wrong-unit warning"},
		{catalog.FreeBSD, "net.inet.tcp.msl=30\n", "wrong-unit warning"},
		{catalog.FreeBSD, "net.inet.tcp.msl=15000\n", ""},
		{catalog.FreeBSD, "net.inet.ip.intr_queue_maxlen=50\n", "below-default warning"},
		{catalog.Linux, "net.ipv4.tcp_keepalive_time=7200000\n", "wrong-unit warning"},
		{catalog.Linux, "net.ipv4.ip_local_port_range=65000 1024\n", "bad-value error"},
		{catalog.Linux, "net.ipv4.ping_group_range=1 0\n", ""},
		{catalog.Linux, "net.ipv4.tcp_congestion_control=cubik\n", "bad-value error"},
		{catalog.Linux, "net.ipv4.tcp_congestion_control=somethingelse\n", "bad-value error"},
		{catalog.Linux, "net.ipv4.tcp_congestion_control=bbrplus\n", "bad-value warning"},
		{catalog.Linux, "$ sudo sysctl -w net.ipv4.tcp_sack=1\n", "syntax error"},
		{catalog.Linux, "net.ipv4.conf.eth0.forwardxx=1\n", "unknown-key warning"},
		{catalog.Linux, "vm.dirty_background_ratio=30\nvm.dirty_ratio=25\n", "conflict warning"},
		{catalog.Linux, "vm.dirty_background_ratio=20\n", "conflict warning"},
		{catalog.Linux, "vm.dirty_background_ratio=5\nvm.dirty_ratio=10\n", ""},
		{catalog.Linux, "net.ipv4.conf.all.rp_filter=1\nnet.ipv4.conf.eth0.rp_filter=0\n", "no-effect warning"},
		{catalog.Linux, "net.ipv4.conf.all.rp_filter=1\nnet.ipv4.conf.eth0.rp_filter=2\n", ""},
		{catalog.Linux, "net.ipv4.tcp_max_syn_backlog=16384\nfs.file-max=65536\n", "harmful warning"},
		{catalog.FreeBSD, "kern.ipc.nmbclusters=25600\n", "below-default warning"},
		{catalog.FreeBSD, "kern.ipc.nmbclusters=524289\n", ""},
		{catalog.FreeBSD, "vfs.zfs.vdev.cache.size=9\nvfs.zfs.prefetch_disable=1\n", "removed warning, renamed warning"},
		{catalog.FreeBSD, "kern.ipc.nmbclusters=524288\nkern.maxfiles=26214\nkern.maxfilesperproc=300000\n", "below-default warning"},
		{catalog.FreeBSD, "net.inet.ip.portrange.first=20000\nnet.inet.ip.portrange.last=10000\n", "conflict warning"},
		{catalog.Linux, "net.core.default_qdisc=fq_coddle\n", "bad-value error"},
		{catalog.Linux, "sysctl -w net.ipv4.tcp_sack=1\n", "syntax error"},
		{catalog.Linux, "kernel.sem=250 32000 100 128\n", "below-default warning"},
		{catalog.Linux, "kernel.sem=250 2048000000 100 128\n", "below-default warning"},
		{catalog.Linux, "kernel.sem=32000 2048000000 400 32000\n", ""},
		{catalog.Linux, "kernel.yama.ptrace_scope=1 2 3\n", "syntax warning"},
		{catalog.Linux, "net.ipv4.tcp_retries2=8 # as in RFC 1122\n", ""},
		{catalog.Linux, "kernel.shmmax=268435456\nkernel.shmall=268435456\n",
			"below-default warning, below-default warning, wrong-unit warning"},
		{catalog.Linux, "kernel.shmmax=18446744073692774399\nkernel.shmall=18446744073692774399\n", ""},
		{catalog.Linux, "net.ipv4.tcp_max_tw_buckets=32768\n", "harmful warning"},
		{catalog.Linux, "net.ipv4.tcp_max_tw_buckets=131072\n", ""},
		{catalog.Linux, "net.ipv4.tcp_fin_timeout=2\nnet.ipv4.tcp_retries2=5\n", "harmful warning, harmful warning"},
		{catalog.Linux, "net.netfilter.nf_conntrack_max=10000000\n", "conflict warning"},
		{catalog.Linux, "net.netfilter.nf_conntrack_max=1048576\n", ""},
		{catalog.Linux, "net.ipv4.conf.all.send_redirects=0\n", "no-effect warning"},
		{catalog.Linux, "net.ipv4.conf.all.proxy_arp=0\n", ""},
		{catalog.Linux, "net.ipv4.conf.all.proxy_arp=1\nnet.ipv4.conf.eth0.proxy_arp=0\n", "no-effect warning"},
		{catalog.Linux, "net.ipv4.conf.all.arp_ignore=2\nnet.ipv4.conf.eth0.arp_ignore=1\n", "no-effect warning"},
		{catalog.Linux, "net.ipv4.conf.all.arp_ignore=1\nnet.ipv4.conf.lo.arp_ignore=1\n", ""},
		{catalog.Linux, "net.ipv4.conf.all.bc_forwarding=0\nnet.ipv4.conf.eth0.bc_forwarding=1\n", "no-effect warning"},
		{catalog.Linux, "net.ipv4.conf.all.send_redirects=0\nnet.ipv4.conf.default.send_redirects=0\n", ""},
		{catalog.Linux, "net.ipv6.conf.all.accept_ra=0\n", "no-effect warning"},
		{catalog.Linux, "net.ipv4.conf.default.accept_source_route=1\n", ""},
		{catalog.Linux, "net.ipv4.conf.all.accept_source_route=1\n", "weakens-security warning"},
		{catalog.Linux, "net.ipv4.ip_local_port_range=1000 65535\n", "out-of-range warning"},
		{catalog.Linux, "net.ipv4.conf.all.send_redirects=0\nnet.ipv4.conf.default.send_redirects=1\n", "no-effect warning"},
		{catalog.Linux, "net.ipv4.tcp_tw_reuse=1\nnet.ipv4.tcp_timestamps=0\n", "needs warning, harmful warning"},
		{catalog.Linux, "net.unix.max_dgram_qlen=50\nfs.file-max=262144\n", "below-default warning, harmful warning"},
		{catalog.Linux, "vm.dirty_bytes=0\nvm.dirty_background_bytes=0\n", "out-of-range error, out-of-range error"},
		{catalog.Linux, "fs.file-max=2097152\nvm.dirty_bytes=268435456\n", ""},
		{catalog.Linux, "net.ipv6.conf.all.hop_limit=128\n", "no-effect warning"},
		{catalog.Linux, "fs.file-max=9223372036854775807\nvm.dirty_ratio=40\n", ""},
		{catalog.Linux, "fs.inotify.max_user_watches=2099999999\nvm.dirty_ratio=80\n", "harmful warning, harmful warning"},
		{catalog.Linux, "net.ipv4.conf.all.accept_redirects=0\n", "no-effect warning"},
		{catalog.Linux, "kernel.spl.hostid=1\nkernel.panik=1\n", "unknown-key warning"},
		{catalog.Linux, "net.ipv4.ip_forward=1\nnet.ipv4.conf.all.accept_redirects=0\n", ""},
		{catalog.FreeBSD, "net.inet.tcp.keepidle=10000\n", "harmful warning"},
		{catalog.FreeBSD, "net.inet.tcp.keepidle=62000\nnet.inet.tcp.finwait2_timeout=1000\n", ""},
		{catalog.FreeBSD, "net.inet.tcp.finwait2_timeout=60\n", "wrong-unit warning"},
		{catalog.FreeBSD, "net.inet.tcp.recvspace=4194304\n", "conflict warning, harmful warning"},
		{catalog.FreeBSD, "net.inet.tcp.mssdflt=1460\nnet.inet.tcp.always_keepalive=0\n", "no-effect warning, harmful warning"},
		{catalog.FreeBSD, "security.bsd.allow_wx=0\nsecurity.bsd.unprivileged_idprio=1\n", "unknown-key warning"},
		{catalog.FreeBSD, "vm.v_cache_max=1000\nvm.domain.0.pageout_helper_threads_enabled=1\nvm.mincore_mapped=0\n", "unknown-key warning"},
		{catalog.OpenBSD, "kern.maxfile=4096\nkern.emul.linux=1\nvm.foo=1\n", "unknown-key warning, unknown-key warning, unknown-key warning"},
		{catalog.FreeBSD, "hw.igc.enable_aim=1\n", ""},
		{catalog.FreeBSD, "net.link.ether.inet.useloopback=1\nnet.link.ether.inet.maxhold=32\n", "unknown-key warning"},
		{catalog.FreeBSD, "kern.ipc.splice.num_wthreads=4\nnet.inet.ip.connect_inaddr_wild=0\nkern.ipc.umtx_max_robust=100\n", ""},
		{catalog.Linux, "net.ipv4.tcp_rmem=4096 87380 16777216\nnet.ipv4.udp_rmem_min=16777216\n", "harmful warning"},
		{catalog.OpenBSD, "kern.seminfo.semmns=4096\nnet.inet.tcp.mssdflt=1440\n", "no-effect warning"},
	} {
		version := map[catalog.System]catalog.Version{catalog.Linux: "6.12", catalog.FreeBSD: "14.3", catalog.OpenBSD: "7.8"}[tt.system]
		var got []string
		for _, p := range Run(c, []Input{{Path: "/etc/sysctl.conf", Text: tt.text}}, Options{System: tt.system, Version: version}).Problems {
			if p.Severity != Info {
				got = append(got, p.Code+" "+string(p.Severity))
			}
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestListed holds that each subtree which the catalog is said to describe in
// full has its names, since one with fewer is silently left out.
func TestListed(t *testing.T) {
	c := load(t)
	for _, tree := range listed {
		n := 0
		for _, name := range c.Names(tree.system) {
			if strings.HasPrefix(name, tree.prefix) {
				n++
			}
		}
		if n < tree.few {
			t.Errorf("%s %s* has %d names, fewer than the %d that make it complete", tree.system, tree.prefix, n, tree.few)
		}
	}
}

// TestMachineHas holds that a setting which the machine runs with is judged as
// one that exists, whatever its release's number says.
func TestMachineHas(t *testing.T) {
	c := load(t)
	in := []Input{{Path: "/etc/sysctl.conf", Text: "net.ipv4.tcp_min_snd_mss = 48\nnet.ipv4.tcp_vendor_knob = 1\n"}}
	opt := Options{System: catalog.Linux, Version: "4.18.0"}
	if res := Run(c, in, opt); len(res.Problems) != 2 {
		t.Fatalf("without the machine: %v", brief(res))
	}
	opt.Machine = &Machine{Running: func(string, string) (string, bool) { return "48", true }}
	for _, p := range Run(c, in, opt).Problems {
		if p.Code == "not-yet" || p.Code == "unknown-key" {
			t.Errorf("%s on a machine that has the setting", p.Message)
		}
	}
}

// A feature of ethtool that is a slip from a known one is reported, one of a driver is
// not, and a switch that is harmful names the better value.
func TestFeatures(t *testing.T) {
	c := load(t)
	for line, want := range map[string]string{
		"ethtool -K eth0 tx-nocache-cpy on": "tx-nocache-cpy is not known; did you mean tx-nocache-copy?",
		"ethtool -K eth0 esp-hw-offload on": "",
		"ethtool -K eth0 gro off":           "ethtool:features/gro = off for eth0 is harmful; the default is on",
	} {
		res := Run(c, []Input{{Path: "tune.sh", Text: "#!/bin/sh\n" + line + "\n"}}, Options{System: catalog.Linux, Version: "6.12"})
		if want == "" && len(res.Problems) != 0 || want != "" && (len(res.Problems) != 1 || res.Problems[0].Message != want) {
			t.Errorf("%s: %v, want %q", line, brief(res), want)
		}
	}
}

// TestBridgeModule holds that settings of br_netfilter ask for it once, and not
// when a file loads it.
func TestBridgeModule(t *testing.T) {
	sysctl := Input{Path: "/etc/sysctl.d/90-a.conf",
		Text: "net.bridge.bridge-nf-call-iptables=1\nnet.bridge.bridge-nf-call-ip6tables=1\n"}
	modules := Input{Path: "/etc/modules-load.d/a.conf", Text: "br_netfilter\n"}
	for want, inputs := range [][]Input{{sysctl, modules}, {sysctl}} {
		got := 0
		for _, p := range Run(load(t), inputs, Options{System: catalog.Linux, Version: "6.1"}).Problems {
			if p.Code == "needs" && p.Severity == Info {
				got++
			}
		}
		if got != want {
			t.Errorf("%d files: %d problems, want %d", len(inputs), got, want)
		}
	}
}

// TestMisspeltModules judges names of modules in loader.conf that are slips.
func TestMisspeltModules(t *testing.T) {
	for name, want := range map[string]string{
		"impi_load":           "impi_load is not known; did you mean ipmi_load?",
		"cc_htpc_load":        "cc_htpc_load is not known; did you mean cc_htcp_load?",
		"if_qlnxe_load":       "",
		"cc_htcp_load":        "",
		"mlx6en_load":         "",
		"vboxdrv_load":        "",
		"nvidia-modeset_load": "",
	} {
		res := Run(load(t), []Input{{Path: "/boot/loader.conf", Text: name + "=\"YES\"\n"}}, Options{System: catalog.FreeBSD, Version: "14.3"})
		if want == "" && len(res.Problems) != 0 || want != "" && (len(res.Problems) != 1 || res.Problems[0].Message != want) {
			t.Errorf("%s: %v, want %q", name, brief(res), want)
		}
	}
}
