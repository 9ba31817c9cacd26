package host

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"time"
)

// process is a command that runs in the background, here or behind ssh.
type process struct {
	op             Op
	cmd            *exec.Cmd
	stdin          io.WriteCloser // closed, it ends a command behind ssh; nil: none
	cancel         context.CancelFunc
	stdout, stderr bounded
	done           chan struct{}
	err            error // of the command, once done is closed
}

// hangUpGrace is how long a command whose input was closed may take to end.
const hangUpGrace = 3 * time.Second

// startProcess starts the command that prepare returns. The context that
// prepare gets ends it.
func startProcess(op Op, remote bool, prepare func(context.Context) *exec.Cmd) (*process, error) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{op: op, cancel: cancel, done: make(chan struct{}), stdout: bounded{limit: readLimit},
		stderr: bounded{limit: saidLimit}}
	p.cmd = prepare(ctx)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if remote {
		stdin, err := p.cmd.StdinPipe()
		if err != nil {
			cancel()
			return nil, err
		}
		p.stdin = stdin
	}
	if err := p.cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func (p *process) Stop() Answer {
	stopped := p.stdin != nil && !p.Ended() // the shell behind ssh then tells of the signal
	if p.stdin != nil {
		p.stdin.Close()
		select {
		case <-p.done:
		case <-time.After(hangUpGrace):
		}
	}
	p.cancel()
	<-p.done
	a := Answer{Op: p.op, Out: p.stdout.kept.Bytes(), Stderr: p.stderr.kept.String()}
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		a.Status = exit.ExitCode()
		if a.Status > 0 && !stopped {
			a.Failure = Classify(a.Stderr)
		}
	}
	if p.stdout.cut {
		a.Failure, a.Stderr = Failed, tooLong
	}
	return a
}

func (p *process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
