package facts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/shell"
	"github.com/wirerate/wirerate/internal/system"
)

// sampled are the sources that a window reads a second time. The links come
// first: they make the list that the others add to.
func (f *Facts) sampled() []reader {
	var readers []reader
	for _, c := range collectors() {
		if (c.sampled || c.when == again) && slices.Contains(c.on, f.System) {
			readers = append(readers, reader{c.part, c.op, c.parse})
		}
	}
	if f.System == system.Linux {
		whole, _ := f.askedNICs()
		for _, nic := range whole {
			for _, r := range ethtoolReaders(nic) {
				if strings.HasPrefix(r.part, "statistics ") {
					readers = append(readers, r)
				}
			}
		}
	}
	return readers
}

func (f *Facts) readCPTimes(t text) error {
	if err := f.readSettings(t); err != nil {
		return err
	}
	f.cpTimes()
	return nil
}

// sample waits on the host for the window and reads the counters again, in one
// command, so that a recording replays it. Each answer follows a line that
// names what was asked.
func (f *Facts) sample(ctx context.Context, c host.Conn, window time.Duration) error {
	readers := f.sampled()
	var script strings.Builder
	fmt.Fprintf(&script, "sleep %g\n", window.Seconds())
	for _, r := range readers {
		fmt.Fprintf(&script, "echo %s\n", shell.Quote("==> "+readerName(r.op)+" <=="))
		if r.op.Action == host.ActRead {
			fmt.Fprintf(&script, "cat %s\n", shell.Word(r.op.Path))
		} else {
			fmt.Fprintf(&script, "%s </dev/null\n", shell.QuoteAll(r.op.Args...))
		}
	}
	script.WriteString("true\n")
	answers, err := c.Do(ctx, host.Command("sh", "-c", script.String()).Within(window+time.Minute))
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name(), err)
	}
	a := answers[0]
	if a.Failure != host.None && len(a.Out) == 0 {
		f.Parts["window"] = Part{From: secondSample, State: stateOf(a.Failure), Because: shorten(a.Stderr)}
		return nil
	}
	f.Parts["window"] = Part{From: secondSample, State: Read}
	later := &Facts{System: f.System, Settings: map[string]Setting{}, Counters: map[string]Counter{},
		Parts: map[string]Part{}, texts: map[string][]string{}}
	for _, n := range f.NICs {
		later.NICs = append(later.NICs, NIC{Name: n.Name, Kind: n.Kind, Counters: map[string]Counter{}})
	}
	sections := splitSections(string(a.Out))
	for _, r := range readers {
		later.take(r, host.Answer{Op: r.op, Out: []byte(sections[readerName(r.op)])})
	}
	seconds := window.Seconds()
	if measured := later.Uptime - f.Uptime; f.Uptime > 0 && measured > 0 {
		seconds = measured
	}
	later.checkNames()
	f.Unfit = append(f.Unfit, later.Unfit...)
	f.compare(later, seconds)
	return nil
}

// splitSections takes the answers out of the second sample.
func splitSections(s string) map[string]string {
	sections := map[string]string{}
	name := ""
	var body strings.Builder
	for _, line := range strings.SplitAfter(s, "\n") {
		head := strings.TrimSuffix(line, "\n")
		if inner, ok := strings.CutPrefix(head, "==> "); ok && strings.HasSuffix(inner, " <==") {
			sections[name] = body.String()
			body.Reset()
			name = strings.TrimSuffix(inner, " <==")
			continue
		}
		body.WriteString(line)
	}
	sections[name] = body.String()
	return sections
}

