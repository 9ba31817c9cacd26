package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/packets"
)

// captureScript writes the packets of interface $1 for $2 seconds to standard
// output, 128 bytes of each and at most 400000: what a host's answer may hold.
// The rest of its arguments is tcpdump's filter.
const captureScript = `command -v tcpdump >/dev/null 2>&1 || exit 127
i=$1 s=$2; shift 2
tcpdump -i "$i" -s 128 -c 400000 -w - "$@" & p=$!
{ sleep "$s"; kill "$p"; } >/dev/null 2>&1 &
wait "$p"`

const defaultCapture = 10 * time.Second

// liveHost parts the arguments of --capture: a HOST first, if there is one, and a
// filter.
func liveHost(args []string) (name string, filter []string) {
	if len(args) > 0 && (args[0] == "local" || strings.HasPrefix(args[0], "ns:") || strings.HasPrefix(args[0], "ssh://")) {
		return args[0], args[1:]
	}
	return "local", args
}

// captureLive captures packets on a host with its own tcpdump, and judges them.
func captureLive(ctx context.Context, env *Env, opt inspectOptions, args []string) (packets.Analysis, error) {
	var none packets.Analysis
	window, err := parseWindow(opt.window)
	if err != nil {
		return none, usage(err)
	}
	window = cmp.Or(window, defaultCapture)
	if opt.capture == "" {
		return none, usagef("--capture: an interface is expected")
	}
	name, filter := liveHost(args)
	for _, word := range append([]string{opt.capture}, filter...) {
		if strings.HasPrefix(word, "-") || strings.ContainsFunc(word, func(r rune) bool { return r < ' ' }) {
			return none, usagef("--capture: %q is neither an interface nor part of a filter", word)
		}
	}
	c, err := env.open(ctx, name)
	if err != nil {
		return none, err
	}
	defer c.Close()
	words := append([]string{"sh", "-c", captureScript, "sh", opt.capture, fmt.Sprintf("%.1f", window.Seconds())},
		filter...)
	answers, err := c.Do(ctx, host.Command(words...).Within(window+time.Minute))
	if err != nil {
		return none, missing(err)
	}
	a := answers[0]
	switch said := host.Reason(a.Stderr); {
	case a.Status == 127:
		return none, missing(fmt.Errorf("tcpdump is not installed on %s: install the package tcpdump there", name))
	case a.Failure == host.Denied || strings.Contains(strings.ToLower(a.Stderr), "permission"):
		return none, missing(fmt.Errorf("%s: no right to capture on %s (%s): root has it", name, opt.capture, said))
	case len(a.Out) == 0:
		return none, usage(fmt.Errorf("%s: tcpdump: %s", name, cmp.Or(said, "it wrote nothing")))
	}
	t, err := packets.Read(bytes.NewReader(a.Out))
	if err != nil {
		return none, withStatus(exitNegative, fmt.Errorf("%s %s in %s: %w", name, opt.capture, window, err))
	}
	return packets.Analyze(name+" "+opt.capture, t), nil
}
