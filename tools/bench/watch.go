package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// watching measures watch beside ss over many connections that are open.
func watching(program string, connections int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Printf("watch at %d established connections, of which one in 100 moves data\n", connections)
	t := newTable()
	command := fmt.Sprintf("ulimit -n 20000; exec %s load many -for 30s -flows %d -program %s", self, connections, program)
	var stderr bytes.Buffer
	cmd := exec.Command(program, "lab", "exec", "rate=1gbit,rtt=2ms", "--serve", self+" load serve", "--",
		"sh", "-c", command)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.row("watch", "", "not measured", firstLine(stderr.String()))
		return t.end()
	}
	var share, ss float64
	var memory, ssMemory int64
	if _, err := fmt.Sscan(string(out), &share, &memory, &ss, &ssMemory); err != nil {
		return err
	}
	t.row("watch, each second", "< 1% of a core, 60 MB", fmt.Sprintf("%.2f%% of a core", 100*share),
		fmt.Sprintf("%.0f MB at most", float64(memory)/1e6))
	t.row("ss -tinm, each second", "", fmt.Sprintf("%.2f%% of a core", 100*ss),
		fmt.Sprintf("%.0f MB; watch takes %.2f of its time", float64(ssMemory)/1e6, share/ss))
	return t.end()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// plant is a limit that a lab is made to have.
type plant struct {
	kind, link  string
	want        string // the limit that watch is to name
	serve, send string // loads
	on          string // that is watched: client, the default, or server
	router      string // shell commands for a router between them
	before      string // shell commands for the client
}

// plants are five of each kind of limit.
func plants() []plant {
	var all []plant
	each := func(p plant, links ...string) {
		for _, link := range links {
			q := p
			q.link = link
			all = append(all, q)
		}
	}
	each(plant{kind: "window", want: "peer-window", serve: "-rcvbuf 131072", send: "send"},
		"rate=100mbit,rtt=40ms", "rate=200mbit,rtt=20ms", "rate=50mbit,rtt=100ms", "rate=20mbit,rtt=200ms",
		"rate=300mbit,rtt=10ms")
	each(plant{kind: "send buffer", want: "send-buffer", send: "send -flows 3 -sndbuf 131072"},
		"rate=100mbit,rtt=40ms", "rate=200mbit,rtt=30ms", "rate=50mbit,rtt=100ms", "rate=50mbit,rtt=200ms",
		"rate=300mbit,rtt=20ms")
	each(plant{kind: "slow reader", want: "slow-reader", serve: "-rate 4e6", send: "send"},
		"rate=100mbit,rtt=1ms", "rate=100mbit,rtt=10ms", "rate=50mbit,rtt=40ms", "rate=200mbit,rtt=20ms")
	each(plant{kind: "slow reader here", want: "slow-reader", serve: "-rate 3e6", send: "send", on: "server"},
		"rate=100mbit,rtt=10ms")
	each(plant{kind: "program", want: "program", send: "send -rate 4e6"},
		"rate=100mbit,rtt=10ms", "rate=100mbit,rtt=50ms", "rate=1gbit,rtt=2ms", "rate=50mbit,rtt=100ms",
		"rate=300mbit,rtt=20ms")
	each(plant{kind: "loss", want: "congestion-window", send: "send -cc reno"},
		"rate=100mbit,rtt=20ms,loss=1%", "rate=100mbit,rtt=40ms,loss=0.5%", "rate=200mbit,rtt=30ms,loss=2%")
	each(plant{kind: "loss", want: "congestion-window", send: "send -flows 2 -cc cubic"},
		"rate=100mbit,rtt=50ms,loss=1%", "rate=300mbit,rtt=20ms,loss=0.5%")
	each(plant{kind: "policer", want: "policer", send: "send -cc cubic", router: policer},
		"rate=1gbit,rtt=10ms", "rate=1gbit,rtt=20ms", "rate=300mbit,rtt=40ms", "rate=200mbit,rtt=30ms",
		"rate=300mbit,rtt=60ms")
	each(plant{kind: "full queue", want: "path-rate", send: "send -cc reno"},
		"rate=10mbit,rtt=20ms,queue=200ms", "rate=50mbit,rtt=10ms,queue=100ms", "rate=20mbit,rtt=40ms,queue=150ms")
	each(plant{kind: "full queue", want: "path-rate", send: "send -flows 4 -cc cubic"},
		"rate=20mbit,rtt=10ms,queue=100ms", "rate=100mbit,rtt=10ms,queue=50ms")
	each(plant{kind: "processor", want: "processor", send: "flood -sndbuf 18 -lo", before: chain},
		"rate=100mbit,rtt=1ms", "rate=100mbit,rtt=2ms", "rate=100mbit,rtt=3ms", "rate=100mbit,rtt=4ms",
		"rate=100mbit,rtt=5ms")
	each(plant{kind: "device queue", want: "device-queue", send: "flood -sndbuf 1200 -rate 4e7",
		before: "tc qdisc replace dev $DEV root tbf rate 20mbit burst 30k limit 60k"},
		"rate=100mbit,rtt=10ms", "rate=200mbit,rtt=40ms", "rate=1gbit,rtt=2ms")
	each(plant{kind: "device queue", want: "device-queue", send: "send -flows 40",
		before: "tc qdisc replace dev $DEV root tbf rate 20mbit burst 10k limit 30k"}, "rate=100mbit,rtt=10ms",
		"rate=100mbit,rtt=30ms")
	each(plant{kind: "conntrack", want: "conntrack", on: "client", send: "track -flows 263000 -lo", before: tracking},
		"rate=1gbit,rtt=1ms", "rate=1gbit,rtt=2ms", "rate=1gbit,rtt=3ms", "rate=1gbit,rtt=5ms", "rate=1gbit,rtt=10ms")
	for _, backlog := range []int{1, 4, 16, 32, 64} {
		each(plant{kind: "accept queue", want: "accept-queue", on: "server",
			serve: fmt.Sprintf("-accept=false -backlog %d", backlog),
			send:  "open -flows 200"}, fmt.Sprintf("rate=100mbit,rtt=%dms", backlog))
	}
	each(plant{kind: "MTU", want: "mtu-black-hole", send: "send", router: blackHole},
		"rate=100mbit,rtt=10ms", "rate=100mbit,rtt=40ms", "rate=50mbit,rtt=80ms", "rate=300mbit,rtt=20ms",
		"rate=20mbit,rtt=5ms")
	return all
}

