package facts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/regexp"
)

// Poller is a thread of a switch in user space that polls its ports: its processor is never idle, and only the thread
// itself knows how much of the time it had packets.
type Poller struct {
	Name string `json:"name"`
	// Busy is the share of cycles that were spent on packets; negative where it was not shown.
	Busy float64 `json:"busy"`
	// Vectors are the packets that one call of VPP's input found, 256 at most.
	Vectors float64 `json:"vectors_per_call,omitempty"`
	Source  Source  `json:"source"`
}

// What ovs-appctl dpif-netdev/pmd-stats-show and pmd-rxq-show (Open vSwitch, lib/dpif-netdev.c) and VPP's show runtime
// (src/vlib/cli.c and threads) print.
var (
	pmdHead   = regexp.MustCompile(`^pmd thread numa_id (-?\d+) core_id (\d+):`)
	pmdBusy   = regexp.MustCompile(`^processing cycles: *\d+ \((\d{1,3}(?:\.\d+)?)%\)`)
	pmdQueue  = regexp.MustCompile(`^port: (\S+) +queue-id: *(\d+).*\bpmd usage: *(\d{1,3}) *%`)
	vppThread = regexp.MustCompile(`^Thread (\d+) (\S+)(?: \(lcore (\d+)\))?`)
	vppInput  = regexp.MustCompile(`^([\w-]+-input)\s+(?:polling|active)\s+(\d+)\s+(\d+)\s+\d+\s+\S+\s+(\d+\.\d+)$`)
	vppError  = regexp.MustCompile(`^\s*(\d+)\s+(\S+)\s+(\S.*?)(?:\s+(?:error|warning|info))?\s*$`)
)

// vppLosses are the reasons of VPP's show errors that are a want of room: the names of its counters in src/vnet and
// src/plugins/dpdk; the others say what was wrong with a packet.
var vppLosses = []string{"no free tx slots", "tx packet drops (dpdk tx failure)", "dpdk tx failure", "tx packet drops (ring full)", "no free buffers",
	"buffer allocation failure", "handoff queue full", "congestion drop", "frame queue"}

// VPPErrorForm is a row of VPP's show errors that tells of a want of room, by which a part of the table is known.
var VPPErrorForm = regexp.MustCompile(`^\s*\d{1,15}\s+[\w./-]+\s+(?i:no free tx slots|` +
	`tx packet drops \((?:dpdk tx failure|ring full)\)|` +
	`congestion drop)`)

// readSwitches reads what the threads of Open vSwitch with DPDK and of VPP say of their load.
func (f *Facts) readSwitches(t text) error {
	found := false
	thread := ""
	at := map[string]int{}
	keep := func(busy, vectors float64, src Source) {
		found = true
		k, have := at[thread]
		if !have {
			if len(f.Pollers) >= rowLimit {
				return
			}
			k = len(f.Pollers)
			at[thread] = k
			f.Pollers = append(f.Pollers, Poller{Name: thread, Busy: busy, Vectors: vectors, Source: src})
			return
		}
		p := &f.Pollers[k]
		if busy >= 0 {
			p.Busy = max(p.Busy, 0) + busy // of its queues
		}
		if vectors > p.Vectors {
			p.Vectors, p.Source = vectors, src
		}
	}
	for i, line := range t.lines() {
		line = strings.TrimSpace(line)
		if len(line) > 1024 {
			continue
		}
		src := func() Source { return f.Line(t.from, i+1) }
		if m := pmdHead.FindStringSubmatch(line); m != nil {
			thread, found = "pmd thread on core "+m[2], true
			f.use(t.from, i+1)
		} else if m := vppThread.FindStringSubmatch(line); m != nil {
			thread, found = m[2], true
			f.use(t.from, i+1)
		} else if thread == "" {
			continue
		} else if m := pmdBusy.FindStringSubmatch(line); m != nil {
			keep(amount(m[1])/100, 0, src())
		} else if m := pmdQueue.FindStringSubmatch(line); m != nil {
			keep(amount(m[3])/100, 0, src())
		} else if m := vppInput.FindStringSubmatch(line); m != nil {
			vectors, _ := strconv.ParseFloat(m[4], 64)
			keep(-1, vectors, src())
		}
	}
	return nothingUnless(found)
}

// readVPPErrors reads the reasons for which VPP dropped packets.
func (f *Facts) readVPPErrors(t text) error {
	found := false
	for i, line := range t.lines() {
		m := vppError.FindStringSubmatch(line)
		if m == nil || len(line) > 1024 {
			continue
		}
		found = true
		v, ok := count(m[1])
		reason := strings.Join(strings.Fields(m[3]), " ")
		if !ok || v < leastLost || !holdsOneOf(strings.ToLower(reason), vppLosses) || len(f.LossCounts) >= rowLimit {
			continue
		}
		src := f.Line(t.from, i+1)
		f.LossCounts = append(f.LossCounts, LossCount{Scope: m[2], Name: reason, Lost: v, Source: src})
	}
	return nothingUnless(found)
}

