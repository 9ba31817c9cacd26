package weblog

import (
	"bytes"
	"errors"
)

// Detect finds the format of a log from its first lines. unit helps where a
// log holds whole numbers whose unit it does not say. The error says what was
// seen and what to give as --format or --unit. With [ErrNoTime] comes a format for
// counting the lines if there is one.
func Detect(sample []byte, unit Unit) (*Format, error) {
	switch {
	case hasPrefix(sample, "\xff\xfe"), hasPrefix(sample, "\xfe\xff"):
		return nil, errors.New("is UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8 LOG | wirerate weblog -")
	case len(sample) > 4 && sample[1] == 0 && sample[3] == 0 && sample[0] != 0 && sample[2] != 0:
		return nil, errors.New("is UTF-16 text; convert it: iconv -f UTF-16LE -t UTF-8 LOG | wirerate weblog -")
	case hasPrefix(sample, "\xfd7zXZ"):
		return nil, errors.New("is compressed with xz; read it with: xz -dc LOG | wirerate weblog -")
	case hasPrefix(sample, "PK\x03\x04"):
		return nil, errors.New("is a zip archive; read what is in it with: unzip -p LOG | wirerate weblog -")
	}
	lines := sampleLines(bytes.TrimPrefix(sample, []byte(byteOrderMark)))
	if len(lines) == 0 {
		return &Format{Name: "empty", ex: noFields{}}, nil
	}
	for _, k := range []*wrapping{criWrapping, exportWrapping} { // first: columns might be found around a prefix
		inner := k.inside(lines)
		if len(inner) == 0 {
			continue
		}
		f, err := detectLines(inner, unit)
		if f == nil {
			return nil, err
		}
		return f.wrapped(k), err
	}
	if coloured(lines) {
		if f, err := detectLines(colourWrapping.inside(lines), unit); err == nil {
			return f.wrapped(colourWrapping), nil
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

// detectEither is Detect for a log whose beginning may be something else than the
// rest: junk, what a program says at its start, another format.
func detectEither(sample []byte, later func() []byte, unit Unit) (*Format, error) {
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
func detectLines(lines [][]byte, unit Unit) (*Format, error) {
	for _, l := range lines[:min(len(lines), 8)] {
		if hasPrefix(l, "#Fields:") || hasPrefix(l, "#Version:") || hasPrefix(l, "#Software:") {
			return w3cFormat(unit), slowW3C(lines, unit)
		}
	}
	if f, err, ok := headedFormat(lines, unit); ok {
		return f, err
	}
	if f, err, ok := detectJSON(lines, unit); ok {
		return f, err
	}
	if f, err, ok := detectPairs("ltsv", lines, unit); ok {
		return f, err
	}
	if f := bestPreset(lines); f != nil {
		return f, nil
	}
	if f, err, ok := detectPairs("logfmt", lines, unit); ok {
		return f, err
	}
	return infer(lines, unit)
}

// slowW3C returns an error if the time-taken of unknown software, taken to be in
// seconds, would make most requests slow.
func slowW3C(lines [][]byte, unit Unit) error {
	slow := func(d *decoder) bool { return d.format.Unit == decimalSeconds && d.req.us >= slowSample }
	if !w3cFormat(unit).most(lines, 2, slow) {
		return nil
	}
	return errors.New("time-taken does not say its unit, and in seconds most requests would be slow: say --unit s or --unit ms")
}

// most reports whether test holds for most of the lines' requests, of which there are
// least or more.
func (f *Format) most(lines [][]byte, least int, test func(d *decoder) bool) bool {
	d := f.decoder()
	requests, hits := 0, 0
	for _, l := range lines {
		if _, fault := d.line(l); fault != faultNone {
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

// checkUnit returns an error if %D, taken to be in microseconds as Apache httpd has
// it, would make most requests of the sample take next to no time.
func (f *Format) checkUnit(sample []byte) error {
	instant := func(d *decoder) bool { return d.req.us < instantSample }
	if !f.doubted || !f.most(sampleLines(sample), 3, instant) {
		return nil
	}
	return errors.New("in microseconds, Apache's unit of %D, most requests would take next to no time; that of Tomcat before 10.1, Undertow and others is the millisecond: say --unit ms or --unit us")
}

// sampleLines returns the whole lines of the sample that are not blank.
func sampleLines(sample []byte) [][]byte {
	all := bytes.Split(sample, []byte{'\n'})
	if len(all) > 1 && len(sample) >= sampleSize {
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
func bestPreset(lines [][]byte) *Format {
	behind := 0
	if isSyslog(lines[0]) {
		behind = -1
	}
	for ; behind <= maxBehind; behind++ {
		if behind > 0 {
			word, _, _ := bytes.Cut(lines[0][behindWords(lines[0], behind-1):], []byte{' '})
			if len(word) == 0 || string(word) == "-" || isAddress(word) {
				break // a field
			}
		}
		var best *Format
		bestScore := minScore
		for _, p := range presets {
			if p.asked || bytes.Count(lines[0], []byte{'"'}) < p.quotes {
				continue
			}
			f, err := p.format()
			if err != nil {
				continue
			}
			if behind != 0 {
				f = f.behind(behind)
			}
			if s := f.score(lines); s > bestScore {
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
func (f *Format) score(lines [][]byte) float64 {
	d := f.decoder()
	fits, timed := 0, false
	for _, line := range lines {
		d.spans.clear()
		_, fault := d.line(line)
		if fault == faultShape || fault == faultUnit {
			continue
		}
		timed = timed || fault == faultNone
		if d.sensible(line) {
			fits++
		}
	}
	if !timed { // blanks and dashes fit many a format
		return 0
	}
	return float64(fits) / float64(len(lines))
}

// sensible reports whether the fields just found hold what they should.
func (d *decoder) sensible(line []byte) bool {
	if s := d.spans[roleTime]; s.hi >= 0 && len(s.of(line)) > 0 {
		if _, ok := d.stamp(line, s); !ok {
			return false
		}
	}
	if bytes.IndexByte(d.spans[roleClient].of(line), ' ') >= 0 || !plainTimes(d.spans[roleUpstream].of(line)) {
		return false
	}
	if s := d.spans[roleStatus]; s.hi >= 0 {
		if n, ok := parseStatus(s.of(line)); !ok || n != 0 && n < 100 || n > 599 {
			return false
		}
	}
	if s := d.spans[roleRequest]; s.hi >= 0 {
		b := s.of(line)
		return looksLikeRequest(b) || len(b) == 0 || b[0] == '-' || b[0] == '<'
	}
	if s := d.spans[roleMethod]; s.hi >= 0 {
		m := s.of(line)
		return len(m) == 0 || string(m) == "-" || m[0] >= 'A' && m[0] <= 'Z'
	}
	return true
}

// plainTimes reports whether b could be an upstream time or a list of them: other
// text is a sign of fields that lie one further on than they were taken to.
func plainTimes(b []byte) bool {
	for i, c := range b {
		if c == '"' || c == ' ' && !inList(b, 0, i) && !(i > 0 && b[i-1] == ':') {
			return false
		}
	}
	return true
}

// looksLikeRequest reports whether b is METHOD target [protocol].
func looksLikeRequest(b []byte) bool {
	i := bytes.IndexByte(b, ' ')
	if i < 3 || i == len(b)-1 {
		return false
	}
	for _, c := range b[:i] {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	c := b[i+1]
	return c == '/' || c == '*' || bytes.Contains(b[i:], []byte("://")) || string(b[:i]) == "CONNECT"
}
