package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

// TestStray judges names that the catalog does not have, in the files of FreeBSD and
// OpenBSD.
func TestStray(t *testing.T) {
	c := load(t)
	const rc, sysctl, loader = "/etc/rc.conf", "/etc/sysctl.conf", "/boot/loader.conf"
	for _, tt := range []struct {
		system     catalog.System
		path, text string
		want       string // code, severity and part of the message of the only problem, "" for none
	}{
		{catalog.FreeBSD, loader, "acpi_toshiba=\"YES\"\n", `unknown-key warning acpi_toshiba_load="YES"`},
		{catalog.FreeBSD, loader, "boot_verbose=\"YES\"\nbeastie_disable=\"YES\"\nnvidia_name=\"YES\"\nfoo=\"bar\"\nloader_color=\"YES\"\n", ""},
		{catalog.FreeBSD, loader, "ifconfig_em0=\"DHCP\"\n", "wrong-file warning rc.conf"},
		{catalog.FreeBSD, loader, "jail_enable=\"YES\"\n", "wrong-file warning rc.conf"},
		{catalog.FreeBSD, loader, "ispfw_load=\"YES\"\n", ""},
		{catalog.FreeBSD, loader, "if_mlx5en_load=\"YES\"\n", "unknown-key warning write mlx5en_load"},
		{catalog.FreeBSD, loader, "if_ixgbe_load=\"YES\"\n", "unknown-key warning write if_ix_load"},
		{catalog.FreeBSD, loader, "if_bge_load=\"YES\"\n", ""},
		{catalog.FreeBSD, loader, "hw.netmap.buf_size=4096\n", "unknown-key warning did you mean dev.netmap.buf_size?"},
		{catalog.FreeBSD, loader, "kern.securelevel_enable=1\n", "unknown-key warning kern_securelevel_enable is a variable of rc.conf"},
		{catalog.FreeBSD, loader, "mlxen_load=\"YES\"\n", "renamed warning mlx4en_load"},
		{catalog.FreeBSD, loader, "hint.ahcich.7.om_level=\"5\"\n", "unknown-key warning hint.ahcich.7.pm_level"},
		{catalog.FreeBSD, loader, "hint.ahcich.7.sata_rev=\"2\"\n", ""},
		{catalog.FreeBSD, loader, "kern.ipc.nmbclusters=0\n", "no-effect info"},
		{catalog.FreeBSD, loader, "kern.maxproc=1000\n", "below-default warning"},
		{catalog.FreeBSD, "GATE", "include GENERIC\noptions IPFIREWALL\noptions IPFIREWALL_DEFAULT_TO_ACCEPT # open\n", "weakens-security warning"},
		{catalog.FreeBSD, "fw.md", "# FreeBSD\n\nThese lines go into the kernel's file.\n\noptions IPFIREWALL\ndevice carp\n" +
			"options IPFIREWALL_FORWARD\n\nThen the kernel is built and installed with them.\n", "removed warning"},
		{catalog.FreeBSD, loader, "kern.maxproc=90000\n", ""},
		{catalog.FreeBSD, loader, "hw.ix.enable_dca=1\n", "unknown-key warning does not exist"},
		{catalog.FreeBSD, loader, "net.pf.src_nodes_hashsize=65536\n", "unknown-key warning does not exist"},
		{catalog.FreeBSD, loader, "net.pf.share_forward=1\n", ""},
		{catalog.FreeBSD, rc, "gateway_enabled=\"YES\"\n", "unknown-key warning gateway_enable?"},
		{catalog.FreeBSD, rc, "gateway_enabel=\"YES\"\n", "unknown-key warning gateway_enable?"},
		{catalog.FreeBSD, rc, "defaultroute=\"192.0.2.1\"\n", "unknown-key warning defaultrouter?"},
		{catalog.FreeBSD, rc, "slpd_enable=\"YES\"\nfoo_enabled=\"YES\"\nntpda_flags=\"-x\"\n", ""},
		{catalog.FreeBSD, rc, "ipfw_rules=\"/etc/ipfw.rules\"\n", "renamed warning firewall_script"},
		{catalog.FreeBSD, loader, "if_wireguard_load=\"YES\"\n", "renamed warning if_wg_load"},
		{catalog.FreeBSD, rc, "kldload if_wg\n", "syntax warning kld_list"},
		{catalog.FreeBSD, rc, "[ -f /etc/rc.conf.site ] && . /etc/rc.conf.site\n", ""},
		{catalog.FreeBSD, rc, "firewall_enable=YES\nfirewall_type=open\n", "weakens-security info"},
		{catalog.FreeBSD, rc, "firewall_enable=YES\nfirewall_type=open\nfirewall_script=/etc/ipfw.sh\n", "no-effect info /etc/ipfw.sh"},
		{catalog.FreeBSD, rc, "firewall_enable=YES\nfirewall_type=workstation\n", ""},
		{catalog.FreeBSD, rc, "ipv6_enable=\"YES\"\n", "renamed info ipv6_activate_all_interfaces"},
		{catalog.FreeBSD, rc, "ipv6_ifconfig_fxp0=\"2001:db8::1\"\n", "renamed warning ifconfig_fxp0_ipv6"},
		{catalog.FreeBSD, rc, "ifconfig_em0_alias0=\"192.0.2.5 netmask 255.255.255.255\"\n", "syntax info begin it with \"inet\""},
		{catalog.FreeBSD, rc, "ifconfig_em0_alias0=\"2001:db8::5/64\"\n", "syntax warning begin it with \"inet6\""},
		{catalog.FreeBSD, rc, "ifconfig_em0_alias=\"192.0.2.4\"\nifconfig_em0_aliases=\"inet 192.0.2.5/32\"\nifconfig_em0_alias0=\"inet 192.0.2.6/32\"\n", ""},
		{catalog.FreeBSD, sysctl, "dev.em.fc=0\n", "unknown-key warning dev.em.0.fc"},
		{catalog.FreeBSD, sysctl, "dev.netmap.nosuch=1\ndev.em.0.fc=0\n", ""},
		{catalog.FreeBSD, sysctl, "kern.cam.ada.0.write_cache=0\nkern.tty_info_kstacks=1\nvm.pageout_oom_seq=120\n", ""},
		{catalog.FreeBSD, sysctl, "kern.ipc.maxsockbuf=16777216\nnet.inet.tcp.sendbuf_max=16777216\n", "conflict info lets a buffer have, 14913081"},
		{catalog.FreeBSD, sysctl, "kern.ipc.maxsockbuf=18874368\nnet.inet.tcp.sendbuf_max=16777216\n", ""},
		{catalog.FreeBSD, sysctl, "net.inet.tcp.functions_default=bbr\n", "needs info tcp_bbr"},
		{catalog.FreeBSD, sysctl, "net.inet.tcp.functions_default=rack\n", "needs info tcp_rack"},
		{catalog.FreeBSD, sysctl, "net.inet.tcp.functions_default=freebsd\n", "same-as-default info"},
		{catalog.FreeBSD, sysctl, "net.inet.tcp.keepinit=60000\nnet.inet.tcp.keepinit=5000 seconds\n", "bad-value error"},
		{catalog.OpenBSD, sysctl, "kern.maxproc=8192\n", "conflict warning kern.maxthread"},
		{catalog.OpenBSD, sysctl, "kern.maxproc=8192\nkern.maxthread=16384\n", ""},
		{catalog.OpenBSD, sysctl, "kern.shminfo.shmall=536870912\n", "wrong-unit warning"},
		{catalog.OpenBSD, "/etc/rc.conf.local", "sshd_enable=YES\n", "unknown-key warning pkg_scripts"},
		{catalog.OpenBSD, "/etc/rc.conf.local", "sshd_flags=NO\npkg_scripts=nginx\n", ""},
	} {
		version := catalog.Version("14.3")
		if tt.system == catalog.OpenBSD {
			version = "7.8"
		}
		res := Run(c, files(tt.path, tt.text), Options{System: tt.system, Version: version})
		if tt.want == "" {
			if len(res.Problems) != 0 {
				t.Errorf("%s %q: %v", tt.path, tt.text, brief(res))
			}
			continue
		}
		code, rest, _ := strings.Cut(tt.want, " ")
		severity, part, _ := strings.Cut(rest, " ")
		if len(res.Problems) != 1 || res.Problems[0].Code != code || string(res.Problems[0].Severity) != severity ||
			!strings.Contains(res.Problems[0].Message+res.Problems[0].Because, part) {
			t.Errorf("%s %q: %v, want %s", tt.path, tt.text, brief(res), tt.want)
		}
	}
}

