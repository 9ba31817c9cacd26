package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// linkLog is what the kernel's log says of one link.
type linkLog struct {
	downs, ups []facts.Source
	// downAt and upAt are seconds since the start of the system, of the lines that show them.
	downAt, upAt []float64
	// downOn and upOn are the dates of the lines, where a log has them and no start of a system is in it.
	downOn, upOn []time.Time
	// fell and rose are when it last went down and came up again, by the dates of a log.
	fell, rose time.Time
	roseAt     facts.Source
	down       bool // the last line of it said that it is down
	byDriver   bool // and its driver said so
	mayRise    bool // the log shows its way up as well
	atStart    bool // the log shows the start of the system or of a card: drivers then set the link up more than once
}

// The least changes of a link that are worth a word. Two are enough where they follow each other closely, long after
// the start, while which a driver sets its link up more than once. Without a message that it went down the dates of a log may be
// those of three starts; times since one start are not, and nobody sets a link up three times in an hour that works.
const (
	oftenDown  = 3
	closely    = 600 // seconds
	thatHour   = 3600
	afterStart = 120
)

// cardAttaches is what the BSDs log of a card when its driver attaches.
var cardAttaches = regexp.MustCompile(`^[a-z]+\d+: (?:<|Ethernet address)`)

// linkLogs are the links of the log, by their names.
func linkLogs(f *facts.Facts) map[string]*linkLog {
	links := map[string]*linkLog{}
	lines := f.Lines("dmesg")
	started, attached := slices.ContainsFunc(lines, systemStart.MatchString), slices.ContainsFunc(lines, cardAttaches.MatchString)
	of := func(name string) *linkLog {
		if n := f.NIC(name); n != nil && !physical(n) || f.System != system.Linux && withoutCable.MatchString(name) {
			return nil
		}
		if links[name] == nil {
			links[name] = &linkLog{atStart: started || attached}
		}
		return links[name]
	}
	falls, rises, written := make([]string, len(lines)), make([]string, len(lines)), make([]time.Time, len(lines))
	dated := false
	for i, line := range lines {
		if falls[i], rises[i] = linkChange(line); falls[i]+rises[i] != "" {
			written[i] = writtenAt(line)
		}
		dated = dated || falls[i] != "" && !written[i].IsZero()
		if rises[i] != "" {
			if l := of(rises[i]); l != nil {
				l.mayRise = true
			}
		}
	}
	for _, i := range inTime(written) {
		line := lines[i]
		src := func() facts.Source { return f.Line("dmesg", i+1) }
		if name := falls[i]; name != "" {
			if dated && written[i].IsZero() && !sinceStart.MatchString(line) {
				continue // a title or a sentence repeats it
			}
			// Some drivers say once more that it is down, before it is up again; bonding says it after the driver, and before it
			// waits for downdelay more than once.
			bonds := strings.Contains(line, "link status ") // bond_miimon_inspect and bond_miimon_commit in drivers/net/bonding/bond_main.c
			if l := of(name); l != nil && !(l.down && (l.mayRise || bonds && l.byDriver || strings.Contains(line, "link status down"))) {
				l.down, l.byDriver, l.downs = true, !bonds, append(l.downs, src())
				l.downAt = stamped(l.downAt, line)
				l.fell, l.rose = written[i], time.Time{}
				if !l.fell.IsZero() && !started {
					l.downOn = append(l.downOn, l.fell)
				}
			}
		} else if rises[i] != "" {
			// Intel's drivers reset the card for another MTU, which brings the link up once more.
			if l := of(rises[i]); l != nil && (l.down || i == 0 || !strings.Contains(lines[i-1], "changing MTU from")) {
				l.down, l.ups = false, append(l.ups, src())
				l.upAt = stamped(l.upAt, line)
				at := written[i]
				if l.rose.IsZero() && len(l.downs) > 0 {
					l.rose, l.roseAt = at, src()
				}
				if !at.IsZero() && !started {
					l.upOn = append(l.upOn, at)
				}
			}
		}
	}
	return links
}

