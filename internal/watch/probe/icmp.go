package probe

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// ErrPrivilege is wrapped where the system lets this user send no ICMP.
var ErrPrivilege = errors.New("ICMP sockets are neither open to this user (on Linux the range of " +
	"net.ipv4.ping_group_range) nor to be had raw (root or CAP_NET_RAW); tcp:HOST:PORT needs neither")

// payload is what an echo carries behind the ICMP header, as of ping(8).
const payload = 56

// pinger sends ICMP echoes and takes the answers to them. Its zero value is closed.
type pinger struct {
	mu      sync.Mutex
	conn    *icmp.PacketConn
	six     bool
	raw     bool
	id      uint16 // of raw sockets; the kernel sets that of others
	token   [16]byte
	seq     uint16
	waiting map[uint16]chan time.Time
	read    sync.WaitGroup
}

// open opens a socket of a family: one that needs no privilege, else a raw one.
func (g *pinger) open(six bool) error {
	names := [2]string{"udp4", "ip4:icmp"}
	if six {
		names = [2]string{"udp6", "ip6:ipv6-icmp"}
	}
	conn, err := icmp.ListenPacket(names[0], "")
	raw := err != nil
	if raw {
		if conn, err = icmp.ListenPacket(names[1], ""); err != nil {
			return fmt.Errorf("%w (%w)", ErrPrivilege, err)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.conn, g.six, g.raw, g.waiting = conn, six, raw, map[uint16]chan time.Time{}
	if _, err := rand.Read(g.token[:]); err != nil {
		return err
	}
	g.id = binary.BigEndian.Uint16(g.token[:])
	g.read.Go(func() { g.receive(conn, six) })
	return nil
}

func (g *pinger) close() {
	g.mu.Lock()
	if g.conn != nil {
		g.conn.Close()
	}
	g.mu.Unlock()
	g.read.Wait()
}

// echo sends one echo and returns when its answer came.
func (g *pinger) echo(ctx context.Context, to netip.Addr) (time.Time, error) {
	answer := make(chan time.Time, 1)
	g.mu.Lock()
	g.seq++
	seq := g.seq
	g.waiting[seq] = answer
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.waiting, seq)
		g.mu.Unlock()
	}()
	if err := g.send(to, seq); err != nil {
		return time.Time{}, err
	}
	select {
	case at := <-answer:
		return at, nil
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
}

func (g *pinger) send(to netip.Addr, seq uint16) error {
	data := make([]byte, payload)
	copy(data, g.token[:])
	m := icmp.Message{Type: ipv4.ICMPTypeEcho, Body: &icmp.Echo{ID: int(g.id), Seq: int(seq), Data: data}}
	if g.six {
		m.Type = ipv6.ICMPTypeEchoRequest
	}
	packet, err := m.Marshal(nil)
	if err != nil {
		return err
	}
	var addr net.Addr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(to, 0))
	if g.raw {
		addr = &net.IPAddr{IP: to.AsSlice(), Zone: to.Zone()}
	}
	_, err = g.conn.WriteTo(packet, addr)
	return err
}

// receive takes answers until the socket is closed. Only what has the token, which
// nobody off the path knows, is one.
func (g *pinger) receive(conn *icmp.PacketConn, six bool) {
	buffer := make([]byte, 1500)
	for {
		n, _, err := conn.ReadFrom(buffer)
		at := time.Now()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(time.Millisecond) // an error that stays takes no processor
			continue
		}
		if seq, ok := g.answered(buffer[:n], six); ok {
			g.mu.Lock()
			if answer := g.waiting[seq]; answer != nil {
				answer <- at
				delete(g.waiting, seq) // a second one is a duplicate
			}
			g.mu.Unlock()
		}
	}
}

// answered is the number of the echo that a packet answers.
func (g *pinger) answered(packet []byte, six bool) (uint16, bool) {
	protocol, want := 1, icmp.Type(ipv4.ICMPTypeEchoReply)
	if six {
		protocol, want = 58, ipv6.ICMPTypeEchoReply
	}
	m, err := icmp.ParseMessage(protocol, packet)
	if err != nil || m.Type != want {
		return 0, false
	}
	e, ok := m.Body.(*icmp.Echo)
	if !ok || len(e.Data) != payload || !bytes.Equal(e.Data[:len(g.token)], g.token[:]) {
		return 0, false
	}
	return uint16(e.Seq), true
}
