package diagnose

import (
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/facts"
)

// A link that goes down once while a log is written is worth a hint with how long it took, in boot messages without
// dates it is not; several times it is a warning.
func TestLinkOutages(t *testing.T) {
	const down, up = "kernel: igb1: link state changed to DOWN\n", "kernel: igb1: link state changed to UP\n"
	for text, want := range map[string]string{
		"Jul 20 21:12:13 fw " + down + "Jul 20 21:13:06 fw " + up:                                   "info: for 53 s",
		"2024-07-20T21:12:13 " + down + "2024-07-20T21:12:13 " + up:                                 "info: for less than a second",
		"Jul  9 21:12:13 fw " + down + "Jul  9 21:12:15 fw " + up + "Jul  9 22:00:00 fw " + up:      "info: for 2 s",
		"Jul 20 21:12:13 fw " + down:                                                                "",
		down + up:                                                                                   "",
		"Jul 20 21:12:13 fw " + up + "Jul 20 21:12:14 fw kernel: lagg0: link state changed to UP\n": "",
		"Jul 20 21:12:13 fw " + strings.ReplaceAll(down, "igb1", "igb1_vlan7") + "Jul 20 21:13:06 fw " +
			strings.ReplaceAll(up, "igb1", "igb1_vlan7"): "",
		"Jul 20 21:12:13 " + down + "Jul 20 21:12:15 " + up + "Jul 20 21:17:03 " + down + "Jul 20 21:17:05 " + up: "warning: going down 2 times",
		"Jul 20 21:12:13 " + down + "Jul 20 21:12:15 " + up + "Jul 23 21:17:03 " + down + "Jul 23 21:17:05 " + up: "",
		"Jul 20 21:11:59 syslogd: kernel boot file is /boot/kernel/kernel\nJul 20 21:12:13 " + down + "Jul 20 21:12:15 " + up +
			"Jul 20 21:12:23 " + down + "Jul 20 21:12:25 " + up: "",
		"Jul 20 21:12:13 " + up + "Jul 20 21:12:35 " + up + "Jul 20 21:14:03 " + up: "warning: coming up 3 times",
		strings.Repeat("Jul 20 21:12:13 fw "+down+"Jul 20 21:13:06 fw "+up, 3):      "warning: going down 3 times",
		"Jul 99 99:99:99 fw " + down + "Jul 20 21:13:06 fw " + up:                   "",
	} {
		f, err := facts.FromTexts("a", map[string]string{"uname -a": unameFreeBSD, "dmesg": text}, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		found, _ := Evaluate(Input{Facts: f})
		for _, finding := range found {
			got += string(finding.Severity) + ": " + finding.Summary
			if strings.Contains(finding.Fix[0].Action, "ethtool") {
				t.Errorf("%q: %+v", text, finding.Fix)
			}
		}
		severity, words, _ := strings.Cut(want, " ")
		if (want == "") != (got == "") || !strings.HasPrefix(got, severity) || !strings.Contains(got, words) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The limit of FreeBSD counts an mbuf with each cluster, that of OpenBSD is built in.
func TestRefusedBufferLimit(t *testing.T) {
	const said = "unbound[1:0] warning: so-rcvbuf 4194304 was not granted. Got 9216.\n"
	for uname, want := range map[string]string{unameFreeBSD: "4718592", unameLinux: "4194304", unameOpenBSD: ""} {
		f, err := facts.FromTexts("a", map[string]string{"uname -a": uname, "dmesg": said}, 0)
		if err != nil {
			t.Fatal(err)
		}
		found, _ := Evaluate(Input{Facts: f})
		if len(found) != 1 || found[0].Rule != "udp-buffer" || found[0].Fix[0].Value != want {
			t.Errorf("%s: %+v", uname, found)
		}
	}
}

// The fast reader of the form that most drivers use says what the expressions say.
func TestPlainChange(t *testing.T) {
	for _, line := range []string{
		"[ 12.5] igb 0000:02:00.1 enp2s0f1: igb: enp2s0f1 NIC Link is Down",
		"[ 12.500000] ixgbe 0000:03:00.0 enp3s0f0: NIC Link is Up 10 Gbps, Flow Control: RX/TX",
		"Mar  3 02:10:11 gw kernel: e1000e: eth0 NIC Link is Down",
		"e1000e 0000:00:19.0 eth0: NIC Link is Down", "e1000e: eth0: NIC Link is Up", "eth0.7: NIC Link is Down",
		"ETH0: NIC Link is Up", "eth0: NIC Link is Upside", "a eth1: NIC Link is Down eth2: Link is Up", "9eth: NIC Link is Down",
	} {
		down := firstGroup(linkDown, line)
		up := ""
		if down == "" {
			up = firstGroup(linkRose, line)
		}
		if gotDown, gotUp := linkChange(line); gotDown != down || gotUp != up {
			t.Errorf("%q: %q, %q, want %q, %q", line, gotDown, gotUp, down, up)
		}
	}
}