const (
	policer = "nft add table ip f; nft add chain ip f c '{ type filter hook forward priority 0; policy accept; }'; " +
		"nft add rule ip f c tcp dport 5000 limit rate over 2500 kbytes/second burst 250 kbytes drop"
	blackHole = "nft add table ip f; nft add chain ip f c '{ type filter hook forward priority 0; policy accept; }'; " +
		"nft add rule ip f c meta length gt 1400 drop"
	tracking = "nft add table ip f; nft add chain ip f c '{ type filter hook output priority 0; policy accept; }'; " +
		"nft add rule ip f c ct state established counter accept"
	chain = "(echo add table ip f; echo add chain ip f c '{ type filter hook input priority 0; policy accept; }'; " +
		"for i in $(seq 3000); do echo add rule ip f c ip ttl 3 counter; done) | nft -f -"
)

// idles are sessions without a limit.
func idles() []plant {
	var all []plant
	for i, link := range []string{"rate=100mbit,rtt=10ms", "rate=1gbit,rtt=2ms", "rate=10mbit,rtt=100ms",
		"rate=100mbit,rtt=40ms,loss=1%"} {
		for j, send := range []string{"rest", "ask", "open -flows 50", "ask -cc reno", "send -rate 20000"} {
			all = append(all, plant{kind: "none", want: "none", link: link, send: send, on: []string{"client",
				"server"}[(i+j)%2]})
		}
	}
	return all
}

// observed is what was on watch's first line.
type observed struct {
	Time    time.Time
	Verdict struct{ Limit, Subject string }
}

// see plants a limit and returns what the first line said 5 s later; of none, the
// first limit that was claimed.
func (p plant) see(program, dir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "watch.json")
	look := " -watch " + file + " -program " + program
	serve, send := self+" load serve "+p.serve, self+" load "+p.send
	if p.on == "server" {
		serve += look
	} else {
		send += look
	}
	if p.before != "" {
		send = "DEV=$(ip -o route get $WIRERATE_PEER | sed 's/.* dev \\([^ ]*\\).*/\\1/'); " + p.before + "; exec " + send
	}
	args := []string{"lab", "exec", p.link, "--serve", serve, "--", "sh", "-c", send}
	if p.router != "" {
		return p.routed(program, args, file)
	}
	return p.judged(exec.Command(program, args...), file)
}

// routed runs it in a lab with a router that is set up first.
func (p plant) routed(program string, args []string, file string) (string, error) {
	name := "plant-" + strconv.Itoa(os.Getpid())
	up := exec.Command(program, "lab", "up", name, p.link, "--router")
	if out, err := up.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, firstLine(string(out)))
	}
	defer exec.Command(program, "lab", "down", name).Run()
	if out, err := exec.Command(program, "lab", "shell", name, "router", "--", "sh", "-c",
		p.router).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, firstLine(string(out)))
	}
	args[2] = name
	return p.judged(exec.Command(program, args...), file)
}

func (p plant) judged(cmd *exec.Cmd, file string) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		return "", fmt.Errorf("%w: %s", err, firstLine(stderr.String()))
	}
	var planted int64
	if _, err := fmt.Sscan(string(out), &planted); err != nil {
		return "", fmt.Errorf("%w: %s", err, firstLine(stderr.String()))
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	seen := "nothing"
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		var o observed
		if err := d.Decode(&o); err != nil {
			break
		}
		if o.Time.After(time.UnixMilli(planted).Add(5 * time.Second)) {
			break
		}
		if seen = o.Verdict.Limit; p.want == "none" && seen != "none" {
			break
		}
	}
	return seen, nil
}

// planted says for how many planted limits the right one stands on the first line
// of watch within 5 s, of those kinds that are named, or of all.
func planted(program, kinds string) error {
	right, all := 0, 0
	for _, list := range [][]plant{plants(), idles()} {
		n, good := 0, 0
		for i, p := range list {
			if kinds != "" && !slices.Contains(strings.Split(kinds, ","), p.kind) {
				continue
			}
			dir, err := os.MkdirTemp("", "wirerate-plant-")
			if err != nil {
				return err
			}
			seen, err := p.see(program, dir)
			err = errors.Join(err, os.RemoveAll(dir))
			n++
			if err == nil && seen == p.want {
				good++
				continue
			}
			fmt.Printf("%2d %s at %s, %s: %s (%v)\n", i, p.kind, p.link, p.send, seen, err)
		}
		fmt.Printf("%d of %d\n", good, n)
		right, all = right+good, all+n
	}
	if right < all*57/60 {
		return fmt.Errorf("%d of %d are right", right, all)
	}
	return nil
}
