package lint

import "testing"

// Words that a tool chooses from, and the order of words of the kernel.
func TestChoices(t *testing.T) {
	c := load(t)
	for _, tt := range []struct{ path, text, want string }{
		{"/root/a.sh", "#!/bin/sh\ncpupower frequency-set -g perfomance\ncpupower frequency-set -g powersave\n",
			"/root/a.sh:2:27 bad-value warning\n"},
		{"/root/a.sh", "#!/bin/bash\ntc qdisc add dev en3 root cake bandwith 5mbit besteffort rtt 20ms\n",
			"/root/a.sh:2:32 syntax warning\n"},
		{"/root/a.sh", "#!/bin/bash\ntuned-adm profile network-latancy mine\n", "/root/a.sh:2:19 bad-value warning\n"},
		{"/etc/tuned/p/tuned.conf", "[main]\ninclude=throughput-perfomance\n[cpu]\ngovernor=ondemand|powersav\n",
			"/etc/tuned/p/tuned.conf:2:9 bad-value warning\n/etc/tuned/p/tuned.conf:4:10 bad-value warning\n"},
		{"/etc/default/grub", "GRUB_CMDLINE_LINUX=\"hugepages=8 hugepagesz=1G\"\n", "/etc/default/grub:1:21 conflict warning\n"},
		{"/etc/default/grub", "GRUB_CMDLINE_LINUX=\"hugepagesz=1G hugepages=8\"\n", ""},
		{"/etc/default/grub", "GRUB_CMDLINE_LINUX=\"hugepages=8 hugepagesz=1G default_hugepagesz=1G\"\n", ""},
		{"/srv/Dockerfile", "FROM alpine\nRUN echo 'net.core.somaxconn=99' >> /etc/sysctl.conf && \\\n" +
			"  echo '* soft nofile 99' >> /etc/security/limits.conf\n",
			"/srv/Dockerfile:2:11 no-effect warning\n/srv/Dockerfile:3:9 no-effect warning\n"},
		{"/srv/Dockerfile", "FROM alpine\nRUN sysctl -w net.core.somaxconn=9999\n", "/srv/Dockerfile:2:15 no-effect warning\n"},
		{"/srv/Dockerfile", "FROM quay.io/fedora/fedora-bootc\nRUN echo 'net.ipv4.tcp_sack=0' >> /etc/sysctl.conf\n",
			"/srv/Dockerfile:2:29 harmful warning\n"},
		{"/srv/play.yml", "- sysctl:\n    name: vm.swapiness\n    value: 5\n- sysctl:\n    name: net.ipv4.ip_forward\n    value: yes\n" +
			"- pam_limits:\n    domain: www\n    limit_type: soft\n    limit_item: nproces\n    value: 5000\n" +
			"- modprobe:\n    name: tcp_bbrr\n    state: present\n- modprobe:\n    name: tcp_bbrr\n    state: absent\n",
			"/srv/play.yml:2:11 unknown-key warning\n/srv/play.yml:10:17 unknown-key warning\n/srv/play.yml:13:11 unknown-key warning\n"},
		{"/srv/play.yml", "- modprobe: name=sch_fqq state=present\n- pam_limits: domain=www limit_type=soft limit_item=nproces value=50\n",
			"/srv/play.yml:1:18 unknown-key warning\n/srv/play.yml:2:53 unknown-key warning\n"},
		{"/etc/network/interfaces", "auto en3 en4\niface en3 inet static\n  gateway 192.0.2.1\niface en4 inet static\n" +
			"  gateway 198.51.100.1\niface en5 inet static\n  gateway 198.51.100.1\n",
			"/etc/network/interfaces:5:3 conflict warning\n"},
		{"/etc/network/interfaces", "iface en3 inet manual\n  mtu 1400\niface up3 inet manual\n  bond-slaves en3\n  bond-mode 4\n" +
			"  bond-xmit-hash-policy layer3+4\n  bond-arp-interval 50\n  mtu 9000\n",
			"/etc/network/interfaces:2:7 conflict warning\n/etc/network/interfaces:7:21 no-effect warning\n"},
		{"/srv/play.yml", "- lineinfile:\n    line: 'GRUB_CMDLINE_LINUX=\"isolcpu=2-7\"'\n- lineinfile:\n" +
			"    line: '* soft nprocs 999'\n- lineinfile:\n    line: \"www soft nofile many\"\n",
			"/srv/play.yml:2:32 unknown-key warning\n"},
	} {
		if got := list(Run(c, files(tt.path, tt.text), Options{})); got != tt.want {
			t.Errorf("%s %q: got\n%swant\n%s", tt.path, tt.text, got, tt.want)
		}
	}
}
