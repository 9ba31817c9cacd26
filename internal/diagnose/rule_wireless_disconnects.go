package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// wirelessDisconnects finds stations that lost their access point, by the reason that the kernel or wpa_supplicant tells.
func wirelessDisconnects() Rule {
	return Rule{
		ID: "wireless-disconnects", Title: "A wireless link was disconnected", Severity: Warning, Systems: onLinux(),
		Needs:   []string{"messages"},
		Because: "No traffic passes until the station is connected again, and frames in its queues are lost.",
		Confirm: "The access point's log shows the same reason at the same times.",
		Check: func(in Input) []Finding {
			all := map[disconnect][]facts.Source{}
			counts := map[disconnect]int{}
			for i, line := range in.Facts.Lines("dmesg") {
				d, ok := disconnectIn(line)
				if !ok || len(counts) >= mostPeers && counts[d] == 0 {
					continue
				}
				counts[d]++
				all[d] = append(all[d][:min(len(all[d]), 1)], in.Facts.Line("dmesg", i+1))
			}
			most := disconnect{}
			for d, n := range counts {
				if d.before(most, n, counts[most]) {
					most = d
				}
			}
			if counts[most] == 0 {
				return stationReturns(in.Facts)
			}
			return most.finding(all[most], counts[most])
		},
		Fires: linuxExample("dmesg", "[ 9.1] wlan0: deauthenticated from 02:00:00:00:00:01 (Reason: "+
			"16=GROUP_KEY_HANDSHAKE_TIMEOUT)\n"),
		Quiet: linuxExample("dmesg", "[ 9.1] wlan0: associated\n"),
	}
}

// A disconnect is one kind of end of one interface's connection.
type disconnect struct {
	name   string
	reason int
	local  bool // this host ended it
}

// What mac80211 (mlme.c) and wpa_supplicant (events.c) say of a connection's end, and of an access point that does not answer.
var (
	disconnected = regexp.MustCompile(`\b(\w[\w.-]*): (?:(?:deauthenticated|disassociated) from [0-9a-f:]{17} \(Reason: (\d{1,3})\b|` +
		`CTRL-EVENT-DISCONNECTED bssid=[0-9a-f:]{17} reason=(\d{1,3})\b( locally_generated=1)?)`)
	apSilent = regexp.MustCompile(`\b(\w[\w.-]*): (?:[Cc]onnection to AP [0-9a-f:]{17} lost|(?:authentication|association) with [0-9a-f:]{17} timed out)`)
)

// Reasons of IEEE 802.11 (9.4.1.7), as ieee80211.h of Linux names them.
const (
	reasonInactivity = 4
	reasonNotAuth    = 6
	reasonNotAssoc   = 7
	reasonHandshake  = 15
	reasonGroupKey   = 16
	reasonLowAck     = 34
	noReason         = -1
)

func disconnectIn(line string) (d disconnect, ok bool) {
	if m := disconnected.FindStringSubmatch(line); m != nil {
		reason, err := strconv.Atoi(m[2] + m[3]) // of at most three digits
		d = disconnect{m[1], reason, m[4] != ""}
		if d.local && reason == reasonInactivity { // mac80211 heard neither beacons nor answers
			d.reason = noReason
		}
		return d, err == nil
	}
	if m := apSilent.FindStringSubmatch(line); m != nil {
		return disconnect{m[1], noReason, true}, true
	}
	return d, false
}

// before reports whether a kind of disconnect tells more than another: one that this host did not choose, then the more frequent.
func (d disconnect) before(other disconnect, n, others int) bool {
	if others == 0 || d.chosen() != other.chosen() {
		return others == 0 || !d.chosen()
	}
	if n != others {
		return n > others
	}
	return d.name < other.name || d.name == other.name && d.reason < other.reason
}

// chosen reports whether this host left by itself.
func (d disconnect) chosen() bool { return d.local && d.reason != noReason }

// disconnectReasons are the reasons with a remedy of their own.
var disconnectReasons = map[int]struct{ name, do string }{
	noReason: {"", "check the signal (iw dev NAME link: below -75 dBm is weak) and whether the access point " +
		"changed its channel (DFS) or restarted at that time; disable power saving (iw dev NAME set power_save off)"},
	reasonInactivity: {", inactivity", "disable power saving on the station (iw dev NAME set power_save off); on " +
		"the access point allow a longer silence (hostapd.conf: ap_max_inactivity=3600, OpenWrt: option " +
		"max_inactivity '3600')"},
	reasonNotAuth:  {", station not authenticated", restartedAP},
	reasonNotAssoc: {", station not associated", restartedAP},
	reasonHandshake: {", 4-way handshake timeout", "if it never connects, correct the password; otherwise check " +
		"the signal (iw dev NAME link), and disable power saving on the station (iw dev NAME set power_save off)"},
	reasonGroupKey: {", group key handshake timeout", "disable power saving on the station (iw dev NAME set " +
		"power_save off); on the access point renew the group key less often (hostapd.conf: " +
		"wpa_group_rekey=86400, OpenWrt: option wpa_group_rekey '86400' in /etc/config/wireless)"},
	reasonLowAck: {", too many frames without acknowledgement", "check the signal (iw dev NAME link) and use " +
		"another channel; hostapd.conf: disassoc_low_ack=0 (OpenWrt: option disassoc_low_ack '0') keeps such " +
		"stations connected"},
}

const restartedAP = "check the access point's log for a restart, or for the removal of the station, shortly before that"

