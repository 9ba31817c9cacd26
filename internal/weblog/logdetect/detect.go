package logdetect

import (
	"bytes"
	"errors"

	"github.com/wirerate/wirerate/internal/weblog/logline"
)

// Detect finds the format of a log from its first lines. unit helps where a
// log holds whole numbers whose unit it does not say. The error says what was
// seen and what to give as --format or --unit. With [ErrNoTime] comes a format for
// counting the lines if there is one.
func Detect(sample []byte, unit logline.Unit) (*logline.Format, error) {
	switch {
	case bytes.HasPrefix(sample, []byte("\xff\xfe")), bytes.HasPrefix(sample, []byte("\xfe\xff")):
		return nil, errors.New("is UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8 LOG | wirerate weblog -")
	case len(sample) > 4 && sample[1] == 0 && sample[3] == 0 && sample[0] != 0 && sample[2] != 0:
		return nil, errors.New("is UTF-16 text; convert it: iconv -f UTF-16LE -t UTF-8 LOG | wirerate weblog -")
	case bytes.HasPrefix(sample, []byte("\xfd7zXZ")):
		return nil, errors.New("is compressed with xz; read it with: xz -dc LOG | wirerate weblog -")
	case bytes.HasPrefix(sample, []byte("PK\x03\x04")):
		return nil, errors.New("is a zip archive; read what is in it with: unzip -p LOG | wirerate weblog -")
	}
	lines := sampleLines(bytes.TrimPrefix(sample, []byte(logline.ByteOrderMark)))
	if len(lines) == 0 {
		return logline.NewEmpty(), nil
	}
	for _, k := range []*logline.Wrapping{logline.CRIWrapping,
		logline.ExportWrapping} { // first: columns might be found around a prefix
		inner := inside(k, lines)
		if len(inner) == 0 {
			continue
		}
		f, err := detectLines(inner, unit)
		if f == nil {
			return nil, err
		}
		return f.Wrapped(k), err
	}
	if logline.Coloured(lines) {
		if f, err := detectLines(inside(logline.ColourWrapping, lines), unit); err == nil {
			return f.Wrapped(logline.ColourWrapping), nil
		}
	}
	f, err := detectLines(lines, unit)
	if err != nil {
		if wrapped, werr := detectInJSON(lines, unit); wrapped != nil {
			return wrapped, werr
		}
	}
	return f, err
}

// DetectEither is Detect for a log whose beginning may be something else than the
// rest: junk, what a program says at its start, another format.
func DetectEither(sample []byte, later func() []byte, unit logline.Unit) (*logline.Format, error) {
	f, err := Detect(sample, unit)
	empty := err == nil && len(sampleLines(sample)) == 0
	if err == nil && !empty || later == nil {
		return f, err
	}
	_, part, _ := bytes.Cut(later(), []byte{'\n'})
	part = part[:bytes.LastIndexByte(part, '\n')+1]
	if len(sampleLines(part)) == 0 {
		return f, err
	}
	if g, gerr := Detect(part, unit); gerr == nil || empty {
		return g, gerr
	}
	return f, err
}

// detectLines is Detect for lines as the server wrote them.
func detectLines(lines [][]byte, unit logline.Unit) (*logline.Format, error) {
	for _, l := range lines[:min(len(lines), 8)] {
		if bytes.HasPrefix(l, []byte("#Fields:")) || bytes.HasPrefix(l, []byte("#Version:")) ||
			bytes.HasPrefix(l, []byte("#Software:")) {
			return logline.W3C(unit), slowW3C(lines, unit)
		}
	}
	if f, err, ok := headedFormat(lines, unit); ok {
		return f, err
	}
	for _, kind := range []string{"json", "ltsv"} {
		if f, err, ok := detectKeyed(kind, lines, unit); ok {
			return f, err
		}
	}
	if f := bestPreset(lines); f != nil {
		return f, nil
	}
	if f, err, ok := detectKeyed("logfmt", lines, unit); ok {
		return f, err
	}
	return infer(lines, unit)
}

// slowW3C returns an error if the time-taken of unknown software, taken to be in
// seconds, would make most requests slow.
func slowW3C(lines [][]byte, unit logline.Unit) error {
	slow := func(d *logline.Decoder) bool {
		return d.Format.Unit == logline.DecimalSeconds && d.Req.Micros >= slowSample
	}
	if !most(logline.W3C(unit), lines, 2, slow) {
		return nil
	}
	return errors.New("time-taken does not say its unit, and in seconds most requests would be slow: say --unit s " +
		"or --unit ms")
}

// most reports whether test holds for most of the lines' requests, of which there are
// least or more.
func most(f *logline.Format, lines [][]byte, least int, test func(d *logline.Decoder) bool) bool {
	d := f.Decoder()
	requests, hits := 0, 0
	for _, l := range lines {
		if _, fault := d.Line(l); fault != logline.FaultNone {
			continue
		}
		if requests++; test(d) {
			hits++
		}
	}
	return requests >= least && 2*hits > requests
}

