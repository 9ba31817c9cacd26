package diagnose

import (
	"github.com/wirerate/wirerate/internal/facts"
)

// The bounds of a line to the provider: noise margin of DSL in dB (lines are set up for 6), seconds with many damaged
// frames, codewords of a cable that were lost and their share of those that needed correction, and the signal of LTE.
const (
	leastMargin   = 3.0
	manySevere    = 100
	manyLostWords = 10000
	lostWordShare = 0.01
	weakRSRP      = -115.0
	weakQuality   = 20 // ModemManager makes it of the RSSI of -113 to -51 dBm (mm-broadband-modem-mbim.c), newer releases of the RSRP
	cableEvents   = 3
)

// accessLine finds a line to the provider that damages or loses what it carries.
func accessLine() Rule {
	return Rule{
		ID: "access-line-poor", Title: "The ISP link is poor", Needs: []string{"modem|messages"}, Severity: Warning,
		Systems: onLinux(),
		Because: "The modem receives part of the signal corrupted, or is not heard by the ISP: packets are lost in bursts or " +
			"delayed by retransmission, or the line resyncs. No setting on the hosts behind it helps.",
		Confirm: "The modem's error counters grow while it is slow, and a test directly at the modem is just as slow.",
		Check: func(in Input) (out []Finding) {
			for _, m := range in.Facts.Modems {
				out = append(out, poorDSL(m)...)
				out = append(out, poorCable(m)...)
				out = append(out, poorMobile(m)...)
			}
			if lines, n := matching(in.Facts, facts.CableEvent); n > 0 && len(out) == 0 {
				out = do(cableAction, with(repeated(n, cableEvents), one("cable", lines, "the modem lost contact with the head end "+
					"(CMTS) (%s)",
					counted(n, "line"))))
			}
			return out
		},
		Fires: linuxExample(facts.ModemStatus, "Noise Margin:   2.1dB / 5.9dB\nSeverely Errored Seconds (SES):  Near: 1223 / Far: 12\n"),
		Quiet: linuxExample(facts.ModemStatus, "Noise Margin:   6.3dB / 5.9dB\nSeverely Errored Seconds (SES):  Near: 3 / Far: 1\n"),
	}
}

const cableAction = "check connectors, splitters and amplifiers between the wall and the modem, then show these lines " +
	"to the ISP; SQM does not help here"

func poorDSL(m facts.Modem) []Finding {
	const action = "remove filters, extension leads and extra sockets, and test at the master socket; if it persists, ask " +
		"the ISP for a lower rate or a higher target SNR margin (DLM profile)"
	margin, known := m.Shown["margin_db"]
	evidence := []facts.Source{m.Shown["severely_errored_s"], margin}
	switch {
	case m.Severe >= manySevere && known && m.Margin < leastMargin:
		return do(action, one("DSL", evidence, "%d severely errored seconds, at an SNR margin of %.1f dB", m.Severe, m.Margin))
	case m.Severe >= manySevere:
		// Since when they are counted is not known.
		return do(action, with(Info, one("DSL", evidence[:1], "%d severely errored seconds", m.Severe)))
	case known && m.Margin < leastMargin:
		return do(action, with(Info, one("DSL", evidence[1:], "its SNR margin is only %.1f dB", m.Margin)))
	}
	return nil
}

func poorCable(m facts.Modem) []Finding {
	all := float64(m.Lost) + float64(m.Corrected)
	if m.Lost < manyLostWords || float64(m.Lost) < lostWordShare*all {
		return nil
	}
	found := one("cable", []facts.Source{m.Shown["uncorrectable"], m.Shown["noisy_channels"]}, "%d codewords were "+
		"uncorrectable, %s of those with errors", m.Lost, percent(float64(m.Lost)/all))
	if m.Noisy > 0 {
		found[0].Summary += "; " + counted(m.Noisy, "channel") + " of " + counted(m.Channels, "channel") + " too weak, too strong or " +
			"too noisy"
	}
	return do(cableAction, found)
}

func poorMobile(m facts.Modem) []Finding {
	const action = "move the modem, or use an outdoor antenna pointed at the cell; lock another band if the modem can"
	rsrp, known := m.Shown["rsrp_dbm"]
	noise, noisy := m.Shown["snr_db"]
	switch {
	case known && m.RSRP < weakRSRP && m.RSRP > -200:
		return do(action, one("LTE", []facts.Source{rsrp, noise}, "the signal (RSRP) is only %g dBm", m.RSRP))
	case known && noisy && m.SNR < 0:
		return do(action, one("LTE", []facts.Source{noise, rsrp}, "the signal is weaker than the noise (%g dB)", m.SNR))
	case !known && m.Quality > 0 && m.Quality <= weakQuality:
		return decisive(with(Info, do(action, one("LTE", []facts.Source{m.Shown["signal_quality_percent"]}, "the signal quality is only %d%%",
			m.Quality))))
	}
	return nil
}
