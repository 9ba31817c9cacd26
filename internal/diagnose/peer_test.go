package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
)

// endOf is a host with a card of the default route and one for storage.
func endOf(t *testing.T, name, address, storage string, mtu, storageMTU int, more ...string) *facts.Facts {
	t.Helper()
	links := ipLink("eno1", mtu, 1000, 0, 0, 0) + strings.Replace(ipLink("ens2", storageMTU, 1000, 0, 0, 0), "2: ", "3: ", 1)
	texts := map[string]string{"uname -a": unameLinux, "ip -s -d link show": links,
		"ip -o address show": fmt.Sprintf("2: eno1    inet %s scope global eno1\\       valid_lft forever preferred_lft forever\n"+
			"3: ens2    inet %s scope global ens2\\       valid_lft forever preferred_lft forever\n", address, storage),
		"ip route show table main": "default via 192.0.2.1 dev eno1 proto static\n"}
	for i := 0; i+1 < len(more); i += 2 {
		texts[more[i]] = more[i+1]
	}
	f, err := facts.FromTexts(name, texts, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEndsOfOneNetworkAreCompared(t *testing.T) {
	for _, c := range []struct {
		name                  string
		storage               string
		mtu, storageMTU       int
		peerMTU, peerStorage  int
		wanted, severity, cmd string
	}{
		{"storage differs", "10.9.0.2/24", 1500, 9000, 1500, 1500, "ens2", "warning", "ip link set dev ens2 mtu 9000"},
		{"all agree", "10.9.0.2/24", 1500, 9000, 1500, 9000, "", "", ""},
		{"networks of one end each", "10.8.0.2/24", 9000, 1500, 9000, 1400, "", "", ""},
	} {
		a := endOf(t, "a", "192.0.2.10/24", "10.9.0.1/24", c.mtu, c.storageMTU)
		b := endOf(t, "b", "192.0.2.20/24", c.storage, c.peerMTU, c.peerStorage)
		all, _ := Evaluate(Input{Facts: a, Peer: b})
		at := slices.IndexFunc(all, func(f Finding) bool { return f.Rule == "ends-differ" && f.Subject == "mtu" })
		if c.wanted == "" {
			if at >= 0 {
				t.Errorf("%s: invented %q", c.name, all[at].Summary)
			}
			continue
		}
		if at < 0 {
			t.Errorf("%s: missed", c.name)
			continue
		}
		if f := all[at]; !strings.HasPrefix(f.Summary, c.wanted) || string(f.Severity) != c.severity || !strings.Contains(f.Fix[0].Action, c.cmd) {
			t.Errorf("%s: %s %q, %q", c.name, f.Severity, f.Summary, f.Fix[0].Action)
		}
	}
}

// TestNetworksApart holds that MTUs of hosts in different networks are a hint alone.
func TestNetworksApart(t *testing.T) {
	a := endOf(t, "a", "192.0.2.10/24", "10.9.0.1/24", 1500, 1500)
	b := endOf(t, "b", "198.51.100.20/24", "10.8.0.1/24", 9000, 1500)
	all, _ := Evaluate(Input{Facts: a, Peer: b})
	for _, f := range all {
		if f.Rule == "ends-differ" && f.Severity != Info {
			t.Errorf("%s: %s", f.Severity, f.Summary)
		}
	}
}

// TestNetworksOfIfconfig holds that the netmasks of ifconfig tell the networks, and that ends whose networks were not read are not
// said to be in different ones.
func TestNetworksOfIfconfig(t *testing.T) {
	end := func(name, address string, mtu int) *facts.Facts {
		f, err := facts.FromTexts(name, map[string]string{"uname -a": unameFreeBSD,
			"ifconfig -a": fmt.Sprintf("ix0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu %d\n"+
				"\tinet %s\n\tstatus: active\n", mtu, address),
			"netstat -rnW": "Internet:\nDestination        Gateway            Flags   Nhop#    Mtu    Netif Expire\n" +
				"default            192.0.2.1          UGS         4   1500      ix0\n"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, c := range []struct{ a, b, said string }{
		{"192.0.2.10 netmask 0xffffff00 broadcast 192.0.2.255", "192.0.2.20 netmask 0xffffff00", "Within one network"},
		{"192.0.2.10 netmask 0xffffff00 broadcast 192.0.2.255", "198.51.100.20 netmask 0xffffff80", "They are in different networks"},
		{"192.0.2.10", "192.0.2.20", "On one link"},
	} {
		all, _ := Evaluate(Input{Facts: end("a", c.a, 1500), Peer: end("b", c.b, 9000)})
		at := slices.IndexFunc(all, func(f Finding) bool { return f.Rule == "ends-differ" && f.Subject == "mtu" })
		if at < 0 || !strings.HasPrefix(all[at].Because, c.said) {
			t.Errorf("%s, %s: %+v", c.a, c.b, all)
		}
	}
}

// TestProblemsOfThePeer holds that what is wrong with the other end alone is said, with that end's name and lines.
func TestProblemsOfThePeer(t *testing.T) {
	settings := func(sack int) string { return fmt.Sprintf("net.ipv4.tcp_sack = %d\n", sack) }
	a := endOf(t, "a", "192.0.2.10/24", "10.9.0.1/24", 1500, 1500, "sysctl -a", settings(1))
	b := endOf(t, "b", "192.0.2.20/24", "10.9.0.2/24", 1500, 1500, "sysctl -a", settings(0), "ethtool -S eno1",
		"NIC statistics:\n     rx_missed_errors: 50000\n")
	d := Question{Facts: a, Peer: b}.Answer()
	drops := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Rule == "ring-drops" })
	if drops < 0 || d.Findings[drops].Host != "b" || !strings.HasSuffix(d.Findings[drops].Evidence[0].From, " of b") ||
		!strings.HasPrefix(d.Findings[drops].Said(), "at b: eno1: ") {
		t.Errorf("the peer's drops are not told: %+v", d.Findings)
	}
	differ := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Rule == "ends-differ" })
	if differ < 0 || d.Findings[differ].Evidence[0].From != "sysctl -a" || d.Findings[differ].Evidence[1].From != "sysctl -a of b" ||
		d.Findings[differ].Fix[0].Action != "on b: sysctl -w net.ipv4.tcp_sack=1" {
		t.Errorf("the ends' lines are mixed up: %+v", d.Findings)
	}
	var text strings.Builder
	if err := d.Text(&text, false); err != nil || !strings.Contains(text.String(), "at:  b (the other end)") {
		t.Errorf("%v\n%s", err, text.String())
	}
	if alone := (Question{Facts: a}).Answer(); len(alone.Findings) > 0 {
		t.Errorf("without the peer: %+v", alone.Findings)
	}
}

// TestHostsBesideAreCompared holds that hosts read together are compared in the networks that they share, under their own names.
func TestHostsBesideAreCompared(t *testing.T) {
	for _, c := range []struct {
		name, other string
		mtu         int
		want        string
	}{
		{"storage differs", "10.9.0.2/24", 1500, "ens2 of host-a has an MTU of 9000, ens2 of host-b has 1500, both in 10.9.0.0/24"},
		{"all agree", "10.9.0.2/24", 9000, ""},
		{"another network", "10.8.0.2/24", 1500, ""},
		{"a network of each one's own", "10.9.0.1/24", 1500, ""},
	} {
		a := endOf(t, "post.txt", "192.0.2.10/24", "10.9.0.1/24", 1500, 9000)
		b := endOf(t, "post.txt", "192.0.2.20/24", c.other, 1500, c.mtu)
		a.Node, b.Node = "host-a", "host-b"
		all, _ := Evaluate(Input{Facts: a, Beside: []*facts.Facts{b}})
		said := ""
		for _, f := range all {
			if f.Rule == "ends-differ" {
				said += f.Summary
			}
		}
		if said != c.want {
			t.Errorf("%s: %q, want %q", c.name, said, c.want)
		}
	}
	for name, own := range map[string]facts.NIC{
		"wg0": {Name: "wg0"}, "a container's": {Name: "eth0", Source: facts.Source{Text: "7: eth0@if8: <UP> mtu 1400"}},
		"docker0": {Name: "docker0"}, "ppp": {Name: "tun0", Source: facts.Source{Text: "3: tun0: <POINTOPOINT,UP> mtu 1400"}}} {
		if !ownNetwork(&own) {
			t.Errorf("%s is compared with what other hosts have", name)
		}
	}
}
