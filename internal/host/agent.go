package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// agentVariable marks a process that serves one end of an agent connection.
// An agent is this program run again inside other namespaces; it answers over
// a socket what its parent asks, and ends when the parent does, even if the
// parent is killed.
const agentVariable = "WIRERATE_AGENT"

// ServeIfAgent serves when this process was started as an agent, or to keep
// processors awake; the program then ends with the status. A program that starts
// such processes calls it before anything else.
func ServeIfAgent() (served bool, status int) {
	if serveAwake() {
		return true, 0
	}
	name := os.Getenv(agentVariable)
	if name == "" {
		return false, 0
	}
	os.Unsetenv(agentVariable)
	if err := serve(name, os.NewFile(3, "agent")); err != nil {
		fmt.Fprintf(os.Stderr, "wirerate: agent %s: %v\n", name, err)
		return true, 4
	}
	return true, 0
}

func serve(name string, conn io.ReadWriteCloser) error {
	if err := prepareNamespace(name); err != nil {
		return err
	}
	service := &AgentService{local: NewLocal(), processes: map[int]Process{}, cancels: map[uint64]context.CancelFunc{}}
	server := rpc.NewServer()
	if err := server.RegisterName("Agent", service); err != nil {
		return err
	}
	server.ServeConn(&watchedConn{conn, service.cancelAll})
	service.left.remove()
	return service.local.Close()
}

// watchedConn tells when the other end is gone, so that operations under way
// do not outlive it.
type watchedConn struct {
	io.ReadWriteCloser
	onEnd func()
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.ReadWriteCloser.Read(p)
	if err != nil {
		c.onEnd()
	}
	return n, err
}

// AgentService is the agent's side of the connection, for net/rpc.
type AgentService struct {
	local     *Local
	mu        sync.Mutex
	processes map[int]Process
	last      int
	cancels   map[uint64]context.CancelFunc
	left      Leftover
}

// AgentRequest asks an agent for operations; ID allows to cancel them.
type AgentRequest struct {
	ID  uint64
	Ops []Op
}

// Do performs operations.
func (s *AgentService) Do(req AgentRequest, answers *[]Answer) (err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.mu.Lock()
	s.cancels[req.ID] = cancel
	s.mu.Unlock()
	*answers, err = s.local.Do(ctx, req.Ops...)
	s.mu.Lock()
	delete(s.cancels, req.ID)
	s.mu.Unlock()
	return err
}

// Cancel ends the operations of a request.
func (s *AgentService) Cancel(id uint64, _ *struct{}) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.cancels[id]; cancel != nil {
		cancel()
	}
	return nil
}

func (s *AgentService) cancelAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.cancels {
		cancel()
	}
}

// Start starts a process and returns its handle.
func (s *AgentService) Start(args []string, handle *int) error {
	p, err := s.local.Start(context.Background(), args...)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.processes[s.last] = p
	*handle = s.last
	return nil
}

// Stop stops a process and returns its answer.
func (s *AgentService) Stop(handle int, a *Answer) error {
	p, err := s.process(handle)
	if err != nil {
		return err
	}
	*a = p.Stop()
	return nil
}

// Ended reports whether a process has ended.
func (s *AgentService) Ended(handle int, ended *bool) error {
	p, err := s.process(handle)
	if err != nil {
		return err
	}
	*ended = p.Ended()
	return nil
}

// Remember notes what is to be removed once the other end is gone.
func (s *AgentService) Remember(left Leftover, _ *struct{}) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = left
	return nil
}

func (s *AgentService) process(handle int) (Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.processes[handle]
	if p == nil {
		return nil, errors.New("no process " + strconv.Itoa(handle))
	}
	return p, nil
}

// Agent is the connection to a host in namespaces of this machine.
type Agent struct {
	name   string
	cmd    *exec.Cmd
	client *rpc.Client
	last   atomic.Uint64
	heir   bool // it has been told what is left of a killed program
	apart  bool
}

// Name returns the host's name.
func (a *Agent) Name() string { return a.name }

// PID returns the process that holds the host's namespaces.
func (a *Agent) PID() int { return a.cmd.Process.Pid }

// Apart tells whether the host has processes of its own, in a PID namespace.
func (a *Agent) Apart() bool { return a.apart }

// Do sends the operations to the agent.
func (a *Agent) Do(ctx context.Context, ops ...Op) ([]Answer, error) {
	req := AgentRequest{ID: a.last.Add(1), Ops: ops}
	var answers []Answer
	call := a.client.Go("Agent.Do", req, &answers, make(chan *rpc.Call, 1))
	select {
	case <-ctx.Done():
		a.client.Go("Agent.Cancel", req.ID, &struct{}{}, make(chan *rpc.Call, 1))
		return nil, ctx.Err()
	case <-call.Done:
		return answers, gone(call.Error)
	}
}

// Start starts a command through the agent.
func (a *Agent) Start(_ context.Context, args ...string) (Process, error) {
	var handle int
	if err := a.client.Call("Agent.Start", args, &handle); err != nil {
		return nil, gone(err)
	}
	return &agentProcess{a.client, handle, Command(args...)}, nil
}

func gone(err error) error {
	if errors.Is(err, rpc.ErrShutdown) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return errors.New("the host's agent has ended")
	}
	return err
}

// OnKill has the agent remove what this program leaves behind if it ends without
// Close, as when it is killed.
func (a *Agent) OnKill(left Leftover) error {
	a.heir = true
	return gone(a.client.Call("Agent.Remember", left, &struct{}{}))
}

// Close ends the agent, and with it the namespaces that it alone held.
func (a *Agent) Close() error {
	if a.heir {
		forget := a.client.Go("Agent.Remember", Leftover{}, &struct{}{}, make(chan *rpc.Call, 1))
		select {
		case <-forget.Done:
		case <-time.After(time.Second): // it hangs: what is locked it leaves alone
		}
	}
	err := a.client.Close()
	a.cmd.Wait()
	if errors.Is(err, rpc.ErrShutdown) {
		return nil
	}
	return err
}

type agentProcess struct {
	client *rpc.Client
	handle int
	op     Op
}

func (p *agentProcess) Stop() Answer {
	var a Answer
	if err := p.client.Call("Agent.Stop", p.handle, &a); err != nil {
		return Answer{Op: p.op, Failure: Failed, Stderr: gone(err).Error()}
	}
	return a
}

func (p *agentProcess) Ended() bool {
	var ended bool
	return p.client.Call("Agent.Ended", p.handle, &ended) != nil || ended
}
