package lint

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/catalog"
)

// TestUnitFiles checks what is said of systemd's .link and .network files.
func TestUnitFiles(t *testing.T) {
	c := load(t)
	for _, tt := range []struct{ path, section, line, want string }{
		{"a.link", "Link", "RxBufferSize=4096", ""},
		{"a.link", "Link", "RxBufferSize=max", ""},
		{"a.link", "Link", "RxBufferSize=", ""},
		{"a.link", "Link", "RxBufferSize=0", "3:14 bad-value error"},
		{"a.link", "Link", "TxBufferSize=4294967296", "3:14 bad-value error"},
		{"a.link", "Link", "CombinedChannels=all", "3:18 bad-value error"},
		{"a.link", "Link", "TransmitQueues=4097", "3:16 bad-value error"},
		{"a.link", "Link", "TransmitQueueLength=4294967295", "3:21 bad-value error"},
		{"a.link", "Link", "AutoNegotiation=True", ""},
		{"a.link", "Link", "AutoNegotiation=maybe", "3:17 bad-value error"},
		{"a.link", "Link", "RxBuferSize=4096", "3:1 unknown-key warning"},
		{"a.link", "Link", "rxbuffersize=4096", "3:1 unknown-key warning"},
		{"a.link", "Link", "RxCoalesceUSec=10", "3:1 unknown-key warning"},
		{"a.link", "Link", "SomethingOfTomorrow=10", "3:1 unknown-key warning"},
		{"a.link", "Link", "GenericReceiveOffloadHardware=yes", ""},
		{"a.link", "Link", "RequiredForOnline=no", "3:1 wrong-file warning"},
		{"a.link", "Link", "UDPSegmentationOffload=yes", "3:1 no-effect warning"},
		{"a.link", "Link", "GenericReceiveOffload=no", "3:23 harmful warning"},
		{"a.link", "link", "RxBufferSize=4096", "3:1 unknown-key warning"},
		{"a.link", "SR-IOV", "VirtualFunction=0", ""},
		{"a.link", "Network", "DHCP=yes", "3:1 wrong-file warning"},
		{"a.link", "X-Own", "Note=yes", ""},
		{"a.link", "Match", "Name=eth0", "3:1 wrong-file warning"},
		{"a.link", "Match", "Drvier=ixgbe", "3:1 unknown-key warning"},
		{"a.network", "Link", "RxBufferSize=4096", "3:1 wrong-file warning"},
		{"a.network", "Link", "MTUBytes=9000", ""},
		{"a.network", "Link", "MTU=9000", "3:1 unknown-key warning"},
		{"a.network", "Link", "SomethingOfTomorrow=1", "3:1 unknown-key warning"},
		{"a.network", "Network", "Address=10.0.0.5/24\nGateway=10.0.1.1", "4:9 conflict warning"},
		{"a.network", "Network", "Address=10.0.0.5/24\nGateway=10.0.0.1", ""},
		{"a.network", "Network", "Address=10.0.0.5/24\n[Route]\nGateway=10.0.1.1\nGatewayOnLink=yes", ""},
		{"a.network", "Network", "DHCP=ipv4\nAddress=10.0.0.5/24\nGateway=10.0.1.1", ""},
		{"a.network", "Network", "Adress=10.0.0.1/8", "3:1 unknown-key warning"},
		{"a.network", "Network", "MTUBytes=9000", "3:1 wrong-file warning"},
		{"a.network", "Network", "SomethingOfTomorrow=1", "3:1 unknown-key info"},
		{"a.network", "Netwrok", "DHCP=yes", "3:1 unknown-key warning"},
		{"a.network", "X-Own", "Note=yes", ""},
		{"a.network", "DHCPv4", "UseMTU=yes", ""},
		{"a.netdev", "Bond", "LacpTransmitRate=fast", "3:1 unknown-key warning"},
		{"a.netdev", "Bond", "Primary=eth0", "3:1 unknown-key warning"},
		{"a.netdev", "Bond", "ARPMissedMax=3", ""},
		{"a.netdev", "VLAN", "Id=7", ""},
		{"a.network", "Match", "OriginalName=eth0", "3:1 wrong-file warning"},
	} {
		text := "# a test\n[" + tt.section + "]\n" + tt.line + "\n"
		res := Run(c, files(tt.path, text), Options{System: catalog.Linux, Version: "6.12"})
		got := strings.ReplaceAll(strings.TrimSuffix(list(res), "\n"), tt.path+":", "")
		if got != tt.want {
			t.Errorf("%s [%s] %s: %q, want %q", tt.path, tt.section, tt.line, got, tt.want)
		}
	}
	if got := list(Run(c, files("a.link", "[Link]\nGenericReceiveOffload=no\n"), Options{System: catalog.Linux})); !strings.Contains(got, "harmful") {
		t.Errorf("receive offload off: %s", got)
	}
}

// TestUnitNames corrects misspelt options.
func TestUnitNames(t *testing.T) {
	in := files("/etc/systemd/network/b.netdev", "[NetDev]\nName=b\nKind=bond\n[Bond]\nMiiMonitorSec=1s\n",
		"/etc/systemd/network/e.network", "[Match]\nName=eth0\n[Network]\nBridge=b\n",
		"/etc/network/interfaces", "iface bond0 inet manual\n bond-mode 1\n ad_select bandwidth\n")
	fixed, _, err := ApplyFixes(in, Run(load(t), in, Options{System: catalog.Linux}))
	if err != nil || len(fixed) != 3 {
		t.Fatalf("%d files, %v", len(fixed), err)
	}
	for i, want := range []string{"\nMIIMonitorSec=1s\n", "\nBond=b\n", "\n bond-ad-select bandwidth\n"} {
		if got := string(fixed[i].New); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q at its end", got, want)
		}
	}
}
