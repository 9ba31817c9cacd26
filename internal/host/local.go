package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wirerate/wirerate/internal/input"
)

// commandLimit is how long a command may run that has no bound of its own.
const commandLimit = time.Minute

// Local is this machine.
type Local struct {
	mu      sync.Mutex
	started []*process
}

// NewLocal returns the connection to this machine.
func NewLocal() *Local { return &Local{} }

// Name returns "local".
func (l *Local) Name() string { return "local" }

// Do performs the operations directly.
func (l *Local) Do(ctx context.Context, ops ...Op) ([]Answer, error) {
	answers := make([]Answer, len(ops))
	stopped := false
	for i, op := range ops {
		if stopped {
			answers[i] = Answer{Op: op, Failure: Skipped}
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		answers[i] = perform(ctx, op)
		stopped = op.Must && answers[i].Failure != None
	}
	return answers, ctx.Err()
}

func perform(ctx context.Context, op Op) Answer {
	switch op.Action {
	case ActRead:
		data, err := readFile(op.Path)
		return answer(op, data, err)
	case ActList:
		paths, err := filepath.Glob(op.Path)
		slices.Sort(paths)
		var out []byte
		for _, p := range paths {
			out = append(append(out, p...), '\n')
		}
		return answer(op, out, err)
	case ActRun:
		return runCommand(ctx, op)
	case ActWrite:
		return answer(op, nil, writeDurably(op.Path, op.Data, op.Mode))
	case ActTable:
		out, err := table(Table(op.Path), op.Data)
		return answer(op, out, err)
	case ActPoke:
		return answer(op, nil, poke(op.Path, op.Data))
	}
	return answer(op, nil, fmt.Errorf("unknown operation %q", op.Action))
}

func answer(op Op, out []byte, err error) Answer {
	if err == nil {
		return Answer{Op: op, Out: out}
	}
	var pathErr *fs.PathError
	text := err.Error()
	if errors.As(err, &pathErr) {
		text = pathErr.Err.Error()
	}
	return Answer{Op: op, Out: out, Stderr: text, Failure: failureOf(err)}
}

func failureOf(err error) Failure {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound), errors.Is(err, syscall.ENODEV):
		return Absent
	case errors.Is(err, syscall.EROFS):
		return ReadOnly
	case errors.Is(err, fs.ErrPermission):
		return Denied
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ERANGE), errors.Is(err, syscall.EBUSY),
		errors.Is(err, syscall.EOPNOTSUPP):
		return Refused
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return Full
	}
	return Failed
}

func readFile(path string) ([]byte, error) {
	return input.File(path, readLimit)
}

// poke writes with one write(2), as the kernel's files want it, and never
// creates a file.
func poke(path string, value []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(append(bytes.TrimRight(value, "\n"), '\n'))
	return errors.Join(err, f.Close())
}

func writeDurably(path string, data []byte, mode fs.FileMode) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Chmod(mode); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func runCommand(ctx context.Context, op Op) Answer {
	limit := op.Limit
	if limit == 0 {
		limit = commandLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stdout, stderr := bounded{limit: readLimit}, bounded{limit: saidLimit}
	cmd := command(ctx, op.Args)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(op.Data), &stdout, &stderr
	err := cmd.Run()
	a := Answer{Op: op, Out: stdout.kept.Bytes(), Stderr: stderr.kept.String()}
	var exit *exec.ExitError
	switch {
	case stdout.cut:
		a.Failure, a.Stderr = Failed, tooLong
	case err == nil:
	case ctx.Err() != nil:
		a.Failure, a.Stderr = TimedOut, fmt.Sprintf("still running after %s, stopped", limit)
	case errors.As(err, &exit):
		a.Status, a.Failure = exit.ExitCode(), Classify(a.Stderr)
	case errors.Is(err, exec.ErrWaitDelay):
	default:
		a.Failure, a.Stderr = failureOf(err), notStarted(op.Args, err)
	}
	return a
}

func notStarted(args []string, err error) string {
	if len(args) == 0 {
		return "no command given"
	}
	if errors.Is(err, exec.ErrNotFound) {
		return args[0] + " is not installed (not found in PATH)"
	}
	return err.Error()
}

// command prepares a command in a process group of its own, in the C locale;
// the end of ctx ends the whole group.
func command(ctx context.Context, args []string) *exec.Cmd {
	if len(args) == 0 {
		args = []string{""}
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(withoutLocale(os.Environ()), "LC_ALL=C", "PATH="+searchPath())
	if path, err := lookPath(args[0]); err == nil {
		cmd.Path, cmd.Err = path, nil
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

func withoutLocale(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, "LC_") || strings.HasPrefix(v, "LANG") || strings.HasPrefix(v, "PATH=")
	})
}

// searchPath adds the system folders, which users' PATHs often lack.
func searchPath() string {
	return os.Getenv("PATH") + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
}

func lookPath(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(searchPath()) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// Start runs a command in the background.
func (l *Local) Start(_ context.Context, args ...string) (Process, error) {
	p, err := startProcess(Command(args...), false, func(ctx context.Context) *exec.Cmd { return command(ctx, args) })
	if err != nil {
		return nil, errors.New(notStarted(args, err))
	}
	l.mu.Lock()
	l.started = append(l.started, p)
	l.mu.Unlock()
	return p, nil
}

// Close stops what Start began.
func (l *Local) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.started {
		p.Stop()
	}
	l.started = nil
	return nil
}
