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
	known := map[string]string{}
	for key, value := range texts {
		known[key] = asPrinted(key, string(plainText([]byte(value))))
	}
	if known["ip -s -d link show"] == "" {
		known["ip -s -d link show"] = namedLinks(texts)
	}
	f, err := Collect(context.Background(), &textConn{name, known}, Options{Thorough: true, Window: window, everything: true})
	if err == nil {
		f.readBondings(known)
		f.checkNames()
	}
	return f, err
}

// namedLinks lists the interfaces that other outputs of Linux name, in the
// form of ip link and with nothing known about them.
func namedLinks(texts map[string]string) string {
	names := map[string]bool{}
	for key, value := range texts {
		if m := ethtoolName.FindStringSubmatch(key); m != nil {
			names[m[2]] = true
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
					names[cmp.Or(pairs(strings.Fields(line))["dev"], unnamedLink)] = true
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
var queueInterrupt = regexp.MustCompile(`^ *\d+:.* (?:i40e-|ice-|bnxt_en-)?([a-z][a-z0-9_.]*?)(?:-Tx-?Rx|-TxRx|-rx|-tx|-fp|-q)[-0-9]`)

// unnamedLink stands for the interface of an output that names none.
const unnamedLink = "interface"

// textConn answers from texts.
type textConn struct {
	name  string
	texts map[string]string
}

func (c *textConn) Name() string { return c.name }

func (c *textConn) Do(_ context.Context, ops ...host.Op) ([]host.Answer, error) {
	answers := make([]host.Answer, len(ops))
	for i, op := range ops {
		out, ok := c.texts[readerName(op)]
		answers[i] = host.Answer{Op: op, Out: []byte(out)}
		if !ok || out == "" {
			answers[i].Failure, answers[i].Stderr = host.Absent, "not recorded"
		}
	}
	return answers, nil
}

func (c *textConn) Start(context.Context, ...string) (host.Process, error) {
	return nil, errors.New("recorded outputs: nothing can be run on them")
}

func (c *textConn) Close() error { return nil }
