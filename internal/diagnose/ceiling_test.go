package diagnose

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/units"
)

func linuxFacts(release string, settings map[string]string) *facts.Facts {
	f := &facts.Facts{Host: "h", System: "linux", Release: release, Settings: map[string]facts.Setting{}}
	for name, value := range settings {
		f.Settings[name] = facts.Setting{Value: value, State: facts.Read}
	}
	return f
}

// The kernel's defaults carried 0.6 Gbit/s over 50 ms, and 16 MiB buffers 1.8:
// a ceiling is never below what was measured, and not far above it.
func TestWindowCeilingsAgainstMeasurements(t *testing.T) {
	path := netpath.Path{Rate: 20 * units.Gbit, RTT: 50 * time.Millisecond, MTU: 1500}
	for _, tt := range []struct {
		name, rmem, wmem string
		measured, atMost float64
		resource         string
	}{
		{"defaults", "4096 131072 33554432", "4096 16384 4194304", 0.6e9, 0.7e9, "send-window"},
		{"16 MiB", "4096 131072 16777216", "4096 16384 16777216", 1.8e9, 1.95e9, "receive-window"},
	} {
		f := linuxFacts("6.18.44", map[string]string{"net.ipv4.tcp_rmem": tt.rmem, "net.ipv4.tcp_wmem": tt.wmem})
		got, ok := Binding(Ceilings(path, f, f))
		if !ok || got.Value < tt.measured || got.Value > tt.atMost || got.Resource != tt.resource {
			t.Errorf("%s: %s %.3g known %v, want %s between %.3g and %.3g", tt.name, got.Resource, got.Value, ok,
				tt.resource, tt.measured, tt.atMost)
		}
	}
}

func TestReceiveWindowBeforeMeasuredShare(t *testing.T) {
	path := netpath.Path{Rate: units.Gbit, RTT: 100 * time.Millisecond, MTU: 1500}
	for scale, want := range map[string]float64{"1": 0.5, "2": 0.75, "-2": 0.25, "0": 1} {
		f := linuxFacts("5.10.0-8-amd64", map[string]string{"net.ipv4.tcp_rmem": "4096 131072 6291456",
			"net.ipv4.tcp_adv_win_scale": scale})
		if got := receiveWindow(path, f); !got.Known || got.Value != 6291456*want*8/0.1 {
			t.Errorf("scale %s: %v", scale, got)
		}
	}
}

func TestUnknownCeilingSaysWhy(t *testing.T) {
	b, err := json.Marshal(sendWindow(netpath.Path{}, linuxFacts("6.1", nil)))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if v, has := got["goodput_bps"]; !has || v != nil || got["because"] != "unknown, because the round-trip time is "+
		"not known; give it with --path rtt=" {
		t.Errorf("%s", b)
	}
}

// FreeBSD's stack at 20 ms of round trip, one setting changed at a time; each
// measurement was a short run, so that a ceiling is a little above it.
func TestFreeBSDWindowCeilings(t *testing.T) {
	path := netpath.Path{Rate: 10 * units.Gbit, RTT: 20 * time.Millisecond, MTU: 1500}
	defaults := map[string]string{"kern.ipc.maxsockbuf": "2097152", "net.inet.tcp.sendbuf_max": "2097152",
		"net.inet.tcp.recvbuf_max":  "2097152",
		"net.inet.tcp.sendbuf_auto": "1", "net.inet.tcp.recvbuf_auto": "1", "net.inet.tcp.sendspace": "32768",
		"net.inet.tcp.recvspace": "65536", "net.inet.tcp.rfc1323": "1"}
	for _, tt := range []struct {
		setting, value string
		send           bool
		measured       float64
	}{
		{"net.inet.tcp.sendbuf_max", "65536", true, 24.6e6},
		{"net.inet.tcp.sendbuf_max", "262144", true, 96.4e6},
		{"net.inet.tcp.sendbuf_max", "1048576", true, 362e6},
		{"net.inet.tcp.sendbuf_auto", "0", true, 12.8e6},
		{"kern.ipc.maxsockbuf", "262144", true, 83.5e6},
		{"net.inet.tcp.rfc1323", "0", true, 24.1e6},
		{"net.inet.tcp.recvbuf_max", "65536", false, 26.2e6},
		{"net.inet.tcp.recvbuf_max", "262144", false, 101.2e6},
		{"net.inet.tcp.recvbuf_auto", "0", false, 26.1e6},
		{"kern.ipc.maxsockbuf", "2097152", false, 564e6},
	} {
		f := &facts.Facts{Host: "h", System: "freebsd", Release: "13.0-STABLE", Settings: map[string]facts.Setting{}}
		for name, value := range defaults {
			f.Settings[name] = facts.Setting{Value: value, State: facts.Read}
		}
		f.Settings[tt.setting] = facts.Setting{Value: tt.value, State: facts.Read}
		got := receiveWindow(path, f)
		if tt.send {
			got = sendWindow(path, f)
		}
		if !got.Known || got.Value < 0.99*tt.measured || got.Value > 1.2*tt.measured {
			t.Errorf("%s=%s: ceiling %.4g known %v, measured %.4g (%s)", tt.setting, tt.value, got.Value, got.Known,
				tt.measured, got.Because)
		}
	}
}

// The live receive buffer of FreeBSD 13 stopped at 1683810 bytes: the next step was
// refused. Before 13.0 and without automatic sizing there are no such steps.
func TestLastStep(t *testing.T) {
	f := &facts.Facts{System: "freebsd", Release: "13.0-STABLE", Settings: map[string]facts.Setting{
		"net.inet.tcp.recvspace": {Value: "65536", State: facts.Read}}}
	most := units.Bytes(2097152 * 2048 / 2304)
	if got, ok := lastStep(f, "net.inet.tcp.recvbuf_auto", most); !ok || got < 1683810*99/100 || got > 1683810 {
		t.Errorf("it grows to %d", got)
	}
	if _, ok := lastStep(f, "net.inet.tcp.sendbuf_auto", most); ok {
		t.Error("a send buffer grows by half, too")
	}
	f.Release = "12.4-RELEASE"
	if _, ok := lastStep(f, "net.inet.tcp.recvbuf_auto", most); ok {
		t.Error("12.4 grows by half")
	}
}
