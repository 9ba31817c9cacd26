package report

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/experiment"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/lab"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/stats"
	"github.com/wirerate/wirerate/internal/weblog"
	"github.com/wirerate/wirerate/internal/workload"
	"github.com/wirerate/wirerate/tools/genlog/accesslog"
)

// sampleCeilings are those of a 10 Gbit/s path of 50 ms with the given buffers.
func sampleCeilings(send, receive float64) []diagnose.Ceiling {
	ceiling := func(resource, host string, value float64, because string) diagnose.Ceiling {
		return diagnose.Ceiling{Resource: resource, Host: host, Metric: diagnose.Goodput, Value: value, Known: true, Because: because,
			Sources: []string{"RFC 6349, section 4.1.1"}}
	}
	return []diagnose.Ceiling{
		ceiling("link", "", 9.414e9, "the path carries 10gbit; a full frame is 1538 bytes on the wire with 1448 of payload"),
		ceiling("send-window", "client", send*8*64/65/0.05, fmt.Sprintf("net.ipv4.tcp_wmem[2] %.0f bytes, one window per 50ms", send)),
		ceiling("receive-window", "server", receive*8*255/256/0.05, fmt.Sprintf("net.ipv4.tcp_rmem[2] %.0f bytes, one window per 50ms", receive)),
		{Resource: "ports", Host: "client", Metric: diagnose.ConnectRate, Value: 471, Known: true, Because: "28232 ports, each kept for 60s"},
		{Resource: "ports", Host: "server", Metric: diagnose.ConnectRate, Value: 471, Known: true, Because: "28232 ports, each kept for 60s"},
		{Resource: "loss-response", Metric: diagnose.Goodput, Because: "unknown, because the loss of the path was not declared"},
	}
}

// sampleArm makes runs that scatter around a goodput.
func sampleArm(name string, goodput, spread float64, pairs, arm int) Arm {
	noise := rand.New(rand.NewPCG(7, uint64(arm)))
	a := Arm{Name: name}
	for i := range pairs {
		order := 2*i + (i+arm)%2
		m := Metrics{GoodputBPS: goodput * (1 + spread*noise.NormFloat64()), Retransmits: float64(arm * 12), MeanRTT: 0.0502 + 0.011*float64(arm),
			ClientCPU: 0.02 + goodput/2e10, ServerCPU: 0.03 + goodput/1.6e10}
		run := Run{Order: order, Pair: i, At: float64(order) * 11.4, Metrics: m}
		for second := range 8 {
			run.IntervalsBPS = append(run.IntervalsBPS, m.GoodputBPS*(1-0.3*math.Exp(-float64(second)))*(1+0.05*noise.NormFloat64()))
		}
		a.Runs = append(a.Runs, run)
	}
	a.Median = a.Runs[0].Metrics
	a.Median.GoodputBPS = stats.Median(goodputs(a))
	return a
}

