package facts

import (
	"strconv"
	"strings"
)

// readSystatCPU reads OpenBSD's systat -b cpu (usr.bin/systat/cpu.c): a
// heading CPU User Nice System [Spin] Interrupt Idle, and a line of shares for
// each processor; one that is not online has dashes. Of several pages the last
// counts.
func (f *Facts) readSystatCPU(t text) error {
	var heads []string
	found := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) >= 6 && words[0] == "CPU" && words[1] == "User" {
			heads = words
			continue
		}
		if len(heads) == 0 || len(words) != len(heads) {
			continue
		}
		id, ok := count(words[0])
		if !ok || id >= maxProcessors {
			continue
		}
		p := Processor{ID: int(id), Sampled: true, Source: f.Line(t.from, i+1)}
		good := true
		for j, head := range heads[1:] {
			v, err := strconv.ParseFloat(strings.TrimSuffix(words[j+1], "%"), 64)
			good = good && err == nil && v >= 0 && v <= 100.5
			p.add(head, v/100)
		}
		if good {
			found = true
			*f.processor(p.ID) = p
		}
	}
	return nothingUnless(found)
}

// add counts a share of time by the name that a tool gives it.
func (p *Processor) add(name string, share float64) {
	switch strings.ToLower(name) {
	case "user", "us", "usr":
		p.User += share
	case "nice", "ni", "nic":
		p.Nice += share
	case "system", "sys", "sy", "spin", "sp":
		p.System += share
	case "interrupt", "intr", "hi", "si", "irq", "soft", "sirq":
		p.Interrupt += share
	case "idle", "id":
		p.Idle += share
	case "wa", "iowait", "io":
		p.Idle, p.Waiting = p.Idle+share, p.Waiting+share
	case "st", "steal":
		p.Stolen += share
	}
}

// readSystatMbufs reads OpenBSD's systat -b mbufs (usr.bin/systat/mbufs.c): a
// heading IFACE [RXDELAY TXDELAY] LIVELOCKS SIZE ALIVE LWM HWM CWM and lines
// with empty cells, so columns are taken by position. An interface's receive
// ring has ALIVE buffers of SIZE, at least LWM, at most HWM, and CWM wanted now;
// they are kept as the counters rxring.SIZE.alive and so on.
func (f *Facts) readSystatMbufs(t text) error {
	var columns map[string]column
	var n *NIC
	found := false
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if len(words) >= 5 && words[0] == "IFACE" {
			columns = lsblkColumns(line)
			n, found = nil, true
			continue
		}
		if columns == nil || len(words) == 0 {
			continue
		}
		runes := []rune(line)
		if line[0] != ' ' {
			n = f.NIC(words[0])
		}
		src := f.Line(t.from, i+1)
		if v, ok := count(columns["LIVELOCKS"].of(runes)); ok && words[0] == "System" {
			f.Counters["mbufs.livelocks"] = Counter{Value: v, Source: src}
		}
		size := columns["SIZE"].of(runes)
		if n == nil || size == "" {
			continue
		}
		if n.Counters == nil {
			n.Counters = map[string]Counter{}
		}
		for _, head := range []string{"ALIVE", "LWM", "HWM", "CWM"} {
			if v, ok := binarySize(strings.ToUpper(columns[head].of(runes))); ok {
				n.Counters["rxring."+size+"."+strings.ToLower(head)] = Counter{Value: v, Source: src}
			}
		}
	}
	return nothingUnless(found)
}
