package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// SSHOptions say how OpenSSH's client is run.
type SSHOptions struct {
	// ConfigFile is an ssh_config(5) file to use instead of the user's.
	ConfigFile string
}

// SSH is a host reached through OpenSSH's client, with the user's own
// configuration; host keys are always checked. A batch of operations is one
// POSIX shell script, so one round trip.
type SSH struct {
	name    string
	args    []string // of ssh, up to the remote command
	become  string   // "", "sudo" or "doas"
	control string   // folder of the control socket

	mu      sync.Mutex
	started []*process
}

var sshName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:-]*$`)

// OpenSSH connects to ssh://[user@]host[:port][?become=sudo|doas].
func OpenSSH(ctx context.Context, address string, opt SSHOptions) (*SSH, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "ssh" || !sshName.MatchString(u.Hostname()) || strings.Trim(u.Path, "/") != "" {
		return nil, fmt.Errorf("%s: write it like ssh://root@server or ssh://user@server:2222?become=doas", address)
	}
	if user := u.User.Username(); u.User != nil && !sshName.MatchString(user) {
		return nil, fmt.Errorf("%s: %q is not a user name", address, user)
	}
	become := u.Query().Get("become")
	if !slices.Contains([]string{"", "sudo", "doas"}, become) {
		return nil, fmt.Errorf("%s: become is sudo or doas", address)
	}
	if _, err := lookPath("ssh"); err != nil {
		return nil, fmt.Errorf("%s: OpenSSH's client ssh is not installed: %w", address, err)
	}
	control, err := TempDir("ssh")
	if err != nil {
		return nil, err
	}
	u.RawQuery = ""
	s := &SSH{name: u.String(), become: become, control: control, args: sshArgs(u, control, opt)}
	if _, err := s.Do(ctx, Command("true").OrStop()); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func sshArgs(u *url.URL, control string, opt SSHOptions) []string {
	args := []string{"-T", "-x", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", "ConnectTimeout=10",
		"-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3",
		"-o", "ControlMaster=auto", "-o", "ControlPersist=30", "-o", "ControlPath=" + filepath.Join(control, "c")}
	if opt.ConfigFile != "" {
		args = append(args, "-F", opt.ConfigFile)
	}
	if port := u.Port(); port != "" {
		args = append(args, "-p", port)
	}
	if u.User != nil {
		args = append(args, "-l", u.User.Username())
	}
	return append(args, "--", u.Hostname())
}

// Name returns the address as given.
func (s *SSH) Name() string { return s.name }

// Do runs the operations as one shell script on the host.
func (s *SSH) Do(ctx context.Context, ops ...Op) ([]Answer, error) {
	nonce := make([]byte, 16)
	rand.Read(nonce)
	mark := "wirerate-" + hex.EncodeToString(nonce)
	script, err := batchScript(mark, ops)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, batchLimit(ops))
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := s.command(ctx)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(script), &stdout, &stderr
	runErr := cmd.Run()
	answers, complete := parseBatch(mark, stdout.Bytes(), ops)
	if complete {
		return answers, nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("no answer: %w", ctx.Err())
	}
	return nil, s.failure(runErr, stderr.String())
}

func batchLimit(ops []Op) time.Duration {
	total := 30 * time.Second
	for _, op := range ops {
		if op.Limit > 0 {
			total += op.Limit
		} else if op.Action == ActRun {
			total += commandLimit
		}
	}
	return total
}

// ErrUnreachable is wrapped when a host cannot be reached or was lost.
var ErrUnreachable = errors.New("host cannot be reached")

// failure says why a batch was not answered: by ssh, by the login shell, or by
// sudo or doas.
func (s *SSH) failure(err error, stderr string) error {
	detail := strings.TrimSpace(stderr)
	var exit *exec.ExitError
	switch {
	case detail != "" || err == nil:
	case errors.As(err, &exit) && exit.ExitCode() == 255: // ssh's own, ssh(1)
		detail = "ssh lost the connection"
	default:
		detail = err.Error()
	}
	if why := becomeFailure(s.become, detail); why != "" {
		return fmt.Errorf("%w: %s (%s)", fs.ErrPermission, why, detail)
	}
	if strings.Contains(detail, "Host key verification failed") || strings.Contains(detail, "host key is known") {
		return fmt.Errorf("%w: its host key is not the known one (%s); connect once with ssh and check it", ErrUnreachable, detail)
	}
	return fmt.Errorf("%w: %s", ErrUnreachable, detail)
}

// becomeFailure explains what sudo(8) or doas(1) said, or is empty.
func becomeFailure(become, said string) string {
	said = strings.ToLower(said)
	has := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(said, text) })
	}
	switch {
	case become == "":
		return ""
	case has("password is required", "authentication required", "a terminal is required", "must have a tty"):
		rule := "permit nopass USER in doas.conf"
		if become == "sudo" {
			rule = "USER ALL=(root) NOPASSWD: ALL in sudoers"
		}
		return become + " asks for a password, which wirerate never gives: allow the user without one (" + rule + "), or connect as root"
	case has(become+": not found", become+": command not found", "unknown command: "+become, become+": no such file"), has("not found") && has(become):
		return become + " is not installed there: install it, use the other of sudo and doas, or connect as root"
	case has("not in the sudoers", "not allowed to", "doas: operation not permitted", "doas is not enabled", "may not run"):
		return become + " does not allow this user to become root: allow it, or connect as root"
	}
	return ""
}

// command prepares ssh with a POSIX shell at the other end, whatever the
// user's login shell is.
func (s *SSH) command(ctx context.Context) *exec.Cmd {
	remote := "exec /bin/sh -s"
	if s.become != "" {
		remote = "exec " + s.become + " -n /bin/sh -s"
	}
	cmd := exec.CommandContext(ctx, "ssh", append(slices.Clone(s.args), remote)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

// Start runs a command that ends when Stop, Close or the loss of the
// connection closes its watcher's standard input.
func (s *SSH) Start(_ context.Context, args ...string) (Process, error) {
	p, err := startProcess(Command(args...), true, s.command)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	fmt.Fprintf(p.stdin, "PATH=\"$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin\"; LC_ALL=C; export PATH LC_ALL\n"+
		"exec 3<&0\n%s </dev/null 3<&- & p=$!\n(read -r line <&3; kill $p) 2>/dev/null & w=$!\nwait $p; s=$?\nkill $w 2>/dev/null\nexit $s\n",
		shellCommand(args))
	s.mu.Lock()
	s.started = append(s.started, p)
	s.mu.Unlock()
	return p, nil
}

// Close stops what was started and ends the shared connection.
func (s *SSH) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.started {
		p.Stop()
	}
	exit := exec.Command("ssh", append([]string{"-O", "exit"}, s.args...)...)
	_ = exit.Run() // no master is running when the connection never came up
	return os.RemoveAll(s.control)
}