func (d disconnect) finding(lines []facts.Source, n int) []Finding {
	known := disconnectReasons[d.reason]
	who, why, action := "the access point disconnected it", fmt.Sprintf(": reason %d%s", d.reason, known.name), known.do
	switch {
	case d.reason == noReason:
		who, why = "it no longer heard its access point", ""
	case d.chosen():
		who, why = "this host disconnected", fmt.Sprintf(": reason %d", d.reason)
		action = "check this host's log at that time for roaming, suspend, NetworkManager, or a second supplicant"
	}
	action = cmp.Or(action, "check the access point's log for the cause at that time, and the signal (iw dev NAME link)")
	found := do(strings.ReplaceAll(action, "dev NAME", "dev "+d.name),
		one(d.name, lines, "%s%s (%s%s)", who, why, counted(n, "time"), within(lines)))
	if d.reason == reasonGroupKey {
		found[0].Because = "The access point renews the group key regularly, and disconnects a station that does " +
			"not answer in time, because it is in power saving or out of range. No traffic passes until it is " +
			"connected again."
	}
	if d.chosen() {
		return with(Info, found)
	}
	return decisive(with(repeated(n, often), found))
}

// What hostapd says of a station that comes or leaves (src/ap/sta_info.c, ieee802_11.c).
var stationMoves = regexp.MustCompile(`\b(\w[\w.-]*): (?:AP-STA-(?:(DIS)CONNECTED|CONNECTED)|STA) ([0-9a-zA-Z:]{17})` +
	`(?: IEEE 802\.11: (?:(dis)?associated|(de)authenticated)\b|\s|$)`)

// stationReturns finds a station that left an access point and came back again and again.
func stationReturns(f *facts.Facts) []Finding {
	const least, longest = 3, 5 * time.Minute // times that it leaves, and what may be between them on average
	type station struct {
		leaves int
		away   bool
		lines  []facts.Source
	}
	all := map[string]*station{}
	for i, line := range f.Lines("dmesg") {
		m := stationMoves.FindStringSubmatch(line)
		if m == nil || strings.Contains(m[0], ": STA ") && !strings.HasSuffix(m[0], "ated") || len(all) >= mostPeers && all[m[3]] == nil {
			continue
		}
		s := all[m[3]]
		if s == nil {
			s = &station{}
			all[m[3]] = s
		}
		left := m[2]+m[4]+m[5] != ""
		if left && !s.away {
			s.leaves++
		}
		s.away = left
		s.lines = append(s.lines[:min(len(s.lines), 1)], f.Line("dmesg", i+1))
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		if s.leaves < least || span(s.lines) > time.Duration(s.leaves)*longest {
			continue
		}
		who := stationMoves.FindStringSubmatch(s.lines[0].Text)
		if who == nil {
			continue
		}
		found := with(Info, one(who[1], s.lines, "the station %s left %s%s, and came back in between", name, counted(s.leaves, "time"), within(s.lines)))
		found[0].Because = "No traffic of this station passes until it is connected again. It loses the signal, sleeps too long, or " +
			"changes between access points."
		return decisive(do("check its signal (iw dev "+who[1]+" station dump: below -75 dBm is weak) and whether another access point "+
			"logs it in between; disable power saving on the station, and allow a longer silence (hostapd.conf: ap_max_inactivity=3600)",
			found))
	}
	return unheardAnswers(f)
}

// span is the time between the first two lines, over days where they are dated.
func span(lines []facts.Source) time.Duration {
	if first, last := writtenAt(lines[0].Text), writtenAt(lines[len(lines)-1].Text); !first.IsZero() && !last.IsZero() {
		return last.Sub(first).Abs()
	}
	return elapsed(lines)
}

// unheardAnswers finds stations that do not acknowledge what the access point answers (hostapd, ieee802_11.c).
func unheardAnswers(f *facts.Facts) []Finding {
	const least = 3
	if lines, n := matching(f, notAdded); n >= least {
		found := with(Info, one(firstGroup(notAdded, lines[0].Text), lines, "its driver did not take stations (%s)", counted(n, "time")))
		found[0].Because = "The driver or the card's firmware has no room for another station, or hangs: these stations cannot connect."
		found[0].Confirm = "After a restart of the radio the stations connect."
		return decisive(do("restart the radio (OpenWrt: wifi down, wifi up), and update its driver and firmware; if many stations are "+
			"connected, spread them over more access points", found))
	}
	lines, n := matching(f, notAcknowledged)
	if n < least {
		return nil
	}
	m := notAcknowledged.FindStringSubmatch(lines[0].Text)
	if m == nil {
		return nil
	}
	found := with(Info, one(m[1], lines, "stations did not acknowledge its responses, such as %s (%s)", m[2], counted(n, "time")))
	found[0].Because = "The access point hears these stations, but they do not hear it: they are at the edge of its range or on their " +
		"way to another one, or the channel is busy at their place."
	return decisive(do("check their signal (iw dev "+m[1]+" station dump: below -75 dBm is weak), try another channel, and move the access point "+
		"nearer to them", found))
}

var notAdded = regexp.MustCompile(`\b(\w[\w.-]*): STA [0-9a-fA-FxX:]{17} IEEE 802\.11: Could not add STA to kernel driver`)

var notAcknowledged = regexp.MustCompile(`\b(\w[\w.-]*): STA ([0-9a-fA-FxX:]{17}) IEEE 802\.11: did not acknowledge (?:auth|assoc)\w+ response`)
