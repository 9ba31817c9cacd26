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
	cableEvents   = 3
)

// accessLine finds a line to the provider that damages or loses what it carries.
func accessLine() Rule {
	return Rule{
		ID: "access-line-poor", Title: "The line to the provider is poor", Needs: []string{"modem|messages"}, Severity: Warning,
		Systems: onLinux(),
		Because: "The modem cannot read part of what arrives, or is not heard: packets are lost in bursts, sent again by the " +
			"modem, or the line is set up anew, whatever the hosts behind it do.",
		Confirm: "The modem's counters grow while it is slow, and a test right behind the modem is as slow.",
		Check: func(in Input) (out []Finding) {
			for _, m := range in.Facts.Modems {
				out = append(out, poorDSL(m)...)
				out = append(out, poorCable(m)...)
				out = append(out, poorMobile(m)...)
			}
			if lines, n := matching(in.Facts, facts.CableEvent); n > 0 && len(out) == 0 {
				out = do(cableAction, with(repeated(n, cableEvents), one("cable", lines, "the modem lost the head end or was not heard by it, in %s",
					counted(n, "line"))))
			}
			return out
		},
		Fires: linuxExample(facts.ModemStatus, "Noise Margin:   2.1dB / 5.9dB\nSeverely Errored Seconds (SES):  Near: 1223 / Far: 12\n"),
		Quiet: linuxExample(facts.ModemStatus, "Noise Margin:   6.3dB / 5.9dB\nSeverely Errored Seconds (SES):  Near: 3 / Far: 1\n"),
	}
}

const cableAction = "check the connectors, splitters and amplifiers between the wall and the modem, then show the provider these " +
	"lines; SQM helps nothing against this"

func poorDSL(m facts.Modem) []Finding {
	const action = "take filters, extension leads and second sockets off the line and test at the first socket; ask the provider " +
		"for a lower rate or a higher target margin (DLM profile) if it stays"
	margin, known := m.Shown["margin_db"]
	evidence := []facts.Source{m.Shown["severely_errored_s"], margin}
	switch {
	case m.Severe >= manySevere && known && m.Margin < leastMargin:
		return do(action, one("DSL", evidence, "%d seconds with many damaged frames, at a noise margin of %.1f dB", m.Severe, m.Margin))
	case m.Severe >= manySevere:
		// Since when they are counted is not known.
		return do(action, with(Info, one("DSL", evidence[:1], "%d seconds with many damaged frames", m.Severe)))
	case known && m.Margin < leastMargin:
		return do(action, with(Info, one("DSL", evidence[1:], "its noise margin is %.1f dB", m.Margin)))
	}
	return nil
}

func poorCable(m facts.Modem) []Finding {
	all := float64(m.Lost) + float64(m.Corrected)
	if m.Lost < manyLostWords || float64(m.Lost) < lostWordShare*all {
		return nil
	}
	found := one("cable", []facts.Source{m.Shown["uncorrectable"], m.Shown["noisy_channels"]}, "%d codewords were lost, %s of "+
		"those that were damaged", m.Lost, percent(float64(m.Lost)/all))
	if m.Noisy > 0 {
		found[0].Summary += "; " + counted(m.Noisy, "channel") + " of " + counted(m.Channels, "channel") + " too weak, too strong or " +
			"too noisy"
	}
	return do(cableAction, found)
}

func poorMobile(m facts.Modem) []Finding {
	const action = "move the modem or use an outdoor antenna towards the cell; lock another band where the modem offers it"
	rsrp, known := m.Shown["rsrp_dbm"]
	noise, noisy := m.Shown["snr_db"]
	switch {
	case known && m.RSRP < weakRSRP && m.RSRP > -200:
		return do(action, one("LTE", []facts.Source{rsrp, noise}, "the signal (RSRP) is %g dBm", m.RSRP))
	case known && noisy && m.SNR < 0:
		return do(action, one("LTE", []facts.Source{noise, rsrp}, "the signal is weaker than the noise (%g dB)", m.SNR))
	}
	return nil
}
