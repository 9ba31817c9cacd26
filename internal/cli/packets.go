package cli

import (
	"cmp"
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
	if flag := opt.ofHosts(); flag != "" {
		return usagef("--%s is of hosts, and %s is a packet capture", flag, name)
	}
	if how == "svg" {
		return usagef("--format svg: text, json and html are what a packet capture is shown in")
	}
	a, err := analyze(name, opt.peer)
	if err != nil {
		return err
	}
	switch how {
	case "json":
		return env.printJSON(a)
	case "html":
		return failure(report.PacketsHTML(env.Stdout, a))
	}
	report.PacketsText(env.Stdout, a, cmp.Or(env.columns(), terminal.Columns))
	return nil
}

// ofHosts names a flag that was given and says nothing of a packet capture.
func (opt inspectOptions) ofHosts() string {
	for flag, value := range map[string]string{"path": opt.path, "role": opt.role, "for": opt.window,
		"fail-on": opt.failOn} {
		if value != "" {
			return flag
		}
	}
	return ""
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
