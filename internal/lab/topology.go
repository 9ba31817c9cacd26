package lab

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/wirerate/wirerate/internal/lab/emulator"
	"github.com/wirerate/wirerate/internal/lab/link"
	"github.com/wirerate/wirerate/internal/units"
)

// ErrUnavailable is wrapped by errors that say what the environment lacks for
// a lab: an operating system, a device, user namespaces, a privilege.
var ErrUnavailable = errors.New("the lab is not available here")

// Topology is the hosts of a lab and the links between them. Hosts that have
// more than one link forward between them.
type Topology struct {
	Hosts []string
	Edges []Edge
	// Awake says when the machine's processors are kept awake meanwhile.
	Awake AwakeOptions
}

// Edge is a link between two hosts; its Up direction is from A to B.
type Edge struct {
	A, B string
	Link link.Link
}

// Names of the hosts in the topologies below.
const (
	ClientHost = "client"
	ServerHost = "server"
	RouterHost = "router"
)

// Pair is a client and a server, joined by link.
func Pair(link link.Link) Topology {
	return Topology{
		Hosts: []string{ClientHost, ServerHost},
		Edges: []Edge{{ClientHost, ServerHost, link}},
	}
}

// Routed is a client and a server with a router between them that is a host of
// its own: an unlimited link of the same MTU joins the client to it, path joins it
// to the server.
func Routed(path link.Link) Topology {
	return Topology{
		Hosts: []string{ClientHost, ServerHost, RouterHost},
		Edges: []Edge{
			{ClientHost, RouterHost, link.Link{Framing: link.FramingEthernet, MTU: path.MTU}},
			{RouterHost, ServerHost, path},
		},
	}
}

// Shared is clients, named client, client2, ..., each with its own access link
// to a router, that share the bottleneck from there to the server.
func Shared(access []link.Link, bottleneck link.Link) Topology {
	t := Topology{Hosts: []string{ClientHost, ServerHost, RouterHost}}
	for i, link := range access {
		name := ClientHost
		if i > 0 {
			name = fmt.Sprintf("%s%d", ClientHost, i+1)
			t.Hosts = append(t.Hosts, name)
		}
		t.Edges = append(t.Edges, Edge{name, RouterHost, link})
	}
	t.Edges = append(t.Edges, Edge{RouterHost, ServerHost, bottleneck})
	return t
}

// fastest returns the rate of the fastest direction of a link, 0 where one has no
// limit or one that a trace gives.
func (t Topology) fastest() units.Rate {
	var most units.Rate
	for _, e := range t.Edges {
		for _, d := range []link.Direction{e.Link.Up, e.Link.Down} {
			if d.Rate == 0 {
				return 0
			}
			most = max(most, d.Rate)
		}
	}
	return most
}

// Validate reports what makes a topology impossible to bring up: names that
// are empty, doubled or unknown, a link of a host to itself, a host out of reach.
func (t Topology) Validate() error {
	known := map[string]bool{}
	for _, h := range t.Hosts {
		if h == "" || known[h] {
			return fmt.Errorf("topology: host %q is unnamed or doubled", h)
		}
		known[h] = true
	}
	if len(t.Edges) > maxEdges {
		return fmt.Errorf("topology: %d links; %d are possible", len(t.Edges), maxEdges)
	}
	for _, e := range t.Edges {
		if !known[e.A] || !known[e.B] || e.A == e.B {
			return fmt.Errorf("topology: a link joins %q and %q", e.A, e.B)
		}
		if err := e.Link.Validate(); err != nil {
			return fmt.Errorf("topology: link of %s and %s: %w", e.A, e.B, err)
		}
	}
	if len(t.Hosts) < 2 {
		return fmt.Errorf("topology: two hosts at least are needed")
	}
	if err := t.validatePause(); err != nil {
		return err
	}
	reach := t.nextHops(t.Hosts[0])
	for _, h := range t.Hosts[1:] {
		if _, ok := reach[h]; !ok {
			return fmt.Errorf("topology: no way from %s to %s", t.Hosts[0], h)
		}
	}
	return nil
}

