// Package kerneltext reads the texts in which kernels and the tools beside them say what they count: once for what
// inspects a host and for what watches a run. Every parser tells the line of what it found, counted from 1.
package kerneltext

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Error is a line that could not be understood.
type Error struct {
	Line int
	Why  string
}

func (e *Error) Error() string { return e.Why }

// Errorf makes an Error of a line.
func Errorf(line int, format string, args ...any) error {
	return &Error{line, fmt.Sprintf(format, args...)}
}

// ErrNothing is returned for texts without anything that is known.
var ErrNothing = errors.New("nothing in it is understood")

// MaxProcessors bounds processor numbers in damaged input (Linux NR_CPUS is at most 8192).
const MaxProcessors = 8192

// numbered are the lines of a text with their numbers, without their ends.
func numbered(s string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(s) {
			n++
			if !yield(n, strings.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}

// NothingUnless is ErrNothing for texts of which nothing was found.
func NothingUnless(found bool) error {
	if found {
		return nil
	}
	return ErrNothing
}

// count reads a running total: digits alone.
func count(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// number reads a finite number that is not negative; anything else is 0.
func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v < 1e300) {
		return 0
	}
	return v
}

// Value is a number under its name in a table, with its text, which may be negative, and its line.
type Value struct {
	Table, Name, Text string
	Line              int
}

// Tables reads /proc/net/snmp and /proc/net/netstat: pairs of a line of names and a line of numbers that begin with the
// same table's name (Linux net/ipv4/proc.c). Of a pair that does not fit nothing is told; the error names the last.
func Tables(s string, each func(Value)) error {
	found := false
	var damaged error
	table, heads := "", []string(nil)
	for n, line := range wholeLines(s) {
		name, rest, ok := strings.Cut(line, ":")
		words := strings.Fields(rest)
		switch {
		case !ok:
			heads = nil
			continue
		case heads == nil || name != table:
			table, heads = name, words
			continue
		case len(heads) != len(words):
			damaged = Errorf(n, "%d numbers for the %d names of %s", len(words), len(heads), table)
		default:
			for i, head := range heads {
				found = true
				each(Value{table, head, words[i], n})
			}
		}
		heads = nil
	}
	if damaged != nil {
		return damaged
	}
	return NothingUnless(found)
}

// wholeLines are the lines of a table, with what a mail program broke off put back: a line without a table's name goes
// on with the one before.
func wholeLines(s string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		at, whole := 0, ""
		for n, line := range numbered(s) {
			if at > 0 && line != "" && !strings.Contains(line, ":") {
				whole += " " + line
				continue
			}
			if at > 0 && !yield(at, whole) {
				return
			}
			at, whole = n, line
		}
		if at > 0 {
			yield(at, whole)
		}
	}
}

// Sockstat reads /proc/net/sockstat: "TCP: inuse 4 orphan 0 tw 4 alloc 5 mem 2" (Linux net/ipv4/proc.c). Its numbers
// are states, not running totals; memory is in pages.
func Sockstat(s string, each func(Value)) error {
	found := false
	for n, line := range numbered(s) {
		table, rest, ok := strings.Cut(line, ":")
		words := strings.Fields(rest)
		for i := 0; ok && i+1 < len(words); i += 2 {
			if _, good := count(words[i+1]); good {
				found = true
				each(Value{table, words[i], words[i+1], n})
			}
		}
	}
	return NothingUnless(found)
}

// Devices reads /proc/net/dev (Linux net/core/net-procfs.c): below two lines of heading "eth0: " with 8 numbers
// received and 8 sent: bytes, packets, errs, drop, fifo, frame, compressed, multicast; bytes, packets, errs, drop,
// fifo, colls, carrier, compressed. What it calls drop includes the packets that ip calls missed.
func Devices(s string, each func(line int, name string, numbers []string)) error {
	found := false
	name, words, at := "", []string(nil), 0
	for n, line := range numbered(s) {
		if before, rest, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			name, words, at = before, strings.Fields(rest), n
		} else if name != "" && len(words) < 16 { // a mail program broke the line
			words = append(words, strings.Fields(line)...)
		}
		if name != "" && len(words) == 16 && !slices.ContainsFunc(words,
			func(w string) bool { _, ok := count(w); return !ok }) {
			found = true
			each(at, name, words)
			name = ""
		}
	}
	return NothingUnless(found)
}
