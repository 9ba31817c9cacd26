package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// shaperForms are lines of configuration that hold an interface to a rate: the interface, where it is named, and the rate.
var shaperForms = []*regexp.Regexp{
	regexp.MustCompile(`^altq on (?P<on>\S+).* bandwidth (?P<rate>\d+(?:\.\d+)?[KMG]b)\b`),
	regexp.MustCompile(`^queue \S+ on (?P<on>\S+).* max (?P<rate>\d+[KMG])\b`),
	regexp.MustCompile(`^queue \S+ on (?P<on>\S+).* bandwidth (?P<rate>\d+[KMG])\b`),
	regexp.MustCompile(`\b(?:pipe|queue) (?P<on>\d+) config .*\b(?:bw|bandwidth) (?P<rate>\d+(?:\.\d+)?[KMG]?bit/s)`),
	regexp.MustCompile(`\btc qdisc (?:add|replace|change) dev (?P<on>\S+) .*\b(?:bandwidth|rate) ` +
		`(?P<rate>\d+(?:\.\d+)?[kmg]bit)\b`),
	regexp.MustCompile(`\btc class (?:add|replace|change) dev (?P<on>\S+) parent \d+: .*\brate (?P<rate>\d+(?:\.\d+)?[kmg]bit)\b`),
	regexp.MustCompile(`/?queue[ /]simple\b.* (?P<on>target=\S+|name=\S+).* max-limit=(?P<rate>\d+[kMG])/`),
	regexp.MustCompile(`/?queue[ /]simple\b.* (?P<on>)max-limit=(?P<rate>\d+[kMG])/`),
	regexp.MustCompile(`^option (?P<on>download|upload) '?(?P<rate>\d{4,8})'?$`), // of OpenWrt's sqm, in kbit/s
}

// spokenRate is a rate in a sentence.
var spokenRate = regexp.MustCompile(`(?i)\b(\d{1,4}(?:\.\d{1,2})?) ?(k|m|g)(?:b(?:it)?(?:/s(?:ec)?|ps)|bits?\b|bit/s|b\b)|` +
	`\b(\d{1,4}(?:\.\d{1,2})?) (?:up|down)(?:load|stream)?\b`)

// ofShaper tells a sentence about a shaper from one about what is reached.
var ofShaper = regexp.MustCompile(`(?i)bandwidth|queue|pipe|shap|limit|\brate|\bbw\b|\bcap|config|\btc\b`)

// WrittenRates are the lines beside the outputs that hold an interface to a rate. One is a warning where what was reached
// is that rate, and nothing where a test was far faster: the line is not in force, or not on that path.
func WrittenRates(f *facts.Facts) (out []Written) {
	const most, far = 8, 2 // lines; times the rate
	measured := measuredRates(f)
	reached := slices.Concat(measured, spokenRates(f))
	fastest := slices.Max(append(measured, 0))
	at := 0
	for line := range strings.Lines(f.Rest) {
		at++
		text := strings.TrimSpace(line)
		on, rate := shaperIn(text)
		if rate == 0 || len(out) == most || fastest > far*float64(rate) {
			continue
		}
		w := Written{Source: facts.Source{From: f.Host, Line: at, Text: text}, Setting: "shaper",
			Severity: Info, Message: fmt.Sprintf("%s is limited to %s", on, rate),
			Because: "Traffic through a shaper cannot exceed its configured rate, however fast the link is.",
			Action: "raise the shaper's rate to about 95% of the rate that the path reaches without it, or remove the " +
				"shaper"}
		for _, got := range reached {
			if got <= 1.03*float64(rate) && got >= 0.7*float64(rate) {
				w.Severity = Warning
				w.Message += fmt.Sprintf("; the rate reached was %s", units.Rate(got))
				break
			}
		}
		out = append(out, w)
	}
	return out
}

func shaperIn(line string) (on string, rate units.Rate) {
	if len(line) > 1000 || strings.HasPrefix(line, "#") {
		return "", 0
	}
	for _, form := range shaperForms {
		m := form.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		number, _, _ := strings.Cut(m[2], "b")
		if strings.HasPrefix(line, "option ") {
			number += "k"
		}
		rate, err := units.ParseRate(number + "bit")
		if err != nil {
			return "", 0
		}
		on := m[1]
		switch {
		case on == "":
			on = "a simple queue"
		case strings.Trim(on, "0123456789") == "":
			on = "pipe " + on
		}
		return on, rate
	}
	return "", 0
}

// measuredRates are those that tests reached, in bit/s.
func measuredRates(f *facts.Facts) (out []float64) {
	for _, tr := range slices.Concat(f.Transfers, f.Receipts) {
		out = append(out, 8*tr.Bytes/max(tr.Seconds, 1e-3))
	}
	for _, end := range f.TransferEnds {
		out = append(out, float64(end.Rate))
	}
	for _, c := range f.Copies {
		out = append(out, 8*c.Rate)
	}
	for _, s := range f.SpeedTests {
		out = append(out, float64(s.Down), float64(s.Up))
	}
	return out
}

// spokenRates are those that sentences speak of, in bit/s.
func spokenRates(f *facts.Facts) (out []float64) {
	for line := range strings.Lines(f.Rest) {
		if len(line) > 1000 || ofShaper.MatchString(line) {
			continue
		}
		for _, m := range spokenRate.FindAllStringSubmatch(line, -1) {
			if rate, err := units.ParseRate(m[1] + m[3] + cmp.Or(m[2], "m") + "bit"); err == nil {
				out = append(out, float64(rate))
			}
		}
	}
	return out
}
