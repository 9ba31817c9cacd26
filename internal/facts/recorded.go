package facts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/system"
)

// FromTexts makes facts of outputs that are already there, by the names that
// evidence gives them: "/proc/net/netstat", "netstat -m", "ethtool -S eth0",
// "/sys/class/net" (as grep prints it), "second sample" (with a window).
// "uname -a" must be among them.
func FromTexts(name string, texts map[string]string, window time.Duration) (*Facts, error) {
	return fromRound(name, Round{Texts: texts}, Options{Window: window})
}

// Round is what was posted once of each output. Several rounds are parts of one answer, and samples in time of what is
// in more than one of them.
type Round struct {
	Texts map[string]string
	// Places are the lines of the file that was posted at which the lines of each text stand, counted from 1; 0 is a
	// line that was put there.
	Places map[string][]int
	// Commands are those that printed the texts, as they were typed.
	Commands map[string]string
	// Seconds are how long after the round before each output was printed; what is not in it is not known.
	Seconds map[string]float64
}

// FromRounds makes facts of what was posted in several rounds, in their order; the first one must hold "uname -a".
func FromRounds(name string, rounds []Round) (*Facts, error) {
	f, err := fromRound(name, rounds[0], Options{})
	if err != nil {
		return nil, err
	}
	if f.places = maps.Clone(rounds[0].Places); f.places == nil {
		f.places = map[string][]int{}
	}
	for _, r := range rounds[1:] {
		if r.Texts["uname -a"] == "" {
			r.Texts = maps.Clone(r.Texts)
			r.Texts["uname -a"] = rounds[0].Texts["uname -a"]
		}
		before := map[string]int{}
		for from, lines := range f.texts {
			before[from] = len(lines)
		}
		later, err := fromRound(name, r, Options{before: before})
		if err != nil {
			return nil, err
		}
		f.join(later, r)
	}
	f.finish()
	return f, nil
}

func fromRound(name string, r Round, opt Options) (*Facts, error) {
	const links = "ip -s -d link show"
	texts := r.Texts
	named := namedLinks(r)
	if shown := texts[links]; !strings.HasPrefix(strings.TrimSpace(shown), "[") {
		for _, m := range shownLink.FindAllStringSubmatch(shown, -1) {
			delete(named, m[1])
		}
		texts = maps.Clone(texts)
		texts[links] = shown + listed(named)
	}
	opt.Thorough, opt.everything, opt.round = true, true, r
	f, err := Collect(context.Background(), &textConn{name, texts}, opt)
	if err != nil {
		return nil, err
	}
	for i := range f.NICs {
		n := &f.NICs[i]
		if from := named[n.Name]; from != "" && f.System == system.Linux { // of ip nothing was posted
			n.Source, n.StateUnknown = Source{From: from, Line: 1}, n.Shown["link"].Text == ""
			delete(n.Shown, "mtu")
			delete(n.Shown, "up")
			if lines := f.texts[from]; len(lines) > 0 {
				n.Source.Text = shorten(lines[0])
			}
		}
	}
	f.readBondings(texts)
	f.checkNames()
	return f, nil
}

// shownLink finds the interfaces of ip link and ip address.
var shownLink = regexp.MustCompile(`(?m)^\d+: ([^\s:@]+)[@:]`)

// listed are interfaces in the form of ip link, with nothing known about them.
func listed(named map[string]string) string {
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(named)) {
		fmt.Fprintf(&b, "%d: %s: <UP,LOWER_UP>\n", i+1, name)
	}
	return b.String()
}

// namedLinks are the interfaces that other outputs of Linux name, with the output that does.
func namedLinks(r Round) map[string]string {
	texts := r.Texts
	names := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		keep := func(nic string) {
			if nic != "" && nic != "lo" && names[nic] == "" {
				names[nic] = key
			}
		}
		keep(InterfaceOf(key))
		for line := range strings.Lines(texts[key]) {
			line = strings.TrimRight(line, "\r\n")
			switch key {
			case "/sys/class/net":
				if nic, _, ok := strings.Cut(line, "/"); ok {
					keep(nic)
				}
			case lshw:
				if m := lshwLink.FindStringSubmatch(line); m != nil {
					keep(m[1])
				}
			case "mii-tool":
				if m := miiLink.FindStringSubmatch(line); m != nil {
					keep(m[1])
				}
			case "/proc/interrupts":
				if m := queueInterrupt.FindStringSubmatch(line); m != nil {
					keep(m[1])
				}
			case "tc -s qdisc show", "tc -s class show", "tc -s filter show":
				if words := strings.Fields(line); len(words) > 0 && slices.Contains([]string{"qdisc", "class", "filter"}, words[0]) {
					typed := text{typed: r.Commands[key]}
					keep(cmp.Or(pairs(words)["dev"], typed.device(), UnnamedLink))
				}
				for _, q := range jsonRows[jsonQdisc](text{from: key, data: []byte(line)}) {
					keep(cmp.Or(q.Dev, UnnamedLink))
				}
			}
		}
	}
	return names
}

// queueInterrupt finds the interface in the name of a queue's interrupt.
var queueInterrupt = regexp.MustCompile(`^ *\d+:.* (?:i40e-|ice-|bnxt_en-)?([a-z][a-z0-9_.]*?)(?:-Tx-?Rx|-TxRx|-rx|` +
	`-tx|-fp|-q)[-0-9]`)

// textConn answers from texts.
type textConn struct {
	name  string
	texts map[string]string
}

func (c *textConn) Name() string { return c.name }

func (c *textConn) Do(_ context.Context, ops ...host.Op) ([]host.Answer, error) {
	answers := make([]host.Answer, len(ops))
	for i, op := range ops {
		name := readerName(op)
		out := cmp.Or(c.texts[name], c.texts[OutputOfCommand(name)]) // OpenBSD's netstat -rn is known as netstat -rnW
		answers[i] = host.Answer{Op: op, Out: []byte(out)}
		if out == "" {
			answers[i].Failure, answers[i].Stderr = host.Absent, "not recorded"
		}
	}
	return answers, nil
}

func (c *textConn) Start(context.Context, ...string) (host.Process, error) {
	return nil, errors.New("recorded outputs: nothing can be run on them")
}

func (c *textConn) Close() error { return nil }

// Used are the lines of the file that was posted that say something which is known.
func (f *Facts) Used() map[int]bool {
	used := map[int]bool{}
	for from, lines := range f.used {
		places := f.placesOf(from)
		for line := range lines {
			if line >= 1 && line <= len(places) {
				used[places[line-1]] = true
			}
		}
	}
	return used
}

// ForgetPlaces is for outputs whose lines are not those of the file that was posted.
func (f *Facts) ForgetPlaces() { f.places = nil }

// placesOf are where the lines of a source stand in the file that was posted.
func (f *Facts) placesOf(from string) []int {
	if places := f.places[from]; places != nil {
		return places
	}
	return f.places[OutputOfCommand(from)]
}

// Posted says where in the file that was given a line stands: the file's name and its line, and which output it is of.
// The lines of a host, or of outputs that are files of their own, are returned as they are.
func (f *Facts) Posted(s Source) Source {
	places := f.placesOf(s.From)
	if places == nil {
		return s
	}
	at := 0
	if s.Line >= 1 && s.Line <= len(places) {
		at = places[s.Line-1]
	}
	return Source{From: f.Host, Line: at, Text: s.Text, Output: s.From}
}