// instantSample is a time in us that hardly a server answers in.
const instantSample = 50

// CheckUnit returns an error if %D, taken to be in microseconds as Apache httpd has
// it, would make most requests of the sample take next to no time.
func CheckUnit(f *logline.Format, sample []byte) error {
	instant := func(d *logline.Decoder) bool { return d.Req.Micros < instantSample }
	if !f.Doubted || !most(f, sampleLines(sample), 3, instant) {
		return nil
	}
	return errors.New("in microseconds, Apache's unit of %D, most requests would take next to no time; that of " +
		"Tomcat before 10.1, Undertow and others is the millisecond: say --unit ms or --unit us")
}

// sampleLines returns the whole lines of the sample that are not blank.
func sampleLines(sample []byte) [][]byte {
	all := bytes.Split(sample, []byte{'\n'})
	if len(all) > 1 && len(sample) >= SampleSize {
		all = all[:len(all)-1]
	}
	lines := all[:0]
	for _, l := range all {
		if l = bytes.TrimSuffix(l, []byte{'\r'}); len(l) > 0 {
			lines = append(lines, l)
		}
	}
	return lines
}

// minScore is the share of a sample's lines that a format must fit.
const minScore = 0.3

// maxBehind is how many words are looked for before the server's own text: what
// kubectl logs --prefix, docker compose logs and the like put there.
const maxBehind = 3

// bestPreset returns the preset that fits the most lines, nil if none fits
// enough of them.
func bestPreset(lines [][]byte) *logline.Format {
	behind := 0
	if logline.IsSyslog(lines[0]) {
		behind = -1
	}
	for ; behind <= maxBehind; behind++ {
		if behind > 0 {
			word, _, _ := bytes.Cut(lines[0][logline.BehindWords(lines[0], behind-1):], []byte{' '})
			if len(word) == 0 || string(word) == "-" || isAddress(word) {
				break // a field
			}
		}
		var best *logline.Format
		bestScore := minScore
		for _, p := range logline.PresetTable {
			if p.Asked || bytes.Count(lines[0], []byte{'"'}) < p.Quotes {
				continue
			}
			f, err := p.Format()
			if err != nil {
				continue
			}
			if behind != 0 {
				f = f.Behind(behind)
			}
			if s := score(f, lines); s > bestScore {
				best, bestScore = f, s
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// score returns the share of lines that have the format's shape and make sense
// in it.
func score(f *logline.Format, lines [][]byte) float64 {
	d := f.Decoder()
	d.Clears = true
	fits, timed := 0, false
	for _, line := range lines {
		_, fault := d.Line(line)
		if fault == logline.FaultShape || fault == logline.FaultUnit {
			continue
		}
		timed = timed || fault == logline.FaultNone
		if d.Sensible(line) {
			fits++
		}
	}
	if !timed { // blanks and dashes fit many a format
		return 0
	}
	return float64(fits) / float64(len(lines))
}

// inside returns the program's lines if most of the lines are wrapped in k, else
// nil.
func inside(k *logline.Wrapping, lines [][]byte) [][]byte {
	var inner [][]byte
	wrapped := 0
	for _, l := range lines {
		var buf []byte
		text, ok := k.Unwrap(l, &buf)
		if ok {
			wrapped++
		}
		if len(text) > 0 {
			inner = append(inner, text)
		}
	}
	if 2*wrapped <= len(lines) {
		return nil
	}
	return inner
}

// detectInJSON finds the format of lines that a collector has put into objects, nil
// if there is none.
func detectInJSON(lines [][]byte, unit logline.Unit) (*logline.Format, error) {
	for _, k := range jsonWrappings() {
		if inner := inside(k, lines); inner != nil {
			if logline.Coloured(inner) {
				k.Colours = true
				inner = inside(k, lines)
			}
			if f, err := detectLines(inner, unit); f != nil {
				return f.Wrapped(k), err
			}
		}
	}
	return nil, nil
}

func jsonWrappings() (all []*logline.Wrapping) {
	for _, key := range logline.TextKeys {
		all = append(all, logline.JSONWrapping(key))
	}
	return all
}

// Around returns the format of the server's lines for a log that begins with
// sample: they may be wrapped, or stand behind a syslog header.
func Around(f *logline.Format, sample []byte) *logline.Format {
	lines := sampleLines(sample)
	if len(lines) == 0 || score(f, lines) > 0 {
		return f
	}
	if behind := f.Behind(-1); logline.IsSyslog(lines[0]) && score(behind, lines) > 0 {
		return behind
	}
	wraps := append([]*logline.Wrapping{logline.CRIWrapping, logline.ExportWrapping}, jsonWrappings()...)
	for _, k := range wraps {
		if inner := inside(k, lines); inner != nil && score(f, inner) > 0 {
			return f.Wrapped(k)
		}
	}
	return f
}

// SampleSize is how much of an input's start is looked at.
const SampleSize = 64 << 10
