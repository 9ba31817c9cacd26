package diagnose

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/shell"
	"github.com/wirerate/wirerate/internal/units"
)

// The bounds of a wireless link that is worth a word: a rate, a signal in dBm, shares of retries and of frames given
// up.
const (
	slowAir     = 12 * units.Mbit
	weakSignal  = -75
	manyRetries = 0.5
	manyFailed  = 0.01
	enoughAir   = 1000 // frames
)

// wirelessSlow finds wireless links at low rates, with a weak signal, or with many retries.
func wirelessSlow() Rule {
	return Rule{
		ID: "wireless-slow", Title: "A wireless link runs far below its capability", Severity: Warning,
		Needs: []string{"linux:wireless|messages", "freebsd:ifconfig|wireless", "openbsd:ifconfig"},
		Because: "A frame sent at a low rate or retransmitted takes as much airtime as many fast ones, and all " +
			"stations share the channel.",
		Confirm: "iw dev NAME link (BSD: ifconfig) shows the same during a transfer; on an idle link it shows the " +
			"rate of the last small frame.",
		Check: func(in Input) (out []Finding) {
			for i := range in.Facts.Stations {
				out = append(out, slowStation(in.Facts, &in.Facts.Stations[i])...)
				if len(out) >= 3 {
					break
				}
			}
			out = append(append(out, slowRadios(in.Facts)...), busyAir(in.Facts)...)
			if lines, n := matching(in.Facts, lostBeacons); n >= 3 && len(out) == 0 {
				return do("disable power saving (iw dev NAME set power_save off); check the signal (iw dev NAME link)",
					one("wireless", lines, "beacons of the access point were lost (%s)", counted(n, "message")))
			}
			if found := oldRates(in.Facts); found != nil && len(out) == 0 {
				return found
			}
			if found := lostFrames(in.Facts); found != nil && len(out) == 0 {
				return found
			}
			if lines, n := matching(in.Facts, notHandedOver); n > 0 && len(out) == 0 {
				return do("update the driver and the card's firmware; until then, wifi down && wifi up, or a "+
					"reboot, clears the queue",
					one(notHandedOver.FindStringSubmatch(lines[0].Text)[1], lines, "its driver could not pass "+
						"frames to the card (%s)",
						counted(n, "message")))
			}
			if found := unreported(in.Facts); found != nil && len(out) == 0 {
				return found
			}
			if lines, n := matching(in.Facts, missingACKs); n > 0 && len(out) == 0 {
				found := do("check the station's signal (iw dev NAME station dump) and the channel; if stations "+
					"merely leave the range, nothing needs fixing",
					one("wireless", lines, "the access point disconnected stations that did not acknowledge its "+
						"frames (%s)", counted(n, "message")))
				if n < 3 {
					return with(Info, found)
				}
				return found
			}
			return out
		},
		Fires: linuxExample("iw", "Connected to 02:00:00:00:00:01 (on wlan0)\n\tsignal: -48 dBm\n"+
			"\trx bitrate: 6.5 MBit/s MCS 0\n\ttx bitrate: 433.3 MBit/s VHT-MCS 9\n"),
		Quiet: linuxExample("iw", "Connected to 02:00:00:00:00:01 (on wlan0)\n\tsignal: -48 dBm\n"+
			"\trx bitrate: 6.0 MBit/s\n\ttx bitrate: 433.3 MBit/s VHT-MCS 9\n\ttx packets:\t4000\n\ttx retries:\t300\n"),
	}
}

// lostBeacons is what iwlwifi and wpa_supplicant say of an access point that is not heard.
var lostBeacons = regexp.MustCompile(`missed beacons exceeds threshold|CTRL-EVENT-BEACON-LOSS`)

// notHandedOver is what ath10k, ath11k and ath12k say when the card has no room for a frame (mac.c of each): -28 is
// ENOSPC, -16 EBUSY.
var notHandedOver = regexp.MustCompile(`\b(ath1[012]k\w* \S+): failed to (?:(?:transmit|push|submit) frame:?|` +
	`transmit packet, dropping:|increase tx pending count:) -(?:28|16|12|11)\b`)