// inTime are the indexes of lines with these dates from the oldest to the newest: OPNsense and pfSense show the newest of a
// log first.
func inTime(dates []time.Time) []int {
	var first, last time.Time
	order := make([]int, len(dates))
	for i, at := range dates {
		order[i] = i
		if !at.IsZero() {
			if first.IsZero() {
				first = at
			}
			last = at
		}
	}
	if last.Before(first) {
		slices.Reverse(order)
	}
	return order
}

// flaps says how the link changed, with the lines that show it; "" where it is not worth a word.
func (l *linkLog) flaps() (string, []facts.Source) {
	switch n := len(l.downs); {
	case n >= oftenDown || n == 2 && (together(l.downAt, 2, closely) || near(l.downOn, 2, closely)):
		return "going down " + counted(n, "time"), sample(l.downs)
	case n == 0 && len(l.ups) >= oftenDown && (together(l.upAt, oftenDown, thatHour) || near(l.upOn, oftenDown, closely)):
		return "coming up " + counted(len(l.ups), "time") + " with no message saying why it went down", sample(l.ups)
	}
	return "", nil
}

// outage says how long a link was down that went down once while a log was written, with the lines that show it. One
// time may be somebody who changed a cable.
func (l *linkLog) outage() (string, []facts.Source) {
	took := l.rose.Sub(l.fell)
	switch {
	case len(l.downs) == 2 && len(l.ups) >= 2 && len(l.downAt)+len(l.downOn) == 0 && l.fell.IsZero() && !l.atStart:
		return "going down 2 times, in lines without a time", l.downs
	case len(l.downs) != 1 || len(l.ups) == 0:
		return "", nil
	case !l.fell.IsZero() && !l.rose.IsZero():
	case len(l.downAt) == 1 && len(l.ups) == 1 && len(l.upAt) == 1 && l.downAt[0] > afterStart:
		took = time.Duration((l.upAt[0] - l.downAt[0]) * float64(time.Second)).Round(time.Second / 10)
		l.roseAt = l.ups[0]
	default:
		return "", nil
	}
	if took <= 0 && l.fell.IsZero() || took < 0 {
		return "", nil
	}
	lasted := fmt.Sprintf("for %g s", took.Seconds())
	if took < time.Second {
		lasted = "for less than a second"
	}
	return "going down once, " + lasted, []facts.Source{l.downs[0], l.roseAt}
}

// stayedDown reports whether the link went down once while a log was written, and not up again.
func (l *linkLog) stayedDown() bool {
	return len(l.downs) == 1 && len(l.ups) == 0 && (len(l.downAt) == 1 && l.downAt[0] > afterStart || len(l.downAt) == 0 && len(l.downOn) == 1)
}

// writtenAt is the time that syslog wrote before a line; of those without a year the distance is right within one.
func writtenAt(line string) time.Time {
	if m := syslogTime.FindString(line); m != "" {
		for _, form := range []string{"Jan _2 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
			if at, err := time.Parse(form, m); err == nil {
				return at
			}
		}
	}
	return time.Time{}
}

var syslogTime = regexp.MustCompile(`\b(?:[A-Z][a-z]{2} [ \d]?\d|\d{4}-\d{2}-\d{2}[T ]?) ?\d{2}:\d{2}:\d{2}`)

// together reports whether some of the times, as many as are wanted, lie within seconds and long after the start.
func together(at []float64, many int, within float64) bool {
	for i := 0; i+many <= len(at); i++ {
		if first, last := at[i], at[i+many-1]; first > afterStart && last >= first && last-first < within {
			return true
		}
	}
	return false
}

// near reports whether some of the dates, as many as are wanted, lie within seconds.
func near(dates []time.Time, many, within int) bool {
	for i := 0; i+many <= len(dates); i++ {
		if d := dates[i+many-1].Sub(dates[i]); d > 0 && d < time.Duration(within)*time.Second {
			return true
		}
	}
	return false
}