// validatePause reports a queue that is to hold back links where there are none.
func (t Topology) validatePause() error {
	for i, e := range t.Edges {
		for b, d := range []link.Direction{e.Link.Up, e.Link.Down} {
			if d.Pause && len(t.before(i, b == 1)) == 0 {
				from, side := e.A, "up"
				if b == 1 {
					from, side = e.B, "down"
				}
				return fmt.Errorf("topology: link of %s and %s: full=pause holds back the links into %s in its "+
					"other directions, and none of them has a rate; a client's access link is to pause a router "+
					"(%s:full=pause where the router is), its bottleneck needs a rate", e.A, e.B, from, side)
			}
		}
	}
	return nil
}

// way is one direction of an edge: towards B, or back.
type way struct {
	edge int
	back bool
}

// before lists the ways into the host that a way leaves from, which carry what it
// carries on, where they have a transmitter that can be held back.
func (t Topology) before(edge int, back bool) []way {
	from := t.Edges[edge].A
	if back {
		from = t.Edges[edge].B
	}
	var ways []way
	for i, e := range t.Edges {
		switch {
		case i == edge || e.Link.Backend != link.User:
		case e.B == from && e.Link.Up.Limited():
			ways = append(ways, way{i, false})
		case e.A == from && e.Link.Down.Limited():
			ways = append(ways, way{i, true})
		}
	}
	return ways
}

// gates returns, for each way whose full queue holds others back, its gate.
func (t Topology) gates() map[way]*emulator.Gate {
	gates := map[way]*emulator.Gate{}
	for i, e := range t.Edges {
		for b, d := range []link.Direction{e.Link.Up, e.Link.Down} {
			if d.Pause {
				gates[way{i, b == 1}] = &emulator.Gate{}
			}
		}
	}
	return gates
}

// flow returns the gate that a way works, and those that hold it back.
func (t Topology) flow(w way, gates map[way]*emulator.Gate) emulator.Flow {
	f := emulator.Flow{Own: gates[w]}
	for other, g := range gates {
		for _, held := range t.before(other.edge, other.back) {
			if held == w {
				f.Behind = append(f.Behind, g)
			}
		}
	}
	return f
}

// maxEdges is how many /24 the lab's IPv4 range 10.77.0.0/16 has.
const maxEdges = 256

// address returns the address of an end of edge i: IPv4 of 10.77.i.0/24, IPv6
// of fd77:0:0:i::/64 (RFC 4193). A is .1, B is .2. They exist in the lab's
// namespaces alone, so that labs side by side may use the same ones.
func address(i int, b, v6 bool) netip.Prefix {
	end := byte(1)
	if b {
		end = 2
	}
	if v6 {
		a := [16]byte{0: 0xfd, 1: 0x77, 7: byte(i), 15: end}
		return netip.PrefixFrom(netip.AddrFrom16(a), 64)
	}
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 77, byte(i), end}), 24)
}

// hop is the first step from a host to another, over edge to its end B or A,
// and how many steps there are.
type hop struct {
	edge  int
	b     bool
	steps int
}

// nextHops returns the first step of a shortest way from one host to each
// that it reaches, found breadth first.
func (t Topology) nextHops(from string) map[string]hop {
	first := map[string]hop{from: {}}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for i, e := range t.Edges {
			for _, step := range []struct {
				here, there string
				hop         hop
			}{{e.A, e.B, hop{i, true, 0}}, {e.B, e.A, hop{i, false, 0}}} {
				if _, seen := first[step.there]; seen || step.here != queue[0] {
					continue
				}
				if step.here != from {
					step.hop = first[step.here]
				}
				step.hop.steps = first[step.here].steps + 1
				first[step.there] = step.hop
				queue = append(queue, step.there)
			}
		}
	}
	return first
}

// degree returns how many links a host has.
func (t Topology) degree(host string) int {
	n := 0
	for _, e := range t.Edges {
		if e.A == host || e.B == host {
			n++
		}
	}
	return n
}
