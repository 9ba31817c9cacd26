package logline

import (
	"bytes"
	"strconv"
	"time"
)

// Clock reads time stamps. It remembers the last one and its day: log lines
// come in runs of one second and of one day.
type Clock struct {
	day     [11]byte
	dayUnix int64
	text    [32]byte // the last one read
	length  int
	last    Stamp
}

// Stamp is a moment in Unix seconds. offset is the zone's distance from UTC in
// minutes; local is set when the log does not say its zone and UTC was assumed.
type Stamp struct {
	Unix   int64
	Offset int16
	Local  bool
}

// Parse understands the common log format's 06/Sep/2015:05:58:05 +0900 (also
// with milliseconds or without zone, as HAProxy writes it), ISO 8601 (with T or
// a space, fraction, zone), C's ctime and Unix times in s, ms, us or ns.
func (c *Clock) Parse(b []byte) (Stamp, bool) {
	if len(b) > 0 && b[0] == '[' {
		b = bytes.Trim(b, "[]")
	}
	if c.again(b) {
		return c.last, true
	}
	t, ok := c.read(b)
	c.length = 0
	if ok && len(b) <= len(c.text) {
		c.length, c.last = copy(c.text[:], b), t
	}
	return t, ok
}

// again reports whether b is what was read last.
func (c *Clock) again(b []byte) bool {
	return c.length != 0 && string(b) == string(c.text[:c.length])
}

func (c *Clock) read(b []byte) (Stamp, bool) {
	switch {
	case len(b) >= 20 && b[2] == '/' && b[6] == '/' && b[11] == ':':
		return c.common(b)
	case len(b) >= 19 && b[4] == '-' && b[7] == '-' && (b[10] == 'T' || b[10] == ' '):
		return c.iso(b)
	case len(b) == len(time.ANSIC) && b[3] == ' ' && b[13] == ':':
		t, err := time.Parse(time.ANSIC, string(b))
		return Stamp{Unix: t.Unix(), Local: true}, err == nil
	}
	return unixStamp(b)
}

func (c *Clock) common(b []byte) (Stamp, bool) {
	if string(c.day[:]) != string(b[:11]) {
		day, err := time.Parse("02/Jan/2006", string(b[:11]))
		if err != nil {
			return Stamp{}, false
		}
		copy(c.day[:], b)
		c.dayUnix = day.Unix()
	}
	return c.rest(b[12:])
}

func (c *Clock) iso(b []byte) (Stamp, bool) {
	if string(c.day[:10]) != string(b[:10]) || c.day[10] != 'i' {
		day, err := time.Parse("2006-01-02", string(b[:10]))
		if err != nil {
			return Stamp{}, false
		}
		copy(c.day[:], b[:10])
		c.day[10] = 'i'
		c.dayUnix = day.Unix()
	}
	return c.rest(b[11:])
}

// rest reads hh:mm:ss, an optional fraction and an optional zone.
func (c *Clock) rest(b []byte) (Stamp, bool) {
	if len(b) < 8 || b[2] != ':' || b[5] != ':' {
		return Stamp{}, false
	}
	h, m, s := two(b), two(b[3:]), two(b[6:])
	if h > 23 || m > 59 || s > 60 {
		return Stamp{}, false
	}
	t := Stamp{Unix: c.dayUnix + int64(h*3600+m*60+s)}
	b = b[8:]
	if len(b) > 0 && (b[0] == '.' || b[0] == ',') {
		i := 1
		for i < len(b) && b[i]-'0' < 10 {
			i++
		}
		b = b[i:]
	}
	b = bytes.TrimLeft(b, " ")
	if len(b) == 0 {
		t.Local = true
		return t, true
	}
	if string(b) == "Z" || string(b) == "UTC" || string(b) == "GMT" {
		return t, true
	}
	if len(b) < 5 || b[0] != '+' && b[0] != '-' {
		return Stamp{}, false
	}
	zh, zm := two(b[1:]), two(b[len(b)-2:])
	if zh > 14 || zm > 59 || len(b) > 6 {
		return Stamp{}, false
	}
	t.Offset = int16(zh*60 + zm)
	if b[0] == '-' {
		t.Offset = -t.Offset
	}
	t.Unix -= int64(t.Offset) * 60
	return t, true
}

// two reads two digits; anything else gives more than 99.
func two(b []byte) int {
	if h, l := b[0]-'0', b[1]-'0'; h < 10 && l < 10 {
		return int(h)*10 + int(l)
	}
	return 100
}

// unixStamp reads a Unix time. Its unit follows from its size: seconds have
// ten digits from 2001 to 2286, milliseconds thirteen, and so on.
func unixStamp(b []byte) (Stamp, bool) {
	whole, _, _ := bytes.Cut(b, []byte("."))
	n, err := strconv.ParseInt(string(whole), 10, 64)
	if err != nil {
		if f, ferr := strconv.ParseFloat(string(b), 64); ferr == nil && f > 1e8 && f < 1e11 {
			return Stamp{Unix: int64(f)}, true // JSON encoders write 1.6e+09
		}
		return Stamp{}, false
	}
	for _, unit := range []int64{1, 1e3, 1e6, 1e9} {
		if s := n / unit; s >= 1e8 && s < 1e11 {
			return Stamp{Unix: s}, true
		}
	}
	return Stamp{}, false
}
