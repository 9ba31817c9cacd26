package main

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// documentedProgram finds the programs that a command of docs/lab.md names.
var documentedProgram = regexp.MustCompile(`\b(ping|iperf3|nuttcp|sockperf|python3|curl|nft|sysctl)\b`)

// What docs/lab.md tells people to type works.
func TestCommandsOfTheLabsDocument(t *testing.T) {
	t.Parallel()
	if !labPossible() {
		t.Skip("no namespaces or /dev/net/tun here")
	}
	text, err := os.ReadFile("../../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	t.Cleanup(func() {
		for _, name := range []string{"gate", "share", "ruin"} {
			typed("lab down "+name, folder) // there if a command failed
		}
	})
	n := 0
	for line := range strings.Lines(string(text)) {
		command, isCommand := strings.CutPrefix(line, "    wirerate ")
		if !isCommand {
			continue
		}
		n++
		if missing := notInstalled(command); missing != "" {
			t.Logf("%s is not installed: %s", missing, strings.TrimSpace(command))
			continue
		}
		if out, err := typed(command, folder); err != nil {
			t.Errorf("%s%v\n%s", command, err, out)
		}
	}
	if n < 15 {
		t.Errorf("only %d commands are found", n)
	}
}

// typed runs a command as from a shell. A client in a lab that stays is tried
// again: the server before it goes into the background before it listens. So is
// what does not end: nuttcp -r waits for ever if its server was faster than itself.
func typed(command, folder string) (out []byte, err error) {
	for range 60 {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		cmd := exec.CommandContext(ctx, "sh", "-c", "exec wirerate "+command)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = time.Minute
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+folder)
		out, err = cmd.CombinedOutput()
		hung := ctx.Err() != nil
		cancel()
		if err == nil || !hung && !strings.Contains(command, " -c $WIRERATE_") {
			break
		}
		time.Sleep(time.Second)
	}
	return out, err
}

func notInstalled(command string) string {
	for _, program := range documentedProgram.FindAllString(command, -1) {
		if _, err := exec.LookPath(program); err != nil {
			return program
		}
	}
	if strings.Contains(command, "-- nft ") && !inNamespace("nft add table inet x") {
		return "nftables"
	}
	return ""
}
