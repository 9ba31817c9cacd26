package host

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wirerate/wirerate/internal/regexp"
	"github.com/wirerate/wirerate/internal/shell"
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
	remote  string   // the remote command
	control tempDir  // of the control socket

	become               string // "", "sudo" or "doas"
	beginLimit, patience time.Duration

	mu      sync.Mutex
	started []*process
}

var sshName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:-]*$`)

// openSSH connects to ssh://[user@]host[:port][?become=sudo|doas].
func openSSH(ctx context.Context, address string, opt SSHOptions) (*SSH, error) {
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
	control, err := makeTempDir("ssh")
	if err != nil {
		return nil, fmt.Errorf("%s: no folder for ssh's control socket: %w", address, err)
	}
	s := &SSH{name: address, become: become, control: control, beginLimit: beginLimit, patience: patience}
	s.args = sshArgs(ctx, u, control.path, opt)
	if err := s.reach(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return s, nil
}

// reach makes the connection and finds out how a POSIX shell is had behind it:
// restricted shells know neither exec nor paths.
func (s *SSH) reach(ctx context.Context) error {
	var first error
	for _, remote := range []string{"exec /bin/sh -s", "sh -s"} {
		s.remote = remote
		if s.become != "" {
			s.remote = "exec " + s.become + " -n /bin/sh -s"
		}
		_, err := s.Do(ctx, Command("true").OrStop())
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
		if s.become != "" || !errors.Is(err, errNoShell) {
			break
		}
	}
	return first
}

// sshArgs are ssh's arguments up to the remote command. What bounds the waiting
// is given where the user's own configuration does not; a command or a forwarding
// configured for people is not for us.
func sshArgs(ctx context.Context, u *url.URL, control string, opt SSHOptions) []string {
	args := []string{"-T", "-x", "-o", "StrictHostKeyChecking=yes", "-o", "RemoteCommand=none", "-o",
		"ClearAllForwardings=yes"}
	if opt.ConfigFile != "" {
		args = append(args, "-F", opt.ConfigFile)
	}
	if port := u.Port(); port != "" {
		args = append(args, "-p", port)
	}
	if u.User != nil {
		args = append(args, "-l", u.User.Username())
	}
	args = append(args, boundsOf(ctx, append(slices.Clone(args), "--", u.Hostname()))...)
	args = append(args, "-o", "BatchMode=yes")
	if path, ok := controlPath(control); ok {
		args = append(args, "-o", "ControlMaster=auto", "-o", "ControlPersist=30", "-o", "ControlPath="+path)
	} else {
		args = append(args, "-o", "ControlMaster=no", "-o", "ControlPath=none")
	}
	return append(args, "--", u.Hostname())
}

// controlPath is a control socket's path as ssh_config(5) has it: in quotation
// marks, which versions of ssh read alike as long as nothing is escaped within
// them, with its tokens' sign doubled. The path itself must fit into a socket
// address of 104 bytes on some systems, with a suffix that ssh adds.
func controlPath(folder string) (string, bool) {
	socket := filepath.Join(folder, "c")
	escaped := strings.ContainsFunc(socket, func(r rune) bool { return r < ' ' || strings.ContainsRune("\"\\$", r) })
	return `"` + strings.ReplaceAll(socket, "%", "%%") + `"`, !escaped && len(socket) < 80
}

// boundsOf returns the options that bound ssh's waiting, but for those that the
// configuration of this host gives (ssh -G). It asks without BatchMode, with
// which Debian's ssh has a ServerAliveInterval of 300 s that nobody chose.
func boundsOf(ctx context.Context, args []string) []string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	said, _ := exec.CommandContext(ctx, "ssh", append([]string{"-G", "-o", "BatchMode=no"},
		args...)...).Output() // ssh itself will say what is wrong
	given := map[string]bool{}
	for line := range strings.Lines(string(said)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(value)
		given[key] = err == nil && n > 0
	}
	var bounds []string
	if !given["connecttimeout"] {
		bounds = append(bounds, "-o", "ConnectTimeout=10")
	}
	if !given["serveraliveinterval"] {
		bounds = append(bounds, "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3")
	}
	return bounds
}

// Name returns the address as given.
func (s *SSH) Name() string { return s.name }

// Do runs the operations as one shell script on the host. An operation that
// takes longer than it may is given up, and the rest goes into another script.
func (s *SSH) Do(ctx context.Context, ops ...Op) ([]Answer, error) {
	answers := make([]Answer, 0, len(ops))
	for len(answers) < len(ops) {
		some, err := s.batch(ctx, ops[len(answers):])
		if err != nil {
			return nil, err
		}
		answers = append(answers, some...)
	}
	return answers, nil
}

// How long ssh is waited for: beginLimit until the host's shell begins, which
// takes in the connection; durableLimit for what writes a file, since a flush may
// have a whole disk to do; patience for an answer's way, beside the operation's
// own bound.
const (
	beginLimit   = 2 * time.Minute
	durableLimit = 5 * time.Minute
	patience     = 30 * time.Second
)

// errSlow ends a batch of which one operation took too long.
var errSlow = errors.New("no answer in time")

// batch answers at least the first of the operations.
func (s *SSH) batch(ctx context.Context, ops []Op) ([]Answer, error) {
	nonce := make([]byte, 16)
	rand.Read(nonce)
	r := &batchReader{mark: "wirerate-" + hex.EncodeToString(nonce), ops: ops}
	script, err := batchScript(r.mark, ops)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(s.beginLimit, func() { cancel(errSlow) })
	defer timer.Stop()
	r.next = func() {
		if !r.done() {
			timer.Reset(opLimit(ops[len(r.answers)]) + s.patience)
		}
	}
	stderr := bounded{limit: saidLimit}
	cmd := s.command(ctx)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(script), r, &stderr
	runErr := cmd.Run()
	switch slow := errors.Is(context.Cause(ctx), errSlow); {
	case r.done():
	case slow && !r.begun:
		return nil, fmt.Errorf("%w: its shell does not answer within %s", ErrUnreachable, s.beginLimit)
	case slow:
		op := ops[len(r.answers)]
		r.add(Answer{Op: op, Failure: TimedOut, Stderr: fmt.Sprintf("still running after %s, given up", opLimit(op))})
	case ctx.Err() != nil:
		return nil, fmt.Errorf("no answer: %w", ctx.Err())
	default:
		return nil, s.failure(runErr, stderr.kept.String(), r)
	}
	return r.answers, nil
}

func opLimit(op Op) time.Duration {
	switch {
	case op.Limit > 0:
		return op.Limit
	case op.Action == ActWrite:
		return durableLimit
	}
	return commandLimit
}

// ErrUnreachable is wrapped when a host cannot be reached or was lost.
var ErrUnreachable = errors.New("host cannot be reached")

// errNoShell is a host that is reached and does not run the script.
var errNoShell = fmt.Errorf("%w: its login shell starts no POSIX shell", ErrUnreachable)

// failure says why a batch was not answered: by ssh, by the login shell, which
// may tell it on standard output, or by sudo or doas.
func (s *SSH) failure(err error, stderr string, r *batchReader) error {
	detail := lastLines(stderr)
	lost := exitedWith(err, lostConnection)
	switch {
	case detail != "":
	case lost:
		detail = "ssh lost the connection"
	case r.begun:
		detail = "its shell ended in the middle"
	default:
		detail = firstLine(string(r.buf))
	}
	if why := becomeFailure(s.become, detail); why != "" {
		return fmt.Errorf("%w: %s (%s)", fs.ErrPermission, why, detail)
	}
	if strings.Contains(detail, "Host key verification failed") || strings.Contains(detail, "host key is known") {
		return fmt.Errorf("%w: its host key is not the known one (%s); connect once with ssh and check it",
			ErrUnreachable, detail)
	}
	if !lost && !r.begun {
		return fmt.Errorf("%w: %s", errNoShell, detail)
	}
	return fmt.Errorf("%w: %s", ErrUnreachable, detail)
}

// lostConnection is the exit status of ssh when it failed itself (ssh(1)).
const lostConnection = 255

func exitedWith(err error, status int) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == status
}

// lastLines joins the last lines of a text; a server's banner, which ssh prints
// too, comes before them.
func lastLines(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"),
		func(line string) bool { return strings.TrimSpace(line) == "" })
	lines = lines[max(0, len(lines)-3):]
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "; ")
}

// firstLine quotes the beginning of what a shell printed, or says that it is
// nothing.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line == "" {
		return "it printed nothing"
	}
	return fmt.Sprintf("it printed %.100q", line)
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
		return become + " asks for a password, which wirerate never gives: allow the user without one (" + rule +
			"), or connect as root"
	case has(become+": not found", become+": command not found", "unknown command: "+become, become+": no such file"),
		has("not found") && has(become):
		return become + " is not installed there: install it, use the other of sudo and doas, or connect as root"
	case has("not in the sudoers", "not allowed to", "doas: operation not permitted", "doas is not enabled",
		"may not run"):
		return become + " does not allow this user to become root: allow it, or connect as root"
	}
	return ""
}

// command prepares ssh with a POSIX shell at the other end, whatever the
// user's login shell is.
func (s *SSH) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "ssh", append(slices.Clone(s.args), s.remote)...)
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
	fmt.Fprintf(p.stdin, "PATH=\"$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin\"; LC_ALL=C; export PATH "+
		"LC_ALL\n"+
		"exec 3<&0\n%s </dev/null 3<&- & p=$!\n(read -r line <&3; kill $p) 2>/dev/null & w=$!\nwait $p; s=$?\nkill "+
		"$w 2>/dev/null\nexit $s\n", shell.QuoteAll(args...))
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
	return s.control.remove()
}
