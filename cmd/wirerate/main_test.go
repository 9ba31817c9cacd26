package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wirerate/wirerate/internal/cli"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/workload"
)

func TestMain(m *testing.M) {
	host.ServeIfAgent()
	if len(os.Args) > 1 && os.Args[1] == workload.TrafficVerb {
		os.Exit(cli.Main()) // the built-in generator of a benchmark
	}
	testscript.Main(m, map[string]func(){"wirerate": func() { os.Exit(cli.Main()) }})
}

// TestScripts runs the command line's contract.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Condition:           condition,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"measures": measures},
	})
}

// measures runs a command whose verdict on what it measures is the machine's
// affair: it ends with status 0 or 1, and what it prints is there to be looked
// at.
func measures(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: measures command [args...]")
	}
	if status := exitStatus(ts.Exec(args[0], args[1:]...)); status != 0 && status != 1 {
		ts.Fatalf("exit status %d, want 0 or 1", status)
	}
}

// condition knows what this machine offers: [netns] namespaces and a TUN
// device for labs, [root].
func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Geteuid() == 0, nil
	case "netns":
		return labPossible(), nil
	}
	return false, nil
}

func labPossible() bool {
	f, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	f.Close()
	return exec.Command("unshare", "-rn", "true").Run() == nil
}