func holdsOneOf(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// The metrics of Cilium's agent, as Prometheus and as cilium metrics list print them.
var (
	ciliumMetric = regexp.MustCompile(`^cilium_(drop|forward)_count_total[{ ]\s*(.*?)\}?\s+([0-9][0-9.e+]*)$`)
	ciliumRow    = regexp.MustCompile(`^(\S.*?)\s{2,}(INGRESS|EGRESS)\s+(\d+)\s+\d+`)
	ciliumReason = regexp.MustCompile(`\breason="([^"\\]{1,64})"`)
	ciliumWay    = regexp.MustCompile(`\bdirection="(\w{1,16})"`)
)

// ciliumLosses are the reasons of drops that are a want of room (Cilium, pkg/monitor/api/drop.go); the others are policy, or
// say what was wrong with a packet.
var ciliumLosses = []string{"CT: Map insertion failed", "No mapping for NAT masquerade", "Failed to insert into proxymap",
	"Reached EDT rate-limiting drop horizon"}

// readCilium reads why Cilium dropped packets, beside those that it forwarded in the same direction.
func (f *Facts) readCilium(t text) error {
	type row struct {
		way, reason string
		n           uint64
		line        int
	}
	var drops []row
	forwarded, found := map[string]row{}, false
	for i, line := range t.lines() {
		if m := ciliumRow.FindStringSubmatch(line); m != nil && len(line) <= 1024 { // of cilium-dbg bpf metrics list
			n, _ := count(m[3])
			found = true
			if r := (row{m[2], m[1], n, i + 1}); m[1] == "Success" || m[1] == "Forwarded" {
				forwarded[m[2]] = row{m[2], "", max(n, forwarded[m[2]].n), i + 1}
			} else if len(drops) < rowLimit {
				drops = append(drops, r)
			}
			f.use(t.from, i+1)
			continue
		}
		m := ciliumMetric.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || len(line) > 1024 {
			found = found || strings.HasPrefix(line, "cilium_")
			continue
		}
		found = true
		r := row{line: i + 1}
		r.n, _ = wholeMetric(m[3])
		if w := ciliumWay.FindStringSubmatch(m[2]); w != nil {
			r.way = w[1]
		}
		if w := ciliumReason.FindStringSubmatch(m[2]); w != nil {
			r.reason = w[1]
		}
		if f.use(t.from, i+1); m[1] == "forward" {
			forwarded[r.way] = r
		} else if len(drops) < rowLimit {
			drops = append(drops, r)
		}
	}
	for _, r := range drops {
		if r.n < leastLost || !holdsOneOf(r.reason, ciliumLosses) {
			continue
		}
		c := LossCount{Scope: "cilium " + r.way, Name: "drops, " + r.reason, Lost: r.n, Source: f.Line(t.from, r.line)}
		if of := forwarded[r.way]; of.n > 0 {
			c.Of, c.Beside, c.Total = "forwarded packets", of.n, f.Line(t.from, of.line)
		}
		f.LossCounts = append(f.LossCounts, c)
	}
	return nothingUnless(found)
}

// SwitchLeftOut is what a switch says of a port that it does not bundle: Arista's show port-channel detailed, messages of Cisco IOS
// (EC-5-CANNOT_BUNDLE2, EC-5-L3DONTBNDL2) and NX-OS, rows of show etherchannel summary with suspended (s), stand-alone (I) and
// waiting ports (w).
var SwitchLeftOut = regexp.MustCompile(`\b(` + switchPort + `)\b[^\n]{0,40}?\b(?:LACP negotiated incompatible aggregate|` +
	`is not compatible with \S+ and will be suspended|suspended: LACP currently not enabled on the remote port|` +
	`suspended ?\(no LACP PDUs\)|is down \(?suspended by (?:speed|mode)|is suspended\b)|` +
	`^ *\d+ +Po\d+\([A-Z]+\) .*?\b(` + switchPort + `)\([sIw]\)`)

// switchPort is a port by the names of Cisco and Arista: Gi1/0/2, Ethernet7/1.
const switchPort = `(?:Gig?|Te|Twe?|Fo|Hu|Fa|Eth?|(?:Gigabit|TenGig\w*|FastE|TwentyFive\w*|FortyGig\w*|HundredGig\w*)?[Ee]thernet)` +
	`\d{1,3}(?:/\d{1,3}){0,3}`
