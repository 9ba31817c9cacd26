package transcript

import (
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// People tell the path in prose: "a 100 Mbit line, 80 ms RTT", "1G fibre".

const (
	toldRate = `(\d{1,4}(?:\.\d{1,2})?) ?(g|m)(?:ig(?:abit)?|big|bits?|bps|b|bit/s|b/s|be)?(?:/s(?:ec)?|ps)?`
	lineWord = `(?:line|link|connection|fib(?:er|re)|uplink|downlink|circuit|wan|internet|pipe|path|leased|` +
		`symmetric(?:al)?|` +
		`up/down|ftth|broadband|service)s?`
	toldTime = `(\d{1,4}(?:\.\d{1,3})?) ?ms`
	rttWord  = `(?:rtt|round[- ]?trip(?: time)?|latency|ping(?: time)?s?|delay)`
)

// toldRates and toldTimes have the number first; a rate has its letter behind it.
var (
	toldRates = []*regexp.Regexp{
		regexp.MustCompile(`(?i)\b` + toldRate +
			`(?:[ -]+(?:dedicated|full|duplex|symmetric|business|internet|wan|fib(?:er|re)))* ?` +
			lineWord + `\b`),
		regexp.MustCompile(`(?i)\b` + lineWord + `(?: speed)?(?: (?:is|of|at|with)|:)? (?:a |an |about |around |~ ?)?` +
			toldRate + `\b`),
	}
	toldTimes = []*regexp.Regexp{
		regexp.MustCompile(`(?i)\b` + toldTime + `(?: of)?(?: average| network)? (?:` + rttWord + `|(?:link|path|line|connection|WAN)\b)`),
		regexp.MustCompile(`(?i)\b` + rttWord + `(?: time)?(?: to [\w.-]+)?(?: between [\w .-]{2,48}?)?` +
			`(?: (?:is|of|was|at)|:|=)?(?: (?:about|around|roughly|approx(?:imately|\.)?|only|over|above|nearly|almost|more than))?` +
			` ?[~=≈>]{0,2} ?` + toldTime),
	}
)

// proseLines bounds what is searched for a path.
const proseLines = 2000

// saidLine is a line of prose, and where it stands.
type saidLine struct {
	line   string
	source facts.Source
}

// said are the lines of prose of a post that no output has, none of one that is longer than proseLines.
func (p Posted) said(file string, used map[int]bool) (out []saidLine) {
	lines := 0
	for _, part := range p.parts {
		for i, line := range part.lines {
			at := part.first + i
			if lines++; lines > proseLines {
				return nil
			}
			if used[at] || !isProse(line) {
				continue
			}
			if p.moved {
				at = 0
			}
			out = append(out, saidLine{line, facts.Source{From: file, Line: at, Text: words([]string{line})}})
		}
	}
	return out
}

// told finds the path in the lines of a post that no output has. Where two lines tell different ones, none is known.
func (p Posted) told(file string, used map[int]bool) (t facts.Told) {
	rateDiffers, timeDiffers := false, false
	for _, said := range p.said(file, used) {
		if rate := ratesIn(said.line); rate > 0 {
			rateDiffers = rateDiffers || t.Rate > 0 && t.Rate != rate
			t.Rate, t.RateSource = rate, said.source
		}
		if rtt := timeIn(said.line); rtt > 0 {
			timeDiffers = timeDiffers || t.RTT > 0 && t.RTT != rtt
			t.RTT, t.RTTSource = rtt, said.source
		}
	}
	if rateDiffers {
		t.Rate, t.RateSource = 0, facts.Source{}
	}
	if timeDiffers {
		t.RTT, t.RTTSource = 0, facts.Source{}
	}
	return t
}

// isProse reports whether a line is a sentence of somebody, not a row of an output.
func isProse(line string) bool {
	if len(line) > 4096 || strings.Contains(strings.TrimSpace(line), "\t") {
		return false
	}
	spoken := 0
	for _, w := range strings.Fields(line) {
		if strings.Trim(strings.ToLower(w), "abcdefghijklmnopqrstuvwxyz'.,;:()-") == "" {
			spoken++
		}
	}
	return spoken >= 2 && !strings.Contains(strings.ReplaceAll(strings.TrimSpace(line), ".  ", ". "), "   ")
}

// ratesIn is the one rate of a line that a sentence tells.
func ratesIn(line string) units.Rate {
	for _, form := range toldRates {
		m := form.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil || v <= 0 || strings.Contains(m[0], "MB") ||
			strings.Contains(m[0], "GB") && !strings.Contains(m[0], "GBE") {
			continue // bytes
		}
		unit := units.Mbit
		if strings.EqualFold(m[2], "g") {
			unit = units.Gbit
		}
		if rate := units.Rate(v * float64(unit)); rate <= 800*units.Gbit {
			return rate
		}
	}
	return 0
}

// timeIn is the round trip that a sentence tells.
func timeIn(line string) time.Duration {
	for _, form := range toldTimes {
		if m := form.FindStringSubmatch(line); m != nil {
			if v, err := strconv.ParseFloat(m[1], 64); err == nil && v > 0 && v < 3000 {
				return time.Duration(v * float64(time.Millisecond))
			}
		}
	}
	return 0
}
