package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// documentedProgram finds the programs that a command of docs/lab.md names.
var documentedProgram = regexp.MustCompile(`\b(ping|iperf3|nuttcp|sockperf|python3|curl|nft|sysctl)\b`)

// What docs/lab.md tells people to type works.
func TestCommandsOfTheLabsDocument(t *testing.T) {
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
			exec.Command("wirerate", "lab", "down", name).Run() // there if a command failed
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
		cmd := exec.Command("sh", "-c", "wirerate "+command)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+folder)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s%v\n%s", command, err, out)
		}
	}
	if n < 15 {
		t.Errorf("only %d commands are found", n)
	}
}

func notInstalled(command string) string {
	for _, program := range documentedProgram.FindAllString(command, -1) {
		if _, err := exec.LookPath(program); err != nil {
			return program
		}
	}
	return ""
}
