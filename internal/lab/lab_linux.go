package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"runtime"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/lab/emulator"
	"github.com/wirerate/wirerate/internal/lab/link"
)

// Lab is hosts in namespaces of this machine, joined by emulated links. It is
// gone when it is closed or the program ends, however it ends.
type Lab struct {
	topology Topology
	hosts    map[string]*host.Agent
	netns    map[string]*os.File
	links    []*wire
	waker    *waker
	budget   *emulator.Budget
	gates    map[way]*emulator.Gate
	only4    bool // the machine has no IPv6
}

// wire is a link that is up.
type wire struct {
	link     link.Link
	tuns     []int // descriptors of both ends
	devices  []counters
	up, down *emulator.Engine
}

// interfaceName is the name of a host's i-th interface.
func interfaceName(i int) string { return fmt.Sprintf("wr%d", i) }

// Bring brings up a topology. The caller is root in its user namespace (see
// EnterUserNamespace) and has called host.ServeIfAgent.
func Bring(ctx context.Context, t Topology) (_ *Lab, err error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	// Each link has two threads, which are busy or keep their places while they sleep
	// (see poll); the rest of the program must not wait for them.
	if want := runtime.NumCPU() + 2*len(t.Edges); runtime.GOMAXPROCS(0) < want {
		runtime.GOMAXPROCS(want)
	}
	_, _ = KeptLabs() // removes what killed labs left
	l := &Lab{topology: t, hosts: map[string]*host.Agent{}, netns: map[string]*os.File{}, gates: t.gates()}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if l.waker, err = startWaker(t.Awake, t.fastest()); err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	l.budget = emulator.NewBudget(2 * len(t.Edges))
	for _, name := range t.Hosts {
		if err := l.addHost(ctx, name); err != nil {
			return nil, fmt.Errorf("lab: %w", err)
		}
	}
	used := map[string]int{}
	for i, e := range t.Edges {
		if err := l.addLink(ctx, i, e, used); err != nil {
			return nil, fmt.Errorf("lab: link of %s and %s: %w", e.A, e.B, err)
		}
	}
	for _, name := range t.Hosts {
		// An empty request is answered when the host has prepared its mounts
		// and its name, which programs started there must find.
		if _, err := l.hosts[name].Do(ctx); err != nil {
			return nil, fmt.Errorf("lab: %s: %w", name, err)
		}
		if err := l.route(ctx, name); err != nil {
			return nil, fmt.Errorf("lab: routes of %s: %w", name, err)
		}
	}
	l.waker.ready(l.packets)
	return l, ctx.Err()
}

// packets returns how many the emulator has been given; known is false where
// it does not see them all.
func (l *Lab) packets() (n int64, known bool) {
	for _, w := range l.links {
		if w.up == nil || w.down == nil {
			return 0, false
		}
		n += w.up.Stats().Units + w.down.Stats().Units
	}
	return n, true
}

func (l *Lab) addHost(ctx context.Context, name string) error {
	agent, err := host.Spawn(ctx, name)
	if err != nil {
		return fmt.Errorf("%w: %w; %s", ErrUnavailable, err, namespaceAdvice(err))
	}
	l.hosts[name] = agent
	f, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", agent.PID()))
	if err != nil {
		return fmt.Errorf("%s: network namespace: %w", name, err)
	}
	l.netns[name] = f
	return l.onInterface(name, "lo", func(h *netlink.Handle, lo netlink.Link) error { return h.LinkSetUp(lo) })
}

func (l *Lab) addLink(ctx context.Context, i int, e Edge, used map[string]int) error {
	w := &wire{link: e.Link}
	if w.link.Seed == 0 {
		w.link.Seed = rand.Uint64()>>1 + 1
	}
	l.links = append(l.links, w)
	var devs [2]string
	for j, name := range []string{e.A, e.B} {
		devs[j] = interfaceName(used[name])
		used[name]++
	}
	if e.Link.Backend == link.Netem {
		return l.addNetem(ctx, i, e, devs)
	}
	for j, name := range []string{e.A, e.B} {
		fd, err := l.openTUN(name, devs[j])
		if err != nil {
			return err
		}
		w.tuns = append(w.tuns, fd)
		dev, err := os.Open(fmt.Sprintf("/proc/%d/net/dev", l.hosts[name].PID()))
		if err != nil {
			return fmt.Errorf("counters of interface %s of %s: %w", devs[j], name, err)
		}
		w.devices = append(w.devices, counters{dev, devs[j]})
		if err := l.configure(name, devs[j], e.Link.PathMTU(), i, j == 1); err != nil {
			return fmt.Errorf("interface %s of %s: %w", devs[j], name, err)
		}
	}
	start := time.Now()
	var err error
	if w.up, err = emulator.Start(w.link, w.link.Up, w.tuns[0], w.tuns[1], start, w.link.Seed,
		l.topology.flow(way{i, false}, l.gates), l.budget); err != nil {
		return err
	}
	w.down, err = emulator.Start(w.link, w.link.Down, w.tuns[1], w.tuns[0], start, w.link.Seed+1,
		l.topology.flow(way{i, true}, l.gates), l.budget)
	return err
}

