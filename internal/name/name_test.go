package name

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wirerate/wirerate/internal/system"
)

// TestRealNames are such as hosts have.
func TestRealNames(t *testing.T) {
	for _, c := range []struct {
		kind   Kind
		system system.System
		names  string
	}{
		{OfInterface, "linux", "lo eth0 enp0s31f6 wlp2s0 eth0.100 br-1a2b3c4d5e6f veth_x 0a 123456789012345 $(id) -x übung"},
		{OfInterface, "freebsd", "em0 ix1 vlan10 lan-dmz epair0a igb0.100 vnet0:17 a;b"},
		{OfInterface, "openbsd", "em0 vio1 aggr0 pair12 lo0"},
		{OfDriver, "linux", "e1000e virtio_net 8139too N/A|802.1Q VLAN Support"},
		{OfModule, "linux", "nf_conntrack x86_pkg_temp_thermal"},
		{OfModule, "freebsd", "if_ix zfs.ko cc_cubic"},
		{OfDisk, "linux", "sda nvme0n1 dm-0 cciss!c0d0 mmcblk0"},
		{OfDisk, "freebsd", "ada0 nvd0 mirror/gm0"},
		{OfPool, "freebsd", "tank tank/home@daily gptid/1-2 mirror-0 /dev/disk/by-id/x"},
		{OfSetting, "linux", "net.ipv4.conf.eth0/100.rp_filter /sys/class/net/eth0/mtu ethtool:ring/rx"},
		{OfSetting, "freebsd", "dev.ix.0.%desc vm.uma.128_Bucket.domain..imax kstat.zfs.tank/data.dataset.objset-0x36.nread"},
		{OfMask, "linux", "f ff,ffffffff 00000000"},
		{OfProcessors, "linux", "0-3,8"},
		{OfDevice, "linux", "0000:3b:00.0 virtio2 1-1:1.0"},
		{OfAddress, "linux", "192.0.2.1:443 [2001:db8::1%eth0]:22 *:80 ::1 10.0.0.0/8"},
		{OfRelease, "linux", "6.1.0-18-amd64 13.2-RELEASE-p4 7.8 6.6.87.2-microsoft-standard-WSL2 5.10.0+"},
	} {
		for _, text := range strings.FieldsFunc(c.names, func(r rune) bool { return r == ' ' && c.kind != OfDriver || r == '|' }) {
			if err := c.kind.Check(c.system, text); err != nil {
				t.Errorf("%s %s %q: %v", c.system, c.kind, text, err)
			}
		}
	}
}

// TestNoNames are such as no host has.
func TestNoNames(t *testing.T) {
	all := []Kind{OfInterface, OfDriver, OfModule, OfDisk, OfPool, OfSetting, OfQdisc, OfCongestion, OfMask, OfProcessors, OfInterrupt, OfDevice, OfAddress, OfRelease, OfHost, OfHash}
	for _, k := range all {
		for _, text := range []string{"", "..", "../x", "a/../b", "a\nb", "a\x00b", "a\tb", " a", "\u00a0a", "\x7f", "/..", strings.Repeat("x", 5000)} {
			for _, on := range []system.System{system.Linux, system.FreeBSD, system.OpenBSD, ""} {
				if k.Check(on, text) == nil {
					t.Errorf("%s: %q is a name of kind %s", on, text, k)
				}
			}
		}
		if k != OfInterface {
			for _, text := range []string{"a;id", "$(id)", "`id`", "a'b", `a"b`, "a|b", "a&b", "a>b", "a\\b", "\u202ea", "-rf"} {
				if k.Check("linux", text) == nil {
					t.Errorf("%q is a name of kind %s", text, k)
				}
			}
		}
	}
	for on, texts := range map[system.System][]string{"linux": {"a b", "a:b", "a/b", ".", "1234567890123456", "a\xa0b"}, "freebsd": {"a b", "a/b", "ü0"}, "openbsd": {"em", "em0;id", "a-b0", "EM0"}} {
		for _, text := range texts {
			if OfInterface.Check(on, text) == nil {
				t.Errorf("%s has an interface %q", on, text)
			}
		}
	}
}

// TestParsedInterfaces are plain whatever they are made of, also from JSON.
func TestParsedInterfaces(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z0-9._/;$ -]{0,16}`)).Draw(r, "text")
		parsed, err := ParseInterface(rapid.SampledFrom([]system.System{system.Linux, system.FreeBSD, system.OpenBSD}).Draw(r, "system"), text)
		if err == nil && (string(parsed) != text || strings.Trim(text, alnum+"._-") != "" || text[0] == '-' || text[0] == '.' || strings.Contains(text, "..") || len(text) > interfaceBytes) {
			r.Fatalf("%q is written", text)
		}
		data, err := json.Marshal(text)
		if err != nil {
			r.Fatal(err)
		}
		var read Interface
		if err := json.Unmarshal(data, &read); (err == nil) != (Plain(text) == nil && OfInterface.Check("linux", text) == nil) {
			r.Fatalf("%q is read as %q: %v", text, read, err)
		}
	})
}

func TestValues(t *testing.T) {
	for _, good := range []string{"1", "-1", "4096 131072 6291456", "YES", "ff,ffffffff", "0-3,8", "fq_codel", "32768 60999", "1:2"} {
		if err := Value(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", " 1", "1 ", "1  2", "1\n2", "$(id)", "1;id", `"1"`, "'1'", "a\\", "{{a}}", "1 # x", "|id", "\u202e1", strings.Repeat("1", 2000)} {
		if Value(bad) == nil {
			t.Errorf("%q is written", bad)
		}
	}
}
