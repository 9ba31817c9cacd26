package transcript

import (
	"errors"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/units"
)

// wordsAlone is the error of a text without outputs whose sentences may tell a cause all the same.
type wordsAlone struct {
	error
	posted Posted
}

func (w wordsAlone) Unwrap() error { return w.error }

// wordsLimit bounds a text of words alone, in bytes: what is longer is a document, not a question.
const wordsLimit = 64 << 10

// inWords is the error for a text without outputs, with its words where they are a post's.
func inWords(hosts []Posted, text string, err error) error {
	if len(hosts) != 1 || len(text) > wordsLimit {
		return err
	}
	p := hosts[0]
	p.NoOutput = err
	p.identify(text, true)
	return wordsAlone{err, p}
}

// withWords takes the words of a text in which nothing else is known.
func withWords(all []Posted, err error) ([]Posted, error) {
	var words wordsAlone
	if errors.As(err, &words) {
		return []Posted{words.posted}, nil
	}
	return each(all), err
}

// Rates that somebody got: "I only get 30 Mbit/s", "iperf tops out at 3.5 MB/s".
const (
	gotWord = `(?:get|gets|getting|got|see|sees|seeing|achiev(?:e|es|ed|ing)|reach(?:es|ed|ing)?|max(?:es|ed|ing)?(?: out)?|` +
		`top(?:s|ped|ping)? out|only|limited|capped|stuck|throughput|transfers?|transferring|cop(?:y|ies|ying)|downloads?|uploads?|` +
		`speeds?|rates?|averag(?:e|es|ed|ing)|hover(?:s|ed|ing)?|runs?|running|goes|drops?|dropped)`
	gotRate = `(\d{1,4}(?:\.\d{1,2})?) ?(?:([kKMG])i?B(?:/s|ps)|([kKMG])i?[Bb]ytes?(?:/s| per second| a second)|` +
		`([kKMG])b/s|([kKmMgG])(?:b(?:ps|its?(?:/s(?:ec)?|ps| per second)?)|egabits?|igabits?))\b`
)

var (
	gotForm   = regexp.MustCompile(`(?:^|[ (,])(?i:` + gotWord + `)(?: [A-Za-z'’~≈-]+){0,5} ?[~≈]? ?` + gotRate)
	clauseEnd = regexp.MustCompile(`\. |,? (?:but|while|whereas) |, (?:with|and) `)
	// severalForm tells that several connections did it together.
	severalForm = regexp.MustCompile(`(?i)\b(?:parallel|multiple|several|many|concurrent|simultaneous(?:ly)?|more|two|three|four|eight|ten|\d{1,3})` +
		` (?:\w+ )?(?:streams|connections|threads|flows|sessions|transfers|downloads|processes|clients)\b|-P ?\d`)
	// notGot tells a rate that is wished, compared with, or of something else than a transfer.
	notGot = regexp.MustCompile(`(?i)\b(?:should|expect\w*|supposed|advertised|subscri\w+|plan|want|need|disks?|udp|without|before|used to|locally|` +
		`same (?:lan|rack|switch)|other)\b`)
)

// gotIn is the rate that somebody got by a sentence, and whether several connections did together.
func gotIn(line string) (rate units.Rate, several bool) {
	all := gotForm.FindAllStringSubmatch(line, 2)
	if len(all) != 1 || notGot.MatchString(line) {
		return 0, false
	}
	m := all[0]
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, false
	}
	unit := map[string]units.Rate{"k": units.Mbit / 1000, "m": units.Mbit, "g": units.Gbit}[strings.ToLower(m[2]+m[3]+m[4]+m[5])]
	if m[2]+m[3] != "" {
		unit *= 8
	}
	return units.Rate(v * float64(unit)), severalForm.MatchString(line)
}

// got keeps the rates that the sentences of a text tell: of one connection, and of several; none where two differ.
func (p Posted) got(t *facts.Told, file string, used map[int]bool) {
	differ := map[bool]bool{}
	for _, said := range p.said(file, used) {
		for sentence := range strings.SplitSeq(clauseEnd.ReplaceAllString(said.line, "\n"), "\n") {
			rate, several := gotIn(sentence)
			if rate == 0 {
				continue
			}
			end := &t.Alone
			if several {
				end = &t.Together
			}
			differ[several] = differ[several] || end.Rate > 0 && end.Rate != rate
			*end = facts.TransferEnd{Rate: rate, Retransmits: -1, Lost: -1, Source: said.source}
		}
	}
	if differ[false] {
		t.Alone = facts.TransferEnd{}
	}
	if differ[true] {
		t.Together = facts.TransferEnd{}
	}
}
