package facts

import (
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Modem is what the status of a modem says of its line: DSL, cable or a mobile network.
type Modem struct {
	// Margin is the noise margin of DSL towards this end, and RSRP and SNR those of LTE, in dB and dBm, where Shown has a
	// line for them.
	Margin float64 `json:"margin_db,omitempty"`
	RSRP   float64 `json:"rsrp_dbm,omitempty"`
	SNR    float64 `json:"snr_db,omitempty"`
	// Quality is ModemManager's signal quality in percent; 0 is not known.
	Quality int `json:"signal_quality_percent,omitempty"`
	// Severe are the seconds with many damaged frames of DSL.
	Severe uint64 `json:"severely_errored_s,omitempty"`
	// Corrected and Lost are the codewords of a cable's channels; Channels how many of them there are, Noisy those whose
	// signal is too weak or too strong, or too near to the noise.
	Corrected uint64 `json:"corrected,omitempty"`
	Lost      uint64 `json:"uncorrectable,omitempty"`
	Channels  int    `json:"channels,omitempty"`
	Noisy     int    `json:"noisy_channels,omitempty"`
	// Shown are the lines of the fields by their JSON names.
	Shown map[string]Source `json:"-"`
}

// ModemStatus is the name under which the pages of modems are kept.
const ModemStatus = "modem status"

// Lines of dsl_control of OpenWrt and xdslctl of Broadcom, both of DSL; rows of the channels on the page of a cable
// modem; and ModemManager's and libqmi's lines of LTE.
var (
	dslMargin    = regexp.MustCompile(`^(?:Noise Margin(?: \(SNR\))?|SNR \(dB\)):\s+(?:Down: *)?(-?\d{1,4}(?:\.\d{1,4})?) ?(?:dB)?\s*/?\s+(?:Up: *)?-?\d`)
	dslSevere    = regexp.MustCompile(`^(?:Severely Errored Seconds \(SES\):\s+Near: (\d+) /|SES:\s+(\d+)\s+\d+$)`)
	cableChannel = regexp.MustCompile(`\bLocked\b.*?\s(-?\d{1,4}(?:\.\d{1,4})?) ?dBmV\s+(\d{1,4}(?:\.\d{1,4})?) ?dB\s+(\d+)\s+(\d+)\s*$`)
	quectelCell  = regexp.MustCompile(`^\+QENG: ?(?:"servingcell","\w+",)?"LTE","[FT]DD",(?:\w+,){9}(-\d{2,3}),-\d{1,2},-\d{2,3},`)
	mobileShare  = regexp.MustCompile(`\bsignal quality: '?(\d{1,3})'?% \((?:recent|cached)\)`)
	mobileSignal = regexp.MustCompile(`\b(?i:(RSRP|S/N|SNR|SINR))(?: \(dBm?\))?"?\s*[:=]\s*["']?(-?\d{1,4}(?:\.\d{1,4})?)(?:(?: ?dBm?)?["']?,?\s*$| ?dBm?\s)`)
)

// ModemForm is one of these lines.
var ModemForm = regexp.MustCompile(`^\s*(?:Noise Margin(?: \(SNR\))?:|SNR \(dB\):)\s+(?:Down: *)?-?\d|^\s*Severely Errored Seconds \(SES\):|` +
	`^SES:\s+\d+\s+\d+$|\bLocked\b.*\sdBmV\s+\d+(?:\.\d+)? ?dB\s+\d+\s+\d+\s*$|^[\s|LTE]*\b(?:RSRP|S/N|SNR): '?-?\d+(?:\.\d+)? ?dB|` +
	`^\+QENG: ?(?:"servingcell","\w+",)?"LTE","[FT]DD",|^[\s"'|]*(?i:(?:lte |nr )?rsrp)["']?\s*[:=]\s*["']?-\d|\b(?:RSRP|SINR) \(dBm?\):\s+-?\d|` +
	`^[\s|Status]*\bsignal quality: '?\d{1,3}'?% \((?:recent|cached)\)`)

// The bounds of a channel of a cable with 256-QAM: its level in dBmV and its distance from the noise in dB.
const (
	cableLevel = 15
	cableNoise = 33
)

// readModem reads the status of a modem.
func (f *Facts) readModem(t text) error {
	m := &Modem{Shown: map[string]Source{}}
	for i, line := range t.lines() {
		if len(line) <= 1024 {
			m.take(strings.TrimSpace(line), func(name string) {
				if _, again := m.Shown[name]; !again {
					m.Shown[name] = f.Line(t.from, i+1)
				}
				f.use(t.from, i+1)
			})
		}
	}
	if len(m.Shown) == 0 {
		return errNothing
	}
	f.Modems = append(f.Modems, *m)
	return nil
}

func (m *Modem) take(line string, shown func(string)) {
	number := func(s string) float64 {
		v, _ := strconv.ParseFloat(s, 64) // its form is a number's
		return v
	}
	_, known := m.Shown["margin_db"]
	if g := dslMargin.FindStringSubmatch(line); g != nil && !known {
		m.Margin = number(g[1])
		shown("margin_db")
	} else if g := dslSevere.FindStringSubmatch(line); g != nil {
		if v, ok := count(g[1] + g[2]); ok && v > m.Severe {
			m.Severe = v
			delete(m.Shown, "severely_errored_s")
		}
		shown("severely_errored_s")
	} else if g := cableChannel.FindStringSubmatch(line); g != nil {
		right, _ := count(g[3])
		wrong, _ := count(g[4])
		if level := number(g[1]); level > cableLevel || level < -cableLevel || number(g[2]) < cableNoise {
			m.Noisy++
			shown("noisy_channels")
		}
		m.Channels++
		m.Corrected, m.Lost = added(m.Corrected, right), added(m.Lost, wrong)
		shown("uncorrectable")
	} else if g := quectelCell.FindStringSubmatch(line); g != nil {
		m.receive(number(g[1]), shown)
	} else if g := mobileShare.FindStringSubmatch(line); g != nil {
		m.Quality = smallNumber(g[1])
		shown("signal_quality_percent")
	} else if g := mobileSignal.FindStringSubmatch(line); g != nil && strings.EqualFold(g[1], "RSRP") {
		m.receive(number(g[2]), shown)
	} else if g != nil {
		m.SNR = number(g[2])
		shown("snr_db")
	}
}

// receive keeps the RSRP of the strongest cell and antenna: the others are weaker.
func (m *Modem) receive(v float64, shown func(string)) {
	if m.RSRP == 0 || v > m.RSRP {
		m.RSRP = v
		delete(m.Shown, "rsrp_dbm")
	}
	shown("rsrp_dbm")
}

// CableEvent is what a DOCSIS modem logs of a station at the other end that it lost (the events of DOCSIS 3.1 OSSI).
var CableEvent = regexp.MustCompile(`T[34] time-?out|Loss of Sync;|Unicast Ranging Received Abort Response|MDD message timeout`)
