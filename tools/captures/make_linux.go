package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// kase is one capture to make: what limits, on which link.
type kase struct {
	label, cc string
	rtt       int // ms
	rate      int // Mbit/s
	segments  bool
	link      string // in addition to rate and rtt
	router    string // a command on the router, which there is then
	client    string // a command on the client
	traffic   traffic
}

// name is that of its files: LABEL_rRTT_RATE_CC.
func (k kase) name(seed uint64) string {
	offload := ""
	if k.segments {
		offload = "_segments"
	}
	return fmt.Sprintf("%s_r%d_%d_%d%s_%s", k.label, k.rtt, k.rate, seed, offload, k.cc)
}

// draw makes a case of a label at random.
func draw(label string, r *rand.Rand) kase {
	pick := func(values ...int) int { return values[r.IntN(len(values))] }
	k := kase{label: label, cc: []string{"reno", "cubic", "bbr"}[r.IntN(3)], rtt: pick(1, 5, 20, 50, 100, 200),
		rate: pick(10, 30, 100), segments: r.IntN(2) == 0}
	bdp := max(k.rate*125*k.rtt, 3000)
	k.traffic = traffic{CC: k.cc, Seconds: max(4, float64(k.rtt)*0.04)}
	switch label {
	case "program":
		k.traffic.Write, k.traffic.Every = k.rate*125*10/(2+r.IntN(4)), 0.01*float64(1+r.IntN(5))
	case "sndbuf":
		k.rtt = pick(50, 100, 200)
		k.traffic.SendBuffer = max(k.rate*125*k.rtt/6, 150_000)
		k.rate = pick(100, 200)
	case "window":
		k.traffic.ReceiveBuffer = max(bdp/4, 5000)
	case "reader":
		k.traffic.Read = k.rate * 125_000 / (4 + r.IntN(8))
	case "start":
		k.rtt = pick(20, 50, 100, 200)
		k.traffic.Bytes = max(k.rate*125*k.rtt, 60_000)
	case "loss":
		k.link = fmt.Sprintf(",up:loss=%.4f", 0.002+0.008*r.Float64())
	case "bursts":
		k.link = fmt.Sprintf(",up:loss=burst:%.5f,0.3", 0.001+0.003*r.Float64())
	case "path":
		k.link = []string{",queue=1bdp", ",queue=200ms"}[r.IntN(2)]
	case "policer":
		k.rtt = pick(5, 20, 50)
		k.router = fmt.Sprintf("nft add table t; nft add chain t f '{ type filter hook forward priority 0; }'; "+
			"nft add rule t f tcp dport 5001 limit rate over %d kbytes/second burst 60 kbytes drop", k.rate*125/4)
	case "blackhole":
		k.router = "nft add table t; nft add chain t f '{ type filter hook forward priority 0; }'; " +
			"nft add rule t f tcp dport 5001 meta length gt 1200 drop"
	case "nagle":
		k.traffic.Parts, k.traffic.Answer = []int{400, 500}, 200
	case "silly": // a buffer of less than a segment, that is read slowly
		k.traffic.ReceiveBuffer, k.traffic.Read = 1000+r.IntN(1500), 500+r.IntN(5000)
	case "tail":
		k.link = fmt.Sprintf(",up:loss=%.4f", 0.03+0.03*r.Float64())
		k.client = "sysctl -qw net.ipv4.tcp_early_retrans=0"
		k.traffic.Write, k.traffic.Every = 3000+r.IntN(13000), 0.1+float64(k.rtt)/500
	case "reset":
		k.traffic.Reset = k.rate * 125_000
	}
	return k
}

func makeAll(args []string) error {
	f := flag.NewFlagSet("make", flag.ExitOnError)
	program := f.String("wirerate", "wirerate", "the `program`")
	dir := f.String("o", "captures", "`folder` to write to")
	seed := f.Uint64("seed", 1, "of the first capture of each label")
	runs := f.Int("runs", 10, "captures of each label")
	only := f.String("only", "program,sndbuf,window,reader,start,loss,path,policer,blackhole,nagle,silly,tail,reset,bursts",
		"labels")
	_ = f.Parse(args)
	own, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*dir, 0o777); err != nil {
		return err
	}
	for _, label := range strings.Split(*only, ",") {
		for i := range *runs {
			s := *seed + uint64(i)
			k := draw(label, rand.New(rand.NewPCG(s, uint64(len(label))<<8|uint64(label[0]))))
			if err := k.make(*program, own, *dir, s); err != nil {
				fmt.Fprintf(os.Stderr, "captures: %s: %v\n", k.name(s), err)
			}
		}
	}
	return nil
}

// make runs the case in a lab of its own and writes NAME.cli.pcapng,
// NAME.srv.pcapng and NAME.json, the sender's kernel's word.
func (k kase) make(program, own, dir string, seed uint64) (err error) {
	ctx := context.Background()
	lab, stem := fmt.Sprintf("captures%d", os.Getpid()), filepath.Join(dir, k.name(seed))
	run := func(args ...string) error {
		out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	up := []string{"lab", "up", lab, fmt.Sprintf("rate=%dmbit,rtt=%dms,seed=%d%s", k.rate, k.rtt, seed, k.link)}
	if k.router != "" {
		up = append(up, "--router")
	}
	if err := run(up...); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run("lab", "down", lab)) }()
	if k.router != "" {
		if err := run("lab", "exec", lab, "--on", "router", "--", "sh", "-c", k.router); err != nil {
			return err
		}
	}
	if k.segments {
		if err := run("lab", "exec", lab, "--", "ip", "link", "set", "dev", "wr0", "gso_max_segs", "1"); err != nil {
			return err
		}
	}
	if k.client != "" {
		if err := run("lab", "exec", lab, "--", "sh", "-c", k.client); err != nil {
			return err
		}
	}
	return errors.Join(k.transfer(ctx, program, own, lab, stem), os.Remove(stem))
}

// lateness is what the lab says of a link that did not keep up.
var lateness = regexp.MustCompile(`kept up: no, worst lateness ([0-9.]+) ms`)

// transfer sends in the lab that is up, and keeps what the kernel says of that.
func (k kase) transfer(ctx context.Context, program, own, lab, stem string) error {
	options := k.traffic.String()
	cmd := exec.CommandContext(ctx, program, "lab", "exec", lab, "-q", "--pcap", stem, "--serve",
		fmt.Sprintf("%s serve '%s'", own, options), "--", own, "send", options)
	var messages strings.Builder
	cmd.Stderr = &messages
	said, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w: %s", err, messages.String())
	}
	t := truth{Label: k.label, CC: k.cc, Rate: float64(k.rate) * 1e6, RTT: float64(k.rtt)}
	for _, m := range lateness.FindAllStringSubmatch(messages.String(), -1) {
		late, _ := strconv.ParseFloat(m[1], 64)
		t.Late = max(t.Late, late)
	}
	if err := json.Unmarshal(said, &t.Samples); err != nil {
		return err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(stem+".json", text, 0o666),
		os.Rename(filepath.Join(stem, "client.pcapng"), stem+".cli.pcapng"),
		os.Rename(filepath.Join(stem, "server.pcapng"), stem+".srv.pcapng"))
}
