package facts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
)

// FromTexts makes facts of outputs that are already there, by the names that
// evidence gives them: "/proc/net/netstat", "netstat -m", "ethtool -S eth0",
// "/sys/class/net" (as grep prints it), "second sample" (with a window).
// "uname -a" must be among them.
func FromTexts(name string, texts map[string]string, window time.Duration) (*Facts, error) {
	if texts["ip -s -d link show"] == "" {
		texts = maps.Clone(texts)
		texts["ip -s -d link show"] = namedLinks(texts)
	}
	f, err := Collect(context.Background(), &textConn{name, texts},
		Options{Thorough: true, Window: window, everything: true})
	if err == nil {
		f.readBondings(texts)
		f.checkNames()
	}
	return f, err
}

// namedLinks lists the interfaces that other outputs of Linux name, in the
// form of ip link and with nothing known about them.
func namedLinks(texts map[string]string) string {
	names := map[string]bool{}
	for key, value := range texts {
		if nic := InterfaceOf(key); nic != "" {
			names[nic] = true
		}
		for _, line := range strings.Split(value, "\n") {
			switch key {
			case "/sys/class/net":
				if nic, _, ok := strings.Cut(line, "/"); ok {
					names[nic] = true
				}
			case "/proc/interrupts":
				if m := queueInterrupt.FindStringSubmatch(line); m != nil {
					names[m[1]] = true
				}
			case "tc -s qdisc show":
				if strings.HasPrefix(line, "qdisc ") {
					names[cmp.Or(pairs(strings.Fields(line))["dev"], UnnamedLink)] = true
				}
				for _, q := range jsonRows[jsonQdisc](text{key, []byte(line)}) {
					names[cmp.Or(q.Dev, UnnamedLink)] = true
				}
			}
		}
	}
	delete(names, "lo")
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(&b, "%d: %s: <UP,LOWER_UP>\n", i+1, name)
	}
	return b.String()
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

// SetPlaces says at which lines of the file that was posted the lines of each output stand, counted from 1; 0 is a line
// that was put there.
func (f *Facts) SetPlaces(places map[string][]int) { f.places = places }

// Posted says where in the file that was given a line stands: the file's name and its line, and which output it is of.
// The lines of a host, or of outputs that are files of their own, are returned as they are.
func (f *Facts) Posted(s Source) Source {
	places := f.places[s.From]
	if places == nil {
		places = f.places[OutputOfCommand(s.From)]
	}
	if places == nil {
		return s
	}
	at := 0
	if s.Line >= 1 && s.Line <= len(places) {
		at = places[s.Line-1]
	}
	return Source{From: f.Host, Line: at, Text: s.Text, Output: s.From}
}
