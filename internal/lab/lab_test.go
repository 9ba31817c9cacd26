//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/lab/emulator"
	"github.com/wirerate/wirerate/internal/lab/link"
)

// helperVariable makes the test program do what its value says instead of
// running tests.
const helperVariable = "WIRERATE_LAB_TEST"

func TestMain(m *testing.M) {
	if served, status := host.ServeIfAgent(); served {
		os.Exit(status)
	}
	var err error
	switch os.Getenv(helperVariable) {
	case "":
		os.Exit(m.Run())
	case "hold":
		err = hold()
	case "speak":
		speak()
	case "listen":
		err = listen()
	}
	if ended := (*Ended)(nil); errors.As(err, &ended) {
		os.Exit(ended.Status)
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// hold brings up a lab, prints a round trip and the processes that hold the
// namespaces, and keeps it until standard input ends.
func hold() error {
	if err := EnterUserNamespace(context.Background(), os.Args[1:]); err != nil {
		return err
	}
	l, err := Bring(context.Background(), Pair(link.Link{}))
	if err != nil {
		return err
	}
	defer l.Close()
	out, err := host.Run(context.Background(), l.Client(), "ping", "-c", "1", "-W", "5", "-q", l.PeerAddr())
	if err != nil {
		return err
	}
	awake := 0
	if l.waker.process != nil {
		awake = l.waker.process.PID()
	}
	fmt.Printf("%q\n%d %d %d\n", out, l.Host(ClientHost).PID(), l.Host(ServerHost).PID(), awake)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// needLab skips a test where no lab can be brought up.
func needLab(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("bringing up a lab in tests needs root")
	}
	if _, err := os.Stat(emulator.Device); err != nil {
		t.Skipf("no %s", emulator.Device)
	}
}

// up brings up a client and a server.
func up(t testing.TB, spec string) *Lab {
	t.Helper()
	link, err := link.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return bring(t, Pair(link))
}

func bring(t testing.TB, topology Topology) *Lab {
	t.Helper()
	needLab(t)
	l, err := Bring(context.Background(), topology)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// command runs a command on a host and returns its output.
func command(t testing.TB, c host.Conn, args ...string) string {
	t.Helper()
	out, err := host.Run(context.Background(), c, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// self prepares the test program to be run as hold, from a place that every
// user can reach.
func self(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && len(d) > 1; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "lab.test")
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBothProtocolsCross(t *testing.T) {
	l := up(t, "rtt=2ms")
	for _, addr := range []string{l.PeerAddr(), l.PeerAddr6()} {
		if out := command(t, l.Client(), "ping", "-c", "1", "-W", "5", "-q", addr); !strings.Contains(out, " 0% packet loss") {
			t.Errorf("ping %s:\n%s", addr, out)
		}
	}
}

// pids reads what hold prints.
func pids(t *testing.T, out io.Reader) []int {
	t.Helper()
	var ping string
	var client, server, awake int
	if _, err := fmt.Fscanf(out, "%q\n%d %d %d\n", &ping, &client, &server, &awake); err != nil {
		rest, _ := io.ReadAll(out)
		t.Fatalf("%v: %s", err, rest)
	}
	if !strings.Contains(ping, " 0% packet loss") {
		t.Errorf("ping: %s", ping)
	}
	if awake == 0 {
		t.Error("no process keeps the processors awake")
	}
	return []int{client, server, awake}
}

func TestEndedProgramLeavesNothing(t *testing.T) {
	needLab(t)
	program := self(t)
	for name, end := range map[string]func(*exec.Cmd, io.Closer){
		"normal end": func(_ *exec.Cmd, stdin io.Closer) { stdin.Close() },
		"SIGTERM":    func(c *exec.Cmd, _ io.Closer) { c.Process.Signal(syscall.SIGTERM) },
		"SIGKILL":    func(c *exec.Cmd, _ io.Closer) { c.Process.Signal(syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(program)
			cmd.Env = holdEnvironment()
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			held := pids(t, stdout)
			end(cmd, stdin)
			cmd.Wait()
			for _, pid := range held {
				awaitGone(t, pid)
			}
		})
	}
}

// holdEnvironment makes the test program hold a lab with processors kept awake.
func holdEnvironment() []string {
	return append(os.Environ(), helperVariable+"=hold", AwakeVariable+"=on")
}

// awaitGone fails the test unless the process ends soon: with it go the
// namespaces, which nothing else holds.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	for range 12_000 { // on a machine that is busy a process takes its time
		if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); errors.Is(err, os.ErrNotExist) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

// asUser prepares hold to be run by an ordinary user who finds /dev/net/tun
// with the given mode, in a mount namespace of its own.
func asUser(t *testing.T, mode string) *exec.Cmd {
	t.Helper()
	needLab(t)
	script := fmt.Sprintf(`mknod %[1]s/tun c 10 200 && chmod %[2]s %[1]s/tun && mount --bind %[1]s/tun %[3]s &&
exec setpriv --reuid 65534 --regid 65534 --clear-groups %[4]s`, t.TempDir(), mode, emulator.Device, self(t))
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	cmd.Env = holdEnvironment()
	cmd.Stderr = os.Stderr
	return cmd
}

func TestOrdinaryUserBringsUpALab(t *testing.T) {
	cmd := asUser(t, "666")
	stdin, _ := cmd.StdinPipe()
	stdout, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	held := pids(t, stdout)
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	for _, pid := range held {
		awaitGone(t, pid)
	}
}

func TestOrdinaryUserWithoutTheDeviceIsTold(t *testing.T) {
	out, err := asUser(t, "600").Output()
	if err == nil {
		t.Error("a lab came up without the device")
	}
	for _, want := range []string{ErrUnavailable.Error(), "chmod 666 " + emulator.Device} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in: %s", want, out)
		}
	}
}

// A host without IPv6 has no address of it.
func TestAddressesAreThoseThatHostsHave(t *testing.T) {
	l := up(t, "rtt=1ms")
	if l.PeerAddr6() == "" {
		t.Fatal("no address to begin with")
	}
	if _, err := l.Host(ClientHost).Do(t.Context(), host.Poke("/proc/sys/net/ipv6/conf/wr0/disable_ipv6", "1")); err != nil {
		t.Fatal(err)
	}
	if err := l.configure(ClientHost, "wr0", 1500, 9, false); err != nil {
		t.Fatal(err)
	}
	if got := l.PeerAddr6(); got != "" {
		t.Errorf("the peer is said to have %s", got)
	}
}

func TestLabsSideBySideDoNotMeet(t *testing.T) {
	a, b := up(t, "rtt=2ms"), up(t, "rtt=30ms")
	for _, c := range []struct {
		l     *Lab
		least float64
	}{{a, 2}, {b, 30}} {
		out := command(t, c.l.Client(), "ping", "-c", "3", "-i", "0.02", "-q", c.l.PeerAddr())
		_, after, _ := strings.Cut(out, "mdev = ")
		first, _, _ := strings.Cut(after, "/")
		if rtt, err := strconv.ParseFloat(first, 64); err != nil || rtt < c.least-0.2 || rtt > c.least+500 {
			t.Errorf("round trip %q ms, want about %g: %v", first, c.least, err)
		}
	}
}

func TestRouterForwards(t *testing.T) {
	path, _ := link.Parse("rate=100mbit,rtt=4ms")
	l := bring(t, Routed(path))
	for _, v6 := range []bool{false, true} {
		out := command(t, l.Client(), "ping", "-c", "2", "-i", "0.02", l.Addr(ServerHost, v6))
		// The router is one hop: 64 becomes 63.
		if !strings.Contains(out, "ttl=63") {
			t.Errorf("not forwarded once:\n%s", out)
		}
	}
}

func TestClientsShareABottleneck(t *testing.T) {
	path, _ := link.Parse("rate=100mbit,rtt=4ms")
	l := bring(t, Shared([]link.Link{{}, {}, {}}, path))
	for _, name := range []string{"client", "client2", "client3"} {
		command(t, l.Host(name), "ping", "-c", "1", "-W", "5", "-q", l.PeerAddr())
		command(t, l.Server(), "ping", "-c", "1", "-W", "5", "-q", l.Addr(name, true))
	}
	// A packet is counted once it is on its way, which the answer may overtake.
	var shared LinkReport
	for range 200 {
		if shared = l.Report()[3]; shared.Up.Delivered >= 6 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if shared.From != RouterHost || shared.Up.Delivered != 6 {
		t.Errorf("the bottleneck carried %+v", shared)
	}
}

func TestNetemBackend(t *testing.T) {
	needLab(t)
	link, err := link.Parse("rate=100mbit,rtt=20ms,backend=netem")
	if err != nil {
		t.Fatal(err)
	}
	l, err := Bring(t.Context(), Pair(link))
	if errors.Is(err, ErrUnavailable) {
		t.Skipf("no netem here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	command(t, l.Client(), "ping", "-c", "1", "-W", "5", l.PeerAddr())
}

// Programs that are killed in the middle of sending leave sockets; a lab that
// is closed does not.
func TestCloseLeavesNoSockets(t *testing.T) {
	needLab(t)
	l, err := Bring(t.Context(), Pair(link.Link{Up: link.Direction{Rate: 1e6}}))
	if err != nil {
		t.Fatal(err)
	}
	var spaces []*os.File
	var conns []net.Conn
	for _, addr := range []string{l.PeerAddr(), l.PeerAddr6()} {
		address := net.JoinHostPort(addr, "7000")
		var listener net.Listener
		if err := inNamespace(int(l.netns[ServerHost].Fd()), func() (err error) {
			listener, err = net.Listen("tcp", address)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := inNamespace(int(l.netns[ClientHost].Fd()), func() error {
			c, err := net.Dial("tcp", address)
			conns = append(conns, c)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		peer, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer peer.Close() // it never reads
		listener.Close()
	}
	for _, f := range l.netns {
		fd, err := unix.Dup(int(f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		spaces = append(spaces, os.NewFile(uintptr(fd), "netns"))
	}
	for _, c := range conns {
		c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
		c.Write(make([]byte, 1<<20)) // more than the link carries in that time
		c.Close()
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, ns := range spaces {
		for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
			if err := inNamespace(int(ns.Fd()), func() error {
				sockets, err := netlink.SocketDiagTCP(family)
				if len(sockets) > 0 {
					t.Errorf("family %d: %d sockets are left, one in state %d", family, len(sockets), sockets[0].State)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		ns.Close()
	}
}

// A lab says how it was disturbed since a mark.
func TestLabSinceMark(t *testing.T) {
	l := up(t, "rtt=2ms")
	mark := l.Mark()
	if d := l.Since(mark); d.Lost != 0 || d.Elapsed <= 0 {
		t.Errorf("%+v", d)
	}
	command(t, l.Client(), "ping", "-c", "1", "-W", "5", l.PeerAddr())
	if now := l.Mark(); now.Directions[0].Since(mark.Directions[0]).Units != 1 {
		t.Errorf("%+v", now)
	}
}