// withoutHT is what mac80211 says of an access point with which it uses the rates of 802.11a and g alone (mlme.c).
var withoutHT = regexp.MustCompile(`(\w+): disabling (?:HT|VHT|HT/VHT|HE)\b.* (due to WEP/TKIP use|as WMM/QoS is not supported by the AP)`)

// oldRates finds links without the rates of 802.11n and later, by what the kernel says of the reason.
func oldRates(f *facts.Facts) []Finding {
	lines, n := matching(f, withoutHT)
	if n == 0 {
		return nil
	}
	m := withoutHT.FindStringSubmatch(lines[0].Text)
	found := one(m[1], lines, "it is limited to 802.11a/g rates, at most 54 Mbit/s, %s", m[2])
	found[0].Because = "802.11n and later require WMM, and CCMP (AES) or GCMP only."
	found[0].Confirm = "iw dev NAME link shows no MCS in its bit rates."
	return do("set the access point to WPA2 or WPA3 with CCMP (AES) only, without TKIP or WEP, and enable WMM", found)
}

// What rt2x00 (rt2x00queue.c, rt2800lib.c, rt2800mmio.c) and ath9k (mac.c) say of frames: those that were lost, and those whose end it missed.
var (
	framesLost = regexp.MustCompile(`\b(phy\d+): rt2\w+: (?:Error|Warning) - (?:Dropping frame due to full tx queue|TX status timeout for entry)|` +
		`\bath: (phy\d+): (?:DMA failed to stop in \d+ ms|Failed to stop TX DMA)`)
	framesUnknown = regexp.MustCompile(`\b(phy\d+): rt2\w+: Warning - (?:Got TX status for an empty queue|\d+ spurious TX_FIFO_STATUS)`)
)

// lostFrames finds a driver that loses frames, or what became of them.
func lostFrames(f *facts.Facts) []Finding {
	const action = "update the kernel, which contains the driver; until then, wifi down && wifi up, or a reboot, " +
		"restarts its queues"
	if lines, n := matching(f, framesLost); n > 0 {
		found := with(repeated(n, 3), one(firstGroup(framesLost, lines[0].Text), lines,
			"its driver dropped frames, or the card did not respond (%s)", counted(n, "message")))
		found[0].Because = "Frames in the card's queues are lost, and nothing is sent or received while the " +
			"driver restarts it."
		return do(action, found)
	}
	lines, n := matching(f, framesUnknown)
	if n == 0 {
		return nil
	}
	found := with(Info, one(framesUnknown.FindStringSubmatch(lines[0].Text)[1], lines,
		"its driver got late status reports for unknown frames (%s)", counted(n, "message")))
	found[0].Because = "The card reports the status of a frame after the driver's timeout: the driver may choose " +
		"too low a rate. Occasional reports are harmless."
	return do(action, found)
}

// noReports is what rtw88 says of frames whose result it waited for in vain (tx.c).
var noReports = regexp.MustCompile(`\b(rtw_\w+ \S+): failed to get tx report from firmware`)

// unreported finds firmware that does not tell what became of frames.
func unreported(f *facts.Facts) []Finding {
	lines, n := matching(f, noReports)
	if n == 0 {
		return nil
	}
	const often = 3
	found := decisive(with(repeated(n, often), one(noReports.FindStringSubmatch(lines[0].Text)[1], lines,
		"its firmware did not report the transmit status of frames (%s)", counted(n, "message"))))
	found[0].Because = "The driver waits half a second for the status of a frame: the firmware hangs, or the " +
		"frame was lost on the air."
	found[0].Confirm = "The messages coincide with slow or broken connections."
	return do("update the kernel, which contains the driver, and linux-firmware; test with power saving disabled "+
		"(iw dev NAME set power_save off)", found)
}

// missingACKs is what hostapd says of a station that it gave up.
var missingACKs = regexp.MustCompile(`disconnected due to excessive missing ACKs`)

