package conffile

import (
	"strings"
	"testing"
)

// TestUnread finds a script that has sysctl read another file than it wrote.
func TestUnread(t *testing.T) {
	const drop = "echo net.core.somaxconn=8192 > /etc/sysctl.d/60-web.conf\n"
	for _, tt := range []struct {
		name, in string
		refused  bool
	}{
		{"another file", drop + "sysctl -p\n", true},
		{"another file, before it", "sudo sysctl -q -p >/dev/null\ncat > /etc/sysctl.d/60-web.conf <<E\nvm.swappiness=10\nE\n", true},
		{"the path in a variable", "F=/etc/sysctl.d/7.conf\necho vm.swappiness=10 | tee $F\n/sbin/sysctl --load\n", true},
		{"the file", drop + "sysctl -p /etc/sysctl.d/60-web.conf\n", false},
		{"the file and the other", drop + "sysctl -p\nsysctl -p /etc/sysctl.d/60-web.conf\n", false},
		{"a variable", drop + "sysctl -p $F\n", false},
		{"all files", drop + "sysctl -p\nsysctl --system\n", false},
		{"a service", drop + "sysctl -p\nsystemctl restart systemd-sysctl\n", false},
		{"both files", drop + "echo vm.swappiness=10 >> /etc/sysctl.conf\nsysctl -p\n", false},
		{"Debian's link", "echo vm.swappiness=10 > /etc/sysctl.d/99-sysctl.conf\nsysctl -p\n", false},
		{"nothing that is read", drop, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := show(t, Script, Linux, "tune.sh", tt.in)
			if strings.Contains(got, "refused") != tt.refused {
				t.Errorf("%s", got)
			}
		})
	}
}