func samplePlan(host string) plan.Plan {
	return plan.Plan{
		Schema: plan.Schema, Host: host, System: catalog.Linux, Release: "6.18", Role: "bulk", Path: "rate=10gbit,rtt=50ms",
		Inputs: catalog.Inputs{"rate": 1e10, "rtt": 0.05, "bdp": 62500000.0},
		Changes: []plan.Change{
			{Setting: "net.ipv4.tcp_rmem", From: "4096 131072 33554432", To: "4096 131072 250609664", Default: "4096 131072 33554432",
				Kind: catalog.Runtime, Belongs: "sysctl", Does: "Minimum, initial and largest receive buffer of a TCP socket.",
				Because: "Up to half of the buffer is packet overhead, and the kernel aims at twice the delivered data of a round trip; so four bandwidth-delay products.",
				Formula: "triple(4096, 131072, ceil(4 * bdp / MiB) * MiB)", Working: "triple(4096, 131072, ceil(4 * 62500000 / 1048576) * 1048576)",
				Evidence: catalog.Documented, Risk: "Each socket may hold this much kernel memory.", Undo: "restore",
				Sources: []string{"torvalds/linux v6.12 Documentation/networking/ip-sysctl.rst", "tcp(7)"}},
			{Setting: "net.ipv4.tcp_wmem", From: "4096 16384 4194304", To: "4096 16384 187695104", Default: "4096 16384 4194304",
				Kind: catalog.Runtime, Belongs: "sysctl", Does: "Minimum, initial and largest send buffer of a TCP socket.",
				Because: "A congestion window reaches about two bandwidth-delay products when the bottleneck has a queue of one; so three.",
				Formula: "triple(4096, 16384, ceil(3 * bdp / MiB) * MiB)", Working: "triple(4096, 16384, ceil(3 * 62500000 / 1048576) * 1048576)",
				Capped: "250609664 wanted; 8 connections may take half of the memory together", Evidence: catalog.Documented, Undo: "restore",
				Sources: []string{"tcp(7)"}},
			{Setting: "net.core.netdev_max_backlog", From: "1000", To: "10000", Default: "1000", Kind: catalog.Runtime, Belongs: "sysctl",
				Because: "A burst of one millisecond must fit.", Formula: "ceil(rate / 8 / mtu / 1000)", Working: "ceil(10000000000 / 8 / 1500 / 1000)",
				Evidence: catalog.Claimed, Undo: "restore", Sources: []string{"torvalds/linux v6.12 net/core/dev.c"}},
			{Setting: "net.ipv4.tcp_no_metrics_save", From: "0", To: "1", Default: "0", Kind: catalog.Runtime, Belongs: "sysctl",
				Because: "One bad transfer must not slow the next.", Formula: "1", Working: "1", Evidence: catalog.Refuted, Undo: "restore",
				Sources: []string{"torvalds/linux v6.12 net/ipv4/tcp_metrics.c"}},
		},
		Kept: []plan.Kept{
			{Setting: "net.ipv4.tcp_window_scaling", Value: "1", Because: "already what the path needs"},
			{Setting: "net.core.rmem_max", Value: "212992", Because: "would be 250609664, but this namespace shows it read-only"},
		},
		Memory:   plan.Budget{Connections: 8, PerSocket: 438304768, WorstCase: 3506438144, Memory: 16 << 30},
		Warnings: []string{},
	}
}

// sampleHelps is the result of a tuned long fat path.
func sampleHelps() Result {
	before, after := sampleArm("default", 5.87e8, 0.02, 6, 0), sampleArm("plan", 9.18e9, 0.012, 6, 1)
	return Result{
		Schema: experiment.ResultSchema, Verdict: stats.Helps,
		Effect:      &Effect{Metric: "goodput_bps", Ratio: 15.63, Interval: experiment.Interval{Low: 15.21, High: 16.07}, Confidence: 0.976, Pairs: 6, Wilcoxon: 0.031},
		LinkGoodput: 9.414e9, Ceilings: sampleCeilings(4<<20, 6<<20), Binding: "send-window", After: sampleCeilings(187695104, 250609664),
		Arms: []Arm{before, after},
		Shares: []Share{
			{Setting: "net.core.netdev_max_backlog", Ratio: 1.002, Interval: experiment.Interval{Low: 0.991, High: 1.013}, Verdict: stats.NoDifference, Stage: "screen", Because: "no worthwhile difference"},
			{Setting: "net.ipv4.tcp_wmem", Ratio: 9.82, Interval: experiment.Interval{Low: 9.41, High: 10.25}, Kept: true, Verdict: stats.Helps, Stage: "factorial", Because: "helps"},
			{Setting: "net.ipv4.tcp_rmem", Ratio: 1.59, Interval: experiment.Interval{Low: 1.51, High: 1.67}, Kept: true, Verdict: stats.Helps, Stage: "factorial", Because: "helps"},
			{Setting: "net.ipv4.tcp_no_metrics_save", Ratio: 0.93, Interval: experiment.Interval{Low: 0.86, High: 1.01}, Verdict: stats.NotEnough, Stage: "screen", Because: "not enough evidence that it helps"},
			{Setting: "net.ipv4.tcp_slow_start_after_idle", Stage: "none", Because: "not measured: the time was up"},
		},
		Attribution: &Attribution{Runs: 32, Lost: 1, Stopped: true,
			Interactions: []string{"net.ipv4.tcp_wmem and net.ipv4.tcp_rmem overlap: together less than the product of both"},
			SumOfShares:  &Effect{Metric: "goodput_bps", Ratio: 15.6, Interval: experiment.Interval{Low: 14.9, High: 16.4}, Confidence: 0.95},
			Measured:     &Effect{Metric: "goodput_bps", Ratio: 15.5, Interval: experiment.Interval{Low: 15.0, High: 16.0}, Confidence: 0.95}, FitP: 0.61},
		Path: Path{RateBPS: 1e10, RTT: 50, MTU: 1500, Spec: "rate=10gbit,rtt=50ms", Measured: map[string]string{}},
		Hosts: []Host{
			{Name: "lab-client", Side: "client", System: "linux", Release: "6.18.0", Processor: "AMD EPYC 9R14", Cores: 2, Memory: 16 << 30},
			{Name: "lab-server", Side: "server", System: "linux", Release: "6.18.0", Processor: "AMD EPYC 9R14", Cores: 2, Memory: 16 << 30},
		},
		Emulator: &Emulator{KeptUp: lab.Yes, WorstLateness: new(0.0004), Link: "rate=10gbit,rtt=50ms"},
		Workload: "bulk, 1 stream, client to server, 8 s a run", Design: &Design{Tool: "iperf3", Duration: 8, Omit: 2, MaxPairs: 12, Looks: []int{6, 9, 12}, Alpha: 0.05},
		Margin: 0.02, Seed: 4202, Warnings: []string{"the server's processor was 81% busy in the plan's runs: a faster one may show more"},
		Started: time.Date(2026, 3, 9, 14, 5, 11, 0, time.UTC), Elapsed: 171,
		Command: "wirerate tune --lab rate=10gbit,rtt=50ms --role bulk --seed 4202 -o out",
		Undo:    "nothing is left to undo: tune restored both hosts; a drop-in file is undone by removing it and running sysctl --system",
		Plans:   []plan.Plan{samplePlan("lab-client"), samplePlan("lab-server")},
	}
}