// systemStart is a line of the kernel at its start, when drivers set their links up more than once.
var systemStart = regexp.MustCompile(`Copyright \(c\) 1992-|---<<BOOT>>---|Linux version \d|` +
	`OpenBSD \d+\.\d+\S* .*#\d+|` +
	`real mem(?:ory)? +=|kernel boot file is`)

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
// medium (bnx2_report_link), bna puts its own name before the interface's, those of switches the port behind it, r8152 says "carrier off", atlantic (aq_nic.c) and ax88179_178a have words of their own.
var (
	linkDown = regexp.MustCompile(`(?i)(?:([a-z][\w.@-]*):? (?:NIC (?:(?:Remote )?(?:Copper|` +
		`SerDes) )?)?link is down|([a-z][\w.@-]*): (?:carrier off\b|` +
		`atlantic: link change old \d+ new 0\b|ax88179\w* - link status is: 0)|` +
		`([a-z][\w.@-]*): link (?:state changed to )?DOWN\b|` +
		`\b([a-z][\w.@-]*)(?: \([^)]{1,40}\)){1,4}:? link (?:is )?DOWN\b|` +
		`\(slave ([a-z][\w.@-]*)\): link status (?:definitely )?down|` +
		`link status (?:definitely )?down for (?:(?:active|backup) )?interface ([a-z][\w.@-]*)|` +
		`netifd: Network device '([a-z][\w.@-]*)' link is down|` +
		`(?:\b[a-z]\w+:|\binterface,info) ([a-z][\w.@-]*) link down$|([a-z][\w.@-]*: port \d+) link down$|` +
		`systemd-networkd\S*: ((?:e[nt]|wl|ib|bond)[\w.@-]*): lost carrier)`)
	linkRose = regexp.MustCompile(`(?i)(?:([a-z][\w.@-]*):? (?:NIC (?:(?:Remote )?(?:Copper|` +
		`SerDes) )?)?link is up\b|([a-z][\w.@-]*): (?:carrier on\b|` +
		`atlantic: link change old \d+ new [1-9]|ax88179\w* - link status is: 1)|` +
		`([a-z][\w.@-]*): link (?:state changed to )?UP\b|` +
		`\(slave ([a-z][\w.@-]*)\): link status (?:definitely up|up again)|` +
		`link status (?:definitely up|up again after \d+ ms) for interface ([a-z][\w.@-]*)|` +
		`netifd: Network device '([a-z][\w.@-]*)' link is up|` +
		`(?:\b[a-z]\w+:|\binterface,info) ([a-z][\w.@-]*) link up(?: \(speed .*)?$|([a-z][\w.@-]*: port \d+) link up\b|` +
		`systemd-networkd\S*: ((?:e[nt]|wl|ib|bond)[\w.@-]*): gained carrier)`)
)

// linkChange is the link that a line shows going down, or coming up.
func linkChange(line string) (down, up string) {
	if name, isDown, plain := plainChange(line); plain && isDown {
		return name, ""
	} else if plain {
		return "", name
	}
	if down = firstGroup(linkDown, line); down != "" {
		return down, ""
	}
	return "", firstGroup(linkRose, line)
}

// plainChange reads the form that most drivers use, as linkDown and linkRose do, in a fraction of their time: a log may hold
// hundreds of thousands of them.
func plainChange(line string) (name string, down, plain bool) {
	const mark = " NIC Link is "
	at := strings.Index(line, mark)
	if at < 0 || strings.Count(line, "ink") != 1 {
		return "", false, false
	}
	rest := line[at+len(mark):]
	down = strings.HasPrefix(rest, "Down")
	if !down && rest != "Up" && !strings.HasPrefix(rest, "Up ") {
		return "", false, false
	}
	name = strings.TrimSuffix(line[:at], ":")
	name = name[strings.LastIndexAny(name, " \t")+1:]
	return name, down, plainLink.MatchString(name)
}

var plainLink = regexp.MustCompile(`^[a-z]\w*$`)

// fallen is the first link, by its name, that the log shows going down.
func fallen(f *facts.Facts) string {
	logs := linkLogs(f)
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		if len(logs[name].downs) > 0 && !builtOn.MatchString(name) {
			return name
		}
	}
	return ""
}
