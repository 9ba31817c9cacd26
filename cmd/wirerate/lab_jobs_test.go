//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// conversation is what is typed on a terminal and read from it.
type conversation struct {
	t        *testing.T
	terminal *os.File
	cmd      *exec.Cmd
	seen     strings.Builder
}

// until reads up to a text, which is not to be what was typed.
func (c *conversation) until(want string) {
	c.t.Helper()
	for from, b := c.seen.Len(), make([]byte, 1); !strings.Contains(c.seen.String()[from:], want); {
		if _, err := c.terminal.Read(b); err != nil {
			c.t.Fatalf("no %q in %q: %v", want, c.seen.String(), err)
		}
		c.seen.WriteByte(b[0])
	}
}

func (c *conversation) line(text string) { fmt.Fprintln(c.terminal, text) }

// begin starts a program on a terminal, and ends the test if nobody says anything
// there for long.
func begin(t *testing.T, args ...string) *conversation {
	t.Helper()
	if !labPossible() {
		t.Skip("no namespaces or /dev/net/tun here")
	}
	terminal, cmd := onTerminal(t, args...)
	slow := time.AfterFunc(3*time.Minute, func() { cmd.Process.Kill() })
	t.Cleanup(func() { slow.Stop(); cmd.Process.Kill(); cmd.Wait() })
	return &conversation{t: t, terminal: terminal, cmd: cmd}
}

// An interactive shell in a lab ends with its own status, and what comes after it in
// a script has the terminal again.
func TestShellInALabGivesTheTerminalBack(t *testing.T) {
	c := begin(t, "sh", "-c", `PS1='> ' wirerate lab exec rtt=1ms -- sh -i; echo "ended with $?"; read line; echo "read $line"`)
	c.until("> ")
	c.line("echo $((20+3)); exit 3")
	c.until("23")
	c.until("ended with 3")
	c.line("a line")
	c.until("read a line")
}

// Ctrl-Z stops the program and the command that runs it, as any job of a shell, and
// lets go on.
func TestProgramInALabIsAJobOfTheShell(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	const suspend, interrupt = "\x1a", "\x03"
	t.Setenv("PS1", "> ")
	c := begin(t, "bash", "--norc", "-i")
	c.until("> ")
	c.line(`wirerate lab exec rtt=1ms -- sh -c 'trap "echo inter""rupted; exit 9" INT; echo be""gun; while :; do read word && echo "heard <$word>"; done'`)
	c.until("begun")
	c.line("one")
	c.until("heard <one>")
	for _, word := range []string{"two", "three"} {
		fmt.Fprint(c.terminal, suspend)
		c.until("Stopped")
		c.until("> ")
		c.line("echo $((40+4)); fg")
		c.until("44")
		c.line(word)
		c.until("heard <" + word + ">")
	}
	fmt.Fprint(c.terminal, interrupt)
	c.until("interrupted")
	c.until("> ")
	c.line("echo status $?")
	c.until("status 9")
}