// sampleArms has more arms than a terminal has columns for.
func sampleArms() Result {
	r := sampleHelps()
	r.Arms = nil
	for i, name := range []string{"default", "plan", "file:/etc/sysctl.d/99-from-an-old-guide.conf", "tuned:network-throughput", "set:net.ipv4.tcp_wmem=4096 16384 16777216", "current"} {
		r.Arms = append(r.Arms, sampleArm(name, 5.9e8*math.Pow(1.7, float64(i)), 0.03, 6, i))
		for k := range r.Arms[i].Runs {
			r.Arms[i].Runs[k].Order = 6*k + (i+k)%6
		}
		if i > 0 {
			ratio := math.Pow(1.7, float64(i))
			r.Comparisons = append(r.Comparisons, Comparison{Arm: name, Verdict: stats.Helps,
				Effect: &Effect{Metric: "goodput_bps", Ratio: ratio, Interval: experiment.Interval{Low: ratio * 0.97, High: ratio * 1.03}, Confidence: 0.99, Pairs: 6}})
		}
	}
	r.Effect, r.Comparisons[3].Verdict, r.Comparisons[3].Effect = r.Comparisons[0].Effect, stats.NotEnough, nil
	return r
}

// sampleSmall varies a result to one with a small effect and 12 pairs.
func sampleSmall(verdict stats.Verdict, ratio, low, high float64) Result {
	r := sampleHelps()
	r.Verdict = verdict
	r.Effect = &Effect{Metric: "goodput_bps", Ratio: ratio, Interval: experiment.Interval{Low: low, High: high}, Confidence: 0.95, Pairs: 12, Wilcoxon: 0.4}
	r.Arms = []Arm{sampleArm("default", 8.6e9, 0.02, 12, 0), sampleArm("plan", 8.6e9*ratio, 0.02, 12, 1)}
	r.Ceilings, r.Binding = sampleCeilings(187695104, 250609664), "link"
	r.Shares, r.Attribution, r.Emulator = nil, nil, nil
	r.Path.Measured = map[string]string{"rtt": "the lowest of 20 handshakes", "rate": "8 s of UDP at rising rates"}
	r.Warnings = []string{}
	return r
}

// evil is what a hostile host might call itself.
const evil = "\x1b[31m</style></title><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u202e"