// slowStation says what is wrong with one link.
func slowStation(f *facts.Facts, s *facts.Station) []Finding {
	evidence := []facts.Source{s.Shown["signal_dbm"]}
	at := ""
	if s.Signal < 0 {
		at = fmt.Sprintf(" at a signal of %g dBm", s.Signal)
	}
	weak := s.Signal < weakSignal
	var found []Finding
	switch {
	case s.Receive > 0 && s.Receive <= slowAir && (s.Coded || weak):
		found = one(s.Interface, append(evidence, s.Shown["receive_bps"]), "the receive rate is %s%s", s.Receive, at)
	case s.Send > 0 && s.Send <= slowAir && (s.Sent >= enoughAir || s.Sent == 0):
		found = one(s.Interface, append(evidence, s.Shown["send_bps"]), "the transmit rate is %s%s", s.Send, at)
	case s.Sent >= enoughAir && float64(s.Failed) >= manyFailed*float64(s.Sent):
		found = one(s.Interface, append(evidence, s.Shown["tx failed"], s.Shown["tx packets"]),
			"%s%% of %d frames failed after all retries%s", units.Digits(100*float64(s.Failed)/float64(s.Sent), 2), s.Sent, at)
	case s.Sent >= enoughAir && float64(s.Retries) >= manyRetries*float64(s.Sent):
		found = one(s.Interface, append(evidence, s.Shown["tx retries"], s.Shown["tx packets"]),
			"%d frames needed %d retries%s", s.Sent, s.Retries, at)
	case weak:
		found = one(s.Interface, evidence, "the signal is %g dBm", s.Signal)
	case heldAtG(s):
		found = with(Info, one(s.Interface, append(evidence, s.Shown["send_bps"], s.Shown["receive_bps"]),
			"both directions are at %s, the maximum of 802.11a/g%s", s.Send, at))
		return do("check that the station supports 802.11n; then enable it on the access point (OpenWrt: option htmode "+
			"'HT20'), with CCMP (AES) instead of TKIP or WEP, and WMM (option wmm '1')", found)
	case s.Receive > 0 && s.Receive <= units.Mbit && s.Received >= enoughAir:
		found = with(Info, one(s.Interface, append(evidence, s.Shown["receive_bps"]), "the last frame was "+
			"received at %s%s",
			s.Receive, at))
	default:
		return nil
	}
	if weak {
		return do("move the two ends closer together, realign the antennas, or use the 2.4 GHz band", found)
	}
	if f.WirelessPowerSave.Value == "on" {
		found[0].Summary += "; power saving is on"
		found[0].Evidence = append(found[0].Evidence, f.WirelessPowerSave.Source)
	}
	if s.Client && f.WirelessPowerSave.Value != "off" {
		found = do("disable power saving: "+shell.Join("iw", "dev", s.Interface, "set", "power_save", "off"), found)
	}
	return do("try another channel (iw dev NAME survey dump shows which are busy), and a newer driver and "+
		"firmware", found)
}

// heldAtG reports whether a good link with traffic has the highest rate of 802.11a and g, in both directions.
func heldAtG(s *facts.Station) bool {
	const highest, strong = 54 * units.Mbit, -60
	return s.Send == highest && s.Receive == highest && !s.Coded && s.Signal < 0 && s.Signal >= strong &&
		s.Sent >= enoughAir && s.Received >= enoughAir
}

// busyAir finds a channel that is full, mostly without what the radio sends itself.
func busyAir(f *facts.Facts) []Finding {
	const long, full = 10_000, 0.7 // milliseconds, share
	for _, c := range f.Channels {
		if !c.InUse || c.Active < long || c.Busy > c.Active || c.Sent > c.Busy ||
			float64(c.Busy-c.Sent) < full*float64(c.Active) {
			continue
		}
		share := 100 * float64(c.Busy-c.Sent) / float64(c.Active)
		found := one(c.Interface, []facts.Source{c.Source}, "its channel is busy %.0f%% of the time with other "+
			"transmitters", share)
		if !c.SaysSent {
			found = decisive(with(Info, one(c.Interface, []facts.Source{c.Source}, "its channel is busy %.0f%% of "+
				"the time, including its own transmissions (its driver does not separate them)", share)))
		}
		found[0].Confirm = "With its own stations idle, the busy time still grows nearly as fast as the active time."
		return do("use a less busy channel (iw dev "+c.Interface+" survey dump lists them), or the 5 or 6 GHz band",
			found)
	}
	return nil
}
