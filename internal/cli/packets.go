package cli

import (
	"cmp"
	"fmt"
	"os"

	"github.com/wirerate/wirerate/internal/input"
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
	if how != "text" && how != "json" {
		return usagef("--format %s: text and json are what a packet capture is shown in", how)
	}
	a, err := analyze(name)
	if err != nil {
		return err
	}
	if how == "json" {
		return env.printJSON(a)
	}
	report.PacketsText(env.Stdout, a, cmp.Or(env.columns(), terminal.Columns))
	return nil
}

// ofHosts names a flag that was given and says nothing of a packet capture.
func (opt inspectOptions) ofHosts() string {
	for flag, value := range map[string]string{"path": opt.path, "role": opt.role, "for": opt.window,
		"fail-on": opt.failOn, "peer": opt.peer} {
		if value != "" {
			return flag
		}
	}
	return ""
}

func analyze(name string) (packets.Analysis, error) {
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
