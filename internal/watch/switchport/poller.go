package switchport

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gosnmp/gosnmp"

	"github.com/wirerate/wirerate/internal/watch"
)

const (
	every    = 5 * time.Second // agents bring their counters up to date seldom
	patience = 2 * time.Second // for one answer, once more where there is none
	within   = 30 * time.Second
	errorMax = 200
)

// Poller asks an agent until it is closed.
type Poller struct {
	agent   Agent
	machine Machine
	client  *gosnmp.GoSNMP
	stop    context.CancelFunc
	work    sync.WaitGroup
	open    bool
	index   string  // of the port; empty before it is found
	before  *answer // nil before the first

	mu   sync.Mutex
	news []watch.SwitchPort
}

// Start asks an agent every five seconds.
func Start(ctx context.Context, a Agent, auth Auth, m Machine) *Poller {
	ctx, stop := context.WithCancel(ctx)
	p := &Poller{agent: a, machine: m, client: a.client(auth), stop: stop}
	p.work.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			p.once(ctx)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return p
}

// Close ends it.
func (p *Poller) Close() {
	p.stop()
	p.work.Wait()
	if p.open {
		p.client.Close()
	}
}

// Take tells what became known since it was called before.
func (p *Poller) Take() []watch.SwitchPort {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := p.news
	p.news = nil
	return news
}

func (p *Poller) once(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	p.client.Context = limited
	told := watch.SwitchPort{Switch: p.agent.String(), Port: p.agent.Name, Status: "unknown", Duplex: "unknown"}
	now, err := p.ask()
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		told.Port, told.Speed = now.name, now.speed
		told.Status, told.Duplex = now.words()
		if p.before != nil {
			told.Counts, told.Seconds, err = now.since(p.before)
		}
		p.before = now
	} else if p.before != nil {
		told.Port = p.before.name
	}
	if err != nil {
		told.Error = why(err)
	}
	if told.Counts == nil {
		told.Counts = map[string]uint64{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.news = watch.MergeSwitch(p.news, []watch.SwitchPort{told})
}

// why is an error in few words; of a panic that the library caught, without its stack.
func why(err error) string {
	var system syscall.Errno
	if errors.As(err, &system) {
		return system.Error()
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	if strings.Contains(line, "request timeout") || errors.Is(err, context.DeadlineExceeded) {
		return "no answer in " + patience.String() + ": the switch, its community or user, or a filter on the way"
	}
	return line[:min(len(line), errorMax)]
}

// ask finds the port, where it is not known, and reads it.
func (p *Poller) ask() (*answer, error) {
	if !p.open {
		if err := p.client.Connect(); err != nil {
			return nil, err
		}
		p.open = true
	}
	if p.index == "" {
		index, err := find(p.client, p.agent.Name, p.machine)
		if err != nil {
			return nil, err
		}
		p.index, p.before = index, nil
	}
	now, err := p.read()
	if err != nil {
		return nil, err
	}
	wanted := p.agent.Name
	if wanted == "" && p.before != nil {
		wanted = p.before.name
	}
	if wanted != "" && now.name != wanted || len(now.counts) == 0 {
		p.index, p.before = "", nil // it is looked for again
		return nil, fmt.Errorf("its interface %q is gone, or has another index", wanted)
	}
	return now, nil
}

// read asks for a port: what every switch knows, then what is of Ethernet, which an
// agent may not have. A question of few objects is one that old agents can answer.
func (p *Poller) read() (*answer, error) {
	objects := append(slices.Sorted(maps.Values(counters())), ifName, ifHighSpeed, ifDiscontinuity,
		ifOperStatus, duplexStatus)
	general, ethernet := []string{sysUpTime}, []string{}
	for _, object := range objects {
		if object += "." + p.index; strings.HasPrefix(object, ifEntry) || strings.HasPrefix(object, ifXEntry) {
			general = append(general, object)
		} else {
			ethernet = append(ethernet, object)
		}
	}
	now := &answer{counts: map[string]count{}}
	got, err := p.client.Get(general)
	now.at = time.Now()
	if err != nil {
		return nil, err
	}
	if got.Error != gosnmp.NoError {
		return nil, fmt.Errorf("the agent answers with %v", got.Error)
	}
	now.read(p.index, got.Variables)
	if got, err = p.client.Get(ethernet); err == nil && got.Error == gosnmp.NoError {
		now.read(p.index, got.Variables)
	}
	return now, nil
}
