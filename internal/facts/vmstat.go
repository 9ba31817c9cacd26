package facts

import (
	"slices"
	"strconv"
	"strings"
)

// readVmstat reads the processors' time in vmstat of Linux (procps src/vmstat.c) and the BSDs
// (usr.bin/vmstat/vmstat.c): a heading that ends in us sy id, of Linux with wa and st, of FreeBSD's -P once for each
// processor. The first row is since the start of the system; of the others the last counts.
func (f *Facts) readVmstat(t text) error {
	var heads []string
	rows := 0
	for i, line := range t.lines() {
		words := strings.Fields(line)
		if slices.Contains(words, "us") && slices.Contains(words, "id") {
			heads, rows = words, 0
			f.use(t.from, i+1)
			continue
		}
		if first := slices.Index(heads, "us"); first < 0 || len(words) != len(heads) || !numbers(words[first:]) {
			continue
		}
		rows++
		if si := slices.Index(heads, "si"); si >= 0 && rows > 1 {
			if kib, ok := positive(words[si]); ok && kib < 1e9 {
				pages := kib / 4 // of 4 KiB, as sar counts them
				f.Counters["VM.SwappedIn"] = Counter{Rate: &pages, Source: f.Line(t.from, i+1)}
			}
		}
		f.vmstatRow(heads, words, rows > 1, f.Line(t.from, i+1))
	}
	return nothingUnless(rows > 0)
}

// vmstatRow keeps a row: that of one processor is of all together.
func (f *Facts) vmstatRow(heads, words []string, sampled bool, src Source) {
	var all []Processor
	for i, head := range heads {
		if head == "us" {
			all = append(all, Processor{ID: len(all), Sampled: sampled, Source: src})
		}
		if v, err := strconv.ParseFloat(words[i], 64); len(all) > 0 && err == nil && v >= 0 && v <= 100 {
			all[len(all)-1].add(head, v/100)
		}
	}
	switch {
	case len(all) > maxProcessors:
	case len(all) == 1:
		f.AllProcessors = &all[0]
		f.Parts["all processors"] = Part{From: src.From, State: Read}
	default:
		for i := range all {
			softnet, netRX := f.processor(i).Softnet, f.processor(i).NetRX
			all[i].Softnet, all[i].NetRX = softnet, netRX
			*f.processor(i) = all[i]
		}
	}
}

func numbers(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { _, ok := count(w); return !ok })
}