// TestTripleHeadline holds that each finding about a triple names its own number.
func TestTripleHeadline(t *testing.T) {
	in := Input{Path: "/etc/sysctl.conf", Text: "net.ipv4.tcp_rmem = 4096 87380 16777216\n"}
	res := Run(load(t), []Input{in}, Options{System: catalog.Linux, Version: "6.18", Kind: conffile.Sysctl})
	want := []string{"third number is below the default of Linux 6.18, 33554432"} // the second one is the lesser thing
	if len(res.Problems) != len(want) {
		t.Fatalf("%v", brief(res))
	}
	for i, part := range want {
		if !strings.HasSuffix(res.Problems[i].Message, part) {
			t.Errorf("%s, want %s", res.Problems[i].Message, part)
		}
	}
}

// TestNewerSetting holds that a setting which the oldest release lacks is judged by those that have it.
func TestNewerSetting(t *testing.T) {
	in := Input{Path: "/etc/sysctl.conf", Text: "kern.ipc.tls.ifnet.permitted=0 (default 0)\n"}
	res := Run(load(t), []Input{in}, Options{System: catalog.FreeBSD, Kind: conffile.Sysctl})
	if len(res.Problems) != 1 || res.Problems[0].Code != "bad-value" || res.Problems[0].Severity != Error {
		t.Errorf("%v", brief(res))
	}
}

