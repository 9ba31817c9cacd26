package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wirerate/wirerate/internal/cli"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/workload"
)

func TestMain(m *testing.M) {
	if served, status := host.ServeIfAgent(); served {
		os.Exit(status)
	}
	if len(os.Args) > 1 && os.Args[1] == workload.TrafficVerb {
		os.Exit(cli.Main()) // the built-in generator of a benchmark
	}
	// Tests wait for runs and timers most of the time: more of them than there are
	// processors go on side by side.
	if err := flag.Set("test.parallel", strconv.Itoa(max(6, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	testscript.Main(checked{m}, map[string]func(){"wirerate": func() { os.Exit(mainChecked()) }, "prometheus": serveMetrics})
}

// checked runs tests and fails when a program that they started, outside of
// scripts, printed JSON that is not what its schema says.
type checked struct{ *testing.M }

// Run implements testscript.TestingM.
func (c checked) Run() int {
	schemas, err := filepath.Abs("../../docs/schema")
	if err != nil {
		panic(err)
	}
	faults, err := os.MkdirTemp("", "wirerate-faults-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(faults)
	os.Setenv(schemaFolder, schemas)
	os.Setenv(faultFolder, faults)
	status := c.M.Run()
	found, _ := filepath.Glob(filepath.Join(faults, "*"))
	for _, name := range found {
		text, _ := os.ReadFile(name)
		fmt.Fprintf(os.Stderr, "%s\n", text)
		status = max(status, 1)
	}
	return status
}

// TestScripts runs the command line's contract.
func TestScripts(t *testing.T) {
	t.Parallel()
	faults := t.TempDir()
	t.Cleanup(func() { noFaults(t, faults) })
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Condition:           condition,
		Setup: func(env *testscript.Env) error {
			env.Setenv(faultFolder, faults)
			return setup(env)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"measures": measures, "schema": validates},
	})
}

// setup gives a script $RUN, which ends the names of what it makes on this machine
// so that no other run's are like them, and takes down the labs of such names that
// it leaves when it fails.
func setup(env *testscript.Env) error {
	run := fmt.Sprintf("%d-%d", os.Getpid(), namespaceCount.Add(1))
	env.Setenv("RUN", run)
	schemas, err := filepath.Abs("../../docs/schema")
	if err != nil {
		return err
	}
	env.Setenv(schemaFolder, schemas)
	contrib, err := filepath.Abs("../../contrib")
	if err != nil {
		return err
	}
	env.Setenv("CONTRIB", contrib)
	env.Setenv("PYTHON", python())
	env.Setenv("XDG_RUNTIME_DIR", env.WorkDir)
	env.Defer(func() {
		wirerate := func(args ...string) string {
			cmd := exec.Command("wirerate", args...)
			cmd.Env = append(os.Environ(), env.Vars...)
			out, _ := cmd.Output() // nothing to take down is nothing to say
			return string(out)
		}
		for name := range strings.Lines(wirerate("lab", "list")) {
			if name = strings.TrimSpace(name); strings.HasSuffix(name, run) {
				wirerate("lab", "down", name)
			}
		}
		removeNamespaces("ns-" + run)
	})
	return nil
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
// device for labs, [userns] those of an ordinary user, [root], [ipv6], and [nft]
// and [rules], the kernel's packet filter and routing rules with the program for
// them, and [pygls], [eglot] and [mcp], clients of language servers and of tools.
func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Geteuid() == 0, nil
	case "netns":
		return labPossible(), nil
	case "userns":
		return exec.Command("setpriv", "--bounding-set=-sys_admin,-net_admin", "unshare", "-rnm", "mount", "-t", "tmpfs", "none", "/tmp").Run() == nil, nil
	case "ipv6":
		_, err := os.Stat("/proc/sys/net/ipv6")
		return err == nil, nil
	case "nft":
		return inNamespace("nft add table inet x && nft add chain inet x y '{ type filter hook forward priority 0; policy drop; }'"), nil
	case "pygls":
		return exec.Command(python(), "-c", "import pygls.lsp.client").Run() == nil, nil
	case "eglot":
		return exec.Command("emacs", "--batch", "--eval", "(progn (require 'package) (package-initialize) (require 'eglot))").Run() == nil, nil
	case "mcp":
		return exec.Command(python(), "-c", "import mcp.client.stdio").Run() == nil, nil
	case "rules":
		return inNamespace("ip rule add pref 1 iif lo prohibit"), nil
	}
	return false, nil
}

// python is the interpreter of the folder in which tools/install.sh puts what
// comes from PyPI, else the machine's.
func python() string {
	if own, err := filepath.Abs("../../.venv/bin/python3"); err == nil {
		if _, err := os.Stat(own); err == nil {
			return own
		}
	}
	return "python3"
}

// inNamespace says whether a shell command does its work in namespaces such as a
// lab's.
func inNamespace(command string) bool {
	return exec.Command("unshare", "-rn", "sh", "-c", command).Run() == nil
}

func labPossible() bool {
	f, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	f.Close()
	return inNamespace("true")
}