// sampleHostile has markup and control characters wherever text comes from
// hosts, files or people.
func sampleHostile() Result {
	r := sampleHelps()
	r.Workload, r.Command, r.Undo = evil, evil, evil
	r.Warnings = []string{evil}
	r.Path.Spec, r.Path.Measured = evil, map[string]string{evil: evil}
	r.Emulator.Link, r.Design.Tool = evil, evil
	r.Attribution.Interactions = []string{evil}
	for i := range r.Hosts {
		r.Hosts[i] = Host{Name: evil, Side: evil, System: evil, Release: evil, Processor: evil, Cores: -1, Memory: -1}
	}
	for i := range r.Shares {
		r.Shares[i].Setting, r.Shares[i].Because, r.Shares[i].Stage = evil, evil, evil
	}
	for i := range r.Ceilings {
		r.Ceilings[i].Resource, r.Ceilings[i].Because, r.Ceilings[i].Host = evil, evil, evil
	}
	for i := range r.Arms {
		r.Arms[i].Name = evil
		r.Arms[i].Sets = []Set{{Side: evil, Setting: evil, From: evil, To: evil}}
	}
	for i := range r.Plans {
		p := &r.Plans[i]
		p.Host, p.Path, p.Role, p.Warnings = evil, evil, evil, []string{evil}
		p.Changes[0] = plan.Change{Setting: evil, From: evil, To: evil, Default: evil, Kind: evil, Does: evil, Because: evil, Formula: evil,
			Working: evil, Evidence: evil, Risk: evil, Undo: evil, Sources: []string{evil, "https://example.com/" + evil, "javascript:alert(3)"}}
		p.Kept = []plan.Kept{{Setting: evil, Value: evil, Because: evil}}
	}
	return r
}

// sampleHTTP is a trial that requests per second decide, with long names.
func sampleHTTP() Result {
	r := sampleSmall(stats.Helps, 1.21, 1.18, 1.25)
	r.Metric, r.Effect.Metric = "requests_per_s", "requests_per_s"
	r.Plans, r.Command = nil, "wirerate trial --arm current --arm 'file:/etc/sysctl.d/99-web.conf' --workload http-small --lab rate=1gbit,rtt=5ms --seed 4202"
	r.Emulator = &Emulator{KeptUp: lab.Yes, WorstLateness: new(0.0004), Link: "rate=1gbit,rtt=5ms"}
	r.Workload = "http-small down, 32 stream(s), 4s counted after 0s"
	r.Arms[0].Name, r.Arms[1].Name = "current+set:net.core.somaxconn=128", "file:/etc/sysctl.d/99-web.conf"
	for i := range r.Arms {
		for j := range r.Arms[i].Runs {
			m := &r.Arms[i].Runs[j].Metrics
			rate := m.GoodputBPS / 2e5
			m.GoodputBPS, m.Retransmits, m.MeanRTT, r.Arms[i].Runs[j].IntervalsBPS = 0, -1, 0, nil
			m.Values = map[string]float64{"requests_per_s": rate, "latency_p50_s": 30 / rate, "latency_p99_s": 90 / rate, "errors": 0}
		}
		r.Arms[i].Median = r.Arms[i].Runs[2].Metrics
	}
	r.Arms[1].Sets = []Set{
		{Side: "client", Setting: "net.core.somaxconn", From: "128", To: "4096"}, {Side: "server", Setting: "net.core.somaxconn", From: "128", To: "4096"},
		{Side: "server", Setting: "net.ipv4.tcp_max_syn_backlog", From: "512", To: "8192"}}
	r.Beside = []Beside{{Arm: r.Arms[1].Name, Effects: []Effect{
		{Metric: "latency_p99_s", Ratio: 0.82, Interval: experiment.Interval{Low: 0.78, High: 0.86}, Confidence: 0.95, Pairs: 12},
		{Metric: "server_cpu", Ratio: 1.12, Interval: experiment.Interval{Low: 1.04, High: 1.2}, Confidence: 0.95, Pairs: 12},
		{Metric: "client_cpu", Ratio: 1.01, Interval: experiment.Interval{Low: 0.95, High: 1.08}, Confidence: 0.95, Pairs: 12}}}}
	r.Noise = &Noise{PairSD: 0.021, MinDetectable: 0.019, Pairs: 12}
	return r
}