// TestGuideToTwoSystems holds that each half of a guide to FreeBSD and OpenBSD is judged for its own system.
func TestGuideToTwoSystems(t *testing.T) {
	in := Input{Path: "tune.md", Text: "## FreeBSD\nIn /etc/sysctl.conf:\n```\nkern.ipc.maxsockbuf=67108864\nnet.inet.tcp.recvbuf_inc=65536\n```\n" +
		"## OpenBSD\nIn /etc/sysctl.conf:\n```\nnet.inet.ip.ifq.maxlen=256\n```\n* kern.ipc.maxsockbuf=67108864\n"}
	var got []string
	for _, p := range Run(load(t), []Input{in}, Options{Ignore: []string{"duplicate"}}).Problems {
		got = append(got, string(p.System)+" "+p.Code+" "+p.Key)
	}
	want := []string{"freebsd removed net.inet.tcp.recvbuf_inc", "openbsd below-default net.inet.ip.ifq.maxlen"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestGuideWithOtherSystems holds that a setting of the BSDs in a guide that names one is not told as one that Linux lacks.
func TestGuideWithOtherSystems(t *testing.T) {
	for text, want := range map[string]int{
		"```sh\n# for linux\nsysctl -w net.core.rmem_max=2097152\n# for macos\nsysctl -w net.inet.udp.recvspace=2097152\n```\n": 0,
		"```sh\n# for linux\nsysctl -w net.core.rmem_max=2097152\nsysctl -w net.inet.udp.recvspace=2097152\n```\n":              1,
	} {
		n := 0
		for _, p := range Run(load(t), []Input{{Path: "a.md", Text: text}}, Options{}).Problems {
			if p.Code == "wrong-system" {
				n++
			}
		}
		if n != want {
			t.Errorf("%q: %d, want %d", text, n, want)
		}
	}
}

// TestGuideBySystems holds that lines which end in a colon tell whose settings follow.
func TestGuideBySystems(t *testing.T) {
	in := Input{Path: "a.md", Text: "Debian:\n\n```\nnet.ipv4.ip_forward=1\nnet.core.somaxconn=8192\n```\n\nFreeBSD:\n\n```\n" +
		"net.inet.ip.forwarding=1\nkern.ipc.nmbufs=9\n```\n\nmacOS:\n\n```\nsudo sysctl -w net.inet.tcp.win_scale_factor=8\n```\n"}
	for _, p := range Run(load(t), []Input{in}, Options{}).Problems {
		if p.Code == "wrong-system" || p.Code == "unknown-key" {
			t.Errorf("%d: %s", p.Line, p.Message)
		}
	}
}
