package conffile

import (
	"strings"
	"testing"
)

func TestUnreadFiles(t *testing.T) {
	for _, tt := range []struct{ name, text, reason, key string }{
		{"without .conf", "echo 'net.core.somaxconn=1024' > /etc/sysctl.d/tuning\n", "does not end in .conf", "net.core.somaxconn"},
		{"a here-document", "cat > /etc/sysctl.d/60-a.cnf <<EOF\nnet.core.somaxconn=1024\nEOF\n", "does not end in .conf", "net.core.somaxconn"},
		{"modprobe.conf", "echo 'options bonding mode=1' >> /etc/modprobe.conf\n", "does not read /etc/modprobe.conf", "mode"},
		{"read", "echo 'net.core.somaxconn=1024' > /etc/sysctl.d/tuning.conf\n", "", "net.core.somaxconn"},
		{"put aside", "cp a /etc/sysctl.d/tuning.conf.bak\necho a=1 > /etc/sysctl.d/tuning.conf.bak\n", "", ""},
		{"a name in a variable", "echo 'net.core.somaxconn=1024' > /etc/sysctl.d/$1\n", "", ""},
		{"another directory", "echo 'net.core.somaxconn=1024' > /srv/tuning\n", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var reasons, keys []string
			err := Scan(Script, Linux, "a.sh", "#!/bin/sh\n"+tt.text,
				func(e Entry) bool { keys = append(keys, e.Key); return true },
				func(r Reject) { reasons = append(reasons, r.Reason) })
			if got := strings.Join(reasons, "; "); err != nil || (got == "") != (tt.reason == "") || !strings.Contains(got, tt.reason) {
				t.Errorf("rejects %q (%v), want %q", got, err, tt.reason)
			}
			if got := strings.Join(keys, " "); got != tt.key {
				t.Errorf("settings %q, want %q", got, tt.key)
			}
		})
	}
}

func TestMisplacedFiles(t *testing.T) {
	for file, want := range map[string]string{"/etc/loader.conf": "/boot/loader.conf", "/boot/sysctl.conf": "/etc/sysctl.conf",
		"/etc/systctl.conf": "/etc/sysctl.conf", "/boot/loader.conf.local": "", "/etc/sysctl.conf": "", "/etc/loader.conf.d/x": "",
		"/usr/local/etc/sysctl.conf": ""} {
		var reasons []string
		err := Scan(Script, FreeBSD, "a.sh", "#!/bin/sh\necho 'tmpfs_load=\"YES\"' >> "+file+"\n",
			func(Entry) bool { return true }, func(r Reject) { reasons = append(reasons, r.Reason) })
		if got := strings.Join(reasons, "; "); err != nil || (got == "") != (want == "") || !strings.HasSuffix(got, want) {
			t.Errorf("%s: rejects %q (%v), want %q", file, got, err, want)
		}
	}
}

func TestUnreadFilesOnce(t *testing.T) {
	count := 0
	err := Scan(Script, Linux, "a.sh", strings.Repeat("echo 'net.core.somaxconn=1024' >> /etc/sysctl.d/a\n", 3),
		func(Entry) bool { return true }, func(Reject) { count++ })
	if err != nil || count != 1 {
		t.Errorf("%d reports (%v), want one for the file", count, err)
	}
}