// sampleSelf is an A/A control.
func sampleSelf() Result {
	r := sampleSmall(stats.NoDifference, 1.001, 0.992, 1.01)
	r.Plans, r.After, r.Path, r.Ceilings, r.LinkGoodput = nil, nil, Path{}, nil, 0
	r.Arms[0].Name, r.Arms[1].Name = "current", "current"
	r.Noise = &Noise{PairSD: 0.016, MinDetectable: 0.014, Pairs: 12}
	r.Command = "wirerate trial --aa --lab rate=10gbit,rtt=50ms"
	return r
}

// sampleShares is an attribution of which two settings help only together.
func sampleShares() Result {
	r := sampleHelps()
	r.Plans, r.After, r.Arms = nil, nil, []Arm{}
	r.Attribution.Interactions = []string{"net.ipv4.tcp_wmem and net.ipv4.tcp_rmem help only together"}
	r.Command = "wirerate attribute --arm file:99-tuning.conf --lab rate=10gbit,rtt=50ms"
	return r
}

// sampleAlone is one setting at a time.
func sampleAlone() Result {
	r := sampleShares()
	r.Effect, r.Attribution, r.Verdict = nil, nil, stats.NotEnough
	return r
}

// sampleDisk is of one host, whose disk was measured.
func sampleDisk() Result {
	r := Result{Schema: experiment.ResultSchema, Verdict: stats.Helps, Workload: "disk in /srv, 20s in all", Metric: workload.SyncWrites, Margin: 0.02, Seed: 9, Elapsed: 330,
		Hosts:   []Host{{Name: "local", Side: "client", System: "linux", Release: "6.12.3", Processor: "AMD EPYC 9R14", Cores: 8, Memory: 32 << 30}},
		Effect:  &Effect{Metric: workload.SyncWrites, Ratio: 1.31, Interval: experiment.Interval{Low: 1.22, High: 1.41}, Confidence: 0.97, Pairs: 8, Wilcoxon: 0.008, Resampled: &[2]float64{1.24, 1.38}},
		Noise:   &Noise{PairSD: 1.8, MinDetectable: 40, Pairs: 8},
		Design:  &Design{Tool: "builtin", Duration: 20, MaxPairs: 10, Looks: []int{4, 6, 8}, Alpha: 0.05},
		Beside:  []Beside{{Arm: "set:vm.dirty_bytes=33554432", Effects: []Effect{{Metric: workload.LatencyP99, Ratio: 0.6, Interval: experiment.Interval{Low: 0.5, High: 0.7}}, {Metric: workload.ClientCPU, Ratio: 1.3, Interval: experiment.Interval{Low: 1.2, High: 1.4}}}}},
		Command: "wirerate trial --workload disk --arm current --arm set:vm.dirty_bytes=33554432", Undo: "nothing to undo: the host has the values from before again"}
	for i, name := range []string{"current", "set:vm.dirty_bytes=33554432"} {
		a := Arm{Name: name, Runs: []Run{}}
		for pair := range 8 {
			v := float64(1000+300*i) * (1 + 0.02*float64(pair%3))
			a.Runs = append(a.Runs, Run{Order: 2*pair + i, Pair: pair, At: float64(40*pair + 20*i),
				Metrics: Metrics{Retransmits: -1, ClientCPU: 0.4, Values: map[string]float64{workload.SyncWrites: v, workload.LatencyP50: 0.9 / v, workload.LatencyP99: 4 / v}}})
		}
		a.Median = a.Runs[1].Metrics
		r.Arms = append(r.Arms, a)
	}
	return r
}

// sampleUnsteady has an interval that excludes no change and no verdict.
func sampleUnsteady() Result {
	r := sampleSmall(stats.NotEnough, 1.051, 1.031, 1.072)
	r.Warnings = []string{"something comes and goes beside the runs: with whole blocks of four as observations the effect of plan does not stand yet"}
	return r
}

// sampleAborted ended after two pairs, with lost runs.
func sampleAborted() Result {
	r := sampleSelf()
	r.Verdict, r.Effect = stats.NotEnough, &Effect{Metric: "goodput_bps", Ratio: 1.04, Interval: experiment.Interval{Low: 0.71, High: 1.52}, Confidence: 0.98, Pairs: 2, Wilcoxon: 1}
	r.Arms[1].Name = "set:net.ipv4.tcp_wmem=4096 16384 4194304"
	for i := range r.Arms {
		r.Arms[i].Runs = r.Arms[i].Runs[:2]
	}
	r.Warnings = []string{
		"5 runs were discarded and repeated: 1 of current (iperf3: unable to connect to server: Connection refused), 4 of set:net.ipv4.tcp_wmem=4096 16384 4194304 (iperf3: unable to connect to server: Connection refused); counted against it, the effect does not stand"}
	return r
}