// openTUN makes a TUN interface on a host.
func (l *Lab) openTUN(name, dev string) (fd int, err error) {
	err = l.Inside(name, func() (err error) {
		fd, err = emulator.OpenTUN(dev)
		return err
	})
	if errors.Is(err, emulator.ErrNoDevice) {
		err = fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return fd, err
}

// Inside runs f on a thread in a host's network namespace. What f starts must not
// outlast it there.
func (l *Lab) Inside(name string, f func() error) error {
	return inNamespace(int(l.netns[name].Fd()), f)
}

// configure gives an interface its MTU, queue and addresses and sets it up.
func (l *Lab) configure(name, dev string, mtu, edge int, b bool) error {
	return l.onInterface(name, dev, func(h *netlink.Handle, link netlink.Link) error {
		if err := h.LinkSetMTU(link, mtu); err != nil {
			return fmt.Errorf("mtu %d: %w", mtu, err)
		}
		if err := h.LinkSetTxQLen(link, emulator.RingLength); err != nil {
			return fmt.Errorf("txqueuelen: %w", err)
		}
		if err := h.LinkSetUp(link); err != nil {
			return err
		}
		if err := h.AddrAdd(link, &netlink.Addr{IPNet: ipNet(address(edge, b, false))}); err != nil {
			return fmt.Errorf("address: %w", err)
		}
		if mtu < minMTU6 {
			return nil
		}
		// Without the flag the first packets may come before the address is valid.
		err := h.AddrAdd(link, &netlink.Addr{IPNet: ipNet(address(edge, b, true)), Flags: unix.IFA_F_NODAD})
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EACCES) { // not built in, switched off
			l.only4 = true
			return nil
		}
		if err != nil {
			return fmt.Errorf("address: %w", err)
		}
		return nil
	})
}

// minMTU6 is the least MTU that IPv6 runs on (RFC 8200, section 5).
const minMTU6 = 1280

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// route gives a host the routes to the links that it is not on, and lets it
// forward if it has several.
func (l *Lab) route(ctx context.Context, name string) error {
	if l.topology.degree(name) > 1 {
		answers, err := l.hosts[name].Do(ctx, host.Poke("/proc/sys/net/ipv4/ip_forward", "1"),
			host.Poke("/proc/sys/net/ipv6/conf/all/forwarding", "1"))
		if err != nil {
			return err
		}
		if err := answers[0].Err(); err != nil {
			return err
		}
	}
	return inside(l.netns[name], func(h *netlink.Handle) error { return l.addRoutes(h, name) })
}

// addRoutes gives a host a route to each link that it is not on.
func (l *Lab) addRoutes(h *netlink.Handle, name string) error {
	hops := l.topology.nextHops(name)
	for i, e := range l.topology.Edges {
		if e.A == name || e.B == name {
			continue
		}
		next := hops[e.A]
		if hops[e.B].steps < next.steps {
			next = hops[e.B]
		}
		for _, v6 := range []bool{false, true} {
			dst := address(i, false, v6)
			gw := address(next.edge, next.b, v6).Addr()
			err := h.RouteAdd(&netlink.Route{Dst: ipNet(dst.Masked()), Gw: gw.AsSlice()})
			if err != nil && !v6 {
				return fmt.Errorf("%s: %w", dst, err)
			}
		}
	}
	return nil
}

// Host returns a host by its name in the topology, nil if there is none.
func (l *Lab) Host(name string) *host.Agent { return l.hosts[name] }

