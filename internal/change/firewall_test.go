package change

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

func packed(rules string) string { return base64.StdEncoding.EncodeToString([]byte(rules)) }

// TestPacketFilterOfBSD switches pf and its rules and takes both back.
func TestPacketFilterOfBSD(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl, which the BSDs have, is not installed here")
	}
	for _, system := range []catalog.System{catalog.FreeBSD, catalog.OpenBSD} {
		m := freebsd(t, nil)
		m.system = system
		m.put("fake/pf/status", "Enabled\n")
		m.put("fake/pf/rules", "block drop all\npass out all\n")
		m.put("etc/pf.conf", "set skip on lo\nblock drop all\npass out all\n")
		c, err := m.begin(t, FirewallPF, FirewallPFRules)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{FirewallPF: "off", FirewallPFRules: packed("pass all\n")}
		out, err := c.Set(t.Context(), []string{FirewallPFRules, FirewallPF}, want)
		if err != nil || len(out) != 2 || out[0].Refused+out[1].Refused != "" || out[0].Got != want[FirewallPFRules] || out[1].Got != "off" {
			t.Fatalf("%s: %+v, %v", system, out, err)
		}
		if got := m.read(t, "fake/pf/rules") + m.read(t, "fake/pf/status"); got != "pass all\nDisabled\n" {
			t.Errorf("%s: %q", system, got)
		}
		bad, err := c.Set(t.Context(), []string{FirewallPFRules}, map[string]string{FirewallPFRules: packed("blok all\n")})
		if err != nil || len(bad) != 1 || !strings.Contains(bad[0].Refused, "syntax error") {
			t.Errorf("%s: rules that do not parse: %+v, %v", system, bad, err)
		}
		if _, err := c.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
		if got := m.read(t, "fake/pf/rules") + m.read(t, "fake/pf/status"); got != "block drop all\npass out all\nEnabled\n" {
			t.Errorf("%s: not restored: %q", system, got)
		}
		// What cannot be put back is not replaced.
		m.put("fake/pf/rules", "pass in all\n")
		if _, err := m.begin(t, FirewallPFRules); err == nil || !strings.Contains(err.Error(), "could not be put back") {
			t.Errorf("%s: rules from elsewhere: %v", system, err)
		}
	}
}

func (m *machine) read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(m.root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestPacketFilterOfLinux replaces the rules of nftables and takes them back,
// by a script that imitates nft.
func TestPacketFilterOfLinux(t *testing.T) {
	m := freebsd(t, nil)
	m.system = catalog.Linux
	const rules = "table inet own {\n\tchain in {\n\t\ttype filter hook input priority filter; policy accept;\n\t}\n}\n"
	for _, before := range []string{"", rules} {
		m.put("fake/nft", before)
		c, err := m.begin(t, FirewallNFT)
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []string{packed("table ip a {\n  chain b { }\n}\n"), NoRules} {
			out, err := c.Set(t.Context(), []string{FirewallNFT}, map[string]string{FirewallNFT: value})
			if err != nil || len(out) != 1 || out[0].Refused != "" {
				t.Fatalf("%+v, %v", out, err)
			}
		}
		if got := m.read(t, "fake/nft"); got != "" {
			t.Errorf("rules are left: %q", got)
		}
		out, err := c.Set(t.Context(), []string{FirewallNFT}, map[string]string{FirewallNFT: packed("tabel x {}")})
		if err != nil || len(out) != 1 || !strings.Contains(out[0].Refused, "syntax error") {
			t.Errorf("%+v, %v", out, err)
		}
		if _, err := c.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
		if got := m.read(t, "fake/nft"); strings.TrimSpace(got) != strings.TrimSpace(before) {
			t.Errorf("not restored: %q, before %q", got, before)
		}
	}
	m.put("fake/nft", "table ip filter {\n\txt match \"comment\"\n}\n")
	if _, err := m.begin(t, FirewallNFT); err == nil || !strings.Contains(err.Error(), "cannot load the present rules back") {
		t.Errorf("rules of iptables-nft: %v", err)
	}
}

// TestRealPacketFilter does the same with the kernel's own, in a network
// namespace.
func TestRealPacketFilter(t *testing.T) {
	if _, err := exec.LookPath("nft"); err != nil {
		t.Skip("nft is not installed")
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", "-rn", "nft", "add", "table", "inet", "x").CombinedOutput(); err != nil {
		t.Skipf("nftables cannot be used in a namespace here: %s", out)
	}
	k := nftKnob()
	script := "get() { " + k.get + "; }\nput() { " + k.put + "; }\nput " + packed("table inet own {\n chain in { type filter hook input priority 0; policy accept; tcp dport 22 accept; }\n}\n") +
		" && get && put \"$v\" && w=$v && get && [ \"$v\" = \"$w\" ] && put none && get && echo \"$v\"\n"
	out, err := exec.CommandContext(t.Context(), "unshare", "-rn", "sh", "-c", script).CombinedOutput()
	if err != nil || string(out) != NoRules+"\n" {
		t.Errorf("%v: %s", err, out)
	}

	// What packets add to a dynamic set does not change the rules; sets of others stay whole.
	sets := packed("table inet own {\n set fixed { type ipv4_addr; elements = { 10.0.0.1, 10.0.0.2 }; }\n" +
		" set seen { type ipv4_addr; size 100; flags dynamic,timeout; timeout 1m; }\n set last { type ipv4_addr; elements = { 10.0.0.3 }; }\n}\n")
	script = "get() { " + k.get + "; }\nput() { " + k.put + "; }\nput " + sets + " && get && w=$v && " +
		"nft add element inet own seen '{ 10.0.0.9 }' && get && [ \"$v\" = \"$w\" ] && " +
		"nft add element inet own seen '{ 10.0.1.1, 10.0.1.2, 10.0.1.3, 10.0.1.4, 10.0.1.5 }' && get && [ \"$v\" = \"$w\" ] && " +
		"nft add element inet own fixed '{ 10.0.0.8 }' && get && [ \"$v\" != \"$w\" ] && printf %s \"$w\" | base64 -d"
	out, err = exec.CommandContext(t.Context(), "unshare", "-rn", "sh", "-c", script).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "10.0.0.2") || !strings.Contains(string(out), "10.0.0.3") || strings.Contains(string(out), "10.0.1.") {
		t.Errorf("%v: %s", err, out)
	}
}
