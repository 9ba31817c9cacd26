package main

import (
	"errors"
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
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"judged": judged},
	})
}

// judged runs a command that ends in a verdict, which on a noisy machine may be
// a negative one: status 0 or 1.
func judged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: judged command [argument ...]")
	}
	var exit *exec.ExitError
	if err := ts.Exec(args[0], args[1:]...); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		ts.Fatalf("%v", err)
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
