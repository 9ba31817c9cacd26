package kerneltext

import (
	"strconv"
	"strings"
)

// CPU is a line of /proc/stat: the ticks of one processor, or of all together under the number AllCPUs.
type CPU struct {
	ID int
	// Ticks are user, nice, system, idle, iowait, irq, softirq and, in all but old kernels, steal.
	Ticks []uint64
	Line  int
}

// AllCPUs is the number of the line that adds up all processors.
const AllCPUs = -1

// Stat reads the cpu lines of /proc/stat (proc_stat(5)).
func Stat(s string) ([]CPU, error) {
	var all []CPU
	for n, line := range numbered(s) {
		words := strings.Fields(line)
		if len(words) < 8 || !strings.HasPrefix(words[0], "cpu") {
			continue
		}
		id, ok := count(words[0][3:])
		if words[0] != "cpu" && (!ok || id >= MaxProcessors) {
			continue
		}
		c := CPU{ID: int(id), Line: n}
		if words[0] == "cpu" {
			c.ID = AllCPUs
		}
		for _, w := range words[1:min(len(words), 9)] {
			v, ok := count(w)
			if !ok {
				return nil, Errorf(n, "%q is not a number of ticks", w[:min(len(w), 80)])
			}
			c.Ticks = append(c.Ticks, v)
		}
		all = append(all, c)
	}
	return all, NothingUnless(len(all) > 0)
}

// Softnet is a line of /proc/net/softnet_stat, counted in packets but for Squeezed.
type Softnet struct {
	CPU                int
	Processed, Dropped uint64 // dropped because the backlog was full
	Squeezed           uint64 // times that a round of receiving ran out of its budget
	Steered            uint64 // brought here by receive packet steering
	Line               int
}

// brokenRows reports whether a mail program broke each row in two: a longer line and a shorter one, all the way.
func brokenRows(s string) bool {
	var columns []int
	for _, line := range numbered(s) {
		if n := len(strings.Fields(line)); n > 0 {
			columns = append(columns, n)
		}
	}
	if len(columns) < 2 || len(columns)%2 != 0 || columns[1] >= columns[0] || len(columns) == 2 && columns[0] >= 9 {
		return false
	}
	for i, n := range columns {
		if n != columns[i%2] {
			return false
		}
	}
	return true
}

// SoftnetStat reads /proc/net/softnet_stat (Linux net/core/net-procfs.c): hexadecimal columns, a line for each CPU that
// is online: processed, dropped, time_squeeze, ...; column 10 counts packets steered here (since 2.6.35), 13 is the CPU
// (since 5.10). What is before a damaged line is returned with its error.
func SoftnetStat(s string) ([]Softnet, error) {
	var all []Softnet
	broken := brokenRows(s)
	var before []string
	for n, line := range numbered(s) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if broken && before == nil {
			before = words
			continue
		}
		words, before = append(before, words...), nil
		if len(words) < 9 {
			return all, Errorf(n, "%d columns, at least 9 are expected", len(words))
		}
		values := make([]uint64, max(len(words), 10))
		for i, w := range words {
			v, err := strconv.ParseUint(w, 16, 64)
			if err != nil || len(w) != 8 { // printed as %08x: another width is a cut line
				return all, Errorf(n, "column %d is no 32-bit hexadecimal number", i+1)
			}
			values[i] = v
		}
		id := uint64(len(all))
		if len(words) >= 13 {
			id = values[12]
		}
		if id >= MaxProcessors {
			return all, Errorf(n, "CPU %d cannot be", id)
		}
		all = append(all, Softnet{int(id), values[0], values[1], values[2], values[9], n})
	}
	return all, nil
}

// StatColumns reads a file of /proc/net/stat: a line of names, then a line of hexadecimal numbers for each processor,
// which are added up, but for entries, which is that of the whole table on each line (Linux net/core/neighbour.c,
// net/netfilter/nf_conntrack_standalone.c).
func StatColumns(s string) (names []string, sums []uint64, err error) {
	rows := 0
	for n, line := range numbered(s) {
		words := strings.Fields(line)
		switch {
		case n == 1:
			names, sums = words, make([]uint64, len(words))
			continue
		case len(words) == 0:
			continue
		case len(words) < len(names):
			return nil, nil, Errorf(n, "%d numbers for %d names", len(words), len(names))
		}
		for i, name := range names {
			v, err := strconv.ParseUint(words[i], 16, 64)
			if err != nil {
				return nil, nil, Errorf(n, "%q is not a hexadecimal number", words[i][:min(len(words[i]), 80)])
			}
			if name == "entries" {
				sums[i] = 0
			}
			sums[i] += v
		}
		rows++
	}
	if rows == 0 {
		return nil, nil, ErrNothing
	}
	return names, sums, nil
}
