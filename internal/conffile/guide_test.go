package conffile

import "testing"

func TestGuideSystem(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       System
	}{
		{"blocks of files", "/etc/rc.conf:\n```\nifconfig_em0=\"DHCP\"\ngateway_enable=YES\n```\n", FreeBSD},
		{"an interface", "Edit `/etc/hostname.em0`\n```\ninet 192.0.2.1 255.255.255.0\nup\n```\n", OpenBSD},
		{"another system", "/etc/sysctl.conf\n```\nnet.ipv4.ip_forward=1\n```\n", ""},
		{"no file", "```\na=1\n```\n", ""},
		{"no block", "/etc/rc.conf\n\nThere, ifconfig_em0=DHCP is needed.\n", ""},
		{"lines without a mark", "/etc/rc.conf\n\nifconfig_em0=DHCP\n", FreeBSD},
		{"a post of a forum", "[B]Router[/B]\n/boot/loader.conf:\n[CODE]\nhw.igb.rxd=4096\n[/CODE]\n", FreeBSD},
		{"a page of a wiki", "== Tuning ==\nIn <code>/etc/sysctl.conf</code>:\n<pre>\nkern.ipc.somaxconn=1024\n</pre>\n", FreeBSD},
		{"AsciiDoc", "./etc/sysctl.conf\n[source,shell]\n....\nkern.maxclusters=8192\n....\n", OpenBSD},
		{"config.xml", "<sysctl><item>\n<tunable>hw.ibrs_disable</tunable>\n<value>1</value>\n</item>" +
			"<item><tunable>net.inet.tcp.tso</tunable><value>default</value></item><item><tunable>net.pf.x", FreeBSD},
		{"a table of columns", "Variable\tValue\tType\nnet.inet.tcp.tso\t0\tSYSCTL\nkern.ipc.somaxconn\t9\tSYSCTL\n", FreeBSD},
		{"another system's part", "## On Linux\n/etc/sysctl.conf\n```\nnet.inet.tcp.tso=0\n```\n", ""},
		{"an open block", "/etc/rc.conf\n```\nifconfig_em0=DHCP\n", ""},
		{"an empty block", "/etc/rc.conf\n```\n```\n", ""},
		{"a table", "| Tunable | Value |\n|---|---|\n| `net.inet.tcp.blackhole` | 2 |\n", FreeBSD},
		{"a table of defaults", "| Tunable | Default |\n|---|---|\n| `net.inet.tcp.blackhole` | 0 |\n", ""},
		{"a list", "* /etc/sysctl.conf\n  * kern.ipc.somaxconn=8192\n", FreeBSD},
		{"commands", "/etc/rc.conf\n```\nsysrc a=b\nservice c start\n```\n", FreeBSD},
		{"commands in prose", "For FreeBSD:\n\nsysctl -w kern.maxfiles=4096\nkldload cc_htcp\n\nThat is all.\n", FreeBSD},
		{"commands in prose of another system", "Then:\n\nsysctl -w net.ipv4.ip_forward=1\n", ""},
		{"rules of words alone", "# OpenBSD\n```\nblock in log\nset skip on lo0\npass out quick\n```\n", OpenBSD},
		{"prose with the words of a rule", "# OpenBSD\n```\nblock in log files\nset skip on lo0\n```\n", ""},
		{"a command among the lines", "/etc/rc.conf.local\n```\na=1\nb=2\n(kldstat -n x) || kldload x\nc=3\nifconfig_em0=DHCP\n```\n", FreeBSD},
		{"code of a page", "<h2>FreeBSD</h2>\n<pre class=\"x\">\n<code class=\"y\">\ntable &lt;a&gt; persist\n<span class=\"k\">block</span> in from &lt;a&gt;\n</code></pre>\n", FreeBSD},
		{"commands of another system", "```\nsudo sysctl -w net.ipv4.ip_forward=1\nip link set eth0 up\n```\n", ""},
	} {
		if got := GuideSystem("x.md", tt.text); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestSession(t *testing.T) {
	for text, want := range map[string]string{
		"root@fw:~ # sysctl kern.maxfiles=4096\nkern.maxfiles: 1 -> 4096": "            sysctl kern.maxfiles=4096\n                        ",
		"fw$ doas ifconfig em0 mtu 9000":                                  "    doas ifconfig em0 mtu 9000",
		"# a comment about sysctl":                                        "",
		"pass in on em0 # route to the other one":                         "",
	} {
		if got, _ := sessionText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTranslationTellsFreeBSD(t *testing.T) {
	for text, want := range map[string]System{
		"match in all scrub (no-df)\nmatch out\nnat on em0 from any -> (em0)\n": FreeBSD,
		"match out on em0 nat-to (em0)\nnat on em0 -> (em0)\n":                  OpenBSD,
		"match out on em0 nat-to (em0)\npass\n":                                 OpenBSD,
	} {
		if got := Detect("pf.conf", []byte(text)).System; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzGuide(f *testing.F) {
	fuzzKind(f, Other, FreeBSD, "README.md",
		"/etc/rc.conf:\n```\nifconfig_em0=\"UP mtu 9000\"\n```\n| Tunable | Value |\n|--|--|\n| `hw.igb.rxd` | 4096 |\n",
		"~~~\nsysctl net.inet.tcp.msl=1\n~~~\n* net.inet.udp.blackhole=1\n```\n", "/etc/hostname.em0\n```\ninet 192.0.2.1 255.255.255.0\n```",
		"pf.conf\n```\n(\npass )\n")
}
