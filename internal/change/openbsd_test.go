package change

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/host"
)

// openbsd makes a scripted OpenBSD host that answers as the system does.
func openbsd(t *testing.T) *machine {
	t.Helper()
	m := freebsd(t, map[string]string{"net.inet.tcp.mssdflt": "512", "net.inet.tcp.synuselimit": "100000", "net.inet.ip.forwarding": "0",
		"net.inet.ip.ifq.maxlen": "2048", "net.inet.udp.recvspace": "41600", "kern.somaxconn": "128", "kern.securelevel": "1", "kern.maxclusters": "262144",
		"kern.version": "OpenBSD 7.4 (GENERIC.MP) #2: Fri Dec  8 15:39:04 MST 2023", "net.inet.tcp.baddynamic": "587,749,750,751", "vm.swapencrypt.enable": "1"})
	m.system = catalog.OpenBSD
	m.put("fake/openbsd", "")
	m.put("fake/oid/kern.somaxconn", "integer bounded 1 65535\n")
	m.put("fake/oid/net.inet.udp.recvspace", "integer clamp 0 262144\n") // as if the kernel took less in silence
	m.put("fake/oid/kern.securelevel", "integer ro\n")
	m.put("fake/oid/kern.version", "string ro\n")
	m.put("fake/oid/kern.maxclusters", "integer none\n")
	return m
}

// TestOpenBSDSettings: sysctl(8) there prints what it was given and always ends
// with status 0; what counts is what is read back, and what it complains of.
func TestOpenBSDSettings(t *testing.T) {
	for _, c := range []struct{ setting, value, got, refused string }{
		{"net.inet.tcp.mssdflt", "1460", "1460", ""},
		{"net.inet.ip.ifq.maxlen", "8192", "8192", ""},
		{"net.inet.udp.recvspace", "1048576", "262144", ""},
		{"net.inet.tcp.baddynamic", "587,749", "587,749", ""},
		{"kern.somaxconn", "70000", "", "Invalid argument"},
		{"kern.somaxconn", "1k", "", "illegal value: 1k"},
		{"kern.somaxconn", "99999999999999999999", "", "value 99999999999999999999 out of range"},
		{"kern.securelevel", "0", "", "Operation not permitted; "},
		{"kern.maxclusters", "1", "", "value is not available"},
		{"ifconfig:mtu@em0", "9000", "9000", ""},
		{"ifconfig:mtu@em0", "20", "", "SIOCSIFMTU: Invalid argument"},
		{"ifconfig:tcplro@em0", "off", "off", ""},
	} {
		m := openbsd(t)
		before := m.snapshot()
		ch, err := m.begin(t, c.setting, "kern.version")
		if err != nil {
			t.Fatal(err)
		}
		out, err := ch.Apply(t.Context(), []string{c.setting}, map[string]string{c.setting: c.value})
		if err != nil || len(out) != 1 || out[0].Got != c.got || !strings.HasPrefix(out[0].Refused, c.refused) || (c.refused == "") != (out[0].Refused == "") {
			t.Errorf("%s=%s: %+v, %v", c.setting, c.value, out, err)
		}
		if r, err := ch.Rollback(t.Context()); err != nil || len(r.Foreign) > 0 {
			t.Errorf("%s=%s: %+v, %v", c.setting, c.value, r, err)
		}
		if after := m.snapshot(); after != before {
			t.Errorf("%s=%s: not restored:\n%s", c.setting, c.value, difference(before, after))
		}
	}
}

func TestOpenBSDUnknown(t *testing.T) {
	m := openbsd(t)
	for setting, want := range map[string]string{
		"net.inet.tcp.sendbuf_max": "fourth level name sendbuf_max in net.inet.tcp.sendbuf_max is invalid",
		"net.inet6.ip6.redirect":   "second level name inet6 in net.inet6.ip6.redirect is invalid",
		"dev.em.0":                 "top level name dev in dev.em.0 is invalid",
		"ifconfig:mtu@em9":         "em9: no such interface",
	} {
		if _, err := m.begin(t, setting); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", setting, err)
		}
	}
	if host.Classify("sysctl: third level name x in net.inet.x is invalid") != host.Absent {
		t.Error("an unknown name is not taken for absent")
	}
	if _, err := os.Stat(filepath.Join(m.root, "var/pending")); err == nil {
		t.Error("a lock stayed")
	}
}