// samples are the results that every form of report is tried with.
func samples() map[string]Result {
	lost := Result{Schema: experiment.ResultSchema, Verdict: stats.NotEnough, Warnings: []string{"client: the peer disappeared in the first run"}}
	return map[string]Result{
		"helps":     sampleHelps(),
		"hurts":     sampleSmall(stats.Hurts, 0.871, 0.842, 0.901),
		"same":      sampleSmall(stats.NoDifference, 1.003, 0.994, 1.012),
		"undecided": sampleSmall(stats.NotEnough, 1.024, 0.981, 1.069),
		"wild":      sampleSmall(stats.NotEnough, 0.777, 1e-7, 4e5),
		"arms":      sampleArms(),
		"http":      sampleHTTP(),
		"self":      sampleSelf(),
		"shares":    sampleShares(),
		"alone":     sampleAlone(),
		"disk":      sampleDisk(),
		"aborted":   sampleAborted(),
		"empty":     lost,
		"unsteady":  sampleUnsteady(),
		"content":   {Schema: experiment.ResultSchema, Verdict: stats.NoDifference, Plans: []plan.Plan{{Host: "a", System: catalog.Linux}}, Warnings: []string{"nothing to try"}},
		"zero":      {},
	}
}

// sampleInspection is an inspection with findings about an interface.
func sampleInspection(name string) Inspection {
	return Inspection{
		Hosts: []*facts.Facts{{Host: name, System: "linux", Release: "6.12.3", Processor: "AMD EPYC 9R14", Cores: 8, Memory: 32 << 30}},
		Path:  "rate=10gbit,rtt=50ms", Ceilings: sampleCeilings(4<<20, 6<<20),
		Findings: []diagnose.Finding{
			{Rule: "ring-drops", Severity: diagnose.Critical, Subject: name, Summary: "the receive ring overflowed 1812 times in 5 s",
				Evidence: []facts.Source{{From: "ethtool -S " + name, Line: 17, Text: "     rx_missed_errors: 90312"}},
				Because:  "The card had no free descriptor when frames arrived, so they were lost before the kernel saw them.",
				Fix:      []diagnose.Fix{{Setting: "ethtool:ring/rx"}, {Action: "spread the queues over more cores"}}, Confirm: "rx_missed_errors stops growing"},
			{Rule: "softnet-squeezed", Severity: diagnose.Warning, Summary: "the budget of a softirq ran out", Because: "Packets wait for the next round."},
			{Rule: "tcp-options", Severity: diagnose.Info, Subject: name, Summary: "timestamps are off"},
		},
		Missing: []diagnose.NotEvaluated{{Rule: "core-saturated", Because: "it needs a sampling window: --for 5s"}, {Rule: "qdisc-drops", Because: "tc is not installed on " + name}},
	}
}

// readLog makes up a log and reads it.
func readLog(t testing.TB, profile string, lines int) *weblog.Sketch {
	t.Helper()
	var log bytes.Buffer
	if _, err := (accesslog.Synthetic{Lines: lines, Seed: 5, Profile: profile}).WriteTo(&log); err != nil {
		t.Fatal(err)
	}
	return readText(t, log.String())
}

// readText counts the lines of a log.
func readText(t testing.TB, log string) *weblog.Sketch {
	t.Helper()
	s, err := weblog.Read(t.Context(), []string{"-"}, strings.NewReader(log), weblog.Options{Full: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sampleLog(t testing.TB) *weblog.Report {
	return weblog.Summarize(readLog(t, accesslog.ProfileWide, 20000), weblog.View{By: weblog.Groupings(), Top: 6})
}

func sampleComparison(t testing.TB) *weblog.Report {
	r, err := weblog.Compare(readLog(t, accesslog.ProfileAfter, 20000), readLog(t, accesslog.ProfileBefore, 20000), weblog.View{By: []string{"status"}}, weblog.Judgement{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
