package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/packets"
	"github.com/wirerate/wirerate/internal/report"
	"github.com/wirerate/wirerate/internal/terminal"
)

// isPackets tells whether a HOST is a file with a packet capture.
func isPackets(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := input.Open(name)
	if err != nil {
		return false // whoever reads it says why
	}
	defer f.Close()
	return packets.Is(f)
}

// inspectPackets says what bound the flows of a packet capture.
func inspectPackets(env *Env, opt inspectOptions, name, how string) error {
	if opt.window != "" {
		return usagef("--for is of hosts, and %s is a packet capture", name)
	}
	if err := opt.ofPackets(name, how); err != nil {
		return err
	}
	a, err := analyze(name, opt.peer)
	if err != nil {
		return err
	}
	return env.showPackets(a, how)
}

// inspectLive captures packets and says what bound their flows.
func inspectLive(ctx context.Context, env *Env, opt inspectOptions, args []string, how string) error {
	if len(opt.from) > 0 || opt.peer != "" {
		return usagef("--capture is of packets that are to come; give no --from and no --peer")
	}
	if err := opt.ofPackets("--capture "+opt.capture, how); err != nil {
		return err
	}
	a, err := captureLive(ctx, env, opt, args)
	if err != nil {
		return err
	}
	return env.showPackets(a, how)
}

func (e *Env) showPackets(a packets.Analysis, how string) error {
	switch how {
	case "json":
		return e.printJSON(a)
	case "html":
		return failure(report.PacketsHTML(e.Stdout, a))
	}
	report.PacketsText(e.Stdout, a, cmp.Or(e.columns(), terminal.Columns))
	return nil
}

// ofPackets reports what was asked for and says nothing of packets.
func (opt inspectOptions) ofPackets(name, how string) error {
	for _, o := range []struct{ flag, value string }{{"path", opt.path}, {"role", opt.role}, {"fail-on", opt.failOn}} {
		if o.value != "" {
			return usagef("--%s is of hosts, and %s is a packet capture", o.flag, name)
		}
	}
	if how == "svg" {
		return usagef("--format svg: text, json and html are what a packet capture is shown in")
	}
	return nil
}

// analyze judges a capture, beside one of the other end where peer is not "".
func analyze(name, peer string) (packets.Analysis, error) {
	if peer != "" {
		if !isPackets(peer) {
			return packets.Analysis{}, usagef("--peer %s: beside a packet capture another one is expected", peer)
		}
		a, err := packets.AnalyzeBoth(captureFile(name), captureFile(peer))
		return a, usage(err)
	}
	f, err := input.Open(name)
	if err != nil {
		return packets.Analysis{}, usage(err)
	}
	defer f.Close()
	t, err := packets.Read(f)
	if err != nil {
		return packets.Analysis{}, usage(fmt.Errorf("%s: %w", name, err))
	}
	return packets.Analyze(name, t), nil
}

func captureFile(name string) packets.File {
	return packets.File{Name: name, Open: func() (io.ReadCloser, error) { return input.Open(name) }}
}

// capturedPath is the path of the connection with the most data in a packet
// capture.
func capturedPath(name string) (netpath.Path, error) {
	a, err := analyze(name, "")
	if err != nil {
		return netpath.Path{}, err
	}
	p, err := a.Path()
	if err != nil {
		return p, fmt.Errorf("--path %s: %w", name, err)
	}
	return p, p.Check()
}
