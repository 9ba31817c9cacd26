package cli

import (
	"fmt"
	"os"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/packets"
	"github.com/wirerate/wirerate/internal/report"
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
func inspectPackets(env *Env, name, how string) error {
	f, err := input.Open(name)
	if err != nil {
		return usage(err)
	}
	defer f.Close()
	t, err := packets.Read(f)
	if err != nil {
		return usage(fmt.Errorf("%s: %w", name, err))
	}
	a := packets.Analyze(name, t)
	switch how {
	case "json":
		return env.printJSON(a)
	case "text":
		report.PacketsText(env.Stdout, a, 80)
		return nil
	}
	return usagef("--format %s: text and json are what a packet capture is shown in", how)
}
