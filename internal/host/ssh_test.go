package host

import (
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fakeSSH puts a program named ssh before the real one. It writes down its
// arguments, answers -G with $configured, and runs the rest of the script with
// the remote command in $command and the local end's standard input.
func fakeSSH(t *testing.T, configured, script string) (calls func() string) {
	t.Helper()
	bin := t.TempDir()
	log := filepath.Join(bin, "calls")
	text := "#!/bin/sh\necho \"$*\" >>'" + log + "'\ncase \" $* \" in *' -G '*BatchMode=yes*) printf '%s\\n' 'serveraliveinterval 300'; exit 0 ;; *' -G '*) printf '%s\\n' '" + configured + "'; exit 0 ;; *' -O '*) exit 0 ;; esac\n" +
		"for command; do :; done\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return func() string { data, _ := os.ReadFile(log); return string(data) }
}

func openFake(t *testing.T) (*SSH, error) {
	t.Helper()
	s, err := openSSH(t.Context(), "ssh://root@there", SSHOptions{})
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

func TestSSHWaitsAsConfigured(t *testing.T) {
	for _, c := range []struct {
		configured string
		want, not  []string
	}{
		{"connecttimeout none\nserveraliveinterval 0", []string{"ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3", "RemoteCommand=none", "ClearAllForwardings=yes"}, nil},
		{"connecttimeout 60\nserveraliveinterval 0", []string{"ServerAliveInterval=5"}, []string{"ConnectTimeout"}},
		{"connecttimeout none\nserveraliveinterval 20\nserveralivecountmax 9", []string{"ConnectTimeout=10"}, []string{"ServerAlive"}},
		{"garbage", []string{"ConnectTimeout=10", "ServerAliveInterval=5"}, nil},
	} {
		calls := fakeSSH(t, c.configured, `exec sh -c "$command"`)
		s, err := openFake(t)
		if err != nil {
			t.Fatal(err)
		}
		last := calls()[strings.Index(calls(), "\n"):]
		for _, w := range c.want {
			if !strings.Contains(last, w) {
				t.Errorf("%q: %q lacks %s", c.configured, last, w)
			}
		}
		for _, w := range c.not {
			if strings.Contains(last, w) {
				t.Errorf("%q: %q has %s", c.configured, last, w)
			}
		}
		s.Close()
	}
}

// TestSSHShells reaches a POSIX shell behind restricted and greeting ones, and
// says what a login shell printed that starts none.
func TestSSHShells(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"plain", `exec sh -c "$command"`, ""},
		{"greets", `echo Welcome; echo " *** "; exec sh -c "$command"`, ""},
		{"restricted", `case $command in *exec*|*/*) echo 'rbash: line 1: exec: restricted' >&2; exit 1 ;; *) exec sh -c "$command" ;; esac`, ""},
		{"nologin", `echo 'This account is currently not available.'; exit 1`, `ssh://root@there: host cannot be reached: its login shell starts no POSIX shell: it printed "This account is currently not available."`},
		{"menu", `exit 0`, "its login shell starts no POSIX shell: it printed nothing"},
		{"refused", `echo 'ssh: connect to host there port 22: Connection refused' >&2; exit 255`, "host cannot be reached: ssh: connect to host there port 22: Connection refused"},
		{"banner", `printf '*** Authorized ***\n\n use\n only\n\n' >&2; echo 'root@there: Permission denied (publickey).' >&2; exit 255`, "host cannot be reached: use; only; root@there: Permission denied (publickey)."},
		{"lost", `exit 255`, "host cannot be reached: ssh lost the connection"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fakeSSH(t, "", c.script)
			s, err := openFake(t)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrUnreachable) {
					t.Errorf("%v, want %s", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if out, err := Run(t.Context(), s, "printf", "%s", "it's $HOME"); err != nil || out != "it's $HOME" {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
}

// TestSSHSilent bounds the waiting for a shell, and for one operation, after
// which the others are answered all the same.
func TestSSHSilent(t *testing.T) {
	fakeSSH(t, "", `exec sh -c "$command"`)
	s, err := openFake(t)
	if err != nil {
		t.Fatal(err)
	}
	s.patience = 0
	slow := Command("sleep", "1000").Within(time.Second)
	answers, err := s.Do(t.Context(), Command("echo", "1"), slow, Command("echo", "3"))
	if err != nil || answers[0].Text() != "1" || answers[1].Failure != TimedOut || answers[2].Text() != "3" {
		t.Errorf("%+v, %v", answers, err)
	}
	answers, err = s.Do(t.Context(), slow.OrStop(), Command("echo", "2"))
	if err != nil || answers[0].Failure != TimedOut || answers[1].Failure != Skipped {
		t.Errorf("%+v, %v", answers, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Do(ctx, Command("sleep", "1000")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	fakeSSH(t, "", `exec sleep 1000`)
	s.beginLimit = time.Second
	if _, err := s.Do(t.Context(), Command("true")); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "does not answer within 1s") {
		t.Errorf("%v", err)
	}
}

// TestSSHEndsInTheMiddle gives no half answers.
func TestSSHEndsInTheMiddle(t *testing.T) {
	fakeSSH(t, "", `exec sh -c "$command"`)
	s, err := openFake(t)
	if err != nil {
		t.Fatal(err)
	}
	fakeSSH(t, "", `sh -c "$command" | head -n 6`) // the first operation's answer, and the second one's output
	if answers, err := s.Do(t.Context(), Command("echo", "1"), Command("echo", "2")); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "ended in the middle") || answers != nil {
		t.Errorf("%+v, %v", answers, err)
	}
}

// TestSSHLongTemporaryFolder does without a shared connection where the path of
// its socket is too long.
func TestSSHLongTemporaryFolder(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	os.MkdirAll(long, 0o755)
	t.Setenv("TMPDIR", long)
	calls := fakeSSH(t, "", `exec sh -c "$command"`)
	if _, err := openFake(t); err != nil || strings.Contains(calls(), "ControlMaster=auto") || !strings.Contains(calls(), "ControlPath=none") {
		t.Errorf("%v: %s", err, calls())
	}
}

// TestLongOutput keeps the beginning of what is too long and says so, here and
// over ssh, and goes on with what follows.
func TestLongOutput(t *testing.T) {
	fakeSSH(t, "", `exec sh -c "$command"`)
	s, err := openFake(t)
	if err != nil {
		t.Fatal(err)
	}
	long := Command("sh", "-c", "head -c 70000000 /dev/zero; echo done >&2")
	fits := Command("sh", "-c", "head -c 60000000 /dev/zero")
	for name, c := range map[string]Conn{"local": NewLocal(), "ssh": s} {
		answers, err := c.Do(t.Context(), long, Command("echo", "2"), fits)
		if err != nil || len(answers) != 3 {
			t.Fatal(name, err)
		}
		if a := answers[0]; a.Failure != Failed || len(a.Out) != readLimit || !strings.Contains(a.Stderr, "more than 64 MiB") {
			t.Errorf("%s: %d bytes, %q, %q", name, len(a.Out), a.Failure, a.Stderr)
		}
		if answers[1].Text() != "2" || answers[2].Failure != None || len(answers[2].Out) != 60000000 {
			t.Errorf("%s: %q; %d bytes, %q", name, answers[1].Out, len(answers[2].Out), answers[2].Failure)
		}
	}
	p, err := NewLocal().Start(t.Context(), long.Args...)
	if err != nil {
		t.Fatal(err)
	}
	for !p.Ended() {
		time.Sleep(10 * time.Millisecond)
	}
	if a := p.Stop(); len(a.Out) != readLimit || a.Failure != Failed {
		t.Errorf("started: %d bytes, %q", len(a.Out), a.Failure)
	}
}

// TestBatchReaderIsBounded feeds more than is kept, in pieces, before and in an
// answer.
func TestBatchReaderIsBounded(t *testing.T) {
	r := &batchReader{mark: "m", ops: []Op{Read("/a"), Read("/b")}}
	noise := slices.Repeat([]byte("y\n"), 1<<19)
	for range 80 {
		r.Write(noise)
		if len(r.buf) > readLimit+3*saidLimit {
			t.Fatalf("%d bytes are kept", len(r.buf))
		}
	}
	r.Write([]byte("\nm begin\nfirst\nm 0\n\nm end\n"))
	for range 80 {
		r.Write(noise)
		if len(r.buf) > readLimit+3*saidLimit {
			t.Fatalf("%d bytes are kept", len(r.buf))
		}
	}
	for _, b := range []byte("\nm 0\n\nm end\n") {
		r.Write([]byte{b})
	}
	if !r.done() || string(r.answers[0].Out) != "first" || len(r.answers[1].Out) != readLimit || r.answers[1].Failure != Failed {
		t.Errorf("%v, %d answers", r.done(), len(r.answers))
	}
}

// TestSSHUnderAnyTMPDIR shares one connection wherever OpenSSH's own reading of
// its options lets the path of the socket through, and else does without.
func TestSSHUnderAnyTMPDIR(t *testing.T) {
	for name, shared := range map[string]bool{"plain": true, "with a blank": true, "%h": true, `quo"te`: false, "$x": false, `back\slash`: false, strings.Repeat("long", 30): false} {
		t.Run(name, func(t *testing.T) {
			root, err := os.MkdirTemp("/tmp", "wr")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(root) })
			dir := filepath.Join(root, name)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TMPDIR", dir)
			u := &url.URL{Scheme: "ssh", Host: "there"}
			control, err := makeTempDir("ssh")
			if err != nil {
				t.Fatal(err)
			}
			defer control.remove()
			args := append([]string{"-G"}, sshArgs(t.Context(), u, control.path, SSHOptions{ConfigFile: os.DevNull})...)
			out, err := exec.Command("ssh", args...).Output()
			if errors.Is(err, exec.ErrNotFound) {
				t.Skip("OpenSSH's client is not installed")
			}
			_, path, _ := strings.Cut(string(out), "\ncontrolpath ")
			path, _, _ = strings.Cut(path, "\n")
			want := "none"
			if shared {
				want = filepath.Join(control.path, "c")
			}
			if err != nil || path != want && path != "" || path == "" && shared {
				t.Errorf("%v: control path %q, want %q", err, path, want)
			}
			if !strings.Contains(string(out), "\nserveraliveinterval 5\n") {
				t.Errorf("the waiting is not bounded:\n%s", out)
			}
		})
	}
}

// TestBatchIsBounded has many answers that each are within their bound.
func TestBatchIsBounded(t *testing.T) {
	r := &batchReader{mark: "m", ops: []Op{Read("/a"), Read("/b"), Read("/c")}, begun: true, held: heldLimit - 8}
	r.Write([]byte("first\nm 0\n\nm end\nsecond\nm 0\n\nm end\nm 1\nthird\nm end\n"))
	for i, want := range []string{"first", "", ""} {
		if a := r.answers[i]; string(a.Out) != want || (a.Failure == Failed) != (i > 0) || i > 0 && a.Stderr != tooMuch {
			t.Errorf("%d: %q %q %q", i, a.Out, a.Stderr, a.Failure)
		}
	}
}
