package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// A change lasts this long unless it is confirmed.
const (
	shortest, longest = 10 * time.Second, 10 * time.Minute
	usual             = "60s"
)

type applyIn struct {
	Plan   string `json:"plan" jsonschema:"name of a plan of this session, such as plan-1"`
	Host   string `json:"host,omitempty" jsonschema:"one of the hosts that the server was started for; the first of them when empty"`
	Within string `json:"confirm_within,omitempty" jsonschema:"time after which the host takes the change back unless it is confirmed: 10s to 10m, usually 60s"`
}

// apply puts a plan in place, always with a timer.
func (s *Server) apply(ctx context.Context, in applyIn) (answer, error) {
	host, err := s.host(in.Host)
	if err != nil {
		return answer{}, err
	}
	if !planName.MatchString(in.Plan) {
		return answer{}, fmt.Errorf("plan %.80q: the name of a plan of this session is expected, such as plan-1", in.Plan)
	}
	if _, err := os.Stat(s.planFile(in.Plan)); err != nil {
		return answer{}, fmt.Errorf("there is no %s in this session", in.Plan)
	}
	f := newFlags("apply")
	f.span("confirm-within", in.Within, usual, shortest, longest)
	if s.RuntimeOnly {
		f.args = append(f.args, "--runtime-only")
	}
	a, err := s.run(ctx, f.line(s.planFile(in.Plan), host))
	if err != nil {
		return a, err
	}
	var applied struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(a.document, &applied); err != nil || applied.ID == "" {
		return answer{}, fmt.Errorf("the change has no ID: %w; the host takes it back by itself", err)
	}
	s.mu.Lock()
	s.changes[applied.ID] = host
	s.mu.Unlock()
	return a, nil
}

type changeIn struct {
	ID   string `json:"id" jsonschema:"of a change that this session applied"`
	Host string `json:"host,omitempty" jsonschema:"its host"`
}

// confirm makes a change last that an earlier call of this session applied.
func (s *Server) confirm(ctx context.Context, in changeIn) (answer, error) {
	return s.end(ctx, "confirm", in)
}

func (s *Server) rollback(ctx context.Context, in changeIn) (answer, error) {
	return s.end(ctx, "rollback", in)
}

func (s *Server) end(ctx context.Context, verb string, in changeIn) (answer, error) {
	s.mu.Lock()
	host, ours := s.changes[in.ID]
	s.mu.Unlock()
	if !ours || in.Host != "" && in.Host != host {
		return answer{}, fmt.Errorf("%s: change %.80q was not applied by this session; status lists the changes", verb, in.ID)
	}
	return s.run(ctx, newFlags(verb).line(in.ID, host))
}

type statusIn struct {
	Host string `json:"host,omitempty" jsonschema:"one of the hosts that the server was started for; the first of them when empty"`
}

func (s *Server) status(ctx context.Context, in statusIn) (answer, error) {
	host, err := s.host(in.Host)
	if err != nil {
		return answer{}, err
	}
	return s.run(ctx, newFlags("status").line(host))
}

type trialIn struct {
	Arms     []string `json:"arms" jsonschema:"two or more of: default, current, plan, cc:NAME, set:net.NAME=VALUE; the first one is the reference"`
	Link     string   `json:"link" jsonschema:"emulated link, such as rate=1gbit,rtt=50ms"`
	Workload string   `json:"workload,omitempty" jsonschema:"bulk when empty"`
	For      string   `json:"for,omitempty" jsonschema:"time for all runs together: 30s to 30m, usually 3m"`
}

// trial compares arms in namespaces of this machine; it changes no host.
func (s *Server) trial(ctx context.Context, in trialIn) (answer, error) {
	f := newFlags("trial")
	for _, arm := range in.Arms {
		f.set("arm", arm, armForm)
	}
	if in.Link == "" || len(in.Arms) < 2 {
		return answer{}, fmt.Errorf("two arms and a link are expected")
	}
	f.set("lab", in.Link, linkForm)
	f.set("workload", in.Workload, word)
	f.span("for", in.For, "3m", 30*time.Second, 30*time.Minute)
	return s.run(ctx, f)
}
