//go:build linux

package lab

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// speak writes what the test of Background wants to hear.
func speak() {
	fmt.Fprintln(os.Stderr, "a stray line")
	if os.Getenv("WIRERATE_LAB_TEST_READY") == "" {
		fmt.Println("and why not")
		os.Exit(7)
	}
	fmt.Println("ready then")
	time.Sleep(time.Hour) // whoever waits for more than that line waits for this
}

// listen waits for connections that never come.
func listen() error {
	_, err := net.Listen("tcp", ":7000")
	if err == nil {
		time.Sleep(time.Hour)
	}
	return err
}

func TestBackgroundHearsWhatItWaitsFor(t *testing.T) {
	t.Setenv(helperVariable, "speak")
	text, status, err := background(t.Context(), nil, "ready ")
	if text != "a stray line\nand why not\n" || status != 7 || err != nil {
		t.Errorf("one that fails: %q, status %d, %v", text, status, err)
	}
	t.Setenv("WIRERATE_LAB_TEST_READY", "1")
	text, status, err = background(t.Context(), nil, "ready ")
	if text != "ready then\n" || status != 0 || err != nil {
		t.Errorf("one that is ready: %q, status %d, %v", text, status, err)
	}
	// It would outlive the test.
	for pid := range daemons(os.Getpid()) {
		if p, err := os.FindProcess(pid); err == nil {
			p.Kill()
			p.Wait()
		}
	}
}

// What a server's command leaves is waited for as long as the command itself would
// be, and what leaves nothing is not waited for.
func TestServerIsWaitedForWhileItRuns(t *testing.T) {
	l, program := up(t, "rtt=1ms"), self(t)
	at, err := l.Site(ServerHost)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command string
		limit   time.Duration
		note    string // begins
	}{
		{"exit 0", time.Hour, ""},
		{"(sleep 2; " + helperVariable + "=listen exec " + program + ") >/dev/null 2>&1 & exit 0", time.Hour, ""},
		{"sleep 1000 & exit 0", 50 * time.Millisecond, "nothing listens on the server after 50 ms"},
		{"sleep 1000", 50 * time.Millisecond, "nothing listens on the server after 50 ms"},
	} {
		s, err := at.Serve(c.command, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		note, err := s.Await(t.Context(), c.limit)
		if err != nil || !strings.HasPrefix(note, c.note) || c.note == "" && note != "" {
			t.Errorf("%s: %q, %v", c.command, note, err)
		}
		if listening, err := listeners(at.pid); err != nil || strings.Contains(c.command, program) && len(listening) == 0 {
			t.Errorf("%s: nothing listens yet, %v", c.command, err)
		}
		s.End()
	}
	s, err := at.Serve("exit 3", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var failed *ServerError
	if _, err := s.Await(t.Context(), time.Hour); !errors.As(err, &failed) || failed.Status != 3 {
		t.Errorf("a failure: %v", err)
	}
}