// compare fills in the rates from a later sample.
func (f *Facts) compare(later *Facts, seconds float64) {
	if seconds <= 0 {
		return
	}
	f.Window = seconds
	if later.Parts["flows"].State == Read {
		f.Flows = later.Flows // what they did in the window counts
	}
	rates(f.Counters, later.Counters, seconds)
	for i := range f.NICs {
		n := &f.NICs[i]
		after := later.NIC(n.Name)
		if after == nil {
			continue // the interface vanished: no rates
		}
		rates(n.Counters, after.Counters, seconds)
		for j := range n.Qdiscs {
			if j < len(after.Qdiscs) && after.Qdiscs[j].Kind == n.Qdiscs[j].Kind &&
				after.Qdiscs[j].Handle == n.Qdiscs[j].Handle {
				q, l := &n.Qdiscs[j], after.Qdiscs[j]
				q.Sent.grow(l.Sent, seconds)
				q.Dropped.grow(l.Dropped, seconds)
				q.Overlimits.grow(l.Overlimits, seconds)
				q.Requeues.grow(l.Requeues, seconds)
			}
		}
	}
	f.compareProcessors(later, seconds)
	f.compareInterrupts(later, seconds)
	f.compareDisks(later, seconds)
}

func rates(before, after map[string]Counter, seconds float64) {
	for name, c := range before {
		if l, ok := after[name]; ok && !isState(name) {
			c.grow(l, seconds)
			before[name] = c
		}
	}
}

// isState tells the numbers that are no running totals: they go up and down,
// and their growth is no rate.
func isState(name string) bool {
	for _, prefix := range []string{"sockstat.", "tcp_states.", "rxring.", "Ip.Forwarding", "Ip.DefaultTTL",
		"Tcp.CurrEstab", "Tcp.Rto"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return strings.HasSuffix(name, ".entries") || strings.HasSuffix(name, "current_entries")
}

// grow sets the rate from a later value. A counter of 32 bits that wrapped
// once went from near its end to near its beginning; anything else that
// shrank was reset, and has no rate.
func (c *Counter) grow(later Counter, seconds float64) {
	var d uint64
	switch {
	case later.Value >= c.Value:
		d = later.Value - c.Value
	case c.Value < 1<<32 && c.Value >= 3<<30 && later.Value < 1<<30:
		d = later.Value + 1<<32 - c.Value
	default:
		return
	}
	rate := float64(d) / seconds
	c.Value, c.Rate, c.Source = later.Value, &rate, later.Source
}

func (f *Facts) compareProcessors(later *Facts, seconds float64) {
	for _, l := range later.Processors {
		if l.Sampled { // by the tool itself
			p := f.processor(l.ID)
			p.User, p.Nice, p.System, p.Interrupt, p.Idle, p.Stolen, p.Sampled, p.Source = l.User, l.Nice, l.System, l.Interrupt, l.Idle, l.Stolen, true, l.Source
		}
	}
	for i := range f.Processors {
		p := &f.Processors[i]
		l := later.processor(p.ID)
		if len(l.ticks) == len(p.ticks) && len(l.ticks) > 0 {
			grown := make([]uint64, len(l.ticks))
			good := true
			for j := range l.ticks {
				good = good && l.ticks[j] >= p.ticks[j]
				grown[j] = l.ticks[j] - p.ticks[j]
			}
			if good {
				p.share(grown)
				p.Sampled, p.Source = true, l.Source
			}
		}
		if p.Softnet != nil && l.Softnet != nil {
			p.Softnet.Processed.grow(l.Softnet.Processed, seconds)
			p.Softnet.Dropped.grow(l.Softnet.Dropped, seconds)
			p.Softnet.Squeezed.grow(l.Softnet.Squeezed, seconds)
			p.Softnet.Steered.grow(l.Softnet.Steered, seconds)
		}
		if p.NetRX != nil && l.NetRX != nil {
			p.NetRX.grow(*l.NetRX, seconds)
		}
	}
}

func (f *Facts) compareInterrupts(later *Facts, seconds float64) {
	after := map[string]Interrupt{}
	for _, irq := range later.Interrupts {
		after[irq.ID+" "+irq.Name] = irq
	}
	for i := range f.Interrupts {
		irq := &f.Interrupts[i]
		l, ok := after[irq.ID+" "+irq.Name]
		if !ok || len(l.PerCPU) != len(irq.PerCPU) {
			continue
		}
		irq.Total.grow(l.Total, seconds)
		grown := make([]uint64, len(l.PerCPU))
		for j := range l.PerCPU {
			if l.PerCPU[j] < irq.PerCPU[j] {
				grown = nil
				break
			}
			grown[j] = l.PerCPU[j] - irq.PerCPU[j]
		}
		irq.Grown = grown
	}
}