// OnKill has the hosts remove what this program leaves behind if it is killed.
func (l *Lab) OnKill(left host.Leftover) error {
	for _, name := range l.topology.Hosts {
		if err := l.hosts[name].OnKill(left); err != nil {
			return fmt.Errorf("lab: %s: %w", name, err)
		}
	}
	return nil
}

// Client returns the first host of the topology.
func (l *Lab) Client() host.Conn { return l.hosts[l.topology.Hosts[0]] }

// Server returns the second host of the topology.
func (l *Lab) Server() host.Conn { return l.hosts[l.topology.Hosts[1]] }

// PeerAddr returns the server's IPv4 address.
func (l *Lab) PeerAddr() string { return l.Addr(l.topology.Hosts[1], false) }

// PeerAddr6 returns the server's IPv6 address.
func (l *Lab) PeerAddr6() string { return l.Addr(l.topology.Hosts[1], true) }

// Addr returns a host's address on its first link, "" where the machine has no
// IPv6 or the link is too narrow for it.
func (l *Lab) Addr(name string, v6 bool) string {
	for i, e := range l.topology.Edges {
		if e.A == name || e.B == name {
			if v6 && (l.only4 || e.Link.PathMTU() < minMTU6) {
				return ""
			}
			return address(i, e.B == name, v6).Addr().String()
		}
	}
	return ""
}

// Link returns the topology's i-th link as it is, with the seed in use.
func (l *Lab) Link(i int) link.Link { return l.links[i].link }

// LinkStats returns what the i-th link did so far, in each direction: nothing
// is known of one that netem emulates.
func (l *Lab) LinkStats(i int) (up, down emulator.Stats) {
	w := l.links[i]
	if w.up == nil || w.down == nil {
		return emulator.Stats{}, emulator.Stats{}
	}
	up, down = w.up.Stats(), w.down.Stats()
	up.DropDevice, down.DropDevice = w.devices[0].refused(), w.devices[1].refused()
	return up, down
}

// Stats returns what the first link did so far, in each direction.
func (l *Lab) Stats() (up, down emulator.Stats) { return l.LinkStats(0) }

// Mark notes the moment, for Since.
func (l *Lab) Mark() Mark {
	m := Mark{At: time.Now()}
	for i := range l.links {
		up, down := l.LinkStats(i)
		m.Directions = append(m.Directions, up, down)
	}
	return m
}

// Since returns how far the lab was from what was asked of it since the mark.
func (l *Lab) Since(m Mark) Disturbance { return l.Mark().Since(m) }

// Report returns what every link did so far, in the order of the topology.
func (l *Lab) Report() []LinkReport {
	var reports []LinkReport
	for i, w := range l.links {
		r := LinkReport{From: l.topology.Edges[i].A, To: l.topology.Edges[i].B, Link: w.link.String()}
		if w.link.Backend == link.Netem {
			r.Unknown = "netem does not say how late it was"
		} else {
			up, down := l.LinkStats(i)
			r.Up, r.Down = &up, &down
		}
		reports = append(reports, r.since(LinkReport{}))
	}
	return reports
}

// Awake says whether the lab keeps the machine's processors awake, and what that
// took so far.
func (l *Lab) Awake() Awake { return l.waker.state() }

// Arrivals says whether the kernel notes when packets come to the lab's links.
func (l *Lab) Arrivals() Arrivals {
	if len(l.links) == 0 || l.links[0].up == nil {
		return Arrivals{Reason: "netem emulates the link"}
	}
	if err := l.links[0].up.Unstamped(); err != nil {
		return Arrivals{Reason: err.Error()}
	}
	return Arrivals{Noted: true}
}

// Close ends the lab: programs that run in it, links, namespaces.
func (l *Lab) Close() error {
	var errs []error
	if l.waker != nil {
		errs = append(errs, l.waker.close())
	}
	for _, a := range l.hosts {
		errs = append(errs, a.Close())
	}
	for _, w := range l.links {
		for _, e := range []*emulator.Engine{w.up, w.down} {
			if e != nil {
				e.Close()
			}
		}
		for _, fd := range w.tuns {
			unix.Close(fd)
		}
		for _, c := range w.devices {
			c.file.Close()
		}
	}
	if l.budget != nil {
		l.budget.Close()
	}
	for _, f := range l.netns {
		// Without it they go by themselves, later.
		_ = destroySockets(f)
		f.Close()
	}
	l.links, l.hosts, l.netns, l.waker, l.budget = nil, nil, nil, nil, nil
	return errors.Join(errs...)
}
