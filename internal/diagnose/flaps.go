package diagnose

import (
	"strconv"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
)

// linkLog is what the kernel's log says of one link.
type linkLog struct {
	downs, ups []facts.Source
	// downAt and upAt are seconds since the start of the system, of the lines that show them.
	downAt, upAt []float64
	down         bool // the last line of it said that it is down
	mayRise      bool // the log shows its way up as well
}

// The least changes of a link that are worth a word. Two are enough where they follow each other closely, long after
// the start, while which a driver sets its link up more than once.
const (
	oftenDown  = 3
	closely    = 600 // seconds
	afterStart = 120
)

// linkLogs are the links of the log, by their names.
func linkLogs(f *facts.Facts) map[string]*linkLog {
	links := map[string]*linkLog{}
	of := func(name string) *linkLog {
		if n := f.NIC(name); n != nil && !physical(n) {
			return nil
		}
		if links[name] == nil {
			links[name] = &linkLog{}
		}
		return links[name]
	}
	lines := f.Lines("dmesg")
	for _, line := range lines {
		if up := firstGroup(linkRose, line); up != "" {
			if l := of(up); l != nil {
				l.mayRise = true
			}
		}
	}
	for i, line := range lines {
		src := func() facts.Source { return f.Line("dmesg", i+1) }
		if name := firstGroup(linkDown, line); name != "" {
			// Some drivers say once more that it is down, before it is up again.
			if l := of(name); l != nil && !(l.down && l.mayRise) {
				l.down, l.downs = true, append(l.downs, src())
				l.downAt = stamped(l.downAt, line)
			}
		} else if name := firstGroup(linkRose, line); name != "" {
			if l := of(name); l != nil {
				l.down, l.ups = false, append(l.ups, src())
				l.upAt = stamped(l.upAt, line)
			}
		}
	}
	return links
}

// flaps says how the link changed, with the lines that show it; "" where it is not worth a word.
func (l *linkLog) flaps() (string, []facts.Source) {
	switch n := len(l.downs); {
	case n >= oftenDown || n == 2 && together(l.downAt, 2):
		return "going down " + counted(n, "time"), sample(l.downs)
	case n == 0 && len(l.ups) >= oftenDown && together(l.upAt, oftenDown):
		return "coming up " + counted(len(l.ups), "time") + " without a word of why it went down", sample(l.ups)
	}
	return "", nil
}

// together reports whether some of the times, as many as are wanted, lie close to each other and long after the start.
func together(at []float64, many int) bool {
	for i := 0; i+many <= len(at); i++ {
		if first, last := at[i], at[i+many-1]; first > afterStart && last >= first && last-first < closely {
			return true
		}
	}
	return false
}

func firstGroup(r *regexp.Regexp, line string) string {
	for i, m := range r.FindStringSubmatch(line) {
		if i > 0 && m != "" {
			return m
		}
	}
	return ""
}

// stamped adds the time that a line shows.
func stamped(times []float64, line string) []float64 {
	if m := sinceStart.FindStringSubmatch(line); m != nil {
		if s, err := strconv.ParseFloat(m[1], 64); err == nil {
			return append(times, s)
		}
	}
	return times
}

var sinceStart = regexp.MustCompile(`\[ *(\d{1,9}\.\d{6})\]`)

// linkDown and linkRose are what drivers of Linux and the kernels of FreeBSD and OpenBSD say of a link: bnx2 names the
// medium (bnx2_report_link), r8152 says "carrier off", atlantic (aq_nic.c) and ax88179_178a have words of their own.
var (
	linkDown = regexp.MustCompile(`(?i)(?:([a-z][\w.@-]*):? (?:NIC (?:(?:Remote )?(?:Copper|SerDes) )?)?link is down|([a-z][\w.@-]*): (?:carrier off\b|` +
		`atlantic: link change old \d+ new 0\b|ax88179\w* - link status is: 0)|([a-z][\w.@-]*): link (?:state changed to )?DOWN\b|` +
		`\b([a-z][\w.@-]*)(?: \([^)]{1,40}\)){1,4}:? link (?:is )?DOWN\b|\(slave ([a-z][\w.@-]*)\): link status definitely down|` +
		`systemd-networkd\S*: ((?:e[nt]|wl|ib|bond)[\w.@-]*): lost carrier)`)
	linkRose = regexp.MustCompile(`(?i)(?:([a-z][\w.@-]*):? (?:NIC (?:(?:Remote )?(?:Copper|SerDes) )?)?link is up\b|([a-z][\w.@-]*): (?:carrier on\b|` +
		`atlantic: link change old \d+ new [1-9]|ax88179\w* - link status is: 1)|([a-z][\w.@-]*): link (?:state changed to )?UP\b|` +
		`systemd-networkd\S*: ((?:e[nt]|wl|ib|bond)[\w.@-]*): gained carrier)`)
)
